/* Paths into trees; ferry/bundle_path.h tells the rules. A trail goes along a path step by step, as
 * far as values are there; setters make what is missing as they go, and take it away again when
 * they fail further on. What is done where a trail ends is in place.c. */
#include "ferry/bundle_path.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/trouble.h"
#include "bundle/item.h"
#include "bundle/place.h"
#include "bundle/step.h"

enum { NEAR_BYTES = 256 }; /* paths shorter than this need no allocation */

typedef struct trail {
    const char *path;
    const char *rest; /* steps not taken yet; NULL: none */
    char *step;       /* the one taken last, without escapes */
    size_t number;    /* of it, from 1 */
    bool is_attributes;
    char near[NEAR_BYTES];
    tree *tree;   /* where it was looked up */
    size_t place; /* of the value found there; SIZE_MAX: none */
    tree *inside; /* what the next step is looked up in; NULL: what the value holds */
} trail;

static ferry_status stray(const trail *t, ferry_status status, const char *what)
{
    return trouble(status, "path \"%.160s\": step %zu \"%.60s\": %s", t->path, t->number, t->step,
                   what);
}

/* A failure of the place where the trail ends, told with the path before it. */
static ferry_status tell(const trail *t, ferry_status st)
{
    if (st == FERRY_OK)
        return st;
    return trouble(st, "path \"%.160s\": step %zu: %s", t->path, t->number, trouble_text());
}

static ferry_status begin(trail *t, const ferry_bundle *bundle, const char *path)
{
    ferry_status st = FERRY_OK;

    t->step = t->near; /* end() may follow in any case */
    if (!bundle || !path)
        return trouble(FERRY_ERR_ARG, "%s is NULL", bundle ? "path" : "the bundle");
    if (!*path)
        return trouble(FERRY_ERR_ARG, "path is empty, expected at least one step");
    t->path = t->rest = path;
    t->number = 0;
    t->is_attributes = false;
    t->tree = NULL;
    t->place = SIZE_MAX;
    t->inside = (tree *)&bundle->tree;
    if (strlen(path) >= NEAR_BYTES) {
        t->step = NULL;
        st = alloc_resize(strlen(path) + 1, 1, &t->step);
    }
    return st;
}

static void end(trail *t)
{
    if (t->step != t->near)
        alloc_free(t->step);
}

/* --- one step --- */

/* The character of an escape, or NUL. */
static char escaped(char code)
{
    return code == '0' ? '~' : code == '1' ? '/' : code == '2' ? '@' : '\0';
}

/* Cut off the next step. */
static ferry_status take_step(trail *t)
{
    const char *from = t->rest;
    const size_t length = strcspn(from, "/");
    const char *const last = from + length;
    char *to = t->step;

    t->number++;
    t->rest = *last ? last + 1 : NULL;
    t->is_attributes = length == 1 && *from == '@';
    for (; from < last; from++)
        if (*from != '~')
            *to++ = *from;
        else if ((*to++ = escaped(*++from)) == '\0')
            return stray(t, FERRY_ERR_ARG, "\"~\" is followed by none of 0, 1 and 2");
    *to = '\0';
    return length > 0 ? FERRY_OK : stray(t, FERRY_ERR_ARG, "is empty");
}

/* What the next step is looked up in: the bundle or list that the value is. */
static ferry_status enter(trail *t)
{
    const value *const v = t->inside ? NULL : &t->tree->values[t->place];
    char what[80];

    if (t->inside) {
        t->tree = t->inside;
        return FERRY_OK;
    }
    if (!value_is_tree(v)) {
        snprintf(what, sizeof what, "leads into a value: wanted bundle or list, found %s",
                 ferry_type_name(v->type));
        return stray(t, FERRY_ERR_TYPE, what);
    }
    t->tree = v->child;
    return FERRY_OK;
}

/* The number of an element; "-" is behind the last one. */
static ferry_status take_number(trail *t)
{
    const size_t digits = strspn(t->step, "0123456789");
    char what[80];
    size_t number = 0;

    t->place = SIZE_MAX;
    if (strcmp(t->step, "-") == 0)
        return FERRY_OK;
    if (digits == 0 || t->step[digits] || (digits > 1 && *t->step == '0'))
        return stray(t, FERRY_ERR_ARG, "wanted the number of an element of a list, or \"-\"");
    for (size_t i = 0; i < digits && number < t->tree->count; i++)
        number = 10 * number + (size_t)(t->step[i] - '0');
    if (number < t->tree->count) {
        t->place = number;
        return FERRY_OK;
    }
    snprintf(what, sizeof what, "the list has %zu values", t->tree->count);
    return stray(t, FERRY_ERR_NOT_FOUND, what);
}

static ferry_status step_into_attributes(trail *t)
{
    if (t->inside)
        return stray(t, FERRY_ERR_ARG, "wanted the attributes of a value, found no value before");
    t->inside = attributes_find(t->tree, t->place);
    return FERRY_OK;
}

/* Take a step; missing() tells whether it led to something. */
static ferry_status advance(trail *t)
{
    ferry_status st = take_step(t);

    if (st != FERRY_OK)
        return st;
    if (t->is_attributes)
        return step_into_attributes(t);
    st = enter(t);
    if (st != FERRY_OK)
        return st;
    t->inside = NULL;
    if (t->tree->is_list)
        return take_number(t);
    t->place = tree_find(t->tree, t->step);
    return FERRY_OK;
}

static bool missing(const trail *t)
{
    return t->is_attributes ? !t->inside : t->place == SIZE_MAX;
}

static ferry_status say_missing(const trail *t)
{
    char what[80];

    snprintf(what, sizeof what,
             t->is_attributes   ? "the value before has no attributes"
             : t->tree->is_list ? "there is nothing behind the last of %zu values"
                                : "there is no such key among %zu values",
             t->tree->count);
    return stray(t, FERRY_ERR_NOT_FOUND, what);
}

/* Where the trail ended; an element of a list by its number. */
static place spot(const trail *t)
{
    return (place){t->tree, t->step, t->place};
}

/* --- getting --- */

/* Go along a path to what is there. */
static ferry_status follow(trail *t)
{
    ferry_status st = FERRY_OK;

    while (t->rest && st == FERRY_OK) {
        st = advance(t);
        if (st == FERRY_OK && missing(t))
            st = say_missing(t);
    }
    return st;
}

/* A way to get something at the end of a path: `wanted` is the type or element type, `output` where
 * it goes. */
typedef ferry_status get_there(place at, ferry_type wanted, void *output);

static ferry_status get(const ferry_bundle *bundle, const char *path, get_there *there,
                        ferry_type wanted, void *output)
{
    trail t;
    ferry_status st = begin(&t, bundle, path);

    if (st != FERRY_OK)
        return st;
    st = follow(&t);
    if (st == FERRY_OK && t.is_attributes)
        st = stray(&t, FERRY_ERR_TYPE, "attributes are got as a bundle only");
    else if (st == FERRY_OK)
        st = tell(&t, there(spot(&t), wanted, output));
    end(&t);
    return st;
}

static ferry_status array_there(place at, ferry_type element, void *array_out)
{
    return place_get_array(at, element, array_out);
}

static ferry_status text_there(place at, ferry_type type, void *view_out)
{
    return place_get_text(at, type, view_out);
}

static ferry_status list_there(place at, ferry_type type, void *child_out)
{
    return place_get_tree(at, type, child_out);
}

#define GET(name, NAME, type)                                                                      \
  ferry_status ferry_path_get_##name(const ferry_bundle *bundle, const char *path,                 \
                                     type *value_out)                                              \
  {                                                                                                \
    return get(bundle, path, place_get_scalar, FERRY_TYPE_##NAME, value_out);                      \
  }
FERRY_SCALAR_LIST(GET)
#undef GET

ferry_status ferry_path_get_string(const ferry_bundle *bundle, const char *path,
                                   const char **text_out, size_t *length_out)
{
    text_view view;
    const ferry_status st =
        get(bundle, path, text_there, FERRY_TYPE_STRING, text_out && length_out ? &view : NULL);

    if (st != FERRY_OK)
        return st;
    *text_out = view.data;
    *length_out = view.bytes;
    return FERRY_OK;
}

ferry_status ferry_path_get_bytes(const ferry_bundle *bundle, const char *path,
                                  const void **data_out, size_t *length_out)
{
    text_view view;
    const ferry_status st =
        get(bundle, path, text_there, FERRY_TYPE_BYTES, data_out && length_out ? &view : NULL);

    if (st != FERRY_OK)
        return st;
    *data_out = view.data;
    *length_out = view.bytes;
    return FERRY_OK;
}

ferry_status ferry_path_get_array(const ferry_bundle *bundle, const char *path, ferry_type element,
                                  ferry_array *array_out)
{
    return get(bundle, path, array_there, element, array_out);
}

ferry_status ferry_path_get_list(const ferry_bundle *bundle, const char *path,
                                 const ferry_list **child_out)
{
    tree *child;
    const ferry_status st =
        get(bundle, path, list_there, FERRY_TYPE_LIST, child_out ? &child : NULL);

    if (st == FERRY_OK)
        *child_out = (const ferry_list *)child;
    return st;
}

/* As an item; attributes are a bundle without a place. */
static void fill(const trail *t, ferry_item *item_out)
{
    if (!t->is_attributes) {
        item_fill(t->tree, t->place, item_out);
        return;
    }
    *item_out = (ferry_item){.type = FERRY_TYPE_BUNDLE,
                             .count = t->inside->count,
                             .bundle = (const ferry_bundle *)t->inside};
}

ferry_status ferry_path_item(const ferry_bundle *bundle, const char *path, ferry_item *item_out)
{
    trail t;

    if (!item_out)
        return trouble(FERRY_ERR_ARG, "an output is NULL");
    ferry_status st = begin(&t, bundle, path);
    if (st != FERRY_OK)
        return st;
    st = follow(&t);
    if (st == FERRY_OK)
        fill(&t, item_out);
    end(&t);
    return st;
}

ferry_status ferry_path_type(const ferry_bundle *bundle, const char *path, ferry_type *type_out)
{
    ferry_item item;
    const ferry_status st = ferry_path_item(bundle, path, type_out ? &item : NULL);

    if (st == FERRY_OK)
        *type_out = item.type;
    return st;
}

ferry_status ferry_path_get_bundle(const ferry_bundle *bundle, const char *path,
                                   const ferry_bundle **child_out)
{
    ferry_item item;
    const ferry_status st = ferry_path_item(bundle, path, child_out ? &item : NULL);

    if (st != FERRY_OK)
        return st;
    if (item.type != FERRY_TYPE_BUNDLE)
        return trouble(FERRY_ERR_TYPE, "path \"%.160s\": wanted bundle, found %s", path,
                       ferry_type_name(item.type));
    *child_out = item.bundle;
    return FERRY_OK;
}

/* --- setting --- */

/* The first thing that was made on the way: with it, all of them go. */
typedef struct made {
    tree *tree; /* NULL: nothing was */
    size_t place;
    bool is_attributes;
} made;

static void undo(const made *first)
{
    if (!first->tree)
        return;
    if (first->is_attributes)
        attributes_remove(first->tree, first->place);
    else
        tree_remove(first->tree, first->place);
}

static ferry_status make_bundle(trail *t)
{
    tree *fresh;
    ferry_status st = tree_make(false, &fresh);

    if (st != FERRY_OK)
        return st;
    st = place_put_tree(spot(t), fresh);
    if (st != FERRY_OK)
        tree_drop(fresh);
    else
        t->place = t->tree->count - 1;
    return st;
}

/* Make what the last step should have led to. */
static ferry_status make_missing(trail *t, made *first)
{
    const ferry_status st =
        t->is_attributes ? attributes_edit(t->tree, t->place, &t->inside) : make_bundle(t);

    if (st == FERRY_OK && !first->tree)
        *first = (made){t->tree, t->place, t->is_attributes};
    return tell(t, st);
}

/* Nothing is made that would only have attributes. */
static bool next_is_attributes(const trail *t)
{
    return t->rest[0] == '@' && (t->rest[1] == '/' || t->rest[1] == '\0');
}

/* Go along a path up to its last step, whatever is missing before it. */
static ferry_status pave(trail *t, made *first)
{
    ferry_status st = advance(t);

    while (st == FERRY_OK && t->rest) {
        if (missing(t) && !t->is_attributes && next_is_attributes(t))
            return say_missing(t);
        if (missing(t))
            st = make_missing(t, first);
        if (st == FERRY_OK)
            st = advance(t);
    }
    if (st == FERRY_OK && t->is_attributes)
        st = stray(t, FERRY_ERR_ARG, "is the last one, expected a key or number behind it");
    return st;
}

/* Owns the value afterwards, also on failure, but for lists and bundles. */
static ferry_status set(ferry_bundle *bundle, const char *path, value v)
{
    trail t;
    made first = {NULL, 0, false};
    ferry_status st = begin(&t, bundle, path);

    if (st == FERRY_OK)
        st = pave(&t, &first);
    if (st == FERRY_OK)
        st = tell(&t, place_put(spot(&t), &v));
    else if (!value_is_tree(&v))
        value_drop(&v);
    if (st != FERRY_OK)
        undo(&first);
    end(&t);
    return st;
}

ferry_status ferry_path_set_null(ferry_bundle *bundle, const char *path)
{
    return set(bundle, path, value_scalar(FERRY_TYPE_NULL, NULL));
}

#define SET(name, NAME, type)                                                                      \
  ferry_status ferry_path_set_##name(ferry_bundle *bundle, const char *path, type x)               \
  {                                                                                                \
    return set(bundle, path, value_scalar(FERRY_TYPE_##NAME, &x));                                 \
  }
FERRY_SCALAR_LIST(SET)
#undef SET

static ferry_status set_text(ferry_bundle *bundle, const char *path, ferry_type type,
                             const text_view *view)
{
    value v;
    const ferry_status st = value_text(type, view->data, view->bytes, false, &v);

    return st == FERRY_OK ? set(bundle, path, v) : st;
}

ferry_status ferry_path_set_string(ferry_bundle *bundle, const char *path, const char *text,
                                   size_t length)
{
    return set_text(bundle, path, FERRY_TYPE_STRING, &(text_view){text, length});
}

ferry_status ferry_path_set_bytes(ferry_bundle *bundle, const char *path, const void *data,
                                  size_t length)
{
    return set_text(bundle, path, FERRY_TYPE_BYTES, &(text_view){data, length});
}

ferry_status ferry_path_set_strings(ferry_bundle *bundle, const char *path, size_t count,
                                    const char *const *texts, const size_t *lengths)
{
    value v;
    const ferry_status st = value_strings(count, texts, lengths, &v);

    return st == FERRY_OK ? set(bundle, path, v) : st;
}

ferry_status ferry_path_set_array(ferry_bundle *bundle, const char *path, ferry_type element,
                                  int dims, const int64_t *shape, const int64_t *strides_bytes,
                                  const void *data)
{
    const array_spec spec = {element, dims, shape, strides_bytes, data};
    value v;
    const ferry_status st = value_array(&spec, false, &v);

    return st == FERRY_OK ? set(bundle, path, v) : st;
}

static ferry_status set_child(ferry_bundle *bundle, const char *path, tree *child)
{
    return child ? set(bundle, path, value_tree(child)) : trouble(FERRY_ERR_ARG, "child is NULL");
}

ferry_status ferry_path_set_bundle(ferry_bundle *bundle, const char *path, ferry_bundle *child)
{
    return set_child(bundle, path, child ? &child->tree : NULL);
}

ferry_status ferry_path_set_list(ferry_bundle *bundle, const char *path, ferry_list *child)
{
    return set_child(bundle, path, child ? &child->tree : NULL);
}

ferry_status ferry_path_remove(ferry_bundle *bundle, const char *path)
{
    trail t;
    ferry_status st = begin(&t, bundle, path);

    if (st == FERRY_OK)
        st = follow(&t);
    if (st == FERRY_OK && t.is_attributes)
        attributes_remove(t.tree, t.place);
    else if (st == FERRY_OK)
        tree_remove(t.tree, t.place);
    end(&t);
    return st;
}
