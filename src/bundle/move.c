/* Bundles between ranks, one call at a time. The root or sender gives the pieces of an encoding; a
 * receiver takes memory for them and decodes the image where it lies. A root that cannot encode
 * gives a notice instead, so that nobody waits for it. */
#include "bundle/share.h"
#include "ferry/context.h"

/* --- broadcast --- */

/* At the root, which has nothing to send: tell the others, so that all return `failure`. */
static ferry_status give_notice(ferry_context *ctx, int root, ferry_status failure)
{
    const notice said = notice_of(failure);
    const ferry_piece piece = {&said, sizeof said};
    const ferry_status st = ferry_stream_bcast(
        ctx, &(ferry_stream_cast){
                 .root = root, .pieces = &piece, .count = 1, .check = share_check(ctx)});

    if (st != FERRY_OK)
        return st;
    trouble_keep(said.text);
    return failure;
}

ferry_status move_check_root(ferry_bundle *const *bundle, int root)
{
    if (bundle && *bundle)
        return FERRY_OK;
    return trouble(FERRY_ERR_ARG, "%s is NULL at the root, rank %d",
                   bundle ? "the bundle" : "bundle_inout", root);
}

static ferry_status give_all(ferry_context *ctx, ferry_bundle *const *bundle, int root)
{
    encoding e = {0};
    ferry_status st = move_check_root(bundle, root);

    if (st == FERRY_OK)
        st = move_encode(*bundle, &e);
    if (st != FERRY_OK)
        return give_notice(ctx, root, st);
    st = share_give(ctx, root, &e);
    encoding_drop(&e);
    return st;
}

ferry_status ferry_bundle_bcast(ferry_context *ctx, ferry_bundle **bundle_inout, int root)
{
    arrival a = {.target = bundle_inout};
    ferry_context_info me;
    ferry_status st = ferry_context_describe(ctx, &me);

    if (st != FERRY_OK)
        return st;
    if (me.rank == root)
        return give_all(ctx, bundle_inout, root);
    return arrival_end(&a, share_take(ctx, root, arrival_place, &a));
}

/* --- from rank to rank --- */

ferry_status ferry_bundle_send(ferry_context *ctx, const ferry_bundle *bundle, int to, int tag)
{
    encoding e;
    ferry_status st = move_check_tag(tag, false);

    if (st == FERRY_OK)
        st = move_encode(bundle, &e);
    if (st != FERRY_OK)
        return st;
    st = ferry_stream_send(ctx, e.pieces, e.count, to, tag);
    encoding_drop(&e);
    return st;
}

static ferry_status receive(ferry_context *ctx, int from, int tag, arrival *a,
                            ferry_message *message_out)
{
    ferry_stream_info met;
    ferry_status st = arrival_check(a);

    if (st == FERRY_OK)
        st = move_check_tag(tag, true);
    if (st != FERRY_OK)
        return st;
    st = arrival_finish(a, ferry_stream_recv(ctx, from, tag, arrival_place, a, &met));
    if (st == FERRY_OK && message_out)
        *message_out = move_message(&met);
    return st;
}

ferry_status ferry_bundle_recv(ferry_context *ctx, int from, int tag, ferry_bundle **bundle_inout,
                               ferry_message *message_out)
{
    arrival a = {.target = bundle_inout};

    return receive(ctx, from, tag, &a, message_out);
}

ferry_status ferry_bundle_recv_alloc(ferry_context *ctx, int from, int tag,
                                     const ferry_allocator *allocator, ferry_bundle **bundle_inout,
                                     ferry_message *message_out)
{
    arrival a = {.target = bundle_inout, .allocator = allocator};

    if (!allocator || !allocator->take || !allocator->give)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_recv_alloc: %s is NULL",
                       !allocator        ? "allocator"
                       : allocator->take ? "allocator->give"
                                         : "allocator->take");
    return receive(ctx, from, tag, &a, message_out);
}
