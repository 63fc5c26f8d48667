/* A turn in tiles: a few rows of the source at a time, of each about what the first cache holds, so that a line that is read is
 * used up before it is forgotten, and lines are written whole. */
#include "copy/turn.h"

#include "base/size.h"
#include "copy/copy.h"

/* Rows and bytes of one row in a tile; see bench/kernels for what other numbers cost. */
enum { TILE_ROWS = 64, TILE_BYTES = 4096, LINE = 64 };

turn_shape turn_shape_of(size_t rows, size_t columns, size_t element)
{
    return (turn_shape){
        .rows = rows,
        .columns = columns,
        .element = element,
        .tile = kernels_tile(element),
        .stream = rows * columns * element >= kernels_stream_bytes(),
    };
}

/* Rows until the lines of the destination begin, so that all later tiles write whole lines. */
static size_t rows_to_line(const turn_shape *shape, const char *dst)
{
    const size_t missing = (size_t)(-(uintptr_t)dst % LINE);

    return missing % shape->element == 0 ? missing / shape->element : 0;
}

static void turn_columns(const turn_shape *shape, turn_rows src, size_t column, char *dst, ptrdiff_t dst_stride)
{
    const size_t step = size_max(1, TILE_BYTES / shape->element);
    const size_t columns = size_min(step, shape->columns - column);
    const size_t head = rows_to_line(shape, dst), skip = column * shape->element;
    const char *at[TILE_ROWS];

    for (size_t row = 0, rows; row < shape->rows; row += rows) {
        rows = size_min(row == 0 && head > 0 ? head : TILE_ROWS, shape->rows - row);
        for (size_t r = 0; r < rows; r++)
            at[r] = (src.list ? src.list[row + r] : src.first + (ptrdiff_t)(row + r) * src.stride) + skip;
        shape->tile(dst + row * shape->element, dst_stride, at, rows, columns, shape->element, shape->stream);
    }
}

void turn_run(const turn_shape *shape, turn_rows src, char *dst, ptrdiff_t dst_stride)
{
    const size_t step = size_max(1, TILE_BYTES / shape->element);

    for (size_t column = 0; column < shape->columns; column += step)
        turn_columns(shape, src, column, dst + (ptrdiff_t)column * dst_stride, dst_stride);
}

void copy_turn_run(const char *const *rows, size_t row_count, size_t columns, size_t element, char *dst, int64_t dst_stride)
{
    const turn_shape shape = turn_shape_of(row_count, columns, element);

    turn_run(&shape, (turn_rows){.list = rows}, dst, dst_stride);
    if (shape.stream)
        kernels_fence();
}
