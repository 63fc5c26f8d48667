/** @file
 * Memory that moves fast: shared memory that the node's ranks can read, and private memory that is kept for reuse.
 */
#ifndef FERRY_MEMORY_H
#define FERRY_MEMORY_H

#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_context ferry_context;

/**
 * Allocate memory that the other ranks of the node can read, so that blocks leave it with a single copy.
 *
 * The memory is zeroed, present (touching it never fails later), on huge pages where the kernel allows, and aligned to
 * 2 MiB from 2 MiB on, to 128 bytes below. Without shared memory it is ordinary private memory: everything
 * works, by other routes.
 *
 * @param ctx      context
 * @param bytes    wanted; 0 is allowed and gives a pointer that may only be freed
 * @param data_out filled; the caller frees it with ferry_memory_free() before the context
 * @retval FERRY_OK          @p data_out is filled
 * @retval FERRY_ERR_ARG     a pointer is NULL
 * @retval FERRY_ERR_MEMORY  more than the machine has left (the text names both numbers); nothing is filled
 *
 * Collective   no            Blocks   no            Memory  @p bytes, rounded up to pages
 * Threads      any thread    Cost     touches every page       Since   0.1
 */
FERRY_API ferry_status ferry_memory_alloc(ferry_context *ctx, size_t bytes, void **data_out);

/**
 * Free memory of ferry_memory_alloc(). No round may be using it. Does nothing for NULL.
 *
 * @param ctx   the context it was allocated from
 * @param data  owned by the caller; not valid afterwards
 *
 * Collective   no            Blocks   no            Memory  gives the pages back
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API void ferry_memory_free(ferry_context *ctx, void *data);

/**
 * Take private memory from the process's pool: memory given back earlier and still present where there is some that
 * fits, else fresh memory on huge pages. Content is undefined. Aligned to 64 bytes.
 *
 * @param bytes     wanted; 0 is allowed
 * @param data_out  filled; give it back with ferry_memory_give()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     @p data_out is NULL
 * @retval FERRY_ERR_MEMORY  not to be had; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  @p bytes, rounded up
 * Threads      any thread    Cost     constant when reused     Since   0.1
 */
FERRY_API ferry_status ferry_memory_take(size_t bytes, void **data_out);

/**
 * Give memory of ferry_memory_take() back. It is kept for reuse up to the bound FERRY_POOL. Does nothing for NULL.
 *
 * @param data  owned by the caller; not valid afterwards
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API void ferry_memory_give(void *data);

/**
 * Return memory kept for reuse to the system until at most @p keep_bytes are kept.
 *
 * @param keep_bytes  bound; 0 returns all
 * @return bytes still kept
 *
 * Collective   no            Blocks   no            Memory  frees
 * Threads      any thread    Cost     one system call per block      Since   0.1
 */
FERRY_API size_t ferry_memory_trim(size_t keep_bytes);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_MEMORY_H */
