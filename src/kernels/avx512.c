/* The AVX-512 set: tiles of every element size of the template, and scatters of narrow rows. Gather
 * instructions are left out: on the one CPU measured, Zen 4, they were never faster than loads
 * joined in registers (the AVX2 set has those). Scatters of 16 bytes as pairs of 8 took 1.2 to 3
 * times as long as the scalar loop; there is no scatter instruction for 1 and 2. */
#include "kernels/sets.h"

#if defined(__x86_64__)
#  include <immintrin.h>
#  include <string.h>

#  include "base/size.h"
#  include "kernels/turn.h"

#  define VECTOR __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

enum {
    VEC_BYTES = 64,
    SCATTER_STRIDE = 128 /* bytes */
};

typedef __m512i vec;

#  define vec_low(bits) vec_low_(bits)
#  define vec_low_(bits) _mm512_unpacklo_epi##bits
#  define vec_high(bits) vec_high_(bits)
#  define vec_high_(bits) _mm512_unpackhi_epi##bits

static ALWAYS_INLINE VECTOR __m256i two_rows(const char *first, const char *second)
{
    const __m256i low = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)first));

    return _mm256_inserti128_si256(low, _mm_loadu_si128((const __m128i *)second), 1);
}

static ALWAYS_INLINE VECTOR vec vec_rows(const char *const *rows, int step, size_t at)
{
    const __m256i low = two_rows(rows[0] + at, rows[step] + at);
    const __m256i high = two_rows(rows[2 * step] + at, rows[3 * step] + at);

    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

static ALWAYS_INLINE VECTOR void vec_put(char *at, vec v, int stream)
{
    if (stream)
        _mm512_stream_si512((void *)at, v);
    else
        _mm512_storeu_si512(at, v);
}

static ALWAYS_INLINE VECTOR void line_stream(char *to, const char *from)
{
    vec_put(to, _mm512_loadu_si512(from), 1);
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

static VECTOR bool usable(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static ALWAYS_INLINE VECTOR vec eight_offsets(ptrdiff_t stride)
{
    return _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(stride));
}

/* Strides that reach further than the next line: below, a store a time is as fast or faster. */
static bool scatters_well(ptrdiff_t stride)
{
    return stride > SCATTER_STRIDE || stride < -SCATTER_STRIDE;
}

static VECTOR void scatter_4(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                             ptrdiff_t src_stride, size_t count, size_t run)
{
    const vec offsets = eight_offsets(dst_stride);

    if (scatters_well(dst_stride))
        for (; count >= 8; count -= 8, dst += 8 * dst_stride, src += 32)
            _mm512_i64scatter_epi32(dst, offsets, _mm256_loadu_si256((const __m256i *)src), 1);
    kernels_scalar_runs(4, 1, 0)(dst, dst_stride, src, src_stride, count, run);
}

static VECTOR void scatter_8(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                             ptrdiff_t src_stride, size_t count, size_t run)
{
    const vec offsets = eight_offsets(dst_stride);

    if (scatters_well(dst_stride))
        for (; count >= 8; count -= 8, dst += 8 * dst_stride, src += 64)
            _mm512_i64scatter_epi64(dst, offsets, _mm512_loadu_si512(src), 1);
    kernels_scalar_runs(8, 1, 0)(dst, dst_stride, src, src_stride, count, run);
}

static const runs_entry runs[] = {
    {4, 4, NULL, NULL, scatter_4},
    {8, 8, NULL, NULL, scatter_8},
    {0, 0, NULL, NULL, NULL},
};

static const tile_entry tiles[] = {
    {1, 1, tile_1}, {2, 2, tile_2}, {4, 4, tile_4}, {8, 8, tile_8}, {16, 16, tile_16}, {0, 0, NULL},
};

const kernel_set kernels_avx512 = {
    .name = "avx512",
    .usable = usable,
    .runs = runs,
    .tiles = tiles,
    .copy_streamed = NULL,
};
#endif
