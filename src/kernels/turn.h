/* What the vector tiles of all sets share: the shape of the walk. A block of 64 rows is walked
 * along 8 KiB of columns while the rows' next lines are fetched into the second-level cache.
 * Measured with matrices of 200 to 400 MB on two Zen 4 cores: fetching into the first level
 * instead, or not at all, cost 20 to 40 %; 32 or 128 rows, or strips of 4 KiB, at most 15 %. */
#ifndef KERNELS_TURN_H
#define KERNELS_TURN_H

#include <stddef.h>

enum {
    TURN_LINE = 64,
    TURN_LANE = 16,     /* bytes of a row in one micro-tile */
    TURN_ROWS = 64,     /* of a block */
    TURN_STRIP = 8192,  /* bytes of a row walked before the next block of rows */
    TURN_AHEAD = 512,   /* bytes */
    CARRY_ROWS = 2048,  /* walked down one strip of columns; then the next strip */
    CARRY_COLUMNS = 64, /* of such a strip */
    CARRY_BYTES = 256,  /* that one block of rows adds to each column */
    CARRY_AHEAD = 32    /* rows */
};

/* A tile as the walks see it: columns counted in bytes. */
typedef struct turn {
    char *dst;
    ptrdiff_t dst_stride;
    const char *const *rows;
    size_t row_count, bytes;
} turn;

/* Columns on their way out. A column is a line left over from the block before and the bytes of
 * this block. */
typedef char carry_column[TURN_LINE + CARRY_BYTES];

#define ALWAYS_INLINE inline __attribute__((always_inline))
#if defined(__clang__)
#  define UNROLL _Pragma("unroll")
#else
#  define UNROLL _Pragma("GCC unroll 16")
#endif

#endif
