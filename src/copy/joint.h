/* Joint nests: loops over runs on both sides at once. Here loops may change places, since both
 * sides change together. */
#ifndef COPY_JOINT_H
#define COPY_JOINT_H

#include <stdbool.h>

#include "layout/layout.h"

enum { JOINT_DIMS = 2 * (FERRY_LAYOUT_MAX_DIMS + 1) };

typedef struct joint_loop {
    size_t count;
    int64_t src, dst; /* strides in bytes */
} joint_loop;

/* Loops, outermost first, over runs of `run` bytes that are contiguous on both sides. */
typedef struct joint_nest {
    int64_t src, dst; /* of the first run, from the base addresses */
    size_t run;
    int dims;
    joint_loop loop[JOINT_DIMS];
} joint_nest;

/* The common refinement of two nests of equal bytes; false when there is none (rows of 6 against
 * rows of 4). */
bool joint_pair(const layout_nest *src, const layout_nest *dst, joint_nest *joint_out);

/* Fewest loops, longest runs, smallest strides innermost. */
void joint_reorder(joint_nest *nest);

/* Finds a loop that is contiguous in the destination and one that is contiguous in the source. */
bool joint_turn(const joint_nest *nest, int *row_out, int *column_out);

/* Take loop `from` out and put it back in as the loop `to`. */
void joint_move(joint_nest *nest, int from, int to);

/* Start of the packed form of `nest` from byte `from` on that is a nest again, at most `most`
 * bytes. Returns its bytes. */
size_t joint_piece(const layout_nest *nest, size_t from, size_t most, layout_nest *piece_out);

#endif
