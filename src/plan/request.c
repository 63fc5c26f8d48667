/* Requests of streams: queues of them, their beginning and end, waiting for one. Ended ones are
 * kept for reuse, so that messages cost no allocation in the long run. */
#include <string.h>

#include "base/alloc.h"
#include "plan/stream.h"

void queue_add(stream_queue *queue, ferry_stream_request *request)
{
    if (!queue->first)
        queue->last = &queue->first;
    request->next = NULL;
    *queue->last = request;
    queue->last = &request->next;
}

void queue_push(stream_queue *queue, ferry_stream_request *request)
{
    if (!queue->first)
        queue->last = &request->next;
    request->next = queue->first;
    queue->first = request;
}

ferry_stream_request *queue_take(stream_queue *queue, ferry_stream_request **link)
{
    ferry_stream_request *const request = *link;

    *link = request->next;
    if (queue->last == &request->next)
        queue->last = link;
    return request;
}

/* One that ended before, or a new one, or the reserve; NULL when there is none. */
static ferry_stream_request *take(struct stream_state *s, request_use use)
{
    ferry_stream_request *taken = s->free_requests;

    if (taken) {
        s->free_requests = taken->next;
        return taken;
    }
    if (alloc_zero(1, sizeof *taken, &taken) == FERRY_OK || use == REQUEST_STAYS)
        return taken;
    taken = s->reserve;
    s->reserve = NULL;
    return taken;
}

ferry_status request_make(ferry_context *ctx, stream_kind kind, request_use use,
                          ferry_stream_request **request_out)
{
    ferry_stream_request *const fresh = take(ctx->engine->streams, use);

    if (!fresh)
        return FERRY_ERR_MEMORY; /* alloc_zero() has told */
    memset(fresh, 0, offsetof(ferry_stream_request, text));
    fresh->ctx = ctx;
    fresh->kind = kind;
    fresh->flight.payload = fresh->flight.reply = MPI_REQUEST_NULL;
    *request_out = fresh;
    return FERRY_OK;
}

void request_drop(ferry_stream_request *request)
{
    struct stream_state *const s = request->ctx->engine->streams;

    if (!request->ended && request->ctx->broken != FERRY_OK)
        return; /* MPI may still write into it: it stays in its queue */
    if (!s->reserve) {
        s->reserve = request;
        return;
    }
    request->next = s->free_requests;
    s->free_requests = request;
}

void request_end(ferry_stream_request *request, ferry_status status)
{
    request->ended = true;
    request->status = status;
    if (status != FERRY_OK)
        trouble_copy(request->text, sizeof request->text);
}

ferry_status request_place(ferry_stream_request *request)
{
    const size_t bytes = request->info.bytes;
    void *data = NULL;
    const ferry_status st = request->place(request->user, bytes, &data);

    if (st != FERRY_OK)
        return st;
    if (!data && bytes)
        return trouble(FERRY_ERR_ARG, "%s: the place for %zu bytes is NULL on rank %d",
                       request->kind == STREAM_CAST ? "broadcast" : "receive", bytes,
                       request->ctx->rank);
    request->data = data;
    return FERRY_OK;
}

/* --- waiting --- */

static bool has_ended(void *what)
{
    return ((const ferry_stream_request *)what)->ended;
}

void request_wanted(text_out *out, int from, int tag)
{
    text_add(out, "for a message from ");
    if (from >= 0)
        text_add(out, "rank %d", from);
    else
        text_add(out, "any rank");
    if (tag >= 0)
        text_add(out, " with tag %d", tag);
}

static void missing_message(const ferry_stream_request *r, text_out *out)
{
    request_wanted(out, r->info.from, r->info.tag);
    if (r->done)
        text_add(out, " (%zu of %zu bytes have come)", r->done, r->info.bytes);
}

static void missing(void *what, text_out *out)
{
    const ferry_stream_request *const r = what;

    if (r->kind == STREAM_RECEIVE)
        missing_message(r, out);
    else if (r->kind == STREAM_SEND)
        text_add(out, "to send %zu bytes to rank %d with tag %d", r->info.bytes, r->info.from,
                 r->info.tag);
    else
        cast_missing(r, out);
}

ferry_status request_wait(ferry_stream_request *request)
{
    const ferry_status st = wait_until(request->ctx, &(wait_for){has_ended, missing, request});

    if (st != FERRY_OK)
        return st;
    if (request->status != FERRY_OK)
        trouble_keep(request->text);
    return request->status;
}
