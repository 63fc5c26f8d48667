/* From a tree to an image. One walk measures, so that the head is allocated once; one walk writes
 * it. Large values are not touched: the pieces point at them. */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/trouble.h"
#include "bundle/attribute.h"
#include "bundle/image.h"
#include "bundle/value.h"
#include "ferry/memory.h"

static size_t schema_words(const value *v)
{
    switch (v->type) {
    case FERRY_TYPE_ARRAY:
        return 1u + v->dims;
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        return 2;
    case FERRY_TYPE_STRINGS:
        return 3;
    case FERRY_TYPE_LIST:
    case FERRY_TYPE_BUNDLE:
        return IMAGE_TREE_WORDS;
    default:
        return 1;
    }
}

/* --- measuring --- */

typedef struct measure {
    image_cursor at; /* ends up as the lengths of the sections */
    size_t entries, keyed, containers;
    size_t large_values, packed; /* number; bytes of those that are to be packed */
    bool fits;
} measure;

static void measure_tree(measure *m, const tree *t)
{
    size_t position;

    m->containers++;
    m->entries += t->count;
    m->keyed += t->is_list ? 0 : t->count;
    for (size_t i = 0; i < t->count && m->fits; i++) {
        const value *v = &t->values[i];
        const size_t bytes = value_bytes(v);
        m->at.schema += schema_words(v) * IMAGE_WORD;
        if (!t->is_list)
            m->at.keys += image_key_bytes(strlen(t->keys[i]));
        m->fits = image_step(&m->at, v->type, bytes, &position);
        if (bytes >= IMAGE_LARGE) {
            m->large_values++;
            m->packed += v->flags & VALUE_STRIDED ? size_round(bytes, IMAGE_LINE) : 0;
        }
        if (value_is_tree(v))
            measure_tree(m, v->child);
    }
    for (size_t i = 0; t->attributes && i < t->attributes->count && m->fits; i++) {
        m->entries++;
        m->at.schema += IMAGE_TREE_WORDS * IMAGE_WORD;
        measure_tree(m, t->attributes->at[i].tree);
    }
}

/* --- writing --- */

typedef struct writer {
    char *schema, *keys, *small; /* the sections */
    image_cursor at;
    ferry_piece *piece; /* the next one */
    char *packed;       /* room for the next large array that is to be packed */
} writer;

static void write_word(writer *w, uint64_t word)
{
    memcpy(w->schema + w->at.schema, &word, sizeof word);
    w->at.schema += sizeof word;
}

static bool says_utf8(const value *v)
{
    return (v->type == FERRY_TYPE_STRING || v->type == FERRY_TYPE_STRINGS) && value_utf8(v);
}

static void write_record(writer *w, const value *v, size_t key_bytes, bool attributed)
{
    const image_record record = {
        .type = v->type,
        .element = v->element,
        .dims = v->dims,
        .flags = (uint8_t)((says_utf8(v) ? IMAGE_UTF8 : 0) |
                           (v->flags & VALUE_COLUMN ? IMAGE_COLUMN : 0) |
                           (attributed ? IMAGE_ATTRIBUTES : 0)),
        .key_bytes = (uint32_t)key_bytes,
    };

    memcpy(w->schema + w->at.schema, &record, sizeof record);
    w->at.schema += sizeof record;
}

static void write_key(writer *w, const char *key, size_t length)
{
    memcpy(w->keys + w->at.keys, key, length); /* zeros follow */
    w->at.keys += image_key_bytes(length);
}

static void pack(const value *v, char *target)
{
    int64_t own[FERRY_ARRAY_MAX_DIMS], dense[FERRY_ARRAY_MAX_DIMS];
    const array_spec spec = value_spec(v, own);

    array_strides(&spec, v->flags & VALUE_COLUMN, dense);
    array_copy(&spec, target, dense);
}

static void add_piece(writer *w, const void *data, size_t bytes)
{
    if (bytes > 0)
        *w->piece++ = (ferry_piece){data, bytes};
}

static void write_large(writer *w, const value *v, const char *data, size_t bytes, size_t room)
{
    static const char zeros[2 * IMAGE_LINE];

    if (v->flags & VALUE_STRIDED) {
        pack(v, w->packed);
        data = w->packed;
        w->packed += size_round(bytes, IMAGE_LINE);
    }
    add_piece(w, data, bytes);
    add_piece(w, zeros, room - bytes);
}

static void write_data(writer *w, const value *v)
{
    const char *const data = value_data(v);
    const size_t bytes = value_bytes(v), before = w->at.large;
    size_t position = 0;

    image_step(&w->at, v->type, bytes, &position); /* measuring has shown that it fits */
    if (bytes >= IMAGE_LARGE)
        write_large(w, v, data, bytes, w->at.large - before);
    else if (v->flags & VALUE_STRIDED)
        pack(v, w->small + position);
    else
        memcpy(w->small + position, data, bytes);
}

static void write_tree(writer *w, const tree *t);

static void write_value(writer *w, const value *v)
{
    switch (v->type) {
    case FERRY_TYPE_ARRAY:
        for (int k = 0; k < v->dims; k++)
            write_word(w, (uint64_t)v->array.shape[k]);
        write_data(w, v);
        break;
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        write_word(w, v->text.bytes);
        write_data(w, v);
        break;
    case FERRY_TYPE_STRINGS:
        write_word(w, v->strings.count);
        write_word(w, value_bytes(v));
        write_data(w, v);
        break;
    case FERRY_TYPE_LIST:
    case FERRY_TYPE_BUNDLE:
        write_tree(w, v->child);
        break;
    case FERRY_TYPE_NULL:
        break;
    default:
        write_data(w, v);
    }
}

/* The attributes of a value: a record of a bundle behind those of the value. */
static void write_attributes(writer *w, const tree *attributes)
{
    const value top = {.type = FERRY_TYPE_BUNDLE};

    if (!attributes)
        return;
    write_record(w, &top, 0, false);
    write_tree(w, attributes);
}

/* What follows the record of a tree: its count, the bytes inside, the number of its values with
 * attributes, and all that is inside. */
static void write_tree(writer *w, const tree *t)
{
    char *const inside = w->schema + w->at.schema + IMAGE_WORD;

    write_word(w, t->count);
    write_word(w, 0);
    write_word(w, t->attributes ? t->attributes->count : 0);
    const size_t begin = w->at.schema;
    for (size_t i = 0; i < t->count; i++) {
        const size_t length = t->is_list ? 0 : strlen(t->keys[i]);
        const tree *const its = attributes_find(t, i);
        write_record(w, &t->values[i], length, its != NULL);
        if (!t->is_list)
            write_key(w, t->keys[i], length);
        write_value(w, &t->values[i]);
        write_attributes(w, its);
    }
    const uint64_t bytes = w->at.schema - begin;
    memcpy(inside, &bytes, sizeof bytes);
}

/* --- both --- */

static image_header make_header(const measure *m)
{
    image_header header = {
        .magic = IMAGE_MAGIC,
        .version = IMAGE_VERSION,
        .schema = m->at.schema,
        .keys = m->at.keys,
        .values = m->at.small,
        .entries = m->entries,
        .keyed = m->keyed,
        .containers = m->containers,
    };

    header.total = image_large(&header) + m->at.large;
    return header;
}

static void write_image(const tree *root, const measure *m, image_header *header, encoding *e)
{
    char *const head = (char *)(e->pieces + 2 + 2 * m->large_values);
    writer w = {
        .schema = head + sizeof *header,
        .keys = head + sizeof *header + header->schema,
        .small = head + image_small(header),
        .piece = e->pieces,
        .packed = e->packed,
    };
    const value top = {.type = FERRY_TYPE_BUNDLE};

    add_piece(&w, head, image_large(header));
    write_record(&w, &top, 0, false);
    write_tree(&w, root);
    header->hash = hash_bytes(HASH_START, w.schema, header->schema + header->keys);
    header->crc = hash_crc32c(hash_crc32c(0, header, sizeof *header), w.schema,
                              header->schema + header->keys);
    memcpy(head, header, sizeof *header);
    e->count = (size_t)(w.piece - e->pieces);
    e->total = header->total;
}

ferry_status encoding_make(const tree *root, encoding *encoding_out)
{
    measure m = {.at.schema = IMAGE_TREE_WORDS * IMAGE_WORD, .fits = true};
    encoding e = {0};

    measure_tree(&m, root);
    if (!m.fits || m.at.small > IMAGE_MOST || m.at.large > IMAGE_MOST)
        return trouble(FERRY_ERR_LIMIT, "the bundle holds more bytes than 62 bits can count");
    image_header header = make_header(&m);
    ferry_status st = alloc_zero(
        1, (2 + 2 * m.large_values) * sizeof *e.pieces + image_large(&header), &e.pieces);
    if (st == FERRY_OK && m.packed > 0)
        st = ferry_memory_take(m.packed, &e.packed);
    if (st != FERRY_OK) {
        encoding_drop(&e);
        return st;
    }
    write_image(root, &m, &header, &e);
    *encoding_out = e;
    return FERRY_OK;
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
    ferry_memory_give(e->packed);
    alloc_free(e->pieces);
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
