/* The public calls of streams. Blocking calls start a request and wait for it; what moves requests
 * on is in pair.c, post.c and cast.c. */
#include "plan/stream.h"

#include <string.h>

#include "base/alloc.h"
#include "ferry/memory.h"
#include "plan/mover.h"

static ferry_status make_node_part(ferry_context *ctx, struct stream_state *s)
{
    const size_t ranks = (size_t)ctx->node_size;
    ferry_status st = alloc_zero(ranks, sizeof *s->pairs, &s->pairs);

    if (st == FERRY_OK)
        st = alloc_zero(ranks, sizeof *s->peers, &s->peers);
    if (st == FERRY_OK && route_node_allowed(ctx))
        st = inbox_make(ctx, &s->own, stream_mail_inbox(ctx));
    return st;
}

ferry_status stream_make(ferry_context *ctx)
{
    struct stream_state *s = NULL;
    ferry_status st = alloc_zero(1, sizeof *s, &s);

    if (st != FERRY_OK)
        return st;
    s->early_last = &s->early;
    ctx->engine->streams = s;
    st = alloc_zero(1, sizeof *s->reserve, &s->reserve);
    if (st == FERRY_OK)
        st = make_node_part(ctx, s);
    return st == FERRY_OK ? cast_make(ctx) : st;
}

static void drop_requests(ferry_stream_request *first)
{
    while (first) {
        ferry_stream_request *const request = first;
        first = request->next;
        alloc_free(request);
    }
}

static void drop_early(struct stream_state *s)
{
    while (s->early) {
        early_message *const message = s->early;
        s->early = message->next;
        if (message->what.how == ARRIVED_SELF)
            alloc_free(message->what.self);
        if (message->what.how == ARRIVED_WIRE)
            post_discard(&message->what);
        alloc_free(message);
    }
    alloc_free(s->spare);
}

void stream_drop(ferry_context *ctx)
{
    struct stream_state *const s = ctx->engine->streams;

    if (!s ||
        ctx->broken != FERRY_OK) /* of a broken context MPI may still write into it: it stays */
        return;
    drop_early(s);
    drop_requests(s->posted.first);
    for (int i = 0; s->pairs && i < ctx->node_size; i++) {
        drop_requests(s->pairs[i].sends.first);
        drop_requests(s->pairs[i].announced.first);
    }
    drop_requests(s->free_requests);
    alloc_free(s->reserve);
    alloc_free(s->pairs); /* the rings lie in the arena and end with it */
    alloc_free(s->peers);
    alloc_free(s->cast_from);
    alloc_free(s->cast);
    alloc_free(s);
}

ferry_status stream_progress(ferry_context *ctx)
{
    struct stream_state *const s = ctx->engine->streams;
    ferry_status st = FERRY_OK;

    if (!s)
        return FERRY_OK;
    pair_progress(ctx);
    if (s->posts.first || s->posted.first || s->looks_at_wire)
        st = post_progress(ctx);
    if (st == FERRY_OK && s->casts.first)
        st = cast_progress(ctx);
    return st == FERRY_OK ? st : context_break(ctx, st);
}

/* ---- Starting ---- */

static ferry_status check_peer(const ferry_context *ctx, const char *call, const char *name,
                               const ferry_stream_info *wanted, bool any)
{
    const int rank = wanted->from, tag = wanted->tag;

    if ((rank < 0 || rank >= ctx->size) && !(any && rank == FERRY_STREAM_ANY))
        return trouble(FERRY_ERR_ARG, "%s: %s is %d on rank %d, expected a rank from 0 to %d%s",
                       call, name, rank, ctx->rank, ctx->size - 1,
                       any ? " or FERRY_STREAM_ANY" : "");
    if ((tag < 0 || tag >= STREAM_TAGS) && !(any && tag == FERRY_STREAM_ANY))
        return trouble(FERRY_ERR_ARG, "%s: tag is %d on rank %d, expected 0 to %d%s", call, tag,
                       ctx->rank, STREAM_TAGS - 1, any ? " or FERRY_STREAM_ANY" : "");
    return FERRY_OK;
}

/* A short message to this rank itself is kept whole. */
static ferry_status keep_short(const ferry_stream_request *send, stream_arrival *arrival)
{
    stream_reader reader = send->source;
    void *copy = NULL;
    ferry_status st = ferry_memory_take(send->info.bytes, &copy);

    if (st != FERRY_OK)
        return st;
    stream_read(&reader, copy, send->info.bytes);
    arrival->how = ARRIVED_HERE;
    arrival->data = copy;
    if (!stream_arrived(send->ctx, arrival))
        st = trouble(FERRY_ERR_MEMORY, "no memory for %zu bytes from rank %d to itself",
                     send->info.bytes, send->ctx->rank);
    ferry_memory_give(copy);
    return st;
}

/* A long message stays where it is until a receive is there; nothing else could end a wait for it,
 * so that ferry_stream_send() takes it back. */
static ferry_status send_to_self(ferry_stream_request *send)
{
    stream_arrival arrival = {.how = ARRIVED_SELF, .info = send->info, .self = send};

    if (send->info.bytes <= STREAM_EAGER) {
        const ferry_status st = keep_short(send, &arrival);
        if (st == FERRY_OK)
            request_end(send, FERRY_OK);
        return st;
    }
    return stream_arrived(send->ctx, &arrival)
               ? FERRY_OK
               : trouble(FERRY_ERR_MEMORY, "no memory for a message from rank %d to itself",
                         send->ctx->rank);
}

static ferry_status start_send(ferry_stream_request *send)
{
    ferry_context *const ctx = send->ctx;

    if (send->info.from == ctx->rank)
        return send_to_self(send);
    if (stream_on_node(ctx, send->info.from))
        return pair_send(send);
    const ferry_status st = post_send(send);
    return st == FERRY_ERR_MPI ? context_break(ctx, st) : st;
}

static ferry_status isend(ferry_context *ctx, const ferry_piece *pieces, size_t count,
                          ferry_stream_info peer, request_use use,
                          ferry_stream_request **request_out)
{
    static const char call[] = "send";
    ferry_stream_request *send = NULL;
    ferry_status st = context_usable(ctx, call);

    if (st == FERRY_OK)
        st = check_peer(ctx, call, "to", &peer, false);
    if (st == FERRY_OK)
        st = stream_check_pieces(pieces, count, call, ctx->rank, &peer.bytes);
    if (st == FERRY_OK)
        st = request_make(ctx, STREAM_SEND, use, &send);
    if (st != FERRY_OK)
        return st;
    send->info = peer;
    send->source = (stream_reader){pieces, count, 0};
    mover_enter(ctx);
    st = start_send(send);
    mover_leave(ctx);
    if (st == FERRY_OK)
        *request_out = send;
    else
        request_drop(send);
    return st;
}

ferry_status ferry_stream_isend(ferry_context *ctx, const ferry_piece *pieces, size_t count, int to,
                                int tag, ferry_stream_request **request_out)
{
    if (!request_out)
        return trouble(FERRY_ERR_ARG, "send: request_out is NULL");
    return isend(ctx, pieces, count, (ferry_stream_info){to, tag, 0}, REQUEST_STAYS, request_out);
}

static ferry_status irecv(ferry_context *ctx, ferry_stream_info wanted, ferry_stream_place *place,
                          void *user, request_use use, ferry_stream_request **request_out)
{
    static const char call[] = "receive";
    ferry_stream_request *receive = NULL;
    ferry_status st = context_usable(ctx, call);

    if (st == FERRY_OK)
        st = check_peer(ctx, call, "from", &wanted, true);
    if (st == FERRY_OK && !place)
        st = trouble(FERRY_ERR_ARG, "%s: place is NULL on rank %d", call, ctx->rank);
    if (st == FERRY_OK)
        st = request_make(ctx, STREAM_RECEIVE, use, &receive);
    if (st != FERRY_OK)
        return st;
    receive->info = wanted;
    receive->place = place;
    receive->user = user;
    mover_enter(ctx);
    stream_post(receive);
    mover_leave(ctx);
    *request_out = receive;
    return FERRY_OK;
}

ferry_status ferry_stream_irecv(ferry_context *ctx, int from, int tag, ferry_stream_place *place,
                                void *user, ferry_stream_request **request_out)
{
    if (!request_out)
        return trouble(FERRY_ERR_ARG, "receive: request_out is NULL");
    return irecv(ctx, (ferry_stream_info){from, tag, 0}, place, user, REQUEST_STAYS, request_out);
}

static const char cast_call[] = "broadcast";

static ferry_status check_cast(const ferry_context *ctx, const ferry_stream_cast *cast,
                               size_t *bytes_out)
{
    const int root = cast->root;

    if (root < 0 || root >= ctx->size)
        return trouble(FERRY_ERR_ARG, "%s: root is %d on rank %d, expected 0 to %d", cast_call,
                       root, ctx->rank, ctx->size - 1);
    if (!cast->place && root != ctx->rank)
        return trouble(FERRY_ERR_ARG, "%s: place is NULL on rank %d", cast_call, ctx->rank);
    return root == ctx->rank
               ? stream_check_pieces(cast->pieces, cast->count, cast_call, ctx->rank, bytes_out)
               : FERRY_OK;
}

/* Wrong arguments end the request, not this call: the other ranks come too, and hear of it. */
static ferry_status ibcast(ferry_context *ctx, const ferry_stream_cast *cast, request_use use,
                           ferry_stream_request **request_out)
{
    const ferry_stream_cast none = {.root = -1};
    ferry_stream_request *r = NULL;
    ferry_status st = context_usable(ctx, cast_call);

    if (st == FERRY_OK)
        st = request_make(ctx, STREAM_CAST, use, &r);
    if (st != FERRY_OK)
        return st;
    const ferry_status checked =
        cast ? check_cast(ctx, cast, &r->info.bytes)
             : trouble(FERRY_ERR_ARG, "%s: cast is NULL on rank %d", cast_call, ctx->rank);
    if (!cast)
        cast = &none;
    r->info.from = cast->root;
    r->source = (stream_reader){cast->pieces, cast->count, 0};
    r->place = cast->place;
    r->check = cast->check;
    r->user = cast->user;
    cast_start(r, checked);
    mover_enter(ctx);
    st = cast_progress(ctx);
    mover_leave(ctx);
    if (st != FERRY_OK)
        return context_break(ctx, st);
    *request_out = r;
    return FERRY_OK;
}

ferry_status ferry_stream_ibcast(ferry_context *ctx, const ferry_stream_cast *cast,
                                 ferry_stream_request **request_out)
{
    if (!request_out)
        return trouble(FERRY_ERR_ARG, "%s: request_out is NULL", cast_call);
    return ibcast(ctx, cast, REQUEST_STAYS, request_out);
}

/* ---- Ending ---- */

/* Free an ended request, with its verdict. */
static ferry_status close_request(ferry_stream_request **request, ferry_stream_info *info_out)
{
    ferry_stream_request *const r = *request;
    const ferry_status st = r->status;

    if (st != FERRY_OK)
        trouble_keep(r->text);
    else if (info_out && r->kind == STREAM_RECEIVE)
        *info_out = r->info;
    request_drop(r);
    *request = NULL;
    return st;
}

ferry_status ferry_stream_test(ferry_stream_request **request, int *done_out,
                               ferry_stream_info *info_out)
{
    if (!request || !done_out)
        return trouble(FERRY_ERR_ARG, "ferry_stream_test: %s is NULL",
                       request ? "done_out" : "request");
    if (*request && !(*request)->ended) {
        ferry_status st = context_usable((*request)->ctx, "ferry_stream_test");
        if (st == FERRY_OK)
            st = progress_rounds((*request)->ctx);
        if (st != FERRY_OK)
            return st;
    }
    *done_out = !*request || (*request)->ended;
    return *request && *done_out ? close_request(request, info_out) : FERRY_OK;
}

ferry_status ferry_stream_wait(ferry_stream_request **request, ferry_stream_info *info_out)
{
    if (!request)
        return trouble(FERRY_ERR_ARG, "ferry_stream_wait: request is NULL");
    if (!*request)
        return FERRY_OK;
    if (!(*request)->ended) {
        ferry_context *const ctx = (*request)->ctx;
        ferry_status st = context_usable(ctx, "ferry_stream_wait");
        if (st == FERRY_OK)
            st = request_wait(*request);
        else if (ctx->broken != FERRY_OK) /* its memory must stay: say so by the status */
            st = ctx->broken;
        if (st != FERRY_OK && !(*request)->ended) { /* the context is broken */
            *request = NULL;
            return st;
        }
    }
    return close_request(request, info_out);
}

/* Take a request out of a queue; false when it is not in it. */
static bool withdraw(stream_queue *queue, const ferry_stream_request *request)
{
    for (ferry_stream_request **link = &queue->first; *link; link = &(*link)->next)
        if (*link == request) {
            queue_take(queue, link);
            return true;
        }
    return false;
}

/* Within a node only: what MPI has been given cannot be taken back from it with certainty. */
static bool withdraw_send(ferry_stream_request *send)
{
    ferry_context *const ctx = send->ctx;
    struct stream_state *const s = ctx->engine->streams;

    if (send->info.from == ctx->rank)
        return stream_forget_self(s, send);
    if (!stream_on_node(ctx, send->info.from))
        return false;
    if (!withdraw(&s->pairs[context_node_rank(ctx, send->info.from)].sends, send))
        return false;
    s->busy--;
    return true;
}

ferry_status ferry_stream_cancel(ferry_stream_request **request)
{
    if (!request)
        return trouble(FERRY_ERR_ARG, "ferry_stream_cancel: request is NULL");
    if (!*request)
        return FERRY_OK;
    ferry_stream_request *const r = *request;
    const ferry_status st = context_usable(r->ctx, "ferry_stream_cancel");
    if (st != FERRY_OK)
        return st;
    const bool taken_back =
        !r->ended && (r->kind == STREAM_RECEIVE ? withdraw(&r->ctx->engine->streams->posted, r)
                      : r->kind == STREAM_SEND  ? withdraw_send(r)
                                                : false);
    if (!taken_back)
        return trouble(FERRY_ERR_STATE, "ferry_stream_cancel: on rank %d %s: wait for it",
                       r->ctx->rank,
                       r->kind == STREAM_CAST ? "a broadcast cannot be taken back"
                                              : "the message is on its way");
    request_drop(r);
    *request = NULL;
    return FERRY_OK;
}

/* ---- Blocking ---- */

ferry_status ferry_stream_send(ferry_context *ctx, const ferry_piece *pieces, size_t count, int to,
                               int tag)
{
    ferry_stream_request *request = NULL;
    const ferry_status st =
        isend(ctx, pieces, count, (ferry_stream_info){to, tag, 0}, REQUEST_WAITED, &request);

    if (st != FERRY_OK)
        return st;
    if (to != ctx->rank || request->ended)
        return ferry_stream_wait(&request, NULL);
    const size_t bytes = request->info.bytes;
    ferry_stream_cancel(&request);
    return trouble(FERRY_ERR_ARG,
                   "send: %zu bytes from rank %d to itself, expected at most %d or a receive that "
                   "has been started",
                   bytes, ctx->rank, STREAM_EAGER);
}

ferry_status ferry_stream_recv(ferry_context *ctx, int from, int tag, ferry_stream_place *place,
                               void *user, ferry_stream_info *info_out)
{
    ferry_stream_request *request = NULL;
    const ferry_status st =
        irecv(ctx, (ferry_stream_info){from, tag, 0}, place, user, REQUEST_WAITED, &request);

    return st == FERRY_OK ? ferry_stream_wait(&request, info_out) : st;
}

ferry_status ferry_stream_bcast(ferry_context *ctx, const ferry_stream_cast *cast)
{
    ferry_stream_request *request = NULL;
    const ferry_status st = ibcast(ctx, cast, REQUEST_WAITED, &request);

    return st == FERRY_OK ? ferry_stream_wait(&request, NULL) : st;
}

/* ---- Probing ---- */

typedef struct wish {
    const ferry_context *ctx;
    int from, tag;
    const early_message *found;
} wish;

static bool is_there(void *what)
{
    wish *const w = what;

    w->found = stream_find_early(w->ctx->engine->streams, w->from, w->tag);
    return w->found != NULL;
}

static void missing_probe(void *what, text_out *out)
{
    const wish *const w = what;

    request_wanted(out, w->from, w->tag);
}

ferry_status ferry_stream_probe(ferry_context *ctx, int from, int tag, int *there_out,
                                ferry_stream_info *info_out)
{
    static const char call[] = "probe";
    wish w = {ctx, from, tag, NULL};
    ferry_status st = context_usable(ctx, call);

    if (st == FERRY_OK)
        st = check_peer(ctx, call, "from", &(ferry_stream_info){from, tag, 0}, true);
    if (st != FERRY_OK)
        return st;
    struct stream_state *const s = ctx->engine->streams;
    s->looks_at_wire = true; /* without a receive nobody else asks MPI for messages */
    st = there_out ? progress_rounds(ctx)
                   : wait_until(ctx, &(wait_for){is_there, missing_probe, &w});
    s->looks_at_wire = false;
    if (st != FERRY_OK)
        return st;
    if (is_there(&w) && info_out)
        *info_out = w.found->what.info;
    if (there_out)
        *there_out = w.found != NULL;
    return FERRY_OK;
}
