/* The engine of a context: puts the parts of all modules together when it is made, and takes them
 * apart when it ends, be that before or after MPI_Finalize. */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/setting.h"
#include "base/sys.h"
#include "base/trouble.h"
#include "kernels/kernels.h"
#include "memory/arena.h"
#include "memory/liveness.h"
#include "memory/pool.h"
#include "plan/engine.h"
#include "plan/mover.h"
#include "plan/plan.h"
#include "plan/stream.h"

/* Contexts alive in this process, so that MPI_Finalize can end their communicators. */
static struct {
    pthread_mutex_t lock;
    plan_link first;
    plan_link *kept; /* of broken contexts: what MPI may still write into */
    int keyval;
} alive = {.lock = PTHREAD_MUTEX_INITIALIZER, .keyval = MPI_KEYVAL_INVALID};

/* MPI calls this first thing in MPI_Finalize: free what is MPI's; the rest waits for
 * ferry_context_free(). */
static int mpi_ends(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm, (void)keyval, (void)value, (void)state;
    pthread_mutex_lock(&alive.lock);
    for (plan_link *link = alive.first.next; link; link = link->next) {
        mover_stop(link->ctx);
        liveness_leave(link->ctx);
        context_leave_mpi(link->ctx);
    }
    pthread_mutex_unlock(&alive.lock);
    return MPI_SUCCESS;
}

/* Once a process; the attribute dies with MPI. */
static ferry_status watch_finalize(void)
{
    ferry_status st = FERRY_OK;

    pthread_mutex_lock(&alive.lock);
    if (alive.keyval == MPI_KEYVAL_INVALID) {
        st = pmpi_status(
            PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, mpi_ends, &alive.keyval, NULL),
            "MPI_Comm_create_keyval");
        if (st == FERRY_OK)
            st = pmpi_status(PMPI_Comm_set_attr(MPI_COMM_SELF, alive.keyval, NULL),
                             "MPI_Comm_set_attr");
    }
    pthread_mutex_unlock(&alive.lock);
    return st;
}

static void enlist(ferry_context *ctx)
{
    plan_link *const link = &ctx->engine->link;

    pthread_mutex_lock(&alive.lock);
    *link = (plan_link){.ctx = ctx, .previous = &alive.first, .next = alive.first.next};
    if (link->next)
        link->next->previous = link;
    alive.first.next = link;
    pthread_mutex_unlock(&alive.lock);
}

static void delist(ferry_context *ctx)
{
    plan_link *const link = &ctx->engine->link;

    pthread_mutex_lock(&alive.lock);
    if (link->previous) {
        link->previous->next = link->next;
        if (link->next)
            link->next->previous = link->previous;
    }
    pthread_mutex_unlock(&alive.lock);
}

/* Nothing of a broken context is freed that MPI may still write into; it stays in reach here. */
static void keep(ferry_context *ctx)
{
    pthread_mutex_lock(&alive.lock);
    ctx->engine->link.next = alive.kept;
    alive.kept = &ctx->engine->link;
    pthread_mutex_unlock(&alive.lock);
}

static ferry_status check_settings(const ferry_context *ctx)
{
    static const char *const waits[] = {"auto", "spin", "sleep"};
    const char *const wait = setting_text(SETTING_WAIT);
    ferry_status st = route_check_names(ctx);

    if (st == FERRY_OK)
        st = pool_bound(ctx->machine_ranks);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (strcmp(wait, waits[i]) == 0)
            return st;
    return trouble(FERRY_ERR_ARG,
                   "FERRY_WAIT is \"%.40s\" on rank %d, expected auto, spin or sleep", wait,
                   ctx->rank);
}

static ferry_status start_engine(ferry_context *ctx)
{
    ferry_status st = alloc_zero(1, sizeof *ctx->engine, &ctx->engine);

    if (st == FERRY_OK)
        st = check_settings(ctx);
    if (st == FERRY_OK)
        st = watch_finalize();
    if (st == FERRY_OK)
        st = stream_make(ctx);
    if (st == FERRY_OK)
        ctx->progress = progress_rounds;
    if (st == FERRY_OK)
        st = mover_make(ctx);
    return st;
}

ferry_status ferry_context_create(MPI_Comm comm, const ferry_context_options *options,
                                  ferry_context **ctx_out)
{
    ferry_context *ctx = NULL;
    ferry_status st = context_make(comm, options, ctx_out ? &ctx : NULL);

    if (st != FERRY_OK)
        return st;
    if (ctx->rank == 0)
        setting_warn_unknown();
    st = memory_attach(ctx); /* which may change who shares a node */
    if (st == FERRY_OK)
        st = context_agree(ctx, context_tune(ctx));
    if (st == FERRY_OK)
        st = context_agree(ctx, start_engine(ctx));
    if (st != FERRY_OK) {
        ferry_context_free(ctx);
        return st;
    }
    enlist(ctx);
    *ctx_out = ctx;
    return FERRY_OK;
}

void ferry_context_free(ferry_context *ctx)
{
    if (!ctx ||
        context_in_child()) /* which has nothing of it but memory, and gives that back soon */
        return;
    if (ctx->engine) {
        delist(ctx);
        mover_stop(ctx);
        stream_drop(ctx);
    }
    memory_detach(ctx);
    if (ctx->broken != FERRY_OK && ctx->engine)
        keep(ctx);
    else
        alloc_free(ctx->engine);
    context_drop(ctx);
}

ferry_status ferry_context_counters(const ferry_context *ctx, ferry_counters *counters_out)
{
    if (!ctx || !counters_out)
        return trouble(FERRY_ERR_ARG, "ferry_context_counters: %s is NULL",
                       ctx ? "counters_out" : "ctx");
    mover_enter(ctx);
    *counters_out = ctx->counters;
    mover_leave(ctx);
    counters_out->allocations = alloc_count();
    counters_out->system_calls = sys_call_count();
    counters_out->waits = sys_wait_count();
    counters_out->pool_bytes = pool_kept();
    counters_out->pool_bound = pool_most();
    return FERRY_OK;
}

const char *ferry_version_kernels(void)
{
    return kernels_name();
}
