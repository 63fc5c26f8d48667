/* Two ends of an edge find each other: every rank tells each peer it names what it gives and takes;
 * both sides compare. Nothing here grows with the number of ranks. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "layout/layout.h"
#include "plan/plan.h"

/* One edge in a message; its flat layout follows, padded to 8 bytes. */
typedef struct note {
    int32_t from, to, tag, padding;
    uint64_t elements, element, bytes, flat_bytes;
} note;

/* My edges in the order of peer, direction, tag, and place in the list. */
typedef struct sorted_edge {
    const ferry_edge *edge;
    int peer;
    bool outgoing;
    size_t place;
} sorted_edge;

static int compare_ints(int a, int b)
{
    return (a > b) - (a < b);
}

static int by_peer(const void *a, const void *b)
{
    const sorted_edge *const x = a, *const y = b;
    int order = compare_ints(x->peer, y->peer);

    if (!order)
        order = compare_ints(x->outgoing, y->outgoing);
    if (!order)
        order = compare_ints(x->edge->tag, y->edge->tag);
    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static const ferry_layout *my_layout(const sorted_edge *s)
{
    return s->outgoing ? s->edge->source : s->edge->target;
}

/* ---- Checking what the caller gave ---- */

static ferry_status check_layouts(const ferry_edge *e, size_t i, int rank)
{
    if (e->from == rank && !e->source)
        return trouble(
            FERRY_ERR_ARG,
            "edges[%zu] (%d -> %d, tag %d): source is NULL on rank %d, which gives the block", i,
            e->from, e->to, e->tag, rank);
    if (e->to == rank && !e->target)
        return trouble(
            FERRY_ERR_ARG,
            "edges[%zu] (%d -> %d, tag %d): target is NULL on rank %d, which receives the block", i,
            e->from, e->to, e->tag, rank);
    if (e->to == rank && layout_overlaps_itself(e->target))
        return trouble(
            FERRY_ERR_ARG,
            "edges[%zu] (%d -> %d, tag %d): the target on rank %d has elements that share bytes", i,
            e->from, e->to, e->tag, rank);
    return FERRY_OK;
}

static ferry_status check_edge(const ferry_context *ctx, const ferry_edge *e, size_t i)
{
    if (e->size != sizeof *e)
        return trouble(
            FERRY_ERR_ARG,
            "edges[%zu].size is %zu on rank %d, expected %zu: start from FERRY_EDGE_INIT", i,
            e->size, ctx->rank, sizeof *e);
    if (e->from < 0 || e->from >= ctx->size || e->to < 0 || e->to >= ctx->size)
        return trouble(FERRY_ERR_ARG,
                       "edges[%zu] goes from rank %d to rank %d on rank %d, expected ranks 0 to %d",
                       i, e->from, e->to, ctx->rank, ctx->size - 1);
    if (e->from != ctx->rank && e->to != ctx->rank)
        return trouble(FERRY_ERR_ARG,
                       "edges[%zu] goes from rank %d to rank %d, but was given by rank %d", i,
                       e->from, e->to, ctx->rank);
    if (e->tag < 0)
        return trouble(FERRY_ERR_ARG, "edges[%zu].tag is %d on rank %d, expected >= 0", i, e->tag,
                       ctx->rank);
    if (e->buffer < 0 || e->buffer >= FERRY_PLAN_MAX_BUFFERS)
        return trouble(FERRY_ERR_ARG, "edges[%zu].buffer is %d on rank %d, expected 0 to %d", i,
                       e->buffer, ctx->rank, FERRY_PLAN_MAX_BUFFERS - 1);
    return check_layouts(e, i, ctx->rank);
}

typedef struct target {
    const ferry_edge *edge;
    size_t place;
} target;

static int by_bytes(const void *a, const void *b)
{
    const ferry_edge *const x = ((const target *)a)->edge, *const y = ((const target *)b)->edge;
    const int order = compare_ints(x->buffer, y->buffer);

    return order ? order : (x->target->lb > y->target->lb) - (x->target->lb < y->target->lb);
}

/* Two targets that share bytes would leave a result that depends on who comes last, unless both are
 * folded, which has an order. */
static ferry_status check_targets(const ferry_context *ctx, const ferry_edge *edges, size_t count)
{
    target *targets = NULL;
    size_t found = 0;
    ferry_status st = alloc_zero(count, sizeof *targets, &targets);

    for (size_t i = 0; i < count && st == FERRY_OK; i++)
        if (edges[i].to == ctx->rank && edges[i].target->bytes)
            targets[found++] = (target){&edges[i], i};
    if (found)
        qsort(targets, found, sizeof *targets, by_bytes);
    for (size_t i = 0; i < found && st == FERRY_OK; i++) {
        const ferry_edge *const a = targets[i].edge;
        for (size_t k = i + 1; k < found && st == FERRY_OK; k++) {
            const ferry_edge *const b = targets[k].edge;
            if (b->buffer != a->buffer || b->target->lb >= a->target->ub)
                break;
            if (a->op != FERRY_OP_REPLACE && b->op != FERRY_OP_REPLACE)
                continue;
            if (layout_overlaps(a->target, b->target))
                st = trouble(FERRY_ERR_ARG,
                             "the targets of edges[%zu] (%d -> %d, tag %d) and edges[%zu] (%d -> "
                             "%d, tag %d) share bytes on "
                             "rank %d",
                             targets[i].place, a->from, a->to, a->tag, targets[k].place, b->from,
                             b->to, b->tag, ctx->rank);
        }
    }
    alloc_free(targets);
    return st;
}

ferry_status match_check(const ferry_context *ctx, const ferry_edge *edges, size_t count)
{
    if (!edges && count)
        return trouble(FERRY_ERR_ARG,
                       "ferry_plan_compile: edges is NULL and count is %zu on rank %d", count,
                       ctx->rank);
    for (size_t i = 0; i < count; i++) {
        const ferry_status st = check_edge(ctx, &edges[i], i);
        if (st != FERRY_OK)
            return st;
    }
    return check_targets(ctx, edges, count);
}

/* ---- Telling the peers ---- */

static size_t flat_room(const ferry_layout *layout)
{
    return size_round(layout_flat_bytes(layout), 8);
}

/* The talk with one peer: my notes and its. */
typedef struct talk {
    int peer;
    size_t first, count; /* my edges with it, in the sorted list */
    size_t bytes, peer_bytes;
    char *notes, *peer_notes;
} talk;

enum { STRANGERS = 8 /* ranks that write without being written to, kept to be named */ };

typedef struct talks {
    size_t count;
    talk *list;              /* by peer */
    pmpi_number *told, *got; /* lengths of notes */
    size_t got_count;        /* numbers that came: above count when a stranger wrote */
    MPI_Request *requests;   /* two for each talk */
} talks;

static size_t same_peer(const sorted_edge *first, size_t count)
{
    size_t same = 1;

    while (same < count && first[same].peer == first->peer)
        same++;
    return same;
}

/* My notes for one peer. */
static ferry_status write_notes(const sorted_edge *first, talk *t)
{
    for (size_t i = 0; i < t->count; i++)
        t->bytes += sizeof(note) + flat_room(my_layout(&first[i]));
    if (t->bytes > INT_MAX)
        return trouble(FERRY_ERR_LIMIT,
                       "the description of the edges to rank %d takes %zu bytes, the limit is %d",
                       t->peer, t->bytes, INT_MAX);
    const ferry_status st = alloc_zero(t->bytes, 1, &t->notes);
    char *at = t->notes;
    for (size_t i = 0; i < t->count && st == FERRY_OK; i++) {
        const ferry_layout *const layout = my_layout(&first[i]);
        const note n = {.from = first[i].edge->from,
                        .to = first[i].edge->to,
                        .tag = first[i].edge->tag,
                        .elements = layout->elements,
                        .element = layout->element,
                        .bytes = layout->bytes,
                        .flat_bytes = layout_flat_bytes(layout)};
        memcpy(at, &n, sizeof n);
        layout_flatten(layout, at + sizeof n);
        at += sizeof n + flat_room(layout);
    }
    return st;
}

/* All that is needed to talk is taken before anybody speaks. */
static ferry_status prepare_talks(const sorted_edge *sorted, size_t count, talks *t)
{
    size_t peers = 0;
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < count; i += same_peer(&sorted[i], count - i))
        peers++;
    st = alloc_zero(peers, sizeof *t->list, &t->list);
    if (st == FERRY_OK)
        st = alloc_zero(peers, sizeof *t->told, &t->told);
    if (st == FERRY_OK)
        st = alloc_zero(peers + STRANGERS, sizeof *t->got, &t->got);
    if (st == FERRY_OK)
        st = alloc_zero(2 * peers, sizeof *t->requests, &t->requests);
    for (size_t i = 0, n; i < count && st == FERRY_OK; i += n) {
        talk *const one = &t->list[t->count];
        n = same_peer(&sorted[i], count - i);
        *one = (talk){.peer = sorted[i].peer, .first = i, .count = n};
        st = write_notes(&sorted[i], one);
        t->told[t->count++] = (pmpi_number){.rank = one->peer, .value = one->bytes};
    }
    return st;
}

static void drop_talks(const ferry_context *ctx, talks *t)
{
    for (size_t i = 0; i < t->count; i++) {
        context_release(ctx, t->list[i].notes);
        context_release(ctx, t->list[i].peer_notes);
    }
    alloc_free(t->list);
    context_release(ctx, t->told);
    alloc_free(t->got);
    alloc_free(t->requests);
}

static ferry_status one_sided(int from, int to, int tag, int named_by, int rank)
{
    return trouble(FERRY_ERR_SHAPE, "edge %d -> %d, tag %d: named by rank %d, but not by rank %d",
                   from, to, tag, named_by, rank);
}

static int by_rank(const void *a, const void *b)
{
    return compare_ints(((const pmpi_number *)a)->rank, ((const pmpi_number *)b)->rank);
}

static ferry_status stranger(int rank, int me)
{
    return trouble(FERRY_ERR_SHAPE, "rank %d names edges with rank %d, which names none with it",
                   rank, me);
}

/* Everybody I wrote to must have written to me, and nobody else; then room for what they will
 * write. */
static ferry_status pair_talks(const ferry_context *ctx, const sorted_edge *sorted, talks *t)
{
    const size_t got = size_min(t->got_count, t->count + STRANGERS);
    size_t k = 0;

    if (got)
        qsort(t->got, got, sizeof *t->got, by_rank);
    for (size_t i = 0; i < t->count; i++, k++) {
        talk *const one = &t->list[i];
        const ferry_edge *const e = sorted[one->first].edge;
        if (k < got && t->got[k].rank < one->peer)
            return stranger(t->got[k].rank, ctx->rank);
        if (k == got || t->got[k].rank > one->peer)
            return one_sided(e->from, e->to, e->tag, ctx->rank, one->peer);
        one->peer_bytes = (size_t)t->got[k].value;
        const ferry_status st = alloc_zero(one->peer_bytes, 1, &one->peer_notes);
        if (st != FERRY_OK)
            return st;
    }
    return k == got ? FERRY_OK : stranger(t->got[k].rank, ctx->rank);
}

/* Lengths are known on both sides: the notes themselves. */
static ferry_status swap_notes(ferry_context *ctx, talks *t)
{
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < t->count && st == FERRY_OK; i++) {
        const talk *const one = &t->list[i];
        t->requests[2 * i] = t->requests[2 * i + 1] = MPI_REQUEST_NULL;
        st = pmpi_status(PMPI_Irecv(one->peer_notes, (int)one->peer_bytes, MPI_BYTE, one->peer,
                                    CONTEXT_TAG_NOTES, ctx->comm, &t->requests[2 * i]),
                         "MPI_Irecv");
        if (st == FERRY_OK)
            st = pmpi_status(PMPI_Isend(one->notes, (int)one->bytes, MPI_BYTE, one->peer,
                                        CONTEXT_TAG_NOTES, ctx->comm, &t->requests[2 * i + 1]),
                             "MPI_Isend");
    }
    for (size_t i = 0; i < 2 * t->count && st == FERRY_OK; i++)
        st = context_complete(ctx, &t->requests[i], "MPI_Test");
    return st;
}

/* ---- Comparing ---- */

static ferry_status compare(const sorted_edge *mine, const note *theirs)
{
    const ferry_layout *const layout = my_layout(mine);
    const ferry_edge *const e = mine->edge;
    const unsigned long long my_elements = layout->elements, my_element = layout->element;
    const unsigned long long their_elements = theirs->elements, their_element = theirs->element;

    if (my_elements == their_elements && my_element == their_element)
        return FERRY_OK;
    return trouble(FERRY_ERR_SHAPE,
                   "edge %d -> %d, tag %d: rank %d gives %llu elements of %llu bytes, rank %d "
                   "takes %llu of %llu bytes",
                   e->from, e->to, e->tag, e->from, mine->outgoing ? my_elements : their_elements,
                   mine->outgoing ? my_element : their_element, e->to,
                   mine->outgoing ? their_elements : my_elements,
                   mine->outgoing ? their_element : my_element);
}

/* Add an edge whose two ends are known. */
static void add(match *m, const sorted_edge *mine, const ferry_layout *other)
{
    const ferry_edge *const e = mine->edge;

    if (my_layout(mine)->bytes == 0)
        return;
    m->edges[m->count++] = (route_edge){.from = e->from,
                                        .to = e->to,
                                        .tag = e->tag,
                                        .buffer = e->buffer,
                                        .bytes = my_layout(mine)->bytes,
                                        .source = mine->outgoing ? e->source : other,
                                        .target = mine->outgoing ? other : e->target};
}

/* Where the notes of one message stand. */
typedef struct reader {
    const char *at;
    size_t left;
} reader;

static bool next_note(reader *r, note *note_out, const char **flat_out)
{
    if (r->left < sizeof *note_out)
        return false;
    memcpy(note_out, r->at, sizeof *note_out);
    const size_t whole = sizeof *note_out + size_round((size_t)note_out->flat_bytes, 8);
    *flat_out = r->at + sizeof *note_out;
    r->at += whole;
    r->left -= size_min(whole, r->left);
    return true;
}

/* The peer's notes stand in its own order: edges that come to it first. My edges that go to it are
 * first for me too when I look at mine from its side, so the two lists are walked direction by
 * direction. */
static ferry_status match_direction(match *m, const sorted_edge *mine, const talk *t, int rank,
                                    bool outgoing)
{
    reader r = {t->peer_notes, t->peer_bytes};
    const size_t count = t->count;
    size_t i = 0;
    note n;
    const char *flat = NULL;

    while (next_note(&r, &n, &flat)) {
        if ((n.to == t->peer) != outgoing)
            continue;
        while (i < count && mine[i].outgoing != outgoing)
            i++;
        if (i == count || mine[i].edge->tag > n.tag)
            return one_sided(n.from, n.to, n.tag, t->peer, rank);
        if (mine[i].edge->tag < n.tag)
            return one_sided(mine[i].edge->from, mine[i].edge->to, mine[i].edge->tag, rank,
                             t->peer);
        ferry_status st = compare(&mine[i], &n);
        if (st == FERRY_OK)
            st = layout_unflatten(flat, n.flat_bytes, &m->owned[m->owned_count]);
        if (st != FERRY_OK)
            return st;
        add(m, &mine[i++], m->owned[m->owned_count++]);
    }
    while (i < count && mine[i].outgoing != outgoing)
        i++;
    return i == count
               ? FERRY_OK
               : one_sided(mine[i].edge->from, mine[i].edge->to, mine[i].edge->tag, rank, t->peer);
}

static ferry_status compare_all(const ferry_context *ctx, match *m, const sorted_edge *sorted,
                                const talks *t)
{
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < 2 * t->count && st == FERRY_OK; i++)
        st = match_direction(m, &sorted[t->list[i / 2].first], &t->list[i / 2], ctx->rank,
                             i % 2 == 1);
    return st;
}

/* Edges of a rank to itself have both ends here. Those that are folded take no route. */
static ferry_status add_own(const ferry_context *ctx, match *m, const ferry_edge *edges,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const sorted_edge own = {.edge = &edges[i], .peer = ctx->rank, .outgoing = true};
        if (edges[i].from != ctx->rank || edges[i].to != ctx->rank)
            continue;
        const note n = {.elements = edges[i].target->elements, .element = edges[i].target->element};
        const ferry_status st = compare(&own, &n);
        if (st != FERRY_OK)
            return st;
        if (!folds_has(&edges[i], ctx->rank))
            add(m, &own, edges[i].target);
    }
    return FERRY_OK;
}

static size_t sort_edges(const ferry_context *ctx, const ferry_edge *edges, size_t count,
                         sorted_edge *sorted)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        const bool outgoing = edges[i].from == ctx->rank;
        if (edges[i].from != edges[i].to)
            sorted[found++] =
                (sorted_edge){&edges[i], outgoing ? edges[i].to : edges[i].from, outgoing, i};
    }
    if (found)
        qsort(sorted, found, sizeof *sorted, by_peer);
    return found;
}

void match_drop(match *matched)
{
    for (size_t i = 0; i < matched->owned_count; i++)
        ferry_layout_free(matched->owned[i]);
    alloc_free(matched->owned);
    alloc_free(matched->edges);
    *matched = (match){NULL, 0, NULL, 0};
}

/* Find out who wants to talk. Each step is agreed, so that no rank waits for one that has given up.
 */
static ferry_status open_talks(ferry_context *ctx, const sorted_edge *sorted, talks *t)
{
    const pmpi_place where = {
        .comm = ctx->comm, .tag = CONTEXT_TAG_EDGES, .idle = context_idle, .user = ctx};

    context_wait_begin(ctx, "ferry_plan_compile");
    ferry_status st = pmpi_exchange(&where, t->told, t->count, t->requests, t->got,
                                    t->count + STRANGERS, &t->got_count);

    if (st == FERRY_OK)
        st = pair_talks(ctx, sorted, t);
    return context_agree(ctx, st);
}

ferry_status match_edges(ferry_context *ctx, const ferry_edge *edges, size_t count,
                         match *match_out)
{
    match m = {NULL, 0, NULL, 0};
    sorted_edge *sorted = NULL;
    talks t = {.count = 0};
    ferry_status st = alloc_zero(count, sizeof *m.edges, &m.edges);

    if (st == FERRY_OK)
        st = alloc_zero(count, sizeof *m.owned, &m.owned);
    if (st == FERRY_OK)
        st = alloc_zero(count, sizeof *sorted, &sorted);
    if (st == FERRY_OK)
        st = prepare_talks(sorted, sort_edges(ctx, edges, count, sorted), &t);
    st = context_agree(ctx, st);
    if (st == FERRY_OK)
        st = open_talks(ctx, sorted, &t);
    if (st != FERRY_OK)
        goto out;
    st = swap_notes(ctx, &t);
    if (st == FERRY_OK)
        st = add_own(ctx, &m, edges, count);
    if (st == FERRY_OK)
        st = compare_all(ctx, &m, sorted, &t);
    st = context_agree(ctx, st);
    if (st != FERRY_OK)
        goto out;
    *match_out = m;
    m = (match){NULL, 0, NULL, 0};
out:
    match_drop(&m);
    drop_talks(ctx, &t);
    alloc_free(sorted);
    return st;
}
