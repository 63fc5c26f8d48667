/* Values in one record for all types, and the walk over a whole tree. */
#include "ferry/bundle_item.h"

#include "base/alloc.h"
#include "base/trouble.h"
#include "bundle/item.h"
#include "bundle/step.h"

static void fill_array(const value *v, ferry_item *item)
{
    item->element = v->element;
    item->dims = v->dims;
    item->column_major = (v->flags & VALUE_COLUMN) != 0;
    item->shape = v->array.shape;
    item->strides_bytes = v->flags & VALUE_STRIDED ? v->array.shape + v->dims : NULL;
    item->count = value_bytes(v) / ferry_type_bytes(v->element);
}

static void fill_child(const value *v, ferry_item *item)
{
    item->count = v->child->count;
    if (v->type == FERRY_TYPE_BUNDLE)
        item->bundle = (const ferry_bundle *)v->child;
    else
        item->list = (const ferry_list *)v->child;
}

static void fill_content(const value *v, ferry_item *item)
{
    switch (v->type) {
    case FERRY_TYPE_ARRAY:
        fill_array(v, item);
        break;
    case FERRY_TYPE_STRING:
        item->utf8 = value_utf8(v);
        /* fall through */
    case FERRY_TYPE_BYTES:
        item->count = v->text.bytes;
        break;
    case FERRY_TYPE_STRINGS:
        item->utf8 = value_utf8(v);
        item->ends = v->strings.ends;
        item->data = strings_text(v);
        item->count = v->strings.count;
        break;
    case FERRY_TYPE_LIST:
    case FERRY_TYPE_BUNDLE:
        fill_child(v, item);
        break;
    default:
        item->count = v->type != FERRY_TYPE_NULL;
    }
}

void item_fill(const tree *t, size_t number, ferry_item *item_out)
{
    const value *const v = &t->values[number];

    *item_out = (ferry_item){.key = t->is_list ? NULL : t->keys[number],
                             .index = number,
                             .type = v->type,
                             .data = value_data(v),
                             .attributes = (const ferry_bundle *)attributes_find(t, number)};
    fill_content(v, item_out);
}

static ferry_status look(const tree *t, size_t index, ferry_item *item_out)
{
    if (!t || !item_out)
        return trouble(FERRY_ERR_ARG, "%s is NULL", t ? "item_out" : "the bundle or list");
    if (index >= t->count)
        return trouble(FERRY_ERR_NOT_FOUND, "there is no value %zu among %zu", index, t->count);
    item_fill(t, index, item_out);
    return FERRY_OK;
}

ferry_status ferry_bundle_item(const ferry_bundle *bundle, size_t index, ferry_item *item_out)
{
    return look(bundle ? &bundle->tree : NULL, index, item_out);
}

ferry_status ferry_list_item(const ferry_list *list, size_t index, ferry_item *item_out)
{
    return look(list ? &list->tree : NULL, index, item_out);
}

const char *ferry_item_string(const ferry_item *item, size_t number, size_t *length_out)
{
    if (!item || item->type != FERRY_TYPE_STRINGS || number >= item->count)
        return NULL;
    const uint64_t begin = number > 0 ? item->ends[number - 1] : 0;
    if (length_out)
        *length_out = item->ends[number] - begin - 1;
    return (const char *)item->data + begin;
}

/* --- the walk --- */

/* The path so far is kept in one buffer, which each level goes on writing behind its own part. */
typedef struct walker {
    ferry_item_visit *visit;
    void *user;
    text_out path; /* of memory of our own */
} walker;

/* Write one step behind the first `length` characters of the path. */
static ferry_status write_step(walker *w, size_t length, const tree *t, size_t number)
{
    ferry_status st = FERRY_OK;

    for (;;) {
        w->path.needed = length;
        step_add(&w->path, t, number);
        if (w->path.needed < w->path.room || st != FERRY_OK)
            return st;
        st = alloc_resize(2 * w->path.needed + 64, 1, &w->path.at);
        if (st == FERRY_OK)
            w->path.room = 2 * w->path.needed + 64;
    }
}

static ferry_status walk(walker *w, const tree *t);

static ferry_status walk_attributes(walker *w, const tree *t, size_t number)
{
    const tree *const its = attributes_find(t, number);
    ferry_status st;

    if (!its)
        return FERRY_OK;
    st = write_step(w, w->path.needed, NULL, 0);
    return st == FERRY_OK ? walk(w, its) : st;
}

static ferry_status walk_value(walker *w, const tree *t, size_t number)
{
    const value *const v = &t->values[number];
    ferry_item item;

    item_fill(t, number, &item);
    const ferry_status st = w->visit(w->user, w->path.at, &item);
    if (st != FERRY_OK)
        return st;
    const size_t length = w->path.needed;
    const ferry_status of_attributes = walk_attributes(w, t, number);
    if (of_attributes != FERRY_OK || !value_is_tree(v))
        return of_attributes;
    w->path.needed = length;
    return walk(w, v->child);
}

static ferry_status walk(walker *w, const tree *t)
{
    const size_t length = w->path.needed;
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < t->count && st == FERRY_OK; i++) {
        st = write_step(w, length, t, i);
        if (st == FERRY_OK)
            st = walk_value(w, t, i);
    }
    return st;
}

ferry_status ferry_bundle_walk(const ferry_bundle *bundle, ferry_item_visit *visit, void *user)
{
    walker w = {.visit = visit, .user = user};

    if (!bundle || !visit)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_walk: %s is NULL", bundle ? "visit" : "bundle");
    const ferry_status st = walk(&w, &bundle->tree);
    alloc_free(w.path.at);
    return st;
}
