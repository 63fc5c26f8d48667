/* Parcels between ranks that do not know of each other: lengths travel by the sparse exchange,
 * which tells every rank who will write to it, then the bytes. All memory is taken before anybody
 * waits for anything, so that all ranks succeed or all fail. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "context/context.h"

enum { PIECE = 1 << 30, ALIGNMENT = 16 };

typedef struct swap {
    pmpi_number *told, *got; /* lengths */
    size_t got_count;
    MPI_Request *asked;    /* of the exchange of lengths */
    MPI_Request *requests; /* of the pieces, both ways */
    size_t request_count;
    ferry_parcel *parcels; /* that come; their data lies behind */
} swap;

static ferry_status check(const ferry_context *ctx, const ferry_parcel *parcels, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const ferry_parcel *const p = &parcels[i];
        const int least = i > 0 ? parcels[i - 1].rank + 1 : 0;
        if (p->rank < least || p->rank >= ctx->size)
            return trouble(FERRY_ERR_ARG,
                           "ferry_context_swap: parcels[%zu] goes to rank %d on rank %d, expected "
                           "%d..%d, in increasing order",
                           i, p->rank, ctx->rank, least, ctx->size - 1);
        if (!p->data && p->bytes > 0)
            return trouble(FERRY_ERR_ARG,
                           "ferry_context_swap: parcels[%zu].data is NULL on rank %d, expected %zu "
                           "bytes",
                           i, ctx->rank, p->bytes);
    }
    return FERRY_OK;
}

static ferry_status prepare(const ferry_context *ctx, const ferry_parcel *parcels, size_t count,
                            swap *s)
{
    if (!parcels && count)
        return trouble(FERRY_ERR_ARG,
                       "ferry_context_swap: parcels is NULL on rank %d, count is %zu", ctx->rank,
                       count);
    ferry_status st = check(ctx, parcels, count);
    if (st == FERRY_OK)
        st = alloc_zero(count, sizeof *s->told, &s->told);
    if (st == FERRY_OK)
        st = alloc_zero(count, sizeof *s->asked, &s->asked);
    if (st == FERRY_OK)
        st = alloc_zero((size_t)ctx->size, sizeof *s->got, &s->got);
    for (size_t i = 0; i < count && st == FERRY_OK; i++)
        s->told[i] = (pmpi_number){.rank = parcels[i].rank, .value = parcels[i].bytes};
    return st;
}

static size_t pieces_of(size_t bytes)
{
    return (bytes + PIECE - 1) / PIECE;
}

static int by_rank(const void *a, const void *b)
{
    return ((const pmpi_number *)a)->rank - ((const pmpi_number *)b)->rank;
}

/* Room for what will come, and for all requests. */
static ferry_status take(const ferry_parcel *parcels, size_t count, swap *s)
{
    size_t bytes = size_round(s->got_count * sizeof *s->parcels, ALIGNMENT), requests = 0;

    if (s->got_count)
        qsort(s->got, s->got_count, sizeof *s->got, by_rank);
    for (size_t i = 0; i < count; i++)
        requests += pieces_of(parcels[i].bytes);
    for (size_t i = 0; i < s->got_count; i++) {
        requests += pieces_of(s->got[i].value);
        if (!size_add(bytes, s->got[i].value + ALIGNMENT, &bytes))
            return trouble(FERRY_ERR_MEMORY, "ferry_context_swap: parcels of more than 2^64 bytes");
    }
    ferry_status st = alloc_zero(requests, sizeof *s->requests, &s->requests);
    if (st == FERRY_OK)
        st = alloc_zero(1, bytes, &s->parcels);
    char *at = (char *)s->parcels + size_round(s->got_count * sizeof *s->parcels, ALIGNMENT);
    for (size_t i = 0; i < s->got_count && st == FERRY_OK; i++) {
        s->parcels[i] = (ferry_parcel){s->got[i].rank, s->got[i].value, at};
        at += size_round(s->got[i].value, ALIGNMENT);
    }
    return st;
}

static ferry_status post(const ferry_context *ctx, const ferry_parcel *p, bool sends, swap *s)
{
    ferry_status st = FERRY_OK;

    for (size_t from = 0; from < p->bytes && st == FERRY_OK; from += PIECE) {
        char *const at = (char *)p->data + from; /* sending only reads */
        const int bytes = (int)size_min(p->bytes - from, PIECE);
        MPI_Request *const request = &s->requests[s->request_count];
        st = sends ? pmpi_status(PMPI_Isend(at, bytes, MPI_BYTE, p->rank, CONTEXT_TAG_PARCEL,
                                            ctx->comm, request),
                                 "MPI_Isend")
                   : pmpi_status(PMPI_Irecv(at, bytes, MPI_BYTE, p->rank, CONTEXT_TAG_PARCEL,
                                            ctx->comm, request),
                                 "MPI_Irecv");
        s->request_count += st == FERRY_OK;
    }
    return st;
}

static ferry_status move(ferry_context *ctx, const ferry_parcel *parcels, size_t count, swap *s)
{
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < s->got_count && st == FERRY_OK; i++)
        st = post(ctx, &s->parcels[i], false, s);
    for (size_t i = 0; i < count && st == FERRY_OK; i++)
        st = post(ctx, &parcels[i], true, s);
    for (size_t i = 0; i < s->request_count && st == FERRY_OK; i++)
        st = context_complete(ctx, &s->requests[i], "MPI_Test");
    return st;
}

ferry_status ferry_context_swap(ferry_context *ctx, const ferry_parcel *parcels, size_t count,
                                ferry_parcel **got_out, size_t *count_out)
{
    swap s = {0};
    ferry_status st = context_usable(ctx, "ferry_context_swap");

    if (st != FERRY_OK)
        return st;
    const pmpi_place where = {
        .comm = ctx->comm, .tag = CONTEXT_TAG_SWAP, .idle = context_idle, .user = ctx};
    st = got_out && count_out ? prepare(ctx, parcels, count, &s)
                              : trouble(FERRY_ERR_ARG, "ferry_context_swap: %s is NULL on rank %d",
                                        got_out ? "count_out" : "got_out", ctx->rank);
    st = context_agree(ctx, st);
    if (st != FERRY_OK)
        goto out;
    context_wait_begin(ctx, "ferry_context_swap");
    st = pmpi_exchange(&where, s.told, count, s.asked, s.got, (size_t)ctx->size, &s.got_count);
    if (st == FERRY_OK)
        st = context_agree(ctx, take(parcels, count, &s));
    if (st != FERRY_OK)
        goto out;
    st = move(ctx, parcels, count, &s);
    if (st != FERRY_OK) { /* MPI may still write into what comes */
        st = context_break(ctx, st);
        s.parcels = NULL;
        goto out;
    }
    *got_out = s.parcels;
    *count_out = s.got_count;
    s.parcels = NULL;
out:
    context_release(ctx, s.told);
    alloc_free(s.asked);
    alloc_free(s.got);
    alloc_free(s.requests);
    alloc_free(s.parcels);
    return st;
}

void ferry_parcels_free(ferry_parcel *parcels)
{
    alloc_free(parcels);
}
