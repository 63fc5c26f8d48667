/* Streams between two ranks of a node. A short message goes into the receiver's inbox at once,
 * whole or as the place of a block of the sender's outbox. A long one is announced there; when a
 * receive has met it and found a place, the answer comes back into the sender's inbox, and the
 * bytes flow through a ring of the pair, message after message in the order of the answers, which
 * both sides know. So nothing stands in a ring that nobody asked for, and a message that waits for
 * its receive stops no other. */
#include <string.h>

#include "base/size.h"
#include "plan/stream.h"

enum { SLOT_BYTES = 64 << 10 };

bool stream_on_node(const ferry_context *ctx, int rank)
{
    return route_node_allowed(ctx) && context_node_rank(ctx, rank) >= 0;
}

static pair *pair_of(const ferry_stream_request *r)
{
    return &r->ctx->engine->streams->pairs[context_node_rank(r->ctx, r->info.from)];
}

/* --- into the peer's inbox --- */

/* A cell there with its head filled, or NULL while all are full. */
static inbox_cell *claim(ferry_stream_request *r, inbox_kind kind, uint64_t *position_out)
{
    struct stream_state *const s = r->ctx->engine->streams;
    const int node_peer = context_node_rank(r->ctx, r->info.from);
    inbox *const peer = &s->peers[node_peer];

    if (!inbox_find(r->ctx, peer, node_peer, stream_mail_inbox(r->ctx)))
        return NULL;
    inbox_cell *const cell = inbox_claim(peer, position_out);
    if (cell)
        cell->head = (inbox_head){.bytes = r->info.bytes,
                                  .number = r->number,
                                  .from = r->ctx->node_rank,
                                  .tag = r->info.tag,
                                  .kind = kind};
    return cell;
}

static void publish(const ferry_stream_request *r, inbox_cell *cell, uint64_t position)
{
    inbox_publish(cell, position);
    memory_wake(r->ctx, context_node_rank(r->ctx, r->info.from));
}

static bool put_whole(ferry_stream_request *send)
{
    uint64_t position = 0;
    inbox_cell *const cell = claim(send, INBOX_WHOLE, &position);

    if (!cell)
        return false;
    stream_read(&send->source, cell->data, send->info.bytes);
    publish(send, cell, position);
    return true;
}

static bool put_block(ferry_stream_request *send)
{
    ferry_context *const ctx = send->ctx;
    outbox_block *const block = outbox_take(ctx, &ctx->engine->streams->blocks);
    uint64_t position = 0;
    inbox_cell *const cell = block ? claim(send, INBOX_BLOCK, &position) : NULL;

    if (!cell) {
        if (block)
            outbox_give(block);
        return false;
    }
    stream_read(&send->source, block->data, send->info.bytes);
    cell->head.number = memory_offset(ctx, block);
    publish(send, cell, position);
    return true;
}

static bool put_announcement(ferry_stream_request *send)
{
    uint64_t position = 0;
    inbox_cell *const cell = claim(send, INBOX_ANNOUNCED, &position);

    if (!cell)
        return false;
    queue_add(&pair_of(send)->announced, send); /* before the answer can come */
    publish(send, cell, position);
    return true;
}

/* Hand one message over: true when the peer has it. Short ones end here. */
static bool hand_over(ferry_stream_request *send)
{
    struct stream_state *const s = send->ctx->engine->streams;
    const size_t bytes = send->info.bytes;

    if (bytes > STREAM_EAGER) {
        if (!put_announcement(send))
            return false;
        s->busy--; /* the answer comes by itself */
        return true;
    }
    if (!(bytes <= INBOX_INLINE ? put_whole(send) : put_block(send)))
        return false;
    s->busy--;
    send->ctx->counters.copied_bytes += bytes;
    request_end(send, FERRY_OK);
    return true;
}

static void hand_over_all(pair *p)
{
    while (p->sends.first) {
        ferry_stream_request *const send = queue_take(&p->sends, &p->sends.first);
        if (hand_over(send))
            continue;
        queue_push(&p->sends, send);
        return;
    }
}

ferry_status pair_send(ferry_stream_request *send)
{
    ferry_context *const ctx = send->ctx;
    struct stream_state *const s = ctx->engine->streams;
    pair *const p = pair_of(send);

    if (send->info.bytes > STREAM_EAGER) { /* now, while nobody counts on it */
        const int node_peer = context_node_rank(ctx, send->info.from);
        const ferry_status st = slots_make(ctx, &p->to, node_peer, 1, SLOT_BYTES);
        if (st != FERRY_OK)
            return st;
    }
    send->number = ++s->sent;
    s->busy++;
    queue_add(&p->sends, send);
    hand_over_all(p);
    return FERRY_OK;
}

/* --- answers --- */

static bool answer(ferry_stream_request *receive)
{
    uint64_t position = 0;
    inbox_cell *const cell = claim(receive, INBOX_ANSWER, &position);

    if (!cell)
        return false;
    cell->head.tag = receive->status;
    if (receive->status != FERRY_OK)
        memcpy(cell->data, receive->text, sizeof receive->text);
    publish(receive, cell, position);
    return true;
}

static void answer_all(struct stream_state *s, pair *p)
{
    while (p->answers.first && answer(p->answers.first)) {
        ferry_stream_request *const receive = queue_take(&p->answers, &p->answers.first);
        if (receive->status == FERRY_OK) {
            queue_add(&p->arriving, receive);
            continue;
        }
        s->busy--;
        receive->ended = true;
    }
}

void pair_met(ferry_stream_request *receive, uint64_t number)
{
    struct stream_state *const s = receive->ctx->engine->streams;
    pair *const p = pair_of(receive);

    receive->number = number;
    landing_begin(&receive->landing, receive->info.bytes);
    receive->status = request_place(receive);
    if (receive->status != FERRY_OK)
        trouble_copy(receive->text, sizeof receive->text);
    s->busy++;
    queue_add(&p->answers, receive);
    answer_all(s, p);
}

/* The answer to an announcement of this rank. */
static void take_answer(ferry_context *ctx, const inbox_cell *cell)
{
    struct stream_state *const s = ctx->engine->streams;
    pair *const p = &s->pairs[cell->head.from];
    ferry_stream_request **link = &p->announced.first;

    while (*link && (*link)->number != cell->head.number)
        link = &(*link)->next;
    if (!*link)
        return; /* taken back meanwhile: see ferry_stream_cancel() */
    ferry_stream_request *const send = queue_take(&p->announced, link);
    if (cell->head.tag == FERRY_OK) {
        s->busy++;
        queue_add(&p->flowing, send);
        return;
    }
    char text[TROUBLE_BYTES];
    memcpy(text, cell->data, sizeof text);
    text[sizeof text - 1] = '\0';
    trouble_keep(text);
    request_end(send, (ferry_status)cell->head.tag);
}

/* --- the own inbox --- */

static bool take_block(ferry_context *ctx, const inbox_head *head, stream_arrival *arrival)
{
    outbox_block *const block = outbox_find(ctx, head->number);

    if (!block || head->bytes > OUTBOX_BLOCK_BYTES)
        return true; /* no rank of ours wrote that */
    arrival->data = block->data;
    if (!stream_arrived(ctx, arrival))
        return false;
    outbox_give(block);
    memory_wake(ctx, head->from);
    return true;
}

/* False when the message has to stay. */
static bool take_cell(ferry_context *ctx, const inbox_cell *cell)
{
    const inbox_head head = cell->head;
    stream_arrival arrival = {.how = ARRIVED_HERE, .number = head.number, .data = cell->data};

    if (head.from < 0 || head.from >= ctx->node_size)
        return true;
    arrival.info = (ferry_stream_info){ctx->node_ranks[head.from], head.tag, (size_t)head.bytes};
    switch (head.kind) {
    case INBOX_WHOLE:
        return head.bytes > INBOX_INLINE || stream_arrived(ctx, &arrival);
    case INBOX_BLOCK:
        return take_block(ctx, &head, &arrival);
    case INBOX_ANNOUNCED:
        arrival.how = ARRIVED_ANNOUNCED;
        return stream_arrived(ctx, &arrival);
    default:
        take_answer(ctx, cell);
        return true;
    }
}

enum { WAKE_EVERY = INBOX_CELLS / 2 /* cells emptied, until who waits for room is woken */ };

static void empty_inbox(ferry_context *ctx)
{
    inbox *const own = &ctx->engine->streams->own;
    const inbox_cell *cell;

    while ((cell = inbox_look(own)) != NULL) {
        if (!take_cell(ctx, cell))
            return; /* no memory: it stays, and all behind it */
        inbox_emptied(own);
        for (int i = 0; own->emptied % WAKE_EVERY == 0 && i < ctx->node_size; i++)
            memory_wake(ctx, i);
    }
}

/* --- long messages --- */

static void flow(ferry_context *ctx, pair *p, int node_peer)
{
    ferry_stream_request *const send = p->flowing.first;
    char *slot;

    while (send->done < send->info.bytes && (slot = slots_free_slot(&p->to)) != NULL) {
        const size_t part = size_min(send->info.bytes - send->done, SLOT_BYTES);
        if (send->done == 0)
            filling_begin(&p->to.filling, send->info.bytes, slots_bytes(&p->to));
        stream_fill(&send->source, slot, part, p->to.filling.past);
        filling_add(&p->to.filling, part);
        slots_filled(&p->to);
        memory_wake(ctx, node_peer);
        send->done += part;
    }
    if (send->done < send->info.bytes)
        return;
    filling_end(&p->to.filling);
    queue_take(&p->flowing, &p->flowing.first);
    ctx->engine->streams->busy--;
    ctx->counters.copied_bytes += send->info.bytes;
    request_end(send, FERRY_OK);
}

static void arrive(ferry_context *ctx, pair *p, int node_peer)
{
    ferry_stream_request *const receive = p->arriving.first;
    const size_t bytes = receive->info.bytes;
    const char *slot;

    if (!slots_find(ctx, &p->from, node_peer, ctx->node_rank, 0))
        return;
    while (receive->done < bytes && (slot = slots_full_slot(&p->from)) != NULL) {
        const size_t part = size_min(bytes - receive->done, SLOT_BYTES);
        landing_copy(&receive->landing, receive->data + receive->done, slot, part);
        slots_emptied(&p->from);
        memory_wake(ctx, node_peer);
        receive->done += part;
    }
    if (receive->done < bytes)
        return;
    queue_take(&p->arriving, &p->arriving.first);
    ctx->engine->streams->busy--;
    ctx->counters.copied_bytes += bytes;
    ctx->counters.node_bytes += bytes;
    request_end(receive, FERRY_OK);
}

static void pair_step(ferry_context *ctx, int node_peer)
{
    struct stream_state *const s = ctx->engine->streams;
    pair *const p = &s->pairs[node_peer];

    answer_all(s, p);
    hand_over_all(p);
    if (p->arriving.first)
        arrive(ctx, p, node_peer);
    if (p->flowing.first)
        flow(ctx, p, node_peer);
}

void pair_progress(ferry_context *ctx)
{
    struct stream_state *const s = ctx->engine->streams;

    if (!s->own.shared)
        return;
    empty_inbox(ctx);
    for (int i = 0; s->busy && i < ctx->node_size; i++)
        pair_step(ctx, i);
}
