/* See pattern.h. A pattern is the memory of the trees with the addresses that they had, and where
 * the image was: both are moved to new places by adding a distance. */
#include "bundle/pattern.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "bundle/utf8.h"
#include "ferry/memory.h"

enum { MOST_BYTES = 1 << 20 /* of a pattern */ };

static struct {
    pthread_mutex_t lock;
    uint64_t seen; /* hash of the image offered last */
    char *head;    /* header, schema and keys; NULL: none yet */
    size_t bytes;  /* of it */
    char *trees;   /* the memory of the trees, which begins with an arena */
    char *image;   /* where the image was */
} pattern = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t head_bytes(const image_header *h)
{
    return sizeof *h + h->schema + h->keys;
}

/* --- applying --- */

/* Distances, in bytes. */
typedef struct shift {
    ptrdiff_t trees, image;
    const char *block; /* the new image */
} shift;

#define MOVE(pointer, by)                                                                          \
  ((pointer) = (void *)((pointer) ? (const char *)(pointer) + (by) : (const char *)NULL))

/* `v` holds where in the image the scalar lies. */
static bool fill_scalar(value *v, const char *block)
{
    uint64_t at;

    memcpy(&at, v->scalar, sizeof at);
    memset(v->scalar, 0, sizeof v->scalar);
    switch (ferry_type_bytes(v->type)) {
    case 1:
        memcpy(v->scalar, block + at, 1);
        return v->type != FERRY_TYPE_BOOL || v->scalar[0] <= 1;
    case 2:
        memcpy(v->scalar, block + at, 2);
        return true;
    case 4:
        memcpy(v->scalar, block + at, 4);
        return true;
    case 8:
        memcpy(v->scalar, block + at, 8);
        return true;
    default:
        memcpy(v->scalar, block + at, 16);
        return true;
    }
}

static bool fill_value(value *v, const shift *by)
{
    switch (v->type) {
    case FERRY_TYPE_NULL:
        return true;
    case FERRY_TYPE_STRING:
        MOVE(v->text.data, by->image);
        return v->text.data[v->text.bytes] == '\0' &&
               (!(v->flags & VALUE_UTF8) || utf8_valid(v->text.data, v->text.bytes));
    case FERRY_TYPE_BYTES:
        MOVE(v->text.data, by->image);
        return true;
    case FERRY_TYPE_ARRAY:
        MOVE(v->array.data, by->image);
        MOVE(v->array.shape, by->image);
        return true;
    case FERRY_TYPE_LIST:
    case FERRY_TYPE_BUNDLE:
        MOVE(v->child, by->trees);
        return true;
    default:
        return fill_scalar(v, by->block);
    }
}

static bool fill_tree(tree *t, const shift *by)
{
    bool sound = true;

    MOVE(t->values, by->trees);
    MOVE(t->keys, by->trees);
    MOVE(t->slots, by->trees);
    MOVE(t->parent, by->trees);
    MOVE(t->attributes, by->trees);
    for (size_t i = 0; i < t->count; i++)
        sound &= fill_value(&t->values[i], by);
    for (size_t i = 0; t->keys && i < t->count; i++)
        MOVE(t->keys[i], by->image);
    for (size_t i = 0; t->attributes && i < t->attributes->count; i++)
        MOVE(t->attributes->at[i].tree, by->trees);
    return sound;
}

static bool fill(const image_store *store, const image_header *header, char *room)
{
    const shift by = {room - pattern.trees, (char *)store->block - pattern.image, store->block};
    tree *const trees = (tree *)(room + sizeof(arena));
    bool sound = true;

    memcpy(room, pattern.trees, image_tree_bytes(header));
    for (uint64_t i = 0; i < header->containers; i++)
        sound &= fill_tree(&trees[i], &by);
    return sound;
}

static bool fits(const image_store *store)
{
    return pattern.head && store->bytes >= pattern.bytes &&
           memcmp(store->block, pattern.head, pattern.bytes) == 0;
}

/* The header is the pattern's, to the last bit: so is the length of everything. */
static bool apply(image_store *store, ferry_bundle **bundle_out)
{
    image_header header;
    void *room = store->room;

    memcpy(&header, store->block, sizeof header);
    const size_t bytes = image_tree_bytes(&header);
    if (header.total != store->bytes)
        return false;
    if ((!room || store->room_bytes < bytes) && ferry_memory_take(bytes, &room) != FERRY_OK)
        return false;
    if (!fill(store, &header, room)) {
        if (room != store->room)
            ferry_memory_give(room);
        return false;
    }
    if (room == store->room)
        store->room = NULL;
    *(arena *)room =
        (arena){store->block, store->bytes, store->give, store->user, store->read_only};
    tree *const root = (tree *)((char *)room + sizeof(arena));
    root->arena = room;
    *bundle_out = (ferry_bundle *)root;
    return true;
}

bool pattern_apply(image_store *store, ferry_bundle **bundle_out)
{
    if (pthread_mutex_trylock(&pattern.lock) != 0)
        return false; /* another thread is at it */
    const bool applied = fits(store) && apply(store, bundle_out);
    pthread_mutex_unlock(&pattern.lock);
    return applied;
}

/* --- heads that were left out --- */

/* The message says the same of the image as the pattern's header, and is as long as that. */
static bool is_of_pattern(const image_short *said, size_t bytes)
{
    image_header header;

    if (!pattern.head)
        return false;
    memcpy(&header, pattern.head, sizeof header);
    return header.hash == said->hash && header.total == said->total && header.crc == said->crc &&
           bytes == sizeof *said + header.total - image_small(&header);
}

static bool expand(const char *message, const image_short *said, char **block_out)
{
    void *block = NULL;

    if (ferry_memory_take(said->total, &block) != FERRY_OK)
        return false;
    const size_t values = image_small((const image_header *)pattern.head);
    char *const image = block;
    memcpy(image, pattern.head, pattern.bytes);
    memset(image + pattern.bytes, 0, values - pattern.bytes);
    memcpy(image + values, message + sizeof *said, said->total - values);
    *block_out = image;
    return true;
}

bool pattern_expand(const void *message, size_t bytes, void **block_out, size_t *bytes_out)
{
    image_short said;
    char *image = NULL;

    memcpy(&said, message, sizeof said);
    pthread_mutex_lock(&pattern.lock);
    const bool expanded = is_of_pattern(&said, bytes) && expand(message, &said, &image);
    pthread_mutex_unlock(&pattern.lock);
    if (!expanded)
        return false;
    *block_out = image;
    *bytes_out = said.total;
    return true;
}

/* --- learning --- */

static void forget(void)
{
    alloc_free(pattern.head);
    ferry_memory_give(pattern.trees);
    pattern.head = pattern.trees = NULL;
}

static void learn(const image_store *store, const image_header *header)
{
    void *trees = NULL;

    forget();
    pattern.bytes = head_bytes(header);
    if (alloc_resize(pattern.bytes, 1, &pattern.head) == FERRY_OK &&
        ferry_memory_take(image_tree_bytes(header), &trees) == FERRY_OK) {
        pattern.trees = trees;
        pattern.image = store->block;
        memcpy(pattern.head, store->block, pattern.bytes);
    }
    if (!trees || !image_learn(store, trees))
        forget();
}

void pattern_offer(const image_store *store)
{
    image_header header;

    memcpy(&header, store->block, sizeof header);
    if (head_bytes(&header) + image_tree_bytes(&header) > MOST_BYTES ||
        pthread_mutex_trylock(&pattern.lock) != 0)
        return;
    if (pattern.seen == header.hash)
        learn(store, &header);
    pattern.seen = header.hash;
    pthread_mutex_unlock(&pattern.lock);
}
