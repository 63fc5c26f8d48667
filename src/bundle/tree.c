/* Trees: making, finding, putting, removing; see tree.h. Values, keys and slots of a tree are one
 * allocation, which is replaced by one of twice the room when it is full. */
#include "bundle/tree.h"

#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "bundle/attribute.h"
#include "bundle/head.h"
#include "bundle/index.h"
#include "bundle/utf8.h"
#include "bundle/value.h"
#include "ferry/memory.h"

enum { FIRST_ROOM = 4 };

ferry_status tree_make(bool is_list, tree **tree_out)
{
    tree *fresh;
    const ferry_status st = alloc_zero(1, sizeof *fresh, &fresh);

    if (st != FERRY_OK)
        return st;
    fresh->is_list = is_list;
    *tree_out = fresh;
    return FERRY_OK;
}

static void drop_key(const tree *t, size_t place)
{
    if (t->values[place].flags & VALUE_KEY_OWNED)
        alloc_free((void *)t->keys[place]);
}

void arena_give_block(const arena *held)
{
    if (held->give)
        held->give(held->user, held->block);
    else
        ferry_memory_give(held->block);
}

void tree_drop(tree *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++) {
        drop_key(t, i);
        value_drop(&t->values[i]);
    }
    attributes_drop(t);
    head_drop(atomic_load_explicit(&t->head, memory_order_relaxed));
    if (!t->store_in_arena)
        alloc_free(t->values);
    if (t->arena) { /* it holds *t too */
        arena *const held = t->arena;
        arena_give_block(held);
        ferry_memory_give(held);
    } else if (!t->in_arena) {
        alloc_free(t);
    }
}

ferry_status tree_check_key(const char *key)
{
    if (!key)
        return trouble(FERRY_ERR_ARG, "key is NULL, expected UTF-8 text");
    if (!*key)
        return trouble(FERRY_ERR_ARG, "key is empty, expected UTF-8 text of at least one byte");
    const size_t length = strlen(key);
    if (length >= UINT32_MAX)
        return trouble(FERRY_ERR_ARG, "key has %zu bytes, expected less than 4 GiB", length);
    if (!utf8_valid(key, length))
        return trouble(FERRY_ERR_ARG, "key \"%.60s\" is not valid UTF-8", key);
    return FERRY_OK;
}

size_t tree_find(const tree *t, const char *key)
{
    return index_find(t, key, index_hash(key, strlen(key)), NULL);
}

/* Point a tree at a block with room for `room` values, keys and slots. */
static void lay_out(tree *t, void *block, size_t room)
{
    t->values = block;
    t->room = room;
    if (t->is_list)
        return;
    t->slot_bits = (uint8_t)index_bits(room);
    t->keys = (const char **)(t->values + room);
    t->slots = (uint32_t *)(t->keys + room);
}

static bool store_bytes(const tree *t, size_t room, size_t *bytes_out)
{
    const size_t each =
        t->is_list ? sizeof(value) : sizeof(value) + sizeof(char *) + 3 * sizeof(uint32_t);

    return (t->is_list || room <= INDEX_MOST) && size_mul(room, each, bytes_out);
}

ferry_status tree_reserve(tree *t, size_t more)
{
    const tree old = *t;
    const size_t room = size_max(FIRST_ROOM, size_max(2 * old.count, old.count + more));
    size_t bytes;
    void *block = NULL;

    if (more <= t->room - t->count)
        return FERRY_OK;
    if (!store_bytes(t, room, &bytes))
        return trouble(FERRY_ERR_LIMIT, "%zu values are too many for one bundle or list", room);
    const ferry_status st = alloc_resize(bytes, 1, &block);
    if (st != FERRY_OK)
        return st;
    lay_out(t, block, room);
    if (old.count > 0) {
        memcpy(t->values, old.values, old.count * sizeof *t->values);
        if (!t->is_list)
            memcpy(t->keys, old.keys, old.count * sizeof *t->keys);
    }
    if (!t->is_list)
        index_fill(t);
    if (!old.store_in_arena)
        alloc_free(old.values);
    t->store_in_arena = false;
    return FERRY_OK;
}

/* Count a child in (+1) or out (-1), and tell it where it belongs. */
static void link_child(tree *t, const value *v)
{
    if (!value_is_tree(v))
        return;
    v->child->parent = t;
    t->children++;
}

static void unlink_value(tree *t, value *v)
{
    if (value_is_tree(v))
        t->children--;
    value_drop(v);
}

void tree_replace(tree *t, size_t place, const value *v)
{
    value *const at = &t->values[place];
    const uint8_t kept = at->flags & VALUE_KEY_OWNED;
    const uint32_t hash = at->hash;

    if (!value_alike(at, v))
        head_forget(t);
    attributes_remove(t, place);
    unlink_value(t, at);
    *at = *v;
    at->flags |= kept;
    at->hash = hash;
    link_child(t, at);
}

ferry_status tree_copy_key(const char *key, const char **copy_out)
{
    const size_t length = strlen(key);
    char *copy = NULL;
    const ferry_status st = alloc_resize(length + 1, 1, &copy);

    if (st != FERRY_OK)
        return st;
    memcpy(copy, key, length + 1);
    *copy_out = copy;
    return FERRY_OK;
}

void tree_append(tree *t, const char *key, const value *v)
{
    const size_t place = t->count++;

    head_forget(t);
    t->values[place] = *v;
    t->values[place].hash = 0;
    link_child(t, v);
    if (!key)
        return;
    t->values[place].flags |= VALUE_KEY_OWNED;
    t->values[place].hash = index_hash(key, strlen(key));
    t->keys[place] = key;
    index_add(t, place);
}

ferry_status tree_put(tree *t, const char *key, const value *v)
{
    const size_t place = key ? tree_find(t, key) : INDEX_NONE;
    const char *copy = NULL;

    if (place != INDEX_NONE) {
        tree_replace(t, place, v);
        return FERRY_OK;
    }
    ferry_status st = tree_reserve(t, 1);
    if (st == FERRY_OK && key)
        st = tree_copy_key(key, &copy);
    if (st != FERRY_OK)
        return st;
    tree_append(t, copy, v);
    return FERRY_OK;
}

void tree_remove(tree *t, size_t place)
{
    head_forget(t);
    attributes_remove(t, place);
    attributes_shift(t, place, t->count, -1);
    if (!t->is_list)
        drop_key(t, place);
    unlink_value(t, &t->values[place]);
    const size_t behind = --t->count - place;
    memmove(&t->values[place], &t->values[place + 1], behind * sizeof *t->values);
    if (t->is_list)
        return;
    memmove(&t->keys[place], &t->keys[place + 1], behind * sizeof *t->keys);
    index_fill(t);
}

void tree_move(tree *t, size_t from, size_t to)
{
    value *const at = t->values;
    const value moved = at[from];
    tree *const its_attributes = attributes_take(t, from);

    head_forget(t);
    if (from < to) {
        memmove(&at[from], &at[from + 1], (to - from) * sizeof *at);
        attributes_shift(t, from, to + 1, -1);
    } else {
        memmove(&at[to + 1], &at[to], (from - to) * sizeof *at);
        attributes_shift(t, to, from, 1);
    }
    at[to] = moved;
    if (its_attributes)
        attributes_give(t, to, its_attributes);
}

/* Room for all first, so that only the copies themselves can fail. */
static ferry_status copy_values(const tree *t, tree *copy)
{
    ferry_status st = tree_reserve(copy, t->count);

    for (size_t i = 0; i < t->count && st == FERRY_OK; i++) {
        const char *key = NULL;
        value v;
        st = value_copy(&t->values[i], &v);
        if (st == FERRY_OK && !t->is_list && (st = tree_copy_key(t->keys[i], &key)) != FERRY_OK)
            value_drop(&v);
        if (st == FERRY_OK)
            tree_append(copy, key, &v);
    }
    return st;
}

ferry_status tree_copy(const tree *t, tree **copy_out)
{
    tree *copy;
    ferry_status st = tree_make(t->is_list, &copy);

    if (st != FERRY_OK)
        return st;
    st = copy_values(t, copy);
    if (st == FERRY_OK)
        st = attributes_copy(t, copy);
    if (st != FERRY_OK) {
        tree_drop(copy);
        return st;
    }
    *copy_out = copy;
    return FERRY_OK;
}

int tree_depth(const tree *t)
{
    int depth = 0;

    for (; t; t = t->parent)
        depth++;
    return depth;
}

int tree_height(const tree *t)
{
    int below = 0;

    if (t->children == 0)
        return 1;
    for (size_t i = 0; i < t->count; i++)
        if (value_is_tree(&t->values[i])) {
            const int height = tree_height(t->values[i].child);
            below = height > below ? height : below;
        }
    for (size_t i = 0; t->attributes && i < t->attributes->count; i++) {
        const int height = tree_height(t->attributes->at[i].tree);
        below = height > below ? height : below;
    }
    return below + 1;
}
