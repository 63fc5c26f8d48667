/* What folding computes: FOLD_LOOPS(LOOP) writes LOOP(name, type, expression) once for each op and
 * type of number, named as sum_int8. The expression is of a, which is there first, and b. */
#ifndef BASE_FOLD_H
#define BASE_FOLD_H

#include <stdint.h>

#include "ferry/element.h"

/* Integers wrap around: in 64 bits without a sign, then cut. */
#define FOLD_INTEGER(LOOP, name)                                                                   \
  LOOP(sum_##name, name##_t, (name##_t)((uint64_t)a + (uint64_t)b))                                \
  LOOP(prod_##name, name##_t, (name##_t)((uint64_t)a * (uint64_t)b))                               \
  LOOP(min_##name, name##_t, a <= b ? a : b)                                                       \
  LOOP(max_##name, name##_t, a >= b ? a : b)

/* A NaN that is there stays; another one fails the comparison and is taken. */
#define FOLD_REAL(LOOP, name, type)                                                                \
  LOOP(sum_##name, type, a + b)                                                                    \
  LOOP(prod_##name, type, (a)*b)                                                                   \
  LOOP(min_##name, type, a != a || a <= b ? a : b)                                                 \
  LOOP(max_##name, type, a != a || a >= b ? a : b)

#define FOLD_COMPLEX(LOOP, name, type)                                                             \
  LOOP(sum_##name, type, ((type){a.re + b.re, a.im + b.im}))                                       \
  LOOP(prod_##name, type, ((type){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}))

/* Truth values as bytes, since what arrives may be no bool. */
#define FOLD_LOOPS(LOOP)                                                                           \
  LOOP(or_bool, uint8_t, (a | b) != 0)                                                             \
  LOOP(and_bool, uint8_t, a != 0 && b != 0)                                                        \
  FOLD_INTEGER(LOOP, int8)                                                                         \
  FOLD_INTEGER(LOOP, int16)                                                                        \
  FOLD_INTEGER(LOOP, int32)                                                                        \
  FOLD_INTEGER(LOOP, int64)                                                                        \
  FOLD_INTEGER(LOOP, uint8)                                                                        \
  FOLD_INTEGER(LOOP, uint16)                                                                       \
  FOLD_INTEGER(LOOP, uint32)                                                                       \
  FOLD_INTEGER(LOOP, uint64)                                                                       \
  FOLD_REAL(LOOP, float32, float)                                                                  \
  FOLD_REAL(LOOP, float64, double)                                                                 \
  FOLD_COMPLEX(LOOP, complex64, ferry_complex64)                                                   \
  FOLD_COMPLEX(LOOP, complex128, ferry_complex128)

#endif
