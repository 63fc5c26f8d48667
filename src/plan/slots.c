/* Rings with many readers: see slots.h. */
#include "plan/slots.h"

#include "base/size.h"

enum {
    RING_LONG = 4 << 20, /* longer than a core's own caches: what the writer has written has left
                            them when the readers come */
    RING_SHORT = 512 << 10,
    MANY_RANKS = 8 /* on a node: there are too many rings for long ones */
};

static size_t header_bytes(uint32_t readers)
{
    return size_round(sizeof(slots_shared) + readers * sizeof(slots_reader), MEMORY_LINE);
}

ferry_status slots_make(ferry_context *ctx, slots *s, int mail, uint32_t readers,
                        uint64_t slot_bytes)
{
    const bool is_long = ctx->node_size <= MANY_RANKS || readers > 1;
    const uint32_t count = (uint32_t)((is_long ? RING_LONG : RING_SHORT) / slot_bytes);
    void *memory = NULL;

    if (s->shared)
        return FERRY_OK;
    const ferry_status st =
        memory_take_shared(ctx, header_bytes(readers) + count * slot_bytes, &memory);
    if (st != FERRY_OK)
        return st;
    *s = (slots){.shared = memory, .data = (char *)memory + header_bytes(readers), .reader = -1};
    s->shared->slot_bytes = slot_bytes;
    s->shared->slot_count = count;
    s->shared->reader_count = readers;
    atomic_store_explicit(&memory_control_of(ctx, ctx->node_rank)->mail[mail],
                          memory_offset(ctx, memory), memory_order_release);
    return FERRY_OK;
}

bool slots_find(const ferry_context *ctx, slots *s, int writer, int mail, int reader)
{
    if (s->shared)
        return true;
    const uint64_t offset =
        atomic_load_explicit(&memory_control_of(ctx, writer)->mail[mail], memory_order_acquire);
    if (!offset)
        return false; /* offset 0 is a control record, never a ring */
    slots_shared *const shared = memory_address(ctx, offset);
    *s = (slots){.shared = shared,
                 .data = (char *)shared + header_bytes(shared->reader_count),
                 .reader = reader};
    return true;
}

static char *slot_at(const slots *s)
{
    return s->data + s->slots_done % s->shared->slot_count * s->shared->slot_bytes;
}

char *slots_free_slot(const slots *s)
{
    for (uint32_t i = 0; i < s->shared->reader_count; i++)
        if (s->slots_done -
                atomic_load_explicit(&s->shared->readers[i].emptied, memory_order_acquire) >=
            s->shared->slot_count)
            return NULL;
    return slot_at(s);
}

const char *slots_full_slot(const slots *s)
{
    return atomic_load_explicit(&s->shared->filled, memory_order_acquire) > s->slots_done
               ? slot_at(s)
               : NULL;
}

void slots_filled(slots *s)
{
    atomic_store_explicit(&s->shared->filled, ++s->slots_done, memory_order_release);
}

void slots_emptied(slots *s)
{
    atomic_store_explicit(&s->shared->readers[s->reader].emptied, ++s->slots_done,
                          memory_order_release);
}
