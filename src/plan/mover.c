/* The progress thread. It does what a wait does, one pass over the rounds of plans at a time, and
 * gives the lock back between two passes; a user's call that waits keeps the lock and moves
 * everything itself, so that the two never compete. Streams are left to calls, because they call
 * the user back. Without MPI_THREAD_MULTIPLE it leaves alone what calls MPI. It sleeps while
 * nothing is under way, takes no signals, and fails where the user looks: in the next wait. */
#include "plan/mover.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys.h"
#include "memory/arena.h"

enum {
    WIRE_NS = 100000, /* MPI wakes nobody */
    NODE_NS = 1000000 /* peers ring; a user's wait may have taken the bell meanwhile */
};

struct plan_mover {
    ferry_context *ctx;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    bool stop, failed, moves_wire;
};

/* Is there something that the thread may move on? `*wire_out`: with MPI. */
static bool has_work(const struct plan_mover *m, bool *wire_out)
{
    bool some = false;

    *wire_out = false;
    if (m->ctx->broken != FERRY_OK)
        return false;
    for (const ferry_plan *plan = m->ctx->engine->active; plan; plan = plan->next)
        for (int i = 0; i < plan->carrier_count; i++) {
            const bool wire = plan->carriers[i]->route->calls_mpi;
            if (plan->done[i] || (wire && !m->moves_wire))
                continue;
            some = true;
            *wire_out |= wire;
        }
    return some;
}

/* One pass, and a sleep when it leaves something to do. Called and left with the lock held. */
static void move(struct plan_mover *m)
{
    memory_control *const own = m->ctx->arena ? memory_control_of(m->ctx, m->ctx->node_rank) : NULL;
    const uint32_t seen = own ? atomic_load(&own->bell) : 0;
    bool wire = false;

    if (own)
        atomic_store(&own->sleeping, 1);
    atomic_thread_fence(memory_order_seq_cst);
    m->failed |= progress_plans(m->ctx, m->moves_wire) != FERRY_OK;
    if (!has_work(m, &wire))
        return;
    pthread_mutex_unlock(&m->lock);
    if (own)
        sys_sleep_on((uint32_t *)&own->bell, seen, wire ? WIRE_NS : NODE_NS);
    else
        sys_nap(WIRE_NS);
    pthread_mutex_lock(&m->lock);
}

static void *run(void *mover)
{
    struct plan_mover *const m = mover;
    bool wire = false;

    pthread_mutex_lock(&m->lock);
    while (!m->stop)
        if (has_work(m, &wire))
            move(m);
        else
            pthread_cond_wait(&m->work, &m->lock);
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

static int start(struct plan_mover *m)
{
    pthread_mutexattr_t kind;
    sigset_t all, before;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m->lock, &kind);
    pthread_mutexattr_destroy(&kind);
    pthread_cond_init(&m->work, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&m->thread, NULL, run, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

ferry_status mover_make(ferry_context *ctx)
{
    struct plan_mover *m = NULL;
    int level = MPI_THREAD_SINGLE;

    if (strcmp(ctx->progress_kind, "none") == 0)
        return FERRY_OK;
    ferry_status st = alloc_zero(1, sizeof *m, &m);
    if (st != FERRY_OK)
        return st;
    PMPI_Query_thread(&level);
    m->ctx = ctx;
    m->moves_wire = level == MPI_THREAD_MULTIPLE;
    const int failed = start(m);
    if (failed) {
        alloc_free(m);
        return trouble(FERRY_ERR_SYSTEM, "rank %d: no thread for progress: %s", ctx->rank,
                       strerror(failed));
    }
    if (!m->moves_wire)
        ctx->progress_kind = "node";
    ctx->engine->mover = m;
    return FERRY_OK;
}

void mover_stop(ferry_context *ctx)
{
    struct plan_mover *const m = ctx->engine->mover;

    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->stop = true;
    pthread_cond_signal(&m->work);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    ctx->engine->mover = NULL;
    pthread_cond_destroy(&m->work);
    pthread_mutex_destroy(&m->lock);
    alloc_free(m);
}

void mover_enter(const ferry_context *ctx)
{
    if (ctx->engine->mover)
        pthread_mutex_lock(&ctx->engine->mover->lock);
}

void mover_leave(const ferry_context *ctx)
{
    if (ctx->engine->mover)
        pthread_mutex_unlock(&ctx->engine->mover->lock);
}

void mover_wake(const ferry_context *ctx)
{
    if (ctx->engine->mover)
        pthread_cond_signal(&ctx->engine->mover->work);
}

ferry_status mover_failure(ferry_context *ctx)
{
    struct plan_mover *const m = ctx->engine->mover;

    if (!m || !m->failed)
        return FERRY_OK;
    m->failed = false;
    trouble_keep(ctx->broken_text);
    return ctx->broken;
}
