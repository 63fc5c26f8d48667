/** @file
 * Streams: the engine's one-shot form, which bundles travel on. Nothing in this header is promised to stay.
 */
#ifndef FERRY_EXPERIMENTAL_H
#define FERRY_EXPERIMENTAL_H

#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_context ferry_context;

enum { FERRY_STREAM_ANY = -1 /**< any source, any tag */ };

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

/**
 * Send the pieces, one after another, as one message. Returns when they may be overwritten. Up to 32 KiB are taken
 * along at once, unless eight such messages of this pair wait already (between nodes, as far as MPI takes them); more
 * wait until the receiver has found the message (a failure to place it is then reported here too). While it waits, this
 * rank takes in the short messages that others send it.
 *
 * @param ctx     context
 * @param pieces  count pieces; borrowed during the call
 * @param count   pieces
 * @param to      rank; may be the caller itself only up to 32 KiB
 * @param tag     0..16383
 * @retval FERRY_OK       sent
 * @retval FERRY_ERR_ARG  a rank, tag or pointer out of range; nothing was sent
 * @retval others         what the receiver's place function returned; or ::FERRY_ERR_TIMEOUT, ::FERRY_ERR_MPI, and the context is broken
 *
 * Collective   no, with the receiver        Blocks   yes           Memory  a ring of 512 KiB per pair of a node, kept; 16 MiB while a long one goes by MPI
 * Threads      one at a time per context    Cost     each byte is copied once here and once at the receiver, of short messages twice there    Since   0.1
 */
FERRY_API ferry_status ferry_stream_send(ferry_context *ctx, const ferry_piece *pieces, size_t count, int to, int tag);

/** Who sent what; filled by ferry_stream_recv(). */
typedef struct ferry_stream_info {
    int from;     /**< rank */
    int tag;      /**< tag */
    size_t bytes; /**< length */
} ferry_stream_info;

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
 * @retval others         what @p place returned (the message is gone); or ::FERRY_ERR_TIMEOUT, ::FERRY_ERR_MPI, and the context is broken
 *
 * Collective   no, with the sender          Blocks   yes           Memory  small messages that came early are kept
 * Threads      one at a time per context    Cost     see ferry_stream_send()    Since   0.1
 */
FERRY_API ferry_status ferry_stream_recv(ferry_context *ctx, int from, int tag, ferry_stream_place *place, void *user,
                                         ferry_stream_info *info_out);

/**
 * Give the pieces of the root to all other ranks.
 *
 * @param ctx     context
 * @param pieces  at the root: count pieces; borrowed during the call; not looked at elsewhere
 * @param count   pieces
 * @param root    rank; the same everywhere (a difference is reported on all ranks that see it)
 * @param place   at the other ranks: tells where the bytes go; not called at the root
 * @param user    passed to @p place
 * @retval FERRY_OK       all ranks have the bytes
 * @retval FERRY_ERR_ARG  @p root out of range, NULL, or ranks that name different roots
 * @retval others         what the place function of the lowest failing rank returned, on all ranks; or a failure that breaks the context
 *
 * Collective   over the context             Blocks   yes           Memory  a ring of up to 2 MiB per root, kept; 2 MiB at the root between nodes
 * Threads      one at a time per context    Cost     each byte is copied once at the root of a node, once at each receiver    Since   0.1
 */
FERRY_API ferry_status ferry_stream_bcast(ferry_context *ctx, const ferry_piece *pieces, size_t count, int root,
                                          ferry_stream_place *place, void *user);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_EXPERIMENTAL_H */
