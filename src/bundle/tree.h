/* The value tree: what bundles and lists are made of. A bundle is a tree with keys, a list is one
 * without. Knows nothing of images, messages or the public names.
 *
 * Values are small records in one array per tree. What a value points to is either owned
 * (VALUE_OWNED: freed with the value), the caller's (VALUE_BORROWED), or part of the block that a
 * decoded image lies in, which its root frees. */
#ifndef BUNDLE_TREE_H
#define BUNDLE_TREE_H

#include "ferry/bundle.h"

typedef struct tree tree;

enum value_flag {
    VALUE_UTF8 = 1,    /* string: the bytes are UTF-8 (borrowed strings are looked at when asked) */
    VALUE_COLUMN = 2,  /* array: first index fastest, or to be packed so */
    VALUE_STRIDED = 4, /* array: not dense; the strides in bytes follow the shape */
    VALUE_BORROWED = 8, /* the data are the caller's */
    VALUE_OWNED = 16, /* string, bytes: frees the data; array: frees the shape, and the data unless
                         borrowed */
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
        tree *child; /* list, bundle */
    };
} value;

struct tree {
    value *values; /* also the block that holds keys and slots, unless store_in_arena */
    const char **keys;
    uint32_t *slots; /* hash table of places + 1; see index.h */
    size_t count, room;
    tree *parent;
    void *arena;       /* root of a decoded image: frees it; see arena */
    uint32_t children; /* values that are trees */
    uint8_t slot_bits; /* 2^slot_bits slots; 0: none, few keys are searched one by one */
    bool is_list;
    bool in_arena;       /* this record is part of an arena */
    bool store_in_arena; /* and so are values, keys and slots */
};

/* Start of the memory in which a decoded image keeps its trees, which is of ferry_memory_take(). */
typedef struct arena {
    void *block; /* the image, which values and keys point into */
    size_t bytes;
    void (*give)(void *user, void *block); /* NULL: the block is of ferry_memory_take() */
    void *user;
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

/* The value of a key, or NULL. */
value *tree_find(const tree *t, const char *key);

/* Put a value under a key, or at the end of a list (key NULL). The tree owns it on success only. */
ferry_status tree_put(tree *t, const char *key, const value *v);

/* False when there is no such key. */
bool tree_remove(tree *t, const char *key);

/* Levels from the root to this tree, and from this tree to the deepest one inside; both count this
 * tree. */
int tree_depth(const tree *t);
int tree_height(const tree *t);

static inline bool value_is_tree(const value *v)
{
    return v->type == FERRY_TYPE_LIST || v->type == FERRY_TYPE_BUNDLE;
}

#endif
