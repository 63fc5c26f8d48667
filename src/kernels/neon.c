/* The NEON set, for 64-bit Arm: tiles of every element size of the template, and gathers of narrow
 * rows joined in registers. Arm has no gather or scatter instructions short of SVE. Scatters are
 * left to the scalar loop, which is as many stores. Nothing here is streamed: stnp is a hint that
 * compilers reach only through assembly; the template's "streamed" lines are plain stores, so that
 * a tile that asks for them is still written line by line. Shown to be right under emulation, not
 * measured on a CPU. */
#include "kernels/sets.h"

#if defined(__aarch64__)
#  include <arm_neon.h>
#  include <string.h>

#  include "base/size.h"
#  include "kernels/turn.h"

#  define VECTOR /* every 64-bit Arm CPU that runs Linux has NEON */

enum { VEC_BYTES = 16 };

typedef uint8x16_t vec;

#  define vec_low(bits) vec_low_(bits)
#  define vec_low_(bits) zip_low_##bits
#  define vec_high(bits) vec_high_(bits)
#  define vec_high_(bits) zip_high_##bits

/* Casts between vectors of one size leave the bits as they are. */
#  define ZIPS(bits, lanes)                                                                        \
    static ALWAYS_INLINE vec zip_low_##bits(vec a, vec b)                                          \
    {                                                                                              \
      return (vec)vzip1q_u##bits((uint##bits##x##lanes##_t)a, (uint##bits##x##lanes##_t)b);        \
    }                                                                                              \
    static ALWAYS_INLINE vec zip_high_##bits(vec a, vec b)                                         \
    {                                                                                              \
      return (vec)vzip2q_u##bits((uint##bits##x##lanes##_t)a, (uint##bits##x##lanes##_t)b);        \
    }

ZIPS(8, 16)
ZIPS(16, 8)
ZIPS(32, 4)
ZIPS(64, 2)

static ALWAYS_INLINE vec vec_load(const char *at)
{
    return vld1q_u8((const uint8_t *)at);
}

/* A vector holds one row's 16 bytes: there is no step to a second row. */
static ALWAYS_INLINE vec vec_rows(const char *const *rows, int step, size_t at)
{
    (void)step;
    return vec_load(rows[0] + at);
}

static ALWAYS_INLINE void vec_put(char *at, vec v, int stream)
{
    (void)stream;
    vst1q_u8((uint8_t *)at, v);
}

static ALWAYS_INLINE void line_stream(char *to, const char *from)
{
    UNROLL for (int i = 0; i < TURN_LINE; i += VEC_BYTES) vec_put(to + i, vec_load(from + i), 1);
}

#  define PIECE 1
#  define BITS 8
#  define NAME(x) x##_1
#  include "kernels/turn_tmpl.h"
#  define PIECE 2
#  define BITS 16
#  define NAME(x) x##_2
#  include "kernels/turn_tmpl.h"
#  define PIECE 4
#  define BITS 32
#  define NAME(x) x##_4
#  include "kernels/turn_tmpl.h"
#  define PIECE 8
#  define BITS 64
#  define NAME(x) x##_8
#  include "kernels/turn_tmpl.h"
#  define PIECE 16
#  define BITS 128
#  define NAME(x) x##_16
#  include "kernels/turn_tmpl.h"

static bool usable(void)
{
    return true;
}

/* Lanes loaded one by one from src + i * stride, into a whole vector: one store for all of them.
 * Two halves, because each lane load waits for the one before it. Lanes have no alignment. */
#  define GATHER(bytes, bits, half)                                                                \
    static ALWAYS_INLINE uint8x8_t lanes_##bytes(const char *src, ptrdiff_t stride)                \
    {                                                                                              \
      uint##bits##_t lane[half];                                                                   \
      uint##bits##x##half##_t v = {0};                                                             \
      UNROLL for (int i = 0; i < half; i++)                                                        \
      {                                                                                            \
        memcpy(&lane[i], src + i * stride, bytes);                                                 \
        v[i] = lane[i];                                                                            \
      }                                                                                            \
      return (uint8x8_t)v;                                                                         \
    }                                                                                              \
    static void gather_##bytes(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src, \
                               ptrdiff_t src_stride, size_t count, size_t run)                     \
    {                                                                                              \
      enum { ROWS = 2 * half };                                                                    \
      for (; count >= ROWS; count -= ROWS, dst += VEC_BYTES, src += ROWS * src_stride) {           \
        const uint8x8_t low = lanes_##bytes(src, src_stride);                                      \
        const uint8x8_t high = lanes_##bytes(src + half * src_stride, src_stride);                 \
        vst1q_u8((uint8_t *)dst, vcombine_u8(low, high));                                          \
      }                                                                                            \
      kernels_scalar_runs(bytes, 0, 1)(dst, dst_stride, src, src_stride, count, run);              \
    }

GATHER(1, 8, 8)
GATHER(2, 16, 4)
GATHER(4, 32, 2)
GATHER(8, 64, 1)

static const runs_entry runs[] = {
    {1, 1, NULL, gather_1, NULL}, {2, 2, NULL, gather_2, NULL}, {4, 4, NULL, gather_4, NULL},
    {8, 8, NULL, gather_8, NULL}, {0, 0, NULL, NULL, NULL},
};

static const tile_entry tiles[] = {
    {1, 1, tile_1}, {2, 2, tile_2}, {4, 4, tile_4}, {8, 8, tile_8}, {16, 16, tile_16}, {0, 0, NULL},
};

const kernel_set kernels_neon = {
    .name = "neon",
    .usable = usable,
    .runs = runs,
    .tiles = tiles,
    .copy_streamed = NULL,
    .runs_streamed = NULL,
};
#endif
