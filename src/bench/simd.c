/* Strided copies with vector loops, compiled for several instruction sets; the processor's is taken
 * when the program starts. Single words are joined to vectors and stored whole, or taken apart from
 * one; rows of a known size become a few wide loads and stores. Knows nothing of MPI. */
#include <stdint.h>
#include <string.h>

#include "bench/simd.h"

#if defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define SANITIZED 1
#  endif
#elif defined(__SANITIZE_ADDRESS__)
#  define SANITIZED 1
#endif

/* Which body is taken is decided before a sanitizer is ready. */
#if defined(__x86_64__) && !defined(SANITIZED)
#  define FOR_PROCESSORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#  define FOR_PROCESSORS
#endif

enum { VECTOR = 64 };

typedef uint64_t word8 __attribute__((may_alias, aligned(1)));
typedef uint32_t word4 __attribute__((may_alias, aligned(1)));
typedef uint64_t vector8 __attribute__((vector_size(VECTOR), may_alias, aligned(1)));
typedef uint32_t vector4 __attribute__((vector_size(VECTOR), may_alias, aligned(1)));

#define EIGHT(X, j) X(j), X(j + 1), X(j + 2), X(j + 3), X(j + 4), X(j + 5), X(j + 6), X(j + 7)
#define LANES8(X) EIGHT(X, 0)
#define LANES4(X) EIGHT(X, 0), EIGHT(X, 8)

#define WORDS(width)                                                                               \
  FOR_PROCESSORS static void gather##width(char *to, const char *from, size_t stride, size_t rows) \
  {                                                                                                \
    for (; rows >= VECTOR / (width); rows -= VECTOR / (width)) {                                   \
      *(vector##width *)to = (vector##width){LANES##width(LOAD##width)};                           \
      to += VECTOR;                                                                                \
      from += VECTOR / (width)*stride;                                                             \
    }                                                                                              \
    for (; rows > 0; --rows, to += (width), from += stride)                                        \
      memcpy(to, from, width);                                                                     \
  }                                                                                                \
  FOR_PROCESSORS static void scatter##width(char *to, size_t stride, const char *from,             \
                                            size_t rows)                                           \
  {                                                                                                \
    for (; rows >= VECTOR / (width); rows -= VECTOR / (width)) {                                   \
      const vector##width v = *(const vector##width *)from;                                        \
      for (int k = 0; k < VECTOR / (width); ++k)                                                   \
        *(word##width *)(to + (size_t)k * stride) = v[k];                                          \
      from += VECTOR;                                                                              \
      to += VECTOR / (width)*stride;                                                               \
    }                                                                                              \
    for (; rows > 0; --rows, to += stride, from += (width))                                        \
      memcpy(to, from, width);                                                                     \
  }
#define LOAD8(j) *(const word8 *)(from + (j)*stride)
#define LOAD4(j) *(const word4 *)(from + (j)*stride)
WORDS(8)
WORDS(4)

#define ROW_SIZES(X) X(1) X(2) X(16) X(32) X(64) X(128) X(256) X(512)
#define COPY_ROWS(size)                                                                            \
  case size:                                                                                       \
    for (size_t j = 0; j < rows; ++j)                                                              \
      memcpy(to + j * to_stride, from + j * from_stride, size);                                    \
    break;

FOR_PROCESSORS static void copy_wide(char *to, size_t to_stride, const char *from,
                                     size_t from_stride, size_t rows, size_t run)
{
    switch (run) {
        ROW_SIZES(COPY_ROWS)
    default:
        for (size_t j = 0; j < rows; ++j)
            memcpy(to + j * to_stride, from + j * from_stride, run);
    }
}

/* The rows of one plane. */
static void copy_plane(char *to, size_t to_stride, const char *from, size_t from_stride,
                       size_t rows, size_t run)
{
    if (run == 8 && to_stride == 8)
        gather8(to, from, from_stride, rows);
    else if (run == 8 && from_stride == 8)
        scatter8(to, to_stride, from, rows);
    else if (run == 4 && to_stride == 4)
        gather4(to, from, from_stride, rows);
    else if (run == 4 && from_stride == 4)
        scatter4(to, to_stride, from, rows);
    else
        copy_wide(to, to_stride, from, from_stride, rows, run);
}

void simd_copy(void *to, const box *target, const void *from, const box *source)
{
    for (size_t i = 0; i < source->count[0]; ++i)
        copy_plane((char *)to + target->start + i * target->stride[0], target->stride[1],
                   (const char *)from + source->start + i * source->stride[0], source->stride[1],
                   source->count[1], source->run);
}
