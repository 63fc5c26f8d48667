/* Beginnings, ends and messages of collective calls; see collect.h. */
#include "bundle/collect.h"

static const char *const names[] = {
#define X(word, name) [COLLECT_##word] = name,
    COLLECT_CALLS(X)
#undef X
};

ferry_status collect_make(ferry_context *ctx, collect_call call, int root, int what,
                          collection *collection_out)
{
    ferry_context_info me;
    const ferry_status st = ferry_context_describe(ctx, &me);

    if (st != FERRY_OK)
        return st;
    *collection_out = (collection){ctx, call, names[call], root, what, me.rank, me.size};
    return FERRY_OK;
}

ferry_status collect_first(ferry_status first, const notice *text, ferry_status second)
{
    if (first == FERRY_OK || move_broken(second))
        return second;
    trouble_keep(text->text);
    return first;
}

void verdict_add(verdict *v, ferry_status status)
{
    if (v->status != FERRY_OK || status == FERRY_OK)
        return;
    v->status = status;
    v->text = notice_of(status);
}

ferry_status verdict_end(const verdict *v)
{
    if (v->status != FERRY_OK)
        trouble_keep(v->text.text);
    return v->status;
}

/* --- beginnings: the length of the broadcast tells the call and the operation, so that ranks can
 * refuse it before it moves --- */

enum { WHATS = 64, CALLS = sizeof names / sizeof *names, OPENING_BYTES = WHATS * (CALLS + 1) };

static size_t opening_bytes(const collection *c)
{
    const int what = c->what >= 0 && c->what < WHATS ? c->what : WHATS - 1; /* refused anyway */

    return (size_t)(WHATS * (c->number + 1) + what);
}

/* One rank in a beginning or an end. */
typedef struct moment {
    const collection *c;
    ferry_status mine;
    const notice *text; /* of `mine` */
    size_t bytes;
    union {
        char zeros[OPENING_BYTES];
        notice notice;
    };
} moment;

static ferry_status place_opening(void *user, size_t bytes, void **data_out)
{
    moment *const m = user;
    const collection *const c = m->c;
    const size_t call = bytes / WHATS - 1;

    if (m->mine != FERRY_OK) {
        trouble_keep(m->text->text);
        return m->mine;
    }
    if (bytes < WHATS || call >= CALLS)
        return trouble(FERRY_ERR_ARG, "rank %d is in %s, rank %d in another broadcast", c->rank,
                       c->call, c->root);
    if (call != (size_t)c->number)
        return trouble(FERRY_ERR_ARG, "rank %d is in %s, rank %d in %s", c->rank, c->call, c->root,
                       names[call]);
    if (bytes != opening_bytes(c))
        return trouble(FERRY_ERR_ARG, "%s: the operation is %d on rank %d, but %zu on rank %d",
                       c->call, c->what, c->rank, bytes % WHATS, c->root);
    m->bytes = bytes;
    *data_out = m->zeros;
    return FERRY_OK;
}

/* A root that has failed gives a notice instead. */
static ferry_status tell(const collection *c, ferry_status mine, const notice *text, size_t bytes)
{
    static const char zeros[OPENING_BYTES];
    const ferry_piece piece =
        mine == FERRY_OK ? (ferry_piece){zeros, bytes} : (ferry_piece){text, sizeof *text};
    const ferry_status st = ferry_stream_bcast(
        c->ctx, &(ferry_stream_cast){.root = c->root, .pieces = &piece, .count = 1});

    if (st != FERRY_OK || mine == FERRY_OK)
        return st;
    trouble_keep(text->text);
    return mine;
}

static ferry_status listen(moment *m, ferry_stream_place *place)
{
    const ferry_status st = ferry_stream_bcast(
        m->c->ctx, &(ferry_stream_cast){.root = m->c->root, .place = place, .user = m});

    return st == FERRY_OK && m->bytes == sizeof m->notice ? notice_read(&m->notice) : st;
}

/* Notices are told from the rest by their length. */
_Static_assert(sizeof(notice) % WHATS > FERRY_BUNDLE_LISTS, "no operation has this number");

static ferry_status place_either(void *user, size_t bytes, void **data_out)
{
    moment *const m = user;

    if (bytes == sizeof m->notice && m->mine == FERRY_OK) {
        m->bytes = bytes;
        *data_out = &m->notice;
        return FERRY_OK;
    }
    return place_opening(user, bytes, data_out);
}

ferry_status collect_open(const collection *c, ferry_status mine)
{
    const notice text = notice_of(mine);
    moment m = {.c = c, .mine = mine, .text = &text};

    return c->rank == c->root ? tell(c, mine, &text, opening_bytes(c)) : listen(&m, place_either);
}

/* --- ends --- */

static ferry_status place_end(void *user, size_t bytes, void **data_out)
{
    moment *const m = user;

    if (m->mine != FERRY_OK) {
        trouble_keep(m->text->text);
        return m->mine;
    }
    if (bytes > sizeof m->zeros)
        return trouble(FERRY_ERR_ARG, "rank %d is in %s, rank %d in another broadcast", m->c->rank,
                       m->c->call, m->c->root);
    m->bytes = bytes;
    *data_out = m->zeros;
    return FERRY_OK;
}

ferry_status collect_agree(const collection *c, ferry_status mine)
{
    const notice text = notice_of(mine);
    moment m = {.c = c, .mine = mine, .text = &text};

    return c->rank == c->root ? tell(c, mine, &text, 1) : listen(&m, place_end);
}

/* --- messages --- */

ferry_status collect_send(const collection *c, const encoding *e, ferry_status st, int to)
{
    bool started = false;

    if (st == FERRY_OK)
        st = move_send(c->ctx, e, to, MOVE_TAG, &started);
    if (started || move_broken(st))
        return st;
    const notice said = notice_of(st);
    const ferry_piece instead = {&said, sizeof said}; /* short, in one piece: takes no memory */
    return collect_first(st, &said, ferry_stream_send(c->ctx, &instead, 1, to, MOVE_TAG));
}

ferry_status collect_receive(const collection *c, int from, ferry_bundle **bundle_out)
{
    ferry_bundle *none = NULL;
    arrival a = {.target = &none};
    const ferry_status st = ferry_stream_recv(c->ctx, from, MOVE_TAG, arrival_place, &a, NULL);

    return arrival_open(&a, st, bundle_out);
}

ferry_status collect_bcast(const collection *c, int root, encoding *e, ferry_status st,
                           ferry_bundle **bundle_out)
{
    ferry_bundle *none = NULL;
    arrival a = {.target = &none};

    if (c->rank != root) {
        st = share_take(c->ctx, root, arrival_place, &a);
        return arrival_settled(&a, st, bundle_out);
    }
    const notice said = notice_of(st);
    const ferry_piece instead = {&said, sizeof said};
    const ferry_status sent =
        st == FERRY_OK
            ? share_give(c->ctx, root, e)
            : ferry_stream_bcast(c->ctx, &(ferry_stream_cast){.root = root,
                                                              .pieces = &instead,
                                                              .count = 1,
                                                              .check = share_check(c->ctx)});
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
    verdict v = {0};

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
        verdict_add(&v, st);
    }
    return verdict_end(&v);
}
