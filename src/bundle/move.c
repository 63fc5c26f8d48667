/* Bundles between ranks, on streams. The root or sender gives the pieces of an encoding; a receiver
 * takes one block for them and decodes it where it lies. A root that cannot encode gives a notice
 * instead, so that nobody waits for it. */
#include <string.h>

#include "base/trouble.h"
#include "bundle/image.h"
#include "ferry/bundle_move.h"
#include "ferry/context.h"
#include "ferry/memory.h"

/* What a root sends that has nothing to send. */
typedef struct notice {
    char magic[8];
    int32_t status;
    char text[TROUBLE_BYTES];
} notice;

static const char notice_magic[8] = "\x89"
                                    "FERRY!\n";

/* Where a message goes. */
typedef struct arrival {
    ferry_bundle **target;
    void *block;
    size_t bytes;
} arrival;

static ferry_status check_target(const arrival *a)
{
    if (!a->target)
        return trouble(FERRY_ERR_ARG, "bundle_inout is NULL");
    if (*a->target && (*a->target)->tree.parent)
        return trouble(
            FERRY_ERR_ARG,
            "the bundle to replace is inside another one, expected NULL or an outermost one");
    return FERRY_OK;
}

static ferry_status place_block(void *user, size_t bytes, void **data_out)
{
    arrival *const a = user;
    ferry_status st = check_target(a); /* here too: in a broadcast all ranks hear of it */

    if (st == FERRY_OK)
        st = ferry_memory_take(bytes, &a->block);
    if (st != FERRY_OK)
        return st;
    a->bytes = bytes;
    *data_out = a->block;
    return FERRY_OK;
}

static ferry_status read_notice(const arrival *a)
{
    notice said;

    memcpy(&said, a->block, sizeof said);
    said.text[sizeof said.text - 1] = '\0';
    trouble_keep(said.text);
    return (ferry_status)said.status;
}

static bool is_notice(const arrival *a)
{
    return a->bytes == sizeof(notice) && memcmp(a->block, notice_magic, sizeof notice_magic) == 0;
}

/* Turn a block that has arrived into the new bundle. */
static ferry_status unpack(arrival *a)
{
    ferry_bundle *fresh;
    const ferry_status st =
        is_notice(a) ? read_notice(a) : image_decode(a->block, a->bytes, &fresh);

    if (st != FERRY_OK)
        return st;
    a->block = NULL;
    ferry_bundle_free(*a->target);
    *a->target = fresh;
    return FERRY_OK;
}

static ferry_status finish(arrival *a, ferry_status st)
{
    if (st == FERRY_ERR_TIMEOUT || st == FERRY_ERR_MPI || st == FERRY_ERR_DELIVERY)
        return st; /* the context is broken, and the bytes may still arrive: the block stays */
    if (st == FERRY_OK)
        st = unpack(a);
    ferry_memory_give(a->block);
    return st;
}

/* At the root, which could not encode: tell the others, so that all return `failure`. */
static ferry_status give_notice(ferry_context *ctx, int root, ferry_status failure)
{
    notice said = {.status = failure};
    const ferry_piece piece = {&said, sizeof said};

    memcpy(said.magic, notice_magic, sizeof said.magic);
    strncpy(said.text, trouble_text(), sizeof said.text - 1);
    const ferry_status st = ferry_stream_bcast(ctx, &piece, 1, root, NULL, NULL);
    if (st != FERRY_OK)
        return st;
    trouble_keep(said.text);
    return failure;
}

static ferry_status give_all(ferry_context *ctx, ferry_bundle *const *bundle, int root)
{
    encoding e = {0};
    ferry_status st;

    if (!bundle || !*bundle)
        st = trouble(FERRY_ERR_ARG, "%s is NULL at the root, rank %d",
                     bundle ? "the bundle" : "bundle_inout", root);
    else
        st = encoding_make(&(*bundle)->tree, &e);
    if (st != FERRY_OK)
        return give_notice(ctx, root, st);
    st = ferry_stream_bcast(ctx, e.pieces, e.count, root, NULL, NULL);
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
    st = ferry_stream_bcast(ctx, NULL, 0, root, place_block, &a);
    return finish(&a, st);
}

ferry_status ferry_bundle_send(ferry_context *ctx, const ferry_bundle *bundle, int to, int tag)
{
    encoding e;

    if (!bundle)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_send: bundle is NULL");
    ferry_status st = encoding_make(&bundle->tree, &e);
    if (st != FERRY_OK)
        return st;
    st = ferry_stream_send(ctx, e.pieces, e.count, to, tag);
    encoding_drop(&e);
    return st;
}

ferry_status ferry_bundle_recv(ferry_context *ctx, int from, int tag, ferry_bundle **bundle_inout,
                               ferry_message *message_out)
{
    arrival a = {.target = bundle_inout};
    ferry_stream_info met;
    ferry_status st = check_target(&a);

    if (st != FERRY_OK)
        return st;
    st = finish(&a, ferry_stream_recv(ctx, from, tag, place_block, &a, &met));
    if (st == FERRY_OK && message_out)
        *message_out = (ferry_message){met.from, met.tag, (int64_t)met.bytes};
    return st;
}
