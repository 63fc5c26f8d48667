/* Agreement: all ranks succeed or all fail, with the text of the first failing rank on all. Rounds
 * under way move on meanwhile, since a rank that this one is waiting for may be waiting for one of
 * them. */
#include <limits.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/sys.h"
#include "base/trouble.h"
#include "context/context.h"

/* With more ranks than cores a wait naps longer the longer it lasts: 20 us doubling to 640 us. */
enum { NAP_AFTER = 100, NAP_NS = 20000, NAP_STEP = 32, NAP_DOUBLINGS = 5, LOOK_EVERY = 64 };

static void nap(const ferry_context *ctx)
{
    const unsigned looks = ctx->patience.looks;

    if (ctx->spins || looks < NAP_AFTER)
        return;
    const unsigned doublings = (looks - NAP_AFTER) / NAP_STEP;
    sys_nap((int64_t)NAP_NS << (doublings < NAP_DOUBLINGS ? doublings : NAP_DOUBLINGS));
}

/* Is the time over, or a peer gone? Looks at the clock now and then only. */
static ferry_status lose_patience(ferry_context *ctx)
{
    context_patience *const p = &ctx->patience;
    char waited[100];

    if (p->looks % LOOK_EVERY)
        return FERRY_OK;
    const int64_t now = sys_now_ns();
    if (!p->began)
        p->began = p->looked_at_peers = now;
    if (ctx->timeout_s > 0 && (double)(now - p->began) > ctx->timeout_s * 1e9)
        return trouble(
            FERRY_ERR_TIMEOUT,
            "rank %d waited %g s in a collective call (%s) for a rank that has not called it",
            ctx->rank, ctx->timeout_s, p->call);
    if (!ctx->look_at_peers || now - p->looked_at_peers < CONTEXT_PEERS_NS)
        return FERRY_OK;
    p->looked_at_peers = now;
    snprintf(waited, sizeof waited, "in a collective call (%.40s)", p->call);
    return ctx->look_at_peers(ctx, waited);
}

void context_wait_begin(ferry_context *ctx, const char *call)
{
    ctx->patience = (context_patience){.call = call};
}

ferry_status context_idle(void *context)
{
    ferry_context *const ctx = context;

    ctx->patience.looks++;
    ferry_status st = ctx->progress ? ctx->progress(ctx) : FERRY_OK;
    if (st == FERRY_OK)
        st = lose_patience(ctx);
    if (st != FERRY_OK)
        return context_break(ctx, st);
    nap(ctx);
    return FERRY_OK;
}

/* Of a broken context nobody waits again: the first failure was told. */
static ferry_status still_broken(const ferry_context *ctx)
{
    trouble_keep(ctx->broken_text);
    return ctx->broken;
}

ferry_status context_complete(ferry_context *ctx, MPI_Request *request, const char *call)
{
    int ended = 0;

    if (ctx->broken != FERRY_OK)
        return still_broken(ctx);
    context_wait_begin(ctx, call);
    for (;;) {
        ferry_status st = pmpi_status(PMPI_Test(request, &ended, MPI_STATUS_IGNORE), call);
        if (st != FERRY_OK)
            return context_break(ctx, st);
        if (ended)
            return FERRY_OK;
        st = context_idle(ctx);
        if (st != FERRY_OK)
            return st;
    }
}

ferry_status context_reduce(ferry_context *ctx, MPI_Op op)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const ferry_status st = pmpi_status(
        PMPI_Iallreduce(ctx->compared, ctx->most, 2, MPI_LONG_LONG, op, ctx->comm, &request),
        "MPI_Iallreduce");

    return st == FERRY_OK ? context_complete(ctx, &request, "MPI_Iallreduce") : st;
}

void context_release(const ferry_context *ctx, void *memory)
{
    if (ctx->broken == FERRY_OK)
        alloc_free(memory);
    else
        alloc_abandon(memory);
}

static ferry_status agree(ferry_context *ctx, MPI_Comm comm, int rank, ferry_status status)
{
    context_verdict *const v = &ctx->verdict; /* MPI may write here after a time-out */
    MPI_Request request = MPI_REQUEST_NULL;

    if (ctx->broken != FERRY_OK)
        return status == FERRY_OK ? still_broken(ctx) : status;
    v->mine = status == FERRY_OK ? INT_MAX : rank;
    ferry_status st =
        pmpi_status(PMPI_Iallreduce(&v->mine, &v->first, 1, MPI_INT, MPI_MIN, comm, &request),
                    "MPI_Iallreduce");
    if (st == FERRY_OK)
        st = context_complete(ctx, &request, "MPI_Iallreduce");
    if (st != FERRY_OK || v->first == INT_MAX)
        return st;
    v->said.status = status;
    trouble_copy(v->said.text, sizeof v->said.text);
    st = pmpi_status(PMPI_Ibcast(&v->said, sizeof v->said, MPI_BYTE, v->first, comm, &request),
                     "MPI_Ibcast");
    if (st == FERRY_OK)
        st = context_complete(ctx, &request, "MPI_Ibcast");
    if (st != FERRY_OK)
        return st;
    trouble_keep(v->said.text);
    return v->said.status;
}

ferry_status context_agree(ferry_context *ctx, ferry_status status)
{
    return agree(ctx, ctx->comm, ctx->rank, status);
}

ferry_status context_agree_node(ferry_context *ctx, ferry_status status)
{
    return agree(ctx, ctx->node_comm, ctx->node_rank, status);
}

ferry_status ferry_context_agree(ferry_context *ctx, ferry_status status)
{
    if (status != FERRY_OK && ctx && ctx->broken != FERRY_OK)
        return status; /* which may be the very failure that broke it */
    const ferry_status st = context_usable(ctx, "ferry_context_agree");

    return st == FERRY_OK ? context_agree(ctx, status) : st;
}
