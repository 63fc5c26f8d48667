/* One edge per pair of ranks that have something for each other: my rows, cut to the peer's
 * columns. Both ends count the elements row by row, so that the source is a plain box, and the
 * target visits its addresses in turned order. */
#include "base/alloc.h"
#include "redistribute/transpose.h"

/* Where a rank's rows and columns begin, while the ranks are walked in order. */
typedef struct cursor {
    int rank;
    int64_t first_row, first_column;
    const transpose_record *spec;
} cursor;

/* What `peer` wants of my rows: all of them, in its columns. */
static ferry_status source_layout(const ferry_transpose *t, const cursor *peer,
                                  const ferry_layout **layout_out)
{
    const int64_t sizes[] = {t->spec.local_rows, t->spec.columns};
    const int64_t starts[] = {0, peer->first_column};
    const int64_t counts[] = {t->spec.local_rows, peer->spec->local_columns};
    ferry_layout *layout;
    const ferry_status st =
        ferry_layout_box(2, sizes, starts, counts, t->spec.element_bytes, &layout);

    if (st == FERRY_OK)
        *layout_out = layout;
    return st;
}

/* Where the rows of `peer` go: row i of it is column first_row + i here. */
static ferry_status target_layout(const ferry_transpose *t, const cursor *peer,
                                  const ferry_layout **layout_out)
{
    const int64_t element = t->spec.element_bytes;
    const int64_t counts[] = {peer->spec->local_rows, t->spec.local_columns};
    const int64_t strides[] = {element, t->spec.rows * element};
    ferry_layout *layout;
    const ferry_status st =
        ferry_layout_strided(2, counts, strides, element, peer->first_row * element, &layout);

    if (st == FERRY_OK)
        *layout_out = layout;
    return st;
}

typedef struct edge_list {
    ferry_edge *edges;
    size_t count;
} edge_list;

static ferry_edge *add_edge(edge_list *list, int from, int to)
{
    ferry_edge *edge = &list->edges[list->count++];

    *edge = (ferry_edge)FERRY_EDGE_INIT;
    edge->from = from;
    edge->to = to;
    return edge;
}

/* The block that leaves for a peer and the one that arrives; for this rank itself they are one
 * edge. */
static ferry_status add_peer(const ferry_transpose *t, const cursor *peer, edge_list *list)
{
    const int itself = peer->rank == t->rank;
    ferry_edge *edge = NULL;
    ferry_status st = FERRY_OK;

    if (t->spec.local_rows > 0 && peer->spec->local_columns > 0) {
        edge = add_edge(list, t->rank, peer->rank);
        st = source_layout(t, peer, &edge->source);
    }
    if (st == FERRY_OK && peer->spec->local_rows > 0 && t->spec.local_columns > 0) {
        if (!itself)
            edge = add_edge(list, peer->rank, t->rank);
        st = target_layout(t, peer, &edge->target);
    }
    return st;
}

static ferry_status add_peers(const ferry_transpose *t, const transpose_record *all,
                              edge_list *list)
{
    cursor peer = {.spec = all};
    ferry_status st = FERRY_OK;

    for (; st == FERRY_OK && peer.rank < t->size; peer.rank++, peer.spec++) {
        st = add_peer(t, &peer, list);
        peer.first_row += peer.spec->local_rows;
        peer.first_column += peer.spec->local_columns;
    }
    return st;
}

static void drop_edges(edge_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        ferry_layout_free((ferry_layout *)list->edges[i].source);
        ferry_layout_free((ferry_layout *)list->edges[i].target);
    }
    alloc_free(list->edges);
}

ferry_status transpose_compile(ferry_context *ctx, ferry_transpose *transpose,
                               const transpose_record *all)
{
    edge_list list = {0};
    ferry_status st = alloc_zero(2 * (size_t)transpose->size, sizeof *list.edges, &list.edges);

    if (st == FERRY_OK)
        st = add_peers(transpose, all, &list);
    st = ferry_context_agree(ctx, st);
    if (st == FERRY_OK)
        st = ferry_plan_compile(ctx, list.edges, list.count, &transpose->plan);
    drop_edges(&list);
    return st;
}
