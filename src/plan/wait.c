/* Waiting. A rank that waits moves everything of its context on. It spins while every rank of the
 * machine has a core of its own, else, and after long spins, it sleeps until a peer wakes it; it
 * never yields in a loop, since with more ranks than cores that keeps the core from those that have
 * work. MPI is poked now and then, because the peer may be inside an MPI call that needs this
 * rank's help. */
#include "base/sys.h"
#include "base/trouble.h"
#include "memory/arena.h"
#include "plan/mover.h"
#include "plan/plan.h"

enum {
    LOOK_EVERY = 32,        /* spins between two looks at the clock */
    POKE_NS = 100000,       /* MPI is poked at least this often */
    LONG_SPIN_NS = 2000000, /* then even a rank with a core of its own sleeps */
    SHORT_SPIN_NS = 4000,   /* without one: about what a wake costs */
    SLEEP_NS = 100000,      /* the next poke is due */
    NAP_NS = 20000          /* where nobody of this node can wake us */
};

typedef struct pace {
    int64_t began, poked, looked_at_peers;
    unsigned spins;
} pace;

static inline void pause_core(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static ferry_status poke(const ferry_context *ctx)
{
    int flag = 0;

    return pmpi_status(
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, ctx->comm, &flag, MPI_STATUS_IGNORE),
        "MPI_Iprobe");
}

static ferry_status time_is_up(ferry_context *ctx, const wait_for *wanted)
{
    char who[300];
    text_out out = {who, sizeof who, 0};

    wanted->missing(wanted->what, &out);
    return trouble(FERRY_ERR_TIMEOUT, "rank %d waited %g s %s", ctx->rank, ctx->timeout_s, who);
}

/* Only after a long time, so that rounds that run know nothing of it. */
static ferry_status look_at_peers(const ferry_context *ctx, const wait_for *wanted)
{
    char who[300];
    text_out out = {who, sizeof who, 0};

    wanted->missing(wanted->what, &out);
    return ctx->look_at_peers(ctx, who);
}

/* Sleep unless something came in between: sleeping is told first, then everything is looked at once
 * more. */
static ferry_status sleep_node(ferry_context *ctx, const wait_for *wanted, bool *done_out)
{
    memory_control *const own = memory_control_of(ctx, ctx->node_rank);
    const uint32_t seen = atomic_load(&own->bell);

    atomic_store(&own->sleeping, 1);
    atomic_thread_fence(memory_order_seq_cst);
    const ferry_status st = progress_rounds(ctx);
    *done_out = wanted->done(wanted->what);
    if (st == FERRY_OK && !*done_out)
        sys_sleep_on((uint32_t *)&own->bell, seen, SLEEP_NS);
    atomic_store(&own->sleeping, 0);
    return st;
}

/* Pass a little time in the way that suits the machine. */
static ferry_status rest(ferry_context *ctx, const wait_for *wanted, const pace *p, int64_t now,
                         bool *done_out)
{
    *done_out = false;
    if (now - p->began < (ctx->spins ? LONG_SPIN_NS : SHORT_SPIN_NS))
        return FERRY_OK;
    if (ctx->arena)
        return sleep_node(ctx, wanted, done_out);
    if (!ctx->spins)
        sys_nap(NAP_NS);
    return FERRY_OK;
}

static ferry_status look(ferry_context *ctx, const wait_for *wanted, pace *p, bool *done_out)
{
    const int64_t now = sys_now_ns();
    ferry_status st = FERRY_OK;

    *done_out = false;
    if (!p->began)
        p->began = p->poked = p->looked_at_peers = now;
    if (ctx->timeout_s > 0 && (double)(now - p->began) > ctx->timeout_s * 1e9)
        return time_is_up(ctx, wanted);
    if (ctx->look_at_peers && now - p->looked_at_peers >= CONTEXT_PEERS_NS) {
        p->looked_at_peers = now;
        st = look_at_peers(ctx, wanted);
    }
    if (st == FERRY_OK && (ctx->simulated || now - p->poked >= POKE_NS)) {
        st = poke(ctx);
        p->poked = now;
    }
    return st == FERRY_OK ? rest(ctx, wanted, p, now, done_out) : st;
}

static ferry_status wait_for_it(ferry_context *ctx, const wait_for *wanted)
{
    pace p = {0, 0, 0, 0};

    for (bool done = false; !done;) {
        ferry_status st = progress_rounds(ctx);
        if (st != FERRY_OK)
            return st;
        if (wanted->done(wanted->what))
            return FERRY_OK;
        pause_core();
        if (++p.spins % LOOK_EVERY && !ctx->simulated && ctx->spins)
            continue;
        st = look(ctx, wanted, &p, &done);
        if (st != FERRY_OK)
            return context_break(ctx, st);
    }
    return FERRY_OK;
}

ferry_status wait_until(ferry_context *ctx, const wait_for *wanted)
{
    mover_enter(ctx);
    const ferry_status st = wait_for_it(ctx, wanted);
    mover_leave(ctx);
    return st;
}
