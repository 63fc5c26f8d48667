/* The content of the case bundle as ferry's container: built once, its scalars set anew in every
 * round, and read value by value to verify it. Uses the public calls as a program does. */
#include <math.h>
#include <string.h>

#include "bench/tree.h"

static const char *at(const void *payload, size_t offset)
{
    return (const char *)payload + offset;
}

/* --- building --------------------------------------------------------------------------------- */

static ferry_status borrow_matrix(ferry_bundle *bundle, const char *key, const int64_t shape[2],
                                  const void *data)
{
    return ferry_bundle_borrow_array(bundle, key, FERRY_TYPE_FLOAT64, 2, shape, NULL, data);
}

static ferry_status set_scalar(ferry_bundle *leaf, const content_entry *e, const void *payload)
{
    double value;

    memcpy(&value, at(payload, e->offset), sizeof value);
    return ferry_bundle_set_float64(leaf, e->key, value);
}

static ferry_status set_entry(ferry_bundle *leaf, const content_entry *e, const void *payload)
{
    static const int64_t shape[] = {CONTENT_SIDE, CONTENT_SIDE};

    if (e->type == CONTENT_SCALAR)
        return set_scalar(leaf, e, payload);
    if (e->type == CONTENT_MATRIX)
        return borrow_matrix(leaf, e->key, shape, at(payload, e->offset));
    return ferry_bundle_borrow_string(leaf, e->key, at(payload, e->offset), CONTENT_STRING_BYTES);
}

/* The container under a key, made when it is not there. */
static ferry_status enter(ferry_bundle *parent, char letter, size_t index, ferry_bundle **child_out)
{
    char key[CONTENT_KEY_BYTES];
    ferry_bundle *child = NULL;

    content_key(key, letter, index);
    ferry_status st = ferry_bundle_edit_bundle(parent, key, child_out);
    if (st != FERRY_ERR_NOT_FOUND)
        return st;
    st = ferry_bundle_new(&child);
    if (st == FERRY_OK)
        st = ferry_bundle_set_bundle(parent, key, child);
    if (st != FERRY_OK)
        return ferry_bundle_free(child), st;
    return ferry_bundle_edit_bundle(parent, key, child_out);
}

/* The innermost container of a small entry. */
static ferry_status enter_leaf(ferry_bundle *top, size_t index, ferry_bundle **leaf_out)
{
    ferry_bundle *section = NULL;
    ferry_status st = enter(top, 'g', index / CONTENT_SECTION, &section);

    if (st == FERRY_OK)
        st = enter(section, 'l', index % CONTENT_SECTION / CONTENT_LEAF, leaf_out);
    return st;
}

/* All small entries, or the scalars among them. */
static ferry_status set_small(const content *c, const void *payload, bool scalars,
                              ferry_bundle *top)
{
    ferry_bundle *leaf = NULL;
    ferry_status st = FERRY_OK;

    for (size_t k = 0; k < c->small && st == FERRY_OK; ++k) {
        const content_entry e = content_small(c, k);
        if (k % CONTENT_LEAF == 0)
            st = enter_leaf(top, k, &leaf);
        if (st == FERRY_OK && (!scalars || e.type == CONTENT_SCALAR))
            st = set_entry(leaf, &e, payload);
    }
    return st;
}

static ferry_status set_matrices(const content *c, const double *payload, ferry_bundle *top)
{
    const int64_t shape[] = {(int64_t)c->rows, (int64_t)c->columns};
    ferry_status st = FERRY_OK;

    for (size_t k = 0; k < c->count && st == FERRY_OK; ++k) {
        char key[CONTENT_KEY_BYTES];
        content_key(key, 'm', k);
        st = borrow_matrix(top, key, shape, payload + k * c->rows * c->columns);
    }
    return st;
}

ferry_status tree_build(const content *c, const void *payload, ferry_bundle **bundle_out)
{
    ferry_bundle *top = NULL;
    ferry_status st = ferry_bundle_new(&top);

    if (st == FERRY_OK)
        st = c->small ? set_small(c, payload, false, top) : set_matrices(c, payload, top);
    if (st != FERRY_OK)
        return ferry_bundle_free(top), st;
    *bundle_out = top;
    return FERRY_OK;
}

ferry_status tree_update(const content *c, const void *payload, ferry_bundle *bundle)
{
    return set_small(c, payload, true, bundle);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* The elements of a matrix of that shape; NULL when there is none. */
static const double *matrix_of(const ferry_bundle *bundle, const char *key, size_t rows,
                               size_t columns)
{
    ferry_array array;

    if (ferry_bundle_get_array(bundle, key, FERRY_TYPE_FLOAT64, &array) != FERRY_OK ||
        array.dims != 2 || array.shape[0] != (int64_t)rows || array.shape[1] != (int64_t)columns ||
        array.column_major)
        return NULL;
    return array.data;
}

static const ferry_bundle *find_leaf(const ferry_bundle *top, size_t index)
{
    char key[CONTENT_KEY_BYTES];
    const ferry_bundle *section = NULL, *leaf = NULL;

    content_key(key, 'g', index / CONTENT_SECTION);
    if (ferry_bundle_get_bundle(top, key, &section) != FERRY_OK)
        return NULL;
    content_key(key, 'l', index % CONTENT_SECTION / CONTENT_LEAF);
    return ferry_bundle_get_bundle(section, key, &leaf) == FERRY_OK ? leaf : NULL;
}

static bool string_is(const content *c, const ferry_bundle *leaf, const content_entry *e,
                      uint64_t rank, uint64_t round)
{
    const size_t index = (e->offset - content_doubles(c) * sizeof(double)) / CONTENT_STRING_BYTES;
    const char *text = NULL;
    size_t length = 0;

    return ferry_bundle_get_string(leaf, e->key, &text, &length) == FERRY_OK &&
           length == CONTENT_STRING_BYTES && content_string_is(text, index, rank, round);
}

static size_t wrong_entry(const content *c, const ferry_bundle *leaf, const content_entry *e,
                          uint64_t rank, uint64_t round)
{
    const size_t first = e->offset / sizeof(double), cells = CONTENT_SIDE * CONTENT_SIDE;
    double value = 0;

    if (e->type == CONTENT_STRING)
        return !string_is(c, leaf, e, rank, round);
    if (e->type == CONTENT_SCALAR)
        return ferry_bundle_get_float64(leaf, e->key, &value) != FERRY_OK ||
               content_wrong_doubles(&value, first, 1, rank, round);
    const double *const data = matrix_of(leaf, e->key, CONTENT_SIDE, CONTENT_SIDE);
    return data ? content_wrong_doubles(data, first, cells, rank, round) : cells;
}

static size_t wrong_small(const content *c, const ferry_bundle *top, uint64_t rank, uint64_t round)
{
    const ferry_bundle *leaf = NULL;
    size_t wrong = 0;

    for (size_t k = 0; k < c->small; ++k) {
        const content_entry e = content_small(c, k);
        if (k % CONTENT_LEAF == 0 && !(leaf = find_leaf(top, k)))
            return content_values(c);
        wrong += wrong_entry(c, leaf, &e, rank, round);
    }
    return wrong;
}

static size_t wrong_matrices(const content *c, const ferry_bundle *top, uint64_t rank,
                             uint64_t round)
{
    const size_t elements = c->rows * c->columns;
    size_t wrong = 0;

    if (ferry_bundle_count(top) != c->count)
        return content_values(c);
    for (size_t k = 0; k < c->count; ++k) {
        char key[CONTENT_KEY_BYTES];
        content_key(key, 'm', k);
        const double *const data = matrix_of(top, key, c->rows, c->columns);
        wrong += data ? content_wrong_doubles(data, k * elements, elements, rank, round) : elements;
    }
    return wrong;
}

size_t tree_wrong(const content *c, const ferry_bundle *bundle, uint64_t rank, uint64_t round)
{
    if (!bundle)
        return content_values(c);
    return c->small ? wrong_small(c, bundle, rank, round) : wrong_matrices(c, bundle, rank, round);
}

double tree_difference(const content *c, const ferry_bundle *bundle, const double *payload)
{
    const size_t elements = c->rows * c->columns;
    double sum = 0;

    if (!bundle || ferry_bundle_count(bundle) != c->count)
        return INFINITY;
    for (size_t k = 0; k < c->count; ++k) {
        char key[CONTENT_KEY_BYTES];
        content_key(key, 'm', k);
        const double *const data = matrix_of(bundle, key, c->rows, c->columns);
        for (size_t j = 0; data && j < elements; ++j)
            sum += fabs(data[j] - payload[k * elements + j]);
        sum = data ? sum : INFINITY;
    }
    return sum;
}
