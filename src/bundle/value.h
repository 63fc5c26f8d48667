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
ferry_status value_array(const array_spec *spec, bool borrow, value *value_out);

/* Free what a value owns. */
void value_drop(value *v);

/* A string holds UTF-8. */
bool value_utf8(const value *v);

/* An array with its strides, which are written to `strides` when it is dense. */
array_spec value_spec(const value *v, int64_t strides[FERRY_ARRAY_MAX_DIMS]);
size_t value_array_bytes(const value *v);

#endif
