/** @file
 * A context: what ferry knows of one communicator. Everything else is made from one.
 */
#ifndef FERRY_CONTEXT_H
#define FERRY_CONTEXT_H

#include <mpi.h>

#include "ferry/setting.h"
#include "ferry/status.h"
#include "ferry/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_context ferry_context; /**< opaque; see ferry_context_create() */

/** Options of a context. Start from ::FERRY_CONTEXT_OPTIONS_INIT. Every rank gives the same values. */
typedef struct ferry_context_options {
    size_t size;        /**< sizeof(ferry_context_options) */
    int version;        /**< ::FERRY_VERSION of the header the caller was compiled with */
    const char *routes; /**< routes allowed, comma separated, such as "node_ring,wire_pack"; NULL: FERRY_ROUTE, else all */
    const char *nodes;  /**< who shares a node: "auto", "mpi", "block:N" or a list "0,0,1,1"; NULL: FERRY_NODES, else auto */
    double timeout_s;   /**< seconds that a wait may last, 0 for ever; negative: FERRY_TIMEOUT, else for ever. Making a context waits for ever */
    const char *progress; /**< "none", or "thread": a thread moves started rounds of plans on while the caller computes; NULL:
                             FERRY_PROGRESS, else none. May differ between ranks */
} ferry_context_options;

#define FERRY_CONTEXT_OPTIONS_INIT {sizeof(ferry_context_options), FERRY_VERSION, NULL, NULL, -1.0, NULL}

/**
 * Make a context for a communicator.
 *
 * The communicator is duplicated, so that messages of the caller and of ferry never meet. The ranks find out which of
 * them share a node and prove it by moving known bytes through shared memory. Options and versions that differ
 * between ranks are refused.
 *
 *     ferry_context *ctx;
 *     ferry_status st = ferry_context_create(MPI_COMM_WORLD, NULL, &ctx);
 *
 * @param comm     an intracommunicator; copies (it may be freed by the caller afterwards)
 * @param options  borrowed during the call; NULL for the defaults
 * @param ctx_out  filled with the new context, which the caller frees with ferry_context_free()
 * @retval FERRY_OK         @p ctx_out is filled
 * @retval FERRY_ERR_ARG    no intracommunicator, NULL output, an option that cannot be understood, or ranks that disagree
 * @retval FERRY_ERR_STATE  MPI is not initialized or already finalized
 * @retval FERRY_ERR_MPI    this library was built for another MPI than the one running, or an MPI call failed
 * @retval FERRY_ERR_MEMORY memory ran out on a rank; nothing is left behind after any failure
 *
 * Collective   over comm     Blocks   yes           Memory  about 4 KiB, and address space for shared memory
 * Threads      one at a time per communicator       Cost    a few collective calls      Since   0.1
 */
FERRY_API ferry_status ferry_context_create(MPI_Comm comm, const ferry_context_options *options, ferry_context **ctx_out);

/**
 * Free a context and the shared memory of it. Plans, halos and memory made from it must be freed before.
 * Allowed after MPI_Finalize too, which itself ends what is left. Does nothing for NULL.
 *
 * @param ctx  owned by the caller; not valid afterwards
 *
 * Collective   over the communicator, unless MPI is finalized      Blocks   yes     Memory  frees
 * Threads      one at a time per context        Cost   three MPI_Comm_free          Since   0.1
 */
FERRY_API void ferry_context_free(ferry_context *ctx);

/** What a context knows; filled by ferry_context_describe(). */
typedef struct ferry_context_info {
    int rank;                  /**< of the caller, in the communicator */
    int size;                  /**< ranks of the communicator */
    int node;                  /**< number of the caller's node, from 0 in the order of their lowest ranks */
    int node_count;            /**< nodes of the communicator */
    int node_rank;             /**< of the caller, within its node */
    int node_size;             /**< ranks of the caller's node */
    const char *shared_memory; /**< how the node's ranks reach the shared segment: "memfd", "socket", "named", "none"; lends until the context is freed */
    const char *shared_reason; /**< why shared memory is off, or why not in the first way, or ""; lends until the context is freed */
    int spins;                 /**< 1 when waits spin (every rank of the machine has a core of its own), 0 when they sleep */
    double timeout_s;          /**< seconds that a wait may last; 0 for ever */
    const char *progress;      /**< "none"; "thread": it moves all rounds; "node": a thread, but MPI_THREAD_MULTIPLE, which it needs for the
                                    wire, was not given to MPI_Init_thread, so it moves copies within the node only; static */
    const char *tuning;        /**< where the tuning record is from: "built-in", "file" or "set"; lends until the context is freed */
    const char *tuning_reason; /**< its file, or why there is none; lends until the context is freed */
} ferry_context_info;

/**
 * Tell what a context knows of the ranks and their nodes.
 *
 * @param ctx       context
 * @param info_out  filled
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  a pointer is NULL; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_context_describe(const ferry_context *ctx, ferry_context_info *info_out);

/**
 * Tell the Cartesian topology of the communicator that a context was made from.
 *
 * @param ctx           context
 * @param max_dims      room in the two lists
 * @param dims_out      filled with the number of dimensions
 * @param grid_out      filled with the ranks along each dimension
 * @param periodic_out  filled with 1 for each periodic dimension, else 0
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL, or there are more than @p max_dims dimensions
 * @retval FERRY_ERR_NOT_FOUND  the communicator has no Cartesian topology
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_context_cartesian(const ferry_context *ctx, int max_dims, int *dims_out, int *grid_out, int *periodic_out);

/** Running totals since the process began (allocations, system calls) or the context was made (the rest). */
typedef struct ferry_counters {
    uint64_t messages;     /**< MPI messages sent by rounds and streams */
    uint64_t wire_bytes;   /**< payload bytes sent in them */
    uint64_t node_bytes;   /**< payload bytes that arrived from ranks of the same node, self included */
    uint64_t copied_bytes; /**< bytes written by ferry's kernels: each pack, unpack and direct copy counts */
    uint64_t rounds;       /**< plan rounds started */
    uint64_t allocations;  /**< of memory, by the library in this process */
    uint64_t system_calls; /**< by the library in this process, waiting not included */
    uint64_t waits;        /**< times a rank went to sleep while waiting */
    uint64_t pool_bytes;   /**< bytes held for reuse by ferry_memory_take() now */
    uint64_t pool_bound;   /**< bytes that may be held: FERRY_POOL */
} ferry_counters;

/**
 * Read the counters.
 *
 * @param ctx           context
 * @param counters_out  filled
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  a pointer is NULL; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_context_counters(const ferry_context *ctx, ferry_counters *counters_out);

/**
 * Let all ranks leave with one verdict: the status and detail text of the lowest rank that failed, ::FERRY_OK when none did.
 * Every rank passes here, also one that has already failed; a caller's own setup steps can join this way.
 *
 * @param ctx     context
 * @param status  the verdict of this rank; its detail is taken from ferry_error_detail()
 * @return the same status on all ranks; ferry_error_detail() is the same text on all ranks when it is a failure
 *
 * Collective   over the context     Blocks   yes           Memory  none
 * Threads      one at a time per context    Cost   one reduction      Since   0.1
 */
FERRY_API ferry_status ferry_context_agree(ferry_context *ctx, ferry_status status);

/**
 * Give every rank a small record of every rank.
 *
 *     int64_t rows = 17, *all = malloc(size * sizeof *all);
 *     ferry_context_gather(ctx, &rows, sizeof rows, all);
 *
 * @param ctx      context
 * @param mine     record of this rank; borrowed during the call
 * @param bytes    of one record, 1..4096; the same on all ranks
 * @param all_out  filled with the records of all ranks, in their order: @p bytes x ranks bytes
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  NULL or @p bytes out of its range on any rank, or different @p bytes, on all ranks; nothing is filled
 * @retval FERRY_ERR_MPI  an MPI call failed; the content of @p all_out is undefined
 *
 * Collective   over the context     Blocks   yes           Memory  none
 * Threads      one at a time per context    Cost   two reductions, one allgather    Since   0.1
 */
FERRY_API ferry_status ferry_context_gather(ferry_context *ctx, const void *mine, size_t bytes, void *all_out);

/** Bytes for a rank, or from one. */
typedef struct ferry_parcel {
    int rank;         /**< where they go, or come from */
    size_t bytes;     /**< how many; 0 is allowed */
    const void *data; /**< the bytes; not NULL unless @p bytes is 0 */
} ferry_parcel;

/**
 * Send parcels to some ranks and get those that others send, when nobody knows who will send to whom. Meant for setting
 * up, not for every step: rounds of plans need neither allocation nor agreement.
 *
 *     ferry_parcel wanted = {owner, bytes, list}, *got;
 *     size_t count;
 *     ferry_context_swap(ctx, &wanted, 1, &got, &count);
 *     for (size_t i = 0; i < count; i++)
 *         answer(got[i].rank, got[i].data, got[i].bytes);
 *     ferry_parcels_free(got);
 *
 * @param ctx        context
 * @param parcels    count parcels, at most one for each rank, this one included, in increasing order of ranks; borrowed
 *                   during the call
 * @param count      parcels of this rank; 0 is allowed
 * @param got_out    filled with the parcels for this rank, in increasing order of ranks; handed over, to be freed with
 *                   ferry_parcels_free(). Each one's data lies at a multiple of 16 bytes.
 * @param count_out  filled with their number
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     on any rank NULL, ranks out of range or order, or data that is NULL; on all ranks
 * @retval FERRY_ERR_MEMORY  a rank is out of memory; nothing is filled
 * @retval FERRY_ERR_MPI     an MPI call failed; the context is broken: only freeing is allowed
 *
 * Collective   over the context     Blocks   yes           Memory  what comes; meanwhile 16 bytes for each rank
 * Threads      one at a time per context    Cost   a barrier and two messages for each parcel    Since   0.1
 */
FERRY_API ferry_status ferry_context_swap(ferry_context *ctx, const ferry_parcel *parcels, size_t count,
                                          ferry_parcel **got_out, size_t *count_out);

/**
 * Free what ferry_context_swap() has filled. Does nothing for NULL.
 *
 * @param parcels  owned by the caller; not valid afterwards
 *
 * Collective   no            Blocks   no            Memory  frees
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API void ferry_parcels_free(ferry_parcel *parcels);

/** One route and whether it can be used here; filled by ferry_context_route(). */
typedef struct ferry_route_info {
    const char *name;  /**< such as "node_ring"; static */
    int usable;        /**< 1 when this rank can reach at least one rank (itself for "self") this way */
    char reason[160];  /**< why not, or what it is used for */
} ferry_route_info;

/**
 * Describe one of the routes that this library has.
 *
 * @param ctx       context
 * @param index     0, 1, ... until ::FERRY_ERR_NOT_FOUND
 * @param info_out  filled
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL; nothing is filled
 * @retval FERRY_ERR_NOT_FOUND  there are fewer routes; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_context_route(const ferry_context *ctx, int index, ferry_route_info *info_out);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_CONTEXT_H */
