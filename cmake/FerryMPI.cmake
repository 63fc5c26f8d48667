# Find the MPI that FERRY_MPI names, and no other: with several installed, FindMPI alone takes whichever comes first.
#
# in   FERRY_MPI (mpich or openmpi), and optionally FERRY_MPICC: its compiler wrapper
# out  MPI::MPI_C, FERRY_MPICC, FERRY_MPIEXEC, FERRY_MPI_VERSION
set(FERRY_MPI mpich CACHE STRING "MPI implementation to build for: mpich or openmpi")
set_property(CACHE FERRY_MPI PROPERTY STRINGS mpich openmpi)
if(NOT FERRY_MPI MATCHES "^(mpich|openmpi)$")
  message(FATAL_ERROR "FERRY_MPI is \"${FERRY_MPI}\"; expected mpich or openmpi")
endif()

# Whose wrapper is it? Fills kind_out with mpich, openmpi, unknown or "" and version_out with its version.
function(ferry_which_mpi mpicc kind_out version_out)
  execute_process(COMMAND ${mpicc} -E -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/which_mpi.c
    OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE status)
  set(${kind_out} "" PARENT_SCOPE)
  if(status EQUAL 0 AND text MATCHES "mpi_is ([a-z]+)([^\n]*)")
    set(${kind_out} ${CMAKE_MATCH_1} PARENT_SCOPE)
    string(REGEX MATCHALL "[0-9]+[0-9.a-z]*" version "${CMAKE_MATCH_2}")
    list(JOIN version "." version)
    set(${version_out} "${version}" PARENT_SCOPE)
  endif()
endfunction()

function(ferry_find_mpicc)
  set(seen)
  foreach(name IN ITEMS mpicc.${FERRY_MPI} mpicc-${FERRY_MPI} /usr/lib64/${FERRY_MPI}/bin/mpicc mpicc)
    find_program(mpicc_${FERRY_MPI} NAMES ${name} NO_CACHE)
    if(mpicc_${FERRY_MPI})
      ferry_which_mpi(${mpicc_${FERRY_MPI}} kind version)
      if(kind STREQUAL FERRY_MPI)
        set(FERRY_MPICC ${mpicc_${FERRY_MPI}} CACHE FILEPATH "compiler wrapper of that MPI" FORCE)
        return()
      endif()
      string(APPEND seen "\n  ${mpicc_${FERRY_MPI}}: ${kind}")
    endif()
    unset(mpicc_${FERRY_MPI})
  endforeach()
  message(FATAL_ERROR "no compiler wrapper of ${FERRY_MPI} was found; set FERRY_MPICC to it. Seen:${seen}")
endfunction()

if(NOT FERRY_MPICC)
  ferry_find_mpicc()
endif()
ferry_which_mpi(${FERRY_MPICC} kind FERRY_MPI_VERSION)
if(NOT kind STREQUAL FERRY_MPI)
  message(FATAL_ERROR "FERRY_MPICC (${FERRY_MPICC}) belongs to \"${kind}\", but FERRY_MPI is ${FERRY_MPI}")
endif()

get_filename_component(mpi_bin ${FERRY_MPICC} DIRECTORY)
find_program(FERRY_MPIEXEC NAMES mpiexec.${FERRY_MPI} mpiexec-${FERRY_MPI} mpiexec HINTS ${mpi_bin} REQUIRED
  DOC "launcher of that MPI")
set(MPI_C_COMPILER ${FERRY_MPICC} CACHE FILEPATH "" FORCE)
set(MPIEXEC_EXECUTABLE ${FERRY_MPIEXEC} CACHE FILEPATH "" FORCE)
find_package(MPI 3.1 REQUIRED COMPONENTS C)

# The proof: what FindMPI made of it compiles against the right mpi.h and links.
include(CheckCSourceCompiles)
set(macro_of_mpich MPICH_VERSION)
set(macro_of_openmpi OMPI_MAJOR_VERSION)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_c_source_compiles("
#include <mpi.h>
#ifndef ${macro_of_${FERRY_MPI}}
#error another MPI
#endif
int main(void) { return MPI_Init(0, 0); }" FERRY_MPI_IS_${FERRY_MPI})
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT FERRY_MPI_IS_${FERRY_MPI})
  message(FATAL_ERROR "programs cannot be built with the ${FERRY_MPI} of ${FERRY_MPICC}")
endif()
message(STATUS "MPI: ${FERRY_MPI} ${FERRY_MPI_VERSION} (${FERRY_MPICC})")
