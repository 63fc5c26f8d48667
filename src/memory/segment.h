/* Ways for the ranks of a node to open one and the same shared file. */
#ifndef MEMORY_SEGMENT_H
#define MEMORY_SEGMENT_H

#include "context/context.h"

/* Open a new sparse file of `bytes` on the lowest rank of the node and the same file on the others,
 * by the way named
 * ("memfd", "socket", "named"). All ranks of the node succeed or all fail, with the reason in the
 * trouble text. Nothing that has a name stays behind. Collective over the node. */
ferry_status segment_open(ferry_context *ctx, const char *way, size_t bytes, int *fd_out);

/* The n-th way in the order to be tried, NULL after the last. */
const char *segment_way(int index);

#endif
