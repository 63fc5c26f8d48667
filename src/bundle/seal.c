/* Bundles in sealed memory: the image is made there once; who receives it maps the same pages and
 * decodes them in place. The root's tree is compared with the image before each broadcast, since
 * values may have been set in it. */
#include <string.h>

#include "bundle/collect.h"
#include "ferry/memory.h"

static void give_sealed(void *user, void *block)
{
    (void)block;
    ferry_sealed_free(user);
}

/* Make a bundle of an image in sealed memory, which it owns on success. */
static ferry_status decode(ferry_sealed *sealed, const void *data, size_t bytes,
                           ferry_bundle **bundle_out)
{
    image_store store = {.block = (void *)data,
                         .bytes = bytes,
                         .give = give_sealed,
                         .user = sealed,
                         .read_only = true};

    return image_decode_store(&store, bundle_out);
}

/* --- sealing --- */

static ferry_status write_sealed(const encoding *e, ferry_sealed **sealed_out,
                                 const void **data_out)
{
    ferry_sealed *sealed;
    void *data;
    ferry_status st = ferry_sealed_create(e->total, &sealed, &data);

    if (st != FERRY_OK)
        return st;
    char *at = data;
    for (size_t i = 0; i < e->count; i++) {
        memcpy(at, e->pieces[i].data, e->pieces[i].bytes);
        at += e->pieces[i].bytes;
    }
    st = ferry_sealed_close(sealed, data_out);
    if (st == FERRY_OK)
        *sealed_out = sealed;
    else
        ferry_sealed_free(sealed);
    return st;
}

ferry_status ferry_bundle_seal(const ferry_bundle *bundle, ferry_bundle **sealed_out)
{
    ferry_sealed *sealed = NULL;
    const void *data = NULL;
    encoding e;

    if (!bundle || !sealed_out)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_seal: %s is NULL",
                       bundle ? "sealed_out" : "bundle");
    ferry_status st = encoding_make(&bundle->tree, &e);
    if (st != FERRY_OK)
        return st;
    st = write_sealed(&e, &sealed, &data);
    if (st == FERRY_OK) {
        st = decode(sealed, data, e.total, sealed_out);
        if (st != FERRY_OK)
            ferry_sealed_free(sealed);
    }
    encoding_drop(&e);
    return st;
}

/* --- broadcast --- */

/* What the root tells. */
typedef struct news {
    bool sealed;
    int node; /* of the root */
    ferry_ticket ticket;
} news;

/* Where it goes: news, or a notice; and the bundle that was found by them. */
typedef struct letter {
    ferry_bundle *const *target;
    union {
        news news;
        notice notice;
    };
    size_t bytes;
    int node; /* of this rank */
    ferry_bundle *found;
} letter;

static ferry_status place_letter(void *user, size_t bytes, void **data_out)
{
    letter *const l = user;
    const arrival a = {.target = (ferry_bundle **)l->target};
    const ferry_status st = arrival_check(&a);

    if (st != FERRY_OK)
        return st;
    if (bytes != sizeof l->news && bytes != sizeof l->notice)
        return trouble(FERRY_ERR_ARG, "ranks are in different collective calls");
    l->bytes = bytes;
    *data_out = &l->news;
    return FERRY_OK;
}

_Static_assert(sizeof(news) != sizeof(notice), "they are told apart by their lengths");

/* The image holds what the encoding says: no value has been set since it was made. Most pieces lie
 * in it themselves. */
static bool is_unchanged(const arena *held, const encoding *e)
{
    const char *at = held->block;

    if (e->total != held->bytes)
        return false;
    for (size_t i = 0; i < e->count; i++) {
        const ferry_piece *const p = &e->pieces[i];
        if (p->data != at && memcmp(p->data, at, p->bytes) != 0)
            return false;
        at += p->bytes;
    }
    return true;
}

/* Sealed memory of another process cannot be offered: an ordinary broadcast serves. */
static bool offer(const ferry_bundle *bundle, const encoding *e, ferry_ticket *ticket)
{
    const arena *const held = bundle->tree.arena;

    return held && held->give == give_sealed && is_unchanged(held, e) &&
           ferry_sealed_offer(held->user, ticket) == FERRY_OK;
}

static ferry_status take_sealed(const news *said, int node, ferry_bundle **bundle_out)
{
    ferry_sealed *sealed;
    const void *data;

    if (said->node != node)
        return FERRY_ERR_ROUTE;
    ferry_status st = ferry_sealed_open(&said->ticket, &sealed, &data);
    if (st != FERRY_OK)
        return st;
    st = decode(sealed, data, said->ticket.bytes, bundle_out);
    if (st != FERRY_OK)
        ferry_sealed_free(sealed);
    return st;
}

/* Before anybody is told that the news have come: when one rank cannot reach the memory, all hear
 * of it, and the bundle goes the ordinary way. */
static ferry_status open_letter(void *user)
{
    letter *const l = user;

    if (l->bytes == sizeof l->notice || !l->news.sealed)
        return FERRY_OK;
    return take_sealed(&l->news, l->node, &l->found) == FERRY_OK
               ? FERRY_OK
               : trouble(FERRY_ERR_ROUTE, "the root's memory is out of reach");
}

static ferry_status tell(const collection *c, const news *said, ferry_status st)
{
    const notice why = notice_of(st);
    const ferry_piece good = {said, sizeof *said}, bad = {&why, sizeof why};
    const ferry_status sent =
        ferry_stream_bcast(c->ctx, &(ferry_stream_cast){.root = c->root,
                                                        .pieces = st == FERRY_OK ? &good : &bad,
                                                        .count = 1,
                                                        .check = open_letter});

    return collect_first(st, &why, sent);
}

static ferry_status give(const collection *c, ferry_bundle **bundle, int node)
{
    news said = {.node = node};
    encoding e = {0};
    ferry_bundle *unused;
    ferry_status st = move_check_root(bundle, c->root);

    if (st == FERRY_OK)
        st = encoding_make(&(*bundle)->tree, &e);
    if (st == FERRY_OK) {
        said.sealed = offer(*bundle, &e, &said.ticket);
        encoding_add_tail(&e);
    }
    st = tell(c, &said, st);
    if (st == FERRY_ERR_ROUTE || (st == FERRY_OK && !said.sealed))
        st = collect_bcast(c, c->root, &e, FERRY_OK, &unused);
    if (!move_broken(st))
        encoding_drop(&e);
    return st;
}

static ferry_status take(const collection *c, ferry_bundle **bundle_inout, int node)
{
    letter l = {.target = bundle_inout, .node = node};
    ferry_status st = ferry_stream_bcast(
        c->ctx, &(ferry_stream_cast){
                    .root = c->root, .place = place_letter, .check = open_letter, .user = &l});

    if (st == FERRY_OK && l.bytes == sizeof l.notice)
        st = notice_read(&l.notice);
    if (st != FERRY_OK) {
        ferry_bundle_free(l.found);
        l.found = NULL;
    }
    if (st == FERRY_ERR_ROUTE || (st == FERRY_OK && !l.found))
        st = collect_bcast(c, c->root, NULL, FERRY_OK, &l.found);
    if (st != FERRY_OK)
        return st;
    ferry_bundle_free(*bundle_inout);
    *bundle_inout = l.found;
    return FERRY_OK;
}

ferry_status ferry_bundle_bcast_sealed(ferry_context *ctx, ferry_bundle **bundle_inout, int root)
{
    ferry_context_info me;
    collection c;
    ferry_status st = collect_make(ctx, COLLECT_BCAST_SEALED, root, 0, &c);

    if (st == FERRY_OK)
        st = ferry_context_describe(ctx, &me);
    if (st != FERRY_OK)
        return st;
    return me.rank == root ? give(&c, bundle_inout, me.node) : take(&c, bundle_inout, me.node);
}
