/* Values: making them from the caller's data, looking at them, dropping what they own. Knows
 * nothing of trees around them. */
#ifndef BUNDLE_VALUE_H
#define BUNDLE_VALUE_H

#include "bundle/array.h"
#include "bundle/tree.h"

value value_scalar(ferry_type type, const void *bits);
value value_tree(tree *child);
ferry_status value_text(ferry_type type, const void *data, size_t bytes, bool borrow,
                        value *value_out);
ferry_status value_strings(size_t count, const char *const *texts, const size_t *lengths,
                           value *value_out);
ferry_status value_array(const array_spec *spec, bool borrow, value *value_out);

/* A deep copy that borrows nothing. */
ferry_status value_copy(const value *v, value *copy_out);

/* An array whose elements are to be filled in. */
ferry_status value_blank(int element, int dims, const int64_t *shape, bool column_major,
                         value *value_out);

/* Free what a value owns. */
void value_drop(value *v);

/* A string, or each of an array of strings, is UTF-8. */
bool value_utf8(const value *v);

/* The data of a value, and their bytes: 0 for null, lists and bundles. Those of strided arrays are
 * bytes of the elements, and begin at the first one. */
const void *value_data(const value *v);
size_t value_bytes(const value *v);

/* The bytes of an array of strings: behind its ends. */
static inline const char *strings_text(const value *v)
{
    return (const char *)(v->strings.ends + v->strings.count);
}

text_view strings_view(const value *v, size_t number);

/* An array with its strides, which are written to `strides` when it is dense. */
array_spec value_spec(const value *v, int64_t strides[FERRY_ARRAY_MAX_DIMS]);

/* Both have the same records in a schema, but for borrowed strings whether they are UTF-8. */
bool value_alike(const value *a, const value *b);

#endif
