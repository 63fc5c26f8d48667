/* From edges to carriers: match, choose a route for each edge, let each route make what it needs.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/trouble.h"
#include "layout/layout.h"
#include "plan/plan.h"

/* Which route carries which edge. */
typedef struct choice {
    int *route_of;      /* by edge: index in routes[] */
    route_edge *sorted; /* edges of one route at a time */
    unsigned used;      /* routes that any rank uses, as bits */
} choice;

static ferry_status choose_route(ferry_plan *plan, const route_edge *edge, int *route_out)
{
    const ferry_context *const ctx = plan->ctx;
    route_bid bids[ROUTE_MOST];
    const int best = route_choose(ctx, edge, bids);

    if (best < 0)
        return trouble(FERRY_ERR_ROUTE,
                       "edge %d -> %d, tag %d: none of the allowed routes (%.80s) can carry it",
                       edge->from, edge->to, edge->tag, ctx->routes);
    *route_out = best;
    return why_add(&plan->whys, ctx, edge, best, bids);
}

static ferry_status choose_routes(ferry_plan *plan, const match *m, choice *c)
{
    ferry_status st = alloc_zero(m->count, sizeof *c->route_of, &c->route_of);

    if (st == FERRY_OK)
        st = alloc_zero(m->count, sizeof *c->sorted, &c->sorted);
    for (size_t i = 0; i < m->count && st == FERRY_OK; i++) {
        st = choose_route(plan, &m->edges[i], &c->route_of[i]);
        if (st == FERRY_OK)
            c->used |= 1u << c->route_of[i];
    }
    return st;
}

static ferry_status make_carriers(ferry_plan *plan, const match *m, const choice *c)
{
    ferry_context *const ctx = plan->ctx;
    unsigned used = 0;

    ctx->compared[0] = c->used;
    ctx->compared[1] = 0;
    ferry_status st = context_reduce(ctx, MPI_BOR);
    used = (unsigned)ctx->most[0];
    for (int r = 0; routes[r] && st == FERRY_OK; r++) {
        size_t count = 0;
        if (!(used & 1u << r))
            continue;
        for (size_t i = 0; i < m->count; i++)
            if (c->route_of[i] == r)
                c->sorted[count++] = m->edges[i];
        route_carrier *carrier = NULL;
        st = context_agree(ctx, routes[r]->make(ctx, c->sorted, count, plan->channel, &carrier));
        if (carrier) {
            carrier->route = routes[r];
            plan->carriers[plan->carrier_count++] = carrier;
        }
    }
    return st;
}

static void widen(ferry_range *range, const ferry_layout *layout)
{
    const bool empty = range->lb == range->ub;

    range->lb = empty || layout->lb < range->lb ? layout->lb : range->lb;
    range->ub = empty || layout->ub > range->ub ? layout->ub : range->ub;
}

/* What describe and bounds tell, gathered once. */
static void summarize(ferry_plan *plan, const ferry_edge *edges, size_t count)
{
    const int me = plan->ctx->rank;

    for (size_t i = 0; i < count; i++) {
        const ferry_edge *const e = &edges[i];
        if (e->from == me && e->source->bytes > 0) {
            plan->info.send_bytes += e->source->bytes;
            plan->info.send_edges++;
            plan->src_buffers |= (uint64_t)1 << e->buffer;
            widen(&plan->send, e->source);
        }
        if (e->to == me && e->target->bytes > 0) {
            plan->info.recv_bytes += e->target->bytes;
            plan->info.recv_edges++;
            plan->dst_buffers |= (uint64_t)1 << e->buffer;
            widen(&plan->recv, e->target);
        }
    }
    plan->info.private_bytes = sizeof *plan + plan->whys.count * sizeof *plan->whys.list;
    plan->info.expected_ns = (uint64_t)(why_expected(&plan->whys) + 0.5);
    for (int i = 0; i < plan->carrier_count; i++)
        plan->carriers[i]->route->account(plan->carriers[i], &plan->info);
    folds_account(plan->folds, &plan->info);
}

/* A number that no living plan has on any rank, modulo the tags there are. Before they come round
 * none can. */
static ferry_status take_channel(ferry_plan *plan)
{
    ferry_context *const ctx = plan->ctx;
    unsigned char *const taken = ctx->engine->channel_taken;

    for (int tries = 0; tries < CONTEXT_TAG_CHANNELS; tries++) {
        const uint32_t channel = ctx->channels++;
        if (channel >= CONTEXT_TAG_CHANNELS) {
            ctx->compared[0] = taken[channel % CONTEXT_TAG_CHANNELS];
            ctx->compared[1] = 0;
            const ferry_status st = context_reduce(ctx, MPI_MAX);
            if (st != FERRY_OK)
                return st;
            if (ctx->most[0])
                continue;
        }
        plan->channel = channel;
        plan->has_channel = true;
        taken[channel % CONTEXT_TAG_CHANNELS] = 1;
        return FERRY_OK;
    }
    return trouble(FERRY_ERR_LIMIT,
                   "ferry_plan_compile: %d plans of one context are alive, the most there can be",
                   CONTEXT_TAG_CHANNELS);
}

static void drop(ferry_plan *plan)
{
    if (!plan)
        return;
    if (plan->has_channel)
        plan->ctx->engine->channel_taken[plan->channel % CONTEXT_TAG_CHANNELS] = 0;
    for (int i = 0; i < plan->carrier_count; i++)
        plan->carriers[i]->route->drop(plan->carriers[i]);
    why_drop(&plan->whys);
    folds_drop(plan->folds);
    alloc_free(plan);
}

/* What a rank does alone: check its edges, and set apart what is folded. */
static ferry_status prepare(ferry_context *ctx, const ferry_edge *edges, size_t count,
                            ferry_plan **plan_out, folds_routed *routed)
{
    ferry_plan *plan = NULL;
    ferry_status st = match_check(ctx, edges, count);

    if (st == FERRY_OK)
        st = folds_check(ctx, edges, count);
    if (st == FERRY_OK)
        st = alloc_zero(1, sizeof *plan, &plan);
    if (st != FERRY_OK)
        return st;
    plan->ctx = ctx;
    *plan_out = plan; /* dropped by the caller, whatever follows */
    st = folds_make(ctx, edges, count, routed, &plan->folds);
    plan->dst[FOLD_BUFFER] = folds_staging(plan->folds);
    return st;
}

ferry_status ferry_plan_compile(ferry_context *ctx, const ferry_edge *edges, size_t count,
                                ferry_plan **plan_out)
{
    ferry_plan *plan = NULL;
    match m = {NULL, 0, NULL, 0};
    choice c = {NULL, NULL, 0};
    folds_routed routed = {NULL, NULL, 0};
    ferry_status st = context_usable(ctx, "ferry_plan_compile");

    if (st != FERRY_OK)
        return st;
    if (!plan_out)
        st = trouble(FERRY_ERR_ARG, "ferry_plan_compile: plan_out is NULL on rank %d", ctx->rank);
    else
        st = prepare(ctx, edges, count, &plan, &routed);
    st = context_agree(ctx, st);
    if (st != FERRY_OK)
        goto out;
    st = take_channel(plan);
    if (st == FERRY_OK)
        st = match_edges(ctx, routed.edges, count, &m);
    if (st != FERRY_OK)
        goto out;
    st = context_agree(ctx, choose_routes(plan, &m, &c));
    if (st == FERRY_OK)
        st = make_carriers(plan, &m, &c);
    if (st != FERRY_OK)
        goto out;
    summarize(plan, edges, count);
    *plan_out = plan;
    plan = NULL;
out:
    drop(plan);
    match_drop(&m);
    folds_drop_routed(&routed);
    alloc_free(c.route_of);
    alloc_free(c.sorted);
    return st;
}

void ferry_plan_free(ferry_plan *plan)
{
    if (!plan)
        return;
    if (plan->ctx->broken == FERRY_OK)
        ferry_plan_wait(plan); /* at once when no round is under way */
    if (plan->active) /* MPI or a peer may still write into its buffers: they stay */
        return;
    drop(plan);
}

ferry_status ferry_plan_bounds(const ferry_plan *plan, ferry_range *send_out, ferry_range *recv_out)
{
    if (!plan || !send_out || !recv_out)
        return trouble(FERRY_ERR_ARG, "ferry_plan_bounds: %s is NULL",
                       !plan       ? "plan"
                       : !send_out ? "send_out"
                                   : "recv_out");
    *send_out = plan->send;
    *recv_out = plan->recv;
    return FERRY_OK;
}

ferry_status ferry_plan_describe(const ferry_plan *plan, ferry_plan_info *info_out)
{
    if (!plan || !info_out)
        return trouble(FERRY_ERR_ARG, "ferry_plan_describe: %s is NULL",
                       plan ? "info_out" : "plan");
    *info_out = plan->info;
    return FERRY_OK;
}

size_t ferry_plan_explain(const ferry_plan *plan, char *text, size_t bytes)
{
    text_out out = {text, bytes, 0};

    if (!plan) {
        text_add(&out, "none");
        return out.needed;
    }
    text_add(&out, "plan %u on rank %d: %llu edges out (", plan->channel, plan->ctx->rank,
             (unsigned long long)plan->info.send_edges);
    text_bytes(&out, plan->info.send_bytes);
    text_add(&out, "), %llu in (", (unsigned long long)plan->info.recv_edges);
    text_bytes(&out, plan->info.recv_bytes);
    text_add(&out, "), kernels %s\n", kernels_name());
    for (int i = 0; i < plan->carrier_count; i++)
        plan->carriers[i]->route->explain(plan->carriers[i], &out);
    why_explain(&plan->whys, plan->ctx, &out);
    folds_explain(plan->folds, &out);
    return out.needed;
}
