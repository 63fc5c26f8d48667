/** @file
 * How bundles move between ranks: broadcast, messages from rank to rank, with and without waiting, and collective
 * calls that cut bundles up and put them together.
 *
 * A receiver needs to know nothing of what comes. Collective calls are made by all ranks of the context in the same
 * order. When one fails on a rank it fails on all, with the same status and text, nothing is filled, and the next call
 * works; only in ferry_bundle_bcast() within a node a rank that cannot read what arrived fails alone. When the
 * root is out of range or not the same everywhere, each rank tells in its text what it saw. They never meet messages of
 * ferry_bundle_send(). ::FERRY_ERR_TIMEOUT, ::FERRY_ERR_MPI, ::FERRY_ERR_DELIVERY and ::FERRY_ERR_PEER_GONE break the
 * context: only freeing is allowed afterwards.
 */
#ifndef FERRY_BUNDLE_MOVE_H
#define FERRY_BUNDLE_MOVE_H

#include "ferry/bundle.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_context ferry_context;

enum {
    FERRY_ANY_SOURCE = -1, /**< ferry_bundle_recv(): from whoever sends */
    FERRY_ANY_TAG = -1     /**< ferry_bundle_recv(): with whatever tag */
};

typedef struct ferry_request ferry_request; /**< a move that has been started and not ended; opaque */

/** Which message a receive has met. */
typedef struct ferry_message {
    int from;      /**< rank that sent it */
    int tag;       /**< its tag */
    int64_t bytes; /**< length of the image */
} ferry_message;

/* ---- Broadcast, send, receive ----------------------------------------------------------------------------- */

/**
 * Give the bundle of the root to all ranks. Large values are sent from where they lie and arrive where they stay.
 *
 * @param ctx           context
 * @param bundle_inout  at the root: points to the bundle. Elsewhere: points to NULL or to a bundle, which is freed
 *                      and replaced on success; the caller frees the new one with ferry_bundle_free()
 * @param root          rank; the same everywhere
 * @retval FERRY_OK          all ranks hold equal bundles
 * @retval FERRY_ERR_ARG     a pointer is NULL, @p root is out of range, or a bundle that would be replaced is inside
 *                           another one
 * @retval FERRY_ERR_LIMIT   as ferry_bundle_encode() at the root
 * @retval FERRY_ERR_MEMORY  a rank is out of memory
 * @retval FERRY_ERR_FORMAT  a rank cannot read what arrived; within a node reported there only
 * @retval others            as ferry_stream_bcast(); nothing is replaced after any failure
 *
 * Collective   over the context     Blocks  yes
 * Memory       at the root the small values and 32 B for each large one; elsewhere one block for the image (of
 *              ferry_memory_take()) and one for the tree
 * Threads      one at a time per context     Since   0.1
 * Cost         each byte is copied once at the root of a node, once at each receiver
 */
FERRY_API ferry_status ferry_bundle_bcast(ferry_context *ctx, ferry_bundle **bundle_inout, int root);

/**
 * Send a bundle. Returns when it may be changed or freed; images of 64 KiB and more wait for the receiver, between
 * nodes shorter ones may wait too.
 *
 * @param ctx     context
 * @param bundle  to send; only read
 * @param to      rank; the caller itself only for images below 64 KiB, or when a receive has been started before
 * @param tag     0..16382
 * @retval FERRY_OK          sent
 * @retval FERRY_ERR_ARG     a pointer is NULL, or a number is out of its range; nothing was sent
 * @retval FERRY_ERR_LIMIT   as ferry_bundle_encode(); nothing was sent
 * @retval FERRY_ERR_MEMORY  out of memory here; nothing was sent
 * @retval others            as ferry_stream_send()
 *
 * Collective   no, with the receiver     Blocks  yes
 * Memory       the small values and 32 B for each large one, freed again
 * Threads      one at a time per context     Since   0.1
 * Cost         each byte is copied once here, once at the receiver
 */
FERRY_API ferry_status ferry_bundle_send(ferry_context *ctx, const ferry_bundle *bundle, int to, int tag);

/**
 * Receive a bundle. Those of one sender with one tag arrive in the order sent.
 *
 * @param ctx           context
 * @param from          rank or ::FERRY_ANY_SOURCE
 * @param tag           0..16382 or ::FERRY_ANY_TAG
 * @param bundle_inout  points to NULL or to a bundle, which is freed and replaced on success; the caller frees the
 *                      new one with ferry_bundle_free()
 * @param message_out   filled on success; may be NULL
 * @retval FERRY_OK          arrived
 * @retval FERRY_ERR_ARG     a pointer is NULL, a number is out of its range, or the old bundle is inside another one
 * @retval FERRY_ERR_MEMORY  out of memory; the message is gone
 * @retval FERRY_ERR_FORMAT  what arrived is no image; it is gone
 * @retval others            as ferry_stream_recv(); nothing is replaced after any failure
 *
 * Collective   no, with the sender     Blocks  yes
 * Memory       one block for the image (of ferry_memory_take()) and one for the tree
 * Threads      one at a time per context     Cost    see ferry_bundle_send()     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_recv(ferry_context *ctx, int from, int tag, ferry_bundle **bundle_inout,
                                         ferry_message *message_out);

/**
 * Send one bundle and receive another at the same time: two ranks that call this for each other never stop each other.
 *
 * @param ctx           context
 * @param bundle        to send; only read
 * @param to            rank that gets it; may be the caller
 * @param from          rank that sends one, or ::FERRY_ANY_SOURCE
 * @param tag           0..16382, of both messages
 * @param bundle_inout  as in ferry_bundle_recv(); may point to @p bundle itself, which is then replaced in the end
 * @param message_out   filled on success; may be NULL
 * @retval FERRY_OK  sent and received
 * @retval others    as ferry_bundle_send() and ferry_bundle_recv(); both have ended, nothing is replaced
 *
 * Collective   no, with both peers     Blocks  yes            Memory  as both calls
 * Threads      one at a time per context     Cost    as both calls     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_sendrecv(ferry_context *ctx, const ferry_bundle *bundle, int to, int from, int tag,
                                             ferry_bundle **bundle_inout, ferry_message *message_out);

/**
 * Wait for a bundle to come, and tell about it. It stays where it is: the next receive from that rank with that tag
 * gets it.
 *
 * @param ctx          context
 * @param from         rank or ::FERRY_ANY_SOURCE
 * @param tag          0..16382 or ::FERRY_ANY_TAG
 * @param message_out  filled
 * @retval FERRY_OK       there is one
 * @retval FERRY_ERR_ARG  a pointer is NULL, or a number is out of its range
 * @retval others         as ferry_bundle_recv(): the context is broken
 *
 * Collective   no             Blocks  yes            Memory  messages up to 64 KiB that came early are kept
 * Threads      one at a time per context     Cost    constant     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_probe(ferry_context *ctx, int from, int tag, ferry_message *message_out);

/**
 * Look whether a bundle has come; ferry_bundle_probe() without waiting.
 *
 * @param ctx          context
 * @param from         rank or ::FERRY_ANY_SOURCE
 * @param tag          0..16382 or ::FERRY_ANY_TAG
 * @param there_out    filled with 1 or 0
 * @param message_out  filled when there is one; may be NULL
 * @retval FERRY_OK       looked
 * @retval FERRY_ERR_ARG  a pointer is NULL, or a number is out of its range
 * @retval others         as ferry_bundle_recv(): the context is broken
 *
 * Collective   no             Blocks  no             Memory  as ferry_bundle_probe()
 * Threads      one at a time per context     Cost    one look     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_iprobe(ferry_context *ctx, int from, int tag, int *there_out,
                                           ferry_message *message_out);

/* ---- Moves that do not wait ------------------------------------------------------------------------------- */

/**
 * Start a ferry_bundle_send().
 *
 * @param ctx          context
 * @param bundle       borrowed until the request has ended: keep it alive and unchanged
 * @param to           rank; may be the caller
 * @param tag          0..16382
 * @param request_out  filled; ends in ferry_request_test(), _wait(), _waitall() or _cancel()
 * @retval FERRY_OK          started
 * @retval FERRY_ERR_ARG     a pointer is NULL, or a number is out of its range
 * @retval FERRY_ERR_LIMIT   as ferry_bundle_encode()
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is started after any failure
 *
 * Collective   no             Blocks  no             Memory  as ferry_bundle_send(), and under 2 KiB
 * Threads      one at a time per context     Since   0.1
 * Cost         reads the small values; images below 64 KiB are copied at once
 */
FERRY_API ferry_status ferry_bundle_isend(ferry_context *ctx, const ferry_bundle *bundle, int to, int tag,
                                          ferry_request **request_out);

/**
 * Start a ferry_bundle_recv(). Receives meet messages in the order in which they were started; each takes a bundle of
 * any size.
 *
 * @param ctx           context
 * @param from          rank or ::FERRY_ANY_SOURCE
 * @param tag           0..16382 or ::FERRY_ANY_TAG
 * @param bundle_inout  borrowed until the request has ended, when it is used as by ferry_bundle_recv()
 * @param request_out   filled; ends in ferry_request_test(), _wait(), _waitall() or _cancel()
 * @retval FERRY_OK          started
 * @retval FERRY_ERR_ARG     a pointer is NULL, a number is out of its range, or the old bundle is inside another one
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is started after any failure
 *
 * Collective   no             Blocks  no             Memory  under 2 KiB, then as ferry_bundle_recv()
 * Threads      one at a time per context     Cost    constant     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_irecv(ferry_context *ctx, int from, int tag, ferry_bundle **bundle_inout,
                                          ferry_request **request_out);

/**
 * Start a ferry_bundle_bcast(). All ranks start the broadcasts of a context in the same order.
 *
 * @param ctx           context
 * @param bundle_inout  borrowed until the request has ended, and at the root also the bundle: keep it alive and
 *                      unchanged. Else as in ferry_bundle_bcast()
 * @param root          rank; the same everywhere
 * @param request_out   filled; ends in ferry_request_test(), _wait() or _waitall(), also when an argument of this rank
 *                      is wrong, which all ranks then report
 * @retval FERRY_OK          started
 * @retval FERRY_ERR_ARG     @p ctx or @p request_out is NULL
 * @retval FERRY_ERR_MEMORY  out of memory for the request: the others wait. Nothing is started after any failure
 *
 * Collective   over the context     Blocks  no             Memory  under 2 KiB, then as ferry_bundle_bcast()
 * Threads      one at a time per context     Cost    reads the small values at the root     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_ibcast(ferry_context *ctx, ferry_bundle **bundle_inout, int root,
                                           ferry_request **request_out);

/**
 * Move everything of the context on, and tell whether a request has ended. One that has ended is freed.
 *
 * @param request      points to the request; set to NULL when it has ended. NULL in it counts as ended
 * @param done_out     filled with 1 or 0, also on failure
 * @param message_out  filled when a receive has ended well; may be NULL
 * @retval FERRY_OK       under way, or ended well
 * @retval FERRY_ERR_ARG  a pointer is NULL
 * @retval others         the failure with which the request ended, as the blocking call would return it
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per context     Cost    one look at everything under way     Since   0.1
 */
FERRY_API ferry_status ferry_request_test(ferry_request **request, int *done_out, ferry_message *message_out);

/**
 * Wait until a request has ended, and free it.
 *
 * @param request      points to the request; set to NULL. NULL in it has ended
 * @param message_out  filled when a receive has ended well; may be NULL
 * @retval FERRY_OK       ended well
 * @retval FERRY_ERR_ARG  @p request is NULL
 * @retval others         as the blocking call returns
 *
 * Collective   no, with the peers     Blocks  yes            Memory  none
 * Threads      one at a time per context     Cost    as the blocking call     Since   0.1
 */
FERRY_API ferry_status ferry_request_wait(ferry_request **request, ferry_message *message_out);

/**
 * Wait until all requests have ended, whatever becomes of them, and free them.
 *
 * @param count         requests
 * @param requests      count requests, each set to NULL; may be NULL when @p count is 0
 * @param messages_out  room for count, filled where receives have ended well; may be NULL
 * @retval FERRY_OK       all ended well
 * @retval FERRY_ERR_ARG  @p requests is NULL
 * @retval others         the failure of the first one in the list that failed
 *
 * Collective   no, with the peers     Blocks  yes            Memory  none
 * Threads      one at a time per context     Cost    as the blocking calls     Since   0.1
 */
FERRY_API ferry_status ferry_request_waitall(size_t count, ferry_request **requests, ferry_message *messages_out);

/**
 * Take a request back. Possible for a receive that no message has met, and for a send within a node whose message the
 * receiver has not seen yet.
 *
 * @param request  points to the request; freed and set to NULL on success. NULL in it is taken back already
 * @retval FERRY_OK         it never happened; what it borrowed is free
 * @retval FERRY_ERR_ARG    @p request is NULL
 * @retval FERRY_ERR_STATE  too late, or a broadcast: wait for it
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per context     Cost    constant     Since   0.1
 */
FERRY_API ferry_status ferry_request_cancel(ferry_request **request);

/* ---- Cutting up and collecting ---------------------------------------------------------------------------- */

/** How a bundle is cut into one part for each rank. What is not cut goes to all, strings and attributes too. */
typedef enum ferry_split {
    FERRY_SPLIT_ROWS = 0,    /**< every array, along its first dimension */
    FERRY_SPLIT_COLUMNS = 1, /**< every array of two and more dimensions, along its second one */
    FERRY_SPLIT_LISTS = 2    /**< every list that is in no other list, by elements */
} ferry_split;

/**
 * Cut the root's bundle into parts and give one to each rank. Parts have the same keys; everything that is cut has n
 * div ranks of its n pieces in each part, the first n mod ranks parts have one more.
 *
 *     ferry_bundle_scatter(ctx, rank == 0 ? whole : NULL, FERRY_SPLIT_ROWS, 0, &mine);
 *
 * @param ctx       context
 * @param whole     at the root: only read; elsewhere not looked at
 * @param how       the same everywhere
 * @param root      rank; the same everywhere
 * @param part_out  filled with this rank's part, which the caller frees with ferry_bundle_free()
 * @retval FERRY_OK          every rank has its part
 * @retval FERRY_ERR_ARG     a pointer is NULL, or ranks differ in @p how or @p root, or these are out of range
 * @retval FERRY_ERR_MEMORY  a rank is out of memory
 * @retval others            as ferry_bundle_send() and ferry_bundle_recv()
 *
 * Collective   over the context     Blocks  yes            Threads  one at a time per context     Since   0.1
 * Memory       at the root as sending one part, and a copy of that part's arrays that do not lie dense
 * Cost         each byte is copied once at the root, once at the receiver; two broadcasts of a few bytes besides
 */
FERRY_API ferry_status ferry_bundle_scatter(ferry_context *ctx, const ferry_bundle *whole, ferry_split how, int root,
                                            ferry_bundle **part_out);

/**
 * ferry_bundle_scatter() with given numbers of pieces.
 *
 * @param ctx       context
 * @param whole     at the root: only read; everything that is cut has as many pieces as the counts' sum
 * @param how       the same everywhere
 * @param counts    at the root: one number >= 0 for each rank; elsewhere not looked at
 * @param root      rank; the same everywhere
 * @param part_out  filled with this rank's part, which the caller frees with ferry_bundle_free()
 * @retval FERRY_OK         every rank has its part
 * @retval FERRY_ERR_SHAPE  something has another number of pieces than the sum of the counts; the text names it
 * @retval others           as ferry_bundle_scatter()
 *
 * Collective   over the context     Blocks  yes            Memory  as ferry_bundle_scatter()
 * Threads      one at a time per context     Cost    as ferry_bundle_scatter()     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_scatterv(ferry_context *ctx, const ferry_bundle *whole, ferry_split how,
                                             const int64_t *counts, int root, ferry_bundle **part_out);

/**
 * Collect a bundle of every rank at the root.
 *
 * @param ctx        context
 * @param part       this rank's; only read
 * @param root       rank; the same everywhere
 * @param parts_out  at the root: filled with a list of bundles in the order of the ranks, which the caller frees with
 *                   ferry_list_free(); elsewhere not looked at
 * @retval FERRY_OK          the root has them
 * @retval FERRY_ERR_ARG     a pointer is NULL, or ranks mean different roots, or one out of range
 * @retval FERRY_ERR_MEMORY  a rank is out of memory
 * @retval others            as ferry_bundle_send() and ferry_bundle_recv()
 *
 * Collective   over the context     Blocks  yes            Memory  at the root as receiving all of them
 * Threads      one at a time per context     Since   0.1
 * Cost         each byte is copied once at its rank, once at the root; two broadcasts of a few bytes besides
 */
FERRY_API ferry_status ferry_bundle_gather(ferry_context *ctx, const ferry_bundle *part, int root,
                                           ferry_list **parts_out);

/**
 * Collect a bundle of every rank at every rank.
 *
 * @param ctx        context
 * @param part       this rank's; only read
 * @param parts_out  filled with a list of bundles in the order of the ranks, which the caller frees with
 *                   ferry_list_free()
 * @retval FERRY_OK          every rank has them
 * @retval FERRY_ERR_ARG     a pointer is NULL
 * @retval FERRY_ERR_MEMORY  a rank is out of memory
 * @retval others            as ferry_bundle_bcast()
 *
 * Collective   over the context     Blocks  yes            Memory  as receiving all of them
 * Threads      one at a time per context     Since   0.1
 * Cost         a broadcast of each rank, and one of a few bytes
 */
FERRY_API ferry_status ferry_bundle_allgather(ferry_context *ctx, const ferry_bundle *part, ferry_list **parts_out);

/**
 * Give every rank a bundle of its own, and get one from every rank.
 *
 * @param ctx        context
 * @param parts      one bundle for each rank, in the order of the ranks; only read
 * @param parts_out  filled with a list of bundles in the order of the ranks they came from, which the caller frees
 *                   with ferry_list_free()
 * @retval FERRY_OK          every rank has them
 * @retval FERRY_ERR_ARG     a pointer is NULL, or @p parts has not one element for each rank
 * @retval FERRY_ERR_TYPE    an element of @p parts is no bundle
 * @retval FERRY_ERR_MEMORY  a rank is out of memory
 * @retval others            as ferry_bundle_sendrecv()
 *
 * Collective   over the context     Blocks  yes            Memory  as receiving all of them
 * Threads      one at a time per context     Since   0.1
 * Cost         each byte is copied once at its rank, once at the receiver; two broadcasts of a few bytes besides
 */
FERRY_API ferry_status ferry_bundle_alltoall(ferry_context *ctx, const ferry_list *parts, ferry_list **parts_out);

/* ---- Reductions ------------------------------------------------------------------------------------------- */

/**
 * How the bundles of all ranks become one. Keys, their order, and types are the same on all ranks.
 *
 * The first four work on numbers one by one, single values and arrays of one shape alike. The order of operations
 * depends on the number of ranks only, so that repeating gives the same bits. Integers wrap around. Of bools, sum and
 * max tell whether any is true, product and min whether all are. A NaN makes min and max a NaN. Complex numbers have
 * no min and max. Strings, bytes and nulls are the same on all ranks and kept.
 *
 * Attributes are the same on all ranks and kept; those of elements of joined lists stay with their elements.
 *
 * The last three put pieces in the order of the ranks: they undo ferry_bundle_scatter(). What they do not join is the
 * same on all ranks, bit for bit, and kept.
 */
typedef enum ferry_bundle_op {
    FERRY_BUNDLE_SUM = 0,     /**< a + b */
    FERRY_BUNDLE_PROD = 1,    /**< a * b */
    FERRY_BUNDLE_MIN = 2,     /**< the lesser one */
    FERRY_BUNDLE_MAX = 3,     /**< the greater one */
    FERRY_BUNDLE_ROWS = 4,    /**< joins every array along its first dimension; the others agree */
    FERRY_BUNDLE_COLUMNS = 5, /**< joins every array of two and more dimensions along the second; the others agree */
    FERRY_BUNDLE_LISTS = 6    /**< joins every list that is in no other list */
} ferry_bundle_op;

/**
 * Combine the bundles of all ranks into one at the root.
 *
 * @param ctx         context
 * @param mine        this rank's; only read
 * @param op          the same everywhere
 * @param root        rank; the same everywhere
 * @param result_out  at the root: filled; the caller frees it with ferry_bundle_free(). Elsewhere not looked at
 * @retval FERRY_OK          the root has the result
 * @retval FERRY_ERR_ARG     a pointer is NULL, or ranks differ in @p op or @p root, or these are out of range
 * @retval FERRY_ERR_TYPE    a rank has another key or type somewhere: the text names the first such place, two ranks,
 *                           and what each of them has; or complex numbers have no min and max
 * @retval FERRY_ERR_SHAPE   likewise another shape, length or number of values, or another value where it must be the
 *                           same
 * @retval FERRY_ERR_MEMORY  a rank is out of memory
 * @retval others            as ferry_bundle_send() and ferry_bundle_recv()
 *
 * Collective   over the context     Blocks  yes            Threads  one at a time per context     Since   0.1
 * Memory       numbers: up to two bundles on a rank; joining: all of them at the root, and the result
 * Cost         numbers: log2(ranks) times send, receive and operation; joining: as ferry_bundle_gather(), and a copy
 */
FERRY_API ferry_status ferry_bundle_reduce(ferry_context *ctx, const ferry_bundle *mine, ferry_bundle_op op, int root,
                                           ferry_bundle **result_out);

/**
 * Combine the bundles of all ranks into one at every rank; the same bits as ferry_bundle_reduce().
 *
 * @param ctx         context
 * @param mine        this rank's; only read
 * @param op          the same everywhere
 * @param result_out  filled; the caller frees it with ferry_bundle_free()
 * @retval FERRY_OK  every rank has the result
 * @retval others    as ferry_bundle_reduce() and ferry_bundle_bcast()
 *
 * Collective   over the context     Blocks  yes            Memory  as ferry_bundle_reduce()
 * Threads      one at a time per context     Since   0.1
 * Cost         as ferry_bundle_reduce() and ferry_bundle_bcast()
 */
FERRY_API ferry_status ferry_bundle_allreduce(ferry_context *ctx, const ferry_bundle *mine, ferry_bundle_op op,
                                              ferry_bundle **result_out);

/* ---- Receiving elsewhere ---------------------------------------------------------------------------------- */

/**
 * Receive into a bundle that has the same keys, types, shapes and lengths. Values land where its values lie, in the
 * caller's arrays where these are borrowed, whatever their strides. Repeating it allocates nothing.
 *
 * Pointers that were lent for arrays, strings and bytes that the bundle owns are not valid afterwards. Strings and
 * bytes that it borrows become its own.
 *
 * @param ctx          context
 * @param from         rank or ::FERRY_ANY_SOURCE
 * @param tag          0..16382 or ::FERRY_ANY_TAG
 * @param into         gets the values, attributes too; its borrowed arrays are written to
 * @param message_out  filled on success; may be NULL
 * @retval FERRY_OK         the values are in place
 * @retval FERRY_ERR_TYPE   the message has another key or type somewhere; the text names the first place, what is
 *                          there and what came
 * @retval FERRY_ERR_SHAPE  likewise another shape, length or number of values
 * @retval others           as ferry_bundle_recv(); after any failure the message is gone and the bundle unchanged
 *
 * Collective   no, with the sender     Blocks  yes
 * Memory       room for the message, from ferry_memory_take()
 * Threads      one at a time per context     Since   0.1
 * Cost         as ferry_bundle_recv(); a bundle that was made here is copied into once more
 */
FERRY_API ferry_status ferry_bundle_recv_into(ferry_context *ctx, int from, int tag, ferry_bundle *into,
                                              ferry_message *message_out);

/**
 * Broadcast into bundles of equal schema; see ferry_bundle_recv_into().
 *
 * @param ctx     context
 * @param bundle  at the root: only read; elsewhere gets the values
 * @param root    rank; the same everywhere
 * @retval FERRY_OK         all ranks hold equal values
 * @retval FERRY_ERR_TYPE   as ferry_bundle_recv_into(), on all ranks; no bundle is changed
 * @retval FERRY_ERR_SHAPE  likewise
 * @retval others           as ferry_bundle_bcast(); no bundle is changed
 *
 * Collective   over the context     Blocks  yes            Memory  as ferry_bundle_recv_into()
 * Threads      one at a time per context     Since   0.1
 * Cost         as ferry_bundle_bcast(), and one of a few bytes
 */
FERRY_API ferry_status ferry_bundle_bcast_into(ferry_context *ctx, ferry_bundle *bundle, int root);

/** Where the memory of received images comes from and goes back to. */
typedef struct ferry_allocator {
    void *(*take)(void *user, size_t bytes);  /**< memory aligned to 64 bytes, or NULL; makes no ferry call */
    void (*give)(void *user, void *data);     /**< called when the bundle is freed, by ferry_bundle_free() */
    void *user;                               /**< passed to both */
} ferry_allocator;

/**
 * Receive a bundle whose values lie in the caller's memory.
 *
 * @param ctx           context
 * @param from          rank or ::FERRY_ANY_SOURCE
 * @param tag           0..16382 or ::FERRY_ANY_TAG
 * @param allocator     copies; `take` is called once. What it points to is borrowed until the bundle is freed
 * @param bundle_inout  as in ferry_bundle_recv()
 * @param message_out   filled on success; may be NULL
 * @retval FERRY_OK          arrived
 * @retval FERRY_ERR_ARG     as ferry_bundle_recv(), or the memory is not aligned
 * @retval FERRY_ERR_MEMORY  `take` returned NULL, or memory is out here; the message is gone
 * @retval others            as ferry_bundle_recv(); what was taken is given back after any failure that leaves the
 *                           context whole
 *
 * Collective   no, with the sender     Blocks  yes            Memory  the caller's, and one block for the tree
 * Threads      one at a time per context     Cost    as ferry_bundle_recv()     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_recv_alloc(ferry_context *ctx, int from, int tag, const ferry_allocator *allocator,
                                               ferry_bundle **bundle_inout, ferry_message *message_out);

/* ---- Without a copy --------------------------------------------------------------------------------------- */

/**
 * Copy a bundle into memory that nobody can change any more, so that ferry_bundle_bcast_sealed() need not copy it. The
 * new bundle is used like any other; setting a value replaces it, but pointers that were lent cannot be written to.
 *
 * @param bundle      to copy; only read
 * @param sealed_out  filled; the caller frees it with ferry_bundle_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a pointer is NULL
 * @retval FERRY_ERR_MEMORY  out of memory
 * @retval FERRY_ERR_SYSTEM  this system has no files that can be sealed
 * @retval others            as ferry_bundle_encode(); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  the image in shared memory, and a file descriptor
 * Threads      any number that only read     Cost    each byte is copied once     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_seal(const ferry_bundle *bundle, ferry_bundle **sealed_out);

/**
 * Broadcast a sealed bundle: the ranks of one node read the root's memory instead of copying it. Each rank's bundle is
 * as after ferry_bundle_seal(), and stays when the root frees its own.
 *
 * When the bundle is not sealed or has been changed since, when ranks are on other nodes, or when one cannot reach the
 * root's memory, this is ferry_bundle_bcast().
 *
 * @param ctx           context
 * @param bundle_inout  as in ferry_bundle_bcast()
 * @param root          rank; the same everywhere
 * @retval FERRY_OK  all ranks hold equal bundles
 * @retval others    as ferry_bundle_bcast(); nothing is replaced after any failure
 *
 * Collective   over the context     Blocks  yes
 * Memory       at the root the small values; elsewhere one block for the tree; or as ferry_bundle_bcast()
 * Threads      one at a time per context     Since   0.1
 * Cost         reads the small values; one broadcast of a few hundred bytes
 */
FERRY_API ferry_status ferry_bundle_bcast_sealed(ferry_context *ctx, ferry_bundle **bundle_inout, int root);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_BUNDLE_MOVE_H */
