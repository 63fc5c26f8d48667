/* Memory that was touched once is worth keeping: receiving into fresh pages costs many times the
 * copy. Blocks given back are kept in the order of their return, up to a bound; a wish takes the
 * smallest that fits and is not much too large. */
#include "memory/pool.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/setting.h"
#include "base/size.h"
#include "base/sys.h"
#include "base/trouble.h"
#include "memory/pages.h"

enum {
    HEADER = 64,
    SMALL = 128 << 10,
    GROSS = 2 /* a kept block may be this many times too large */
};

typedef struct block {
    struct block *older, *newer; /* among the kept */
    size_t bytes;                /* of the mapping, header included */
    bool small;                  /* from the allocator, not mapped: not kept */
    void *raw;                   /* what to free */
} block;

static struct {
    pthread_mutex_t lock;
    block *oldest, *newest;
    size_t kept, bound;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .bound = (size_t)1 << 30};

_Static_assert(sizeof(block) <= HEADER, "the header fits before the data");

static block *block_of(void *data)
{
    return (block *)((char *)data - HEADER);
}

static void unlink_block(block *b)
{
    *(b->older ? &b->older->newer : &pool.oldest) = b->newer;
    *(b->newer ? &b->newer->older : &pool.newest) = b->older;
    pool.kept -= b->bytes;
}

static void keep(block *b)
{
    b->older = pool.newest;
    b->newer = NULL;
    *(pool.newest ? &pool.newest->newer : &pool.oldest) = b;
    pool.newest = b;
    pool.kept += b->bytes;
}

static block *find(size_t bytes)
{
    block *best = NULL;

    for (block *b = pool.newest; b; b = b->older)
        if (b->bytes >= bytes && b->bytes / GROSS <= bytes && (!best || b->bytes < best->bytes))
            best = b;
    return best;
}

/* Unlink the oldest blocks until `keep_bytes` are kept, and return them as a list by `newer`. */
static block *shed(size_t keep_bytes)
{
    block *list = NULL;

    while (pool.kept > keep_bytes) {
        block *const b = pool.oldest;
        unlink_block(b);
        b->newer = list;
        list = b;
    }
    return list;
}

static void unmap_list(block *list)
{
    while (list) {
        block *const b = list;
        list = b->newer;
        pages_unmap(b, b->bytes);
    }
}

static ferry_status take_small(size_t bytes, void **data_out)
{
    char *raw = NULL;
    const ferry_status st = alloc_resize(bytes + 2 * HEADER, 1, &raw);

    if (st != FERRY_OK)
        return st;
    block *const b = (block *)size_round((size_t)raw, HEADER);
    *b = (block){.bytes = bytes, .small = true, .raw = raw};
    *data_out = (char *)b + HEADER;
    return FERRY_OK;
}

ferry_status ferry_memory_take(size_t bytes, void **data_out)
{
    void *fresh = NULL;
    size_t whole = 0;

    if (!data_out)
        return trouble(FERRY_ERR_ARG, "ferry_memory_take: data_out is NULL");
    if (bytes < SMALL)
        return take_small(bytes, data_out);
    if (!size_add(bytes, HEADER, &whole))
        return trouble(FERRY_ERR_MEMORY, "%zu bytes of memory cannot be had", bytes);
    pthread_mutex_lock(&pool.lock);
    block *b = find(whole);
    if (b)
        unlink_block(b);
    pthread_mutex_unlock(&pool.lock);
    if (!b) {
        ferry_status st = pages_map(whole, &fresh, &whole);
        if (st != FERRY_OK) { /* what is kept may be what is missing */
            ferry_memory_trim(0);
            st = pages_map(whole, &fresh, &whole);
        }
        if (st != FERRY_OK)
            return st;
        b = fresh;
        *b = (block){.bytes = whole};
    }
    *data_out = (char *)b + HEADER;
    return FERRY_OK;
}

void ferry_memory_give(void *data)
{
    if (!data)
        return;
    block *const b = block_of(data);
    if (b->small) {
        alloc_free(b->raw);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    keep(b);
    block *const list = shed(pool.bound);
    pthread_mutex_unlock(&pool.lock);
    unmap_list(list);
}

size_t ferry_memory_trim(size_t keep_bytes)
{
    pthread_mutex_lock(&pool.lock);
    block *const list = shed(keep_bytes);
    const size_t kept = pool.kept;
    pthread_mutex_unlock(&pool.lock);
    unmap_list(list);
    return kept;
}

ferry_status pool_bound(int ranks)
{
    const char *const text = setting_text(SETTING_POOL);
    size_t bound = (size_t)sys_memory_total() / 8 / (size_t)(ranks > 0 ? ranks : 1);

    if (strcmp(text, "auto") != 0 && !setting_bytes(text, &bound))
        return trouble(FERRY_ERR_ARG,
                       "FERRY_POOL is \"%.40s\", expected auto or bytes such as 512M", text);
    pthread_mutex_lock(&pool.lock);
    pool.bound = bound;
    pthread_mutex_unlock(&pool.lock);
    return FERRY_OK;
}

uint64_t pool_most(void)
{
    pthread_mutex_lock(&pool.lock);
    const uint64_t most = pool.bound;
    pthread_mutex_unlock(&pool.lock);
    return most;
}

uint64_t pool_kept(void)
{
    pthread_mutex_lock(&pool.lock);
    const uint64_t kept = pool.kept;
    pthread_mutex_unlock(&pool.lock);
    return kept;
}
