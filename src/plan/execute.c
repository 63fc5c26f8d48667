/* Rounds: start, move on, wait. Nothing is chosen, allocated or looked up here. */
#include "base/trouble.h"
#include "plan/plan.h"

static void activate(ferry_plan *plan)
{
    struct plan_engine *const engine = plan->ctx->engine;

    plan->active = true;
    plan->next = engine->active;
    engine->active = plan;
}

static ferry_status check_buffers(const ferry_plan *plan, const char *call, const char *side, int needed, int count,
                                  const void *const *addresses)
{
    if (needed > count)
        return trouble(FERRY_ERR_ARG, "%s: count is %d, the edges of rank %d name %d buffers", call, count, plan->ctx->rank, needed);
    if (needed && !addresses)
        return trouble(FERRY_ERR_ARG, "%s: the list of %s addresses is NULL on rank %d", call, side, plan->ctx->rank);
    for (int i = 0; i < needed; i++)
        if (!addresses[i] && needed == 1)
            return trouble(FERRY_ERR_ARG, "%s: %s is NULL on rank %d while the plan moves bytes there", call, side, plan->ctx->rank);
    return FERRY_OK;
}

static ferry_status start_carriers(ferry_plan *plan)
{
    const route_bases bases = {plan->src, plan->dst};

    activate(plan);
    plan->info.rounds++;
    plan->ctx->counters.rounds++;
    for (int i = 0; i < plan->carrier_count; i++) {
        const ferry_status st = plan->carriers[i]->route->start(plan->carriers[i], &bases);
        plan->done[i] = false;
        if (st != FERRY_OK) {
            plan->ctx->broken = st;
            return st;
        }
    }
    return FERRY_OK;
}

ferry_status ferry_plan_start_buffers(ferry_plan *plan, int count, const void *const *srcs, void *const *dsts)
{
    static const char call[] = "ferry_plan_start";

    if (!plan)
        return trouble(FERRY_ERR_ARG, "%s: plan is NULL", call);
    ferry_status st = context_usable(plan->ctx, call);
    if (st == FERRY_OK && plan->active)
        st = trouble(FERRY_ERR_STATE, "%s: the last round of plan %u has not ended on rank %d: wait for it first", call, plan->channel,
                     plan->ctx->rank);
    if (st == FERRY_OK)
        st = check_buffers(plan, call, "src", plan->src_buffers, count, srcs);
    if (st == FERRY_OK)
        st = check_buffers(plan, call, "dst", plan->dst_buffers, count, (const void *const *)dsts);
    if (st != FERRY_OK)
        return st;
    for (int i = 0; i < plan->src_buffers; i++)
        plan->src[i] = srcs[i];
    for (int i = 0; i < plan->dst_buffers; i++)
        plan->dst[i] = dsts[i];
    return start_carriers(plan);
}

ferry_status ferry_plan_start(ferry_plan *plan, const void *src, void *dst)
{
    return ferry_plan_start_buffers(plan, 1, &src, &dst);
}

static ferry_status progress_plan(ferry_plan *plan)
{
    bool all = true;

    for (int i = 0; i < plan->carrier_count; i++) {
        if (plan->done[i])
            continue;
        const ferry_status st = plan->carriers[i]->route->progress(plan->carriers[i], &plan->done[i]);
        if (st != FERRY_OK) {
            plan->ctx->broken = st;
            return st;
        }
        all &= plan->done[i];
    }
    plan->active = !all;
    return FERRY_OK;
}

ferry_status progress_rounds(ferry_context *ctx)
{
    ferry_plan **link = &ctx->engine->active;

    while (*link) {
        ferry_plan *const plan = *link;
        const ferry_status st = progress_plan(plan);
        if (st != FERRY_OK)
            return st;
        if (plan->active)
            link = &plan->next;
        else
            *link = plan->next;
    }
    return FERRY_OK;
}

ferry_status ferry_plan_test(ferry_plan *plan, int *done_out)
{
    if (!plan || !done_out)
        return trouble(FERRY_ERR_ARG, "ferry_plan_test: %s is NULL", plan ? "done_out" : "plan");
    if (plan->active) {
        ferry_status st = context_usable(plan->ctx, "ferry_plan_test");
        if (st == FERRY_OK)
            st = progress_rounds(plan->ctx);
        if (st != FERRY_OK)
            return st;
    }
    *done_out = !plan->active;
    return FERRY_OK;
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
    if (!plan->active)
        return FERRY_OK;
    const ferry_status st = context_usable(plan->ctx, "ferry_plan_wait");
    return st == FERRY_OK ? wait_until(plan->ctx, &(wait_for){ended, missing, plan}) : st;
}
