/* Rounds: start, move on, wait. Nothing is chosen, allocated or looked up here. */
#include "base/trouble.h"
#include "plan/mover.h"
#include "plan/plan.h"
#include "plan/stream.h"

static const char start_call[] = "ferry_plan_start";

/* The thread's failure comes first: this call would have met it. */
static ferry_status usable(ferry_context *ctx, const char *call)
{
    const ferry_status st = mover_failure(ctx);

    return st == FERRY_OK ? context_usable(ctx, call) : st;
}

static void activate(ferry_plan *plan)
{
    struct plan_engine *const engine = plan->ctx->engine;

    plan->active = true;
    plan->next = engine->active;
    engine->active = plan;
}

/* `used` has a bit for each address that bytes move through; the others need not be there. */
static ferry_status check_buffers(const ferry_plan *plan, const char *side, uint64_t used,
                                  int count, const void *const *addresses)
{
    for (; used; used &= used - 1) {
        const int i = __builtin_ctzll(used);
        if (i >= count)
            return trouble(FERRY_ERR_ARG, "%s: count is %d, an edge of rank %d names buffer %d",
                           start_call, count, plan->ctx->rank, i);
        if (!addresses)
            return trouble(FERRY_ERR_ARG, "%s: the list of %s addresses is NULL on rank %d",
                           start_call, side, plan->ctx->rank);
        if (!addresses[i])
            return trouble(FERRY_ERR_ARG,
                           "%s: %s is NULL on rank %d while the plan moves bytes there (buffer %d)",
                           start_call, side, plan->ctx->rank, i);
    }
    return FERRY_OK;
}

static ferry_status start_carriers(ferry_plan *plan)
{
    const route_bases bases = {plan->src, plan->dst};

    activate(plan);
    plan->awaited = true;
    plan->info.rounds++;
    plan->ctx->counters.rounds++;
    for (int i = 0; i < plan->carrier_count; i++) {
        const ferry_status st = plan->carriers[i]->route->start(plan->carriers[i], &bases);
        plan->done[i] = false;
        if (st != FERRY_OK) {
            return context_break(plan->ctx, st);
        }
    }
    return FERRY_OK;
}

static ferry_status start(ferry_plan *plan, int count, const void *const *srcs, void *const *dsts)
{
    ferry_status st = usable(plan->ctx, start_call);
    if (st == FERRY_OK && plan->awaited) /* also when it has ended by now: that is chance */
        st = trouble(FERRY_ERR_STATE,
                     "%s: the last round of plan %u was not waited for on rank %d: wait first",
                     start_call, plan->channel, plan->ctx->rank);
    if (st == FERRY_OK)
        st = check_buffers(plan, "src", plan->src_buffers, count, srcs);
    if (st == FERRY_OK)
        st = check_buffers(plan, "dst", plan->dst_buffers, count, (const void *const *)dsts);
    if (st != FERRY_OK)
        return st;
    for (uint64_t left = plan->src_buffers; left; left &= left - 1)
        plan->src[__builtin_ctzll(left)] = srcs[__builtin_ctzll(left)];
    for (uint64_t left = plan->dst_buffers; left; left &= left - 1)
        plan->dst[__builtin_ctzll(left)] = dsts[__builtin_ctzll(left)];
    return start_carriers(plan);
}

ferry_status ferry_plan_start_buffers(ferry_plan *plan, int count, const void *const *srcs,
                                      void *const *dsts)
{
    if (!plan)
        return trouble(FERRY_ERR_ARG, "%s: plan is NULL", start_call);
    mover_enter(plan->ctx);
    const ferry_status st = start(plan, count, srcs, dsts);
    if (st == FERRY_OK)
        mover_wake(plan->ctx);
    mover_leave(plan->ctx);
    return st;
}

ferry_status ferry_plan_start(ferry_plan *plan, const void *src, void *dst)
{
    return ferry_plan_start_buffers(plan, 1, &src, &dst);
}

static ferry_status progress_plan(ferry_plan *plan, bool wire)
{
    bool all = true;

    for (int i = 0; i < plan->carrier_count; i++) {
        if (plan->done[i])
            continue;
        if (!wire && plan->carriers[i]->route->calls_mpi) {
            all = false;
            continue;
        }
        const ferry_status st =
            plan->carriers[i]->route->progress(plan->carriers[i], &plan->done[i]);
        if (st != FERRY_OK) {
            return context_break(plan->ctx, st);
        }
        all &= plan->done[i];
    }
    if (all)
        folds_run(plan->ctx, plan->folds, plan->src, plan->dst);
    plan->active = !all;
    return FERRY_OK;
}

ferry_status progress_plans(ferry_context *ctx, bool wire)
{
    ferry_plan **link = &ctx->engine->active;

    while (*link) {
        ferry_plan *const plan = *link;
        const ferry_status st = progress_plan(plan, wire);
        if (st != FERRY_OK)
            return st;
        if (plan->active)
            link = &plan->next;
        else
            *link = plan->next;
    }
    return FERRY_OK;
}

ferry_status progress_rounds(ferry_context *ctx)
{
    mover_enter(ctx);
    ferry_status st = progress_plans(ctx, true);
    if (st == FERRY_OK)
        st = stream_progress(ctx);
    mover_leave(ctx);
    return st;
}

ferry_status ferry_plan_test(ferry_plan *plan, int *done_out)
{
    if (!plan || !done_out)
        return trouble(FERRY_ERR_ARG, "ferry_plan_test: %s is NULL", plan ? "done_out" : "plan");
    ferry_status st = FERRY_OK;
    mover_enter(plan->ctx);
    if (plan->active) {
        st = usable(plan->ctx, "ferry_plan_test");
        if (st == FERRY_OK)
            st = progress_rounds(plan->ctx);
    }
    if (st == FERRY_OK) {
        *done_out = !plan->active;
        plan->awaited = plan->active;
    }
    mover_leave(plan->ctx);
    return st;
}

static bool ended(void *what)
{
    return !((const ferry_plan *)what)->active;
}

static void missing(void *what, text_out *out)
{
    const ferry_plan *const plan = what;

    text_add(out, "in plan %u for", plan->channel);
    for (int i = 0; i < plan->carrier_count; i++)
        if (!plan->done[i])
            plan->carriers[i]->route->missing(plan->carriers[i], out);
}

ferry_status ferry_plan_wait(ferry_plan *plan)
{
    if (!plan)
        return trouble(FERRY_ERR_ARG, "ferry_plan_wait: plan is NULL");
    ferry_status st = FERRY_OK;
    mover_enter(plan->ctx);
    if (plan->active) {
        st = usable(plan->ctx, "ferry_plan_wait");
        if (st == FERRY_OK)
            st = wait_until(plan->ctx, &(wait_for){ended, missing, plan});
    }
    plan->awaited = plan->active;
    mover_leave(plan->ctx);
    return st;
}
