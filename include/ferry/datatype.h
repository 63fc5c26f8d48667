/** @file
 * Layouts from MPI datatypes: what a program has described to MPI already need not be described again.
 */
#ifndef FERRY_DATATYPE_H
#define FERRY_DATATYPE_H

#include <mpi.h>

#include "ferry/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Make the layout of @p count elements of an MPI datatype, as MPI_Send() would take them: the bytes in the order of the
 * type map, each element an extent behind the one before.
 *
 *     MPI_Type_vector(1024, 1, 64, MPI_DOUBLE, &column);
 *     MPI_Type_commit(&column);
 *     ferry_layout_from_datatype(column, 1, 0, &layout);      // "8 B x [1024 by 512] at 0"
 *
 * Types are decoded by MPI_Type_get_envelope() and MPI_Type_get_contents(); kinds of types that they do not
 * tell apart are read off what MPI_Pack() does with the type. Gaps, negative lower bounds, negative
 * strides and extents that differ from the size are all kept. The element of the layout is the largest that divides
 * all basic elements of the type: 8 for doubles, 4 for a structure of an int and a double.
 *
 * @param type          committed datatype; may be freed afterwards
 * @param count         elements of the type, >= 0
 * @param offset_bytes  of the first element's origin, from the base address
 * @param layout_out    filled; the caller frees it with ferry_layout_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     MPI_DATATYPE_NULL, a negative count, sizes that pass 63 bits, or NULL
 * @retval FERRY_ERR_LIMIT   a type that only MPI_Pack() knows spans 2^31 bytes or more
 * @retval FERRY_ERR_STATE   MPI is not running
 * @retval FERRY_ERR_MPI     an MPI call failed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no            Blocks   no            Memory  up to 8 bytes for each run that is not part of a loop
 * Threads      as MPI        Cost     proportional to the numbers that describe the type      Since   0.1
 */
FERRY_API ferry_status ferry_layout_from_datatype(MPI_Datatype type, int64_t count, int64_t offset_bytes,
                                                  ferry_layout **layout_out);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_DATATYPE_H */
