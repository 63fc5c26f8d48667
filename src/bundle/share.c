/* See share.h. What a root believes that others know is a guess, since each process keeps one
 * pattern only: a wrong guess costs a broadcast of a few kilobytes, and the more often it was wrong
 * the more seldom it is made. */
#include "bundle/share.h"

#include <pthread.h>
#include <string.h>

#include "ferry/context.h"

enum {
    BELIEFS = 4,
    LEARNT_AFTER = 2, /* whole images: receivers keep the pattern of the second */
    MOST_PATIENCE = 1 << 10,
    LEAST_HEAD = 4 << 10,  /* bytes: leaving out less does not pay */
    MOST_IMAGE = 256 << 10 /* receivers copy the values once more */
};

/* Of one context and one schema. */
typedef struct belief {
    const ferry_context *ctx;
    uint64_t hash;
    int whole;    /* images given whole, one after another */
    int patience; /* so many before the head is left out */
} belief;

static struct {
    pthread_mutex_t lock;
    belief list[BELIEFS];
    unsigned next; /* to be replaced */
} beliefs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static belief *find(const ferry_context *ctx, uint64_t hash)
{
    for (int i = 0; i < BELIEFS; i++)
        if (beliefs.list[i].ctx == ctx && beliefs.list[i].hash == hash)
            return &beliefs.list[i];
    belief *const fresh = &beliefs.list[beliefs.next++ % BELIEFS];
    *fresh = (belief){ctx, hash, 0, LEARNT_AFTER};
    return fresh;
}

static bool believes(const ferry_context *ctx, uint64_t hash)
{
    pthread_mutex_lock(&beliefs.lock);
    const belief *const b = find(ctx, hash);
    const bool known = b->whole >= b->patience;
    pthread_mutex_unlock(&beliefs.lock);
    return known;
}

static void learn(const ferry_context *ctx, uint64_t hash, bool was_wrong)
{
    pthread_mutex_lock(&beliefs.lock);
    belief *const b = find(ctx, hash);
    b->whole = was_wrong ? 0 : b->whole + 1;
    if (was_wrong && b->patience < MOST_PATIENCE)
        b->patience *= 2;
    pthread_mutex_unlock(&beliefs.lock);
}

ferry_stream_check *share_check(const ferry_context *ctx)
{
    ferry_context_info info;

    return ferry_context_describe(ctx, &info) == FERRY_OK && info.node_count > 1 ? arrival_settle
                                                                                 : NULL;
}

/* The pieces without the head, for the time of one broadcast. */
static ferry_status give_short(ferry_context *ctx, int root, encoding *e,
                               const image_header *header)
{
    image_short said = {.hash = header->hash, .total = header->total, .crc = header->crc};
    ferry_piece *const first = &e->pieces[e->head_count - 1];
    const ferry_piece kept = *first;

    memcpy(said.magic, IMAGE_SHORT_MAGIC, sizeof said.magic);
    *first = (ferry_piece){&said, sizeof said};
    const ferry_status st =
        ferry_stream_bcast(ctx, &(ferry_stream_cast){.root = root,
                                                     .pieces = first,
                                                     .count = e->count - e->head_count + 1,
                                                     .check = arrival_settle});
    *first = kept;
    return st;
}

ferry_status share_give(ferry_context *ctx, int root, encoding *e)
{
    ferry_stream_check *const check = share_check(ctx);
    image_header header;

    memcpy(&header, e->pieces[0].data, sizeof header);
    const bool may = check && e->head_bytes >= LEAST_HEAD && header.total <= MOST_IMAGE;
    if (may && believes(ctx, header.hash)) {
        const ferry_status st = give_short(ctx, root, e, &header);
        if (st != FERRY_ERR_ROUTE)
            return st;
        learn(ctx, header.hash, true);
    }
    const ferry_status st = ferry_stream_bcast(
        ctx,
        &(ferry_stream_cast){.root = root, .pieces = e->pieces, .count = e->count, .check = check});
    if (may && st == FERRY_OK)
        learn(ctx, header.hash, false);
    return st;
}

ferry_status share_take(ferry_context *ctx, int root, ferry_stream_place *place, arrival *a)
{
    const ferry_stream_cast cast = {
        .root = root, .place = place, .check = share_check(ctx), .user = a};
    ferry_status st = ferry_stream_bcast(ctx, &cast);

    if (st == FERRY_OK && !cast.check)
        return arrival_settle(a);
    if (st != FERRY_ERR_ROUTE)
        return st;
    arrival_again(a);
    return ferry_stream_bcast(ctx, &cast);
}
