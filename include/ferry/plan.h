/** @file
 * Plans: an exchange of blocks between ranks, compiled once and run many times.
 */
#ifndef FERRY_PLAN_H
#define FERRY_PLAN_H

#include "ferry/element.h"
#include "ferry/layout.h"
#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_context ferry_context;
typedef struct ferry_plan ferry_plan; /**< opaque; see ferry_plan_compile() */

/**
 * One directed block. Both ranks name it; they are matched by (from, to, tag), equal ones in the order given.
 *
 * With an @p op other than ::FERRY_OP_REPLACE what arrives is combined with what is there. The targets of such edges may
 * share bytes with each other. They are combined in the order in which the receiving rank gives its edges, whatever
 * arrives first and on whatever route, so that results are the same bit for bit in every round. All of it is done at
 * the end of the round; until then these blocks lie in memory of the plan (`staging_bytes` of ferry_plan_describe()),
 * but for blocks of a rank to itself, which are read at the end.
 */
typedef struct ferry_edge {
    size_t size;                /**< sizeof(ferry_edge) */
    int from;                   /**< rank that gives the block */
    int to;                     /**< rank that receives it; may equal @p from */
    int tag;                    /**< tells blocks of one pair apart, >= 0 */
    int buffer;                 /**< which base address of a start this rank's layouts are relative to, 0..::FERRY_PLAN_MAX_BUFFERS - 1 */
    const ferry_layout *source; /**< where the elements lie at rank @p from; not looked at elsewhere */
    const ferry_layout *target; /**< where they go at rank @p to; not looked at elsewhere */
    ferry_op op;                /**< how what arrives meets what is there; looked at by rank @p to only */
    ferry_type type;            /**< what @p op combines, ::FERRY_TYPE_BOOL .. ::FERRY_TYPE_COMPLEX128, one or several to an
                                     element of @p target; not looked at for ::FERRY_OP_REPLACE and ::FERRY_OP_LAST */
} ferry_edge;

#define FERRY_EDGE_INIT {sizeof(ferry_edge), -1, -1, 0, 0, NULL, NULL, FERRY_OP_REPLACE, FERRY_TYPE_NULL}

enum { FERRY_PLAN_MAX_BUFFERS = 64 /**< base addresses of one start */ };

/**
 * Compile an exchange.
 *
 * The two ends of each edge find each other and are compared; for each edge a route is chosen, and all memory that
 * rounds need is taken now. Edges that only one rank names, and ends with different numbers or sizes of elements,
 * are refused on all ranks, naming both ranks and both numbers.
 *
 *     ferry_edge edges[2] = {FERRY_EDGE_INIT, FERRY_EDGE_INIT};
 *     edges[0].from = me;    edges[0].to = right; edges[0].source = last_column;
 *     edges[1].from = left;  edges[1].to = me;    edges[1].target = ghost_column;
 *     ferry_plan_compile(ctx, edges, 2, &plan);
 *
 * @param ctx       context
 * @param edges     count edges, each with this rank at one end or both; borrowed during the call, layouts too
 * @param count     edges of this rank; 0 is allowed
 * @param plan_out  filled; the caller frees it with ferry_plan_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     NULL, a rank outside of the context, a negative tag, an edge without this rank or without a layout,
 *                           targets of this rank that share bytes though one of them is replaced, or an op that is
 *                           not defined for the type, or not for elements of this size
 * @retval FERRY_ERR_SHAPE   the two ends of an edge differ, or only one rank names it
 * @retval FERRY_ERR_ROUTE   the routes allowed cannot carry an edge
 * @retval FERRY_ERR_MEMORY  a rank is out of memory
 * @retval FERRY_ERR_MPI     an MPI call failed; after any failure nothing is filled and nothing is left
 *
 * Collective   over the context       Blocks   yes         Memory  as ferry_plan_describe() tells
 * Threads      one at a time per context    Cost   proportional to this rank's edges    Since   0.1
 */
FERRY_API ferry_status ferry_plan_compile(ferry_context *ctx, const ferry_edge *edges, size_t count, ferry_plan **plan_out);

/**
 * Start one round: every block begins to move out of @p src and into @p dst. Never waits for another rank.
 *
 *     ferry_plan_start(plan, field, field);
 *     update_interior(field);
 *     ferry_plan_wait(plan);
 *     update_border(field);
 *
 * Any address will do in any round; blocks leave with a single copy when @p src is memory of ferry_memory_alloc().
 *
 * A round moves on only while its ranks are inside calls of this context, ferry_plan_test() among them, or have the
 * thread that `progress` of ::ferry_context_options asks for. The thread takes time of a core: it pays where one is
 * free, or where the wire is slow and the rank cannot call ferry_plan_test() now and then. A rank that waits elsewhere (in MPI, or in a
 * wait of another context) for a rank that waits for this round may wait for ever.
 *
 * @param plan  compiled plan whose last round ferry_plan_wait() or ferry_plan_test() has told the end of
 * @param src   base address of the source layouts; borrowed until the round ends, not to be written to before then
 * @param dst   base address of the target layouts; borrowed until the round ends; the bytes that arrive are undefined
 *              before then. May equal @p src when no outgoing byte is an incoming one.
 * @retval FERRY_OK         the round is under way
 * @retval FERRY_ERR_ARG    NULL while the plan moves bytes there; nothing was started
 * @retval FERRY_ERR_STATE  the last round was not waited for; it goes on unharmed
 * @retval FERRY_ERR_MPI    a message could not be started; the context is broken: only freeing is allowed
 *
 * Collective   over the ranks that share edges; others may leave the call out
 * Blocks       no            Memory   allocates nothing
 * Threads      one at a time per context    Cost   proportional to this rank's edges    Since   0.1
 */
FERRY_API ferry_status ferry_plan_start(ferry_plan *plan, const void *src, void *dst);

/**
 * Start one round of a plan whose edges name several buffers: edges with `buffer` b read from srcs[b] and write to dsts[b].
 *
 * @param plan   compiled plan whose last round has ended
 * @param count  addresses in each list, above the highest buffer that this rank's edges name
 * @param srcs   base addresses to read from; the list is borrowed during the call, the memory as in ferry_plan_start()
 * @param dsts   base addresses to write to; likewise
 * @retval others  as ferry_plan_start()
 *
 * Collective   over the ranks that share edges; others may leave the call out
 * Blocks       no            Memory   allocates nothing
 * Threads      one at a time per context    Cost   proportional to this rank's edges    Since   0.1
 */
FERRY_API ferry_status ferry_plan_start_buffers(ferry_plan *plan, int count, const void *const *srcs, void *const *dsts);

/**
 * Move a started round on without waiting, and tell whether it has ended.
 *
 * @param plan      plan
 * @param done_out  filled with 1 when the round has ended (or none was started), else 0
 * @retval FERRY_OK           filled
 * @retval FERRY_ERR_ARG      NULL
 * @retval others             as ferry_plan_wait()
 *
 * Collective   no            Blocks   no            Memory   allocates nothing
 * Threads      one at a time per context    Cost   what can be moved now    Since   0.1
 */
FERRY_API ferry_status ferry_plan_test(ferry_plan *plan, int *done_out);

/**
 * Wait for the end of a round: what arrives here has arrived, and what left may be overwritten. All started rounds of
 * the context move on meanwhile. Returns at once when no round was started.
 *
 * @param plan  plan
 * @retval FERRY_OK            the round has ended
 * @retval FERRY_ERR_ARG       NULL
 * @retval FERRY_ERR_TIMEOUT   the time set for waits has passed; the text says which ranks and edges are missing
 * @retval FERRY_ERR_PEER_GONE a rank of this node has ended without leaving the context; the text names it. Seen within a
 *                             second; the end of ranks of other nodes is not seen, set a time for waits
 * @retval FERRY_ERR_DELIVERY  a message of another round or of another length arrived
 * @retval FERRY_ERR_MPI       an MPI call failed; after any of these four the context is broken: only freeing is allowed, and
 *                             the memory of the round must stay until MPI_Finalize, for something may still arrive
 *
 * Collective   no            Blocks   yes           Memory   allocates nothing
 * Threads      one at a time per context    Cost   the round    Since   0.1
 */
FERRY_API ferry_status ferry_plan_wait(ferry_plan *plan);

/**
 * Free a plan and all it owns; a round under way is waited for first. Of a broken context the buffers of an
 * unfinished round are kept, because MPI may still write into them. Does nothing for NULL.
 *
 * @param plan  owned by the caller; not valid afterwards
 *
 * Collective   no (every rank frees its own)        Blocks   until a round under way has ended     Memory   frees
 * Threads      one at a time per context    Cost   constant    Since   0.1
 */
FERRY_API void ferry_plan_free(ferry_plan *plan);

/** Byte range relative to a base address. */
typedef struct ferry_range {
    int64_t lb; /**< first byte */
    int64_t ub; /**< one past the last byte; equals lb when there is none */
} ferry_range;

/**
 * Tell which bytes of the base addresses a plan reads and writes; with several buffers, the range that holds them all.
 *
 * @param plan     compiled plan
 * @param send_out filled with the byte range read, relative to `src` of ferry_plan_start(); [0, 0) when nothing leaves
 * @param recv_out filled with the byte range written, relative to `dst`; [0, 0) when nothing arrives
 * @retval FERRY_OK       both ranges are filled
 * @retval FERRY_ERR_ARG  a pointer is NULL; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_plan_bounds(const ferry_plan *plan, ferry_range *send_out, ferry_range *recv_out);

/** What a plan moves and holds on this rank; filled by ferry_plan_describe(). */
typedef struct ferry_plan_info {
    uint64_t send_bytes;     /**< payload that leaves this rank in a round, to itself included */
    uint64_t recv_bytes;     /**< payload that arrives in a round, from itself included */
    uint64_t private_bytes;  /**< private memory held: tables and staging */
    uint64_t shared_bytes;   /**< shared memory held */
    uint64_t staging_bytes;  /**< part of the two above that payload passes through */
    uint64_t messages;       /**< MPI messages this rank sends in a round */
    uint64_t send_edges;     /**< edges that leave this rank */
    uint64_t recv_edges;     /**< edges that arrive */
    uint64_t rounds;         /**< rounds started so far */
    uint64_t expected_ns;    /**< that a round takes by the tuning record, when all ranks come in time; a rough figure */
} ferry_plan_info;

/**
 * Tell what a plan moves and what memory it holds.
 *
 * @param plan      compiled plan
 * @param info_out  filled
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  a pointer is NULL
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_plan_describe(const ferry_plan *plan, ferry_plan_info *info_out);

/**
 * Explain a plan: for each carrier the route, the edges it carries, their bytes and how they are moved; then, for each
 * other rank and direction, why: the time expected of the route that was taken and of those that were not, or what
 * excludes them.
 *
 * @param plan   plan; NULL prints "none"
 * @param text   filled with at most @p bytes - 1 characters and a NUL; may be NULL when @p bytes is 0
 * @param bytes  room
 * @return characters of the whole text, NUL not counted, as snprintf does
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     proportional to the text    Since   0.1
 */
FERRY_API size_t ferry_plan_explain(const ferry_plan *plan, char *text, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_PLAN_H */
