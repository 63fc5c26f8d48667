/* Are two trees equal, bit for bit? */
#include <string.h>

#include "bundle/value.h"

static bool tree_equal(const tree *a, const tree *b);

static bool array_values_equal(const value *a, const value *b)
{
    int64_t strides_a[FERRY_ARRAY_MAX_DIMS], strides_b[FERRY_ARRAY_MAX_DIMS];
    const array_spec spec_a = value_spec(a, strides_a), spec_b = value_spec(b, strides_b);

    return (a->flags & VALUE_COLUMN) == (b->flags & VALUE_COLUMN) && array_equal(&spec_a, &spec_b);
}

static bool value_equal(const value *a, const value *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case FERRY_TYPE_ARRAY:
        return array_values_equal(a, b);
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        return a->text.bytes == b->text.bytes &&
               memcmp(a->text.data, b->text.data, a->text.bytes) == 0;
    case FERRY_TYPE_LIST:
    case FERRY_TYPE_BUNDLE:
        return tree_equal(a->child, b->child);
    default:
        return memcmp(a->scalar, b->scalar, ferry_type_bytes(a->type)) == 0;
    }
}

static bool tree_equal(const tree *a, const tree *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if ((!a->is_list && strcmp(a->keys[i], b->keys[i]) != 0) ||
            !value_equal(&a->values[i], &b->values[i]))
            return false;
    return true;
}

int ferry_bundle_equal(const ferry_bundle *a, const ferry_bundle *b)
{
    if (!a || !b)
        return a == b;
    return tree_equal(&a->tree, &b->tree);
}
