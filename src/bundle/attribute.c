/* Attributes; see attribute.h. Few values have any, so a sorted array per tree does, which is
 * searched by halves. */
#include "bundle/attribute.h"

#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "bundle/head.h"

size_t attributes_seek(const attribute_set *set, size_t place)
{
    size_t low = 0, high = set ? set->count : 0;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (set->at[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Its number in the set, or the count. */
static size_t number_of(const tree *t, size_t place)
{
    const attribute_set *const set = t->attributes;
    const size_t at = attributes_seek(set, place);

    if (!set || at == set->count)
        return at;
    return set->at[at].place == place ? at : set->count;
}

tree *attributes_find(const tree *t, size_t place)
{
    if (!t->attributes)
        return NULL;
    const size_t at = number_of(t, place);
    return at < t->attributes->count ? t->attributes->at[at].tree : NULL;
}

ferry_status attributes_reserve(tree *t, size_t more)
{
    const attribute_set *const old = t->attributes;
    const size_t count = old ? old->count : 0, room = size_max(2 * count, count + more);
    attribute_set *fresh = NULL;

    if (more == 0 || (old && old->room >= count + more))
        return FERRY_OK;
    if (room > UINT32_MAX)
        return trouble(FERRY_ERR_LIMIT, "%zu values with attributes are too many", room);
    const ferry_status st = alloc_resize(sizeof *fresh + room * sizeof fresh->at[0], 1, &fresh);
    if (st != FERRY_OK)
        return st;
    fresh->count = (uint32_t)count;
    fresh->room = (uint32_t)room;
    if (old)
        memcpy(fresh->at, old->at, count * sizeof old->at[0]);
    if (old && old->room > 0)
        alloc_free(t->attributes);
    t->attributes = fresh;
    return FERRY_OK;
}

void attributes_give(tree *t, size_t place, tree *given)
{
    attribute_set *const set = t->attributes;
    const size_t at = attributes_seek(set, place);

    head_forget(t);
    memmove(&set->at[at + 1], &set->at[at], (set->count - at) * sizeof set->at[0]);
    set->at[at] = (attribute){place, given};
    set->count++;
    given->parent = t;
    t->children++;
}

tree *attributes_take(tree *t, size_t place)
{
    attribute_set *const set = t->attributes;
    const size_t at = number_of(t, place);

    if (!set || at == set->count)
        return NULL;
    head_forget(t);
    tree *const taken = set->at[at].tree;
    set->count--;
    memmove(&set->at[at], &set->at[at + 1], (set->count - at) * sizeof set->at[0]);
    taken->parent = NULL;
    t->children--;
    return taken;
}

ferry_status attributes_edit(tree *t, size_t place, tree **attributes_out)
{
    tree *found = attributes_find(t, place);

    if (!found) {
        const int depth = tree_depth(t) + 1;
        if (depth > FERRY_BUNDLE_MAX_DEPTH)
            return trouble(FERRY_ERR_LIMIT,
                           "attributes would be nested %d deep, expected at most %d", depth,
                           (int)FERRY_BUNDLE_MAX_DEPTH);
        ferry_status st = attributes_reserve(t, 1);
        if (st == FERRY_OK)
            st = tree_make(false, &found);
        if (st != FERRY_OK)
            return st;
        attributes_give(t, place, found);
    }
    *attributes_out = found;
    return FERRY_OK;
}

bool attributes_remove(tree *t, size_t place)
{
    if (!t->attributes)
        return false;
    tree *const taken = attributes_take(t, place);
    tree_drop(taken);
    return taken != NULL;
}

void attributes_shift(tree *t, size_t first, size_t end, int by)
{
    attribute_set *const set = t->attributes;

    for (size_t i = attributes_seek(set, first); set && i < set->count && set->at[i].place < end;
         i++)
        set->at[i].place += (size_t)by;
}

ferry_status attributes_copy(const tree *t, tree *copy)
{
    const attribute_set *const set = t->attributes;
    ferry_status st = set ? attributes_reserve(copy, set->count) : FERRY_OK;

    for (size_t i = 0; set && i < set->count && st == FERRY_OK; i++) {
        tree *its;
        st = tree_copy(set->at[i].tree, &its);
        if (st == FERRY_OK)
            attributes_give(copy, set->at[i].place, its);
    }
    return st;
}

void attributes_drop(tree *t)
{
    attribute_set *const set = t->attributes;

    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++)
        tree_drop(set->at[i].tree);
    if (set->room > 0)
        alloc_free(set);
    t->attributes = NULL;
}
