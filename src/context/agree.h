/* One verdict for all ranks. */
#ifndef CONTEXT_AGREE_H
#define CONTEXT_AGREE_H

#include "mpi/pmpi.h"

/* The status and text of the lowest rank that failed, on all ranks of `comm`; FERRY_OK when none did. Collective. */
ferry_status agree_on(MPI_Comm comm, int rank, ferry_status status);

#endif
