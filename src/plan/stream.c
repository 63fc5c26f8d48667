/* Streams: who wants which message. Within a node they travel through rings (pair.c), elsewhere by
 * MPI (post.c). */
#include "plan/stream.h"

#include <string.h>

#include "base/alloc.h"
#include "base/trouble.h"

ferry_status stream_make(ferry_context *ctx)
{
    const size_t ranks = (size_t)ctx->node_size;
    struct stream_state *s = NULL;
    ferry_status st = alloc_zero(1, sizeof *s, &s);

    if (st != FERRY_OK)
        return st;
    s->last = &s->first;
    ctx->engine->streams = s;
    st = alloc_zero(ranks, sizeof *s->to, &s->to);
    if (st == FERRY_OK)
        st = alloc_zero(ranks, sizeof *s->from, &s->from);
    if (st == FERRY_OK)
        st = alloc_zero(ranks, sizeof *s->cast_from, &s->cast_from);
    return st;
}

void stream_drop(ferry_context *ctx)
{
    struct stream_state *const s = ctx->engine->streams;

    if (!s ||
        ctx->broken != FERRY_OK) /* of a broken context MPI may still write into it: it stays */
        return;
    while (s->first) {
        early_message *const message = s->first;
        s->first = message->next;
        alloc_free(message);
    }
    alloc_free(s->to); /* the rings lie in the arena and end with it */
    alloc_free(s->from);
    alloc_free(s->cast_from);
    alloc_free(s);
}

/* ---- Early messages ---- */

ferry_status early_make(size_t carried, early_message **message_out)
{
    early_message *message = NULL;
    const ferry_status st = alloc_resize(sizeof *message + carried, 1, &message);

    if (st == FERRY_OK)
        *message_out = message;
    return st;
}

void early_add(ferry_context *ctx, early_message *message)
{
    struct stream_state *const s = ctx->engine->streams;

    message->next = NULL;
    *s->last = message;
    s->last = &message->next;
}

/* Unlink the first message that fits, or NULL. */
static early_message *early_take(struct stream_state *s, int from, int tag)
{
    for (early_message **link = &s->first; *link; link = &(*link)->next) {
        early_message *const message = *link;
        if ((from >= 0 && message->from != from) || (tag >= 0 && message->tag != tag))
            continue;
        *link = message->next;
        if (s->last == &message->next)
            s->last = link;
        return message;
    }
    return NULL;
}

enum { AT_ONCE = 8 /* messages taken in from one place before others have a turn */ };

static ferry_status collect_from(ferry_context *ctx, int node_rank)
{
    bool came = true;
    ferry_status st = FERRY_OK;

    for (int i = 0; came && i < AT_ONCE && st == FERRY_OK; i++)
        st = pair_poll(ctx, node_rank, &came);
    return st;
}

static ferry_status collect_from_node(ferry_context *ctx)
{
    ferry_status st = FERRY_OK;

    if (!route_node_allowed(ctx))
        return FERRY_OK;
    for (int i = 0; i < ctx->node_size && st == FERRY_OK; i++)
        if (i != ctx->node_rank)
            st = collect_from(ctx, i);
    return st;
}

/* Some ranks are reached by MPI only. */
static bool has_wire(const ferry_context *ctx)
{
    return !route_node_allowed(ctx) || ctx->node_size < ctx->size;
}

static ferry_status collect_from_wire(ferry_context *ctx)
{
    bool came = has_wire(ctx);
    ferry_status st = FERRY_OK;

    for (int i = 0; came && i < AT_ONCE && st == FERRY_OK; i++)
        st = post_poll(ctx, FERRY_STREAM_ANY, FERRY_STREAM_ANY, &came);
    return st;
}

ferry_status early_collect(ferry_context *ctx)
{
    ferry_status st = collect_from_node(ctx);

    if (st == FERRY_OK)
        st = collect_from_wire(ctx);
    return st == FERRY_ERR_MEMORY ? FERRY_OK : st;
}

/* ---- Sending ---- */

static ferry_status check_peer(const ferry_context *ctx, const char *call, const char *name,
                               int rank, int tag, bool any)
{
    if ((rank < 0 || rank >= ctx->size) && !(any && rank == FERRY_STREAM_ANY))
        return trouble(FERRY_ERR_ARG, "%s: %s is %d on rank %d, expected a rank from 0 to %d%s",
                       call, name, rank, ctx->rank, ctx->size - 1,
                       any ? " or FERRY_STREAM_ANY" : "");
    if ((tag < 0 || tag >= STREAM_TAGS) && !(any && tag == FERRY_STREAM_ANY))
        return trouble(FERRY_ERR_ARG, "%s: tag is %d on rank %d, expected 0 to %d%s", call, tag,
                       ctx->rank, STREAM_TAGS - 1, any ? " or FERRY_STREAM_ANY" : "");
    return FERRY_OK;
}

static ferry_status send_to_self(ferry_context *ctx, const ferry_piece *pieces, size_t count,
                                 size_t bytes, int tag)
{
    stream_reader reader = {pieces, count, 0};
    early_message *message = NULL;

    if (bytes > STREAM_EAGER)
        return trouble(FERRY_ERR_ARG,
                       "ferry_stream_send: %zu bytes from rank %d to itself, expected at most %d",
                       bytes, ctx->rank, STREAM_EAGER);
    const ferry_status st = early_make(bytes, &message);
    if (st != FERRY_OK)
        return st;
    *message = (early_message){.from = ctx->rank, .tag = tag, .bytes = bytes};
    stream_read(&reader, message->data, bytes);
    early_add(ctx, message);
    return FERRY_OK;
}

ferry_status ferry_stream_send(ferry_context *ctx, const ferry_piece *pieces, size_t count, int to,
                               int tag)
{
    static const char call[] = "ferry_stream_send";
    size_t bytes = 0;
    ferry_status st = context_usable(ctx, call);

    if (st == FERRY_OK)
        st = check_peer(ctx, call, "to", to, tag, false);
    if (st == FERRY_OK)
        st = stream_check_pieces(pieces, count, call, ctx->rank, &bytes);
    if (st != FERRY_OK)
        return st;
    if (to == ctx->rank)
        return send_to_self(ctx, pieces, count, bytes, tag);
    return stream_on_node(ctx, to) ? pair_send(ctx, pieces, count, bytes, to, tag)
                                   : post_send(ctx, pieces, count, bytes, to, tag);
}

/* ---- Receiving ---- */

typedef struct wish {
    ferry_context *ctx;
    int from, tag;
    bool node, wire; /* where it may come from */
    early_message *found;
    ferry_status status;
} wish;

static bool fulfilled(void *what)
{
    wish *const w = what;
    struct stream_state *const s = w->ctx->engine->streams;
    bool came = false;

    w->found = early_take(s, w->from, w->tag);
    if (!w->found && w->node)
        w->status = w->from >= 0 ? collect_from(w->ctx, context_node_rank(w->ctx, w->from))
                                 : collect_from_node(w->ctx);
    if (!w->found && w->wire && w->status == FERRY_OK)
        w->status = post_poll(w->ctx, w->from, w->tag, &came);
    if (!w->found && w->status == FERRY_OK)
        w->found = early_take(s, w->from, w->tag);
    return w->found || w->status != FERRY_OK;
}

static void missing(void *what, text_out *out)
{
    const wish *const w = what;

    text_add(out, "in ferry_stream_recv for a message from ");
    if (w->from >= 0)
        text_add(out, "rank %d", w->from);
    else
        text_add(out, "any rank");
    if (w->tag >= 0)
        text_add(out, " with tag %d", w->tag);
}

static ferry_status deliver(ferry_context *ctx, const early_message *message,
                            ferry_stream_place *place, void *user)
{
    void *data = NULL;
    ferry_status st = place(user, message->bytes, &data);

    if (st == FERRY_OK && !data && message->bytes)
        st = trouble(FERRY_ERR_ARG, "ferry_stream_recv: the place for %zu bytes is NULL on rank %d",
                     message->bytes, ctx->rank);
    if (message->granted_later)
        return (stream_on_node(ctx, message->from) ? pair_fetch : post_fetch)(
            ctx, message->from, data, message->bytes, st);
    if (st == FERRY_OK && message->bytes)
        memcpy(data, message->data, message->bytes);
    return st;
}

ferry_status ferry_stream_recv(ferry_context *ctx, int from, int tag, ferry_stream_place *place,
                               void *user, ferry_stream_info *info_out)
{
    static const char call[] = "ferry_stream_recv";
    ferry_status st = context_usable(ctx, call);

    if (st == FERRY_OK)
        st = check_peer(ctx, call, "from", from, tag, true);
    if (st == FERRY_OK && !place)
        st = trouble(FERRY_ERR_ARG, "%s: place is NULL on rank %d", call, ctx->rank);
    if (st != FERRY_OK)
        return st;
    wish w = {.ctx = ctx, .from = from, .tag = tag};
    w.node = from >= 0 ? from != ctx->rank && stream_on_node(ctx, from) : route_node_allowed(ctx);
    w.wire = from >= 0 ? from != ctx->rank && !w.node : has_wire(ctx);
    st = wait_until(ctx, &(wait_for){fulfilled, missing, &w});
    if (st == FERRY_OK)
        st = w.status;
    if (st != FERRY_OK)
        return st;
    st = deliver(ctx, w.found, place, user);
    if (st == FERRY_OK && info_out)
        *info_out = (ferry_stream_info){w.found->from, w.found->tag, w.found->bytes};
    alloc_free(w.found);
    return st;
}
