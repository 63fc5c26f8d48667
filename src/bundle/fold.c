/* Sums, products, minima and maxima of two trees; see fold.h. One typed loop for each operation and
 * type, in a table; arrays that lie in another order are brought into the same one first. */
#include "bundle/fold.h"

#include <string.h>

#include "base/fold.h"
#include "base/trouble.h"
#include "bundle/schema.h"
#include "bundle/value.h"
#include "ferry/memory.h"

/* --- loops --- */

/* upper[i] = lower[i] op upper[i]: of two NaNs the lower side's stays. */
typedef void fold_loop(void *upper, const void *lower, size_t count);

#define LOOP(name, type, expression)                                                               \
  static void name(void *upper, const void *lower, size_t count)                                   \
  {                                                                                                \
    const type *const from = lower;                                                                \
    type *const to = upper;                                                                        \
    for (size_t i = 0; i < count; i++) {                                                           \
      const type a = from[i], b = to[i];                                                           \
      to[i] = expression;                                                                          \
    }                                                                                              \
  }

FOLD_LOOPS(LOOP)

#define ROW(NAME, name) [FERRY_TYPE_##NAME] = {sum_##name, prod_##name, min_##name, max_##name}
static fold_loop *const loops[FERRY_TYPE_COMPLEX128 + 1][FERRY_BUNDLE_MAX + 1] = {
    [FERRY_TYPE_BOOL] = {or_bool, and_bool, and_bool, or_bool},
    ROW(INT8, int8),
    ROW(INT16, int16),
    ROW(INT32, int32),
    ROW(INT64, int64),
    ROW(UINT8, uint8),
    ROW(UINT16, uint16),
    ROW(UINT32, uint32),
    ROW(UINT64, uint64),
    ROW(FLOAT32, float32),
    ROW(FLOAT64, float64),
    [FERRY_TYPE_COMPLEX64] = {sum_complex64, prod_complex64, NULL, NULL},
    [FERRY_TYPE_COMPLEX128] = {sum_complex128, prod_complex128, NULL, NULL},
};

static fold_loop *loop_of(const value *v, ferry_bundle_op op)
{
    const int type = v->type == FERRY_TYPE_ARRAY ? v->element : v->type;

    return type <= FERRY_TYPE_COMPLEX128 ? loops[type][op] : NULL;
}

static bool is_number(const value *v)
{
    return v->type == FERRY_TYPE_ARRAY || ferry_type_bytes(v->type) > 0;
}

/* --- trees --- */

static ferry_status check_tree(const way *outer, const tree *t, ferry_bundle_op op)
{
    way at = {outer, t, 0};
    char text[SCHEMA_WAY_BYTES];
    ferry_status st = FERRY_OK;

    for (; at.number < t->count && st == FERRY_OK; at.number++) {
        const value *const v = &t->values[at.number];
        if (value_is_tree(v))
            st = check_tree(&at, v->child, op);
        else if (is_number(v) && !loop_of(v, op))
            st = trouble(FERRY_ERR_TYPE, "\"%s\": complex numbers have no minimum and no maximum",
                         schema_way(&at, text));
    }
    return st;
}

ferry_status fold_check(const tree *t, ferry_bundle_op op)
{
    return check_tree(NULL, t, op);
}

static ferry_status fold_array(const value *lower, value *upper, fold_loop *loop)
{
    const size_t bytes = value_bytes(lower), each = ferry_type_bytes(lower->element);
    const uint8_t form = VALUE_COLUMN | VALUE_STRIDED;
    int64_t strides[2][FERRY_ARRAY_MAX_DIMS];
    void *packed = NULL;

    if (bytes == 0)
        return FERRY_OK;
    if ((lower->flags & form) != (upper->flags & form)) {
        const ferry_status st = ferry_memory_take(bytes, &packed);
        if (st != FERRY_OK)
            return st;
        const array_spec from = value_spec(lower, strides[0]), to = value_spec(upper, strides[1]);
        array_copy(&from, packed, to.strides);
    }
    loop((void *)upper->array.data, packed ? packed : lower->array.data, bytes / each);
    ferry_memory_give(packed);
    return FERRY_OK;
}

ferry_status fold(const tree *lower, tree *upper, ferry_bundle_op op)
{
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < upper->count && st == FERRY_OK; i++) {
        const value *const from = &lower->values[i];
        value *const to = &upper->values[i];
        if (value_is_tree(to))
            st = fold(from->child, to->child, op);
        else if (to->type == FERRY_TYPE_ARRAY)
            st = fold_array(from, to, loop_of(to, op));
        else if (is_number(to))
            loop_of(to, op)(to->scalar, from->scalar, 1);
    }
    return st;
}
