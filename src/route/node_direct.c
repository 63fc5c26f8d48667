/* Route node_direct: one copy, layout to layout, out of a peer's memory of ferry_memory_alloc()
 * or ferry_memory_adopt(). The sender posts where its blocks lie in the arena, the receiver copies
 * and says so. Blocks that turn one output over join into tables of rows over all peers, this rank
 * included. When a round's source is private memory, the blocks of that sender go through the ring
 * that belongs to the pair.
 */
#include "base/alloc.h"
#include "base/trouble.h"
#include "route/ring.h"
#include "route/trial.h"
#include "route/turns.h"

/* One incoming edge, or one of this rank to itself. */
typedef struct direct_edge {
    copy_list *list;
    const char *base; /* of the source in this round, when known */
    int buffer;       /* of the target; of the source too for an edge to itself */
    bool own;         /* from this rank */
    bool in_table;
    bool done;
} direct_edge;

/* An outgoing end that may be read by the peer, or go through the ring. */
typedef struct choice {
    bool wanted; /* both ways make sense */
    trial ways;
} choice;

/* Where an incoming end stands in the round. */
typedef enum arrival { AWAITED, POSTED, RINGING, TAKEN } arrival;

typedef struct node_direct_carrier {
    route_carrier head;
    ring_set rings;
    route_bases bases;
    uint64_t round;
    size_t edge_count;
    direct_edge *edges; /* by index in the list given to make(); outgoing ones have no list */
    arrival *arrivals;  /* by end */
    choice *choices;    /* by end; used by those that send */
    turn_table *tables;
    size_t table_count;
    size_t remaining; /* things of this round that have not ended */
} node_direct_carrier;

/* ---- Choosing ---- */

/* Does this rank turn a block of its own over, which may join those of its peers? Without memory to
 * tell, it does not. */
static bool turns_over(const route_edge *edge)
{
    copy_list *list = NULL;
    copy_turn turn;

    if (copy_make(edge->source, edge->target, &list) != FERRY_OK)
        return false;
    const bool is = copy_is_turn(list, &turn);
    copy_drop(list);
    return is;
}

static bool can(const ferry_context *ctx, const route_edge *edge)
{
    if (!ctx->arena)
        return false;
    if (!edge)
        return true;
    if (edge->from == edge->to)
        return edge->from == ctx->rank && turns_over(edge);
    return context_node_rank(ctx, edge->from) >= 0 && context_node_rank(ctx, edge->to) >= 0;
}

/* Blocks up to this size are over before a trial tells anything. */
enum { SHORT = 16 << 10 };

/* Of the ring's cost: to have both ways is worth a little. */
static const double tried = 0.99;

extern const route route_node_ring;

/* Rows of whole lines are at home here whenever they can be tried both ways: one copy takes half
 * the time of the ring where the cores share a cache, and three times as long where they do not. So
 * the cost is that of the better way. Narrow rows are not tried: where reader and writer fight for
 * lines one copy takes ten times as long, and the few rounds of a trial would be felt. */
static route_cost cost(const ferry_context *ctx, const route_edge *edge)
{
    enum { TURN = 64 << 10 };
    const bool wide = route_run_bytes(edge) >= ROUTE_LINE;
    const bool aside = route_row_aside(edge->source) || route_row_aside(edge->target);
    route_cost own = {.start = context_tuned(ctx, TUNE_DIRECT_START)};

    if (edge->from == edge->to) /* only turns come here: they join those of the peers */
        return (route_cost){.rest = ROUTE_SELF_BYTE * (double)edge->bytes,
                            .note = "turned over with the blocks of others"};
    own.rest = !wide && aside && edge->bytes >= TURN
                   ? route_lines_ns(ctx, edge, TUNE_DIRECT_WIDE)
                   : route_rows_ns(ctx, edge, TUNE_DIRECT_NARROW, TUNE_DIRECT_WIDE);
    if (!wide || edge->bytes <= SHORT || !trial_allowed())
        return own;
    const route_cost ring = route_node_ring.cost(ctx, edge);
    if (ring.start + ring.rest <= own.start + own.rest)
        own = (route_cost){.start = ring.start, .rest = tried * ring.rest};
    own.note = "one copy and the ring are tried in turn";
    return own;
}

/* ---- Making ---- */

static void drop(route_carrier *carrier)
{
    node_direct_carrier *const own = (node_direct_carrier *)carrier;

    if (!own)
        return;
    for (size_t i = 0; own->edges && i < own->edge_count; i++)
        copy_drop(own->edges[i].list);
    turns_drop(own->tables, own->table_count);
    alloc_free(own->edges);
    alloc_free(own->arrivals);
    alloc_free(own->choices);
    ring_set_drop(&own->rings);
    alloc_free(own);
}

static ferry_status make_lists(node_direct_carrier *own, const route_edge *edges, size_t count)
{
    const int me = own->head.ctx->rank;
    ferry_status st = alloc_zero(count, sizeof *own->edges, &own->edges);

    own->edge_count = count;
    for (size_t i = 0; i < count && st == FERRY_OK; i++) {
        own->edges[i].buffer = edges[i].buffer;
        own->edges[i].own = edges[i].from == me;
        if (edges[i].to == me)
            st = copy_make(edges[i].source, edges[i].target, &own->edges[i].list);
    }
    return st;
}

/* Tables of the transpositions into one buffer. Tables of all buffers stand in one list. */
static ferry_status add_tables(node_direct_carrier *own, int buffer, turn_part *candidates)
{
    turn_table *tables = NULL;
    size_t count = 0, found = 0;

    for (size_t i = 0; i < own->edge_count; i++) {
        copy_turn turn;
        if (own->edges[i].list && own->edges[i].buffer == buffer &&
            copy_is_turn(own->edges[i].list, &turn))
            candidates[found++] = (turn_part){.index = i, .turn = turn};
    }
    if (found == 0)
        return FERRY_OK;
    ferry_status st = turns_make(candidates, found, buffer, &tables, &count);
    if (st != FERRY_OK)
        return st;
    st = alloc_resize(own->table_count + count, sizeof *own->tables, &own->tables);
    if (st != FERRY_OK) {
        turns_drop(tables, count);
        return st;
    }
    for (size_t i = 0; i < count; i++)
        own->tables[own->table_count++] = tables[i];
    for (size_t i = 0; i < found; i++)
        own->edges[candidates[i].index].in_table = true;
    alloc_free(tables);
    return FERRY_OK;
}

static ferry_status make_tables(node_direct_carrier *own)
{
    turn_part *candidates = NULL;
    ferry_status st = alloc_zero(own->edge_count, sizeof *candidates, &candidates);

    for (int buffer = 0; buffer < FERRY_PLAN_MAX_BUFFERS && st == FERRY_OK; buffer++)
        st = add_tables(own, buffer, candidates);
    alloc_free(candidates);
    return st;
}

/* Blocks that turn over are read in one pass with those of others. */
static void plan_choices(node_direct_carrier *own, const route_edge *edges)
{
    const bool allowed = trial_allowed();

    for (size_t i = 0; i < own->rings.count; i++) {
        const ring_end *const end = &own->rings.ends[i];
        bool turns = false;
        for (size_t k = 0; k < end->edge_count; k++) {
            const route_edge *const edge = &edges[end->edges[k].index];
            turns |= route_row_aside(edge->source) || route_row_aside(edge->target);
        }
        own->choices[i].wanted = allowed && end->sends && !turns && end->total > SHORT;
    }
}

static ferry_status make(ferry_context *ctx, const route_edge *edges, size_t count,
                         uint32_t channel, route_carrier **carrier_out)
{
    node_direct_carrier *own = NULL;
    ferry_status st = alloc_zero(1, sizeof *own, &own);

    (void)channel;
    if (st == FERRY_OK) {
        own->head.ctx = own->rings.ctx = ctx;
        st = make_lists(own, edges, count);
    }
    if (st == FERRY_OK)
        st = make_tables(own);
    st = context_agree(ctx, st);
    if (st == FERRY_OK)
        st = ring_set_make(ctx, edges, count, &own->rings);
    if (st == FERRY_OK)
        st = alloc_zero(own->rings.count, sizeof *own->arrivals, &own->arrivals);
    if (st == FERRY_OK)
        st = alloc_zero(own->rings.count, sizeof *own->choices, &own->choices);
    if (st == FERRY_OK)
        plan_choices(own, edges);
    if (st != FERRY_OK) {
        drop((route_carrier *)own);
        return st;
    }
    *carrier_out = &own->head;
    return FERRY_OK;
}

/* ---- Running ---- */

/* Post where the blocks of an outgoing end lie, or that they come through the ring. */
static void post(node_direct_carrier *own, ring_end *end)
{
    ferry_context *const ctx = own->head.ctx;
    choice *const c = &own->choices[end - own->rings.ends];
    bool shared = true;

    for (size_t i = 0; i < end->edge_count; i++) {
        const ring_edge *const edge = &end->edges[i];
        const char *const start = own->bases.src[edge->buffer] + edge->lb;
        const uint64_t first = memory_find(ctx, start, (size_t)(edge->ub - edge->lb));
        end->shared->sources[i] = first;
        shared &= first != MEMORY_PRIVATE;
    }
    if (shared && c->wanted)
        shared = !trial_start(&c->ways);
    else
        trial_skip(&c->ways);
    if (!shared)
        end->shared->sources[0] = MEMORY_PRIVATE;
    atomic_store_explicit(&end->shared->offered, own->round, memory_order_release);
    memory_wake(ctx, end->node_peer);
    end->edge =
        shared ? end->edge_count : 0; /* nothing to push when the receiver reads by itself */
    end->at = 0;
}

static ferry_status start(route_carrier *carrier, const route_bases *bases)
{
    node_direct_carrier *const own = (node_direct_carrier *)carrier;

    own->bases = *bases;
    own->round++;
    own->remaining = own->rings.count;
    for (size_t i = 0; i < own->edge_count; i++) {
        direct_edge *const edge = &own->edges[i];
        edge->done = false;
        edge->base = edge->own ? bases->src[edge->buffer] : NULL;
    }
    for (size_t i = 0; i < own->rings.count; i++) {
        own->arrivals[i] = AWAITED;
        if (own->rings.ends[i].sends)
            post(own, &own->rings.ends[i]);
    }
    return FERRY_OK;
}

static void finish_edge(node_direct_carrier *own, direct_edge *edge)
{
    ferry_counters *const counters = &own->head.ctx->counters;

    edge->done = true;
    counters->copied_bytes += copy_bytes(edge->list);
    counters->node_bytes += copy_bytes(edge->list);
}

static void copy_edge(node_direct_carrier *own, direct_edge *edge)
{
    copy_run(edge->list, edge->base, own->bases.dst[edge->buffer]);
    finish_edge(own, edge);
}

/* Nothing outside of the arena is ever read on a peer's word. */
static bool sources_hold(const node_direct_carrier *own, const ring_end *end)
{
    for (size_t i = 0; i < end->edge_count; i++)
        if (!memory_holds(own->head.ctx, end->shared->sources[i],
                          (size_t)(end->edges[i].ub - end->edges[i].lb)))
            return false;
    return true;
}

/* The sender has posted: learn where its blocks lie. */
static void arrive(node_direct_carrier *own, size_t index)
{
    ring_end *const end = &own->rings.ends[index];

    own->arrivals[index] = RINGING;
    ring_begin(end);
    if (!sources_hold(own, end)) /* the sender said so, and sends through the ring */
        return;
    own->arrivals[index] = POSTED;
    for (size_t i = 0; i < end->edge_count; i++) {
        direct_edge *const edge = &own->edges[end->edges[i].index];
        edge->base =
            (const char *)memory_address(own->head.ctx, end->shared->sources[i]) - end->edges[i].lb;
        if (!edge->in_table)
            copy_edge(own, edge);
    }
}

/* Run a table when all of its sources are known; one by one when some come through a ring. */
static void run_table(node_direct_carrier *own, turn_table *table, bool all_arrived)
{
    bool whole = true, pending = false;

    for (size_t i = 0; i < table->part_count; i++) {
        whole &= own->edges[table->parts[i].index].base != NULL;
        pending |= !own->edges[table->parts[i].index].done;
    }
    if (!pending || !(whole || all_arrived))
        return;
    for (size_t i = 0; i < table->part_count; i++) {
        direct_edge *const edge = &own->edges[table->parts[i].index];
        if (whole) {
            turns_point(table, &table->parts[i], edge->base);
            finish_edge(own, edge);
        } else if (edge->base && !edge->done) {
            copy_edge(own, edge);
        }
    }
    if (whole)
        turns_run(table, own->bases.dst[table->buffer]);
}

static bool all_done(const node_direct_carrier *own, const ring_end *end)
{
    for (size_t i = 0; i < end->edge_count; i++)
        if (!own->edges[end->edges[i].index].done)
            return false;
    return true;
}

static void progress_incoming(node_direct_carrier *own, size_t index)
{
    ring_end *const end = &own->rings.ends[index];

    if (own->arrivals[index] == AWAITED &&
        atomic_load_explicit(&end->shared->offered, memory_order_acquire) >= own->round)
        arrive(own, index);
    if (own->arrivals[index] == RINGING) {
        while (ring_pull(&own->rings, end, &own->bases))
            ;
        if (!ring_ended(end))
            return;
    } else if (own->arrivals[index] != POSTED || !all_done(own, end)) {
        return;
    }
    own->arrivals[index] = TAKEN;
    own->remaining--;
    atomic_store_explicit(&end->shared->taken, own->round, memory_order_release);
    memory_wake(own->head.ctx, end->node_peer);
}

static void progress_outgoing(node_direct_carrier *own, size_t index)
{
    ring_end *const end = &own->rings.ends[index];

    while (ring_push(&own->rings, end, &own->bases))
        ;
    if (!ring_ended(end) ||
        atomic_load_explicit(&end->shared->taken, memory_order_acquire) < own->round)
        return;
    own->arrivals[index] = TAKEN;
    own->remaining--;
}

static ferry_status progress(route_carrier *carrier, bool *done_out)
{
    node_direct_carrier *const own = (node_direct_carrier *)carrier;
    bool all_arrived = true, tables_done = true;

    for (size_t i = 0; i < own->rings.count; i++) {
        if (own->arrivals[i] == TAKEN)
            continue;
        if (own->rings.ends[i].sends)
            progress_outgoing(own, i);
        else
            progress_incoming(own, i);
        all_arrived &= own->rings.ends[i].sends || own->arrivals[i] != AWAITED;
    }
    for (size_t i = 0; i < own->table_count; i++)
        run_table(own, &own->tables[i], all_arrived);
    for (size_t i = 0; i < own->rings.count && own->table_count; i++)
        if (!own->rings.ends[i].sends && own->arrivals[i] == POSTED)
            progress_incoming(own, i);
    for (size_t i = 0; i < own->edge_count && own->remaining == 0; i++)
        tables_done &= own->edges[i].done || !own->edges[i].own || !own->edges[i].list;
    *done_out = own->remaining == 0 && tables_done;
    return FERRY_OK;
}

static void explain(const route_carrier *carrier, text_out *out)
{
    const node_direct_carrier *const own = (const node_direct_carrier *)carrier;

    for (size_t i = 0; i < own->table_count; i++) {
        const turn_table *const table = &own->tables[i];
        text_add(out,
                 "  node_direct: table of %zu rows x %zu columns of %zu bytes over %zu block%s, "
                 "turned over in one pass\n",
                 table->row_count, table->parts[0].turn.columns, table->parts[0].turn.element,
                 table->part_count, table->part_count == 1 ? "" : "s");
    }
    for (size_t i = 0; i < own->rings.count; i++) {
        const ring_end *const end = &own->rings.ends[i];
        text_add(out, "  node_direct: %s rank %d, %zu edge%s, %zu bytes in one copy\n",
                 end->sends ? "to" : "from", end->peer, end->edge_count,
                 end->edge_count == 1 ? "" : "s", end->total);
    }
}

static void missing(const route_carrier *carrier, text_out *out)
{
    const node_direct_carrier *const own = (const node_direct_carrier *)carrier;

    for (size_t i = 0; i < own->rings.count; i++) {
        const ring_end *const end = &own->rings.ends[i];
        if (own->arrivals[i] != TAKEN)
            text_add(out, " rank %d (%s %zu bytes)", end->peer, end->sends ? "to read" : "to offer",
                     end->total);
    }
}

static void account(const route_carrier *carrier, ferry_plan_info *info)
{
    const node_direct_carrier *const own = (const node_direct_carrier *)carrier;

    info->private_bytes +=
        sizeof *own + own->rings.private_bytes + own->edge_count * sizeof *own->edges;
    for (size_t i = 0; i < own->edge_count; i++)
        if (own->edges[i].list)
            info->private_bytes += copy_memory(own->edges[i].list);
    for (size_t i = 0; i < own->table_count; i++)
        info->private_bytes += sizeof *own->tables + own->tables[i].part_count * sizeof(turn_part) +
                               own->tables[i].row_count * sizeof(char *);
    info->shared_bytes += own->rings.shared_bytes;
    info->staging_bytes += own->rings.staging_bytes;
}

const route route_node_direct = {
    .name = "node_direct",
    .use = "large blocks and transpositions within the node: one copy",
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
