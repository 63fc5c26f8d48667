/* Arrays: checking shapes and strides, and walking two arrays of one shape together. Knows nothing
 * of values or trees. */
#ifndef BUNDLE_ARRAY_H
#define BUNDLE_ARRAY_H

#include "ferry/bundle.h"

typedef struct array_spec {
    ferry_type element;
    int dims;
    const int64_t *shape;
    const int64_t *strides; /* bytes; NULL: dense in C order */
    const void *data;
} array_spec;

typedef struct array_form {
    size_t bytes; /* of all elements */
    bool dense;   /* the elements lie one after another, in the order that column_major tells */
    bool column_major; /* first index fastest; never with less than two dimensions */
} array_form;

/* Check every number of a caller's array and find its form. */
ferry_status array_check(const array_spec *spec, array_form *form_out);

/* Bytes of a shape, false when they do not fit in 63 bits or a number is negative. */
bool array_bytes(ferry_type element, int dims, const int64_t *shape, size_t *bytes_out);

/* Strides of a dense array. */
void array_strides(const array_spec *spec, bool column_major, int64_t *strides_out);

/* Copy all elements of `src` to `data`, where they lie with the strides given. */
void array_copy(const array_spec *src, void *data, const int64_t *strides);

/* Equal element types, shapes and elements, bit for bit. Both have strides. */
bool array_equal(const array_spec *a, const array_spec *b);

/* Offset of the element with a number in C order. */
int64_t array_offset(const array_spec *spec, size_t number);

#endif
