/* Route self: blocks that a rank has itself are copied when the round starts. */
#include "base/alloc.h"
#include "route/route.h"

typedef struct self_edge {
    copy_list *list;
    int buffer;
} self_edge;

typedef struct self_carrier {
    route_carrier head;
    size_t count;
    self_edge edges[];
} self_carrier;

static bool can(const ferry_context *ctx, const route_edge *edge)
{
    return !edge || (edge->from == ctx->rank && edge->to == ctx->rank);
}

/* The number is for people: node_direct bids below it when it joins blocks, nobody else can. */
static route_cost cost(const ferry_context *ctx, const route_edge *edge)
{
    (void)ctx;
    return (route_cost){.start = ROUTE_SELF_START, .rest = ROUTE_SELF_BYTE * (double)edge->bytes};
}

static void drop(route_carrier *carrier)
{
    self_carrier *const own = (self_carrier *)carrier;

    if (!own)
        return;
    for (size_t i = 0; i < own->count; i++)
        copy_drop(own->edges[i].list);
    alloc_free(own);
}

static ferry_status make(ferry_context *ctx, const route_edge *edges, size_t count,
                         uint32_t channel, route_carrier **carrier_out)
{
    self_carrier *own = NULL;
    ferry_status st = alloc_zero(1, sizeof *own + count * sizeof own->edges[0], &own);

    (void)channel;
    if (st != FERRY_OK)
        return st;
    own->count = count;
    for (size_t i = 0; i < count && st == FERRY_OK; i++) {
        own->edges[i].buffer = edges[i].buffer;
        st = copy_make(edges[i].source, edges[i].target, &own->edges[i].list);
    }
    if (st != FERRY_OK) {
        drop(&own->head);
        return st;
    }
    own->head.ctx = ctx;
    *carrier_out = &own->head;
    return FERRY_OK;
}

static ferry_status start(route_carrier *carrier, const route_bases *bases)
{
    const self_carrier *const own = (const self_carrier *)carrier;

    for (size_t i = 0; i < own->count; i++) {
        const self_edge *const edge = &own->edges[i];
        const size_t bytes = copy_bytes(edge->list);
        copy_run(edge->list, bases->src[edge->buffer], bases->dst[edge->buffer]);
        carrier->ctx->counters.copied_bytes += bytes;
        carrier->ctx->counters.node_bytes += bytes;
    }
    return FERRY_OK;
}

static ferry_status progress(route_carrier *carrier, bool *done_out)
{
    (void)carrier;
    *done_out = true;
    return FERRY_OK;
}

static void explain(const route_carrier *carrier, text_out *out)
{
    const self_carrier *const own = (const self_carrier *)carrier;

    for (size_t i = 0; i < own->count; i++) {
        text_add(out, "  self: ");
        copy_text(own->edges[i].list, out);
        text_add(out, "\n");
    }
}

static void missing(const route_carrier *carrier, text_out *out)
{
    (void)carrier, (void)out;
}

static void account(const route_carrier *carrier, ferry_plan_info *info)
{
    const self_carrier *const own = (const self_carrier *)carrier;

    info->private_bytes += sizeof *own + own->count * sizeof own->edges[0];
    for (size_t i = 0; i < own->count; i++)
        info->private_bytes += copy_memory(own->edges[i].list);
}

const route route_self = {
    .name = "self",
    .use = "blocks that a rank has itself: one copy",
    .can = can,
    .cost = cost,
    .make = make,
    .start = start,
    .progress = progress,
    .explain = explain,
    .missing = missing,
    .account = account,
    .drop = drop,
};
