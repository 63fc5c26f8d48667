/* Streams between two ranks of a node. Short messages lie in one slot of the pair's ring; a long
 * one is announced in a slot, and its bytes follow when the receiver has found a place for them, so
 * that nothing stands in the ring that nobody asked for. */
#include <string.h>

#include "base/size.h"
#include "base/trouble.h"
#include "plan/stream.h"

enum { SLOT_BYTES = 64 << 10, ANNOUNCED = 1 };

typedef struct pair_head {
    uint64_t bytes;
    int32_t tag, kind; /* kind: 0 the bytes follow in this slot, ANNOUNCED they come later */
} pair_head;

_Static_assert(sizeof(pair_head) + STREAM_EAGER <= SLOT_BYTES, "a short message fits into a slot");

bool stream_on_node(const ferry_context *ctx, int rank)
{
    return route_node_allowed(ctx) && context_node_rank(ctx, rank) >= 0;
}

/* What a side waits for. */
typedef struct pair_wait {
    ferry_context *ctx;
    slots *ring;
    int peer;
    char *free_slot;
    const char *full_slot;
    ferry_status status;
    size_t bytes;
} pair_wait;

static void missing(void *what, text_out *out)
{
    const pair_wait *const w = what;

    text_add(out, "in a stream of %zu bytes for rank %d", w->bytes, w->peer);
}

static bool has_free_slot(void *what)
{
    pair_wait *const w = what;

    w->free_slot = slots_free_slot(w->ring);
    if (!w->free_slot)
        w->status = early_collect(w->ctx);
    return w->free_slot || w->status != FERRY_OK;
}

static bool has_full_slot(void *what)
{
    pair_wait *const w = what;

    w->full_slot = slots_full_slot(w->ring);
    return w->full_slot != NULL;
}

/* The receiver answers an announcement by finishing one more message. */
static bool is_answered(void *what)
{
    pair_wait *const w = what;
    const slots *const ring = w->ring;

    if (atomic_load_explicit(&ring->shared->readers[0].finished, memory_order_acquire) ==
        ring->messages)
        return true;
    w->status = early_collect(w->ctx);
    return w->status != FERRY_OK;
}

/* A failure here leaves a message halfway: the context ends with it. */
static ferry_status wait_pair(pair_wait *w, bool (*done)(void *))
{
    const ferry_status st = wait_until(w->ctx, &(wait_for){done, missing, w});

    if (st != FERRY_OK)
        return st;
    return w->status == FERRY_OK ? FERRY_OK : context_break(w->ctx, w->status);
}

static void publish(const pair_wait *w)
{
    slots_filled(w->ring);
    memory_wake(w->ctx, context_node_rank(w->ctx, w->peer));
}

static ferry_status put_payload(pair_wait *w, stream_reader *reader)
{
    for (size_t done = 0; done < w->bytes;) {
        const size_t part = size_min(w->bytes - done, SLOT_BYTES);
        const ferry_status st = wait_pair(w, has_free_slot);
        if (st != FERRY_OK)
            return st;
        stream_read(reader, w->free_slot, part);
        publish(w);
        done += part;
    }
    return FERRY_OK;
}

static ferry_status answer_of(const slots *ring)
{
    const slots_reader *const reader = &ring->shared->readers[0];

    if (reader->status != FERRY_OK)
        trouble_keep(reader->text);
    return (ferry_status)reader->status;
}

ferry_status pair_send(ferry_context *ctx, const ferry_piece *pieces, size_t count, size_t bytes,
                       int to, int tag)
{
    const int node_peer = context_node_rank(ctx, to);
    slots *const ring = &ctx->engine->streams->to[node_peer];
    pair_wait w = {.ctx = ctx, .ring = ring, .peer = to, .bytes = bytes};
    const bool announced = bytes > STREAM_EAGER;
    const pair_head head = {.bytes = bytes, .tag = tag, .kind = announced ? ANNOUNCED : 0};
    stream_reader reader = {pieces, count, 0};
    ferry_status st = slots_make(ctx, ring, node_peer, 1, SLOT_BYTES);

    if (st == FERRY_OK)
        st = wait_pair(&w, has_free_slot);
    if (st != FERRY_OK)
        return st;
    memcpy(w.free_slot, &head, sizeof head);
    if (!announced)
        stream_read(&reader, w.free_slot + sizeof head, bytes);
    ring->messages += announced;
    publish(&w);
    ctx->counters.copied_bytes += bytes;
    if (!announced)
        return FERRY_OK;
    st = wait_pair(&w, is_answered);
    if (st == FERRY_OK)
        st = answer_of(ring);
    return st == FERRY_OK ? put_payload(&w, &reader) : st;
}

ferry_status pair_poll(ferry_context *ctx, int node_rank, bool *came_out)
{
    slots *const ring = &ctx->engine->streams->from[node_rank];
    early_message *message = NULL;
    pair_head head;

    *came_out = false;
    if (!slots_find(ctx, ring, node_rank, ctx->node_rank, 0))
        return FERRY_OK;
    const char *const slot = slots_full_slot(ring);
    if (!slot)
        return FERRY_OK;
    memcpy(&head, slot, sizeof head);
    const bool announced = head.kind == ANNOUNCED;
    const size_t carried = announced ? 0 : size_min(head.bytes, STREAM_EAGER);
    const ferry_status st = early_make(carried, &message);
    if (st != FERRY_OK)
        return st; /* it stays in its slot */
    *message = (early_message){.from = ctx->node_ranks[node_rank],
                               .tag = head.tag,
                               .bytes = (size_t)head.bytes,
                               .granted_later = announced};
    memcpy(message->data, slot + sizeof head, carried);
    early_add(ctx, message);
    slots_emptied(ring);
    memory_wake(ctx, node_rank);
    ctx->counters.copied_bytes += carried;
    ctx->counters.node_bytes += carried;
    *came_out = true;
    return FERRY_OK;
}

static void answer(ferry_context *ctx, slots *ring, int from, ferry_status status)
{
    slots_reader *const own = &ring->shared->readers[0];

    own->status = status;
    if (status != FERRY_OK)
        trouble_copy(own->text, sizeof own->text);
    atomic_store_explicit(&own->finished, ++ring->messages, memory_order_release);
    memory_wake(ctx, context_node_rank(ctx, from));
}

ferry_status pair_fetch(ferry_context *ctx, int from, char *dst, size_t bytes, ferry_status status)
{
    slots *const ring = &ctx->engine->streams->from[context_node_rank(ctx, from)];
    pair_wait w = {.ctx = ctx, .ring = ring, .peer = from, .bytes = bytes};

    answer(ctx, ring, from, status);
    if (status != FERRY_OK)
        return status;
    for (size_t done = 0; done < bytes;) {
        const size_t part = size_min(bytes - done, SLOT_BYTES);
        const ferry_status st = wait_pair(&w, has_full_slot);
        if (st != FERRY_OK)
            return st;
        memcpy(dst + done, w.full_slot, part);
        slots_emptied(ring);
        memory_wake(ctx, context_node_rank(ctx, from));
        done += part;
    }
    ctx->counters.copied_bytes += bytes;
    ctx->counters.node_bytes += bytes;
    return FERRY_OK;
}
