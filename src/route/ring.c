/* The shared ring: see ring.h. Of the two ends, neither ever waits here. */
#include "route/ring.h"

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"

/* When all fit into the slots. How long slots are, and how many for more, the tuning record says.
 */
enum { SLOT_COUNT_SHORT = 2 };

/* Rows that lie side by side in one of the two layouts (a matrix turned over on its way) are best
 * moved many at a time, so that each line is touched once for all of them: longer slots, of whole
 * rows. */
enum { TURN_BYTES = 256 << 10 };

static size_t header_bytes(const ring_end *end)
{
    return size_round(sizeof(ring_shared) + end->edge_count * sizeof(uint64_t), MEMORY_LINE);
}

/* Both ends know the total and the layouts, so both come to the same slots. */
static void shape(const ferry_context *ctx, ring_end *end)
{
    const size_t slot = (size_t)context_tuned(ctx, TUNE_SLOT_BYTES);
    const bool turns = end->row_bytes > 0 && end->row_bytes <= TURN_BYTES / 2 && end->total > slot;
    const size_t most = turns ? TURN_BYTES / end->row_bytes * end->row_bytes : slot;

    end->slot_bytes = size_min(most, end->total);
    end->slot_room = size_round(end->slot_bytes, MEMORY_LINE);
    end->slot_count = end->total > most && !turns ? (size_t)context_tuned(ctx, TUNE_SLOT_COUNT)
                                                  : SLOT_COUNT_SHORT;
}

static size_t ring_bytes(const ring_end *end)
{
    return header_bytes(end) + end->slot_room * end->slot_count;
}

static void bind(ring_end *end, void *shared)
{
    end->shared = shared;
    end->slots = (char *)shared + header_bytes(end);
}

/* ---- Making ---- */

static int peer_of(const ferry_context *ctx, const route_edge *edge)
{
    return edge->from == ctx->rank ? edge->to : edge->from;
}

static ring_end *find_end(ring_set *set, int peer, bool sends)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->ends[i].peer == peer && set->ends[i].sends == sends)
            return &set->ends[i];
    ring_end *const end = &set->ends[set->count++];
    *end = (ring_end){.peer = peer, .node_peer = context_node_rank(set->ctx, peer), .sends = sends};
    return end;
}

static ferry_status add_edge(ring_set *set, const route_edge *edge, size_t index)
{
    const bool sends = edge->from == set->ctx->rank;
    ring_end *const end = find_end(set, peer_of(set->ctx, edge), sends);
    ferry_status st = alloc_resize(end->edge_count + 1, sizeof *end->edges, &end->edges);

    if (st != FERRY_OK)
        return st;
    ring_edge *const added = &end->edges[end->edge_count++];
    *added = (ring_edge){.bytes = edge->bytes,
                         .buffer = edge->buffer,
                         .index = index,
                         .lb = edge->source->lb,
                         .ub = edge->source->ub};
    end->total += edge->bytes;
    end->row_bytes = size_max(
        end->row_bytes, size_max(route_row_aside(edge->source), route_row_aside(edge->target)));
    st = copy_side_make(sends ? edge->source : edge->target, &added->side);
    if (st == FERRY_OK)
        set->private_bytes += sizeof *added + copy_side_memory(added->side);
    return st;
}

static ferry_status group(ring_set *set, const route_edge *edges, size_t count)
{
    const ferry_context *const ctx = set->ctx;
    ferry_status st = alloc_zero(count, sizeof *set->ends, &set->ends);

    set->private_bytes = count * sizeof *set->ends;
    for (size_t i = 0; i < count && st == FERRY_OK; i++)
        if (edges[i].from != ctx->rank || edges[i].to != ctx->rank)
            st = add_edge(set, &edges[i], i);
    for (size_t i = 0; i < set->count; i++)
        shape(ctx, &set->ends[i]);
    if (st == FERRY_OK)
        st = alloc_zero(set->count, sizeof *set->requests, &set->requests);
    if (st == FERRY_OK)
        st = alloc_zero(set->count, sizeof *set->offsets, &set->offsets);
    return st;
}

/* Aligned, so that whole lines are read from it. */
static ferry_status take_bounce(ring_set *set, size_t bytes)
{
    const ferry_status st = alloc_zero(bytes + MEMORY_LINE, 1, &set->bounce_memory);

    if (st != FERRY_OK)
        return st;
    set->bounce = (char *)size_round((size_t)set->bounce_memory, MEMORY_LINE);
    set->private_bytes += bytes + MEMORY_LINE;
    set->staging_bytes += bytes;
    return FERRY_OK;
}

/* Lines that one core has just written are the slowest for another to get. Slots above some size
 * are packed into a buffer of this rank's caches and written to the slot past them: as fast where
 * the two cores share a cache, 2 to 4 times faster where they do not (cases vector and halo, AMD
 * EPYC, 2026-11-30). The size is in the tuning record. */
static ferry_status take_rings(ring_set *set)
{
    void *shared = NULL;
    size_t longest = 0;

    for (size_t i = 0; i < set->count; i++) {
        ring_end *const end = &set->ends[i];
        if (!end->sends)
            continue;
        const ferry_status st = memory_take_shared(set->ctx, ring_bytes(end), &shared);
        if (st != FERRY_OK)
            return st;
        bind(end, shared);
        longest = size_max(longest, end->slot_bytes);
        end->past = (double)end->slot_bytes > context_tuned(set->ctx, TUNE_PAST_BYTES);
        set->shared_bytes += ring_bytes(end);
        set->staging_bytes += end->slot_room * end->slot_count;
    }
    return longest >= RING_BOUNCE_BYTES ? take_bounce(set, longest) : FERRY_OK;
}

/* Tell each receiver where its ring is, MEMORY_PRIVATE for "I have none". */
static ferry_status swap_offsets(ring_set *set, ferry_status st)
{
    MPI_Request *const requests = set->requests;
    uint64_t *const offsets = set->offsets;

    for (size_t i = 0; i < set->count; i++) {
        const ring_end *const end = &set->ends[i];
        if (end->sends) {
            offsets[i] = st == FERRY_OK ? memory_offset(set->ctx, end->shared) : MEMORY_PRIVATE;
            PMPI_Isend(&offsets[i], 1, MPI_UINT64_T, end->peer, CONTEXT_TAG_SETUP, set->ctx->comm,
                       &requests[i]);
        } else {
            PMPI_Irecv(&offsets[i], 1, MPI_UINT64_T, end->peer, CONTEXT_TAG_SETUP, set->ctx->comm,
                       &requests[i]);
        }
    }
    for (size_t i = 0; i < set->count; i++) {
        ring_end *const end = &set->ends[i];
        const ferry_status waited = context_complete(set->ctx, &requests[i], "MPI_Test");
        if (waited != FERRY_OK)
            return waited;
        if (end->sends)
            continue;
        if (memory_holds(set->ctx, offsets[i], ring_bytes(end)))
            bind(end, memory_address(set->ctx, offsets[i]));
        else if (st == FERRY_OK)
            st = trouble(FERRY_ERR_MEMORY, "rank %d has no shared memory for its blocks to rank %d",
                         end->peer, set->ctx->rank);
    }
    return st;
}

ferry_status ring_set_make(ferry_context *ctx, const route_edge *edges, size_t count,
                           ring_set *set_out)
{
    ring_set set = {.ctx = ctx};
    ferry_status st =
        context_agree(ctx, group(&set, edges, count)); /* from here on every rank knows its peers */

    if (st != FERRY_OK)
        goto out;
    st = swap_offsets(&set, take_rings(&set));
    if (st != FERRY_OK)
        goto out;
    *set_out = set;
    return FERRY_OK;
out:
    ring_set_drop(&set);
    return st;
}

static void drop_end(const ring_set *set, ring_end *end)
{
    for (size_t i = 0; i < end->edge_count; i++)
        copy_side_drop(end->edges[i].side);
    alloc_free(end->edges);
    if (end->sends && end->shared) /* the peer may not have emptied the last slots yet */
        memory_give_drained(set->ctx, end->shared, end->slots_done, &end->shared->emptied);
}

void ring_set_drop(ring_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        drop_end(set, &set->ends[i]);
    alloc_free(set->ends);
    alloc_free(set->requests);
    alloc_free(set->bounce_memory);
    context_release(set->ctx, set->offsets);
    *set = (ring_set){.ctx = set->ctx};
}

/* ---- Running ---- */

void ring_begin(ring_end *end)
{
    end->edge = end->at = 0;
}

bool ring_ended(const ring_end *end)
{
    return end->edge == end->edge_count;
}

static char *slot_of(const ring_end *end)
{
    return end->slots + end->slots_done % end->slot_count * end->slot_room;
}

/* The next piece of the round: at most what is left of the edge and of the slot. */
static size_t next_piece(const ring_end *end, size_t used)
{
    return size_min(end->edges[end->edge].bytes - end->at, end->slot_bytes - used);
}

static void advance(ring_end *end, size_t bytes)
{
    end->at += bytes;
    if (end->at < end->edges[end->edge].bytes)
        return;
    end->edge++;
    end->at = 0;
}

/* Pack the next bytes of the round, as many as a slot holds. */
static size_t pack_slot(ring_end *end, const route_bases *bases, char *packed)
{
    size_t used = 0;

    while (!ring_ended(end) && used < end->slot_bytes) {
        const ring_edge *const edge = &end->edges[end->edge];
        const size_t bytes = next_piece(end, used);
        copy_pack(edge->side, bases->src[edge->buffer], end->at, end->at + bytes, packed + used);
        used += bytes;
        advance(end, bytes);
    }
    return used;
}

bool ring_push(const ring_set *set, ring_end *end, const route_bases *bases)
{
    char *const slot = slot_of(end);

    if (ring_ended(end) ||
        end->slots_done - atomic_load_explicit(&end->shared->emptied, memory_order_acquire) >=
            end->slot_count)
        return false;
    const size_t used = pack_slot(end, bases, end->past ? set->bounce : slot);
    if (end->past) {
        kernels_copy(slot, set->bounce, used, 1);
        kernels_fence();
        set->ctx->counters.copied_bytes += used;
    }
    atomic_store_explicit(&end->shared->filled, ++end->slots_done, memory_order_release);
    memory_wake(set->ctx, end->node_peer);
    set->ctx->counters.copied_bytes += used;
    return true;
}

bool ring_pull(const ring_set *set, ring_end *end, const route_bases *bases)
{
    const char *const slot = slot_of(end);
    size_t used = 0;

    if (ring_ended(end) ||
        atomic_load_explicit(&end->shared->filled, memory_order_acquire) == end->slots_done)
        return false;
    while (!ring_ended(end) && used < end->slot_bytes) {
        const ring_edge *const edge = &end->edges[end->edge];
        const size_t bytes = next_piece(end, used);
        copy_unpack(edge->side, bases->dst[edge->buffer], end->at, end->at + bytes, slot + used);
        used += bytes;
        advance(end, bytes);
    }
    atomic_store_explicit(&end->shared->emptied, ++end->slots_done, memory_order_release);
    memory_wake(set->ctx, end->node_peer);
    set->ctx->counters.copied_bytes += used;
    set->ctx->counters.node_bytes += used;
    return true;
}

void ring_missing(const ring_end *end, text_out *out)
{
    size_t done = end->at;

    if (ring_ended(end))
        return;
    for (size_t i = 0; i < end->edge; i++)
        done += end->edges[i].bytes;
    text_add(out, " rank %d (%s it, %zu of %zu bytes done)", end->peer, end->sends ? "to" : "from",
             done, end->total);
}
