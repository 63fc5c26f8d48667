/* Inside of the module: types that MPI does not take apart. */
#ifndef MPI_PACKED_H
#define MPI_PACKED_H

#include "layout/layout.h"
#include "mpi/pmpi.h"

/* One element of a type, from address 0, read off what MPI's own pack does. Its element is a byte.
 * ERR_LIMIT when it spans more than an int can count, or is not packed as it is. */
ferry_status packed_layout(MPI_Datatype type, ferry_layout **layout_out);

#endif
