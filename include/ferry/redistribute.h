/** @file
 * Redistribution: data that is spread over the ranks in one way, spread in another. Transposes of matrices in block
 * rows.
 */
#ifndef FERRY_REDISTRIBUTE_H
#define FERRY_REDISTRIBUTE_H

#include "ferry/plan.h"
#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_context ferry_context;
typedef struct ferry_transpose ferry_transpose; /**< opaque; see ferry_transpose_create() */

enum { FERRY_TRANSPOSE_MAX_ELEMENT = 4096 /**< bytes of one element of a transpose */ };

/**
 * The usual share of one part when @p total things are dealt in blocks: the first total % parts parts get one more.
 *
 * @param total      things, >= 0
 * @param parts      parts, >= 1
 * @param part       0..parts - 1
 * @param first_out  filled with the first thing of the part; for an empty part, where it would be
 * @param count_out  filled with the number of things of the part
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  a number out of its range, or NULL; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_block_share(int64_t total, int parts, int part, int64_t *first_out, int64_t *count_out);

/**
 * A transpose of a matrix whose rows are spread in blocks, in the order of ranks. Start from
 * ::FERRY_TRANSPOSE_SPEC_INIT.
 */
typedef struct ferry_transpose_spec {
    size_t size;           /**< sizeof(ferry_transpose_spec) */
    int64_t rows;          /**< of the whole matrix, >= 0; the same on all ranks */
    int64_t columns;       /**< of the whole matrix, >= 0; the same on all ranks */
    int64_t element_bytes; /**< of one element, 1..::FERRY_TRANSPOSE_MAX_ELEMENT; the same on all ranks */
    int64_t local_rows;    /**< rows of the matrix that this rank holds, >= 0; -1: as ferry_block_share() deals them */
    int64_t local_columns; /**< columns of the matrix (rows of the transposed one) that this rank gets, >= 0; likewise */
} ferry_transpose_spec;

#define FERRY_TRANSPOSE_SPEC_INIT {sizeof(ferry_transpose_spec), 0, 0, 0, -1, -1}

/**
 * Compile a transpose.
 *
 * The source is local_rows x columns elements, dense, row after row; the target local_columns x rows, likewise. Shares
 * may be uneven and empty; those of all ranks together are the whole matrix.
 *
 *     ferry_transpose_spec spec = FERRY_TRANSPOSE_SPEC_INIT;
 *     spec.rows = 10080; spec.columns = 20160; spec.element_bytes = 2;
 *     ferry_transpose_create(ctx, &spec, &turn);
 *     ferry_transpose_run(turn, mine, turned);
 *
 * @param ctx            context
 * @param spec           borrowed during the call
 * @param transpose_out  filled; the caller frees it with ferry_transpose_free() before the context
 * @retval FERRY_OK         filled
 * @retval FERRY_ERR_ARG    NULL, a number out of its range or overflowing 63 bits, or ranks that differ in what must be
 *                          equal
 * @retval FERRY_ERR_SHAPE  the shares do not add up to the rows or columns (the text names both numbers)
 * @retval others           as ferry_plan_compile(); after any failure nothing is filled and nothing is left
 *
 * Collective   over the context       Blocks   yes         Memory  as ferry_transpose_describe() tells
 * Threads      one at a time per context    Cost   proportional to the ranks    Since   0.1
 */
FERRY_API ferry_status ferry_transpose_create(ferry_context *ctx, const ferry_transpose_spec *spec,
                                              ferry_transpose **transpose_out);

/**
 * Start one round. Never waits for another rank.
 *
 * @param transpose  whose last round has ended
 * @param src        this rank's rows; borrowed until the round ends, not to be written to before then; may be NULL when
 *                   empty
 * @param dst        for this rank's rows of the transposed matrix; undefined until the round ends; shares no byte with
 *                   @p src; may be NULL when empty
 * @retval FERRY_OK       the round is under way
 * @retval FERRY_ERR_ARG  NULL where there is something to move, or addresses that overlap; nothing was started
 * @retval others         as ferry_plan_start()
 *
 * Collective   over the ranks with shares    Blocks   no            Memory   allocates nothing
 * Threads      one at a time per context    Cost   proportional to the ranks    Since   0.1
 */
FERRY_API ferry_status ferry_transpose_start(ferry_transpose *transpose, const void *src, void *dst);

/**
 * Move a started round on without waiting, and tell whether it has ended.
 *
 * @param transpose  transpose
 * @param done_out   filled with 1 when the round has ended (or none was started), else 0
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  NULL
 * @retval others         as ferry_plan_wait()
 *
 * Collective   no            Blocks   no            Memory   allocates nothing
 * Threads      one at a time per context    Cost   what can be moved now    Since   0.1
 */
FERRY_API ferry_status ferry_transpose_test(ferry_transpose *transpose, int *done_out);

/**
 * Wait until the target is complete and the source may be overwritten. Returns at once when no round was started.
 *
 * @param transpose  transpose
 * @retval FERRY_OK       the round has ended
 * @retval FERRY_ERR_ARG  NULL
 * @retval others         as ferry_plan_wait()
 *
 * Collective   no            Blocks   yes           Memory   allocates nothing
 * Threads      one at a time per context    Cost   the round    Since   0.1
 */
FERRY_API ferry_status ferry_transpose_wait(ferry_transpose *transpose);

/**
 * Turn the matrix over: ferry_transpose_start() and ferry_transpose_wait().
 *
 * @param transpose  whose last round has ended
 * @param src        this rank's rows
 * @param dst        for this rank's rows of the transposed matrix
 * @retval FERRY_OK       the target is complete
 * @retval FERRY_ERR_ARG  as ferry_transpose_start()
 * @retval others         as ferry_plan_start() and ferry_plan_wait()
 *
 * Collective   over the ranks with shares    Blocks   yes           Memory   allocates nothing
 * Threads      one at a time per context    Cost   the round    Since   0.1
 */
FERRY_API ferry_status ferry_transpose_run(ferry_transpose *transpose, const void *src, void *dst);

/**
 * Tell which part of the matrix this rank has before and after.
 *
 * @param transpose         transpose
 * @param first_row_out     filled with the first row of the source; may be NULL, like the others
 * @param row_count_out     filled with the rows of the source
 * @param first_column_out  filled with the first column, that is the first row of the target
 * @param column_count_out  filled with the rows of the target
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  @p transpose is NULL
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_transpose_shares(const ferry_transpose *transpose, int64_t *first_row_out,
                                              int64_t *row_count_out, int64_t *first_column_out,
                                              int64_t *column_count_out);

/**
 * Tell what a round moves and what memory the transpose holds.
 *
 * @param transpose  transpose
 * @param info_out   filled, as ferry_plan_describe() does
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  a pointer is NULL
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_transpose_describe(const ferry_transpose *transpose, ferry_plan_info *info_out);

/**
 * Explain a transpose: sizes, this rank's shares, then how the plan moves the blocks.
 *
 * @param transpose  transpose; NULL prints "none"
 * @param text       filled with at most @p bytes - 1 characters and a NUL; may be NULL when @p bytes is 0
 * @param bytes      room
 * @return characters of the whole text, NUL not counted, as snprintf does
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     proportional to the text    Since   0.1
 */
FERRY_API size_t ferry_transpose_explain(const ferry_transpose *transpose, char *text, size_t bytes);

/**
 * Free a transpose and all it owns. Not while a round is under way. Does nothing for NULL.
 *
 * @param transpose  owned by the caller; not valid afterwards
 *
 * Collective   no (every rank frees its own)        Blocks   no            Memory   frees
 * Threads      one at a time per context    Cost   constant    Since   0.1
 */
FERRY_API void ferry_transpose_free(ferry_transpose *transpose);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_REDISTRIBUTE_H */
