/* Image v1: the bytes of a bundle in messages and files; docs/image.md describes them. This header
 * holds what writing and reading share. Nothing in an image is an offset: schema, keys, small
 * values and large values stand in the order of the tree, so that positions follow from sizes, and
 * writer and reader step through them with the same cursor. */
#ifndef BUNDLE_IMAGE_H
#define BUNDLE_IMAGE_H

#include <stdbool.h>

#include "base/size.h"
#include "bundle/tree.h"
#include "ferry/experimental.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "images are written and read in place: little-endian only");

#define IMAGE_MAGIC                                                                                \
  "\x89"                                                                                           \
  "FERRY\r\n"
enum { IMAGE_VERSION = 1 };

typedef struct image_header {
    char magic[8];
    uint32_t version;
    uint32_t crc;        /* CRC-32C of this header with crc = 0, then schema and keys */
    uint64_t total;      /* bytes of the image */
    uint64_t hash;       /* of schema and keys: equal for trees that differ in values only */
    uint64_t schema;     /* bytes of the schema, which follows the header */
    uint64_t keys;       /* bytes of the keys, which follow the schema */
    uint64_t values;     /* bytes of the small values, from the next multiple of 64 */
    uint64_t entries;    /* values in all bundles and lists, and attributes */
    uint64_t keyed;      /* those of them that have keys */
    uint64_t containers; /* bundles, lists and attributes, the outermost bundle counted */
} image_header;
_Static_assert(sizeof(image_header) == 80, "part of the format");

/* First word of each value in the schema. Shape, length or count follow as words of 64 bits. */
typedef struct image_record {
    uint8_t type, element, dims, flags; /* image_flag */
    uint32_t key_bytes; /* without the NUL; 0 in lists and for the outermost bundle */
} image_record;

enum image_flag {
    IMAGE_UTF8 = 1,
    IMAGE_COLUMN = 2,
    IMAGE_ATTRIBUTES =
        4, /* a record of a bundle, the attributes, follows the value's own records */
};

enum {
    IMAGE_WORD = 8,
    IMAGE_TREE_WORDS = 4, /* record, count, bytes of the schema inside, values with attributes */
    IMAGE_LARGE = 256,    /* values of so many bytes stand among the large ones */
    IMAGE_LINE = 64,      /* alignment of large values and of the sections of values */
    IMAGE_ARRAY = 16,     /* alignment of small arrays and of complex128 */
};

/* Position in each section, from its beginning. */
typedef struct image_cursor {
    size_t schema, keys, small, large;
} image_cursor;

#define IMAGE_MOST ((size_t)1 << 62)

/* Place `bytes` of a value, with the NUL of strings, and step over them. False when sections grow
 * beyond IMAGE_MOST. */
static inline bool image_step(image_cursor *at, ferry_type type, size_t bytes, size_t *position_out)
{
    const bool large = bytes >= IMAGE_LARGE,
               wide = type == FERRY_TYPE_ARRAY || type == FERRY_TYPE_COMPLEX128;
    size_t *const cursor = large ? &at->large : &at->small;
    const size_t unit = large ? IMAGE_LINE : IMAGE_WORD;

    if (bytes > IMAGE_MOST || *cursor > IMAGE_MOST)
        return false;
    *position_out = size_round(*cursor, large ? IMAGE_LINE : wide ? IMAGE_ARRAY : IMAGE_WORD);
    *cursor = size_round(*position_out + bytes + (type == FERRY_TYPE_STRING), unit);
    return true;
}

/* Bytes that a key takes, with its NUL. */
static inline size_t image_key_bytes(size_t length)
{
    return size_round(length + 1, IMAGE_WORD);
}

/* Where the small and the large values begin. */
static inline size_t image_small(const image_header *header)
{
    return size_round(sizeof *header + header->schema + header->keys, IMAGE_LINE);
}
static inline size_t image_large(const image_header *header)
{
    return size_round(image_small(header) + header->values, IMAGE_LINE);
}

/* A tree ready to be sent: the pieces, one after another, are the image. The first ones are the
 * header with the schema, the keys, and the small values; the others point at large values where
 * they lie, borrowed from the tree. */
typedef struct encoding {
    ferry_piece *pieces; /* there is room for one more */
    size_t count;
    size_t total;                  /* bytes of all pieces */
    size_t head_count, head_bytes; /* of the pieces of header, schema and keys, which come first */
    char *schema, *keys, *small;   /* memory of the first pieces */
    void *packed;                  /* large arrays that did not lie dense: a chain of blocks */
} encoding;

/* The hash of schema and keys, which trees that differ in values only have in common. */
uint64_t image_hash(const void *schema, size_t schema_bytes, const void *keys, size_t key_bytes);

ferry_status encoding_make(const tree *root, encoding *encoding_out);
void encoding_drop(encoding *e);

/* Append what makes a message of an image: up to 63 zeros, whose number tells the receiver how much
 * memory the trees will need, so that it can get everything before it accepts the message. Images
 * are multiples of 64 bytes long. */
void encoding_add_tail(encoding *e);
static inline size_t image_message_bytes(size_t message_bytes)
{
    return message_bytes & ~(size_t)(IMAGE_LINE - 1);
}
/* Memory for the trees of a message of that length; 0: not known. */
size_t image_message_room(size_t message_bytes);

/* Memory for the trees of an image. */
size_t image_tree_bytes(const image_header *header);

/* Make a tree of an image in a block of ferry_memory_take(), which the tree owns on success. */
ferry_status image_decode(void *block, size_t bytes, ferry_bundle **bundle_out);

/* An image somewhere, and memory for its trees. */
typedef struct image_store {
    void *block;
    size_t bytes;
    void (*give)(void *user, void *block); /* as in an arena */
    void *user;
    bool read_only;
    void *room; /* of ferry_memory_take(), or NULL: is taken then, and when it is too small */
    size_t room_bytes;
} image_store;

/* The same for that; the tree owns the block on success, and the room when it was used, which is
 * NULL then. */
ferry_status image_decode_store(image_store *store, ferry_bundle **bundle_out);

/* Instead of header, schema and keys of an image whose receivers know them: docs/image.md does not
 * tell of it, since it never leaves a broadcast. */
typedef struct image_short {
    char magic[8];
    uint64_t hash, total; /* of the image */
    uint32_t crc;
    char zeros[IMAGE_LINE - 28];
} image_short;
_Static_assert(sizeof(image_short) == IMAGE_LINE, "what follows stays aligned");

#define IMAGE_SHORT_MAGIC                                                                          \
  "\x89"                                                                                           \
  "FERRY#\n"

#endif
