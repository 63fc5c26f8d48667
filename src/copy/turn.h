/* Turns: a matrix turned over in tiles. The rows of the source are given by pointers, or lie at one
 * stride. */
#ifndef COPY_TURN_H
#define COPY_TURN_H

#include "kernels/kernels.h"

typedef struct turn_rows {
    const char *const *list; /* NULL: rows lie at `first` + r * `stride` */
    const char *first;
    ptrdiff_t stride;
} turn_rows;

typedef struct turn_shape {
    size_t rows, columns, element;
    kernel_tile *tile;
    int stream; /* the caller ends with kernels_fence() */
} turn_shape;

/* Are turns of so many bytes in all better written past the caches? */
int turn_streams(size_t bytes);
turn_shape turn_shape_of(size_t rows, size_t columns, size_t element);
void turn_run(const turn_shape *shape, turn_rows src, char *dst, ptrdiff_t dst_stride);

#endif
