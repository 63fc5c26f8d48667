/* The arena: opened by the first way that works, proved by moving known numbers, then handed out in
 * pages. */
#define _GNU_SOURCE
#include "memory/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/setting.h"
#include "base/size.h"
#include "base/sys.h"
#include "base/text.h"
#include "base/trouble.h"
#include "memory/adopt.h"
#include "memory/fork.h"
#include "memory/heap.h"
#include "memory/liveness.h"
#include "memory/pages.h"
#include "memory/segment.h"

#ifndef MADV_COLLAPSE
#  define MADV_COLLAPSE 25
#endif

enum { COMMIT_STEP = 32 << 20 };
enum { SHRINK_STEPS = 4, SHRINK = 16 }; /* address space asked for, then a sixteenth of it, ... */

static const size_t address_space = (size_t)1 << 45; /* of the 2^47 bytes that a process has */

/* The first bytes of a part: its control record and the mailboxes. */
static size_t control_bytes(const ferry_context *ctx)
{
    return size_round(sizeof(memory_control) +
                          (size_t)(ctx->node_size + MEMORY_MAILS) * sizeof(uint64_t),
                      PAGE_BYTES);
}

static ferry_status map_file(struct memory_arena *arena, size_t bytes)
{
    char *const reserved = sys_reserve(bytes + HUGE_BYTES);
    char *const base = (char *)size_round((size_t)reserved, HUGE_BYTES);

    if (reserved == MAP_FAILED)
        return trouble(FERRY_ERR_SYSTEM, "%zu bytes of addresses cannot be had: %s", bytes,
                       strerror(errno));
    if (base > reserved)
        sys_unmap(reserved, (size_t)(base - reserved));
    if (reserved + HUGE_BYTES > base)
        sys_unmap(base + bytes, (size_t)(reserved + HUGE_BYTES - base));
    if (sys_map_shared(base, bytes, arena->fd) == MAP_FAILED) {
        const ferry_status st =
            trouble(FERRY_ERR_SYSTEM, "%zu bytes of shared memory cannot be mapped: %s", bytes,
                    strerror(errno));
        sys_unmap(base, bytes);
        return st;
    }
    sys_advise(base, bytes, MADV_DONTDUMP);
    arena->base = base;
    arena->bytes = bytes;
    return FERRY_OK;
}

static void drop(struct memory_arena *arena)
{
    if (!arena)
        return;
    fork_forget(arena);
    if (arena->base)
        sys_unmap(arena->base, arena->bytes);
    if (arena->fd >= 0)
        sys_close(arena->fd);
    heap_drop(arena->heap);
    alloc_free(arena->leftovers);
    adopted_drop(&arena->adopted);
    alloc_free(arena);
}

static ferry_status no_room(const ferry_context *ctx, size_t bytes)
{
    const int error = errno;
    const uint64_t left = sys_file_room(ctx->arena->fd);
    char room[64] = "";

    if (left != UINT64_MAX)
        snprintf(room, sizeof room, ", %llu are left", (unsigned long long)left);
    return trouble(FERRY_ERR_MEMORY, "rank %d: %zu bytes of shared memory cannot be had%s: %s",
                   ctx->rank, bytes, room, strerror(error));
}

/* Make pages present, huge ones where the kernel can. */
ferry_status memory_commit(ferry_context *ctx, void *data, size_t bytes)
{
    struct memory_arena *const arena = ctx->arena;
    char *const start = data;
    char *const huge = (char *)size_round((size_t)start, HUGE_BYTES);

    if (huge + HUGE_BYTES <=
        start + bytes) { /* one page of each huge page must be there before the kernel joins them */
        const size_t whole = (size_t)(start + bytes - huge) & ~(size_t)(HUGE_BYTES - 1);
        bool there = true;
        for (size_t at = 0; at < whole && there; at += HUGE_BYTES)
            there = sys_fallocate(arena->fd, 0, huge + at - arena->base, PAGE_BYTES) == 0;
        if (there)
            sys_advise(huge, whole, MADV_COLLAPSE); /* small pages serve too */
    }
    for (size_t done = 0; done < bytes;) { /* in steps, so that a signal does not undo all of it */
        const size_t step = size_min(bytes - done, COMMIT_STEP);
        if (sys_fallocate(arena->fd, 0, start + done - arena->base, (int64_t)step) == 0)
            done += step;
        else if (errno != EINTR)
            return no_room(ctx, bytes);
    }
    return FERRY_OK;
}

/* All ranks at once take what the first messages need, so that a small /dev/shm is known here,
 * where there are other ways. */
static ferry_status find_room(ferry_context *ctx)
{
    enum { FIRST_BYTES = 512 << 10 };
    void *room = NULL;
    const ferry_status mine = memory_take_shared(ctx, FIRST_BYTES, &room);
    const ferry_status st = context_agree_node(ctx, mine);

    memory_give_shared(ctx, room);
    return st;
}

/* Every rank writes a number that follows from one that only this job knows, and finds those of the
 * others. */
static ferry_status prove(ferry_context *ctx)
{
    uint64_t secret = sys_random();
    ferry_status st =
        pmpi_status(PMPI_Bcast(&secret, 1, MPI_UINT64_T, 0, ctx->node_comm), "MPI_Bcast");

    if (st == FERRY_OK)
        st = memory_commit(ctx, memory_control_of(ctx, ctx->node_rank), control_bytes(ctx));
    st = context_agree_node(ctx, st);
    if (st != FERRY_OK)
        return st;
    liveness_begin(ctx);
    atomic_store(&memory_control_of(ctx, ctx->node_rank)->proof, secret + (uint64_t)ctx->node_rank);
    st = pmpi_status(PMPI_Barrier(ctx->node_comm), "MPI_Barrier");
    for (int i = 0; st == FERRY_OK && i < ctx->node_size; i++)
        if (atomic_load(&memory_control_of(ctx, i)->proof) != secret + (uint64_t)i)
            st = trouble(FERRY_ERR_SYSTEM,
                         "rank %d does not find what rank %d wrote into shared memory", ctx->rank,
                         ctx->node_ranks[i]);
    st = context_agree_node(ctx, st);
    return st == FERRY_OK ? find_room(ctx) : st;
}

/* One try: a file of node_size parts, mapped and proved by all ranks of the node, or by none. */
static ferry_status attach(ferry_context *ctx, const char *way, size_t part_bytes)
{
    const size_t bytes = part_bytes * (size_t)ctx->node_size;
    struct memory_arena *arena = NULL;
    ferry_status st = alloc_zero(1, sizeof *arena, &arena);

    if (st == FERRY_OK) {
        arena->fd = -1;
        pthread_mutex_init(&arena->lock, NULL);
    }
    st = context_agree_node(ctx, st);
    if (st != FERRY_OK)
        goto out;
    arena->part_bytes = part_bytes;
    st = segment_open(ctx, way, bytes, &arena->fd);
    if (st != FERRY_OK)
        goto out;
    st = map_file(arena, bytes);
    if (st == FERRY_OK)
        st = heap_make(part_bytes, &arena->heap);
    size_t start = 0;
    if (st == FERRY_OK && !heap_take(arena->heap, control_bytes(ctx), PAGE_BYTES, &start))
        st =
            trouble(FERRY_ERR_MEMORY, "no room for %zu bytes of control pages", control_bytes(ctx));
    st = context_agree_node(ctx, st);
    if (st != FERRY_OK)
        goto out;
    ctx->arena = arena;
    fork_watch(arena);
    st = prove(ctx);
    if (st == FERRY_OK)
        return FERRY_OK;
    ctx->arena = NULL;
out:
    drop(arena);
    return st;
}

/* One way, with less and less address space. */
static ferry_status attach_by(ferry_context *ctx, const char *way, size_t part_bytes)
{
    ferry_status st = FERRY_ERR_SYSTEM;

    for (int step = 0; step < SHRINK_STEPS && part_bytes >= 8 * (size_t)HUGE_BYTES; step++) {
        st = attach(ctx, way, part_bytes);
        if (st == FERRY_OK)
            ctx->shared_kind = way;
        if (st == FERRY_OK || st == FERRY_ERR_MPI)
            break;
        part_bytes = part_bytes / SHRINK & ~(size_t)(HUGE_BYTES - 1);
    }
    return st;
}

/* Leaves in ctx->shared_reason why the first way did not work, when another one does. */
static ferry_status attach_any(ferry_context *ctx)
{
    const char *const wanted = setting_text(SETTING_SHM);
    uint64_t part = sys_memory_total() * 2;
    ferry_status st = trouble(FERRY_ERR_SYSTEM, "FERRY_SHM is \"%.40s\"", wanted);

    if (part > address_space / (size_t)ctx->node_size)
        part = address_space / (size_t)ctx->node_size;
    part &= ~(uint64_t)(HUGE_BYTES - 1);
    PMPI_Bcast(&part, 1, MPI_UINT64_T, 0, ctx->node_comm);
    for (int i = 0; segment_way(i); i++) {
        if (strcmp(wanted, "auto") != 0 && strcmp(wanted, segment_way(i)) != 0)
            continue;
        st = attach_by(ctx, segment_way(i), (size_t)part);
        if (st == FERRY_OK || st == FERRY_ERR_MPI)
            return st;
        if (!ctx->shared_reason[0])
            snprintf(ctx->shared_reason, sizeof ctx->shared_reason, "not by %s: %.140s",
                     segment_way(i), trouble_text());
    }
    return st;
}

static ferry_status check_wanted(const ferry_context *ctx)
{
    const char *const wanted = setting_text(SETTING_SHM);
    static const char *const words[] = {"auto", "memfd", "socket", "named", "none"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(wanted, words[i]) == 0)
            return FERRY_OK;
    return trouble(FERRY_ERR_ARG,
                   "FERRY_SHM is \"%.40s\" on rank %d, expected auto, memfd, socket, named or none",
                   wanted, ctx->rank);
}

ferry_status memory_attach(ferry_context *ctx)
{
    ferry_status st = context_agree(ctx, check_wanted(ctx));

    if (st != FERRY_OK)
        return st;
    fork_begin();
    ctx->shared_kind = "none";
    if (ctx->node_size == 1) {
        snprintf(ctx->shared_reason, sizeof ctx->shared_reason, "no other rank on this node");
    } else if (attach_any(ctx) != FERRY_OK) {
        snprintf(ctx->shared_reason, sizeof ctx->shared_reason, "%.150s", trouble_text());
    }
    if (ctx->arena)
        ctx->look_at_peers = liveness_look;
    return context_map_nodes(ctx, ctx->arena ? ctx->node_ranks[0] : ctx->rank);
}

void memory_detach(ferry_context *ctx)
{
    adopt_end(ctx);
    liveness_leave(ctx);
    drop(ctx->arena);
    ctx->arena = NULL;
}

void memory_vacate(ferry_context *ctx, void *data, size_t bytes)
{
    sys_fallocate(ctx->arena->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (char *)data - ctx->arena->base, (int64_t)bytes);
}

static void give(ferry_context *ctx, void *data)
{
    const char *const start = (char *)memory_control_of(ctx, ctx->node_rank);
    const size_t bytes = heap_give(ctx->arena->heap, (size_t)((char *)data - start));

    if (bytes)
        memory_vacate(ctx, data, bytes);
}

/* Memory given while a peer was still reading it. */
struct memory_leftover {
    void *data;
    uint64_t filled;
    const _Atomic uint64_t *emptied;
};

static void sweep(ferry_context *ctx)
{
    struct memory_arena *const arena = ctx->arena;
    size_t kept = 0;

    for (size_t i = 0; i < arena->leftover_count; i++) {
        const struct memory_leftover *const left = &arena->leftovers[i];
        if (atomic_load_explicit(left->emptied, memory_order_acquire) == left->filled)
            give(ctx, left->data);
        else
            arena->leftovers[kept++] = *left;
    }
    arena->leftover_count = kept;
}

void memory_give_drained(ferry_context *ctx, void *data, uint64_t filled,
                         const _Atomic uint64_t *emptied)
{
    struct memory_arena *const arena = ctx->arena;

    if (!data)
        return;
    pthread_mutex_lock(&arena->lock);
    if (arena->leftover_count == arena->leftover_room) {
        const size_t room = arena->leftover_room ? arena->leftover_room * 2 : 16;
        if (alloc_resize(room, sizeof *arena->leftovers, &arena->leftovers) != FERRY_OK)
            goto out; /* the arena's end frees it */
        arena->leftover_room = room;
    }
    arena->leftovers[arena->leftover_count++] = (struct memory_leftover){data, filled, emptied};
    sweep(ctx);
out:
    pthread_mutex_unlock(&arena->lock);
}

/* Addresses for whole pages. */
static ferry_status reserve(ferry_context *ctx, size_t bytes, size_t align, void **data_out)
{
    size_t offset = 0;

    sweep(ctx);
    if (!heap_take(ctx->arena->heap, bytes, align, &offset))
        return trouble(
            FERRY_ERR_MEMORY,
            "rank %d: %zu bytes wanted, no such room in the %zu bytes of its part of the arena",
            ctx->rank, bytes, ctx->arena->part_bytes);
    *data_out = (char *)memory_control_of(ctx, ctx->node_rank) + offset;
    return FERRY_OK;
}

static ferry_status take(ferry_context *ctx, size_t bytes, void **data_out)
{
    const uint64_t left = sys_memory_free();
    size_t pages = 0;
    void *data = NULL;

    if (!size_add(bytes, PAGE_BYTES, &pages) || pages > left)
        return trouble(FERRY_ERR_MEMORY,
                       "rank %d: %zu bytes of shared memory wanted, the machine has %llu left",
                       ctx->rank, bytes, (unsigned long long)left);
    pages = size_round(size_max(bytes, 1), PAGE_BYTES);
    ferry_status st = reserve(ctx, pages, pages >= HUGE_BYTES ? HUGE_BYTES : PAGE_BYTES, &data);
    if (st != FERRY_OK)
        return st;
    st = memory_commit(ctx, data, pages);
    if (st != FERRY_OK) {
        give(ctx, data);
        return st;
    }
    alloc_count_one();
    *data_out = data;
    return FERRY_OK;
}

ferry_status memory_take_shared(ferry_context *ctx, size_t bytes, void **data_out)
{
    pthread_mutex_lock(&ctx->arena->lock);
    const ferry_status st = take(ctx, bytes, data_out);
    pthread_mutex_unlock(&ctx->arena->lock);
    return st;
}

ferry_status memory_reserve(ferry_context *ctx, size_t bytes, void **data_out)
{
    pthread_mutex_lock(&ctx->arena->lock);
    const ferry_status st = reserve(ctx, bytes, HUGE_BYTES, data_out);
    pthread_mutex_unlock(&ctx->arena->lock);
    return st;
}

void memory_give_shared(ferry_context *ctx, void *data)
{
    if (!data)
        return;
    pthread_mutex_lock(&ctx->arena->lock);
    give(ctx, data);
    sweep(ctx);
    pthread_mutex_unlock(&ctx->arena->lock);
}

void memory_wake(const ferry_context *ctx, int node_rank)
{
    memory_control *const control = memory_control_of(ctx, node_rank);

    atomic_thread_fence(
        memory_order_seq_cst); /* what was stored before is seen by whoever goes to sleep after */
    if (!atomic_load_explicit(&control->sleeping, memory_order_relaxed) ||
        !atomic_exchange(&control->sleeping, 0))
        return; /* awake, or just woken by somebody else */
    atomic_fetch_add(&control->bell, 1);
    sys_wake((uint32_t *)&control->bell);
}
