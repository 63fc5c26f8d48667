/* Images in plain memory, where tools see reading past their ends. */
#ifndef TESTS_UNIT_IMAGE_H
#define TESTS_UNIT_IMAGE_H

#include "unit/sample.h"

typedef struct image {
    unsigned char *data;
    size_t bytes;
} image;

static inline image encode(const ferry_bundle *b)
{
    image of = {NULL, 0};
    void *data;

    check_ok(ferry_bundle_encode(b, &data, &of.bytes));
    of.data = malloc(of.bytes);
    assert_non_null(of.data);
    memcpy(of.data, data, of.bytes);
    ferry_memory_give(data);
    return of;
}

#endif
