/* Route node_ring: private memory to private memory of the same node through slots that stay in the
 * caches. Gathers on the way in, scatters on the way out; best for narrow rows, whose lines reader
 * and writer would otherwise fight for, and for short blocks. */
#include "base/alloc.h"
#include "route/ring.h"
#include "route/trial.h"

typedef struct node_ring_carrier {
    route_carrier head;
    ring_set rings;
    trial *trials; /* by end: the caches' way, or past them; NULL: none allowed */
    route_bases bases;
} node_ring_carrier;

static bool can(const ferry_context *ctx, const route_edge *edge)
{
    if (!ctx->arena)
        return false;
    return !edge || (edge->from != edge->to && context_node_rank(ctx, edge->from) >= 0 &&
                     context_node_rank(ctx, edge->to) >= 0);
}

static route_cost cost(const ferry_context *ctx, const route_edge *edge)
{
    return (route_cost){.start = context_tuned(ctx, TUNE_RING_START),
                        .rest = route_rows_ns(ctx, edge, TUNE_RING_NARROW, TUNE_RING_WIDE)};
}

static void drop(route_carrier *carrier)
{
    node_ring_carrier *const own = (node_ring_carrier *)carrier;

    if (!own)
        return;
    ring_set_drop(&own->rings);
    alloc_free(own->trials);
    alloc_free(own);
}

static ferry_status make(ferry_context *ctx, const route_edge *edges, size_t count,
                         uint32_t channel, route_carrier **carrier_out)
{
    node_ring_carrier *own = NULL;
    ferry_status st = alloc_zero(1, sizeof *own, &own);

    (void)channel;
    if (st == FERRY_OK)
        own->rings.ctx = own->head.ctx = ctx; /* dropping needs it, also when another rank failed */
    st = context_agree(ctx, st);
    if (st == FERRY_OK)
        st = ring_set_make(ctx, edges, count, &own->rings);
    if (st == FERRY_OK && trial_allowed())
        st = alloc_zero(own->rings.count, sizeof *own->trials, &own->trials);
    if (st != FERRY_OK) {
        drop((route_carrier *)own);
        return st;
    }
    *carrier_out = &own->head;
    return FERRY_OK;
}

/* Small slots are over before the choice matters. */
static void choose_ways(node_ring_carrier *own)
{
    for (size_t i = 0; own->trials && i < own->rings.count; i++) {
        ring_end *const end = &own->rings.ends[i];
        if (end->sends && end->slot_bytes >= RING_BOUNCE_BYTES)
            end->past = trial_start(&own->trials[i]);
    }
}

static ferry_status start(route_carrier *carrier, const route_bases *bases)
{
    node_ring_carrier *const own = (node_ring_carrier *)carrier;

    own->bases = *bases;
    choose_ways(own);
    for (size_t i = 0; i < own->rings.count; i++)
        ring_begin(&own->rings.ends[i]);
    for (size_t i = 0; i < own->rings.count; i++)
        if (own->rings.ends[i].sends)
            ring_push(&own->rings, &own->rings.ends[i], bases);
    return FERRY_OK;
}

/* Fill one slot, empty one slot, in turn, so that both directions of a pair flow. */
static ferry_status progress(route_carrier *carrier, bool *done_out)
{
    node_ring_carrier *const own = (node_ring_carrier *)carrier;
    bool moved = true, ended = true;

    while (moved) {
        moved = false;
        ended = true;
        for (size_t i = 0; i < own->rings.count; i++) {
            ring_end *const end = &own->rings.ends[i];
            moved |= end->sends ? ring_push(&own->rings, end, &own->bases)
                                : ring_pull(&own->rings, end, &own->bases);
            ended &= ring_ended(end);
        }
    }
    *done_out = ended;
    return FERRY_OK;
}

static void explain(const route_carrier *carrier, text_out *out)
{
    const node_ring_carrier *const own = (const node_ring_carrier *)carrier;

    for (size_t i = 0; i < own->rings.count; i++) {
        const ring_end *const end = &own->rings.ends[i];
        text_add(out,
                 "  node_ring: %s rank %d, %zu edge%s, %zu bytes through %zu slots of %zu bytes\n",
                 end->sends ? "to" : "from", end->peer, end->edge_count,
                 end->edge_count == 1 ? "" : "s", end->total, end->slot_count, end->slot_bytes);
    }
}

static void missing(const route_carrier *carrier, text_out *out)
{
    const node_ring_carrier *const own = (const node_ring_carrier *)carrier;

    for (size_t i = 0; i < own->rings.count; i++)
        ring_missing(&own->rings.ends[i], out);
}

static void account(const route_carrier *carrier, ferry_plan_info *info)
{
    const node_ring_carrier *const own = (const node_ring_carrier *)carrier;

    info->private_bytes += sizeof *own + own->rings.private_bytes;
    info->shared_bytes += own->rings.shared_bytes;
    info->staging_bytes += own->rings.staging_bytes;
}

const route route_node_ring = {
    .name = "node_ring",
    .use = "short and narrow blocks within the node: through cached slots",
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
