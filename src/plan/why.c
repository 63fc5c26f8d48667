/* Why a plan moves its blocks the way it does: see why.h. */
#include "plan/why.h"

#include "base/alloc.h"

/* Edges come sorted by peer more often than not, so the last entry is looked at first. */
static why *find(const why_list *whys, int peer, bool sends, int route)
{
    for (size_t i = whys->count; i-- > 0;) {
        why *const w = &whys->list[i];
        if (w->peer == peer && w->sends == sends && w->route == route)
            return w;
    }
    return NULL;
}

/* Edges that go together start together; what cannot carry one of them cannot carry all. */
static void add_bid(route_bid *sum, const route_bid *bid)
{
    if (sum->verdict != ROUTE_CAN || bid->verdict != ROUTE_CAN) {
        sum->verdict = sum->verdict != ROUTE_CAN ? sum->verdict : bid->verdict;
        return;
    }
    if (bid->cost.start > sum->cost.start)
        sum->cost.start = bid->cost.start;
    sum->cost.rest += bid->cost.rest;
    if (bid->cost.note)
        sum->cost.note = bid->cost.note;
}

static ferry_status take(why_list *whys, const why *first, why **why_out)
{
    const ferry_status st = alloc_resize(whys->count + 1, sizeof *whys->list, &whys->list);

    if (st != FERRY_OK)
        return st;
    *why_out = &whys->list[whys->count++];
    **why_out = *first;
    return FERRY_OK;
}

static ferry_status add(why_list *whys, const why *key, const route_bid bids[ROUTE_MOST])
{
    why *w = find(whys, key->peer, key->sends, key->route);

    if (!w) {
        const ferry_status st = take(whys, key, &w);
        if (st != FERRY_OK)
            return st;
        for (int i = 0; routes[i]; i++)
            w->bids[i] = bids[i];
    } else {
        for (int i = 0; routes[i]; i++)
            add_bid(&w->bids[i], &bids[i]);
    }
    w->edges++;
    return FERRY_OK;
}

ferry_status why_add(why_list *whys, const ferry_context *ctx, const route_edge *edge, int chosen,
                     const route_bid bids[ROUTE_MOST])
{
    const bool sends = edge->from == ctx->rank;
    const why key = {.peer = sends ? edge->to : edge->from, .route = chosen, .sends = sends};

    return add(whys, &key, bids);
}

void why_drop(why_list *whys)
{
    alloc_free(whys->list);
    *whys = (why_list){0};
}

static double expected(const why *w, int route)
{
    return w->bids[route].cost.start + w->bids[route].cost.rest;
}

/* Costs are those of a rank that sends as much as it receives. */
double why_expected(const why_list *whys)
{
    double out = 0, in = 0;

    for (size_t i = 0; i < whys->count; i++) {
        const why *const w = &whys->list[i];
        *(w->sends ? &out : &in) += expected(w, w->route);
    }
    return out > in ? out : in;
}

static void add_time(text_out *out, double ns)
{
    if (ns < 1e3)
        text_add(out, "%.0f ns", ns);
    else if (ns < 1e6)
        text_add(out, "%.3g us", ns / 1e3);
    else
        text_add(out, "%.3g ms", ns / 1e6);
}

/* Why a route has no time to offer; NULL when that goes without saying. */
static const char *refusal(const why *w, int route, const ferry_context *ctx)
{
    if (w->bids[route].verdict == ROUTE_BARRED)
        return "is not allowed (FERRY_ROUTE)";
    if (w->peer == ctx->rank || !routes[route]->can(ctx, NULL))
        return NULL;
    return context_node_rank(ctx, w->peer) < 0 ? "does not reach another node" : NULL;
}

static void explain_others(const why *w, const ferry_context *ctx, text_out *out)
{
    for (int i = 0; routes[i]; i++) {
        if (i == w->route || (i == 0 && w->peer != ctx->rank)) /* self is for oneself */
            continue;
        const char *const why_not = refusal(w, i, ctx);
        if (w->bids[i].verdict == ROUTE_CAN) {
            text_add(out, "; %s ", routes[i]->name);
            add_time(out, expected(w, i));
        } else if (why_not) {
            text_add(out, "; %s %s", routes[i]->name, why_not);
        }
    }
}

void why_explain(const why_list *whys, const ferry_context *ctx, text_out *out)
{
    for (size_t i = 0; i < whys->count; i++) {
        const why *const w = &whys->list[i];
        const char *const note = w->bids[w->route].cost.note;
        text_add(out, "  why: %s %s rank %d by %s, about ",
                 w->edges == 1 ? "the edge" : "the edges", w->sends ? "to" : "from", w->peer,
                 routes[w->route]->name);
        add_time(out, expected(w, w->route));
        if (note)
            text_add(out, " (%s)", note);
        explain_others(w, ctx, out);
        if (!ctx->arena && w->peer != ctx->rank && *ctx->shared_reason)
            text_add(out, "; no shared memory: %s", ctx->shared_reason);
        text_add(out, "\n");
    }
}
