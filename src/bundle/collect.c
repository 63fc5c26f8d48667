/* Beginnings, ends and messages of collective calls; see collect.h. */
#include "bundle/collect.h"

#include <stdio.h>
#include <string.h>

enum { NOTICE_TRIES = 100 };

/* What the root says first. */
typedef struct opening {
    char call[40];
    int32_t what;
} opening;

typedef struct opening_place {
    opening said;
    size_t bytes;
} opening_place;

ferry_status collect_make(ferry_context *ctx, const char *call, int root, int what,
                          collection *collection_out)
{
    ferry_context_info me;
    const ferry_status st = ferry_context_describe(ctx, &me);

    if (st != FERRY_OK)
        return st;
    *collection_out = (collection){ctx, call, root, what, me.rank, me.size};
    return FERRY_OK;
}

static ferry_status place_opening(void *user, size_t bytes, void **data_out)
{
    opening_place *const place = user;

    if (bytes != sizeof place->said)
        return trouble(FERRY_ERR_ARG, "ranks are in different collective calls");
    *data_out = &place->said;
    return FERRY_OK;
}

/* The root and this rank are in the same call with the same operation. */
static ferry_status check_opening(const collection *c, const opening *mine, opening *roots)
{
    roots->call[sizeof roots->call - 1] = '\0';
    if (strcmp(roots->call, mine->call) != 0)
        return trouble(FERRY_ERR_ARG, "rank %d is in %s, rank %d in %s", c->rank, mine->call,
                       c->root, roots->call);
    if (roots->what != mine->what)
        return trouble(FERRY_ERR_ARG, "%s: the operation is %d on rank %d, but %d on rank %d",
                       c->call, mine->what, c->rank, roots->what, c->root);
    return FERRY_OK;
}

ferry_status collect_first(ferry_status first, const notice *text, ferry_status second)
{
    if (first == FERRY_OK || move_broken(second))
        return second;
    trouble_keep(text->text);
    return first;
}

ferry_status collect_open(const collection *c, ferry_status mine)
{
    const notice kept = notice_of(mine);
    opening head = {.what = c->what};
    opening_place place;

    snprintf(head.call, sizeof head.call, "%s", c->call);
    place.said = head;
    const ferry_piece piece = {&head, sizeof head};
    ferry_status st = move_bcast(c->ctx, &piece, 1, c->root, place_opening, &place);
    if (move_broken(st))
        return st;
    if (st == FERRY_OK)
        st = check_opening(c, &head, &place.said);
    return ferry_context_agree(c->ctx, collect_first(mine, &kept, st));
}

ferry_status collect_send(const collection *c, const encoding *e, ferry_status st, int to)
{
    bool started = false;

    if (st == FERRY_OK)
        st = move_send(c->ctx, e, to, MOVE_TAG, &started);
    if (started || move_broken(st))
        return st;
    const notice said = notice_of(st);
    ferry_piece piece = {&said, sizeof said};
    const encoding instead = {.pieces = &piece, .count = 1, .total = sizeof said};
    ferry_status sent = FERRY_OK;
    for (int i = 0; i < NOTICE_TRIES && !started; i++)
        sent = move_send(c->ctx, &instead, to, MOVE_TAG, &started);
    return collect_first(st, &said, sent);
}

ferry_status collect_receive(const collection *c, int from, ferry_bundle **bundle_out)
{
    ferry_bundle *none = NULL;
    arrival a = {.target = &none};
    const ferry_status st = move_receive(c->ctx, from, MOVE_TAG, &a);

    return arrival_open(&a, st, bundle_out);
}

ferry_status collect_bcast(const collection *c, int root, const encoding *e, ferry_status st,
                           ferry_bundle **bundle_out)
{
    ferry_bundle *none = NULL;
    arrival a = {.target = &none};

    if (c->rank != root) {
        st = move_bcast(c->ctx, NULL, 0, root, arrival_place, &a);
        return arrival_open(&a, st, bundle_out);
    }
    const notice said = notice_of(st);
    const ferry_piece instead = {&said, sizeof said};
    const ferry_status sent = st == FERRY_OK
                                  ? move_bcast(c->ctx, e->pieces, e->count, root, NULL, NULL)
                                  : move_bcast(c->ctx, &instead, 1, root, NULL, NULL);
    return collect_first(st, &said, sent);
}

/* Put a bundle into the list, or free it. */
static ferry_status add(ferry_list *parts, ferry_bundle *bundle)
{
    const ferry_status st = ferry_list_append_bundle(parts, bundle);

    if (st != FERRY_OK)
        ferry_bundle_free(bundle);
    return st;
}

ferry_status collect_parts(const collection *c, const ferry_bundle *part, const encoding *e,
                           ferry_list *parts)
{
    ferry_status first = FERRY_OK;
    notice kept = notice_of(FERRY_OK);

    if (c->rank != c->root)
        return collect_send(c, e, FERRY_OK, c->root);
    for (int from = 0; from < c->size; from++) { /* also those that come after a failure */
        ferry_bundle *got;
        ferry_status st =
            from == c->root ? ferry_bundle_copy(part, &got) : collect_receive(c, from, &got);
        if (move_broken(st))
            return st;
        if (st == FERRY_OK)
            st = add(parts, got);
        if (first == FERRY_OK && st != FERRY_OK) {
            first = st;
            kept = notice_of(st);
        }
    }
    return collect_first(first, &kept, FERRY_OK);
}
