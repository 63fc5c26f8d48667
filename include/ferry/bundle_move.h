/** @file
 * How bundles move between ranks.
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

/** Which message a receive has met. */
typedef struct ferry_message {
    int from;      /**< rank that sent it */
    int tag;       /**< its tag */
    int64_t bytes; /**< length of the image */
} ferry_message;

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
 * @retval FERRY_ERR_FORMAT  this rank cannot read what arrived; reported there only
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
 * Send a bundle. Returns when it may be changed or freed; more than 32 KiB wait for the receiver.
 *
 * @param ctx     context
 * @param bundle  to send; only read
 * @param to      rank; the caller itself only for images up to 32 KiB
 * @param tag     0..16383
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
 * @param tag           0..16383 or ::FERRY_ANY_TAG
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

#ifdef __cplusplus
}
#endif
#endif /* FERRY_BUNDLE_MOVE_H */
