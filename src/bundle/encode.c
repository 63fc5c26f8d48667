/* From a tree to an image, in one walk: schema, keys and small values grow side by side and are the
 * first pieces. Large values are not touched: further pieces point at them. */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/trouble.h"
#include "bundle/attribute.h"
#include "bundle/head.h"
#include "bundle/image.h"
#include "bundle/value.h"
#include "ferry/memory.h"

enum {
    LEAST_ROOM = 1024,  /* bytes of a section */
    MOST_GUESS = 65536, /* that a section begins with */
    HEAD_PIECES = 3,    /* schema with the header before it, keys, small values */
    /* what one value takes at most: its record, a shape, and the record of its attributes */
    VALUE_SCHEMA = (1 + FERRY_ARRAY_MAX_DIMS + 2 * IMAGE_TREE_WORDS) * IMAGE_WORD,
    VALUE_SMALL = IMAGE_LARGE + 2 * IMAGE_LINE, /* and what fills the section up */
    VALUE_PIECES = 2,
    LAST_PIECE = 1 /* encoding_add_tail() */
};

typedef struct section {
    char *data;
    size_t room;
} section;

typedef struct writer {
    section schema, keys, small, pieces;
    image_cursor at; /* how far they are filled; the schema without the header */
    size_t count;    /* of pieces */
    size_t entries, keyed, containers;
    void *packed;   /* as in an encoding */
    uint64_t loans; /* which borrowed strings are UTF-8: they change without a call */
} writer;

/* --- room --- */

static ferry_status grow(section *s, size_t wanted)
{
    const size_t room = size_max(LEAST_ROOM, size_max(2 * s->room, wanted));
    const ferry_status st = alloc_resize(room, 1, &s->data);

    if (st == FERRY_OK)
        s->room = room;
    return st;
}

static inline ferry_status want(section *s, size_t wanted)
{
    return wanted <= s->room ? FERRY_OK : grow(s, wanted);
}

/* Room for one more value, so that writing it cannot fail. */
static ferry_status make_room(writer *w, size_t key_bytes)
{
    ferry_status st = want(&w->schema, sizeof(image_header) + w->at.schema + VALUE_SCHEMA);

    if (st == FERRY_OK)
        st = want(&w->keys, w->at.keys + image_key_bytes(key_bytes) + IMAGE_LINE);
    if (st == FERRY_OK)
        st = want(&w->small, w->at.small + VALUE_SMALL);
    if (st == FERRY_OK)
        st = want(&w->pieces, (w->count + VALUE_PIECES + LAST_PIECE) * sizeof(ferry_piece));
    return st;
}

/* --- schema and keys --- */

static char *schema_at(const writer *w, size_t at)
{
    return w->schema.data + sizeof(image_header) + at;
}

static void write_word(writer *w, uint64_t word)
{
    memcpy(schema_at(w, w->at.schema), &word, sizeof word);
    w->at.schema += sizeof word;
}

static bool says_utf8(writer *w, const value *v)
{
    if (v->type != FERRY_TYPE_STRING && v->type != FERRY_TYPE_STRINGS)
        return false;
    const bool utf8 = value_utf8(v);
    if (v->flags & VALUE_BORROWED)
        w->loans = 2 * hash_bytes(w->loans, NULL, 0) + utf8;
    return utf8;
}

static void write_record(writer *w, const value *v, size_t key_bytes, bool attributed)
{
    const image_record record = {
        .type = v->type,
        .element = v->element,
        .dims = v->dims,
        .flags = (uint8_t)((says_utf8(w, v) ? IMAGE_UTF8 : 0) |
                           (v->flags & VALUE_COLUMN ? IMAGE_COLUMN : 0) |
                           (attributed ? IMAGE_ATTRIBUTES : 0)),
        .key_bytes = (uint32_t)key_bytes,
    };

    memcpy(schema_at(w, w->at.schema), &record, sizeof record);
    w->at.schema += sizeof record;
}

static void write_key(writer *w, const char *key, size_t length)
{
    char *const at = w->keys.data + w->at.keys;
    const size_t bytes = image_key_bytes(length);

    memset(at + bytes - IMAGE_WORD, 0, IMAGE_WORD);
    memcpy(at, key, length);
    w->at.keys += bytes;
}

/* --- values --- */

static void add_piece(writer *w, const void *data, size_t bytes)
{
    if (bytes > 0)
        ((ferry_piece *)w->pieces.data)[w->count++] = (ferry_piece){data, bytes};
}

static void pack(const value *v, char *target)
{
    int64_t own[FERRY_ARRAY_MAX_DIMS], dense[FERRY_ARRAY_MAX_DIMS];
    const array_spec spec = value_spec(v, own);

    array_strides(&spec, v->flags & VALUE_COLUMN, dense);
    array_copy(&spec, target, dense);
}

/* A dense copy in a block of its own, which begins with a pointer to the one before. */
static ferry_status pack_apart(writer *w, const value *v, size_t bytes, const char **data_out)
{
    void *block;
    const ferry_status st = ferry_memory_take(IMAGE_LINE + bytes, &block);

    if (st != FERRY_OK)
        return st;
    memcpy(block, &w->packed, sizeof w->packed);
    w->packed = block;
    char *const data = (char *)block + IMAGE_LINE;
    pack(v, data);
    *data_out = data;
    return FERRY_OK;
}

static ferry_status write_large(writer *w, const value *v, size_t bytes, size_t room)
{
    static const char zeros[2 * IMAGE_LINE];
    const char *data = value_data(v);
    ferry_status st = FERRY_OK;

    if (v->flags & VALUE_STRIDED)
        st = pack_apart(w, v, bytes, &data);
    if (st != FERRY_OK)
        return st;
    add_piece(w, data, bytes);
    add_piece(w, zeros, room - bytes);
    return FERRY_OK;
}

/* What lies between values is zero. */
static void write_small(writer *w, const value *v, size_t bytes, size_t before, size_t position)
{
    char *const small = w->small.data;

    memset(small + before, 0, position - before);
    if (w->at.small > position)
        memset(small + w->at.small - IMAGE_WORD, 0, IMAGE_WORD);
    if (v->flags & VALUE_STRIDED)
        pack(v, small + position);
    else
        memcpy(small + position, value_data(v), bytes);
}

static ferry_status write_data(writer *w, const value *v, size_t bytes)
{
    const image_cursor before = w->at;
    size_t position = 0;

    if (!image_step(&w->at, v->type, bytes, &position) || w->at.large > IMAGE_MOST)
        return trouble(FERRY_ERR_LIMIT, "the bundle holds more bytes than 62 bits can count");
    if (bytes >= IMAGE_LARGE)
        return write_large(w, v, bytes, w->at.large - before.large);
    write_small(w, v, bytes, before.small, position);
    return FERRY_OK;
}

/* --- trees --- */

static ferry_status write_tree(writer *w, const tree *t);

static ferry_status write_value(writer *w, const value *v)
{
    const size_t bytes = value_bytes(v);

    switch (v->type) {
    case FERRY_TYPE_ARRAY:
        for (int k = 0; k < v->dims; k++)
            write_word(w, (uint64_t)v->array.shape[k]);
        break;
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        write_word(w, bytes);
        break;
    case FERRY_TYPE_STRINGS:
        write_word(w, v->strings.count);
        write_word(w, bytes);
        break;
    case FERRY_TYPE_LIST:
    case FERRY_TYPE_BUNDLE:
        return write_tree(w, v->child);
    case FERRY_TYPE_NULL:
        return FERRY_OK;
    }
    return write_data(w, v, bytes);
}

/* A bundle that is no value of another one: the outermost one, or attributes, whose record stands
 * behind those of their value. */
static ferry_status write_bundle(writer *w, const tree *t)
{
    const value top = {.type = FERRY_TYPE_BUNDLE};
    const ferry_status st = make_room(w, 0);

    if (st != FERRY_OK)
        return st;
    write_record(w, &top, 0, false);
    return write_tree(w, t);
}

static ferry_status write_entry(writer *w, const tree *t, size_t number)
{
    const value *const v = &t->values[number];
    const size_t length = t->is_list ? 0 : strlen(t->keys[number]);
    const tree *const its = attributes_find(t, number);
    ferry_status st = make_room(w, length);

    if (st != FERRY_OK)
        return st;
    write_record(w, v, length, its != NULL);
    if (!t->is_list)
        write_key(w, t->keys[number], length);
    st = write_value(w, v);
    return st == FERRY_OK && its ? write_bundle(w, its) : st;
}

/* What follows the record of a tree, for which there is room: its count, the bytes inside, the
 * number of its values with attributes, and all that is inside. */
static ferry_status write_tree(writer *w, const tree *t)
{
    const size_t attributed = t->attributes ? t->attributes->count : 0,
                 inside = w->at.schema + IMAGE_WORD;
    ferry_status st = FERRY_OK;

    w->containers++;
    w->entries += t->count + attributed;
    w->keyed += t->is_list ? 0 : t->count;
    write_word(w, t->count);
    write_word(w, 0);
    write_word(w, attributed);
    const size_t begin = w->at.schema;
    for (size_t i = 0; i < t->count && st == FERRY_OK; i++)
        st = write_entry(w, t, i);
    if (st != FERRY_OK)
        return st;
    const uint64_t bytes = w->at.schema - begin;
    memcpy(schema_at(w, inside), &bytes, sizeof bytes);
    return FERRY_OK;
}

/* --- the head --- */

/* Fill a section up with zeros, for which there is room; returns its bytes. */
static size_t fill_up(const section *s, size_t used, size_t end)
{
    memset(s->data + used, 0, end - used);
    return end;
}

uint64_t image_hash(const void *schema, size_t schema_bytes, const void *keys, size_t key_bytes)
{
    return hash_bytes(hash_bytes(HASH_START, schema, schema_bytes), keys, key_bytes);
}

static void write_header(writer *w, image_header *header)
{
    char *const schema = schema_at(w, 0);

    *header = (image_header){
        .magic = IMAGE_MAGIC,
        .version = IMAGE_VERSION,
        .schema = w->at.schema,
        .keys = w->at.keys,
        .values = w->at.small,
        .entries = w->entries,
        .keyed = w->keyed,
        .containers = w->containers,
    };
    header->total = image_large(header) + w->at.large;
    header->hash = image_hash(schema, w->at.schema, w->keys.data, w->at.keys);
    header->crc = hash_crc32c(0, header, sizeof *header);
    header->crc = hash_crc32c(header->crc, schema, w->at.schema);
    header->crc = hash_crc32c(header->crc, w->keys.data, w->at.keys);
    memcpy(w->schema.data, header, sizeof *header);
}

static image_head make_head(writer *w)
{
    image_head head = {.schema = w->schema.data, .keys = w->keys.data, .loans = w->loans};

    write_header(w, &head.header);
    head.schema_bytes = sizeof head.header + head.header.schema;
    head.keys_bytes =
        fill_up(&w->keys, head.header.keys, image_small(&head.header) - head.schema_bytes);
    return head;
}

/* The head, and the pieces before those of large values. */
static void finish(const writer *w, const image_head *head, encoding *e)
{
    const size_t small_bytes = image_large(&head->header) - image_small(&head->header);
    const ferry_piece first[HEAD_PIECES] = {
        {head->schema, head->schema_bytes},
        {head->keys, head->keys_bytes},
        {w->small.data, fill_up(&w->small, head->header.values, small_bytes)},
    };
    size_t count = 0;

    e->pieces = (ferry_piece *)w->pieces.data;
    for (int i = 0; i < HEAD_PIECES; i++)
        if (first[i].bytes > 0)
            e->pieces[count++] = first[i];
    e->head_count = head->keys_bytes > 0 ? 2 : 1;
    e->head_bytes = head->schema_bytes + head->keys_bytes;
    const size_t others = w->count - HEAD_PIECES;
    memmove(e->pieces + count, e->pieces + HEAD_PIECES, others * sizeof *e->pieces);
    e->count = count + others;
    e->total = head->header.total;
}

/* Who encodes often encodes alike: begin with the room that was needed last. */
static ferry_status guess_room(writer *w, const image_cursor *last)
{
    ferry_status st =
        want(&w->schema, size_min(sizeof(image_header) + last->schema + VALUE_SCHEMA, MOST_GUESS));

    if (st == FERRY_OK)
        st = want(&w->keys, size_min(last->keys + IMAGE_LINE, MOST_GUESS));
    if (st == FERRY_OK)
        st = want(&w->small, size_min(last->small + VALUE_SMALL, MOST_GUESS));
    return st;
}

/* Everything that was taken, so that it can be dropped. */
static void hand_over(const writer *w, encoding *e)
{
    e->pieces = (ferry_piece *)w->pieces.data;
    e->schema = w->schema.data;
    e->keys = w->keys.data;
    e->small = w->small.data;
    e->packed = w->packed;
}

static ferry_status encode_all(const tree *root, writer *w, encoding *e)
{
    static _Thread_local image_cursor last;
    ferry_status st = guess_room(w, &last);

    if (st == FERRY_OK)
        st = write_bundle(w, root);
    hand_over(w, e);
    last = w->at;
    if (st != FERRY_OK)
        return st;
    const image_head head = make_head(w);
    finish(w, &head, e);
    if (head_keep(root, &head))
        e->schema = e->keys = NULL; /* the tree's now */
    return FERRY_OK;
}

/* --- values alone --- */

static ferry_status rewrite_tree(writer *w, const tree *t);

static ferry_status rewrite_value(writer *w, const value *v)
{
    ferry_status st = want(&w->small, w->at.small + VALUE_SMALL);

    if (value_is_tree(v))
        return rewrite_tree(w, v->child);
    if (v->type == FERRY_TYPE_NULL)
        return FERRY_OK;
    says_utf8(w, v);
    if (st == FERRY_OK)
        st = want(&w->pieces, (w->count + VALUE_PIECES + LAST_PIECE) * sizeof(ferry_piece));
    return st == FERRY_OK ? write_data(w, v, value_bytes(v)) : st;
}

static ferry_status rewrite_tree(writer *w, const tree *t)
{
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < t->count && st == FERRY_OK; i++) {
        st = rewrite_value(w, &t->values[i]);
        const tree *const its = t->attributes ? attributes_find(t, i) : NULL;
        if (st == FERRY_OK && its)
            st = rewrite_tree(w, its);
    }
    return st;
}

/* The head is known from the last time. */
static ferry_status encode_values(const tree *root, const image_head *head, writer *w, encoding *e)
{
    const size_t least_pieces = (HEAD_PIECES + LAST_PIECE) * sizeof(ferry_piece);
    ferry_status st = want(&w->small, head->header.values + VALUE_SMALL);

    if (st == FERRY_OK)
        st = want(&w->pieces, least_pieces);
    if (st == FERRY_OK)
        st = rewrite_tree(w, root);
    hand_over(w, e);
    if (st == FERRY_OK && w->loans == head->loans)
        finish(w, head, e);
    return st;
}

ferry_status encoding_make(const tree *root, encoding *encoding_out)
{
    const image_head *const head = head_of(root);
    writer w = {.count = HEAD_PIECES};
    encoding e = {0};
    ferry_status st = head ? encode_values(root, head, &w, &e) : encode_all(root, &w, &e);

    if (st == FERRY_OK && head && w.loans != head->loans) { /* not that head any more */
        encoding_drop(&e);
        w = (writer){.count = HEAD_PIECES};
        st = encode_all(root, &w, &e);
    }
    if (st == FERRY_OK)
        *encoding_out = e;
    else
        encoding_drop(&e);
    return st;
}

/* --- the tail of messages --- */

/* Sizes in steps of half an octave, from 64 bytes. */
static size_t room_of(size_t step)
{
    return ((size_t)IMAGE_LINE + (step % 2 ? IMAGE_LINE / 2 : 0)) << step / 2;
}

size_t image_message_room(size_t message_bytes)
{
    const size_t step = message_bytes % IMAGE_LINE;

    /* no image needs more than 3 bytes for each of its own: a message may be something else */
    return step ? size_min(room_of(step), 3 * message_bytes + IMAGE_LARGE) : 0;
}

void encoding_add_tail(encoding *e)
{
    static const char zeros[IMAGE_LINE];
    const size_t wanted = image_tree_bytes((const image_header *)e->pieces[0].data);
    size_t step = 1;

    while (step < IMAGE_LINE && room_of(step) < wanted)
        step++;
    e->pieces[e->count++] = (ferry_piece){zeros, step % IMAGE_LINE};
    e->total += step % IMAGE_LINE;
}

void encoding_drop(encoding *e)
{
    while (e->packed) {
        void *const block = e->packed;
        memcpy(&e->packed, block, sizeof e->packed);
        ferry_memory_give(block);
    }
    alloc_free(e->pieces);
    alloc_free(e->schema);
    alloc_free(e->keys);
    alloc_free(e->small);
    *e = (encoding){0};
}

/* All pieces in one block. */
static ferry_status gather(const encoding *e, void **block_out)
{
    void *block;
    const ferry_status st = ferry_memory_take(e->total, &block);

    if (st != FERRY_OK)
        return st;
    char *at = block;
    for (size_t i = 0; i < e->count; i++) {
        memcpy(at, e->pieces[i].data, e->pieces[i].bytes);
        at += e->pieces[i].bytes;
    }
    *block_out = block;
    return FERRY_OK;
}

ferry_status ferry_bundle_encode(const ferry_bundle *bundle, void **image_out, size_t *bytes_out)
{
    encoding e;

    if (!bundle || !image_out || !bytes_out)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_encode: %s is NULL",
                       !bundle     ? "bundle"
                       : image_out ? "bytes_out"
                                   : "image_out");
    ferry_status st = encoding_make(&bundle->tree, &e);
    if (st != FERRY_OK)
        return st;
    st = gather(&e, image_out);
    if (st == FERRY_OK)
        *bytes_out = e.total;
    encoding_drop(&e);
    return st;
}

ferry_status ferry_bundle_copy(const ferry_bundle *bundle, ferry_bundle **copy_out)
{
    void *block;
    size_t bytes;

    if (!bundle || !copy_out)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_copy: %s is NULL",
                       bundle ? "copy_out" : "bundle");
    ferry_status st = ferry_bundle_encode(bundle, &block, &bytes);
    if (st != FERRY_OK)
        return st;
    st = image_decode(block, bytes, copy_out);
    if (st != FERRY_OK)
        ferry_memory_give(block);
    return st;
}
