/* Route wire_pack: anywhere that MPI reaches. All edges to one peer travel as one stream of
 * messages, packed piece by piece into staging buffers made when compiled. Every message ends with
 * a trailer that says of which round and which piece it is: what arrives is checked before anything
 * is reported as received. */
#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "route/route.h"

enum {
    PIECE_BYTES = 1 << 20, /* of payload in one message */
    WINDOW = 2, /* messages of one peer and direction under way: one packed while the other flies */
    EAGER_BYTES =
        8 << 10 /* up to here MPI takes a message along at once, and receives are posted first */
};

typedef struct trailer {
    uint64_t round;
    uint32_t channel, piece;
} trailer;

typedef struct wire_edge {
    copy_side *side;
    size_t bytes;
    int buffer;
} wire_edge;

/* One direction to one peer. Piece k lies in buffer k mod WINDOW. */
typedef struct wire_end {
    int peer;
    bool sends;
    size_t edge_count;
    wire_edge *edges;
    size_t total, piece_bytes, pieces; /* of a round */
    size_t posted, ended;              /* pieces handed to MPI; pieces that are through */
    size_t edge, at;                   /* next byte to pack or unpack */
    size_t window, room;               /* buffers, and bytes of one */
    char *buffers;
    MPI_Request requests[WINDOW];
} wire_end;

typedef struct wire_carrier {
    route_carrier head;
    route_bases bases;
    uint32_t channel;
    uint64_t round;
    size_t count;
    wire_end *ends;
} wire_carrier;

static bool can(const ferry_context *ctx, const route_edge *edge)
{
    return edge ? edge->from != edge->to : ctx->size > 1;
}

/* Rows are gathered and scattered as for the ring, and fly in between. */
static route_cost cost(const ferry_context *ctx, const route_edge *edge)
{
    const double packing = route_rows_ns(ctx, edge, TUNE_RING_NARROW, TUNE_RING_WIDE);

    return (route_cost){.start = context_tuned(ctx, TUNE_WIRE_START),
                        .rest = packing + context_tuned(ctx, TUNE_WIRE_BYTE) * (double)edge->bytes};
}

/* ---- Making ---- */

static void drop(route_carrier *carrier)
{
    wire_carrier *const own = (wire_carrier *)carrier;

    if (!own)
        return;
    for (size_t i = 0; own->ends && i < own->count; i++) {
        for (size_t k = 0; k < own->ends[i].edge_count; k++)
            copy_side_drop(own->ends[i].edges[k].side);
        alloc_free(own->ends[i].edges);
        alloc_free(own->ends[i].buffers);
    }
    alloc_free(own->ends);
    alloc_free(own);
}

static wire_end *find_end(wire_carrier *own, int peer, bool sends)
{
    for (size_t i = 0; i < own->count; i++)
        if (own->ends[i].peer == peer && own->ends[i].sends == sends)
            return &own->ends[i];
    wire_end *const end = &own->ends[own->count++];
    *end = (wire_end){.peer = peer, .sends = sends};
    for (size_t i = 0; i < WINDOW; i++)
        end->requests[i] = MPI_REQUEST_NULL;
    return end;
}

static ferry_status add_edge(wire_carrier *own, const route_edge *edge)
{
    const bool sends = edge->from == own->head.ctx->rank;
    wire_end *const end = find_end(own, sends ? edge->to : edge->from, sends);
    ferry_status st = alloc_resize(end->edge_count + 1, sizeof *end->edges, &end->edges);

    if (st != FERRY_OK)
        return st;
    end->edges[end->edge_count] = (wire_edge){.bytes = edge->bytes, .buffer = edge->buffer};
    end->total += edge->bytes;
    return copy_side_make(sends ? edge->source : edge->target, &end->edges[end->edge_count++].side);
}

/* Both ends know the total, so both cut alike. */
static ferry_status take_buffers(wire_end *end)
{
    end->piece_bytes = size_min(end->total, PIECE_BYTES);
    end->pieces = (end->total + end->piece_bytes - 1) / end->piece_bytes;
    end->window = size_min(end->pieces, WINDOW);
    end->room = size_round(end->piece_bytes + sizeof(trailer), 64);
    return alloc_zero(end->window, end->room, &end->buffers);
}

static ferry_status fill(wire_carrier *own, const route_edge *edges, size_t count)
{
    ferry_status st = alloc_zero(count, sizeof *own->ends, &own->ends);

    for (size_t i = 0; i < count && st == FERRY_OK; i++)
        st = add_edge(own, &edges[i]);
    for (size_t i = 0; i < own->count && st == FERRY_OK; i++)
        st = take_buffers(&own->ends[i]);
    return st;
}

static ferry_status make(ferry_context *ctx, const route_edge *edges, size_t count,
                         uint32_t channel, route_carrier **carrier_out)
{
    wire_carrier *own = NULL;
    ferry_status st = alloc_zero(1, sizeof *own, &own);

    if (st == FERRY_OK) {
        own->head.ctx = ctx;
        own->channel = channel;
        st = fill(own, edges, count);
    }
    if (st != FERRY_OK) {
        drop((route_carrier *)own);
        return st;
    }
    *carrier_out = &own->head;
    return FERRY_OK;
}

/* ---- Running ---- */

static size_t piece_payload(const wire_end *end, size_t piece)
{
    return size_min(end->piece_bytes, end->total - piece * end->piece_bytes);
}

static char *buffer_of(const wire_end *end, size_t piece)
{
    return end->buffers + piece % end->window * end->room;
}

/* Pack or unpack the bytes of one piece, edge after edge. */
static void move(wire_carrier *own, wire_end *end, size_t piece)
{
    const size_t payload = piece_payload(end, piece);
    char *const staged = buffer_of(end, piece);

    for (size_t used = 0; used < payload;) {
        const wire_edge *const edge = &end->edges[end->edge];
        const size_t bytes = size_min(edge->bytes - end->at, payload - used);
        if (end->sends)
            copy_pack(edge->side, own->bases.src[edge->buffer], end->at, end->at + bytes,
                      staged + used);
        else
            copy_unpack(edge->side, own->bases.dst[edge->buffer], end->at, end->at + bytes,
                        staged + used);
        used += bytes;
        end->at += bytes;
        if (end->at == edge->bytes) {
            end->edge++;
            end->at = 0;
        }
    }
    own->head.ctx->counters.copied_bytes += payload;
}

static int tag_of(const wire_carrier *own)
{
    return CONTEXT_TAG_ROUND + (int)(own->channel % CONTEXT_TAG_CHANNELS);
}

static ferry_status send_piece(wire_carrier *own, wire_end *end)
{
    const size_t piece = end->posted, payload = piece_payload(end, piece);
    const trailer last = {.round = own->round, .channel = own->channel, .piece = (uint32_t)piece};
    ferry_context *const ctx = own->head.ctx;

    move(own, end, piece);
    memcpy(buffer_of(end, piece) + payload, &last, sizeof last);
    end->posted++;
    ctx->counters.messages++;
    ctx->counters.wire_bytes += payload;
    return pmpi_status(PMPI_Isend(buffer_of(end, piece), (int)(payload + sizeof last), MPI_BYTE,
                                  end->peer, tag_of(own), ctx->comm,
                                  &end->requests[piece % end->window]),
                       "MPI_Isend");
}

static ferry_status receive_piece(wire_carrier *own, wire_end *end)
{
    const size_t piece = end->posted++;

    return pmpi_status(PMPI_Irecv(buffer_of(end, piece),
                                  (int)(piece_payload(end, piece) + sizeof(trailer)), MPI_BYTE,
                                  end->peer, tag_of(own), own->head.ctx->comm,
                                  &end->requests[piece % end->window]),
                       "MPI_Irecv");
}

static ferry_status post_all(wire_carrier *own, bool sends)
{
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < own->count; i++) {
        wire_end *const end = &own->ends[i];
        while (st == FERRY_OK && end->sends == sends && end->posted < end->pieces &&
               end->posted < end->window)
            st = sends ? send_piece(own, end) : receive_piece(own, end);
    }
    return st;
}

/* Two large messages between one pair in opposite directions share a connection's bandwidth only
 * when both sends come before the receives; short ones are better received without being
 * unexpected. */
static ferry_status start(route_carrier *carrier, const route_bases *bases)
{
    wire_carrier *const own = (wire_carrier *)carrier;
    bool large = false;

    own->bases = *bases;
    own->round++;
    for (size_t i = 0; i < own->count; i++) {
        wire_end *const end = &own->ends[i];
        end->posted = end->ended = end->edge = end->at = 0;
        large |= end->sends && end->piece_bytes > EAGER_BYTES;
    }
    const ferry_status st = post_all(own, large);
    return st == FERRY_OK ? post_all(own, !large) : st;
}

static ferry_status check(const wire_carrier *own, const wire_end *end, const MPI_Status *status)
{
    const size_t payload = piece_payload(end, end->ended);
    trailer last;
    int bytes = 0;

    PMPI_Get_count(status, MPI_BYTE, &bytes);
    if ((size_t)bytes != payload + sizeof last)
        return trouble(FERRY_ERR_DELIVERY,
                       "rank %d: a message of %d bytes arrived from rank %d, expected %zu",
                       own->head.ctx->rank, bytes, end->peer, payload + sizeof last);
    memcpy(&last, buffer_of(end, end->ended) + payload, sizeof last);
    if (last.round == own->round && last.channel == own->channel && last.piece == end->ended)
        return FERRY_OK;
    return trouble(FERRY_ERR_DELIVERY,
                   "rank %d: piece %u of round %llu of plan %u arrived from rank %d, expected "
                   "piece %zu of round %llu of plan %u",
                   own->head.ctx->rank, last.piece, (unsigned long long)last.round, last.channel,
                   end->peer, end->ended, (unsigned long long)own->round, own->channel);
}

static ferry_status progress_end(wire_carrier *own, wire_end *end)
{
    while (end->ended < end->pieces) {
        int flag = 0;
        MPI_Status status;
        ferry_status st = pmpi_status(
            PMPI_Test(&end->requests[end->ended % end->window], &flag, &status), "MPI_Test");
        if (st != FERRY_OK || !flag)
            return st;
        if (!end->sends) {
            st = check(own, end, &status);
            if (st != FERRY_OK)
                return st;
            move(own, end, end->ended);
        }
        end->ended++;
        if (end->posted < end->pieces)
            st = end->sends ? send_piece(own, end) : receive_piece(own, end);
        if (st != FERRY_OK)
            return st;
    }
    return FERRY_OK;
}

static ferry_status progress(route_carrier *carrier, bool *done_out)
{
    wire_carrier *const own = (wire_carrier *)carrier;
    bool done = true;

    for (size_t i = 0; i < own->count; i++) {
        const ferry_status st = progress_end(own, &own->ends[i]);
        if (st != FERRY_OK)
            return st;
        done &= own->ends[i].ended == own->ends[i].pieces;
    }
    *done_out = done;
    return FERRY_OK;
}

static void explain(const route_carrier *carrier, text_out *out)
{
    const wire_carrier *const own = (const wire_carrier *)carrier;

    for (size_t i = 0; i < own->count; i++) {
        const wire_end *const end = &own->ends[i];
        text_add(
            out,
            "  wire_pack: %s rank %d, %zu edge%s, %zu bytes in %zu message%s of up to %zu bytes\n",
            end->sends ? "to" : "from", end->peer, end->edge_count, end->edge_count == 1 ? "" : "s",
            end->total, end->pieces, end->pieces == 1 ? "" : "s", end->piece_bytes);
    }
}

static void missing(const route_carrier *carrier, text_out *out)
{
    const wire_carrier *const own = (const wire_carrier *)carrier;

    for (size_t i = 0; i < own->count; i++) {
        const wire_end *const end = &own->ends[i];
        if (end->ended < end->pieces)
            text_add(out, " rank %d (%s it, %zu of %zu messages done)", end->peer,
                     end->sends ? "to" : "from", end->ended, end->pieces);
    }
}

static void account(const route_carrier *carrier, ferry_plan_info *info)
{
    const wire_carrier *const own = (const wire_carrier *)carrier;

    info->private_bytes += sizeof *own;
    for (size_t i = 0; i < own->count; i++) {
        const wire_end *const end = &own->ends[i];
        info->private_bytes += sizeof *end + end->window * end->room;
        info->staging_bytes += end->window * end->room;
        info->messages += end->sends ? end->pieces : 0;
        for (size_t k = 0; k < end->edge_count; k++)
            info->private_bytes += sizeof(wire_edge) + copy_side_memory(end->edges[k].side);
    }
}

const route route_wire_pack = {
    .name = "wire_pack",
    .use = "anywhere: packed into MPI messages",
    .calls_mpi = true,
    .can = can,
    .cost = cost,
    .make = make,
    .start = start,
    .progress = progress,
    .explain = explain,
    .missing = missing,
    .account = account,
    .drop = drop,
};
