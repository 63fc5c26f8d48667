/* Putting values into trees and getting them out, for keys and numbers alike; see place.h. */
#include "bundle/place.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/trouble.h"
#include "bundle/attribute.h"
#include "bundle/print.h"

enum { NAME_BYTES = 96 };

/* What a place is called in the texts of failures. */
static const char *name_of(place at, char name[NAME_BYTES])
{
    if (at.tree->is_list)
        snprintf(name, NAME_BYTES, "element %zu", at.index);
    else
        snprintf(name, NAME_BYTES, "key \"%.64s\"", at.key);
    return name;
}

/* --- putting --- */

static ferry_status check_target(place at)
{
    if (!at.tree)
        return trouble(FERRY_ERR_ARG, "the bundle or list is NULL");
    return at.tree->is_list ? FERRY_OK : tree_check_key(at.key);
}

/* In place of an element of a list. */
static ferry_status put_over(place at, const value *v)
{
    if (at.index >= at.tree->count)
        return trouble(FERRY_ERR_NOT_FOUND, "there is no element %zu among %zu values", at.index,
                       at.tree->count);
    tree_replace(at.tree, at.index, v);
    return FERRY_OK;
}

static ferry_status put(place at, value v)
{
    const bool over = at.tree->is_list && at.index != SIZE_MAX;
    const ferry_status st =
        over ? put_over(at, &v) : tree_put(at.tree, at.tree->is_list ? NULL : at.key, &v);

    if (st != FERRY_OK && !value_is_tree(&v))
        value_drop(&v);
    return st;
}

ferry_status place_put_scalar(place at, ferry_type type, const void *bits)
{
    const ferry_status st = check_target(at);

    return st == FERRY_OK ? put(at, value_scalar(type, bits)) : st;
}

ferry_status place_put_text(place at, ferry_type type, const void *data, size_t bytes, bool borrow)
{
    value v;
    ferry_status st = check_target(at);

    if (st == FERRY_OK)
        st = value_text(type, data, bytes, borrow, &v);
    return st == FERRY_OK ? put(at, v) : st;
}

ferry_status place_put_strings(place at, size_t count, const char *const *texts,
                               const size_t *lengths)
{
    value v;
    ferry_status st = check_target(at);

    if (st == FERRY_OK)
        st = value_strings(count, texts, lengths, &v);
    return st == FERRY_OK ? put(at, v) : st;
}

ferry_status place_put_array(place at, const array_spec *spec, bool borrow)
{
    value v;
    ferry_status st = check_target(at);

    if (st == FERRY_OK)
        st = value_array(spec, borrow, &v);
    return st == FERRY_OK ? put(at, v) : st;
}

static const tree *root_of(const tree *t)
{
    while (t->parent)
        t = t->parent;
    return t;
}

ferry_status place_check_child(const tree *t, const tree *child)
{
    if (!child)
        return trouble(FERRY_ERR_ARG, "child is NULL");
    if (child->parent)
        return trouble(
            FERRY_ERR_ARG,
            "child is part of another bundle or list, expected one that nobody was given");
    if (root_of(t) == child)
        return trouble(FERRY_ERR_ARG, "child is the root of the tree it would be put into");
    const int depth = tree_depth(t) + tree_height(child);
    if (depth > FERRY_BUNDLE_MAX_DEPTH)
        return trouble(FERRY_ERR_LIMIT,
                       "bundles and lists would be nested %d deep, expected at most %d", depth,
                       (int)FERRY_BUNDLE_MAX_DEPTH);
    return FERRY_OK;
}

ferry_status place_put_tree(place at, tree *child)
{
    ferry_status st = check_target(at);

    if (st == FERRY_OK)
        st = place_check_child(at.tree, child);
    return st == FERRY_OK ? put(at, value_tree(child)) : st;
}

ferry_status place_put(place at, const value *v)
{
    ferry_status st = check_target(at);

    if (st == FERRY_OK && value_is_tree(v))
        st = place_check_child(at.tree, v->child);
    if (st == FERRY_OK)
        return put(at, *v);
    if (!value_is_tree(v)) {
        value unused = *v;
        value_drop(&unused);
    }
    return st;
}

/* --- getting --- */

/* The value at a place whose outputs are not NULL. */
static ferry_status seek(place at, const void *output, const value **value_out)
{
    char name[NAME_BYTES];

    if (!at.tree || !output || (!at.tree->is_list && !at.key))
        return trouble(FERRY_ERR_ARG, "%s is NULL",
                       !at.tree ? "the bundle or list"
                       : output ? "key"
                                : "an output");
    const size_t number = at.tree->is_list ? at.index : tree_find(at.tree, at.key);
    if (number >= at.tree->count)
        return trouble(FERRY_ERR_NOT_FOUND, "there is no %s among %zu values", name_of(at, name),
                       at.tree->count);
    *value_out = &at.tree->values[number];
    return FERRY_OK;
}

static ferry_status seek_type(place at, ferry_type type, const void *output,
                              const value **value_out)
{
    const value *found;
    char name[NAME_BYTES];
    const ferry_status st = seek(at, output, &found);

    if (st != FERRY_OK)
        return st;
    if (found->type != type)
        return trouble(FERRY_ERR_TYPE, "%s: wanted %s, found %s%s%s", name_of(at, name),
                       ferry_type_name(type), ferry_type_name(found->type),
                       found->type == FERRY_TYPE_ARRAY ? " of " : "",
                       found->type == FERRY_TYPE_ARRAY ? ferry_type_name(found->element) : "");
    *value_out = found;
    return FERRY_OK;
}

static ferry_status seek_array(place at, ferry_type element, const void *output,
                               const value **value_out)
{
    const value *found;
    char name[NAME_BYTES];
    const bool any = element == FERRY_TYPE_ARRAY;
    ferry_status st = seek(at, output, &found);

    if (st != FERRY_OK)
        return st;
    if (found->type != FERRY_TYPE_ARRAY)
        return trouble(FERRY_ERR_TYPE, "%s: wanted array%s%s, found %s", name_of(at, name),
                       any ? "" : " of ", any ? "" : ferry_type_name(element),
                       ferry_type_name(found->type));
    if (!any && found->element != element)
        return trouble(FERRY_ERR_TYPE, "%s: wanted array of %s, found array of %s",
                       name_of(at, name), ferry_type_name(element),
                       ferry_type_name(found->element));
    *value_out = found;
    return FERRY_OK;
}

ferry_status place_type(place at, ferry_type *type_out)
{
    const value *found;
    const ferry_status st = seek(at, type_out, &found);

    if (st == FERRY_OK)
        *type_out = found->type;
    return st;
}

ferry_status place_get_scalar(place at, ferry_type type, void *bits_out)
{
    const value *found;
    const ferry_status st = seek_type(at, type, bits_out, &found);

    if (st == FERRY_OK)
        memcpy(bits_out, found->scalar, ferry_type_bytes(type));
    return st;
}

ferry_status place_get_text(place at, ferry_type type, text_view *view_out)
{
    const value *found;
    const ferry_status st = seek_type(at, type, view_out, &found);

    if (st == FERRY_OK)
        *view_out = found->text;
    return st;
}

ferry_status place_get_utf8(place at, int *utf8_out)
{
    const value *found;
    ferry_status st = seek(at, utf8_out, &found);

    if (st == FERRY_OK && found->type != FERRY_TYPE_STRINGS)
        st = seek_type(at, FERRY_TYPE_STRING, utf8_out, &found);
    if (st == FERRY_OK)
        *utf8_out = value_utf8(found);
    return st;
}

ferry_status place_get_strings(place at, size_t *count_out)
{
    const value *found;
    const ferry_status st = seek_type(at, FERRY_TYPE_STRINGS, count_out, &found);

    if (st == FERRY_OK)
        *count_out = found->strings.count;
    return st;
}

ferry_status place_get_string_at(place at, size_t number, text_view *view_out)
{
    const value *found;
    char name[NAME_BYTES];
    const ferry_status st = seek_type(at, FERRY_TYPE_STRINGS, view_out, &found);

    if (st != FERRY_OK)
        return st;
    if (number >= found->strings.count)
        return trouble(FERRY_ERR_NOT_FOUND, "%s: there is no string %zu among %zu",
                       name_of(at, name), number, found->strings.count);
    *view_out = strings_view(found, number);
    return FERRY_OK;
}

ferry_status place_get_array(place at, ferry_type element, ferry_array *array_out)
{
    const value *found;
    char name[NAME_BYTES];
    const ferry_status st = seek_array(at, element, array_out, &found);

    if (st != FERRY_OK)
        return st;
    if (found->flags & VALUE_STRIDED)
        return trouble(FERRY_ERR_STATE,
                       "%s: its elements are borrowed with strides, expected dense ones",
                       name_of(at, name));
    *array_out = (ferry_array){
        .element = found->element,
        .dims = found->dims,
        .column_major = (found->flags & VALUE_COLUMN) != 0,
        .data = found->array.data,
    };
    memcpy(array_out->shape, found->array.shape, found->dims * sizeof *found->array.shape);
    return FERRY_OK;
}

ferry_status place_get_tree(place at, ferry_type type, tree **child_out)
{
    const value *found;
    const ferry_status st = seek_type(at, type, child_out, &found);

    if (st == FERRY_OK)
        *child_out = found->child;
    return st;
}

static ferry_status shapes_differ(place at, const array_spec *wanted, const value *found)
{
    char name[NAME_BYTES], text[2][200];
    text_out out[2] = {{text[0], sizeof text[0], 0}, {text[1], sizeof text[1], 0}};

    print_shape(&out[0], wanted->dims, wanted->shape);
    print_shape(&out[1], found->dims, found->array.shape);
    return trouble(FERRY_ERR_SHAPE, "%s: wanted shape %s, found %s", name_of(at, name), text[0],
                   text[1]);
}

ferry_status place_read_array(place at, const array_spec *target)
{
    int64_t found_strides[FERRY_ARRAY_MAX_DIMS], dense[FERRY_ARRAY_MAX_DIMS];
    const value *found;
    array_form form;
    ferry_status st = array_check(target, &form);

    if (st == FERRY_OK)
        st = seek_array(at, target->element, target, &found);
    if (st != FERRY_OK)
        return st;
    if (found->dims != target->dims ||
        memcmp(found->array.shape, target->shape, found->dims * sizeof *target->shape) != 0)
        return shapes_differ(at, target, found);
    if (!target->strides)
        array_strides(target, false, dense);
    const array_spec from = value_spec(found, found_strides);
    array_copy(&from, (void *)target->data, target->strides ? target->strides : dense);
    return FERRY_OK;
}

ferry_status place_find(place at, size_t *number_out)
{
    const value *found;
    const ferry_status st = seek(at, number_out, &found);

    if (st == FERRY_OK)
        *number_out = (size_t)(found - at.tree->values);
    return st;
}

ferry_status place_remove(place at)
{
    size_t number;
    const ferry_status st = place_find(at, &number);

    if (st == FERRY_OK)
        tree_remove(at.tree, number);
    return st;
}

/* --- attributes --- */

ferry_status place_edit_attributes(place at, tree **attributes_out)
{
    size_t number;
    const ferry_status st = place_find(at, attributes_out ? &number : NULL);

    return st == FERRY_OK ? attributes_edit(at.tree, number, attributes_out) : st;
}

static ferry_status has_none(place at)
{
    char name[NAME_BYTES];

    return trouble(FERRY_ERR_NOT_FOUND, "%s has no attributes", name_of(at, name));
}

ferry_status place_get_attributes(place at, tree **attributes_out)
{
    size_t number;
    const ferry_status st = place_find(at, attributes_out ? &number : NULL);

    if (st != FERRY_OK)
        return st;
    tree *const found = attributes_find(at.tree, number);
    if (!found)
        return has_none(at);
    *attributes_out = found;
    return FERRY_OK;
}

ferry_status place_remove_attributes(place at)
{
    size_t number;
    const ferry_status st = place_find(at, &number);

    if (st != FERRY_OK)
        return st;
    return attributes_remove(at.tree, number) ? FERRY_OK : has_none(at);
}
