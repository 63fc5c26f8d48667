/* Walks: copy between two sequences of nests that have no loops in common, row by row. Slower than
 * a joint nest, right for anything. */
#ifndef COPY_WALK_H
#define COPY_WALK_H

#include "layout/layout.h"

typedef struct copy_walk copy_walk;

/* Both sequences hold the same number of bytes, at least one. */
ferry_status walk_make(const layout_nest *src, size_t src_count, const layout_nest *dst,
                       size_t dst_count, copy_walk **walk_out);
void walk_drop(copy_walk *walk);
void walk_run(const copy_walk *walk, const char *src, char *dst);
size_t walk_bytes(const copy_walk *walk);
size_t walk_memory(const copy_walk *walk);

#endif
