/* Preprocessed only: tells whose mpi.h this is. */
#include <mpi.h>
#define TEXT(x) #x
#define VALUE(x) TEXT(x)
#if defined(OMPI_MAJOR_VERSION)
mpi_is openmpi VALUE(OMPI_MAJOR_VERSION) VALUE(OMPI_MINOR_VERSION) VALUE(OMPI_RELEASE_VERSION)
#elif defined(MPICH_VERSION)
mpi_is mpich MPICH_VERSION
#else
mpi_is unknown
#endif
