/* Moves that have been started and not ended: a stream, and what it borrows. What remains to be
 * done when the stream has ended (a bundle to be made, an encoding to be dropped) is done by
 * whoever finds that out. */
#include "base/alloc.h"
#include "bundle/share.h"
#include "ferry/context.h"

struct ferry_request {
    ferry_stream_request *stream;
    arrival arrival;      /* of a receiver */
    encoding encoding;    /* of a sender */
    notice notice;        /* of a root without a bundle; its status is what this rank returns */
    ferry_piece instead;  /* the notice */
    bool receives, tells; /* waits for a bundle; sends the notice */
    bool looks;           /* at the bundle before the stream ends */
};

static ferry_status make(const char *call, ferry_request **request_out, ferry_request **fresh_out)
{
    if (!request_out)
        return trouble(FERRY_ERR_ARG, "%s: request_out is NULL", call);
    return alloc_zero(1, sizeof **fresh_out, fresh_out);
}

static void drop(ferry_request *r)
{
    encoding_drop(&r->encoding);
    alloc_free(r);
}

/* Hand a request out that has been started, or drop it. */
static ferry_status started(ferry_status st, ferry_request *r, ferry_request **request_out)
{
    if (st == FERRY_OK)
        *request_out = r;
    else
        drop(r);
    return st;
}

ferry_status ferry_bundle_isend(ferry_context *ctx, const ferry_bundle *bundle, int to, int tag,
                                ferry_request **request_out)
{
    ferry_request *r;
    ferry_status st = move_check_tag(tag, false);

    if (st == FERRY_OK)
        st = make("ferry_bundle_isend", request_out, &r);
    if (st != FERRY_OK)
        return st;
    st = move_encode(bundle, &r->encoding);
    if (st == FERRY_OK)
        st = ferry_stream_isend(ctx, r->encoding.pieces, r->encoding.count, to, tag, &r->stream);
    return started(st, r, request_out);
}

ferry_status ferry_bundle_irecv(ferry_context *ctx, int from, int tag, ferry_bundle **bundle_inout,
                                ferry_request **request_out)
{
    const arrival a = {.target = bundle_inout};
    ferry_request *r;
    ferry_status st = move_check_tag(tag, true);

    if (st == FERRY_OK)
        st = arrival_check(&a);
    if (st == FERRY_OK)
        st = make("ferry_bundle_irecv", request_out, &r);
    if (st != FERRY_OK)
        return st;
    r->arrival = a;
    r->receives = true;
    st = ferry_stream_irecv(ctx, from, tag, arrival_place, &r->arrival, &r->stream);
    return started(st, r, request_out);
}

static ferry_status start_cast(ferry_context *ctx, ferry_request *r, ferry_stream_cast cast)
{
    cast.check = share_check(ctx);
    return ferry_stream_ibcast(ctx, &cast, &r->stream);
}

static ferry_status start_root(ferry_context *ctx, ferry_request *r, ferry_bundle *const *bundle,
                               int root)
{
    ferry_status st = move_check_root(bundle, root);

    if (st == FERRY_OK)
        st = move_encode(*bundle, &r->encoding);
    if (st == FERRY_OK)
        return start_cast(ctx, r,
                          (ferry_stream_cast){.root = root,
                                              .pieces = r->encoding.pieces,
                                              .count = r->encoding.count});
    r->tells = true;
    r->notice = notice_of(st);
    r->instead = (ferry_piece){&r->notice, sizeof r->notice};
    return start_cast(ctx, r, (ferry_stream_cast){.root = root, .pieces = &r->instead, .count = 1});
}

ferry_status ferry_bundle_ibcast(ferry_context *ctx, ferry_bundle **bundle_inout, int root,
                                 ferry_request **request_out)
{
    ferry_context_info me;
    ferry_request *r;
    ferry_status st = ferry_context_describe(ctx, &me);

    if (st == FERRY_OK)
        st = make("ferry_bundle_ibcast", request_out, &r);
    if (st != FERRY_OK)
        return st;
    r->arrival.target = bundle_inout;
    r->receives = me.rank != root;
    r->looks = share_check(ctx) != NULL;
    if (r->receives)
        st = start_cast(
            ctx, r, (ferry_stream_cast){.root = root, .place = arrival_place, .user = &r->arrival});
    else
        st = start_root(ctx, r, bundle_inout, root);
    return started(st, r, request_out);
}

/* The stream has ended with `st`. */
static ferry_status finish(ferry_request *r, ferry_status st)
{
    if (r->receives) {
        st = (r->looks ? arrival_end : arrival_finish)(&r->arrival, st);
    } else if (st == FERRY_OK && r->tells) {
        st = (ferry_status)r->notice.status;
        trouble_keep(r->notice.text);
    }
    if (!move_broken(st)) /* else MPI or a peer may still read from it */
        drop(r);
    return st;
}

ferry_status ferry_request_test(ferry_request **request, int *done_out, ferry_message *message_out)
{
    ferry_stream_info met;
    int done = 1;

    if (!request || !done_out)
        return trouble(FERRY_ERR_ARG, "ferry_request_test: %s is NULL",
                       request ? "done_out" : "request");
    ferry_request *const r = *request;
    ferry_status st = r ? ferry_stream_test(&r->stream, &done, &met) : FERRY_OK;
    if (r && (done || st != FERRY_OK)) {
        const bool received = r->receives;
        done = 1;
        *request = NULL;
        st = finish(r, st);
        if (st == FERRY_OK && received && message_out)
            *message_out = move_message(&met);
    }
    *done_out = done;
    return st;
}

ferry_status ferry_request_wait(ferry_request **request, ferry_message *message_out)
{
    ferry_stream_info met;

    if (!request)
        return trouble(FERRY_ERR_ARG, "ferry_request_wait: request is NULL");
    ferry_request *const r = *request;
    if (!r)
        return FERRY_OK;
    const bool received = r->receives;
    const ferry_status st = finish(r, ferry_stream_wait(&r->stream, &met));
    *request = NULL;
    if (st == FERRY_OK && received && message_out)
        *message_out = move_message(&met);
    return st;
}

ferry_status ferry_request_waitall(size_t count, ferry_request **requests,
                                   ferry_message *messages_out)
{
    ferry_status first = FERRY_OK;
    notice kept;

    if (!requests && count > 0)
        return trouble(FERRY_ERR_ARG, "ferry_request_waitall: requests is NULL");
    for (size_t i = 0; i < count; i++) {
        const ferry_status st =
            ferry_request_wait(&requests[i], messages_out ? &messages_out[i] : NULL);
        if (st == FERRY_OK || first != FERRY_OK)
            continue;
        first = st;
        kept = notice_of(st);
    }
    if (first != FERRY_OK)
        trouble_keep(kept.text);
    return first;
}

ferry_status ferry_request_cancel(ferry_request **request)
{
    if (!request)
        return trouble(FERRY_ERR_ARG, "ferry_request_cancel: request is NULL");
    ferry_request *const r = *request;
    if (!r)
        return FERRY_OK;
    const ferry_status st = ferry_stream_cancel(&r->stream);
    if (st != FERRY_OK)
        return st;
    drop(r);
    *request = NULL;
    return FERRY_OK;
}

/* --- both directions at once --- */

ferry_status ferry_bundle_sendrecv(ferry_context *ctx, const ferry_bundle *bundle, int to, int from,
                                   int tag, ferry_bundle **bundle_inout, ferry_message *message_out)
{
    ferry_request *receipt = NULL, *sending = NULL;
    ferry_bundle *got = NULL;
    const arrival a = {.target = bundle_inout};
    ferry_status st = arrival_check(&a);

    if (st == FERRY_OK)
        st = ferry_bundle_irecv(ctx, from, tag, &got, &receipt);
    if (st != FERRY_OK)
        return st;
    st = ferry_bundle_isend(ctx, bundle, to, tag, &sending);
    if (st != FERRY_OK && ferry_request_cancel(&receipt) == FERRY_OK)
        return st;
    const ferry_status sent = st == FERRY_OK ? ferry_request_wait(&sending, NULL) : st;
    const notice kept = notice_of(sent);
    ferry_message met;
    st = ferry_request_wait(&receipt, &met);
    if (sent != FERRY_OK) {
        trouble_keep(kept.text);
        st = sent;
    }
    if (st != FERRY_OK) {
        ferry_bundle_free(got);
        return st;
    }
    ferry_bundle_free(*bundle_inout);
    *bundle_inout = got;
    if (message_out)
        *message_out = met;
    return FERRY_OK;
}
