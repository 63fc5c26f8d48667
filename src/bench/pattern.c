/* Known contents, and plain copies of strided blocks. One body per word width, made by macros.
 * Knows nothing of MPI. */
#include <string.h>

#include "bench/pattern.h"

size_t pattern_unit(size_t element_bytes)
{
    size_t unit = 8;

    while (element_bytes % unit != 0)
        unit /= 2;
    return unit;
}

/* Fields are memory without a type, so their words are read and written through types that may
 * alias anything. */
#define WIDTHS(X) X(8, uint64_t) X(4, uint32_t) X(2, uint16_t) X(1, uint8_t)
#define ALIAS(width, type) typedef type __attribute__((may_alias)) word##width;
WIDTHS(ALIAS)

#define BODIES(width, type)                                                                        \
  static void fill##width(word##width *at, size_t words, uint64_t rank, uint64_t index,            \
                          uint64_t round)                                                          \
  {                                                                                                \
    for (size_t k = 0; k < words; ++k)                                                             \
      at[k] = (type)pattern_at(rank, index + k, round);                                            \
  }                                                                                                \
  static size_t wrong##width(const word##width *at, size_t words, uint64_t rank, uint64_t index,   \
                             uint64_t round)                                                       \
  {                                                                                                \
    size_t wrong = 0;                                                                              \
                                                                                                   \
    for (size_t k = 0; k < words; ++k)                                                             \
      wrong += at[k] != (type)pattern_at(rank, index + k, round);                                  \
    return wrong;                                                                                  \
  }                                                                                                \
  static void advance##width(char *base, const box *b, type by)                                    \
  {                                                                                                \
    const size_t words = b->run / width;                                                           \
                                                                                                   \
    for (size_t i = 0; i < b->count[0]; ++i)                                                       \
      for (size_t j = 0; j < b->count[1]; ++j) {                                                   \
        word##width *const at =                                                                    \
            (word##width *)(base + b->start + i * b->stride[0] + j * b->stride[1]);                \
        for (size_t k = 0; k < words; ++k)                                                         \
          at[k] = (type)(at[k] + by);                                                              \
      }                                                                                            \
  }
WIDTHS(BODIES)

void pattern_fill(void *base, const box *where, size_t unit, uint64_t rank, uint64_t first,
                  uint64_t round)
{
    for (size_t i = 0; i < where->count[0]; ++i)
        for (size_t j = 0; j < where->count[1]; ++j) {
            const size_t at = where->start + i * where->stride[0] + j * where->stride[1];
            const uint64_t index = first + at / unit;
            void *const row = (char *)base + at;
            switch (unit) {
#define FILL(width, type)                                                                          \
  case width:                                                                                      \
    fill##width(row, where->run / width, rank, index, round);                                      \
    break;
                WIDTHS(FILL)
            }
        }
}

void pattern_advance(void *base, const box *where, size_t unit, uint64_t rounds)
{
    const uint64_t by = rounds * PATTERN_STEP;

    switch (unit) {
#define ADVANCE(width, type)                                                                       \
  case width:                                                                                      \
    advance##width(base, where, (type)by);                                                         \
    break;
        WIDTHS(ADVANCE)
    }
}

size_t pattern_wrong(const void *base, const box *where, const box *origin, size_t unit,
                     uint64_t rank, uint64_t round)
{
    size_t wrong = 0;

    for (size_t i = 0; i < where->count[0]; ++i)
        for (size_t j = 0; j < where->count[1]; ++j) {
            const size_t at = where->start + i * where->stride[0] + j * where->stride[1];
            const uint64_t index =
                (origin->start + i * origin->stride[0] + j * origin->stride[1]) / unit;
            const void *const row = (const char *)base + at;
            switch (unit) {
#define WRONG(width, type)                                                                         \
  case width:                                                                                      \
    wrong += wrong##width(row, where->run / width, rank, index, round);                            \
    break;
                WIDTHS(WRONG)
            }
        }
    return wrong;
}

/* Rows of a size known to the compiler, as a program that knows its element type has them. */
#define ROW_SIZES(X) X(1) X(2) X(4) X(8) X(16) X(32) X(64)
#define COPY_ROWS(size)                                                                            \
  case size:                                                                                       \
    for (size_t j = 0; j < rows; ++j)                                                              \
      memcpy(to + j * to_stride, from + j * from_stride, size);                                    \
    break;

static void copy_rows(char *to, size_t to_stride, const char *from, size_t from_stride, size_t rows,
                      size_t run)
{
    switch (run) {
        ROW_SIZES(COPY_ROWS)
    default:
        for (size_t j = 0; j < rows; ++j)
            memcpy(to + j * to_stride, from + j * from_stride, run);
    }
}

void box_copy(void *to, const box *target, const void *from, const box *source)
{
    for (size_t i = 0; i < source->count[0]; ++i)
        copy_rows((char *)to + target->start + i * target->stride[0], target->stride[1],
                  (const char *)from + source->start + i * source->stride[0], source->stride[1],
                  source->count[1], source->run);
}

box box_packed(const box *b)
{
    return (box){0, {b->count[0], b->count[1]}, {b->count[1] * b->run, b->run}, b->run};
}
