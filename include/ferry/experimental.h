/** @file
 * Streams: the engine's one-shot form, which bundles travel on; and the tuning record. Nothing in this header is
 * promised to stay.
 */
#ifndef FERRY_EXPERIMENTAL_H
#define FERRY_EXPERIMENTAL_H

#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_context ferry_context;

enum {
    FERRY_STREAM_ANY = -1,      /**< any source, any tag but the hidden one */
    FERRY_STREAM_HIDDEN = 16383 /**< tag for messages that must not meet those of others */
};

/** A piece of memory to send. */
typedef struct ferry_piece {
    const void *data; /**< borrowed during the call; may be NULL when bytes is 0 */
    size_t bytes;     /**< length */
} ferry_piece;

/**
 * Where a receiver wants the bytes: called once when their number is known.
 *
 * @param user      as given to the stream call
 * @param bytes     that will arrive
 * @param data_out  filled with memory for them
 * @return ::FERRY_OK, or the failure that both sides shall report; the bytes are then discarded
 */
typedef ferry_status ferry_stream_place(void *user, size_t bytes, void **data_out);

/** A stream that has been started and not ended; see ferry_stream_isend(). */
typedef struct ferry_stream_request ferry_stream_request;

/** Who sent what. */
typedef struct ferry_stream_info {
    int from;     /**< rank */
    int tag;      /**< tag */
    size_t bytes; /**< length */
} ferry_stream_info;

/**
 * Send the pieces, one after another, as one message. Returns when they may be overwritten. Up to 64 KiB are taken
 * along at once (between nodes, as far as MPI takes them); more wait until the receiver has found the message: a
 * failure to place it is then reported here too. Everything else of the context moves on meanwhile.
 *
 * @param ctx     context
 * @param pieces  count pieces; borrowed during the call
 * @param count   pieces
 * @param to      rank; may be the caller itself only up to 64 KiB, or when a receive has been started before
 * @param tag     0..16383
 * @retval FERRY_OK          sent
 * @retval FERRY_ERR_ARG     a rank, tag or pointer out of range; nothing was sent
 * @retval FERRY_ERR_MEMORY  out of memory here; nothing was sent
 * @retval others            what the receiver's place function returned; or ::FERRY_ERR_TIMEOUT, ::FERRY_ERR_MPI, and
 *                           the context is broken
 *
 * Collective   no, with the receiver        Blocks   yes           Since   0.1
 * Memory       a ring of 512 KiB per pair of a node, above 64 KiB; 1 MiB per rank, above 4 KiB; both kept
 * Threads      one at a time per context
 * Cost         each byte is copied once here and once at the receiver; between nodes one message, and one back above
 *              64 KiB
 */
FERRY_API ferry_status ferry_stream_send(ferry_context *ctx, const ferry_piece *pieces, size_t count, int to, int tag);

/**
 * Receive one message. Messages of one sender with one tag arrive in the order sent.
 *
 * @param ctx       context
 * @param from      rank or ::FERRY_STREAM_ANY
 * @param tag       0..16383 or ::FERRY_STREAM_ANY
 * @param place     tells where the bytes go
 * @param user      passed to @p place
 * @param info_out  filled on success; may be NULL
 * @retval FERRY_OK       the bytes are where @p place said
 * @retval FERRY_ERR_ARG  a rank, tag or pointer out of range
 * @retval others         what @p place returned (the message is gone); or ::FERRY_ERR_TIMEOUT, ::FERRY_ERR_MPI, and the
 *                        context is broken
 *
 * Collective   no, with the sender          Blocks   yes           Memory  messages up to 64 KiB that came early are kept
 * Threads      one at a time per context    Cost     see ferry_stream_send()    Since   0.1
 */
FERRY_API ferry_status ferry_stream_recv(ferry_context *ctx, int from, int tag, ferry_stream_place *place, void *user,
                                         ferry_stream_info *info_out);

/**
 * Judges what has come, before anybody is told that a broadcast went well.
 *
 * @param user  as given in the ferry_stream_cast; the bytes are where its place function said
 * @return ::FERRY_OK, or the failure that all ranks shall report
 */
typedef ferry_status ferry_stream_check(void *user);

/** A broadcast: what all ranks say of it. Borrowed during the call that starts it. */
typedef struct ferry_stream_cast {
    int root;                  /**< rank; the same everywhere */
    const ferry_piece *pieces; /**< at the root: list and data are borrowed until the broadcast has ended */
    size_t count;              /**< pieces */
    ferry_stream_place *place; /**< elsewhere: tells where the bytes go; called by any ferry call on the context */
    ferry_stream_check *check; /**< elsewhere: called when they are there, before the broadcast ends on any rank; at the
                                    root not called, but NULL, nobody looks, on all ranks or on none */
    void *user;                /**< passed to both */
} ferry_stream_cast;

/**
 * Give the pieces of the root to all other ranks.
 *
 * @param ctx   context
 * @param cast  what and how; borrowed during the call
 * @retval FERRY_OK       all ranks have the bytes
 * @retval FERRY_ERR_ARG  root out of range, NULL, or ranks that name different roots
 * @retval others         what the place or check function of the lowest failing rank returned, on all ranks; or a failure
 *                        that breaks the context
 *
 * Collective   over the context             Blocks   yes           Since   0.1
 * Memory       a ring of 4 MiB per root, kept; 2 MiB at the root between nodes
 * Threads      one at a time per context
 * Cost         each byte is copied once at the root of a node, once at each receiver; with a check one reduction more
 *              between nodes
 */
FERRY_API ferry_status ferry_stream_bcast(ferry_context *ctx, const ferry_stream_cast *cast);

/**
 * Start a ferry_stream_send(). Messages to one rank keep the order in which they were started.
 *
 * @param ctx          context
 * @param pieces       count pieces; list and data are borrowed until the request has ended
 * @param count        pieces
 * @param to           rank
 * @param tag          0..16383
 * @param request_out  filled; ends in ferry_stream_test(), ferry_stream_wait() or ferry_stream_cancel()
 * @retval FERRY_OK          started
 * @retval FERRY_ERR_ARG     a rank, tag or pointer out of range
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  under 1 KiB
 * Threads      one at a time per context     Cost    constant, or the copy of up to 64 KiB     Since   0.1
 */
FERRY_API ferry_status ferry_stream_isend(ferry_context *ctx, const ferry_piece *pieces, size_t count, int to, int tag,
                                          ferry_stream_request **request_out);

/**
 * Start a ferry_stream_recv(). Receives are matched in the order in which they were started.
 *
 * @param ctx          context
 * @param from         rank or ::FERRY_STREAM_ANY
 * @param tag          0..16383 or ::FERRY_STREAM_ANY
 * @param place        tells where the bytes go; called by any ferry call on this context, and must not make one
 * @param user         passed to @p place
 * @param request_out  filled; ends in ferry_stream_test(), ferry_stream_wait() or ferry_stream_cancel()
 * @retval FERRY_OK          started
 * @retval FERRY_ERR_ARG     a rank, tag or pointer out of range
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  under 1 KiB
 * Threads      one at a time per context     Cost    constant     Since   0.1
 */
FERRY_API ferry_status ferry_stream_irecv(ferry_context *ctx, int from, int tag, ferry_stream_place *place, void *user,
                                          ferry_stream_request **request_out);

/**
 * Start a ferry_stream_bcast(). Broadcasts of a context run one after another in the order started, the same on all
 * ranks.
 *
 * @param ctx          context
 * @param cast         what and how; borrowed during the call
 * @param request_out  filled also when arguments of this rank are wrong, which all ranks then report when it ends
 * @retval FERRY_OK          started
 * @retval FERRY_ERR_ARG     @p ctx or @p request_out is NULL
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   over the context     Blocks  no             Memory  under 1 KiB
 * Threads      one at a time per context     Cost    constant     Since   0.1
 */
FERRY_API ferry_status ferry_stream_ibcast(ferry_context *ctx, const ferry_stream_cast *cast,
                                           ferry_stream_request **request_out);

/**
 * Move everything of the context on, and tell whether a request has ended. One that has ended is freed.
 *
 * @param request   points to the request; set to NULL when it has ended. NULL in it counts as ended
 * @param done_out  filled with 1 or 0
 * @param info_out  filled when a receive has ended well; may be NULL
 * @retval FERRY_OK       under way, or ended well
 * @retval FERRY_ERR_ARG  a pointer is NULL
 * @retval others         the failure with which the request ended, as the blocking call would return it
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per context     Cost    one look at everything under way     Since   0.1
 */
FERRY_API ferry_status ferry_stream_test(ferry_stream_request **request, int *done_out, ferry_stream_info *info_out);

/**
 * Wait until a request has ended, and free it.
 *
 * @param request   points to the request; set to NULL. NULL in it has ended
 * @param info_out  filled when a receive has ended well; may be NULL
 * @retval FERRY_OK       ended well
 * @retval FERRY_ERR_ARG  @p request is NULL
 * @retval others         as the blocking call returns
 *
 * Collective   no, with the peers     Blocks  yes            Memory  none
 * Threads      one at a time per context     Cost    see the blocking calls     Since   0.1
 */
FERRY_API ferry_status ferry_stream_wait(ferry_stream_request **request, ferry_stream_info *info_out);

/**
 * Take a request back. Possible for a receive that no message has met, and for a send whose message has not left: one
 * that waits for room in the receiver's inbox, or a long one to this rank itself that nobody receives.
 *
 * @param request  points to the request; freed and set to NULL on success
 * @retval FERRY_OK         it never happened; what it borrowed is free
 * @retval FERRY_ERR_ARG    @p request is NULL
 * @retval FERRY_ERR_STATE  too late, or a broadcast: wait for it
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per context     Cost    constant     Since   0.1
 */
FERRY_API ferry_status ferry_stream_cancel(ferry_stream_request **request);

/**
 * Look for a message that no receive has met. It stays where it is, and is the first one that a receive from this rank
 * with this tag finds.
 *
 * @param ctx        context
 * @param from       rank or ::FERRY_STREAM_ANY
 * @param tag        0..16383 or ::FERRY_STREAM_ANY
 * @param there_out  filled with 1 or 0; NULL: wait until there is one
 * @param info_out   filled when there is one; may be NULL
 * @retval FERRY_OK       looked
 * @retval FERRY_ERR_ARG  a rank or tag out of range
 * @retval others         a failure that breaks the context
 *
 * Collective   no             Blocks  when @p there_out is NULL     Memory  as ferry_stream_recv()
 * Threads      one at a time per context     Cost    one look     Since   0.1
 */
FERRY_API ferry_status ferry_stream_probe(ferry_context *ctx, int from, int tag, int *there_out,
                                          ferry_stream_info *info_out);

/** A number of the tuning record: what routes know of this machine. Filled by ferry_tune_value(). */
typedef struct ferry_tune_info {
    const char *name; /**< such as "ring_start_ns"; static */
    const char *unit; /**< "ns", "bytes" or "slots"; static */
    const char *help; /**< one line; static */
    double value;     /**< in use */
    double builtin;   /**< without a record */
    double least;     /**< that the value may be */
    double most;      /**< likewise */
} ferry_tune_info;

/**
 * Read one number of a context's tuning record.
 *
 * @param ctx       context
 * @param index     0, 1, ... until ::FERRY_ERR_NOT_FOUND
 * @param info_out  filled
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  the record has fewer numbers; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_tune_value(const ferry_context *ctx, int index, ferry_tune_info *info_out);

/**
 * Change one number of a context's tuning record, for plans that are compiled from now on.
 *
 * @param ctx    context
 * @param name   of the number; borrowed during the call
 * @param value  wanted, the same on all ranks; it is rounded to thousandths
 * @retval FERRY_OK       changed on all ranks
 * @retval FERRY_ERR_ARG  on any rank a name that is none, a value out of its bounds, another value than on another
 *                        rank, or NULL; nothing is changed on any rank
 *
 * Collective   over the context     Blocks   yes           Memory  none
 * Threads      one at a time per context    Cost   two reductions      Since   0.1
 */
FERRY_API ferry_status ferry_tune_set(ferry_context *ctx, const char *name, double value);

/**
 * Write a context's tuning record to the file that contexts on this machine read, at once or not at all.
 *
 * @param ctx  context
 * @retval FERRY_OK          written
 * @retval FERRY_ERR_ARG     @p ctx is NULL
 * @retval FERRY_ERR_SYSTEM  there is no such folder, or it cannot be written; a file that was there is as before
 *
 * Collective   no            Blocks   on the file system     Memory  a few KiB of stack
 * Threads      any thread    Cost     a file of 1 KiB        Since   0.1
 */
FERRY_API ferry_status ferry_tune_save(const ferry_context *ctx);

/**
 * The name of that file, there or not. It lies in $XDG_CACHE_HOME/ferry, else in ~/.cache/ferry.
 *
 * @param text   filled with at most @p bytes - 1 characters and a NUL; may be NULL when @p bytes is 0
 * @param bytes  room
 * @return characters of the whole name, NUL not counted; 0 when no such folder can be named, see ferry_error_detail()
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     a read of /proc/cpuinfo    Since   0.1
 */
FERRY_API size_t ferry_tune_path(char *text, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_EXPERIMENTAL_H */
