/* Which ranks share a node. */
#ifndef CONTEXT_NODES_H
#define CONTEXT_NODES_H

#include "context/context.h"

/* Fill the node map of a context as `wanted` says: "auto", "mpi", "block:N" or a list with one number a rank. Collective. */
ferry_status nodes_find(ferry_context *ctx, const char *wanted);

#endif
