/* ferry_memory_adopt() and ferry_memory_release(). Pages are exchanged piece by piece: copied into
 * the arena, which is then mapped over them, so that at most one piece is there twice; and back in
 * the same way. Each piece has its content at every moment, wherever a failure comes. Mappings are
 * changed by the C library's calls, which MPI libraries watch in order to forget what they had
 * registered. Offsets and addresses are alike modulo 2 MiB, so that huge pages stay possible. */
#include "memory/adopt.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/sys.h"
#include "base/trouble.h"
#include "ferry/memory.h"
#include "memory/fork.h"
#include "memory/numa.h"
#include "memory/pages.h"
#include "memory/smaps.h"

enum { PIECE = 32 << 20 };

/* ---- What can be adopted ---- */

static size_t page_floor(uintptr_t address)
{
    return address & ~(uintptr_t)(PAGE_BYTES - 1);
}

/* The whole pages of a block, its first and last included. */
static ferry_status cover(const void *data, size_t bytes, memory_block *block)
{
    const uintptr_t start = (uintptr_t)data;

    if (bytes > UINTPTR_MAX - start - PAGE_BYTES)
        return trouble(FERRY_ERR_ARG,
                       "ferry_memory_adopt: %zu bytes at %p end beyond all addresses", bytes, data);
    const uintptr_t end = start + bytes;
    if (size_round(start, PAGE_BYTES) + PAGE_BYTES > page_floor(end))
        return trouble(FERRY_ERR_ARG,
                       "ferry_memory_adopt: no whole page of %d bytes lies in the %zu bytes at %p",
                       PAGE_BYTES, bytes, data);
    block->edges[0] = start % PAGE_BYTES != 0;
    block->edges[1] = end % PAGE_BYTES != 0;
    block->start = (char *)page_floor(start);
    block->bytes = size_round(end, PAGE_BYTES) - page_floor(start);
    return FERRY_OK;
}

/* Leave the pages out in which another block begins or ends; nothing else may be common. */
static ferry_status stay_apart(memory_block *block)
{
    for (const memory_block *other = fork_blocks(); other; other = other->next) {
        const char *const end = block->start + block->bytes, *const there = other->start;
        const char *const their_end = there + other->bytes;
        if (end <= there || their_end <= block->start)
            continue;
        if (block->edges[0] && other->edges[1] && block->start + PAGE_BYTES == their_end) {
            block->start += PAGE_BYTES;
            block->bytes -= PAGE_BYTES;
            block->edges[0] = false;
        } else if (block->edges[1] && other->edges[0] && end - PAGE_BYTES == there) {
            block->bytes -= PAGE_BYTES;
            block->edges[1] = false;
        } else {
            return trouble(FERRY_ERR_ARG,
                           "ferry_memory_adopt: the memory at %p is adopted already, as a part of "
                           "the block at %p",
                           block->data, other->data);
        }
    }
    return FERRY_OK;
}

static ferry_status check(memory_block *block)
{
    const char *const here = (const char *)&block;
    ferry_status st = stay_apart(block);

    if (st == FERRY_OK && here >= block->start && here < block->start + block->bytes)
        st = trouble(FERRY_ERR_ARG, "ferry_memory_adopt: the memory at %p is a stack", block->data);
    if (st != FERRY_OK)
        return st;
    return smaps_check((uintptr_t)block->start, (uintptr_t)block->start + block->bytes,
                       &block->advice);
}

/* ---- One piece ---- */

static void advise(char *data, size_t bytes, unsigned advice)
{
    static const struct {
        unsigned bit;
        int advice;
    } table[] = {{SMAPS_HUGE, MADV_HUGEPAGE},
                 {SMAPS_NO_HUGE, MADV_NOHUGEPAGE},
                 {SMAPS_NO_DUMP, MADV_DONTDUMP}};

    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (advice & table[i].bit)
            sys_advise(data, bytes, table[i].advice);
}

/* Let nobody write to an edge while it is copied. It must be present to be watched. */
static int hold(char *page)
{
    return pages_present(page, PAGE_BYTES) ? sys_hold(page, PAGE_BYTES) : -1;
}

static void let_go(int held)
{
    if (held >= 0)
        sys_close(held);
}

static ferry_status room_for(size_t bytes)
{
    const uint64_t left = sys_memory_free();

    if (bytes <= left)
        return FERRY_OK;
    return trouble(FERRY_ERR_MEMORY,
                   "%zu bytes of memory are needed to move adopted memory, the machine has %llu "
                   "left",
                   bytes, (unsigned long long)left);
}

/* Whole pages, with what lies in them beside the caller's block. A checker of memory accesses,
 * whose lines of the heap do not end with pages, is not to look at this, so that it is no memcpy.
 */
__attribute__((no_sanitize("address"))) static void copy_pages(char *to, const char *from,
                                                               size_t bytes)
{
    typedef uint64_t __attribute__((may_alias)) word;

    for (size_t at = 0; at < bytes; at += sizeof(word))
        *(word *)(to + at) = *(const volatile word *)(from + at);
}

/* Into the arena. */
static ferry_status share(memory_block *block, size_t bytes, bool edge)
{
    ferry_context *const ctx = block->ctx;
    char *const data = block->start + block->done, *const there = block->shared + block->done;
    ferry_status st = room_for(bytes);

    if (st == FERRY_OK)
        st = numa_commit(ctx, there, data, bytes);
    if (st != FERRY_OK) {
        memory_vacate(ctx, there, bytes);
        return st;
    }
    const int held = edge ? hold(data) : -1;
    copy_pages(there, data, bytes);
    const void *const mapped = sys_map_part(data, bytes, ctx->arena->fd, there - ctx->arena->base);
    const int error = errno;
    let_go(held);
    block->done += bytes; /* even when it failed: the old mapping may be gone */
    if (mapped == MAP_FAILED)
        return trouble(FERRY_ERR_SYSTEM, "ferry_memory_adopt: %zu bytes at %p cannot be mapped: %s",
                       bytes, (const void *)data, strerror(error));
    if (block->advice & SMAPS_NO_DUMP)
        sys_advise(data, bytes, MADV_DONTDUMP);
    pages_present(data, bytes);
    return FERRY_OK;
}

/* Back: an edge by moving a copy into its place, since others may be reading it. */
static ferry_status unshare_edge(const memory_block *block, char *data)
{
    char *const copy = sys_map_private(NULL, PAGE_BYTES);

    if (copy == MAP_FAILED || pages_populate(copy, PAGE_BYTES) != FERRY_OK)
        goto failed;
    advise(copy, PAGE_BYTES, block->advice);
    const int held = hold(data);
    copy_pages(copy, data, PAGE_BYTES);
    sys_advise(data, PAGE_BYTES, MADV_DONTNEED); /* tells those who watch; the file keeps it */
    const void *const moved = sys_move(copy, PAGE_BYTES, data);
    let_go(held);
    if (moved != MAP_FAILED)
        return FERRY_OK;
failed:
    if (copy != MAP_FAILED)
        sys_unmap(copy, PAGE_BYTES);
    return trouble(FERRY_ERR_MEMORY, "ferry_memory_release: no memory for the page at %p: %s",
                   (const void *)data, strerror(errno));
}

/* All else in place: nobody looks at it meanwhile, and it joins the mappings around it. */
static ferry_status unshare_inside(const memory_block *block, char *data, const char *there,
                                   size_t bytes)
{
    const struct memory_arena *const arena = block->ctx->arena;

    if (sys_map_private(data, bytes) == MAP_FAILED)
        return trouble(FERRY_ERR_MEMORY, "ferry_memory_release: no memory for %zu bytes at %p: %s",
                       bytes, (const void *)data, strerror(errno));
    advise(data, bytes, block->advice);
    const ferry_status st = pages_populate(data, bytes);
    if (st != FERRY_OK) {
        sys_map_part(data, bytes, arena->fd, there - arena->base);
        return st;
    }
    copy_pages(data, there, bytes);
    return FERRY_OK;
}

/* The last bytes that are shared. */
static ferry_status unshare(memory_block *block, size_t bytes, bool edge)
{
    const size_t at = block->done - bytes;
    char *const data = block->start + at, *const there = block->shared + at;
    ferry_status st = room_for(bytes);

    if (st == FERRY_OK)
        st = edge ? unshare_edge(block, data) : unshare_inside(block, data, there, bytes);
    if (st != FERRY_OK)
        return st;
    memory_vacate(block->ctx, there, bytes);
    block->done = at;
    return FERRY_OK;
}

/* ---- All pieces ---- */

static bool at_edge(const memory_block *block, bool last)
{
    return last ? block->edges[1] && block->done == block->bytes
                : block->edges[0] && block->done == PAGE_BYTES;
}

static ferry_status share_all(memory_block *block)
{
    const size_t first = block->edges[0] ? PAGE_BYTES : 0;
    const size_t last = block->bytes - (block->edges[1] ? PAGE_BYTES : 0);
    ferry_status st = FERRY_OK;

    if (first)
        st = share(block, first, true);
    while (st == FERRY_OK && block->done < last) { /* pieces end where huge pages do */
        const uintptr_t at = (uintptr_t)block->start + block->done;
        const size_t piece = size_round(at + 1, HUGE_BYTES) + PIECE - HUGE_BYTES - at;
        st = share(block, size_min(piece, last - block->done), false);
    }
    if (st == FERRY_OK && last < block->bytes)
        st = share(block, PAGE_BYTES, true);
    return st;
}

/* From the end; in smaller pieces where there is little memory. */
static ferry_status unshare_all(memory_block *block)
{
    const size_t first = block->edges[0] ? PAGE_BYTES : 0;
    size_t most = PIECE;

    while (block->done > 0) {
        const bool edge = at_edge(block, true) || at_edge(block, false);
        size_t piece = PAGE_BYTES;
        if (!edge) { /* begin where a huge page does */
            const uintptr_t end = (uintptr_t)block->start + block->done;
            const size_t beyond = end % size_min(most, HUGE_BYTES);
            piece = beyond ? beyond : most;
            piece = size_min(piece, block->done - first);
        }
        const ferry_status st = unshare(block, piece, edge);
        if (st == FERRY_OK)
            continue;
        if (most <= PAGE_BYTES)
            return st;
        most /= 2;
    }
    return FERRY_OK;
}

/* ---- The public calls ---- */

static void drop(memory_block *block)
{
    if (!block)
        return;
    if (block->reserved)
        memory_give_shared(block->ctx, block->reserved);
    alloc_free(block->kept);
    alloc_free(block);
}

/* All that is needed, before anything is moved: from then on nothing is allocated, since the books
 * of malloc may lie in the pages that move. */
static ferry_status prepare(memory_block *block)
{
    ferry_context *const ctx = block->ctx;
    const size_t lead = (uintptr_t)block->start % HUGE_BYTES;
    ferry_status st = FERRY_OK;

    if (!ctx->arena)
        return FERRY_OK;
    if (block->edges[0] || block->edges[1])
        st = alloc_zero(2, PAGE_BYTES, &block->kept);
    if (st == FERRY_OK)
        st = adopted_reserve(&ctx->arena->adopted);
    if (st == FERRY_OK)
        st = memory_reserve(ctx, lead + block->bytes, &block->reserved);
    if (st == FERRY_OK)
        block->shared = (char *)block->reserved + lead;
    return st;
}

/* Half way: back again. Where not even that works the rest stays shared, with its content, until
 * the context ends or the caller releases it. */
static ferry_status give_up(memory_block *block, ferry_status st)
{
    char text[TROUBLE_BYTES];

    trouble_copy(text, sizeof text);
    if (unshare_all(block) == FERRY_OK) {
        fork_remove_block(block);
        drop(block);
    }
    trouble_keep(text);
    return st;
}

static ferry_status adopt(memory_block *block)
{
    const struct memory_arena *const arena = block->ctx->arena;
    memory_block *kept = NULL;
    ferry_status st = alloc_zero(1, sizeof *kept, &kept);

    if (st != FERRY_OK)
        return st;
    *kept = *block;
    st = prepare(kept);
    if (st != FERRY_OK) {
        drop(kept);
        return st;
    }
    fork_add_block(kept);
    if (!arena)
        return FERRY_OK;
    st = share_all(kept);
    if (st != FERRY_OK)
        return give_up(kept, st);
    adopted_put(&kept->ctx->arena->adopted, kept->start, kept->bytes,
                (uint64_t)(kept->shared - arena->base));
    return FERRY_OK;
}

ferry_status ferry_memory_adopt(ferry_context *ctx, void *data, size_t bytes)
{
    memory_block block = {.ctx = ctx, .data = data};
    ferry_status st = context_usable(ctx, "ferry_memory_adopt");

    if (st != FERRY_OK)
        return st;
    if (!data)
        return trouble(FERRY_ERR_ARG, "ferry_memory_adopt: data is NULL");
    st = cover(data, bytes, &block);
    if (st != FERRY_OK)
        return st;
    fork_lock();
    st = check(&block);
    if (st == FERRY_OK)
        st = adopt(&block);
    fork_unlock();
    return st;
}

/* Is it still there? Else the caller has freed it, and its addresses may be anybody's. */
static bool in_place(const memory_block *block)
{
    const struct memory_arena *const arena = block->ctx->arena;
    uint64_t device, inode;
    unsigned owner;

    return block->done == 0 ||
           (sys_identity(arena->fd, &device, &inode, &owner) &&
            smaps_is_file((uintptr_t)block->start, (uintptr_t)block->start + block->done, inode,
                          (uint64_t)(block->shared - arena->base)));
}

static ferry_status release(memory_block *block)
{
    const bool there = in_place(block);

    if (block->ctx->arena)
        adopted_remove(&block->ctx->arena->adopted, block->start);
    if (there) {
        const ferry_status st = unshare_all(block);
        if (st != FERRY_OK)
            return st;
    }
    const void *const data = block->data;
    fork_remove_block(block);
    drop(block);
    return there ? FERRY_OK
                 : trouble(FERRY_ERR_STATE,
                           "ferry_memory_release: the memory at %p was freed or mapped anew before "
                           "it was released",
                           data);
}

static memory_block *find(const ferry_context *ctx, const void *data)
{
    memory_block *block = fork_blocks();

    while (block && (block->ctx != ctx || (data && block->data != data)))
        block = block->next;
    return block;
}

ferry_status ferry_memory_release(ferry_context *ctx, void *data)
{
    if (!ctx)
        return trouble(FERRY_ERR_ARG, "ferry_memory_release: ctx is NULL");
    if (!data || context_in_child()) /* where it is private */
        return FERRY_OK;
    fork_lock();
    memory_block *const block = find(ctx, data);
    const ferry_status st =
        block ? release(block)
              : trouble(FERRY_ERR_NOT_FOUND, "ferry_memory_release: no adopted block starts at %p",
                        data);
    fork_unlock();
    return st;
}

void adopt_end(ferry_context *ctx)
{
    fork_lock();
    for (memory_block *block; (block = find(ctx, NULL)) != NULL;)
        if (release(block) == FERRY_ERR_MEMORY) { /* the pages stay shared, with nobody to see */
            fork_remove_block(block);
            alloc_free(block->kept);
            alloc_free(block);
        }
    fork_unlock();
}
