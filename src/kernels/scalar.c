/* The scalar set: every shape and every size, on any CPU, in plain C. It is the reference of the
 * vector sets and the fallback for whatever they lack. Sizes 1, 2, 4, ... 64 come from one
 * template; sizes between two of them are moved as two overlapping pieces, because a call of memcpy
 * costs more than moving a short run. */
#include <string.h>

#include "base/size.h"
#include "kernels/sets.h"

enum { TILE_ROWS = 16, TILE_COLUMNS = 16 };

#define PIECE 1
#define NAME(x) x##_1
#include "kernels/shape_tmpl.h"
#define PIECE 2
#define NAME(x) x##_2
#include "kernels/shape_tmpl.h"
#define PIECE 4
#define NAME(x) x##_4
#include "kernels/shape_tmpl.h"
#define PIECE 8
#define NAME(x) x##_8
#include "kernels/shape_tmpl.h"
#define PIECE 16
#define NAME(x) x##_16
#include "kernels/shape_tmpl.h"
#define PIECE 32
#define NAME(x) x##_32
#include "kernels/shape_tmpl.h"
#define PIECE 64
#define NAME(x) x##_64
#include "kernels/shape_tmpl.h"

static void strided_any(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                        ptrdiff_t src_stride, size_t count, size_t run)
{
    for (; count; count--, dst += dst_stride, src += src_stride)
        memcpy(dst, src, run);
}

/* Elements of an odd size: each row of a block is a dense source scattered into a column of the
 * destination. */
static void tile_any(char *restrict dst, ptrdiff_t dst_stride, const char *const *rows,
                     size_t row_count, size_t columns, size_t element, int stream)
{
    kernel_runs *const scatter = kernels_runs(element, 1, 0);

    (void)stream;
    for (size_t block = 0; block < row_count; block += TILE_ROWS) {
        const size_t end = size_min(block + TILE_ROWS, row_count);
        for (size_t c = 0; c < columns; c += TILE_COLUMNS)
            for (size_t r = block; r < end; r++)
                scatter(dst + (ptrdiff_t)c * dst_stride + r * element, dst_stride,
                        rows[r] + c * element, (ptrdiff_t)element,
                        size_min(TILE_COLUMNS, columns - c), element);
    }
}

static bool always(void)
{
    return true;
}

static const runs_entry runs[] = {
    {1, 1, strided_1, gather_1, scatter_1},
    {2, 2, strided_2, gather_2, scatter_2},
    {3, 3, pair_2, pair_2, pair_2},
    {4, 4, strided_4, gather_4, scatter_4},
    {5, 7, pair_4, pair_4, pair_4},
    {8, 8, strided_8, gather_8, scatter_8},
    {9, 15, pair_8, pair_8, pair_8},
    {16, 16, strided_16, gather_16, scatter_16},
    {17, 31, pair_16, pair_16, pair_16},
    {32, 32, strided_32, gather_32, scatter_32},
    {33, 63, pair_32, pair_32, pair_32},
    {64, 64, strided_64, gather_64, scatter_64},
    {0, SIZE_MAX, strided_any, strided_any, strided_any},
    {0, 0, NULL, NULL, NULL},
};

static const tile_entry tiles[] = {
    {1, 1, tile_1},    {2, 2, tile_2},          {4, 4, tile_4},
    {8, 8, tile_8},    {16, 16, tile_16},       {32, 32, tile_32},
    {64, 64, tile_64}, {1, SIZE_MAX, tile_any}, {0, 0, NULL},
};

const kernel_set kernels_scalar = {
    .name = "scalar",
    .usable = always,
    .runs = runs,
    .tiles = tiles,
    .copy_streamed = NULL,
};
