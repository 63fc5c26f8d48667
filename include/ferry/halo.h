/** @file
 * Halos: the ghost cells around each rank's block of a grid, filled from the blocks next to it.
 *
 * A field is a dense local array with low + extent + high cells along each dimension, dimension 0 (x) fastest in
 * memory: the interior, which the rank computes, surrounded by ghost cells, which hold copies of its neighbours'
 * interiors. All fields travel together, with one message per neighbour.
 */
#ifndef FERRY_HALO_H
#define FERRY_HALO_H

#include "ferry/plan.h"
#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_context ferry_context;
typedef struct ferry_halo ferry_halo; /**< opaque; see ferry_halo_create() */

enum { FERRY_HALO_MAX_DIMS = 6 /**< dimensions of a grid */ };

/** Which ghost cells are filled: those reached by a step along at most one, two, or all dimensions. */
typedef enum ferry_halo_corners {
    FERRY_HALO_FACES, /**< faces only: enough for stars, such as the five-point stencil */
    FERRY_HALO_EDGES, /**< faces, and where two faces meet */
    FERRY_HALO_ALL    /**< every ghost cell, corners included */
} ferry_halo_corners;

/** One field. Start from ::FERRY_HALO_FIELD_INIT. */
typedef struct ferry_halo_field {
    size_t size;                            /**< sizeof(ferry_halo_field) */
    int64_t element_bytes;                  /**< of one cell, >= 1; the same on all ranks */
    int64_t ghost[FERRY_HALO_MAX_DIMS][2];  /**< ghost cells per dimension, low and high side; -1: as in the spec */
} ferry_halo_field;

#define FERRY_HALO_FIELD_INIT \
    {sizeof(ferry_halo_field), 0, {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}}}

/**
 * The blocks and their ghosts. Start from ::FERRY_HALO_SPEC_INIT. Entries of dimensions from @p dims on are not
 * looked at.
 *
 * Ranks are placed on the grid as MPI_Cart_create() places them without reordering: the last dimension varies fastest.
 * (This is the order of ranks; in memory dimension 0 varies fastest.)
 */
typedef struct ferry_halo_spec {
    size_t size;                            /**< sizeof(ferry_halo_spec) */
    int dims;                               /**< dimensions, 1..::FERRY_HALO_MAX_DIMS; the same on all ranks */
    int64_t extent[FERRY_HALO_MAX_DIMS];    /**< interior cells of this rank, >= 0; may differ between ranks along a
                                                 dimension, but not across it: neighbours side by side in x have equal
                                                 extents in y and z */
    int64_t ghost[FERRY_HALO_MAX_DIMS][2];  /**< ghost cells, low and high side, >= 0, at most the extent of the
                                                 neighbour they come from; may differ between ranks */
    int grid[FERRY_HALO_MAX_DIMS];          /**< ranks along each dimension, the same on all ranks; all 0: from the
                                                 Cartesian communicator of the context, which tells @p periodic too */
    int periodic[FERRY_HALO_MAX_DIMS];      /**< 1: the first and the last block are neighbours (a single block its
                                                 own), 0: ghosts outside of the grid are never written; the same on
                                                 all ranks */
    ferry_halo_corners corners;             /**< the same on all ranks */
    int field_count;                        /**< fields, 1..::FERRY_PLAN_MAX_BUFFERS; the same on all ranks */
    const ferry_halo_field *fields;         /**< field_count fields */
} ferry_halo_spec;

#define FERRY_HALO_SPEC_INIT {sizeof(ferry_halo_spec), 0, {0}, {{0, 0}}, {0}, {0}, FERRY_HALO_FACES, 0, NULL}

/**
 * Compile the exchange of ghost cells.
 *
 * The ranks compare their specs with those of their neighbours; what does not fit is refused on all ranks, naming
 * dimension, side, both ranks and both numbers.
 *
 *     ferry_halo_field field = FERRY_HALO_FIELD_INIT;
 *     ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
 *     field.element_bytes = sizeof(double);
 *     spec.dims = 1; spec.extent[0] = 100; spec.ghost[0][0] = spec.ghost[0][1] = 1;
 *     spec.grid[0] = size; spec.periodic[0] = 1; spec.field_count = 1; spec.fields = &field;
 *     ferry_halo_create(ctx, &spec, &halo);
 *
 * @param ctx       context
 * @param spec      this rank's block; borrowed during the call, its fields too
 * @param halo_out  filled; the caller frees it with ferry_halo_free() before the context
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        NULL, a number out of its range or overflowing 63 bits, a grid that is not the number of
 *                              ranks, ranks that differ in what must be equal, or ghosts wider than the block they
 *                              come from
 * @retval FERRY_ERR_SHAPE      neighbours whose extents differ across the face, edge or corner between them
 * @retval FERRY_ERR_NOT_FOUND  no grid is given and the communicator has no Cartesian topology
 * @retval others               as ferry_plan_compile(); after any failure nothing is filled and nothing is left
 *
 * Collective   over the context       Blocks   yes         Memory  as ferry_halo_describe() tells
 * Threads      one at a time per context    Cost   proportional to neighbours x fields    Since   0.1
 */
FERRY_API ferry_status ferry_halo_create(ferry_context *ctx, const ferry_halo_spec *spec, ferry_halo **halo_out);

/**
 * Start to fill the ghost cells of all fields. Never waits for another rank.
 *
 *     ferry_halo_start(halo, fields);
 *     update_interior();                  // reads no ghosts, writes no cell that is sent
 *     ferry_halo_wait(halo);
 *     update_border();
 *
 * @param halo    halo whose last round has ended
 * @param fields  the address of each field's array, in the order of the spec; the list is borrowed during the call.
 *                Until the round ends the arrays are borrowed: cells that are sent are not to be written, ghosts are
 *                undefined.
 * @retval FERRY_OK       the round is under way
 * @retval FERRY_ERR_ARG  NULL while there is something to move; nothing was started
 * @retval others         as ferry_plan_start()
 *
 * Collective   over neighbours       Blocks   no            Memory   allocates nothing
 * Threads      one at a time per context    Cost   proportional to this rank's blocks    Since   0.1
 */
FERRY_API ferry_status ferry_halo_start(ferry_halo *halo, void *const *fields);

/**
 * Move a started round on without waiting, and tell whether it has ended.
 *
 * @param halo      halo
 * @param done_out  filled with 1 when the round has ended (or none was started), else 0
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  NULL
 * @retval others         as ferry_plan_wait()
 *
 * Collective   no            Blocks   no            Memory   allocates nothing
 * Threads      one at a time per context    Cost   what can be moved now    Since   0.1
 */
FERRY_API ferry_status ferry_halo_test(ferry_halo *halo, int *done_out);

/**
 * Wait until the ghost cells are filled and what was sent may be overwritten. Returns at once when no round was
 * started.
 *
 * @param halo  halo
 * @retval FERRY_OK       the round has ended
 * @retval FERRY_ERR_ARG  NULL
 * @retval others         as ferry_plan_wait()
 *
 * Collective   no            Blocks   yes           Memory   allocates nothing
 * Threads      one at a time per context    Cost   the round    Since   0.1
 */
FERRY_API ferry_status ferry_halo_wait(ferry_halo *halo);

/**
 * Fill the ghost cells of all fields: ferry_halo_start() and ferry_halo_wait().
 *
 * @param halo    halo whose last round has ended
 * @param fields  the address of each field's array, in the order of the spec
 * @retval FERRY_OK       the ghost cells are filled
 * @retval FERRY_ERR_ARG  NULL while there is something to move; nothing was started
 * @retval others         as ferry_plan_start() and ferry_plan_wait()
 *
 * Collective   over neighbours       Blocks   yes           Memory   allocates nothing
 * Threads      one at a time per context    Cost   the round    Since   0.1
 */
FERRY_API ferry_status ferry_halo_exchange(ferry_halo *halo, void *const *fields);

/**
 * Tell how many bytes the local array of a field has, ghosts included.
 *
 * @param halo       halo
 * @param field      0..field_count - 1
 * @param bytes_out  filled
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  NULL, or no such field; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_halo_field_bytes(const ferry_halo *halo, int field, int64_t *bytes_out);

/**
 * Tell where the interior of a field lies in its local array: cell (x, y, ...) of the interior, counted from 0, is at
 * byte offset + x * strides[0] + y * strides[1] + ...
 *
 * @param halo         halo
 * @param field        0..field_count - 1
 * @param offset_out   filled with the byte offset of the first interior cell
 * @param strides_out  filled with one number of bytes per dimension of the spec; may be NULL
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  NULL, or no such field; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_halo_interior(const ferry_halo *halo, int field, int64_t *offset_out,
                                           int64_t *strides_out);

/**
 * Tell what a round moves and what memory the halo holds.
 *
 * @param halo      halo
 * @param info_out  filled, as ferry_plan_describe() does
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  a pointer is NULL
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_halo_describe(const ferry_halo *halo, ferry_plan_info *info_out);

/**
 * Explain a halo: grid, place of this rank, fields, neighbours, then how the plan moves the blocks.
 *
 * @param halo   halo; NULL prints "none"
 * @param text   filled with at most @p bytes - 1 characters and a NUL; may be NULL when @p bytes is 0
 * @param bytes  room
 * @return characters of the whole text, NUL not counted, as snprintf does
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     proportional to the text    Since   0.1
 */
FERRY_API size_t ferry_halo_explain(const ferry_halo *halo, char *text, size_t bytes);

/**
 * Free a halo and all it owns. Not while a round is under way. Does nothing for NULL.
 *
 * @param halo  owned by the caller; not valid afterwards
 *
 * Collective   no (every rank frees its own)        Blocks   no            Memory   frees
 * Threads      one at a time per context    Cost   constant    Since   0.1
 */
FERRY_API void ferry_halo_free(ferry_halo *halo);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_HALO_H */
