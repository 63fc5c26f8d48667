/* Collecting bundles: at one rank, at all, and from all to all. */
#include "base/alloc.h"
#include "bundle/collect.h"

/* --- at one rank --- */

static ferry_status check_gather(const collection *c, const ferry_bundle *part,
                                 ferry_list *const *parts_out)
{
    if (!part || (c->rank == c->root && !parts_out))
        return trouble(FERRY_ERR_ARG, "%s: %s is NULL on rank %d", c->call,
                       part ? "parts_out" : "part", c->rank);
    return FERRY_OK;
}

ferry_status ferry_bundle_gather(ferry_context *ctx, const ferry_bundle *part, int root,
                                 ferry_list **parts_out)
{
    ferry_list *parts = NULL;
    encoding e = {0};
    collection c;
    ferry_status st = collect_make(ctx, COLLECT_GATHER, root, 0, &c);

    if (st != FERRY_OK)
        return st;
    st = check_gather(&c, part, parts_out);
    if (st == FERRY_OK)
        st = c.rank == root ? ferry_list_new(&parts) : move_encode(part, &e);
    st = collect_open(&c, st);
    if (st == FERRY_OK) {
        st = collect_parts(&c, part, &e, parts);
        if (!move_broken(st))
            st = collect_agree(&c, st);
    }
    if (!move_broken(st))
        encoding_drop(&e);
    if (st == FERRY_OK && c.rank == root)
        *parts_out = parts;
    else
        ferry_list_free(parts);
    return st;
}

/* --- one bundle for each rank --- */

typedef struct table {
    ferry_bundle **bundles; /* by rank */
    int size;
    ferry_list *list; /* where they end up */
} table;

static ferry_status table_make(int size, table *t)
{
    const ferry_status st = alloc_zero((size_t)size, sizeof *t->bundles, &t->bundles);

    t->size = size;
    return st == FERRY_OK ? ferry_list_new(&t->list) : st;
}

static void table_drop(table *t)
{
    for (int i = 0; t->bundles && i < t->size; i++)
        ferry_bundle_free(t->bundles[i]);
    alloc_free(t->bundles);
    ferry_list_free(t->list);
}

static ferry_status table_fill_list(table *t)
{
    ferry_status st = FERRY_OK;

    for (int i = 0; i < t->size && st == FERRY_OK; i++) {
        st = ferry_list_append_bundle(t->list, t->bundles[i]);
        if (st == FERRY_OK)
            t->bundles[i] = NULL;
    }
    return st;
}

/* Agree, and hand the list out when all is well. */
static ferry_status finish(const collection *c, table *t, ferry_status st, ferry_list **parts_out)
{
    if (st == FERRY_OK)
        st = table_fill_list(t);
    if (!move_broken(st))
        st = collect_agree(c, st);
    if (st == FERRY_OK) {
        *parts_out = t->list;
        t->list = NULL;
    }
    table_drop(t);
    return st;
}

/* --- at all ranks --- */

/* A broadcast of each rank, also after one that failed. */
static ferry_status bcast_all(const collection *c, encoding *e, ferry_status mine, table *t)
{
    verdict v = {0};

    verdict_add(&v, mine);
    for (int root = 0; root < c->size; root++) {
        ferry_bundle *got = NULL;
        const ferry_status st = collect_bcast(c, root, e, mine, &got);
        if (move_broken(st))
            return st;
        if (t->bundles)
            t->bundles[root] = t->bundles[root] ? t->bundles[root] : got;
        else
            ferry_bundle_free(got);
        verdict_add(&v, st);
    }
    return verdict_end(&v);
}

ferry_status ferry_bundle_allgather(ferry_context *ctx, const ferry_bundle *part,
                                    ferry_list **parts_out)
{
    table t = {0};
    encoding e = {0};
    collection c;
    ferry_status st = collect_make(ctx, COLLECT_ALLGATHER, 0, 0, &c);

    if (st != FERRY_OK)
        return st;
    if (!part || !parts_out)
        st = trouble(FERRY_ERR_ARG, "%s: %s is NULL on rank %d", c.call,
                     part ? "parts_out" : "part", c.rank);
    if (st == FERRY_OK)
        st = table_make(c.size, &t);
    if (st == FERRY_OK)
        st = ferry_bundle_copy(part, &t.bundles[c.rank]);
    if (st == FERRY_OK)
        st = move_encode(part, &e);
    st = bcast_all(&c, &e, st, &t);
    if (!move_broken(st))
        encoding_drop(&e);
    return finish(&c, &t, st, parts_out);
}

/* --- from all to all --- */

static ferry_status check_parts(const collection *c, const ferry_list *parts,
                                ferry_list *const *parts_out)
{
    const ferry_bundle *part;
    ferry_status st = FERRY_OK;

    if (!parts || !parts_out)
        return trouble(FERRY_ERR_ARG, "%s: %s is NULL on rank %d", c->call,
                       parts ? "parts_out" : "parts", c->rank);
    if (ferry_list_count(parts) != (size_t)c->size)
        return trouble(FERRY_ERR_ARG, "%s: parts has %zu elements on rank %d, expected %d", c->call,
                       ferry_list_count(parts), c->rank, c->size);
    for (size_t i = 0; i < (size_t)c->size && st == FERRY_OK; i++)
        st = ferry_list_get_bundle(parts, i, &part);
    return st;
}

/* Send to one rank and receive from another. */
static ferry_status exchange(const collection *c, const ferry_bundle *part, int to, int from,
                             ferry_bundle **got_out)
{
    ferry_bundle *none = NULL;
    arrival a = {.target = &none};
    ferry_stream_request *receipt = NULL;
    encoding e = {0};
    const ferry_status begun =
        ferry_stream_irecv(c->ctx, from, MOVE_TAG, arrival_place, &a, &receipt);
    ferry_status st = begun == FERRY_OK ? move_encode(part, &e) : begun;

    st = collect_send(c, &e, st, to);
    if (move_broken(st))
        return st;
    encoding_drop(&e);
    const notice kept = notice_of(st);
    /* Without memory for a request the peer's message is waited for all the same. */
    const ferry_status received = begun == FERRY_OK
                                      ? arrival_open(&a, ferry_stream_wait(&receipt, NULL), got_out)
                                      : collect_receive(c, from, got_out);
    return collect_first(st, &kept, received);
}

/* In step s each rank sends to the s-th one after it and receives from the s-th one before. */
static ferry_status exchange_all(const collection *c, const ferry_list *parts, table *t)
{
    const ferry_bundle *part = NULL;
    verdict v = {0};

    ferry_list_get_bundle(parts, (size_t)c->rank, &part);
    verdict_add(&v, ferry_bundle_copy(part, &t->bundles[c->rank]));
    for (int step = 1; step < c->size; step++) {
        const int to = (c->rank + step) % c->size, from = (c->rank + c->size - step) % c->size;
        ferry_list_get_bundle(parts, (size_t)to, &part);
        const ferry_status st = exchange(c, part, to, from, &t->bundles[from]);
        if (move_broken(st))
            return st;
        verdict_add(&v, st);
    }
    return verdict_end(&v);
}

ferry_status ferry_bundle_alltoall(ferry_context *ctx, const ferry_list *parts,
                                   ferry_list **parts_out)
{
    table t = {0};
    collection c;
    ferry_status st = collect_make(ctx, COLLECT_ALLTOALL, 0, 0, &c);

    if (st != FERRY_OK)
        return st;
    st = check_parts(&c, parts, parts_out);
    if (st == FERRY_OK)
        st = table_make(c.size, &t);
    st = collect_open(&c, st);
    if (st != FERRY_OK) {
        table_drop(&t);
        return st;
    }
    return finish(&c, &t, exchange_all(&c, parts, &t), parts_out);
}
