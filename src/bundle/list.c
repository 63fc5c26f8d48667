/* The public names of lists. What they do is in place.c and tree.c. */
#include "base/trouble.h"
#include "bundle/place.h"

static place in(const ferry_list *list, size_t index)
{
    return (place){list ? (tree *)&list->tree : NULL, NULL, index};
}

static place end(const ferry_list *list)
{
    return in(list, SIZE_MAX);
}

ferry_status ferry_list_new(ferry_list **list_out)
{
    tree *fresh;

    if (!list_out)
        return trouble(FERRY_ERR_ARG, "ferry_list_new: list_out is NULL");
    const ferry_status st = tree_make(true, &fresh);
    if (st == FERRY_OK)
        *list_out = (ferry_list *)fresh;
    return st;
}

void ferry_list_free(ferry_list *list)
{
    if (list && !list->tree.parent)
        tree_drop(&list->tree);
}

/* --- putting --- */

ferry_status ferry_list_append_null(ferry_list *list)
{
    return place_put_scalar(end(list), FERRY_TYPE_NULL, NULL);
}

#define PUT(name, NAME, type)                                                                      \
  ferry_status ferry_list_append_##name(ferry_list *list, type value)                              \
  {                                                                                                \
    return place_put_scalar(end(list), FERRY_TYPE_##NAME, &value);                                 \
  }
FERRY_SCALAR_LIST(PUT)
#undef PUT

ferry_status ferry_list_append_string(ferry_list *list, const char *text, size_t length)
{
    return place_put_text(end(list), FERRY_TYPE_STRING, text, length, false);
}

ferry_status ferry_list_append_bytes(ferry_list *list, const void *data, size_t length)
{
    return place_put_text(end(list), FERRY_TYPE_BYTES, data, length, false);
}

ferry_status ferry_list_append_strings(ferry_list *list, size_t count, const char *const *texts,
                                       const size_t *lengths)
{
    return place_put_strings(end(list), count, texts, lengths);
}

ferry_status ferry_list_append_array(ferry_list *list, ferry_type element, int dims,
                                     const int64_t *shape, const int64_t *strides_bytes,
                                     const void *data)
{
    const array_spec spec = {element, dims, shape, strides_bytes, data};

    return place_put_array(end(list), &spec, false);
}

ferry_status ferry_list_borrow_string(ferry_list *list, const char *text, size_t length)
{
    return place_put_text(end(list), FERRY_TYPE_STRING, text, length, true);
}

ferry_status ferry_list_borrow_bytes(ferry_list *list, const void *data, size_t length)
{
    return place_put_text(end(list), FERRY_TYPE_BYTES, data, length, true);
}

ferry_status ferry_list_borrow_array(ferry_list *list, ferry_type element, int dims,
                                     const int64_t *shape, const int64_t *strides_bytes,
                                     const void *data)
{
    const array_spec spec = {element, dims, shape, strides_bytes, data};

    return place_put_array(end(list), &spec, true);
}

ferry_status ferry_list_append_bundle(ferry_list *list, ferry_bundle *child)
{
    return place_put_tree(end(list), child ? &child->tree : NULL);
}

ferry_status ferry_list_append_list(ferry_list *list, ferry_list *child)
{
    return place_put_tree(end(list), child ? &child->tree : NULL);
}

/* --- changing the order --- */

ferry_status ferry_list_remove(ferry_list *list, size_t index)
{
    return place_remove(in(list, index));
}

ferry_status ferry_list_move(ferry_list *list, size_t from, size_t to)
{
    size_t number;
    ferry_status st = place_find(in(list, from), &number);

    if (st == FERRY_OK)
        st = place_find(in(list, to), &number);
    if (st == FERRY_OK)
        tree_move(&list->tree, from, to);
    return st;
}

/* --- getting --- */

size_t ferry_list_count(const ferry_list *list)
{
    return list ? list->tree.count : 0;
}

ferry_status ferry_list_type(const ferry_list *list, size_t index, ferry_type *type_out)
{
    return place_type(in(list, index), type_out);
}

#define GET(name, NAME, type)                                                                      \
  ferry_status ferry_list_get_##name(const ferry_list *list, size_t index, type *value_out)        \
  {                                                                                                \
    return place_get_scalar(in(list, index), FERRY_TYPE_##NAME, value_out);                        \
  }
FERRY_SCALAR_LIST(GET)
#undef GET

ferry_status ferry_list_get_string(const ferry_list *list, size_t index, const char **text_out,
                                   size_t *length_out)
{
    text_view view;
    const ferry_status st =
        place_get_text(in(list, index), FERRY_TYPE_STRING, text_out && length_out ? &view : NULL);

    if (st != FERRY_OK)
        return st;
    *text_out = view.data;
    *length_out = view.bytes;
    return FERRY_OK;
}

ferry_status ferry_list_get_utf8(const ferry_list *list, size_t index, int *utf8_out)
{
    return place_get_utf8(in(list, index), utf8_out);
}

ferry_status ferry_list_get_bytes(const ferry_list *list, size_t index, const void **data_out,
                                  size_t *length_out)
{
    text_view view;
    const ferry_status st =
        place_get_text(in(list, index), FERRY_TYPE_BYTES, data_out && length_out ? &view : NULL);

    if (st != FERRY_OK)
        return st;
    *data_out = view.data;
    *length_out = view.bytes;
    return FERRY_OK;
}

ferry_status ferry_list_get_strings(const ferry_list *list, size_t index, size_t *count_out)
{
    return place_get_strings(in(list, index), count_out);
}

ferry_status ferry_list_get_string_at(const ferry_list *list, size_t index, size_t number,
                                      const char **text_out, size_t *length_out)
{
    text_view view;
    const ferry_status st =
        place_get_string_at(in(list, index), number, text_out && length_out ? &view : NULL);

    if (st != FERRY_OK)
        return st;
    *text_out = view.data;
    *length_out = view.bytes;
    return FERRY_OK;
}

ferry_status ferry_list_get_array(const ferry_list *list, size_t index, ferry_type element,
                                  ferry_array *array_out)
{
    return place_get_array(in(list, index), element, array_out);
}

ferry_status ferry_list_read_array(const ferry_list *list, size_t index, ferry_type element,
                                   int dims, const int64_t *shape, const int64_t *strides_bytes,
                                   void *data)
{
    const array_spec target = {element, dims, shape, strides_bytes, data};

    return place_read_array(in(list, index), &target);
}

ferry_status ferry_list_get_bundle(const ferry_list *list, size_t index,
                                   const ferry_bundle **child_out)
{
    tree *child;
    const ferry_status st =
        place_get_tree(in(list, index), FERRY_TYPE_BUNDLE, child_out ? &child : NULL);

    if (st == FERRY_OK)
        *child_out = (ferry_bundle *)child;
    return st;
}

ferry_status ferry_list_edit_bundle(ferry_list *list, size_t index, ferry_bundle **child_out)
{
    tree *child;
    const ferry_status st =
        place_get_tree(in(list, index), FERRY_TYPE_BUNDLE, child_out ? &child : NULL);

    if (st == FERRY_OK)
        *child_out = (ferry_bundle *)child;
    return st;
}

ferry_status ferry_list_get_list(const ferry_list *list, size_t index, const ferry_list **child_out)
{
    tree *child;
    const ferry_status st =
        place_get_tree(in(list, index), FERRY_TYPE_LIST, child_out ? &child : NULL);

    if (st == FERRY_OK)
        *child_out = (ferry_list *)child;
    return st;
}

ferry_status ferry_list_edit_list(ferry_list *list, size_t index, ferry_list **child_out)
{
    tree *child;
    const ferry_status st =
        place_get_tree(in(list, index), FERRY_TYPE_LIST, child_out ? &child : NULL);

    if (st == FERRY_OK)
        *child_out = (ferry_list *)child;
    return st;
}

/* --- attributes --- */

ferry_status ferry_list_edit_attributes(ferry_list *list, size_t index,
                                        ferry_bundle **attributes_out)
{
    tree *made;
    const ferry_status st = place_edit_attributes(in(list, index), attributes_out ? &made : NULL);

    if (st == FERRY_OK)
        *attributes_out = (ferry_bundle *)made;
    return st;
}

ferry_status ferry_list_get_attributes(const ferry_list *list, size_t index,
                                       const ferry_bundle **attributes_out)
{
    tree *found;
    const ferry_status st = place_get_attributes(in(list, index), attributes_out ? &found : NULL);

    if (st == FERRY_OK)
        *attributes_out = (ferry_bundle *)found;
    return st;
}

ferry_status ferry_list_remove_attributes(ferry_list *list, size_t index)
{
    return place_remove_attributes(in(list, index));
}
