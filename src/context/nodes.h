/* Which ranks share a node. */
#ifndef CONTEXT_NODES_H
#define CONTEXT_NODES_H

#include "context/context.h"

/* Fill the node map of a context as `wanted` says: "auto", "mpi", "block:N" or a list with one
 * number a rank of the communicator. NULL: as FERRY_NODES says, where ranks are those of
 * MPI_COMM_WORLD, so that contexts over parts of it see the same nodes. Collective. */
ferry_status nodes_find(ferry_context *ctx, const char *wanted);

#endif
