/* Broadcast of a stream. Within a node the root fills slots that all others empty: each byte is
 * copied once at the root and once at each receiver. Everybody says which broadcast and which root
 * it means before anything moves, and leaves with one verdict, so that ranks that disagree or
 * cannot place the bytes fail together and leave nothing in the ring. Broadcasts of a context run
 * one after another; the first of the queue is under way. */
#include "plan/cast.h"

#include <string.h>

#include "base/alloc.h"
#include "base/size.h"

enum {
    SLOT_ONE = 64 << 10,  /* slot for a single reader */
    SLOT_MANY = 256 << 10 /* for several */
};

static const char call_name[] = "broadcast";

/* First bytes of the first slot. */
typedef struct cast_head {
    uint64_t bytes;
} cast_head;

static memory_control *control(const cast *c, int node_rank)
{
    return memory_control_of(c->ctx, node_rank);
}

static slots *ring_of(const cast *c)
{
    struct stream_state *const s = c->ctx->engine->streams;

    return c->writer == c->ctx->node_rank ? &s->cast_to : &s->cast_from[c->writer];
}

ferry_status cast_place(cast *c)
{
    c->request->info.bytes = c->bytes;
    landing_begin(&c->landing, c->bytes);
    const ferry_status st = request_place(c->request);
    c->data = c->request->data;
    return st;
}

ferry_status cast_check(cast *c)
{
    if (c->status == FERRY_OK)
        return c->request->check(c->request->user);
    trouble_keep(c->request->text); /* no place */
    return c->status;
}

void cast_end(cast *c, ferry_status status)
{
    struct stream_state *const s = c->ctx->engine->streams;

    queue_take(&s->casts, &s->casts.first);
    request_end(c->request, status);
    c->request = NULL;
}

/* ---- The ring ---- */

static int reader_number(int node_rank, int writer)
{
    return node_rank < writer ? node_rank : node_rank - 1;
}

static void wake_readers(const cast *c)
{
    for (int i = 0; i < c->ctx->node_size; i++)
        if (i != c->writer)
            memory_wake(c->ctx, i);
}

ferry_status cast_make_ring(const cast *c)
{
    const uint32_t readers = (uint32_t)c->ctx->node_size - 1;

    return slots_make(c->ctx, ring_of(c), stream_mail_cast(c->ctx), readers,
                      readers == 1 ? SLOT_ONE : SLOT_MANY);
}

bool cast_fill(cast *c, size_t limit)
{
    slots *const ring = ring_of(c);
    const cast_head head = {c->bytes};

    while (c->front || c->done < c->bytes) {
        const size_t part = size_min(c->bytes - c->done, ring->shared->slot_bytes - c->front);
        char *const slot = c->done + part <= limit ? slots_free_slot(ring) : NULL;
        if (!slot)
            return false;
        if (c->front)
            memcpy(slot, &head, sizeof head);
        if (c->done == 0)
            filling_begin(&ring->filling, c->bytes, slots_bytes(ring));
        stream_fill(&c->source, slot + c->front, part, ring->filling.past);
        filling_add(&ring->filling, part);
        slots_filled(ring);
        wake_readers(c);
        c->done += part;
        c->front = 0;
    }
    filling_end(&ring->filling);
    c->ctx->counters.copied_bytes += c->bytes;
    return true;
}

static const char *full_slot(const cast *c)
{
    slots *const ring = ring_of(c);
    const int reader = reader_number(c->ctx->node_rank, c->writer);

    return slots_find(c->ctx, ring, c->writer, stream_mail_cast(c->ctx), reader)
               ? slots_full_slot(ring)
               : NULL;
}

/* The writer has filled the last slot of this broadcast. `done` bytes have been taken from the
 * slots before the one at hand. */
static bool is_filled(const cast *c, const slots *ring)
{
    const uint64_t each = ring->shared->slot_bytes, left = c->front + c->bytes - c->done,
                   end = ring->slots_done + (left + each - 1) / each;

    return atomic_load_explicit(&ring->shared->filled, memory_order_relaxed) >= end;
}

/* Without a place the bytes are dropped. */
bool cast_empty(cast *c)
{
    const char *slot;

    while (c->front || c->done < c->bytes) {
        slot = full_slot(c);
        if (!slot)
            return false;
        slots *const ring = ring_of(c);
        const size_t part = size_min(c->bytes - c->done, ring->shared->slot_bytes - c->front);
        if (c->data && part)
            landing_copy(&c->landing, c->data + c->done, slot + c->front, part);
        const bool all_filled = is_filled(c, ring);
        slots_emptied(ring);
        if (!all_filled) /* else the writer waits for something else */
            memory_wake(c->ctx, c->writer);
        c->done += part;
        c->front = 0;
    }
    c->ctx->counters.copied_bytes += c->bytes;
    c->ctx->counters.node_bytes += c->bytes;
    return true;
}

/* ---- One node ---- */

enum { ROOT_BITS = 24 /* ranks up to 2^24, broadcasts up to 2^40 */ };

static uint64_t call_word(uint64_t sequence, int root)
{
    return sequence << ROOT_BITS | (uint32_t)(root + 1);
}

/* Whether another rank of the node has come to this broadcast; one that is past it counts too,
 * since it will not come again. Another root than this rank's is kept as a failure. */
static bool has_called(cast *c, int node_rank)
{
    const uint64_t word =
        atomic_load_explicit(&control(c, node_rank)->called, memory_order_acquire);

    if (word >> ROOT_BITS < c->sequence)
        return false;
    if (word == call_word(c->sequence, c->root) || c->status != FERRY_OK)
        return true;
    if (word == call_word(c->sequence, -1))
        c->status = trouble(FERRY_ERR_ARG, "%s: rank %d gives arguments that are not valid",
                            call_name, c->ctx->node_ranks[node_rank]);
    else
        c->status = trouble(FERRY_ERR_ARG, "%s: root is %d on rank %d, another one on rank %d",
                            call_name, c->root, c->ctx->rank, c->ctx->node_ranks[node_rank]);
    return true;
}

/* The failure of the lowest reader, kept as this rank's. */
static ferry_status readers_status(const slots *ring)
{
    for (uint32_t i = 0; i < ring->shared->reader_count; i++) {
        const slots_reader *const reader = &ring->shared->readers[i];
        if (reader->status == FERRY_OK)
            continue;
        trouble_keep(reader->text);
        return (ferry_status)reader->status;
    }
    return FERRY_OK;
}

/* The verdict, for all, at the root's place. */
static void judge(const cast *c, ferry_status status)
{
    memory_control *const root = control(c, c->writer);

    root->verdict = status;
    if (status != FERRY_OK)
        trouble_copy(root->verdict_text, sizeof root->verdict_text);
    atomic_store_explicit(&root->judged, c->sequence, memory_order_release);
    for (int i = 0; i < c->ctx->node_size; i++)
        if (i != c->ctx->node_rank)
            memory_wake(c->ctx, i);
}

static ferry_status step_called(cast *c)
{
    bool all = true;

    for (int i = 0; i < c->ctx->node_size; i++)
        all &= has_called(c, i);
    if (!all)
        return FERRY_OK;
    if (c->status == FERRY_OK)
        c->status = cast_make_ring(c);
    if (c->status == FERRY_OK) {
        c->stage = CAST_FILL;
        return FERRY_OK;
    }
    judge(c, c->status);
    cast_end(c, c->status);
    return FERRY_OK;
}

static ferry_status step_fill(cast *c)
{
    if (cast_fill(c, c->bytes))
        c->stage = CAST_JUDGED;
    return FERRY_OK;
}

static bool is_judged(const cast *c)
{
    return atomic_load_explicit(&control(c, c->writer)->judged, memory_order_acquire) >=
           c->sequence;
}

static void end_as_judged(cast *c)
{
    const memory_control *const root = control(c, c->writer);

    if (root->verdict != FERRY_OK)
        trouble_keep(root->verdict_text);
    cast_end(c, (ferry_status)root->verdict);
}

/* This rank has its place, and is content with what is there. The last one to say so gives the
 * verdict. */
static void report(cast *c, ferry_status status)
{
    slots *const ring = ring_of(c);
    slots_reader *const own = &ring->shared->readers[ring->reader];

    own->status = status;
    if (status != FERRY_OK)
        trouble_copy(own->text, sizeof own->text);
    const uint64_t before =
        atomic_fetch_add_explicit(&ring->shared->placed, 1, memory_order_acq_rel);
    if ((before + 1) % ring->shared->reader_count == 0)
        judge(c, readers_status(ring));
}

/* The first slot is full: now the length is known. Without a check the verdict can be given while
 * the bytes still come. */
static void begin_reading(cast *c, const char *slot)
{
    cast_head head;

    memcpy(&head, slot, sizeof head);
    c->bytes = (size_t)head.bytes;
    c->status = cast_place(c);
    if (c->status != FERRY_OK)
        trouble_copy(c->request->text, sizeof c->request->text);
    if (!c->request->check)
        report(c, c->status);
    c->stage = CAST_EMPTY;
}

/* Something to read, a verdict without anything to read, or a root that means another broadcast. */
static ferry_status step_begin(cast *c)
{
    const char *const slot = is_judged(c) ? NULL : full_slot(c);

    if (slot) {
        begin_reading(c, slot);
        return FERRY_OK;
    }
    has_called(c, c->writer);
    if (is_judged(c)) /* perhaps in between, and the root went on to another broadcast */
        end_as_judged(c);
    else if (c->status != FERRY_OK)
        cast_end(c, c->status);
    return FERRY_OK;
}

static ferry_status step_empty(cast *c)
{
    if (!cast_empty(c))
        return FERRY_OK;
    if (c->request->check)
        report(c, cast_check(c));
    c->stage = CAST_JUDGED;
    return FERRY_OK;
}

static ferry_status step_judged(cast *c)
{
    if (is_judged(c))
        end_as_judged(c);
    return FERRY_OK;
}

/* No rank of the node is still before this broadcast: of two that come last, one sees it. */
static bool all_there(const cast *c)
{
    bool all = true;

    atomic_thread_fence(memory_order_seq_cst);
    for (int i = 0; i < c->ctx->node_size; i++)
        all &= atomic_load_explicit(&control(c, i)->called, memory_order_relaxed) >> ROOT_BITS >=
               c->sequence;
    return all;
}

/* A rank with wrong arguments takes part with a root that nobody else has. */
static void start_on_node(cast *c)
{
    memory_control *const own = control(c, c->ctx->node_rank);
    const bool sound = c->status == FERRY_OK;

    atomic_store_explicit(&own->called, call_word(c->sequence, sound ? c->root : -1),
                          memory_order_release);
    if (!sound) {
        trouble_keep(c->request->text);
        cast_end(c, c->status);
        return;
    }
    c->writer = context_node_rank(c->ctx, c->root);
    c->stage = c->writer == c->ctx->node_rank ? CAST_CALLED : CAST_BEGIN;
    if (c->stage == CAST_BEGIN && all_there(c))
        memory_wake(c->ctx, c->writer);
}

/* ---- All of them ---- */

static ferry_status (*const steps[CAST_STAGES])(cast *c) = {
    [CAST_CALLED] = step_called,   [CAST_FILL] = step_fill,     [CAST_BEGIN] = step_begin,
    [CAST_EMPTY] = step_empty,     [CAST_JUDGED] = step_judged, [CAST_AGREE] = cast_agree,
    [CAST_READY] = cast_ready,     [CAST_TELL] = cast_tell,     [CAST_MOVE] = cast_move,
    [CAST_CHECKED] = cast_checked,
};

/* The first of the queue begins. */
static ferry_status begin(cast *c, ferry_stream_request *request)
{
    ferry_context *const ctx = c->ctx;

    memset(c, 0, sizeof *c);
    c->ctx = ctx;
    c->request = request;
    c->root = request->info.from;
    c->bytes = request->info.bytes;
    c->source = request->source;
    c->status = request->status;
    c->front = sizeof(cast_head);
    c->sequence = ++ctx->engine->streams->cast_count;
    if (ctx->size == 1) {
        trouble_keep(request->text);
        cast_end(c, c->status);
        return FERRY_OK;
    }
    if (!route_node_allowed(ctx) || ctx->node_size < ctx->size)
        return cast_wire_start(c);
    start_on_node(c);
    return FERRY_OK;
}

ferry_status cast_progress(ferry_context *ctx)
{
    struct stream_state *const s = ctx->engine->streams;
    cast *const c = s->cast;
    ferry_status st = FERRY_OK;

    while (s->casts.first && st == FERRY_OK) {
        if (!c->request) {
            st = begin(c, s->casts.first);
            continue;
        }
        const cast_stage before = c->stage;
        st = steps[before](c);
        if (c->request && c->stage == before)
            break; /* nothing more to do now */
    }
    return st;
}

void cast_missing(const ferry_stream_request *request, text_out *out)
{
    const ferry_context *const ctx = request->ctx;
    const cast *const c = ctx->engine->streams->cast;

    text_add(out, "in a broadcast from rank %d", request->info.from);
    if (c->request != request || (c->stage != CAST_CALLED && c->stage != CAST_BEGIN))
        return;
    for (int i = 0; i < ctx->node_size; i++)
        if (atomic_load(&control(c, i)->called) >> ROOT_BITS < c->sequence) {
            text_add(out, ", which rank %d has not called", ctx->node_ranks[i]);
            return;
        }
}

void cast_start(ferry_stream_request *request, ferry_status checked)
{
    request->status = checked;
    trouble_copy(request->text, sizeof request->text);
    queue_add(&request->ctx->engine->streams->casts, request);
}

ferry_status cast_make(ferry_context *ctx)
{
    struct stream_state *const s = ctx->engine->streams;
    ferry_status st = alloc_zero(1, sizeof *s->cast, &s->cast);

    if (st == FERRY_OK)
        st = alloc_zero((size_t)ctx->node_size, sizeof *s->cast_from, &s->cast_from);
    if (st == FERRY_OK)
        s->cast->ctx = ctx;
    return st;
}
