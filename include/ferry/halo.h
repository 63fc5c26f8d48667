/** @file
 * Halos: the ghost cells around each rank's block of a grid, filled from the ranks that own those cells.
 *
 * A field is a local array with low + extent + high cells along each dimension: the interior, which the rank computes,
 * surrounded by ghost cells, which hold copies of other ranks' interiors. Ghosts are as wide as one likes: where they
 * reach past the neighbour's block, they are filled from the one behind it, and around a periodic domain as often as
 * it takes. All fields travel together, with one message per rank that has something to give.
 *
 * What a ghost cell holds depends on its place in the domain alone: the cell of the same place in the interior of its
 * owner. Ghosts outside of the domain (in a dimension that is not periodic) are never written.
 */
#ifndef FERRY_HALO_H
#define FERRY_HALO_H

#include "ferry/element.h"
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

/** Who tells where blocks lie. */
typedef enum ferry_halo_blocks {
    FERRY_HALO_GRID, /**< the blocks form a grid of ranks: `grid` and `extent` say all */
    FERRY_HALO_BOXES /**< each rank names the box of the domain it owns: `origin` and `extent` */
} ferry_halo_blocks;

/** Order of dense arrays in memory. */
typedef enum ferry_halo_order {
    FERRY_HALO_FIRST_FASTEST, /**< dimension 0 (x) lies close together, as in Fortran */
    FERRY_HALO_LAST_FASTEST   /**< the last dimension lies close together, as in C */
} ferry_halo_order;

/**
 * One field. Start from ::FERRY_HALO_FIELD_INIT.
 *
 * **Staggered fields** have values on the faces between cells. Along a dimension with stagger 1 the array has one value
 * more than cells: low + extent + 1 + high; value i of the interior lies on the low face of cell i, the last one on the
 * high face of the last cell. A value between two blocks is in both arrays, and belongs to the rank on its high side,
 * whose first value it is; on the low side it is filled like a ghost, even where the field has none. The last face of a
 * dimension that is not periodic belongs to the rank below it; of a periodic one, it is the first face. Values on edges
 * and nodes (stagger 1 along several dimensions) follow this rule along each.
 */
typedef struct ferry_halo_field {
    size_t size;                            /**< sizeof(ferry_halo_field) */
    int64_t element_bytes;                  /**< of one cell, >= 1; the same on all ranks */
    int64_t ghost[FERRY_HALO_MAX_DIMS][2];  /**< ghost cells per dimension, low and high side; -1: as in the spec */
    int stagger[FERRY_HALO_MAX_DIMS];       /**< 1: values on faces along this dimension, 0: in cells; the same on all
                                                 ranks */
    int64_t stride_bytes[FERRY_HALO_MAX_DIMS]; /**< from one cell to the next along each dimension, ghosts included;
                                                 all 0: dense, in the order of the spec. Cells may not share bytes; each
                                                 stride is at least the stride times the cells of the next smaller. May
                                                 differ between ranks */
} ferry_halo_field;

#define FERRY_HALO_FIELD_INIT \
    {sizeof(ferry_halo_field), 0, {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}}, {0}, {0}}

/**
 * The blocks and their ghosts. Start from ::FERRY_HALO_SPEC_INIT. Entries of dimensions from @p dims on are not
 * looked at. No number of cells may pass 2^60, and no array may go around the domain more than 65536 times.
 *
 * With ::FERRY_HALO_GRID ranks are placed on the grid as MPI_Cart_create() places them without reordering: the last
 * dimension varies fastest. (This is the order of ranks; in memory dimension 0 varies fastest unless @p order says
 * otherwise.)
 *
 * With ::FERRY_HALO_BOXES blocks lie anywhere: one face may have several neighbours, a block may be one cell thin.
 */
typedef struct ferry_halo_spec {
    size_t size;                            /**< sizeof(ferry_halo_spec) */
    int dims;                               /**< dimensions, 1..::FERRY_HALO_MAX_DIMS; the same on all ranks */
    int64_t extent[FERRY_HALO_MAX_DIMS];    /**< interior cells of this rank, >= 0; on a grid they may differ between
                                                 ranks along a dimension, but not across it: neighbours side by side in
                                                 x have equal extents in y and z */
    int64_t ghost[FERRY_HALO_MAX_DIMS][2];  /**< ghost cells, low and high side, >= 0; may differ between ranks */
    int grid[FERRY_HALO_MAX_DIMS];          /**< grid only: ranks along each dimension, the same on all ranks; all 0:
                                                 from the Cartesian communicator of the context, which tells
                                                 @p periodic too */
    int periodic[FERRY_HALO_MAX_DIMS];      /**< 1: the last cell of the domain and the first are neighbours, 0: ghosts
                                                 outside of the domain are never written; the same on all ranks */
    ferry_halo_corners corners;             /**< the same on all ranks */
    int field_count;                        /**< fields, 1..::FERRY_PLAN_MAX_BUFFERS; the same on all ranks */
    const ferry_halo_field *fields;         /**< field_count fields */
    ferry_halo_blocks blocks;               /**< the same on all ranks */
    int64_t origin[FERRY_HALO_MAX_DIMS];    /**< boxes only: first cell of this rank, >= 0; origin + extent <= global */
    int64_t global[FERRY_HALO_MAX_DIMS];    /**< boxes only: cells of the whole domain, the same on all ranks */
    int holes;                              /**< boxes only: 0: every ghost cell inside of the domain must have an
                                                 owner; 1: those without one are never written */
    ferry_halo_order order;                 /**< of the arrays of this rank without strides; may differ between ranks */
} ferry_halo_spec;

#define FERRY_HALO_SPEC_INIT \
    {sizeof(ferry_halo_spec), 0, {0}, {{0, 0}}, {0}, {0}, FERRY_HALO_FACES, 0, NULL, FERRY_HALO_GRID, {0}, {0}, 0, \
     FERRY_HALO_FIRST_FASTEST}

/**
 * Compile the exchange of ghost cells.
 *
 * During the call each rank gets a record of about 400 bytes of every rank, finds those that have something for it or
 * need something of it, and compares its spec with theirs; what does not fit is refused on all ranks, naming dimension,
 * side, both ranks and both numbers.
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
 *                              ranks, ranks that differ in what must be equal, or strides that make cells share bytes
 * @retval FERRY_ERR_SHAPE      on a grid, neighbours whose extents differ across the face between them; with boxes,
 *                              two that overlap; ghost cells inside of the domain that no rank owns, which on a grid
 *                              are those of a periodic dimension without cells
 * @retval FERRY_ERR_NOT_FOUND  no grid is given and the communicator has no Cartesian topology
 * @retval others               as ferry_plan_compile(); after any failure nothing is filled and nothing is left
 *
 * Collective   over the context       Blocks   yes         Memory  as ferry_halo_describe() tells, more meanwhile
 * Threads      one at a time per context    Cost   proportional to ranks + pieces of ghosts x fields    Since   0.1
 */
FERRY_API ferry_status ferry_halo_create(ferry_context *ctx, const ferry_halo_spec *spec, ferry_halo **halo_out);

/**
 * Start to fill the ghost cells of all fields. Never waits for another rank.
 *
 *     ferry_halo_start(halo, fields);
 *     update(inner);                      // the box of ferry_halo_inner()
 *     ferry_halo_wait(halo);
 *     update(boundary);                   // the boxes of ferry_halo_boundary()
 *
 * @param halo    halo whose last round has ended
 * @param fields  the address of each field's array, in the order of the spec; the list is borrowed during the call.
 *                Until the round ends the arrays are borrowed: cells that are sent are not to be written, ghosts are
 *                undefined.
 * @retval FERRY_OK       the round is under way
 * @retval FERRY_ERR_ARG  NULL while there is something to move, or two fields at one address; nothing was started
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
 * Compile the way back: the values of ghosts go to their owners, where they are combined with the cell's value.
 *
 * Exactly those ghosts count that ferry_halo_exchange() would fill. A cell with several of them gets those of its own
 * rank first, then those of other ranks in their order, those of one rank in an order that the specs alone decide: the
 * bits are the same on any route and in any round; see ::ferry_op. Ghosts keep their values. Preparing the same op and types again
 * does nothing; other ones replace what was prepared before.
 *
 * @param halo   halo without a reverse round under way
 * @param op     how; the same on all ranks. ::FERRY_OP_REPLACE means ::FERRY_OP_LAST here.
 * @param types  the type of each field's numbers, one or several to an element, the same on all ranks; borrowed during
 *               the call; may be NULL for ::FERRY_OP_REPLACE and ::FERRY_OP_LAST
 * @retval FERRY_OK         ferry_halo_reverse_start() may be called
 * @retval FERRY_ERR_ARG    NULL, an op that is not defined for a type or for the size of a field's elements, or that
 *                          differs between ranks
 * @retval FERRY_ERR_STATE  a reverse round is under way on a rank
 * @retval others           as ferry_plan_compile(); after any failure what was prepared before is as it was
 *
 * Collective   over the context       Blocks   yes         Memory  as ferry_halo_describe() tells
 * Threads      one at a time per context    Cost   as ferry_plan_compile()    Since   0.1
 */
FERRY_API ferry_status ferry_halo_reverse_prepare(ferry_halo *halo, ferry_op op, const ferry_type *types);

/**
 * Start a reverse round. Never waits for another rank.
 *
 * @param halo    halo that is prepared for it and whose last round, of either way, has ended
 * @param fields  as of ferry_halo_start(); until the round ends ghosts are not to be written, and cells with ghosts
 *                elsewhere neither read nor written
 * @retval FERRY_OK         the round is under way
 * @retval FERRY_ERR_STATE  ferry_halo_reverse_prepare() was not called; nothing was started
 * @retval others           as ferry_halo_start()
 *
 * Collective   over neighbours       Blocks   no            Memory   allocates nothing
 * Threads      one at a time per context    Cost   proportional to this rank's blocks    Since   0.1
 */
FERRY_API ferry_status ferry_halo_reverse_start(ferry_halo *halo, void *const *fields);

/**
 * Move a reverse round on without waiting, and tell whether it has ended.
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
FERRY_API ferry_status ferry_halo_reverse_test(ferry_halo *halo, int *done_out);

/**
 * Wait until this rank's cells have got what their ghosts elsewhere held. Returns at once when no round was started.
 *
 * @param halo  halo
 * @retval FERRY_OK       the round has ended
 * @retval FERRY_ERR_ARG  NULL
 * @retval others         as ferry_plan_wait()
 *
 * Collective   no            Blocks   yes           Memory   allocates nothing
 * Threads      one at a time per context    Cost   the round    Since   0.1
 */
FERRY_API ferry_status ferry_halo_reverse_wait(ferry_halo *halo);

/**
 * Bring ghosts to their owners: ferry_halo_reverse_start() and ferry_halo_reverse_wait().
 *
 *     ferry_halo_reverse_prepare(halo, FERRY_OP_SUM, types);      // once
 *     deposit(field);                                             // into cells and ghosts
 *     ferry_halo_reverse_exchange(halo, &field);                  // cells have their sums
 *     ferry_halo_exchange(halo, &field);                          // and so have ghosts
 *
 * @param halo    halo that is prepared for it and whose last round, of either way, has ended
 * @param fields  as of ferry_halo_start()
 * @retval FERRY_OK  the cells are right
 * @retval others    as ferry_halo_reverse_start() and ferry_plan_wait()
 *
 * Collective   over neighbours       Blocks   yes           Memory   allocates nothing
 * Threads      one at a time per context    Cost   the round    Since   0.1
 */
FERRY_API ferry_status ferry_halo_reverse_exchange(ferry_halo *halo, void *const *fields);

/**
 * Tell how many bytes the local array of a field has, ghosts included; with strides, up to the end of its last cell.
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

/** A box of values of a field: low[d] <= index < high[d], counted from the first interior value as
 * ferry_halo_interior() does, so that ghosts on the low side have negative indices. */
typedef struct ferry_halo_box {
    int64_t low[FERRY_HALO_MAX_DIMS];  /**< first index along each dimension */
    int64_t high[FERRY_HALO_MAX_DIMS]; /**< one past the last; equals low when there is none */
} ferry_halo_box;

enum { FERRY_HALO_MAX_BOUNDARY = 2 * FERRY_HALO_MAX_DIMS /**< boxes that ferry_halo_boundary() may fill */ };

/**
 * Tell which values of a field this rank owns: those that it sends and nobody fills. For fields in cells the whole
 * interior; staggered fields share their last values with the next rank, see ::ferry_halo_field.
 *
 * @param halo     halo
 * @param field    0..field_count - 1
 * @param box_out  filled; entries of dimensions from `dims` on with 0 and 1
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  NULL, or no such field; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_halo_owned(const ferry_halo *halo, int field, ferry_halo_box *box_out);

/**
 * Tell which values of a field can be updated between start and wait, in place or not, by a stencil as wide as the
 * field's ghosts: the stencil reads nothing that arrives, and the value itself is not sent. Sides without neighbours
 * are not cut.
 *
 * @param halo     halo
 * @param field    0..field_count - 1
 * @param box_out  filled, empty when every value is near a neighbour
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  NULL, or no such field; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_halo_inner(const ferry_halo *halo, int field, ferry_halo_box *box_out);

/**
 * Tell which values of a field must wait for the end of the round: boxes that, with the one of ferry_halo_inner(),
 * cover what ferry_halo_owned() tells, each value once.
 *
 * @param halo       halo
 * @param field      0..field_count - 1
 * @param boxes_out  room for ::FERRY_HALO_MAX_BOUNDARY boxes, of which the first are filled
 * @param count_out  filled with their number; none is empty
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  NULL, or no such field; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_halo_boundary(const ferry_halo *halo, int field, ferry_halo_box *boxes_out,
                                           int *count_out);

/**
 * Try a halo: in arrays of its own, fill what each rank owns with numbers that tell rank, field and place, exchange
 * them, and compare every byte with what belongs there: ghosts with the numbers of their owners, found anew from the
 * boxes of all ranks; everything else, padding between strides too, with what was there before.
 *
 * @param halo  halo whose last round has ended
 * @retval FERRY_OK            every ghost is right, nothing else was written
 * @retval FERRY_ERR_DELIVERY  the text names field, cell, side, and owner of the first wrong one, on all ranks
 * @retval FERRY_ERR_ARG       NULL
 * @retval FERRY_ERR_STATE     a round is under way on a rank; it goes on unharmed
 * @retval FERRY_ERR_MEMORY    no room for the arrays on a rank
 * @retval others              as ferry_plan_start() and ferry_plan_wait()
 *
 * Collective   over the context       Blocks   yes         Memory  meanwhile all fields, and the largest once more
 * Threads      one at a time per context    Cost   a round, and looking at every cell    Since   0.1
 */
FERRY_API ferry_status ferry_halo_check(ferry_halo *halo);

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
 * Explain a halo: domain, place of this rank, fields, neighbours, then how the plan moves the blocks.
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
 * Arrays may go before it: a halo knows addresses only while a round is under way.
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
