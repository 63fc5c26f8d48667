/* Pages on the same NUMA node as others. */
#ifndef MEMORY_NUMA_H
#define MEMORY_NUMA_H

#include "context/context.h"

/* memory_commit() of `to`, with pages on the nodes where those of `like` are, as far as the kernel
 * can. */
ferry_status numa_commit(ferry_context *ctx, char *to, const char *like, size_t bytes);

#endif
