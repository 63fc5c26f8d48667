/* What streams need to carry bundles: where an image that comes in goes, and the notice that a rank
 * sends which has none. Used by all calls that move bundles. */
#ifndef BUNDLE_ARRIVAL_H
#define BUNDLE_ARRIVAL_H

#include "base/trouble.h"
#include "bundle/image.h"
#include "ferry/bundle_move.h"

enum { MOVE_TAG = FERRY_STREAM_HIDDEN /* of collective calls; callers have the tags below */ };

/* What is sent instead of a bundle that cannot be, so that nobody waits for it. */
typedef struct notice {
    char magic[8];
    int32_t status;
    char text[TROUBLE_BYTES];
} notice;

/* One that tells of this failure, whose text was recorded last. */
notice notice_of(ferry_status status);

/* What one says: its failure, and the text. */
ferry_status notice_read(const notice *said);

/* Where one message goes. All memory that it takes is taken when its length is known, so that the
 * sender hears when there is none. */
typedef struct arrival {
    ferry_bundle **target;            /* replaced on success; NULL is refused */
    const ferry_allocator *allocator; /* of the block, or NULL */
    image_store store;
    bool scratch;        /* the memory goes back to the pool soon: such that the pool keeps */
    ferry_bundle *fresh; /* what was made of it; NULL: a notice */
} arrival;

/* What stands in the target may be replaced. */
ferry_status arrival_check(const arrival *a);

/* A ferry_stream_place; `user` is the arrival. */
ferry_status arrival_place(void *user, size_t bytes, void **data_out);

/* A ferry_stream_check: make a bundle of what has come, before a broadcast ends. ERR_ROUTE: its
 * head was left out, and is not known here. */
ferry_status arrival_settle(void *user);
/* The broadcast has ended with `st`: hand the bundle out, or give all back and return why. */
ferry_status arrival_settled(arrival *a, ferry_status st, ferry_bundle **bundle_out);

/* Give back what has come: it comes once more. */
void arrival_again(arrival *a);

/* The stream has ended with `st`: make a bundle of what has come; or give the memory back, and
 * return why. */
ferry_status arrival_open(arrival *a, ferry_status st, ferry_bundle **bundle_out);

/* The same, and replace the target; the second one after arrival_settle(). */
ferry_status arrival_finish(arrival *a, ferry_status st);
ferry_status arrival_end(arrival *a, ferry_status st);

/* The failure leaves the context broken: bytes may still arrive, and memory must stay. */
static inline bool move_broken(ferry_status st)
{
    return st == FERRY_ERR_TIMEOUT || st == FERRY_ERR_MPI || st == FERRY_ERR_DELIVERY ||
           st == FERRY_ERR_PEER_GONE;
}

static inline ferry_message move_message(const ferry_stream_info *info)
{
    return (ferry_message){info->from, info->tag, (int64_t)image_message_bytes(info->bytes)};
}

/* Send; tells whether it was started, and the failure is the receiver's then. */
ferry_status move_send(ferry_context *ctx, const encoding *e, int to, int tag, bool *started_out);

/* Tags of callers. */
ferry_status move_check_tag(int tag, bool any);

/* The root of a broadcast has a bundle. */
ferry_status move_check_root(ferry_bundle *const *bundle, int root);

/* An image with its tail. */
ferry_status move_encode(const ferry_bundle *bundle, encoding *encoding_out);

#endif
