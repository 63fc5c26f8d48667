/** @file
 * Unstructured halos: the ghost cells of a partitioned mesh or graph, given by lists of indices.
 *
 * Each rank owns some cells and keeps copies of others, its ghosts. It says where each ghost comes from; the library
 * finds out who must send what. A field is a local array with one element for each cell and ghost, at the place of its
 * local index. All fields travel together, with one message per neighbour. What arrives may also go the other way and
 * be combined with what is there, as the assembly of finite elements needs it: ferry_mesh_reverse_prepare().
 */
#ifndef FERRY_HALO_UNSTRUCTURED_H
#define FERRY_HALO_UNSTRUCTURED_H

#include "ferry/element.h"
#include "ferry/plan.h"
#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_context ferry_context;
typedef struct ferry_mesh ferry_mesh; /**< opaque; see ferry_mesh_create() */

/**
 * This rank's cells and ghosts. Start from ::FERRY_MESH_SPEC_INIT.
 *
 * Ghosts are named by global numbers, then @p numbers tells which cells this rank owns, or by the rank that owns them
 * and their local index there. Each rank names its ghosts the way it likes.
 */
typedef struct ferry_mesh_spec {
    size_t size;                  /**< sizeof(ferry_mesh_spec) */
    int64_t cells;                /**< cells that this rank owns, >= 0: local indices 0..cells - 1 */
    int64_t ghosts;               /**< ghosts of this rank, >= 0 */
    const int64_t *numbers;       /**< cells global numbers, any >= 0, no two equal on all ranks; NULL: nobody names a
                                       ghost of this rank's by number */
    const int64_t *ghost_numbers; /**< ghosts global numbers; NULL: the next two lists are given */
    const int *ghost_ranks;       /**< ghosts ranks that own them; may be this one (a mesh that is periodic) */
    const int64_t *ghost_indices; /**< ghosts local indices at their owners */
    const int64_t *ghost_places;  /**< ghosts local indices of the copies here, each >= cells, no two equal; NULL: ghost i
                                       is at cells + i */
    int field_count;              /**< fields, 1..::FERRY_PLAN_MAX_BUFFERS; the same on all ranks */
    const int64_t *element_bytes; /**< field_count numbers: bytes of a cell of each field, >= 1; the same on all ranks */
} ferry_mesh_spec;

#define FERRY_MESH_SPEC_INIT {sizeof(ferry_mesh_spec), 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL}

/**
 * Find out who sends what to whom, and compile the exchange.
 *
 * Runs of indices that follow each other are moved as blocks, regular ones as loops, so a good numbering pays: cells
 * that one neighbour needs side by side, ghosts of one neighbour side by side in the same order.
 *
 *     const int64_t bytes[] = {sizeof(double)};
 *     ferry_mesh_spec spec = FERRY_MESH_SPEC_INIT;
 *     spec.cells = owned; spec.numbers = my_numbers;
 *     spec.ghosts = ghosts; spec.ghost_numbers = numbers_of_ghosts;
 *     spec.field_count = 1; spec.element_bytes = bytes;
 *     ferry_mesh_create(ctx, &spec, &mesh);
 *
 * @param ctx       context
 * @param spec      this rank's cells and ghosts; borrowed during the call, its lists too
 * @param mesh_out  filled; the caller frees it with ferry_mesh_free() before the context
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        NULL, a number out of its range, two ghosts at one place, a cell with two owners, an index
 *                              that its owner does not have, ranks that differ in what must be equal; the text names
 *                              ranks and numbers
 * @retval FERRY_ERR_NOT_FOUND  no rank owns a cell of that number; the text names rank, ghost and number
 * @retval others               as ferry_plan_compile(); after any failure nothing is filled and nothing is left
 *
 * Collective   over the context       Blocks   yes         Memory  as ferry_mesh_describe() tells; meanwhile about 100
 *                                                                  bytes for each cell with a number and each ghost
 * Threads      one at a time per context    Cost   proportional to cells and ghosts    Since   0.1
 */
FERRY_API ferry_status ferry_mesh_create(ferry_context *ctx, const ferry_mesh_spec *spec, ferry_mesh **mesh_out);

/**
 * Start to fill the ghosts of all fields. Never waits for another rank.
 *
 * @param mesh    mesh whose last round, reverse ones too, has ended
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
FERRY_API ferry_status ferry_mesh_start(ferry_mesh *mesh, void *const *fields);

/**
 * Move a started round on without waiting, and tell whether it has ended.
 *
 * @param mesh      mesh
 * @param done_out  filled with 1 when the round has ended (or none was started), else 0
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  NULL
 * @retval others         as ferry_plan_wait()
 *
 * Collective   no            Blocks   no            Memory   allocates nothing
 * Threads      one at a time per context    Cost   what can be moved now    Since   0.1
 */
FERRY_API ferry_status ferry_mesh_test(ferry_mesh *mesh, int *done_out);

/**
 * Wait until the ghosts are filled and what was sent may be overwritten. Returns at once when no round was started.
 *
 * @param mesh  mesh
 * @retval FERRY_OK       the round has ended
 * @retval FERRY_ERR_ARG  NULL
 * @retval others         as ferry_plan_wait()
 *
 * Collective   no            Blocks   yes           Memory   allocates nothing
 * Threads      one at a time per context    Cost   the round    Since   0.1
 */
FERRY_API ferry_status ferry_mesh_wait(ferry_mesh *mesh);

/**
 * Fill the ghosts of all fields: ferry_mesh_start() and ferry_mesh_wait().
 *
 * @param mesh    mesh whose last round has ended
 * @param fields  the address of each field's array, in the order of the spec
 * @retval FERRY_OK       the ghosts are filled
 * @retval FERRY_ERR_ARG  NULL while there is something to move; nothing was started
 * @retval others         as ferry_plan_start() and ferry_plan_wait()
 *
 * Collective   over neighbours       Blocks   yes           Memory   allocates nothing
 * Threads      one at a time per context    Cost   the round    Since   0.1
 */
FERRY_API ferry_status ferry_mesh_exchange(ferry_mesh *mesh, void *const *fields);

/**
 * Compile the way back: the values of ghosts go to their owners, where they are combined with the cell's value.
 *
 * A cell with several ghosts gets them in the order of the ranks that keep them, those of one rank in the order of its
 * list, on any route and in any round; see ::ferry_op. Ghosts keep their values. Preparing the same op and types again
 * does nothing; other ones replace what was prepared before.
 *
 * @param mesh   mesh without a reverse round under way
 * @param op     how; the same on all ranks. ::FERRY_OP_REPLACE means ::FERRY_OP_LAST here.
 * @param types  the type of each field's numbers, one or several to an element, the same on all ranks; borrowed during
 *               the call; may be NULL for ::FERRY_OP_REPLACE and ::FERRY_OP_LAST
 * @retval FERRY_OK         ferry_mesh_reverse_start() may be called
 * @retval FERRY_ERR_ARG    NULL, an op that is not defined for a type or for the size of a field's elements, or that
 *                          differs between ranks
 * @retval FERRY_ERR_STATE  a reverse round is under way on a rank
 * @retval others           as ferry_plan_compile(); after any failure what was prepared before is as it was
 *
 * Collective   over the context       Blocks   yes         Memory  as ferry_mesh_describe() tells
 * Threads      one at a time per context    Cost   as ferry_plan_compile()    Since   0.1
 */
FERRY_API ferry_status ferry_mesh_reverse_prepare(ferry_mesh *mesh, ferry_op op, const ferry_type *types);

/**
 * Start a reverse round. Never waits for another rank.
 *
 * @param mesh    mesh that is prepared for it and whose last round, of either way, has ended
 * @param fields  as of ferry_mesh_start(); until the round ends ghosts are not to be written, and cells with ghosts
 *                elsewhere neither read nor written
 * @retval FERRY_OK         the round is under way
 * @retval FERRY_ERR_STATE  ferry_mesh_reverse_prepare() was not called; nothing was started
 * @retval others           as ferry_mesh_start()
 *
 * Collective   over neighbours       Blocks   no            Memory   allocates nothing
 * Threads      one at a time per context    Cost   proportional to this rank's blocks    Since   0.1
 */
FERRY_API ferry_status ferry_mesh_reverse_start(ferry_mesh *mesh, void *const *fields);

/**
 * Move a reverse round on without waiting, and tell whether it has ended.
 *
 * @param mesh      mesh
 * @param done_out  filled with 1 when the round has ended (or none was started), else 0
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  NULL
 * @retval others         as ferry_plan_wait()
 *
 * Collective   no            Blocks   no            Memory   allocates nothing
 * Threads      one at a time per context    Cost   what can be moved now    Since   0.1
 */
FERRY_API ferry_status ferry_mesh_reverse_test(ferry_mesh *mesh, int *done_out);

/**
 * Wait until this rank's cells have got what their ghosts elsewhere held. Returns at once when no round was started.
 *
 * @param mesh  mesh
 * @retval FERRY_OK       the round has ended
 * @retval FERRY_ERR_ARG  NULL
 * @retval others         as ferry_plan_wait()
 *
 * Collective   no            Blocks   yes           Memory   allocates nothing
 * Threads      one at a time per context    Cost   the round    Since   0.1
 */
FERRY_API ferry_status ferry_mesh_reverse_wait(ferry_mesh *mesh);

/**
 * Bring ghosts to their owners: ferry_mesh_reverse_start() and ferry_mesh_reverse_wait().
 *
 *     ferry_mesh_reverse_prepare(mesh, FERRY_OP_SUM, types);      // once
 *     add_elements(field);                                        // into cells and ghosts
 *     ferry_mesh_reverse_exchange(mesh, &field);                  // cells have their sums
 *     ferry_mesh_exchange(mesh, &field);                          // and so have ghosts
 *
 * @param mesh    mesh that is prepared for it and whose last round, of either way, has ended
 * @param fields  as of ferry_mesh_start()
 * @retval FERRY_OK  the cells are right
 * @retval others    as ferry_mesh_reverse_start() and ferry_plan_wait()
 *
 * Collective   over neighbours       Blocks   yes           Memory   allocates nothing
 * Threads      one at a time per context    Cost   the round    Since   0.1
 */
FERRY_API ferry_status ferry_mesh_reverse_exchange(ferry_mesh *mesh, void *const *fields);

/**
 * Tell what a round that fills ghosts moves and what memory the mesh holds; the reverse, when it is prepared, counts for
 * memory only.
 *
 * @param mesh      mesh
 * @param info_out  filled, as ferry_plan_describe() does
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  a pointer is NULL
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_mesh_describe(const ferry_mesh *mesh, ferry_plan_info *info_out);

/**
 * Explain a mesh: cells, ghosts, neighbours with what they get and give and in how many runs, then how the plans move
 * the blocks.
 *
 * @param mesh   mesh; NULL prints "none"
 * @param text   filled with at most @p bytes - 1 characters and a NUL; may be NULL when @p bytes is 0
 * @param bytes  room
 * @return characters of the whole text, NUL not counted, as snprintf does
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     proportional to the text    Since   0.1
 */
FERRY_API size_t ferry_mesh_explain(const ferry_mesh *mesh, char *text, size_t bytes);

/**
 * Free a mesh and all it owns. Not while a round is under way. Does nothing for NULL.
 *
 * @param mesh  owned by the caller; not valid afterwards
 *
 * Collective   no (every rank frees its own)        Blocks   no            Memory   frees
 * Threads      one at a time per context    Cost   constant    Since   0.1
 */
FERRY_API void ferry_mesh_free(ferry_mesh *mesh);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_HALO_UNSTRUCTURED_H */
