/* Merging, all or nothing: the first walk copies all that will change hands and makes room for it,
 * which may fail; what it has noted is then put in place by steps that cannot. */
#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "bundle/attribute.h"
#include "bundle/step.h"
#include "bundle/value.h"

/* One change. */
typedef struct change {
    tree *target;
    const char *key; /* new; NULL: at `place` */
    size_t place;
    bool keeps;       /* the value stays, attributes are added to it */
    value v;          /* to put there, a copy */
    tree *attributes; /* to give to it, a copy, or NULL */
} change;

typedef struct merger {
    ferry_merge how;
    change *changes;
    size_t count, room;
} merger;

static ferry_status refuse(const way *to, ferry_status status, const char *what)
{
    char path[200];
    text_out out = {path, sizeof path, 0};

    way_add(&out, to);
    return trouble(status, "ferry_bundle_merge: %s: %s", path, what);
}

static ferry_status take_room(merger *m)
{
    if (m->count < m->room)
        return FERRY_OK;
    const size_t room = size_max(16, 2 * m->room);
    const ferry_status st = alloc_resize(room, sizeof *m->changes, &m->changes);
    if (st == FERRY_OK)
        m->room = room;
    return st;
}

static void drop_change(change *c)
{
    alloc_free((void *)c->key);
    value_drop(&c->v);
    tree_drop(c->attributes);
}

static int height_of(const tree *t)
{
    return t ? tree_height(t) : 0;
}

/* What is at the end of `to` in the source may be put as deep as it would get. */
static ferry_status check_depth(const tree *target, const way *to)
{
    const value *const v = &to->tree->values[to->number];
    const int value_height = height_of(value_is_tree(v) ? v->child : NULL),
              its_height = height_of(attributes_find(to->tree, to->number)),
              height = value_height > its_height ? value_height : its_height;

    if (height > 0 && tree_depth(target) + height > FERRY_BUNDLE_MAX_DEPTH)
        return refuse(to, FERRY_ERR_LIMIT, "would be nested deeper than 128, the most allowed");
    return FERRY_OK;
}

/* Note that the value at the end of `to` in the source goes to the target with its attributes; to
 * `place`, or under a new key when that is SIZE_MAX. */
static ferry_status note_value(merger *m, tree *target, const way *to, size_t place)
{
    const tree *const its = attributes_find(to->tree, to->number);
    change c = {.target = target, .place = place};
    ferry_status st = check_depth(target, to);

    if (st == FERRY_OK)
        st = take_room(m);
    if (st == FERRY_OK)
        st = value_copy(&to->tree->values[to->number], &c.v);
    if (st == FERRY_OK && place == SIZE_MAX)
        st = tree_copy_key(to->tree->keys[to->number], &c.key);
    if (st == FERRY_OK && its)
        st = tree_copy(its, &c.attributes);
    if (st != FERRY_OK) {
        drop_change(&c);
        return st;
    }
    m->changes[m->count++] = c;
    return FERRY_OK;
}

/* Note that a value gets a copy of attributes, which it has none of. */
static ferry_status note_attributes(merger *m, tree *target, const way *to, size_t place)
{
    const tree *const its = attributes_find(to->tree, to->number);
    change c = {.target = target, .place = place, .keeps = true};

    if (tree_depth(target) + tree_height(its) > FERRY_BUNDLE_MAX_DEPTH)
        return refuse(to, FERRY_ERR_LIMIT, "its attributes would be nested deeper than 128");
    ferry_status st = take_room(m);
    if (st == FERRY_OK)
        st = tree_copy(its, &c.attributes);
    if (st == FERRY_OK)
        m->changes[m->count++] = c;
    return st;
}

static ferry_status merge_trees(merger *m, tree *target, const tree *source, const way *to);

/* Both have a bundle there: what is inside is merged, and so are the attributes. */
static ferry_status merge_inside(merger *m, tree *target, size_t place, const way *to)
{
    tree *const own = attributes_find(target, place);
    const tree *const its = attributes_find(to->tree, to->number);
    const way into = {to, NULL, 0};
    ferry_status st =
        merge_trees(m, target->values[place].child, to->tree->values[to->number].child, to);

    if (st != FERRY_OK || !its)
        return st;
    return own ? merge_trees(m, own, its, &into) : note_attributes(m, target, to, place);
}

static ferry_status merge_value(merger *m, tree *target, const way *to)
{
    const size_t place = tree_find(target, to->tree->keys[to->number]);
    const bool is_bundle = to->tree->values[to->number].type == FERRY_TYPE_BUNDLE;

    if (place == SIZE_MAX)
        return note_value(m, target, to, place);
    if (is_bundle && target->values[place].type == FERRY_TYPE_BUNDLE)
        return merge_inside(m, target, place, to);
    if (m->how == FERRY_MERGE_KEEP)
        return FERRY_OK;
    if (m->how == FERRY_MERGE_REFUSE)
        return refuse(to, FERRY_ERR_ARG, "is in both bundles");
    return note_value(m, target, to, place);
}

/* Room for whatever may come, then a note for all that does. */
static ferry_status merge_trees(merger *m, tree *target, const tree *source, const way *to)
{
    const size_t attributed = source->attributes ? source->attributes->count : 0;
    size_t fresh = 0;

    for (size_t i = 0; i < source->count; i++)
        fresh += tree_find(target, source->keys[i]) == SIZE_MAX;
    ferry_status st = tree_reserve(target, fresh);
    if (st == FERRY_OK)
        st = attributes_reserve(target, attributed);
    for (size_t i = 0; i < source->count && st == FERRY_OK; i++) {
        const way here = {to, source, i};
        st = merge_value(m, target, &here);
    }
    return st;
}

static void carry_out(const change *c)
{
    const size_t place = c->key ? c->target->count : c->place;

    if (c->key)
        tree_append(c->target, c->key, &c->v);
    else if (!c->keeps)
        tree_replace(c->target, place, &c->v);
    if (c->attributes)
        attributes_give(c->target, place, c->attributes);
}

ferry_status ferry_bundle_merge(ferry_bundle *target, const ferry_bundle *source, ferry_merge how)
{
    merger m = {.how = how};

    if (!target || !source)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_merge: %s is NULL",
                       target ? "source" : "target");
    if ((unsigned)how > FERRY_MERGE_REFUSE)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_merge: how is %d, expected 0..%d", (int)how,
                       (int)FERRY_MERGE_REFUSE);
    const ferry_status st = merge_trees(&m, &target->tree, &source->tree, NULL);
    for (size_t i = 0; i < m.count; i++)
        if (st == FERRY_OK)
            carry_out(&m.changes[i]);
        else
            drop_change(&m.changes[i]);
    alloc_free(m.changes);
    return st;
}
