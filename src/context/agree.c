/* Agreement: all ranks succeed or all fail, with the text of the first failing rank on all. Rounds
 * under way move on meanwhile, since a rank that this one is waiting for may be waiting for one of
 * them. */
#include <limits.h>

#include "base/sys.h"
#include "base/trouble.h"
#include "context/context.h"

/* With more ranks than cores a wait naps longer the longer it lasts: 20 us doubling to 640 us. */
enum { NAP_AFTER = 100, NAP_NS = 20000, NAP_STEP = 32, NAP_DOUBLINGS = 5, LOOK_EVERY = 64 };

void context_idle(void *context)
{
    ferry_context *const ctx = context;
    const unsigned calls = ++ctx->idle_calls;

    if (ctx->progress)
        ctx->progress(ctx);
    if (ctx->spins || calls < NAP_AFTER)
        return;
    const unsigned doublings = (calls - NAP_AFTER) / NAP_STEP;
    sys_nap((int64_t)NAP_NS << (doublings < NAP_DOUBLINGS ? doublings : NAP_DOUBLINGS));
}

static ferry_status time_is_up(ferry_context *ctx, const char *call)
{
    return context_break(
        ctx,
        trouble(FERRY_ERR_TIMEOUT,
                "rank %d waited %g s in a collective call (%s) for a rank that has not called it",
                ctx->rank, ctx->timeout_s, call));
}

ferry_status context_complete(ferry_context *ctx, MPI_Request *request, const char *call)
{
    const int64_t began = ctx->timeout_s > 0 ? sys_now_ns() : 0;
    int ended = 0;

    for (ctx->idle_calls = 0;;) {
        const ferry_status st = pmpi_status(PMPI_Test(request, &ended, MPI_STATUS_IGNORE), call);
        if (st != FERRY_OK || ended)
            return st;
        context_idle(ctx);
        if (began && ctx->idle_calls % LOOK_EVERY == 0 &&
            (double)(sys_now_ns() - began) > ctx->timeout_s * 1e9)
            return time_is_up(ctx, call);
    }
}

static ferry_status agree(ferry_context *ctx, MPI_Comm comm, int rank, ferry_status status)
{
    context_verdict *const v = &ctx->verdict; /* MPI may write here after a time-out */
    MPI_Request request = MPI_REQUEST_NULL;

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
    const ferry_status st = context_usable(ctx, "ferry_context_agree");

    return st == FERRY_OK ? context_agree(ctx, status) : st;
}
