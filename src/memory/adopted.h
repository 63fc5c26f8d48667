/* Which addresses of this process lie in the arena a second time: adopted blocks, sorted. Rounds
 * look here, in any thread, without a lock, while other threads may adopt and release: a reader
 * that meets a change looks again, and after a while says that it has found nothing, which is
 * always right, only slower. */
#ifndef MEMORY_ADOPTED_H
#define MEMORY_ADOPTED_H

#include <stdatomic.h>

#include "ferry/status.h"

typedef struct adopted_range {
    _Atomic uintptr_t start;
    _Atomic size_t bytes;
    _Atomic uint64_t offset; /* of `start`, in the arena */
} adopted_range;

typedef struct adopted_list adopted_list;

typedef struct memory_adopted {
    _Atomic uint32_t version; /* odd while the list is being changed */
    _Atomic size_t count;
    adopted_list
        *_Atomic list; /* the one in use, and those outgrown, which readers may still have */
} memory_adopted;

/* Make sure that one more range can be put. One writer at a time. */
ferry_status adopted_reserve(memory_adopted *table);
void adopted_put(memory_adopted *table, const void *start, size_t bytes, uint64_t offset);
void adopted_remove(memory_adopted *table, const void *start);

/* The offset of `address` when all `bytes` lie in one range, else UINT64_MAX. */
uint64_t adopted_find(const memory_adopted *table, const void *address, size_t bytes);

void adopted_drop(memory_adopted *table);

#endif
