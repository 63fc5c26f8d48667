/* A turn in tiles. The kernels block for the caches themselves; here the tiles are only bounded, so
 * that the pointers to their rows fit on the stack, and begin where lines of the destination begin.
 */
#include "copy/turn.h"

#include "base/size.h"
#include "copy/copy.h"

enum {
    TILE_ROWS = 2048, /* pointers of a tile: 16 KiB of stack; fewer than 512 lose where lines are
                         not whole */
    TILE_BYTES = 64 << 10, /* of a row; fewer than 16 KiB lose up to a third */
    STREAM_BYTES =
        2 << 20, /* turns gain from streaming earlier than copies: their lines lie on many pages */
    LINE = 64
};

int turn_streams(size_t bytes)
{
    return bytes >= size_min(STREAM_BYTES, kernels_stream_bytes());
}

turn_shape turn_shape_of(size_t rows, size_t columns, size_t element)
{
    return (turn_shape){
        .rows = rows,
        .columns = columns,
        .element = element,
        .tile = kernels_tile(element),
        .stream = turn_streams(rows * columns * element),
    };
}

/* Rows until the lines of the destination begin, so that all later tiles write whole lines; 0 when
 * they never do. */
static size_t rows_to_line(const turn_shape *shape, const char *dst, ptrdiff_t dst_stride)
{
    const size_t missing = (size_t)(-(uintptr_t)dst % LINE);

    return dst_stride % LINE == 0 && missing % shape->element == 0 ? missing / shape->element : 0;
}

static void turn_columns(const turn_shape *shape, turn_rows src, size_t column, char *dst,
                         ptrdiff_t dst_stride)
{
    const size_t step = size_max(1, TILE_BYTES / shape->element);
    const size_t columns = size_min(step, shape->columns - column);
    const size_t head = rows_to_line(shape, dst, dst_stride), skip = column * shape->element;
    const char *at[TILE_ROWS];

    for (size_t row = 0, rows; row < shape->rows; row += rows) {
        rows = size_min(row == 0 && head > 0 ? head : TILE_ROWS, shape->rows - row);
        for (size_t r = 0; r < rows; r++)
            at[r] = (src.list ? src.list[row + r] : src.first + (ptrdiff_t)(row + r) * src.stride) +
                    skip;
        shape->tile(dst + row * shape->element, dst_stride, at, rows, columns, shape->element,
                    shape->stream);
    }
}

void turn_run(const turn_shape *shape, turn_rows src, char *dst, ptrdiff_t dst_stride)
{
    const size_t step = size_max(1, TILE_BYTES / shape->element);

    for (size_t column = 0; column < shape->columns; column += step)
        turn_columns(shape, src, column, dst + (ptrdiff_t)column * dst_stride, dst_stride);
}

void copy_turn_run(const char *const *rows, size_t row_count, size_t columns, size_t element,
                   char *dst, int64_t dst_stride)
{
    const turn_shape shape = turn_shape_of(row_count, columns, element);

    turn_run(&shape, (turn_rows){.list = rows}, dst, dst_stride);
    if (shape.stream)
        kernels_fence();
}
