/* The AVX2 set: tiles of every element size of the template, gathers and scatters of narrow rows,
 * lines, streamed copies. All measured on one CPU, Zen 4, against the scalar loops. Gather
 * instructions are left out: they were never faster than loads joined in registers; with narrowing,
 * for 1 and 2 bytes, they took up to 4 times as long as the scalar loop. Gathers of 16 bytes
 * joined to 32 or 64 are left out: 0.6 to 1.6 times as fast, as the scalar loop happened to be
 * aligned. So are scatters of 16 bytes: taken from a wider load they were as fast as that loop
 * aligned well. */
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

#define insert_8(v, i) _mm_insert_epi8(v, src[(i)*stride], i)
#define insert_16(v, i) _mm_insert_epi16(v, load_2(src + (i)*stride), i)

static ALWAYS_INLINE VECTOR __m128i eight_of_1(const char *src, ptrdiff_t stride)
{
    __m128i v = _mm_cvtsi32_si128((uint8_t)src[0]);

    v = insert_8(v, 1);
    v = insert_8(v, 2);
    v = insert_8(v, 3);
    v = insert_8(v, 4);
    v = insert_8(v, 5);
    v = insert_8(v, 6);
    return insert_8(v, 7);
}

static ALWAYS_INLINE uint16_t load_2(const char *at)
{
    uint16_t word;

    memcpy(&word, at, sizeof word);
    return word;
}

static ALWAYS_INLINE VECTOR __m128i four_of_2(const char *src, ptrdiff_t stride)
{
    __m128i v = _mm_cvtsi32_si128(load_2(src));

    v = insert_16(v, 1);
    v = insert_16(v, 2);
    return insert_16(v, 3);
}

/* Twice as fast as the scalar loop in the first cache, and in the second at strides below a line.
 * Stores of 16 bytes were no faster there, and slower than these in memory. */
static VECTOR void gather_1(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                            ptrdiff_t src_stride, size_t count, size_t run)
{
    for (; count >= 8; count -= 8, dst += 8, src += 8 * src_stride)
        _mm_storel_epi64((__m128i *)dst, eight_of_1(src, src_stride));
    kernels_scalar_runs(1, 0, 1)(dst, dst_stride, src, src_stride, count, run);
}

/* Each load instruction of a gather takes great steps; the CPU then fetches ahead worse than for
 * the one load of a loop. With rows of 2 bytes at strides of half a line to a line, all in memory, this
 * cost up to 30 %; not with rows of 1 byte. */
static bool joins_well(ptrdiff_t stride, size_t count)
{
    const size_t step = (size_t)(stride < 0 ? -stride : stride);

    return step < TURN_LINE / 2 || step > TURN_LINE || count <= kernels_stream_bytes() / TURN_LINE;
}

/* Twice as fast as the scalar loop where the gather of 1 byte is. */
static VECTOR void gather_2(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                            ptrdiff_t src_stride, size_t count, size_t run)
{
    if (joins_well(src_stride, count))
        for (; count >= 4; count -= 4, dst += 8, src += 4 * src_stride)
            _mm_storel_epi64((__m128i *)dst, four_of_2(src, src_stride));
    kernels_scalar_runs(2, 0, 1)(dst, dst_stride, src, src_stride, count, run);
}

/* One load for eight rows: up to 1.6 times as fast as the scalar loop well aligned, 1.1 to 1.3
 * times for rows of 2 bytes at small strides; taking words from a vector was no faster than the
 * loop. */
static void scatter_1(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                      ptrdiff_t src_stride, size_t count, size_t run)
{
    for (; count >= 8; count -= 8, dst += 8 * dst_stride, src += 8) {
        uint64_t rows;
        memcpy(&rows, src, sizeof rows);
        UNROLL for (int i = 0; i < 8; i++)
            dst[i * dst_stride] = (char)(rows >> 8 * i);
    }
    kernels_scalar_runs(1, 1, 0)(dst, dst_stride, src, src_stride, count, run);
}

static void scatter_2(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                      ptrdiff_t src_stride, size_t count, size_t run)
{
    for (; count >= 4; count -= 4, dst += 4 * dst_stride, src += 8) {
        uint64_t rows;
        memcpy(&rows, src, sizeof rows);
        UNROLL for (int i = 0; i < 4; i++) {
            const uint16_t row = (uint16_t)(rows >> 16 * i);
            memcpy(dst + i * dst_stride, &row, sizeof row);
        }
    }
    kernels_scalar_runs(2, 1, 0)(dst, dst_stride, src, src_stride, count, run);
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
    {1, 1, NULL, gather_1, scatter_1},
    {2, 2, NULL, gather_2, scatter_2},
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
