/* A child that wrote into shared pages would write into the memory of its parent, and through it
 * into other ranks. So the first thing that a child does is to map the same file again, privately:
 * it reads what is there, and what it writes is its own. What lies beside an adopted block in its
 * first and last page, and may belong to malloc, is put there as it was at the moment of the fork.
 * The child also loses the file, so that giving memory back does not empty pages of its parent. */
#include "memory/fork.h"

#include <sys/mman.h>

#include <string.h>

#include "base/sys.h"
#include "memory/pages.h"

static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    struct memory_arena *arenas;
    memory_block *blocks;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

static char *edge_of(const memory_block *block, int which)
{
    return which == 0 ? block->start : block->start + block->bytes - PAGE_BYTES;
}

/* The edge lies in the arena. */
static bool edge_shared(const memory_block *block, int which)
{
    return block->edges[which] && block->done >= (which == 0 ? PAGE_BYTES : block->bytes);
}

static void before(void)
{
    pthread_mutex_lock(&shared.lock);
    for (const memory_block *b = shared.blocks; b; b = b->next)
        for (int i = 0; i < 2; i++)
            if (edge_shared(b, i))
                memcpy(b->kept + (size_t)i * PAGE_BYTES, edge_of(b, i), PAGE_BYTES);
}

static void after_in_parent(void)
{
    pthread_mutex_unlock(&shared.lock);
}

/* Where the kernel counts every private page that could be written against a limit, the child may
 * only read; and what cannot be made private is not there. */
static void make_private(const struct memory_arena *arena, char *start, size_t bytes,
                         uint64_t offset)
{
    if (sys_map_copy(start, bytes, arena->fd, (int64_t)offset, true) == MAP_FAILED &&
        sys_map_copy(start, bytes, arena->fd, (int64_t)offset, false) == MAP_FAILED)
        sys_unmap(start, bytes);
}

static void make_block_private(const memory_block *block)
{
    const struct memory_arena *const arena = block->ctx->arena;

    if (block->done == 0)
        return;
    make_private(arena, block->start, block->done, (uint64_t)(block->shared - arena->base));
    for (int i = 0; i < 2; i++) {
        if (!edge_shared(block, i))
            continue;
        char *const page = sys_map_private(edge_of(block, i), PAGE_BYTES);
        if (page != MAP_FAILED)
            memcpy(page, block->kept + (size_t)i * PAGE_BYTES, PAGE_BYTES);
    }
}

static void after_in_child(void)
{
    context_enter_child();
    for (const memory_block *b = shared.blocks; b; b = b->next)
        make_block_private(b);
    for (struct memory_arena *arena = shared.arenas; arena; arena = arena->next) {
        make_private(arena, arena->base, arena->bytes, 0);
        arena->fd = -1;
    }
    pthread_mutex_unlock(&shared.lock);
}

static void install(void)
{
    pthread_atfork(before, after_in_parent, after_in_child);
}

void fork_begin(void)
{
    pthread_once(&shared.once, install);
}

void fork_watch(struct memory_arena *arena)
{
    pthread_mutex_lock(&shared.lock);
    arena->next = shared.arenas;
    shared.arenas = arena;
    pthread_mutex_unlock(&shared.lock);
}

void fork_forget(struct memory_arena *arena)
{
    pthread_mutex_lock(&shared.lock);
    for (struct memory_arena **at = &shared.arenas; *at; at = &(*at)->next)
        if (*at == arena) {
            *at = arena->next;
            break;
        }
    pthread_mutex_unlock(&shared.lock);
}

void fork_lock(void)
{
    pthread_mutex_lock(&shared.lock);
}

void fork_unlock(void)
{
    pthread_mutex_unlock(&shared.lock);
}

memory_block *fork_blocks(void)
{
    return shared.blocks;
}

void fork_add_block(memory_block *block)
{
    block->next = shared.blocks;
    shared.blocks = block;
}

void fork_remove_block(const memory_block *block)
{
    for (memory_block **at = &shared.blocks; *at; at = &(*at)->next)
        if (*at == block) {
            *at = block->next;
            return;
        }
}
