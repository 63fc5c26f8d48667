# find_package(ferry COMPONENTS mpich)      gives the targets ferry::ferry and ferry::convert, for MPICH
# find_package(ferry COMPONENTS openmpi)    the same, for Open MPI
# find_package(ferry)                       takes the MPI that the project has found, else the only one installed
#
# The MPI is found too, unless the project has done so already; one that is not the component's is refused, because two
# MPIs in one process cannot work.
set(ferry_NOT_FOUND_MESSAGE "")
set(ferry_FOUND FALSE)

file(GLOB ferry_installed RELATIVE ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/ferry-*-target.cmake)
list(TRANSFORM ferry_installed REPLACE "^ferry-(.*)-target\\.cmake$" "\\1")

get_property(ferry_languages GLOBAL PROPERTY ENABLED_LANGUAGES)
if("C" IN_LIST ferry_languages)
  set(ferry_language C)
else()
  set(ferry_language CXX)
endif()

# Whose mpi.h does the target MPI::MPI_<language> lead to? Fills kind_out with mpich, openmpi or "neither".
function(ferry_which_mpi kind_out)
  set(macro_of_mpich MPICH_VERSION)
  set(macro_of_openmpi OMPI_MAJOR_VERSION)
  set(suffix_of_C c)
  set(suffix_of_CXX cpp)
  set(${kind_out} neither PARENT_SCOPE)
  foreach(kind IN ITEMS mpich openmpi)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/ferry_is_${kind}.${suffix_of_${ferry_language}})
    file(WRITE ${source} "#include <mpi.h>\n"
      "#ifndef ${macro_of_${kind}}\n#error another MPI\n#endif\n"
      "int main(void) { return 0; }\n")
    try_compile(works ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/ferry_is_${kind} ${source}
      LINK_LIBRARIES MPI::MPI_${ferry_language})
    if(works)
      set(${kind_out} ${kind} PARENT_SCOPE)
    endif()
    unset(works CACHE)
  endforeach()
endfunction()

set(ferry_mpi ${ferry_FIND_COMPONENTS})
if(TARGET MPI::MPI_${ferry_language})
  ferry_which_mpi(ferry_found_mpi)
endif()
if(NOT ferry_mpi)
  set(ferry_mpi ${ferry_installed})
  if(ferry_found_mpi IN_LIST ferry_installed)
    set(ferry_mpi ${ferry_found_mpi})
  endif()
endif()
list(LENGTH ferry_mpi ferry_mpi_count)
list(JOIN ferry_installed ", " ferry_installed_text)
if(NOT ferry_mpi_count EQUAL 1)
  string(CONCAT ferry_NOT_FOUND_MESSAGE "name one MPI: find_package(ferry COMPONENTS <mpi>), installed are: "
    ${ferry_installed_text})
  return()
endif()
if(NOT ferry_mpi IN_LIST ferry_installed)
  string(CONCAT ferry_NOT_FOUND_MESSAGE "there is no ferry for \"${ferry_mpi}\" in ${CMAKE_CURRENT_LIST_DIR}, "
    "installed are: ${ferry_installed_text}")
  return()
endif()

include(${CMAKE_CURRENT_LIST_DIR}/ferry-${ferry_mpi}.cmake)
if(NOT TARGET MPI::MPI_${ferry_language})
  if(NOT MPI_${ferry_language}_COMPILER AND ferry_language STREQUAL "C" AND EXISTS ${ferry_${ferry_mpi}_mpicc})
    set(MPI_C_COMPILER ${ferry_${ferry_mpi}_mpicc} CACHE FILEPATH "MPI compiler for C, the one ferry was built with")
  endif()
  find_package(MPI QUIET COMPONENTS ${ferry_language})
  if(NOT TARGET MPI::MPI_${ferry_language})
    string(CONCAT ferry_NOT_FOUND_MESSAGE "ferry for ${ferry_mpi} needs that MPI, but "
      "find_package(MPI COMPONENTS ${ferry_language}) finds none")
    return()
  endif()
  ferry_which_mpi(ferry_found_mpi)
endif()
if(NOT ferry_found_mpi STREQUAL ferry_mpi)
  string(CONCAT ferry_NOT_FOUND_MESSAGE
    "this ferry is for ${ferry_mpi}, but the MPI that the project found is ${ferry_found_mpi} "
    "(MPI_${ferry_language}_COMPILER is ${MPI_${ferry_language}_COMPILER}); ask for the component of that MPI, or set "
    "MPI_${ferry_language}_COMPILER to the wrapper of ${ferry_mpi}, such as ${ferry_${ferry_mpi}_mpicc}")
  return()
endif()

# The library's own link interface names MPI::MPI_C; a C++ project has another name for the same MPI.
if(NOT TARGET MPI::MPI_C)
  add_library(MPI::MPI_C INTERFACE IMPORTED)
  set_property(TARGET MPI::MPI_C PROPERTY INTERFACE_LINK_LIBRARIES MPI::MPI_CXX)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/ferry-${ferry_mpi}-target.cmake)
if(NOT TARGET ferry::ferry)
  add_library(ferry::ferry INTERFACE IMPORTED)
  set_property(TARGET ferry::ferry PROPERTY INTERFACE_LINK_LIBRARIES ferry::${ferry_mpi})
endif()
if(NOT TARGET ferry::convert)
  add_library(ferry::convert INTERFACE IMPORTED)
  set_property(TARGET ferry::convert PROPERTY INTERFACE_LINK_LIBRARIES ferry::convert-${ferry_mpi})
endif()
set(ferry_${ferry_mpi}_FOUND TRUE)
set(ferry_FOUND TRUE)
