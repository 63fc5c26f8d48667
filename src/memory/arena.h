/* The arena: one shared segment per context and node, mapped whole by all ranks of the node when
 * the context is made. It is sparse: addresses are plenty, pages are taken when a part is used and
 * given back when it is freed. Each rank owns one part, takes memory from it without asking
 * anybody, and says where by an offset that means the same to all. So neither files nor mappings
 * grow with plans or allocations, and nobody has to be asked before a block of any rank can be
 * read. */
#ifndef MEMORY_ARENA_H
#define MEMORY_ARENA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "context/context.h"
#include "memory/adopted.h"

enum {
    MEMORY_LINE = 128, /* bytes that a processor moves at once, its neighbour line included */
    MEMORY_MAILS = 2   /* mailboxes of a rank besides one for each rank of its node */
};

/* What ranks of a node know of each other; one per rank at the start of its part. */
typedef struct memory_control {
    _Alignas(MEMORY_LINE) _Atomic uint32_t bell; /* changed to wake this rank */
    _Atomic uint32_t sleeping;                   /* 1 while this rank sleeps or is about to */
    _Atomic uint32_t life;                       /* of liveness.c */
    _Alignas(MEMORY_LINE) _Atomic uint64_t
        proof; /* a number that shows that the segment is the right one */
    _Alignas(MEMORY_LINE) _Atomic uint64_t
        called; /* streams: the broadcast this rank is in, and its root */
    _Alignas(MEMORY_LINE) _Atomic uint64_t
        judged; /* streams: the broadcast whose verdict as its root stands below */
    int32_t verdict;
    char verdict_text[200];
    _Alignas(MEMORY_LINE) _Atomic uint64_t
        mail[]; /* node_size + MEMORY_MAILS words that higher modules agree on */
} memory_control;

struct memory_arena {
    char *base;        /* of the mapping, 2 MiB aligned */
    size_t bytes;      /* of the mapping */
    size_t part_bytes; /* of one rank's part, a multiple of 2 MiB */
    int fd;
    pthread_mutex_t lock;              /* of all that follows: any thread may take and give */
    struct memory_heap *heap;          /* of this rank's part */
    struct memory_leftover *leftovers; /* given, but not drained yet */
    size_t leftover_count, leftover_room;
    memory_adopted adopted;    /* memory of the program that lies here too */
    struct memory_arena *next; /* of this process, see fork.h */
};

/* Make the arena of the context's node, by the first way that works, or leave ctx->arena NULL and
 * say why in ctx->shared_reason; the node map then counts each of its ranks as a node. Collective.
 */
ferry_status memory_attach(ferry_context *ctx);
void memory_detach(ferry_context *ctx);

/* Memory of this rank's part, page aligned (2 MiB from 2 MiB on), zeroed and present. */
ferry_status memory_take_shared(ferry_context *ctx, size_t bytes, void **data_out);
void memory_give_shared(ferry_context *ctx, void *data);

/* The same in steps: addresses of this rank's part, 2 MiB aligned, without pages; pages for some of
 * them; and without pages again. memory_give_shared() ends it. */
ferry_status memory_reserve(ferry_context *ctx, size_t bytes, void **data_out);
ferry_status memory_commit(ferry_context *ctx, void *data, size_t bytes);
void memory_vacate(ferry_context *ctx, void *data, size_t bytes);

/* Give back memory that a peer may still be reading: at once when `*emptied`, which lies in it, has
 * reached `filled`, else at a later call that takes or gives shared memory. */
void memory_give_drained(ferry_context *ctx, void *data, uint64_t filled,
                         const _Atomic uint64_t *emptied);

/* Offsets mean the same on all ranks of the node. MEMORY_PRIVATE stands for addresses outside of
 * the arena. */
#define MEMORY_PRIVATE UINT64_MAX
static inline uint64_t memory_offset(const ferry_context *ctx, const void *address)
{
    const struct memory_arena *const arena = ctx->arena;
    const uintptr_t distance = (uintptr_t)address - (arena ? (uintptr_t)arena->base : 0);

    return arena && distance < arena->bytes ? distance : MEMORY_PRIVATE;
}
static inline bool memory_holds(const ferry_context *ctx, uint64_t offset, size_t bytes)
{
    return offset < ctx->arena->bytes && bytes <= ctx->arena->bytes - offset;
}
/* Where peers find `bytes` at `address`, in the arena or in one adopted block. */
static inline uint64_t memory_find(const ferry_context *ctx, const void *address, size_t bytes)
{
    const uint64_t offset = memory_offset(ctx, address);

    if (offset != MEMORY_PRIVATE)
        return memory_holds(ctx, offset, bytes) ? offset : MEMORY_PRIVATE;
    if (!ctx->arena || atomic_load_explicit(&ctx->arena->adopted.count, memory_order_relaxed) == 0)
        return MEMORY_PRIVATE;
    return adopted_find(&ctx->arena->adopted, address, bytes);
}
static inline void *memory_address(const ferry_context *ctx, uint64_t offset)
{
    return ctx->arena->base + offset;
}
static inline memory_control *memory_control_of(const ferry_context *ctx, int node_rank)
{
    return (memory_control *)(ctx->arena->base + (size_t)node_rank * ctx->arena->part_bytes);
}

/* After a store that another rank of the node may be waiting for. */
void memory_wake(const ferry_context *ctx, int node_rank);

#endif
