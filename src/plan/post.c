/* Streams between ranks that only MPI connects. The payload is one message, sent from where its
 * pieces lie when they are large; the receiver learns its length from a matched probe, so no
 * receive is posted before its length is known. A long message has an answer: both sides fail when
 * the receiver has no place, and then the payload is received and dropped. */
#include <limits.h>
#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "ferry/memory.h"
#include "plan/stream.h"

enum {
    BLOCK_BYTES = 1 << 30, /* of an MPI datatype: it counts with int */
    PACK_BELOW = 16 << 10, /* pieces are smaller on average: packing is cheaper */
    JUNK_BYTES = 1 << 20
};

/* Where payloads go that nobody has a place for. */
static char junk[JUNK_BYTES];

bool post_is_used(const ferry_context *ctx)
{
    return !route_node_allowed(ctx) || ctx->node_size < ctx->size;
}

/* --- one message of any length and any number of pieces --- */

typedef struct block_list {
    int *lengths;
    MPI_Aint *places;
    int count;
} block_list;

static size_t blocks_of(size_t bytes, size_t block_bytes)
{
    return (bytes + block_bytes - 1) / block_bytes;
}

static ferry_status list_make(size_t blocks, block_list *list_out)
{
    block_list list = {NULL, NULL, 0};
    ferry_status st = blocks <= INT_MAX
                          ? FERRY_OK
                          : trouble(FERRY_ERR_LIMIT, "%zu pieces are too many for MPI", blocks);

    if (st == FERRY_OK)
        st = alloc_resize(blocks, sizeof *list.lengths, &list.lengths);
    if (st == FERRY_OK)
        st = alloc_resize(blocks, sizeof *list.places, &list.places);
    if (st == FERRY_OK)
        *list_out = list;
    else
        alloc_free(list.lengths);
    return st;
}

static ferry_status list_add(block_list *list, const char *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += BLOCK_BYTES) {
        const ferry_status st =
            pmpi_status(PMPI_Get_address(data + at, &list->places[list->count]), "MPI_Get_address");
        if (st != FERRY_OK)
            return st;
        list->lengths[list->count++] = (int)size_min(bytes - at, BLOCK_BYTES);
    }
    return FERRY_OK;
}

/* The list as a committed type of absolute addresses; the list is freed. */
static ferry_status list_commit(block_list *list, ferry_status st, MPI_Datatype *type_out)
{
    if (st == FERRY_OK)
        st = pmpi_status(
            PMPI_Type_create_hindexed(list->count, list->lengths, list->places, MPI_BYTE, type_out),
            "MPI_Type_create_hindexed");
    if (st == FERRY_OK)
        st = pmpi_status(PMPI_Type_commit(type_out), "MPI_Type_commit");
    alloc_free(list->lengths);
    alloc_free(list->places);
    return st;
}

static ferry_status type_of_pieces(const stream_reader *source, MPI_Datatype *type_out)
{
    block_list list;
    size_t blocks = 0;

    for (size_t i = 0; i < source->left; i++)
        blocks += blocks_of(source->piece[i].bytes, BLOCK_BYTES);
    ferry_status st = list_make(blocks, &list);
    if (st != FERRY_OK)
        return st;
    for (size_t i = 0; i < source->left && st == FERRY_OK; i++)
        st = list_add(&list, source->piece[i].data, source->piece[i].bytes);
    return list_commit(&list, st, type_out);
}

static ferry_status type_of_memory(char *data, size_t bytes, MPI_Datatype *type_out)
{
    const ferry_piece piece = {data, bytes};

    return type_of_pieces(&(stream_reader){&piece, 1, 0}, type_out);
}

/* All bytes into the same small memory. */
static ferry_status type_of_junk(size_t bytes, MPI_Datatype *type_out)
{
    block_list list;
    ferry_status st = list_make(blocks_of(bytes, JUNK_BYTES), &list);

    if (st != FERRY_OK)
        return st;
    for (size_t at = 0; at < bytes && st == FERRY_OK; at += JUNK_BYTES)
        st = list_add(&list, junk, size_min(bytes - at, JUNK_BYTES));
    return list_commit(&list, st, type_out);
}

/* --- sending --- */

static bool packs(const ferry_stream_request *send)
{
    return send->info.bytes <= STREAM_EAGER ||
           send->info.bytes / (send->source.left + 1) < PACK_BELOW;
}

/* Before the payload leaves, so that the answer never comes unexpected. */
static ferry_status expect_reply(ferry_stream_request *send)
{
    return pmpi_status(PMPI_Irecv(&send->flight.answer, sizeof send->flight.answer, MPI_BYTE,
                                  send->info.from, CONTEXT_TAG_REPLY + send->info.tag,
                                  send->ctx->comm, &send->flight.reply),
                       "MPI_Irecv");
}

/* What goes out: one piece where it lies, packed bytes, or a type over the pieces. */
static ferry_status load(ferry_stream_request *send, const void **data_out, MPI_Datatype *type_out,
                         bool *typed_out)
{
    post_flight *const f = &send->flight;
    ferry_status st;

    *typed_out = false;
    if (send->source.left == 1 && send->info.bytes <= INT_MAX) {
        *data_out = send->source.piece->data;
        return FERRY_OK;
    }
    *typed_out = !packs(send);
    if (*typed_out)
        return type_of_pieces(&send->source, type_out);
    st = ferry_memory_take(send->info.bytes, &f->packed);
    if (st != FERRY_OK)
        return st;
    *data_out = f->packed;
    stream_read(&send->source, f->packed, send->info.bytes);
    send->ctx->counters.copied_bytes += send->info.bytes;
    *typed_out = send->info.bytes > INT_MAX;
    return *typed_out ? type_of_memory(f->packed, send->info.bytes, type_out) : FERRY_OK;
}

ferry_status post_send(ferry_stream_request *send)
{
    ferry_context *const ctx = send->ctx;
    const void *data = NULL;
    MPI_Datatype type = MPI_BYTE;
    bool typed = false;
    ferry_status st = load(send, &data, &type, &typed);

    if (st == FERRY_OK && send->info.bytes > STREAM_EAGER)
        st = expect_reply(send);
    if (st == FERRY_OK)
        st = pmpi_status(PMPI_Isend(typed ? MPI_BOTTOM : data, typed ? 1 : (int)send->info.bytes,
                                    type, send->info.from, send->info.tag, ctx->stream_comm,
                                    &send->flight.payload),
                         "MPI_Isend");
    if (typed && type != MPI_BYTE)
        PMPI_Type_free(&type); /* MPI keeps it as long as it needs it */
    if (st != FERRY_OK)
        return st;
    ctx->counters.messages++;
    ctx->counters.wire_bytes += send->info.bytes;
    queue_add(&ctx->engine->streams->posts, send);
    return FERRY_OK;
}

/* --- receiving --- */

static ferry_status reply(ferry_stream_request *receive)
{
    post_answer *const answer = &receive->flight.answer;

    answer->status = receive->status;
    trouble_copy(answer->text, sizeof answer->text);
    receive->ctx->counters.messages++;
    return pmpi_status(PMPI_Isend(answer, sizeof *answer, MPI_BYTE, receive->info.from,
                                  CONTEXT_TAG_REPLY + receive->info.tag, receive->ctx->comm,
                                  &receive->flight.reply),
                       "MPI_Isend");
}

static ferry_status receive_payload(ferry_stream_request *receive, MPI_Message message)
{
    const size_t bytes = receive->info.bytes;
    const bool dropped = receive->status != FERRY_OK,
               plain = bytes <= (dropped ? JUNK_BYTES : INT_MAX);
    MPI_Datatype type = MPI_BYTE;
    ferry_status st = FERRY_OK;

    if (!plain)
        st = dropped ? type_of_junk(bytes, &type) : type_of_memory(receive->data, bytes, &type);
    if (st == FERRY_OK)
        st = pmpi_status(PMPI_Imrecv(plain ? dropped ? junk : receive->data : MPI_BOTTOM,
                                     plain ? (int)bytes : 1, type, &message,
                                     &receive->flight.payload),
                         "MPI_Imrecv");
    if (!plain && type != MPI_BYTE)
        PMPI_Type_free(&type);
    return st;
}

ferry_status post_met(ferry_stream_request *receive, MPI_Message message)
{
    ferry_status st = FERRY_OK;

    receive->status = request_place(receive);
    if (receive->status != FERRY_OK)
        trouble_copy(receive->text, sizeof receive->text);
    if (receive->info.bytes > STREAM_EAGER)
        st = reply(receive);
    if (st == FERRY_OK)
        st = receive_payload(receive, message);
    if (st == FERRY_OK)
        queue_add(&receive->ctx->engine->streams->posts, receive);
    return st;
}

/* --- looking --- */

/* The next message that MPI has, and that nobody has met. */
static ferry_status look(ferry_context *ctx, bool *came_out)
{
    struct stream_state *const s = ctx->engine->streams;
    stream_arrival arrival = {.how = ARRIVED_WIRE};
    MPI_Status status;
    MPI_Count bytes = 0;
    int flag = 0;

    *came_out = false;
    if (!stream_has_spare(s))
        return FERRY_OK; /* no memory to keep it: it stays with MPI */
    ferry_status st = pmpi_status(PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, ctx->stream_comm, &flag,
                                               &arrival.message, &status),
                                  "MPI_Improbe");
    if (st != FERRY_OK || !flag)
        return st;
    st = pmpi_status(PMPI_Get_elements_x(&status, MPI_BYTE, &bytes), "MPI_Get_elements_x");
    if (st != FERRY_OK)
        return st;
    arrival.info = (ferry_stream_info){status.MPI_SOURCE, status.MPI_TAG, (size_t)bytes};
    *came_out = true;
    return stream_arrived_by_wire(ctx, &arrival);
}

/* End a request whose messages are through. */
static void land(ferry_stream_request *r)
{
    ferry_status st = r->status;

    if (r->kind == STREAM_SEND) {
        ferry_memory_give(r->flight.packed);
        r->flight.packed = NULL;
        st = (ferry_status)r->flight.answer.status; /* 0 where there is none */
        r->flight.answer.text[sizeof r->flight.answer.text - 1] = '\0';
        trouble_keep(r->flight.answer.text);
    } else if (st != FERRY_OK) {
        trouble_keep(r->text);
    }
    request_end(r, st);
}

static ferry_status test(ferry_stream_request *r, bool *through_out)
{
    int payload = 0, reply_through = 0;
    ferry_status st =
        pmpi_status(PMPI_Test(&r->flight.payload, &payload, MPI_STATUS_IGNORE), "MPI_Test");

    if (st == FERRY_OK)
        st =
            pmpi_status(PMPI_Test(&r->flight.reply, &reply_through, MPI_STATUS_IGNORE), "MPI_Test");
    *through_out = payload && reply_through;
    return st;
}

ferry_status post_progress(ferry_context *ctx)
{
    struct stream_state *const s = ctx->engine->streams;
    bool came = post_is_used(ctx), through = false;
    ferry_status st = FERRY_OK;

    for (ferry_stream_request **link = &s->posts.first; *link && st == FERRY_OK;) {
        st = test(*link, &through);
        if (st == FERRY_OK && through)
            land(queue_take(&s->posts, link));
        else
            link = &(*link)->next;
    }
    while (came && st == FERRY_OK)
        st = look(ctx, &came);
    return st;
}

ferry_status post_take(MPI_Message message, char *data, size_t bytes)
{
    return pmpi_status(PMPI_Mrecv(data, (int)bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE),
                       "MPI_Mrecv");
}

void post_discard(stream_arrival *arrival)
{
    if (arrival->info.bytes <= STREAM_EAGER && !pmpi_finalized()) /* others are still waiting */
        PMPI_Mrecv(junk, (int)arrival->info.bytes, MPI_BYTE, &arrival->message, MPI_STATUS_IGNORE);
}
