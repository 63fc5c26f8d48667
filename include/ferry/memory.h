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

/* ---- Sealed memory ---------------------------------------------------------------------------------------- */

/** Memory that nobody can change any more, which other processes of the machine map instead of copying it. */
typedef struct ferry_sealed ferry_sealed;

/** Where a process finds the sealed memory of another one: plain bytes, to be sent. */
typedef struct ferry_ticket {
    uint64_t bytes;         /**< length of the memory */
    uint64_t device, inode; /**< identity of the file it lies in */
    int64_t process;        /**< of the owner */
    int32_t file;           /**< descriptor in the owner */
    char machine[68];       /**< which start of which machine */
} ferry_ticket;

/**
 * Make memory to be filled and then sealed.
 *
 * @param bytes       wanted, at least 1
 * @param sealed_out  filled; the caller frees it with ferry_sealed_free()
 * @param data_out    filled with zeroed memory, to be written until ferry_sealed_close()
 * @retval FERRY_OK          both are filled
 * @retval FERRY_ERR_ARG     a pointer is NULL, or @p bytes is 0
 * @retval FERRY_ERR_MEMORY  not to be had
 * @retval FERRY_ERR_SYSTEM  this system has no files that can be sealed; nothing is filled after any failure
 *
 * Collective   no            Blocks   no            Memory  @p bytes, and a file descriptor until freed
 * Threads      any thread    Cost     makes every page present      Since   0.1
 */
FERRY_API ferry_status ferry_sealed_create(size_t bytes, ferry_sealed **sealed_out, void **data_out);

/**
 * Seal: from now on nobody can write to it, not even the owner. The memory moves to another address.
 *
 * @param sealed    of ferry_sealed_create()
 * @param data_out  filled with the new address; the old one is not valid any more
 * @retval FERRY_OK          sealed
 * @retval FERRY_ERR_ARG     a pointer is NULL
 * @retval FERRY_ERR_STATE   sealed already
 * @retval FERRY_ERR_SYSTEM  the system refused; only freeing is allowed
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      one at a time per object      Cost     two system calls      Since   0.1
 */
FERRY_API ferry_status ferry_sealed_close(ferry_sealed *sealed, const void **data_out);

/**
 * Tell where others find it.
 *
 * @param sealed      sealed memory of this process
 * @param ticket_out  filled; good as long as the memory is not freed here
 * @retval FERRY_OK         filled
 * @retval FERRY_ERR_ARG    a pointer is NULL
 * @retval FERRY_ERR_STATE  not sealed yet, or another process's
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_sealed_offer(const ferry_sealed *sealed, ferry_ticket *ticket_out);

/**
 * Map sealed memory of another process of this machine and this user. It stays when the owner frees it.
 *
 * @param ticket      what the owner's ferry_sealed_offer() filled
 * @param sealed_out  filled; the caller frees it with ferry_sealed_free()
 * @param data_out    filled with the memory, which can only be read
 * @retval FERRY_OK          mapped
 * @retval FERRY_ERR_ARG     a pointer is NULL
 * @retval FERRY_ERR_SYSTEM  another machine, no way to the owner's files, or it is not what the ticket says (the text
 *                           tells)
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no            Blocks   no            Memory  addresses; the pages are those of the owner
 * Threads      any thread    Cost     five system calls     Since   0.1
 */
FERRY_API ferry_status ferry_sealed_open(const ferry_ticket *ticket, ferry_sealed **sealed_out, const void **data_out);

/**
 * Free it here; others that have mapped it keep it. Does nothing for NULL.
 *
 * @param sealed  owned by the caller; not valid afterwards
 *
 * Collective   no            Blocks   no            Memory  frees
 * Threads      one at a time per object      Cost     two system calls      Since   0.1
 */
FERRY_API void ferry_sealed_free(ferry_sealed *sealed);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_MEMORY_H */
