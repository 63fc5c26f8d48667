/* Streams between ranks that only MPI connects. The first message carries the length, and a short
 * payload with it; a long payload follows in pieces when the receiver has answered that it has a
 * place. No receive is posted before its length is known. */
#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "ferry/memory.h"
#include "plan/stream.h"

enum { PIECE_BYTES = 8 << 20, WINDOW = 2 };

/* Begins the first message; the payload follows when there is room. */
typedef struct post_head {
    uint64_t bytes;
} post_head;

typedef struct post_waiting {
    MPI_Request *request;
    int peer, ended;
    const char *what;
    ferry_status status;
    ferry_context *ctx;
} post_waiting;

static bool is_through(void *what)
{
    post_waiting *const w = what;

    w->status = pmpi_status(PMPI_Test(w->request, &w->ended, MPI_STATUS_IGNORE), "MPI_Test");
    if (w->status == FERRY_OK && !w->ended)
        w->status = early_collect(w->ctx);
    return w->ended || w->status != FERRY_OK;
}

static void missing(void *what, text_out *out)
{
    const post_waiting *const w = what;

    text_add(out, "in a stream for rank %d (%s)", w->peer, w->what);
}

ferry_status post_wait(ferry_context *ctx, MPI_Request *request, int peer, const char *what)
{
    post_waiting w = {.request = request, .peer = peer, .what = what, .ctx = ctx};
    ferry_status st = wait_until(ctx, &(wait_for){is_through, missing, &w});

    if (st == FERRY_OK && w.status != FERRY_OK)
        st = context_break(ctx, w.status);
    return st;
}

static ferry_status send_bytes(ferry_context *ctx, const void *data, size_t bytes, int to, int tag,
                               MPI_Comm comm, MPI_Request *request)
{
    ctx->counters.messages++;
    return pmpi_status(PMPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, comm, request), "MPI_Isend");
}

static ferry_status receive_answer(ferry_context *ctx, int to)
{
    post_answer *const answer =
        &ctx->engine->streams->answer; /* not on the stack: a wait may end by time-out */
    MPI_Request request = MPI_REQUEST_NULL;
    ferry_status st = pmpi_status(
        PMPI_Irecv(answer, sizeof *answer, MPI_BYTE, to, CONTEXT_TAG_REPLY, ctx->comm, &request),
        "MPI_Irecv");

    if (st == FERRY_OK)
        st = post_wait(ctx, &request, to, "its answer");
    if (st != FERRY_OK)
        return st;
    if (answer->status != FERRY_OK)
        trouble_keep(answer->text);
    return (ferry_status)answer->status;
}

/* Gather piece after piece into two buffers in turn: one is filled while the other flies. */
static ferry_status send_long(ferry_context *ctx, stream_reader *reader, size_t bytes, int to,
                              char *staging)
{
    MPI_Request requests[WINDOW] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    ferry_status st = FERRY_OK;
    size_t k = 0;

    for (size_t done = 0; done < bytes && st == FERRY_OK; k++) {
        const size_t part = size_min(bytes - done, PIECE_BYTES);
        char *const buffer = staging + k % WINDOW * PIECE_BYTES;
        st = post_wait(ctx, &requests[k % WINDOW], to, "to take a piece");
        if (st != FERRY_OK)
            break;
        stream_read(reader, buffer, part);
        st = send_bytes(ctx, buffer, part, to, CONTEXT_TAG_LONG, ctx->comm, &requests[k % WINDOW]);
        done += part;
    }
    for (size_t i = 0; i < WINDOW && st == FERRY_OK; i++)
        st = post_wait(ctx, &requests[i], to, "to take a piece");
    return st;
}

ferry_status post_send(ferry_context *ctx, const ferry_piece *pieces, size_t count, size_t bytes,
                       int to, int tag)
{
    const bool is_long = bytes > STREAM_EAGER;
    const post_head head = {bytes};
    stream_reader reader = {pieces, count, 0};
    MPI_Request request = MPI_REQUEST_NULL;
    void *staging = NULL;
    ferry_status st =
        ferry_memory_take(is_long ? WINDOW * (size_t)PIECE_BYTES : sizeof head + bytes, &staging);

    if (st != FERRY_OK)
        return st;
    memcpy(staging, &head, sizeof head);
    if (!is_long)
        stream_read(&reader, (char *)staging + sizeof head, bytes);
    st = send_bytes(ctx, staging, sizeof head + (is_long ? 0 : bytes), to, tag, ctx->stream_comm,
                    &request);
    if (st == FERRY_OK)
        st = post_wait(ctx, &request, to, "to take the first message");
    if (st == FERRY_OK && is_long)
        st = receive_answer(ctx, to);
    if (st == FERRY_OK && is_long)
        st = send_long(ctx, &reader, bytes, to, staging);
    if (st == FERRY_OK) {
        ctx->counters.wire_bytes += bytes;
        ctx->counters.copied_bytes += bytes;
    }
    if (ctx->broken == FERRY_OK) /* else MPI may still be sending from it */
        ferry_memory_give(staging);
    return st;
}

/* Receive the message that the probe found: memory first, so that a message is never lost for want
 * of it. */
static ferry_status take_first(ferry_context *ctx, const MPI_Status *probed, int bytes)
{
    const post_head *head = NULL;
    early_message *message = NULL;
    ferry_status st = early_make((size_t)bytes, &message);

    if (st != FERRY_OK)
        return st; /* it stays with MPI */
    st = pmpi_status(PMPI_Recv(message->data, bytes, MPI_BYTE, probed->MPI_SOURCE, probed->MPI_TAG,
                               ctx->stream_comm, MPI_STATUS_IGNORE),
                     "MPI_Recv");
    if (st != FERRY_OK) {
        alloc_free(message);
        return st;
    }
    head = (const post_head *)message->data;
    const size_t whole = (size_t)head->bytes;
    *message = (early_message){.from = probed->MPI_SOURCE,
                               .tag = probed->MPI_TAG,
                               .bytes = whole,
                               .granted_later = whole > STREAM_EAGER};
    memmove(message->data, message->data + sizeof *head, (size_t)bytes - sizeof *head);
    early_add(ctx, message);
    return FERRY_OK;
}

ferry_status post_poll(ferry_context *ctx, int from, int tag, bool *came_out)
{
    int flag = 0, bytes = 0;
    MPI_Status status;
    ferry_status st =
        pmpi_status(PMPI_Iprobe(from < 0 ? MPI_ANY_SOURCE : from, tag < 0 ? MPI_ANY_TAG : tag,
                                ctx->stream_comm, &flag, &status),
                    "MPI_Iprobe");

    *came_out = false;
    if (st != FERRY_OK || !flag)
        return st;
    PMPI_Get_count(&status, MPI_BYTE, &bytes);
    if (bytes < (int)sizeof(post_head) || bytes > (int)sizeof(post_head) + STREAM_EAGER)
        return trouble(
            FERRY_ERR_DELIVERY,
            "rank %d: the first message of a stream from rank %d has %d bytes, expected %zu to %zu",
            ctx->rank, status.MPI_SOURCE, bytes, sizeof(post_head),
            sizeof(post_head) + STREAM_EAGER);
    st = take_first(ctx, &status, bytes);
    *came_out = st == FERRY_OK;
    return st;
}

ferry_status post_fetch(ferry_context *ctx, int from, char *dst, size_t bytes, ferry_status status)
{
    post_answer *const answer = &ctx->engine->streams->answer;
    MPI_Request request = MPI_REQUEST_NULL;

    answer->status = status;
    trouble_copy(answer->text, sizeof answer->text);
    ferry_status st =
        send_bytes(ctx, answer, sizeof *answer, from, CONTEXT_TAG_REPLY, ctx->comm, &request);
    if (st == FERRY_OK)
        st = post_wait(ctx, &request, from, "to take the answer");
    if (st != FERRY_OK)
        return st;
    if (status != FERRY_OK) {
        trouble_keep(answer->text);
        return status;
    }
    for (size_t done = 0; done < bytes && st == FERRY_OK;) {
        const size_t part = size_min(bytes - done, PIECE_BYTES);
        st = pmpi_status(PMPI_Irecv(dst + done, (int)part, MPI_BYTE, from, CONTEXT_TAG_LONG,
                                    ctx->comm, &request),
                         "MPI_Irecv");
        if (st == FERRY_OK)
            st = post_wait(ctx, &request, from, "a piece of its payload");
        done += part;
    }
    return st;
}
