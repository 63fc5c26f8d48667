/* Bundles and lists behind one set of names, so that each reader is written once. */
#include "convert/place.h"

#include <string.h>

ferry_status place_null(const place *at)
{
    return at->bundle ? ferry_bundle_set_null(at->bundle, at->key)
                      : ferry_list_append_null(at->list);
}

ferry_status place_scalar(const place *at, ferry_type type, const void *bits)
{
    switch (type) {
#define PUT(name, NAME, ctype)                                                                     \
  case FERRY_TYPE_##NAME: {                                                                        \
    ctype value;                                                                                   \
    memcpy(&value, bits, sizeof value);                                                            \
    return at->bundle ? ferry_bundle_set_##name(at->bundle, at->key, value)                        \
                      : ferry_list_append_##name(at->list, value);                                 \
  }
        FERRY_SCALAR_LIST(PUT)
#undef PUT
    default:
        return ferry_status_fail(FERRY_ERR_TYPE, "%s is no type of single values",
                                 ferry_type_name(type));
    }
}

ferry_status place_string(const place *at, const char *text, size_t bytes)
{
    return at->bundle ? ferry_bundle_set_string(at->bundle, at->key, text, bytes)
                      : ferry_list_append_string(at->list, text, bytes);
}

ferry_status place_bytes(const place *at, const void *data, size_t bytes)
{
    return at->bundle ? ferry_bundle_set_bytes(at->bundle, at->key, data, bytes)
                      : ferry_list_append_bytes(at->list, data, bytes);
}

ferry_status place_strings(const place *at, size_t count, const char *const *texts,
                           const size_t *lengths)
{
    return at->bundle ? ferry_bundle_set_strings(at->bundle, at->key, count, texts, lengths)
                      : ferry_list_append_strings(at->list, count, texts, lengths);
}

/* Strides of a dense array whose first index runs fastest. An array without elements has none that
 * could overflow. */
static void column_strides(ferry_type element, int dims, const int64_t *shape, int64_t *strides_out)
{
    int64_t stride = (int64_t)ferry_type_bytes(element);

    for (int k = 0; k < dims; k++) {
        strides_out[k] = stride;
        if (__builtin_mul_overflow(stride, shape[k] > 0 ? shape[k] : 1, &stride))
            stride = 0;
    }
}

ferry_status place_array(const place *at, ferry_type element, int dims, const int64_t *shape,
                         bool column_major, const void *data)
{
    int64_t columns[FERRY_ARRAY_MAX_DIMS];
    const int64_t *strides = NULL;

    if (column_major && dims > 1 && dims <= FERRY_ARRAY_MAX_DIMS) {
        column_strides(element, dims, shape, columns);
        strides = columns;
    }
    return at->bundle
               ? ferry_bundle_set_array(at->bundle, at->key, element, dims, shape, strides, data)
               : ferry_list_append_array(at->list, element, dims, shape, strides, data);
}

ferry_status place_bundle(const place *at, ferry_bundle **child_out)
{
    ferry_bundle *child;
    ferry_status st = ferry_bundle_new(&child);

    if (st != FERRY_OK)
        return st;
    st = at->bundle ? ferry_bundle_set_bundle(at->bundle, at->key, child)
                    : ferry_list_append_bundle(at->list, child);
    if (st != FERRY_OK) {
        ferry_bundle_free(child);
        return st;
    }
    *child_out = child;
    return FERRY_OK;
}

ferry_status place_list(const place *at, ferry_list **child_out)
{
    ferry_list *child;
    ferry_status st = ferry_list_new(&child);

    if (st != FERRY_OK)
        return st;
    st = at->bundle ? ferry_bundle_set_list(at->bundle, at->key, child)
                    : ferry_list_append_list(at->list, child);
    if (st != FERRY_OK) {
        ferry_list_free(child);
        return st;
    }
    *child_out = child;
    return FERRY_OK;
}

ferry_status place_attributes(const place *at, ferry_bundle **attributes_out)
{
    return at->bundle ? ferry_bundle_edit_attributes(at->bundle, at->key, attributes_out)
                      : ferry_list_edit_attributes(at->list, ferry_list_count(at->list) - 1,
                                                   attributes_out);
}

size_t place_count(const place *at)
{
    return at->bundle ? ferry_bundle_count(at->bundle) : ferry_list_count(at->list);
}

size_t branch_count(branch b)
{
    return b.bundle ? ferry_bundle_count(b.bundle) : ferry_list_count(b.list);
}

ferry_status branch_item(branch b, size_t index, ferry_item *item_out)
{
    return b.bundle ? ferry_bundle_item(b.bundle, index, item_out)
                    : ferry_list_item(b.list, index, item_out);
}

ferry_status place_dense(const ferry_item *item, ferry_bundle **holder_out, ferry_item *dense_out)
{
    ferry_bundle *holder = NULL;
    ferry_status st;

    if (item->type != FERRY_TYPE_ARRAY || !item->strides_bytes) {
        *holder_out = NULL;
        *dense_out = *item;
        return FERRY_OK;
    }
    st = ferry_bundle_new(&holder);
    if (st == FERRY_OK)
        st = ferry_bundle_set_array(holder, "x", item->element, item->dims, item->shape,
                                    item->strides_bytes, item->data);
    if (st == FERRY_OK)
        st = ferry_bundle_item(holder, 0, dense_out);
    if (st != FERRY_OK) {
        ferry_bundle_free(holder);
        return st;
    }
    *holder_out = holder;
    return FERRY_OK;
}
