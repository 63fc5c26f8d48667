/* The value tree: what bundles and lists are made of. A bundle is a tree with keys, a list is one
 * without. Knows nothing of images, messages or the public names.
 *
 * Values are small records in one array per tree. What a value points to is either owned
 * (VALUE_OWNED: freed with the value), the caller's (VALUE_BORROWED), or part of the block that a
 * decoded image lies in, which its root frees. */
#ifndef BUNDLE_TREE_H
#define BUNDLE_TREE_H

#include <stdatomic.h>

#include "ferry/bundle.h"

typedef struct tree tree;

enum value_flag {
    VALUE_UTF8 =
        1, /* string, strings: all bytes are UTF-8 (borrowed ones are looked at when asked) */
    VALUE_COLUMN = 2,     /* array: first index fastest, or to be packed so */
    VALUE_STRIDED = 4,    /* array: not dense; the strides in bytes follow the shape */
    VALUE_BORROWED = 8,   /* the data are the caller's */
    VALUE_OWNED = 16,     /* string, bytes, strings: frees the data; array: frees the shape, and the
                             data unless borrowed */
    VALUE_KEY_OWNED = 32, /* the key of this place in the tree was allocated */
};

typedef struct text_view {
    const char *data;
    size_t bytes;
} text_view;

typedef struct value {
    uint8_t type, element, dims, flags; /* ferry_type, ferry_type, 1..8 for arrays, value_flag */
    uint32_t hash;                      /* of the key; 0 in lists */
    union {
        unsigned char scalar[16];
        text_view text; /* string, bytes */
        struct {
            const char *data;
            const int64_t *shape;
        } array;
        struct {
            const uint64_t *ends; /* behind the NUL of each; the bytes of all follow the ends */
            size_t count;
        } strings;
        tree *child; /* list, bundle */
    };
} value;

/* The attributes that values of one tree have, sorted by place. */
typedef struct attribute {
    size_t place;
    tree *tree; /* a bundle */
} attribute;

typedef struct attribute_set {
    uint32_t count, room; /* room 0: part of an arena, neither freed nor filled further */
    attribute at[];
} attribute_set;

struct tree {
    value *values; /* also the block that holds keys and slots, unless store_in_arena */
    const char **keys;
    uint32_t *slots; /* hash table of places + 1; see index.h */
    size_t count, room;
    tree *parent;                      /* whose value or attributes this is */
    attribute_set *attributes;         /* NULL: no value has any */
    void *arena;                       /* root of a decoded image: frees it; see arena */
    _Atomic(struct image_head *) head; /* of its last encoding, or NULL; see head.h */
    uint32_t children;                 /* values that are trees, and attributes */
    uint8_t slot_bits; /* 2^slot_bits slots; 0: none, few keys are searched one by one */
    bool is_list;
    bool in_arena;       /* this record is part of an arena */
    bool store_in_arena; /* and so are values, keys and slots */
};

_Static_assert(sizeof(value) == 24 && sizeof(tree) == 80,
               "decoding takes 3 bytes for each byte of schema and keys");

/* Start of the memory in which a decoded image keeps its trees, which is of ferry_memory_take(). */
typedef struct arena {
    void *block; /* the image, which values and keys point into */
    size_t bytes;
    void (*give)(void *user, void *block); /* NULL: the block is of ferry_memory_take() */
    void *user;
    bool read_only; /* the block must not be written to */
} arena;

/* Give the image back to where it came from. */
void arena_give_block(const arena *held);

struct ferry_bundle {
    tree tree;
};
struct ferry_list {
    tree tree;
};

ferry_status tree_make(bool is_list, tree **tree_out);
void tree_drop(tree *t);

/* A key may be used: not NULL, not empty, UTF-8, short enough for an image. */
ferry_status tree_check_key(const char *key);

/* The place of a key, or INDEX_NONE (SIZE_MAX). */
size_t tree_find(const tree *t, const char *key);

/* Put a value under a key, or at the end of a list (key NULL). The tree owns it on success only. */
ferry_status tree_put(tree *t, const char *key, const value *v);

/* The same in steps: room first, then what cannot fail. `key` is one of tree_copy_key(), NULL in
 * lists, and not there yet. */
ferry_status tree_reserve(tree *t, size_t more);
ferry_status tree_copy_key(const char *key, const char **copy_out);
void tree_append(tree *t, const char *key, const value *v);

/* Put another value at a place; the old one goes with its attributes. */
void tree_replace(tree *t, size_t place, const value *v);

void tree_remove(tree *t, size_t place);

/* In a list. */
void tree_move(tree *t, size_t from, size_t to);

/* A deep copy that owns all it holds, value by value. */
ferry_status tree_copy(const tree *t, tree **copy_out);

/* Levels from the root to this tree, and from this tree to the deepest one inside; both count this
 * tree. */
int tree_depth(const tree *t);
int tree_height(const tree *t);

static inline bool value_is_tree(const value *v)
{
    return v->type == FERRY_TYPE_LIST || v->type == FERRY_TYPE_BUNDLE;
}

#endif
