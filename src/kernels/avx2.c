/* The AVX2 set: tiles of every element size of the template, gathers of narrow rows, lines,
 * streamed copies. Gather instructions are left out: on the one CPU measured, Zen 4, they were
 * never faster than loads joined in registers. */
#include "kernels/sets.h"

#if defined(__x86_64__)
#  include <immintrin.h>
#  include <string.h>

#  include "base/size.h"
#  include "kernels/turn.h"

#  define VECTOR __attribute__((target("avx2")))

enum { VEC_BYTES = 32 };

typedef __m256i vec;

#  define vec_low(bits) vec_low_(bits)
#  define vec_low_(bits) _mm256_unpacklo_epi##bits
#  define vec_high(bits) vec_high_(bits)
#  define vec_high_(bits) _mm256_unpackhi_epi##bits

static ALWAYS_INLINE VECTOR vec vec_load(const char *at)
{
    return _mm256_loadu_si256((const __m256i *)at);
}

static ALWAYS_INLINE VECTOR vec vec_rows(const char *const *rows, int step, size_t at)
{
    const __m128i low = _mm_loadu_si128((const __m128i *)(rows[0] + at));
    const __m128i high = _mm_loadu_si128((const __m128i *)(rows[step] + at));

    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

static ALWAYS_INLINE VECTOR void vec_put(char *at, vec v, int stream)
{
    if (stream)
        _mm256_stream_si256((__m256i *)at, v);
    else
        _mm256_storeu_si256((__m256i *)at, v);
}

static ALWAYS_INLINE VECTOR void line_stream(char *to, const char *from)
{
    const vec low = vec_load(from), high = vec_load(from + VEC_BYTES);

    vec_put(to, low, 1);
    vec_put(to + VEC_BYTES, high, 1);
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
    return __builtin_cpu_supports("avx2");
}

static ALWAYS_INLINE VECTOR __m128i two_of_8(const char *src, ptrdiff_t stride)
{
    const __m128i low = _mm_loadl_epi64((const __m128i *)src);
    const __m128i high = _mm_loadl_epi64((const __m128i *)(src + stride));

    return _mm_unpacklo_epi64(low, high);
}

static ALWAYS_INLINE VECTOR __m128i four_of_4(const char *src, ptrdiff_t stride)
{
    int32_t e[4];

    UNROLL for (int i = 0; i < 4; i++) memcpy(&e[i], src + i * stride, sizeof e[i]);
    return _mm_set_epi32(e[3], e[2], e[1], e[0]);
}

/* One store for as many rows as a vector holds: a gather is bound by its stores. */
static VECTOR void gather_8(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                            ptrdiff_t src_stride, size_t count, size_t run)
{
    for (; count >= 4; count -= 4, dst += 32, src += 4 * src_stride) {
        _mm_storeu_si128((__m128i *)dst, two_of_8(src, src_stride));
        _mm_storeu_si128((__m128i *)(dst + 16), two_of_8(src + 2 * src_stride, src_stride));
    }
    kernels_scalar_runs(8, 0, 1)(dst, dst_stride, src, src_stride, count, run);
}

static VECTOR void gather_4(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                            ptrdiff_t src_stride, size_t count, size_t run)
{
    for (; count >= 4; count -= 4, dst += 16, src += 4 * src_stride)
        _mm_storeu_si128((__m128i *)dst, four_of_4(src, src_stride));
    kernels_scalar_runs(4, 0, 1)(dst, dst_stride, src, src_stride, count, run);
}

static VECTOR void lines(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                         ptrdiff_t src_stride, size_t count, size_t run)
{
    (void)run;
    for (; count; count--, dst += dst_stride, src += src_stride) {
        const vec low = vec_load(src), high = vec_load(src + VEC_BYTES);
        vec_put(dst, low, 0);
        vec_put(dst + VEC_BYTES, high, 0);
    }
}

static VECTOR void copy_streamed(char *restrict dst, const char *restrict src, size_t bytes)
{
    const size_t head = size_min((0 - (uintptr_t)dst) % TURN_LINE, bytes);
    size_t at = head;

    memcpy(dst, src, head);
    for (; at + TURN_LINE <= bytes; at += TURN_LINE)
        line_stream(dst + at, src + at);
    memcpy(dst + at, src + at, bytes - at);
}

static VECTOR void runs_streamed(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                                 ptrdiff_t src_stride, size_t count, size_t run)
{
    if (((uintptr_t)dst | (size_t)dst_stride) % TURN_LINE != 0) {
        kernels_runs(run, 0, 0)(dst, dst_stride, src, src_stride, count, run);
        return;
    }
    for (; count; count--, dst += dst_stride, src += src_stride)
        for (size_t at = 0; at < run; at += TURN_LINE)
            line_stream(dst + at, src + at);
}

static const runs_entry runs[] = {
    {4, 4, NULL, gather_4, NULL},
    {8, 8, NULL, gather_8, NULL},
    {64, 64, lines, lines, lines},
    {0, 0, NULL, NULL, NULL},
};

static const tile_entry tiles[] = {
    {1, 1, tile_1}, {2, 2, tile_2}, {4, 4, tile_4}, {8, 8, tile_8}, {16, 16, tile_16}, {0, 0, NULL},
};

const kernel_set kernels_avx2 = {
    .name = "avx2",
    .usable = usable,
    .runs = runs,
    .tiles = tiles,
    .copy_streamed = copy_streamed,
    .runs_streamed = runs_streamed,
};
#endif
