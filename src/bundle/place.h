/* Places: where a value stands, by key in a bundle or by number in a list. What the two have in
 * common is written once, here; bundle.c and list.c give it its public names. */
#ifndef BUNDLE_PLACE_H
#define BUNDLE_PLACE_H

#include "bundle/value.h"

typedef struct place {
    tree *tree;      /* NULL is refused when the place is used, and so are the wrong keys */
    const char *key; /* bundles */
    size_t index;    /* lists; SIZE_MAX: behind the last one */
} place;

/* Put a value there. The tree owns it on success; else it is dropped, but for lists and bundles. */
ferry_status place_put(place at, const value *v);

ferry_status place_put_scalar(place at, ferry_type type, const void *bits);
ferry_status place_put_text(place at, ferry_type type, const void *data, size_t bytes, bool borrow);
ferry_status place_put_strings(place at, size_t count, const char *const *texts,
                               const size_t *lengths);
ferry_status place_put_array(place at, const array_spec *spec, bool borrow);
ferry_status place_put_tree(place at, tree *child);
ferry_status place_remove(place at);

/* Its number in the tree. */
ferry_status place_find(place at, size_t *number_out);

/* May a tree be put here? It is no part of another one, no cycle arises, and the depth is allowed.
 */
ferry_status place_check_child(const tree *t, const tree *child);

/* Read the value there; each checks that it has the type wanted and fills its output on success
 * only. */
ferry_status place_type(place at, ferry_type *type_out);
ferry_status place_get_scalar(place at, ferry_type type, void *bits_out);
ferry_status place_get_text(place at, ferry_type type, text_view *view_out);
ferry_status place_get_utf8(place at, int *utf8_out);
ferry_status place_get_strings(place at, size_t *count_out);
ferry_status place_get_string_at(place at, size_t number, text_view *view_out);
ferry_status place_get_array(place at, ferry_type element, ferry_array *array_out);
ferry_status place_get_tree(place at, ferry_type type, tree **child_out);

/* The attributes of the value there. */
ferry_status place_edit_attributes(place at, tree **attributes_out);
ferry_status place_get_attributes(place at, tree **attributes_out);
ferry_status place_remove_attributes(place at);

/* Copy an array to target->data, which is written to, with its strides. */
ferry_status place_read_array(place at, const array_spec *target);

#endif
