/* Messages and receives that look for each other. Receives are met in the order in which they were
 * started, messages in the order in which they came; a message that comes too early is kept: short
 * ones whole, long ones stay with their senders. */
#include <string.h>

#include "base/alloc.h"
#include "plan/stream.h"

static bool fits(int wanted_from, int wanted_tag, const ferry_stream_info *message)
{
    return (wanted_from == FERRY_STREAM_ANY || wanted_from == message->from) &&
           (wanted_tag == message->tag ||
            (wanted_tag == FERRY_STREAM_ANY && message->tag != FERRY_STREAM_HIDDEN));
}

static void take_bytes(ferry_stream_request *receive, const char *data)
{
    const size_t bytes = receive->info.bytes;
    const ferry_status st = request_place(receive);

    if (st == FERRY_OK && bytes)
        memcpy(receive->data, data, bytes);
    receive->ctx->counters.copied_bytes += bytes;
    receive->ctx->counters.node_bytes += bytes;
    request_end(receive, st);
}

static void take_from_self(ferry_stream_request *receive, ferry_stream_request *send)
{
    const ferry_status st = request_place(receive);

    if (st == FERRY_OK)
        stream_read(&send->source, receive->data, receive->info.bytes);
    receive->ctx->counters.copied_bytes += receive->info.bytes;
    receive->ctx->counters.node_bytes += receive->info.bytes;
    request_end(receive, st);
    request_end(send, st);
}

/* A receive and its message have found each other. */
static void met(ferry_stream_request *receive, const stream_arrival *arrival)
{
    ferry_status st = FERRY_OK;

    receive->info = arrival->info;
    switch (arrival->how) {
    case ARRIVED_HERE:
        take_bytes(receive, arrival->data);
        return;
    case ARRIVED_ANNOUNCED:
        pair_met(receive, arrival->number);
        return;
    case ARRIVED_SELF:
        take_from_self(receive, arrival->self);
        return;
    case ARRIVED_WIRE:
        st = post_met(receive, arrival->message);
        if (st != FERRY_OK)
            request_end(receive, context_break(receive->ctx, st));
        return;
    }
}

bool stream_has_spare(struct stream_state *s)
{
    return s->spare || alloc_resize(1, sizeof *s->spare, &s->spare) == FERRY_OK;
}

static early_message *make_early(struct stream_state *s, size_t carried)
{
    early_message *fresh = NULL;

    if (carried)
        return alloc_resize(sizeof *fresh + carried, 1, &fresh) == FERRY_OK ? fresh : NULL;
    if (!stream_has_spare(s))
        return NULL;
    fresh = s->spare;
    s->spare = NULL;
    return fresh;
}

static void add_early(struct stream_state *s, early_message *fresh, const stream_arrival *arrival)
{
    fresh->next = NULL;
    fresh->what = *arrival;
    fresh->what.data = fresh->data;
    *s->early_last = fresh;
    s->early_last = &fresh->next;
}

static bool keep_early(struct stream_state *s, const stream_arrival *arrival)
{
    const size_t carried = arrival->how == ARRIVED_HERE ? arrival->info.bytes : 0;
    early_message *const fresh = make_early(s, carried);

    if (!fresh)
        return false;
    if (carried)
        memcpy(fresh->data, arrival->data, carried);
    add_early(s, fresh, arrival);
    return true;
}

/* A short message is taken from MPI, so that ranks that send before they receive do not stop each
 * other; without memory it stays there. */
static ferry_status keep_from_wire(struct stream_state *s, stream_arrival *arrival)
{
    early_message *fresh =
        arrival->info.bytes <= STREAM_EAGER ? make_early(s, arrival->info.bytes) : NULL;
    ferry_status st = FERRY_OK;

    if (!fresh) {
        keep_early(s, arrival); /* the spare one is there */
        return FERRY_OK;
    }
    st = post_take(arrival->message, fresh->data, arrival->info.bytes);
    arrival->how = ARRIVED_HERE;
    add_early(s, fresh, arrival);
    return st;
}

/* The first receive that fits, taken from the queue; or NULL. */
static ferry_stream_request *find_posted(struct stream_state *s, const ferry_stream_info *message)
{
    for (ferry_stream_request **link = &s->posted.first; *link; link = &(*link)->next)
        if (fits((*link)->info.from, (*link)->info.tag, message))
            return queue_take(&s->posted, link);
    return NULL;
}

bool stream_arrived(ferry_context *ctx, const stream_arrival *arrival)
{
    struct stream_state *const s = ctx->engine->streams;
    ferry_stream_request *const receive = find_posted(s, &arrival->info);

    if (!receive)
        return keep_early(s, arrival);
    met(receive, arrival);
    return true;
}

ferry_status stream_arrived_by_wire(ferry_context *ctx, stream_arrival *arrival)
{
    struct stream_state *const s = ctx->engine->streams;
    ferry_stream_request *const receive = find_posted(s, &arrival->info);

    if (!receive)
        return keep_from_wire(s, arrival);
    met(receive, arrival);
    return ctx->broken;
}

void stream_post(ferry_stream_request *receive)
{
    struct stream_state *const s = receive->ctx->engine->streams;

    for (early_message **link = &s->early; *link; link = &(*link)->next) {
        early_message *const message = *link;
        if (!fits(receive->info.from, receive->info.tag, &message->what.info))
            continue;
        *link = message->next;
        if (s->early_last == &message->next)
            s->early_last = link;
        met(receive, &message->what);
        alloc_free(message);
        return;
    }
    queue_add(&s->posted, receive);
}

const early_message *stream_find_early(const struct stream_state *s, int from, int tag)
{
    for (const early_message *message = s->early; message; message = message->next)
        if (fits(from, tag, &message->what.info))
            return message;
    return NULL;
}

bool stream_forget_self(struct stream_state *s, const ferry_stream_request *send)
{
    for (early_message **link = &s->early; *link; link = &(*link)->next) {
        early_message *const message = *link;
        if (message->what.how != ARRIVED_SELF || message->what.self != send)
            continue;
        *link = message->next;
        if (s->early_last == &message->next)
            s->early_last = link;
        alloc_free(message);
        return true;
    }
    return false;
}
