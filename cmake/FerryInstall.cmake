# What is installed. Two builds, one for each MPI, share a prefix: headers, ferry-config.cmake and its version file are
# the same in both, everything else carries the name of its MPI.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ferry)

install(DIRECTORY include/ferry DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS ferry ferry_convert_library EXPORT ferry-${FERRY_MPI} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ferry_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})

install(EXPORT ferry-${FERRY_MPI} NAMESPACE ferry:: FILE ferry-${FERRY_MPI}-target.cmake DESTINATION ${package_dir})
configure_file(cmake/ferry-mpi.cmake.in ferry-${FERRY_MPI}.cmake @ONLY)
write_basic_package_version_file(ferry-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES cmake/ferry-config.cmake ${PROJECT_BINARY_DIR}/ferry-config-version.cmake
  ${PROJECT_BINARY_DIR}/ferry-${FERRY_MPI}.cmake DESTINATION ${package_dir})

# The .pc file finds the rest by its own place, so that the prefix may be moved.
file(RELATIVE_PATH pc_to_prefix /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
string(REGEX REPLACE "/$" "" pc_to_prefix ${pc_to_prefix})
set(pc_mpi_mpich mpich)
set(pc_mpi_openmpi ompi-c)
set(pc_requires ${pc_mpi_${FERRY_MPI}})
configure_file(cmake/ferry.pc.in ferry-${FERRY_MPI}.pc @ONLY)
configure_file(cmake/ferry-convert.pc.in ferry-convert-${FERRY_MPI}.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/ferry-${FERRY_MPI}.pc ${PROJECT_BINARY_DIR}/ferry-convert-${FERRY_MPI}.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
