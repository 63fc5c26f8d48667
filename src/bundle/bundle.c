/* The public names of bundles. What they do is in place.c and tree.c. */
#include "base/trouble.h"
#include "bundle/place.h"

static place in(const ferry_bundle *bundle, const char *key)
{
    return (place){bundle ? (tree *)&bundle->tree : NULL, key, 0};
}

ferry_status ferry_bundle_new(ferry_bundle **bundle_out)
{
    tree *fresh;

    if (!bundle_out)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_new: bundle_out is NULL");
    const ferry_status st = tree_make(false, &fresh);
    if (st == FERRY_OK)
        *bundle_out = (ferry_bundle *)fresh;
    return st;
}

void ferry_bundle_free(ferry_bundle *bundle)
{
    if (bundle && !bundle->tree.parent)
        tree_drop(&bundle->tree);
}

/* --- putting --- */

ferry_status ferry_bundle_set_null(ferry_bundle *bundle, const char *key)
{
    return place_put_scalar(in(bundle, key), FERRY_TYPE_NULL, NULL);
}

#define PUT(name, NAME, type)                                                                      \
  ferry_status ferry_bundle_set_##name(ferry_bundle *bundle, const char *key, type value)          \
  {                                                                                                \
    return place_put_scalar(in(bundle, key), FERRY_TYPE_##NAME, &value);                           \
  }
FERRY_SCALAR_LIST(PUT)
#undef PUT

ferry_status ferry_bundle_set_string(ferry_bundle *bundle, const char *key, const char *text,
                                     size_t length)
{
    return place_put_text(in(bundle, key), FERRY_TYPE_STRING, text, length, false);
}

ferry_status ferry_bundle_set_bytes(ferry_bundle *bundle, const char *key, const void *data,
                                    size_t length)
{
    return place_put_text(in(bundle, key), FERRY_TYPE_BYTES, data, length, false);
}

ferry_status ferry_bundle_set_strings(ferry_bundle *bundle, const char *key, size_t count,
                                      const char *const *texts, const size_t *lengths)
{
    return place_put_strings(in(bundle, key), count, texts, lengths);
}

ferry_status ferry_bundle_set_array(ferry_bundle *bundle, const char *key, ferry_type element,
                                    int dims, const int64_t *shape, const int64_t *strides_bytes,
                                    const void *data)
{
    const array_spec spec = {element, dims, shape, strides_bytes, data};

    return place_put_array(in(bundle, key), &spec, false);
}

ferry_status ferry_bundle_borrow_string(ferry_bundle *bundle, const char *key, const char *text,
                                        size_t length)
{
    return place_put_text(in(bundle, key), FERRY_TYPE_STRING, text, length, true);
}

ferry_status ferry_bundle_borrow_bytes(ferry_bundle *bundle, const char *key, const void *data,
                                       size_t length)
{
    return place_put_text(in(bundle, key), FERRY_TYPE_BYTES, data, length, true);
}

ferry_status ferry_bundle_borrow_array(ferry_bundle *bundle, const char *key, ferry_type element,
                                       int dims, const int64_t *shape, const int64_t *strides_bytes,
                                       const void *data)
{
    const array_spec spec = {element, dims, shape, strides_bytes, data};

    return place_put_array(in(bundle, key), &spec, true);
}

ferry_status ferry_bundle_set_bundle(ferry_bundle *bundle, const char *key, ferry_bundle *child)
{
    return place_put_tree(in(bundle, key), child ? &child->tree : NULL);
}

ferry_status ferry_bundle_set_list(ferry_bundle *bundle, const char *key, ferry_list *child)
{
    return place_put_tree(in(bundle, key), child ? &child->tree : NULL);
}

ferry_status ferry_bundle_remove(ferry_bundle *bundle, const char *key)
{
    if (!bundle || !key)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_remove: %s is NULL", bundle ? "key" : "bundle");
    return place_remove(in(bundle, key));
}

/* --- getting --- */

size_t ferry_bundle_count(const ferry_bundle *bundle)
{
    return bundle ? bundle->tree.count : 0;
}

const char *ferry_bundle_key(const ferry_bundle *bundle, size_t index)
{
    return index < ferry_bundle_count(bundle) ? bundle->tree.keys[index] : NULL;
}

ferry_status ferry_bundle_type(const ferry_bundle *bundle, const char *key, ferry_type *type_out)
{
    return place_type(in(bundle, key), type_out);
}

#define GET(name, NAME, type)                                                                      \
  ferry_status ferry_bundle_get_##name(const ferry_bundle *bundle, const char *key,                \
                                       type *value_out)                                            \
  {                                                                                                \
    return place_get_scalar(in(bundle, key), FERRY_TYPE_##NAME, value_out);                        \
  }
FERRY_SCALAR_LIST(GET)
#undef GET

ferry_status ferry_bundle_get_string(const ferry_bundle *bundle, const char *key,
                                     const char **text_out, size_t *length_out)
{
    text_view view;
    const ferry_status st =
        place_get_text(in(bundle, key), FERRY_TYPE_STRING, text_out && length_out ? &view : NULL);

    if (st != FERRY_OK)
        return st;
    *text_out = view.data;
    *length_out = view.bytes;
    return FERRY_OK;
}

ferry_status ferry_bundle_get_utf8(const ferry_bundle *bundle, const char *key, int *utf8_out)
{
    return place_get_utf8(in(bundle, key), utf8_out);
}

ferry_status ferry_bundle_get_bytes(const ferry_bundle *bundle, const char *key,
                                    const void **data_out, size_t *length_out)
{
    text_view view;
    const ferry_status st =
        place_get_text(in(bundle, key), FERRY_TYPE_BYTES, data_out && length_out ? &view : NULL);

    if (st != FERRY_OK)
        return st;
    *data_out = view.data;
    *length_out = view.bytes;
    return FERRY_OK;
}

ferry_status ferry_bundle_get_strings(const ferry_bundle *bundle, const char *key,
                                      size_t *count_out)
{
    return place_get_strings(in(bundle, key), count_out);
}

ferry_status ferry_bundle_get_string_at(const ferry_bundle *bundle, const char *key, size_t number,
                                        const char **text_out, size_t *length_out)
{
    text_view view;
    const ferry_status st =
        place_get_string_at(in(bundle, key), number, text_out && length_out ? &view : NULL);

    if (st != FERRY_OK)
        return st;
    *text_out = view.data;
    *length_out = view.bytes;
    return FERRY_OK;
}

ferry_status ferry_bundle_get_array(const ferry_bundle *bundle, const char *key, ferry_type element,
                                    ferry_array *array_out)
{
    return place_get_array(in(bundle, key), element, array_out);
}

ferry_status ferry_bundle_read_array(const ferry_bundle *bundle, const char *key,
                                     ferry_type element, int dims, const int64_t *shape,
                                     const int64_t *strides_bytes, void *data)
{
    const array_spec target = {element, dims, shape, strides_bytes, data};

    return place_read_array(in(bundle, key), &target);
}

ferry_status ferry_bundle_get_bundle(const ferry_bundle *bundle, const char *key,
                                     const ferry_bundle **child_out)
{
    tree *child;
    const ferry_status st =
        place_get_tree(in(bundle, key), FERRY_TYPE_BUNDLE, child_out ? &child : NULL);

    if (st == FERRY_OK)
        *child_out = (ferry_bundle *)child;
    return st;
}

ferry_status ferry_bundle_edit_bundle(ferry_bundle *bundle, const char *key,
                                      ferry_bundle **child_out)
{
    tree *child;
    const ferry_status st =
        place_get_tree(in(bundle, key), FERRY_TYPE_BUNDLE, child_out ? &child : NULL);

    if (st == FERRY_OK)
        *child_out = (ferry_bundle *)child;
    return st;
}

ferry_status ferry_bundle_get_list(const ferry_bundle *bundle, const char *key,
                                   const ferry_list **child_out)
{
    tree *child;
    const ferry_status st =
        place_get_tree(in(bundle, key), FERRY_TYPE_LIST, child_out ? &child : NULL);

    if (st == FERRY_OK)
        *child_out = (ferry_list *)child;
    return st;
}

ferry_status ferry_bundle_edit_list(ferry_bundle *bundle, const char *key, ferry_list **child_out)
{
    tree *child;
    const ferry_status st =
        place_get_tree(in(bundle, key), FERRY_TYPE_LIST, child_out ? &child : NULL);

    if (st == FERRY_OK)
        *child_out = (ferry_list *)child;
    return st;
}

/* --- attributes --- */

ferry_status ferry_bundle_edit_attributes(ferry_bundle *bundle, const char *key,
                                          ferry_bundle **attributes_out)
{
    tree *made;
    const ferry_status st = place_edit_attributes(in(bundle, key), attributes_out ? &made : NULL);

    if (st == FERRY_OK)
        *attributes_out = (ferry_bundle *)made;
    return st;
}

ferry_status ferry_bundle_get_attributes(const ferry_bundle *bundle, const char *key,
                                         const ferry_bundle **attributes_out)
{
    tree *found;
    const ferry_status st = place_get_attributes(in(bundle, key), attributes_out ? &found : NULL);

    if (st == FERRY_OK)
        *attributes_out = (ferry_bundle *)found;
    return st;
}

ferry_status ferry_bundle_remove_attributes(ferry_bundle *bundle, const char *key)
{
    return place_remove_attributes(in(bundle, key));
}
