/* From an image to a tree. The bytes are trusted in nothing: the header bounds what is allocated,
 * every record is checked before it is used, and the sections must end exactly where the records
 * say. Values stay in the block. */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/trouble.h"
#include "bundle/array.h"
#include "bundle/attribute.h"
#include "bundle/image.h"
#include "bundle/index.h"
#include "bundle/pattern.h"
#include "bundle/utf8.h"
#include "bundle/value.h"
#include "ferry/memory.h"

typedef struct reader {
    image_header header;
    char *image; /* the block */
    char *schema, *keys, *small, *large;
    size_t large_bytes; /* length of the section */
    image_cursor at;
    value *values; /* parts of the arena that are still free */
    const char **names;
    uint32_t *slots;
    tree *trees;
    size_t values_left, names_left, trees_left;
    bool learns; /* for a pattern: keep where scalars lie instead of them */
} reader;

static ferry_status damaged(const reader *r, const char *section, const char *what)
{
    const size_t offset = (size_t)(section - r->image);

    return trouble(FERRY_ERR_FORMAT, "image, byte %zu: %s", offset, what);
}

#define SCHEMA_AT(r) ((r)->schema + (r)->at.schema)

/* --- the header --- */

static const char *wrong_start(const image_header *h, size_t bytes)
{
    if (memcmp(h->magic, IMAGE_MAGIC, sizeof h->magic) != 0)
        return "no magic number at byte 0";
    if (h->version != IMAGE_VERSION)
        return "unknown version at byte 8";
    if (h->total != bytes)
        return "another total length at byte 16";
    return NULL;
}

/* Sections within the image, and numbers of things that its records can hold: bounds all that
 * decoding allocates. */
static const char *wrong_sizes(const image_header *h)
{
    const size_t tree_bytes = IMAGE_TREE_WORDS * IMAGE_WORD;

    if (h->schema > h->total || h->schema % IMAGE_WORD != 0)
        return "wrong length of the schema at byte 32";
    if (h->keys > h->total || h->keys % IMAGE_WORD != 0)
        return "wrong length of the keys at byte 40";
    if (h->values > h->total || h->values % IMAGE_WORD != 0)
        return "wrong length of the small values at byte 48";
    if (h->total > IMAGE_MOST || image_large(h) > h->total)
        return "sections longer than the image at byte 32";
    if (h->containers < 1 || h->containers > h->schema / tree_bytes)
        return "more bundles and lists than the schema can hold at byte 72";
    if (h->entries > (h->schema - h->containers * tree_bytes) / IMAGE_WORD + h->containers - 1)
        return "more values than the schema can hold at byte 56";
    if (h->keyed > h->entries || h->keyed > h->keys / IMAGE_WORD)
        return "more keys than there are at byte 64";
    return NULL;
}

static const char *wrong_sums(const image_header *h, const char *image)
{
    image_header blank = *h;
    const char *const schema = image + sizeof *h;
    const size_t bytes = h->schema + h->keys;

    blank.crc = 0;
    if (hash_crc32c(hash_crc32c(0, &blank, sizeof blank), schema, bytes) != h->crc)
        return "the checksum at byte 12 does not match";
    return NULL;
}

static ferry_status read_header(reader *r, char *image, size_t bytes)
{
    if (bytes < sizeof r->header)
        return trouble(FERRY_ERR_FORMAT, "image: %zu bytes are less than a header of %zu", bytes,
                       sizeof r->header);
    *r = (reader){.image = image};
    memcpy(&r->header, image, sizeof r->header);
    const char *wrong = wrong_start(&r->header, bytes);
    if (!wrong)
        wrong = wrong_sizes(&r->header);
    if (!wrong)
        wrong = wrong_sums(&r->header, image);
    if (wrong)
        return trouble(FERRY_ERR_FORMAT, "image: %s", wrong);
    r->schema = image + sizeof r->header;
    r->keys = r->schema + r->header.schema;
    r->small = image + image_small(&r->header);
    r->large = image + image_large(&r->header);
    r->large_bytes = bytes - image_large(&r->header);
    return FERRY_OK;
}

/* --- records --- */

static ferry_status read_word(reader *r, uint64_t *word_out)
{
    if (r->header.schema - r->at.schema < sizeof *word_out)
        return damaged(r, SCHEMA_AT(r), "the schema ends too early");
    memcpy(word_out, SCHEMA_AT(r), sizeof *word_out);
    r->at.schema += sizeof *word_out;
    return FERRY_OK;
}

/* Fields that a type does not use are 0. */
static bool sound_record(const image_record *record)
{
    const bool is_array = record->type == FERRY_TYPE_ARRAY;
    const bool is_text = record->type == FERRY_TYPE_STRING || record->type == FERRY_TYPE_STRINGS;
    const unsigned flags = (unsigned)IMAGE_ATTRIBUTES | (is_text    ? IMAGE_UTF8
                                                         : is_array ? IMAGE_COLUMN
                                                                    : 0);

    if (record->type > FERRY_TYPE_STRINGS || (record->flags & ~flags) != 0)
        return false;
    if (!is_array)
        return record->element == 0 && record->dims == 0;
    return ferry_type_bytes(record->element) > 0 && record->dims >= 1 &&
           record->dims <= FERRY_ARRAY_MAX_DIMS;
}

static ferry_status read_record(reader *r, image_record *record_out)
{
    char *const at = SCHEMA_AT(r);
    uint64_t word = 0;
    const ferry_status st = read_word(r, &word);

    if (st != FERRY_OK)
        return st;
    memcpy(record_out, &word, sizeof word);
    return sound_record(record_out) ? FERRY_OK
                                    : damaged(r, at, "no type of value with such fields");
}

/* A key of `length` bytes, which zeros follow up to a multiple of 8. Most keys are ASCII, so words
 * are looked at first. */
static bool sound_key(const uint64_t *words, size_t length)
{
    const uint64_t ones = 0x0101010101010101u, tops = ones << 7;
    const size_t last = length / IMAGE_WORD, bits = 8 * (length % IMAGE_WORD);
    const uint64_t filled = words[last] | ones << bits; /* what is a zero in the key shows */
    uint64_t zero = (filled - ones) & ~filled & tops, high = words[last];

    for (size_t i = 0; i < last; i++) {
        zero |= (words[i] - ones) & ~words[i] & tops;
        high |= words[i];
    }
    if (zero != 0 || words[last] >> bits != 0)
        return false;
    return (high & tops) == 0 || utf8_valid((const char *)words, length);
}

static ferry_status read_key(reader *r, const image_record *record, value *v, const char **key_out)
{
    char *const key = r->keys + r->at.keys;
    const size_t length = record->key_bytes, bytes = image_key_bytes(length);

    if (length == 0 || bytes > r->header.keys - r->at.keys)
        return damaged(r, key, length ? "a key is longer than the keys" : "an empty key");
    if (!sound_key((const uint64_t *)key, length))
        return damaged(r, key, "a key is no UTF-8 text that ends in NUL");
    r->at.keys += bytes;
    v->hash = index_hash_words((const uint64_t *)key, bytes / IMAGE_WORD);
    *key_out = key;
    return FERRY_OK;
}

/* --- values --- */

/* Step over the data of a value and find them. */
static ferry_status read_data(reader *r, ferry_type type, size_t bytes, char **data_out)
{
    size_t position = 0;

    if (!image_step(&r->at, type, bytes, &position) || r->at.small > r->header.values ||
        r->at.large > r->large_bytes)
        return damaged(r, SCHEMA_AT(r), "the value before is longer than the image");
    *data_out = (bytes >= IMAGE_LARGE ? r->large : r->small) + position;
    return FERRY_OK;
}

static ferry_status read_text(reader *r, value *v)
{
    const bool is_string = v->type == FERRY_TYPE_STRING;
    uint64_t bytes = 0;
    char *data;
    ferry_status st = read_word(r, &bytes);

    if (st == FERRY_OK)
        st = read_data(r, v->type, bytes, &data);
    if (st != FERRY_OK)
        return st;
    if (is_string && data[bytes] != '\0')
        return damaged(r, data + bytes, "no NUL behind a string");
    if (v->flags & VALUE_UTF8 && !utf8_valid(data, bytes))
        return damaged(r, data, "a string is flagged as UTF-8 but is not");
    v->text = (text_view){data, bytes};
    return FERRY_OK;
}

/* Each end is behind a NUL, and behind the end before; the last one is where the data end. */
static ferry_status check_ends(const reader *r, const value *v, size_t bytes)
{
    const uint64_t *const ends = v->strings.ends;
    const size_t text = bytes - v->strings.count * sizeof *ends;
    uint64_t before = 0;

    for (size_t i = 0; i < v->strings.count; i++) {
        if (ends[i] <= before || ends[i] > text || strings_text(v)[ends[i] - 1] != '\0')
            return damaged(r, (const char *)&ends[i], "no string of an array ends there");
        if (v->flags & VALUE_UTF8 && !utf8_valid(strings_text(v) + before, ends[i] - before - 1))
            return damaged(r, strings_text(v) + before, "a string is flagged as UTF-8 but is not");
        before = ends[i];
    }
    return before == text ? FERRY_OK
                          : damaged(r, (const char *)ends, "strings are shorter than their array");
}

static ferry_status read_strings(reader *r, value *v)
{
    const char *const at = SCHEMA_AT(r);
    uint64_t count = 0, bytes = 0;
    char *data;
    ferry_status st = read_word(r, &count);

    if (st == FERRY_OK)
        st = read_word(r, &bytes);
    if (st == FERRY_OK && count > bytes / sizeof(uint64_t))
        return damaged(r, at, "more strings than their bytes can hold");
    if (st == FERRY_OK)
        st = read_data(r, v->type, bytes, &data);
    if (st != FERRY_OK)
        return st;
    if (r->learns)
        return FERRY_ERR_TYPE; /* a pattern would have to look at every end again */
    v->strings.ends = (const uint64_t *)data;
    v->strings.count = count;
    return check_ends(r, v, bytes);
}

static ferry_status read_array(reader *r, value *v)
{
    const size_t words = v->dims * sizeof(int64_t);
    char *const shape = SCHEMA_AT(r);
    size_t bytes;
    char *data;

    if (r->header.schema - r->at.schema < words)
        return damaged(r, shape, "the schema ends within a shape");
    if (!array_bytes(v->element, v->dims, (const int64_t *)shape, &bytes))
        return damaged(r, shape, "a shape is negative or overflows");
    r->at.schema += words;
    const ferry_status st = read_data(r, FERRY_TYPE_ARRAY, bytes, &data);
    if (st != FERRY_OK)
        return st;
    v->array.shape = (const int64_t *)shape;
    v->array.data = data;
    return FERRY_OK;
}

static ferry_status read_scalar(reader *r, value *v)
{
    const size_t bytes = ferry_type_bytes(v->type);
    char *data;
    const ferry_status st = read_data(r, v->type, bytes, &data);

    if (st != FERRY_OK)
        return st;
    if (v->type == FERRY_TYPE_BOOL && (unsigned char)*data > 1)
        return damaged(r, data, "a bool is neither 0 nor 1");
    const uint64_t at = (uint64_t)(data - r->image);
    memcpy(v->scalar, r->learns ? (const void *)&at : data, r->learns ? sizeof at : bytes);
    return FERRY_OK;
}

/* --- trees --- */

static ferry_status read_tree(reader *r, tree *t, int depth);

/* One of the trees of the arena. */
static ferry_status take_tree(reader *r, tree *parent, bool is_list, tree **tree_out)
{
    if (r->trees_left == 0)
        return damaged(r, SCHEMA_AT(r), "more bundles and lists than the header says");
    r->trees_left--;
    *r->trees =
        (tree){.parent = parent, .is_list = is_list, .in_arena = true, .store_in_arena = true};
    parent->children++;
    *tree_out = r->trees++;
    return FERRY_OK;
}

static ferry_status read_child(reader *r, tree *parent, value *v, int depth)
{
    const ferry_status st = take_tree(r, parent, v->type == FERRY_TYPE_LIST, &v->child);

    return st == FERRY_OK ? read_tree(r, v->child, depth + 1) : st;
}

static ferry_status read_content(reader *r, tree *t, value *v, int depth)
{
    switch (v->type) {
    case FERRY_TYPE_ARRAY:
        return read_array(r, v);
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        return read_text(r, v);
    case FERRY_TYPE_STRINGS:
        return read_strings(r, v);
    case FERRY_TYPE_LIST:
    case FERRY_TYPE_BUNDLE:
        return read_child(r, t, v, depth);
    case FERRY_TYPE_NULL:
        return FERRY_OK;
    default:
        return read_scalar(r, v);
    }
}

/* The record of a bundle that holds the attributes of the value before. */
static ferry_status read_attributes(reader *r, tree *t, size_t place, int depth)
{
    const char *const at = SCHEMA_AT(r);
    attribute_set *const set = t->attributes;
    image_record record;
    tree *its = NULL;
    ferry_status st = read_record(r, &record);

    if (st != FERRY_OK)
        return st;
    if (record.type != FERRY_TYPE_BUNDLE || record.key_bytes != 0 || record.flags != 0)
        return damaged(r, at, "attributes are no plain bundle");
    if (!set || set->count == set->room)
        return damaged(r, at, "more values with attributes than the bundle or list says");
    st = take_tree(r, t, false, &its);
    if (st != FERRY_OK)
        return st;
    set->at[set->count++] = (attribute){place, its};
    return read_tree(r, its, depth + 1);
}

static ferry_status read_entry(reader *r, tree *t, size_t place, int depth)
{
    value *const v = &t->values[place];
    image_record record;
    ferry_status st = read_record(r, &record);

    if (st != FERRY_OK)
        return st;
    if (t->is_list && record.key_bytes != 0)
        return damaged(r, SCHEMA_AT(r) - IMAGE_WORD, "a key in a list");
    *v = (value){
        .type = record.type,
        .element = record.element,
        .dims = record.dims,
        .flags = (uint8_t)((record.flags & IMAGE_UTF8 ? VALUE_UTF8 : 0) |
                           (record.flags & IMAGE_COLUMN ? VALUE_COLUMN : 0)),
    };
    if (!t->is_list)
        st = read_key(r, &record, v, &t->keys[place]);
    if (st == FERRY_OK)
        st = read_content(r, t, v, depth);
    if (st == FERRY_OK && record.flags & IMAGE_ATTRIBUTES)
        st = read_attributes(r, t, place, depth);
    return st;
}

/* The room of one value holds the set of one attribute, and one more for each further one. */
_Static_assert(sizeof(attribute_set) + sizeof(attribute) <= sizeof(value), "see take_store()");

/* Give a tree its part of the arena. */
static ferry_status take_store(reader *r, tree *t, uint64_t count, uint64_t attributed)
{
    const uint64_t most = t->is_list ? UINT64_MAX : size_min(r->names_left, INDEX_MOST);

    if (count > r->values_left || count > most)
        return damaged(r, SCHEMA_AT(r), "more values or keys than the header says");
    if (attributed > size_min(count, r->values_left - count) || attributed > UINT32_MAX)
        return damaged(r, SCHEMA_AT(r), "more attributes than there are values");
    if (attributed > 0) {
        t->attributes = (attribute_set *)(r->values + count);
        *t->attributes = (attribute_set){.room = (uint32_t)attributed};
    }
    t->room = count;
    t->values = r->values;
    r->values += count + attributed;
    r->values_left -= count + attributed;
    if (t->is_list)
        return FERRY_OK;
    t->keys = r->names;
    r->names += count;
    r->names_left -= count;
    t->slot_bits = (uint8_t)index_bits(count);
    t->slots = r->slots;
    r->slots += index_slots(t->slot_bits);
    return FERRY_OK;
}

/* What a tree says of its length and of its attributes is so. */
static bool sound_tree(const tree *t, uint64_t said, size_t inside)
{
    return said == inside && (!t->attributes || t->attributes->count == t->attributes->room);
}

/* What follows the record of a tree. */
static ferry_status read_tree(reader *r, tree *t, int depth)
{
    uint64_t count = 0, inside = 0, attributed = 0;
    ferry_status st =
        depth <= FERRY_BUNDLE_MAX_DEPTH ? FERRY_OK : damaged(r, SCHEMA_AT(r), "nested too deep");

    if (st == FERRY_OK)
        st = read_word(r, &count);
    if (st == FERRY_OK)
        st = read_word(r, &inside);
    if (st == FERRY_OK)
        st = read_word(r, &attributed);
    if (st == FERRY_OK)
        st = take_store(r, t, count, attributed);
    if (st != FERRY_OK)
        return st;
    const size_t begin = r->at.schema;
    for (; t->count < count && st == FERRY_OK; t->count++)
        st = read_entry(r, t, t->count, depth);
    if (st != FERRY_OK)
        return st;
    if (!sound_tree(t, inside, r->at.schema - begin))
        return damaged(r, r->schema + begin - 2 * IMAGE_WORD, "wrong length of a bundle or list");
    if (t->attributes)
        t->attributes->room = 0; /* part of the arena */
    if (!t->is_list && count > 0 && index_fill(t) != INDEX_NONE)
        return damaged(r, SCHEMA_AT(r), "two equal keys in the bundle before");
    return FERRY_OK;
}

static ferry_status read_root(reader *r, tree *root)
{
    image_record record;
    ferry_status st = read_record(r, &record);

    if (st != FERRY_OK)
        return st;
    if (record.type != FERRY_TYPE_BUNDLE || record.key_bytes != 0 || record.flags != 0)
        return damaged(r, r->schema, "the outermost value is no bundle");
    st = read_tree(r, root, 1);
    if (st != FERRY_OK)
        return st;
    if (r->at.schema != r->header.schema || r->at.keys != r->header.keys)
        return damaged(r, SCHEMA_AT(r), "schema or keys go on behind the last value");
    if (r->at.small != r->header.values || r->at.large != r->large_bytes)
        return damaged(r, r->small + r->at.small, "the values go on behind the last one");
    if (r->values_left > 0 || r->names_left > 0 || r->trees_left > 0)
        return damaged(r, r->image, "fewer values, keys or bundles than the header says");
    return FERRY_OK;
}

/* Everything that the trees need, in one allocation: at most 3 bytes for each byte of schema and
 * keys (wrong_sizes()). */
size_t image_tree_bytes(const image_header *h)
{
    return sizeof(arena) + h->containers * sizeof(tree) + h->entries * sizeof(value) +
           h->keyed * (sizeof(char *) + 3 * sizeof(uint32_t));
}

/* Lay the trees out in `room`. */
static tree *make_arena(reader *r, void *room)
{
    const image_header *const h = &r->header;

    r->trees = (tree *)((arena *)room + 1);
    r->values = (value *)(r->trees + h->containers);
    r->names = (const char **)(r->values + h->entries);
    r->slots = (uint32_t *)(r->names + h->keyed);
    r->values_left = h->entries;
    r->names_left = h->keyed;
    r->trees_left = h->containers - 1;
    tree *const root = r->trees++;
    *root = (tree){.arena = room, .in_arena = true, .store_in_arena = true};
    return root;
}

bool image_learn(const image_store *store, void *room)
{
    reader r;

    if (read_header(&r, store->block, store->bytes) != FERRY_OK)
        return false;
    r.learns = true;
    return read_root(&r, make_arena(&r, room)) == FERRY_OK;
}

static ferry_status read_image(image_store *store, ferry_bundle **bundle_out)
{
    reader r;
    void *room = store->room;
    ferry_status st = read_header(&r, store->block, store->bytes);

    if (st == FERRY_OK && (!room || store->room_bytes < image_tree_bytes(&r.header)))
        st = ferry_memory_take(image_tree_bytes(&r.header), &room);
    if (st != FERRY_OK)
        return st;
    tree *const root = make_arena(&r, room);
    st = read_root(&r, root);
    if (st != FERRY_OK) {
        if (room != store->room)
            ferry_memory_give(room);
        return st;
    }
    *(arena *)room =
        (arena){store->block, store->bytes, store->give, store->user, store->read_only};
    if (room == store->room)
        store->room = NULL;
    *bundle_out = (ferry_bundle *)root;
    return FERRY_OK;
}

ferry_status image_decode_store(image_store *store, ferry_bundle **bundle_out)
{
    if (pattern_apply(store, bundle_out))
        return FERRY_OK;
    const ferry_status st = read_image(store, bundle_out);
    if (st == FERRY_OK)
        pattern_offer(store);
    return st;
}

ferry_status image_decode(void *block, size_t bytes, ferry_bundle **bundle_out)
{
    image_store store = {.block = block, .bytes = bytes};

    return image_decode_store(&store, bundle_out);
}

ferry_status ferry_bundle_decode(const void *image, size_t bytes, ferry_bundle **bundle_out)
{
    void *block;

    if (!image || !bundle_out)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_decode: %s is NULL",
                       image ? "bundle_out" : "image");
    ferry_status st = ferry_memory_take(bytes, &block);
    if (st != FERRY_OK)
        return st;
    memcpy(block, image, bytes);
    st = image_decode(block, bytes, bundle_out);
    if (st != FERRY_OK)
        ferry_memory_give(block);
    return st;
}
