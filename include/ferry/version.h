/** @file
 * The version of the header and of the library, and which MPI the library was built for.
 */
#ifndef FERRY_VERSION_H
#define FERRY_VERSION_H

#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FERRY_VERSION_MAJOR 0
#define FERRY_VERSION_MINOR 1
#define FERRY_VERSION_PATCH 0
#define FERRY_VERSION_TEXT "0.1.0"
/** One number that grows with the version: major * 10000 + minor * 100 + patch. */
#define FERRY_VERSION (FERRY_VERSION_MAJOR * 10000 + FERRY_VERSION_MINOR * 100 + FERRY_VERSION_PATCH)

/**
 * The version of the library in use, in the form of ::FERRY_VERSION. ferry_context_create() refuses a header of
 * another minor version than the library's.
 *
 * @return the number
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API int ferry_version(void);

/**
 * The MPI implementation this library was built for: "mpich" or "openmpi".
 *
 * @return a static text
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API const char *ferry_version_mpi(void);

/**
 * The set of kernels in use on this CPU, as FERRY_CPU allows: "scalar", "avx2", "avx512" or, on 64-bit Arm, "neon".
 *
 * @return a static text
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API const char *ferry_version_kernels(void);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_VERSION_H */
