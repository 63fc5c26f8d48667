/* A ring of slots with one writer and one or more readers, in the writer's part of the arena.
 * Streams of a context use one per pair and one per broadcasting rank, made at first use. Neither
 * side waits here. */
#ifndef PLAN_SLOTS_H
#define PLAN_SLOTS_H

#include "memory/arena.h"
#include "plan/filling.h"

/* What one reader tells the writer; one line each. */
typedef struct slots_reader {
    _Alignas(MEMORY_LINE) _Atomic uint64_t emptied; /* slots */
    int32_t status;                                 /* of a broadcast; written before `placed` */
    char text[200];
} slots_reader;

typedef struct slots_shared {
    _Alignas(MEMORY_LINE) _Atomic uint64_t filled; /* slots */
    uint64_t slot_bytes;
    uint32_t slot_count, reader_count;
    _Alignas(MEMORY_LINE) _Atomic uint64_t placed; /* broadcasts, by all readers together */
    slots_reader readers[];
} slots_shared;

/* One side of a ring; all zero before it is opened. */
typedef struct slots {
    slots_shared *shared;
    char *data;
    uint64_t slots_done; /* filled, or emptied by this reader */
    filling filling;     /* of the writer */
    int reader;          /* of this side; -1 for the writer */
} slots;

/* The writer's side, made and announced in its mailbox `mail` at first use. */
ferry_status slots_make(ferry_context *ctx, slots *s, int mail, uint32_t readers,
                        uint64_t slot_bytes);

/* The side of reader number `reader`, once the writer (by its rank in the node) has announced it;
 * false before. */
bool slots_find(const ferry_context *ctx, slots *s, int writer, int mail, int reader);

/* Bytes of all slots together. */
static inline size_t slots_bytes(const slots *s)
{
    return (size_t)s->shared->slot_bytes * s->shared->slot_count;
}

/* The next slot to fill, or NULL while a reader has not emptied it. */
char *slots_free_slot(const slots *s);
/* The next slot to empty, or NULL while it has not been filled. */
const char *slots_full_slot(const slots *s);
/* The slot returned by the two above is filled; is emptied. Waking is the caller's. */
void slots_filled(slots *s);
void slots_emptied(slots *s);

#endif
