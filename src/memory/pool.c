/* Memory that was touched once is worth keeping: receiving into fresh pages costs many times the
 * copy. Blocks given back are kept in the order of their return, up to a bound, and once more by
 * their size; a wish takes the smallest that fits and is not much too large. */
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
    TINY = 16 << 10,    /* smaller ones are the allocator's business, and not kept */
    MAPPED = 128 << 10, /* from here on blocks are mappings of their own */
    GROSS = 2,          /* a kept block may be this many times too large */
    CLASSES = 64        /* of sizes: powers of two */
};

typedef struct block {
    struct block *older, *newer;  /* among the kept */
    struct block *before, *after; /* among the kept ones of its class */
    size_t bytes;                 /* of the mapping or allocation, header included */
    void *raw;                    /* of the allocator: what to free; NULL: a mapping */
} block;

static struct {
    pthread_mutex_t lock;
    block *oldest, *newest;
    block *classes[CLASSES]; /* the newest of each */
    size_t kept, bound;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .bound = (size_t)1 << 30};

_Static_assert(sizeof(block) <= HEADER, "the header fits before the data");

static block *block_of(void *data)
{
    return (block *)((char *)data - HEADER);
}

static unsigned class_of(size_t bytes)
{
    return CLASSES - 1 - (unsigned)__builtin_clzll(bytes);
}

static void unlink_block(block *b)
{
    *(b->older ? &b->older->newer : &pool.oldest) = b->newer;
    *(b->newer ? &b->newer->older : &pool.newest) = b->older;
    *(b->after ? &b->after->before : &pool.classes[class_of(b->bytes)]) = b->before;
    if (b->before)
        b->before->after = b->after;
    pool.kept -= b->bytes;
}

static void keep(block *b)
{
    block **const newest = &pool.classes[class_of(b->bytes)];

    b->older = pool.newest;
    b->newer = NULL;
    *(pool.newest ? &pool.newest->newer : &pool.oldest) = b;
    pool.newest = b;
    b->before = *newest;
    b->after = NULL;
    if (*newest)
        (*newest)->after = b;
    *newest = b;
    pool.kept += b->bytes;
}

/* All that is not too large is in the class of the wish or in the next one. */
static block *find(size_t bytes)
{
    const unsigned first = class_of(bytes);
    block *best = NULL;

    for (unsigned i = first; i <= first + 1 && i < CLASSES; i++)
        for (block *b = pool.classes[i]; b; b = b->before)
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

static void drop(block *b)
{
    if (b->raw)
        alloc_free(b->raw);
    else
        pages_unmap(b, b->bytes);
}

static void drop_list(block *list)
{
    while (list) {
        block *const b = list;
        list = b->newer;
        drop(b);
    }
}

/* `bytes` with the header. */
static ferry_status allocate(size_t bytes, block **block_out)
{
    char *raw = NULL;
    const ferry_status st = alloc_resize(bytes + HEADER, 1, &raw);

    if (st != FERRY_OK)
        return st;
    block *const b = (block *)size_round((size_t)raw, HEADER);
    *b = (block){.bytes = bytes, .raw = raw};
    *block_out = b;
    return FERRY_OK;
}

static ferry_status map(size_t bytes, block **block_out)
{
    void *fresh = NULL;
    const ferry_status st = pages_map(bytes, &fresh, &bytes);

    if (st != FERRY_OK)
        return st;
    *block_out = fresh;
    **block_out = (block){.bytes = bytes};
    return FERRY_OK;
}

static ferry_status make(size_t bytes, block **block_out)
{
    return (bytes < MAPPED ? allocate : map)(bytes, block_out);
}

static block *take_kept(size_t bytes)
{
    pthread_mutex_lock(&pool.lock);
    block *const b = find(bytes);
    if (b)
        unlink_block(b);
    pthread_mutex_unlock(&pool.lock);
    return b;
}

ferry_status ferry_memory_take(size_t bytes, void **data_out)
{
    size_t whole = 0;

    if (!data_out)
        return trouble(FERRY_ERR_ARG, "ferry_memory_take: data_out is NULL");
    if (!size_add(bytes, HEADER, &whole))
        return trouble(FERRY_ERR_MEMORY, "%zu bytes of memory cannot be had", bytes);
    block *b = whole < TINY ? NULL : take_kept(whole);
    if (!b) {
        ferry_status st = make(whole, &b);
        if (st != FERRY_OK && whole >= MAPPED) { /* what is kept may be what is missing */
            ferry_memory_trim(0);
            st = make(whole, &b);
        }
        if (st != FERRY_OK)
            return st;
    }
    *data_out = (char *)b + HEADER;
    return FERRY_OK;
}

void ferry_memory_give(void *data)
{
    if (!data)
        return;
    block *const b = block_of(data);
    if (b->bytes < TINY) {
        drop(b);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    keep(b);
    block *const list = shed(pool.bound);
    pthread_mutex_unlock(&pool.lock);
    drop_list(list);
}

size_t ferry_memory_trim(size_t keep_bytes)
{
    pthread_mutex_lock(&pool.lock);
    block *const list = shed(keep_bytes);
    const size_t kept = pool.kept;
    pthread_mutex_unlock(&pool.lock);
    drop_list(list);
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
