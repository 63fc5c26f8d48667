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
 * The memory is zeroed, present (touching it never fails later), first touched by this rank, on huge pages where the
 * kernel allows, and aligned to 2 MiB from 2 MiB on, to 128 bytes below. Without shared memory, or when there is no
 * more of it (a small /dev/shm), it is ordinary private memory: everything works, by other routes.
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
 * Make memory that the program has already, such as a block of malloc(), readable for the other ranks of the node, at
 * the addresses where it is: blocks leave it with a single copy from then on, like memory of ferry_memory_alloc().
 *
 *     double *field = malloc(bytes);
 *     ferry_memory_adopt(ctx, field, bytes);
 *     ...                                        // rounds
 *     ferry_memory_release(ctx, field);
 *     free(field);
 *
 * Content and addresses stay. All pages become present. Adoption works in whole pages of 4 KiB: what else lies in the
 * first and in the last page, such as the neighbours of a block in malloc's heap, is moved with them; it may be used
 * and freed as before, by this process. Other ranks see it, but never look there. A page in which two adopted blocks
 * meet belongs to the one that was adopted first; what the other one has in it goes by other routes.
 * Without shared memory the call checks the same and changes nothing: everything works, by other routes.
 *
 * The caller promises:
 *   - while the call runs, no other thread writes to the block. Others may use what lies in its first and last page
 *     where the kernel offers userfaultfd (the default of most); elsewhere they must not write there either (memory
 *     allocated in whole pages, as malloc does from 128 KiB on unless told otherwise, has no neighbours);
 *   - no MPI request, persistent request or window uses the block while this call or ferry_memory_release() runs,
 *     since MPI libraries may keep the pages themselves;
 *   - no realloc(), munmap(), mremap(), mprotect() or free() before ferry_memory_release(). If it is forgotten:
 *     memory of malloc's heap goes on working for whoever gets it next, but a block that free() unmaps leaves an entry
 *     behind, and if other memory is mapped there later, blocks sent from it can arrive with old content. Check with
 *     the return value of ferry_memory_release(). ferry_context_free() releases what is still adopted, and leaves
 *     alone what it does not find in its place any more.
 *
 * After fork() neither process writes into the other's memory: in the child, memory of ferry_memory_alloc() and
 * adopted memory becomes private. The child finds there what the parent has; a page that the child has not written
 * yet follows what the parent writes, and a page that it has written does not (what lies beside an adopted block in its
 * first and last page is as it was at the moment of the fork). Only the parent may use the context. system(),
 * popen() and posix_spawn() are not concerned. A child made by the bare system call shares the memory.
 *
 * @param ctx    context
 * @param data   start of the block; the caller goes on owning it
 * @param bytes  of the block; at least one whole page must lie in it
 * @retval FERRY_OK          adopted
 * @retval FERRY_ERR_ARG     a pointer is NULL, or the memory cannot be adopted: it is not mapped, not private and
 *                           anonymous, not readable and writable, executable, locked, not passed on by fork, on
 *                           pages of hugetlbfs, a stack, sealed, watched by userfaultfd, holds no whole page, or is
 *                           adopted already (the text names the reason and the address); nothing has changed
 * @retval FERRY_ERR_MEMORY  shared memory for 32 MiB more at a time was not to be had (the text names numbers); the
 *                           memory is private again and has its content
 * @retval FERRY_ERR_SYSTEM  the system refused, or does not tell what the memory is; likewise
 *
 * Collective   no            Blocks   no            Memory  32 MiB at a time while it runs, then what was not present
 * Threads      any thread    Cost     copies the block     Since   0.1
 */
FERRY_API ferry_status ferry_memory_adopt(ferry_context *ctx, void *data, size_t bytes);

/**
 * Turn adopted memory into ordinary private memory again, with its content. Must be called before the memory is
 * freed, and not while a round uses it. Does nothing for NULL.
 *
 * @param ctx   context that has adopted it
 * @param data  the address given to ferry_memory_adopt()
 * @retval FERRY_OK             private again
 * @retval FERRY_ERR_ARG        @p ctx is NULL
 * @retval FERRY_ERR_NOT_FOUND  no block that starts there is adopted
 * @retval FERRY_ERR_STATE      something else is mapped there by now: it was freed before it was released. Nothing is
 *                              touched, and the block counts as released
 * @retval FERRY_ERR_MEMORY     there is no memory to copy it to; it has its content, goes by other routes, and must still
 *                              be released before it is freed
 *
 * Collective   no            Blocks   no            Memory  as much as the block has, 32 MiB at a time
 * Threads      any thread    Cost     copies the block     Since   0.1
 */
FERRY_API ferry_status ferry_memory_release(ferry_context *ctx, void *data);

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
