/* Loops that combine elements, one for each op and type, in a table. Each element is combined by
 * itself, so whatever the compiler makes of a loop, its bits are those of the plain expression;
 * this file is compiled without contraction of a * b + c, which would round once less, and not
 * everywhere. Knows nothing of layouts: who has strides packs first. */
#include "kernels/fold.h"

#include <stdbool.h>

#include "base/fold.h"

#define LOOP(name, type, expression)                                                               \
  static void name(void *restrict there, const void *restrict arriving, size_t count)              \
  {                                                                                                \
    type *const to = there;                                                                        \
    const type *const from = arriving;                                                             \
    for (size_t i = 0; i < count; i++) {                                                           \
      const type a = to[i], b = from[i];                                                           \
      to[i] = expression;                                                                          \
    }                                                                                              \
  }

FOLD_LOOPS(LOOP)

#define ROW(NAME, name, type)                                                                      \
  [FERRY_TYPE_##NAME] = {#name, sizeof(type), {sum_##name, prod_##name, min_##name, max_##name}}

static const struct {
    const char *name;
    size_t bytes;
    kernel_fold *loops[FERRY_OP_MAX - FERRY_OP_SUM + 1];
} types[] = {
    [FERRY_TYPE_BOOL] = {"bool", sizeof(bool), {or_bool, and_bool, and_bool, or_bool}},
    ROW(INT8, int8, int8_t),
    ROW(INT16, int16, int16_t),
    ROW(INT32, int32, int32_t),
    ROW(INT64, int64, int64_t),
    ROW(UINT8, uint8, uint8_t),
    ROW(UINT16, uint16, uint16_t),
    ROW(UINT32, uint32, uint32_t),
    ROW(UINT64, uint64, uint64_t),
    ROW(FLOAT32, float32, float),
    ROW(FLOAT64, float64, double),
    [FERRY_TYPE_COMPLEX64] = {"complex64",
                              sizeof(ferry_complex64),
                              {sum_complex64, prod_complex64, NULL, NULL}},
    [FERRY_TYPE_COMPLEX128] = {"complex128",
                               sizeof(ferry_complex128),
                               {sum_complex128, prod_complex128, NULL, NULL}},
};

static const char *const ops[] = {
    [FERRY_OP_REPLACE] = "replace", [FERRY_OP_SUM] = "sum", [FERRY_OP_PROD] = "prod",
    [FERRY_OP_MIN] = "min",         [FERRY_OP_MAX] = "max", [FERRY_OP_LAST] = "last",
};

/* Callers may have anything in their enums. */
static bool known(ferry_type type)
{
    return (unsigned)type < sizeof types / sizeof *types && types[type].bytes > 0;
}

kernel_fold *kernels_fold(ferry_op op, ferry_type type)
{
    const bool computes = (int)op >= FERRY_OP_SUM && (int)op <= FERRY_OP_MAX;

    return computes && known(type) ? types[type].loops[op - FERRY_OP_SUM] : NULL;
}

size_t kernels_fold_bytes(ferry_type type)
{
    return known(type) ? types[type].bytes : 0;
}

const char *kernels_fold_op(ferry_op op)
{
    return (unsigned)op < sizeof ops / sizeof *ops ? ops[op] : "?";
}

const char *kernels_fold_type(ferry_type type)
{
    return known(type) ? types[type].name : "?";
}
