/* Cutting a tree into parts that borrow from it: a part is a tree of its own records whose values
 * point into the whole. It can be encoded and nothing else. */
#ifndef BUNDLE_SPLIT_H
#define BUNDLE_SPLIT_H

#include "bundle/tree.h"
#include "ferry/bundle_move.h"

typedef struct split_plan {
    ferry_split how;
    int parts;
    const int64_t
        *counts; /* pieces of each part; NULL: as even as can be, the first ones have more */
} split_plan;

typedef struct split_part {
    tree *root;
    void *blocks; /* the memory of the part, a chain */
} split_part;

/* The numbers are in range, and everything that is cut has as many pieces as the counts say. */
ferry_status split_check(const tree *whole, const split_plan *plan);

ferry_status split_make(const tree *whole, const split_plan *plan, int part, split_part *part_out);
void split_drop(split_part *part);

#endif
