/* Turn ghosts into edges: for each direction and field, the ghost region on that side of my block
 * is a target, and the cells that my neighbour there wants for its own ghosts are a source. How
 * wide a region is, the receiver says. */
#include "base/alloc.h"
#include "base/trouble.h"
#include "halo/halo.h"

/* A box of a local array, dimension 0 first. */
typedef struct box {
    int64_t start[MAX_DIMS], count[MAX_DIMS];
} box;

static bool box_empty(const ferry_halo *halo, const box *b)
{
    for (int d = 0; d < halo->dims; d++)
        if (b->count[d] == 0)
            return true;
    return false;
}

/* My ghosts in direction `step`. */
static box ghost_box(const ferry_halo *halo, int f, const int step[])
{
    const halo_block *block = halo->block;
    box b = {0};

    for (int d = 0; d < halo->dims; d++) {
        const int64_t *ghost = block->fields[f].ghost[d];
        const int64_t start[] = {0, ghost[0], ghost[0] + block->extent[d]};
        const int64_t count[] = {ghost[0], block->extent[d], ghost[1]};
        b.start[d] = start[step[d] + 1];
        b.count[d] = count[step[d] + 1];
    }
    return b;
}

/* My interior cells that a neighbour keeps as ghosts: seen from there, I am on the opposite side.
 */
static box border_box(const ferry_halo *halo, int f, const halo_neighbour *n)
{
    const halo_block *block = halo->block;
    box b = {0};

    for (int d = 0; d < halo->dims; d++) {
        const int64_t low = block->fields[f].ghost[d][0], extent = block->extent[d];
        const int64_t *wanted = n->block->fields[f].ghost[d];
        const int64_t start[] = {low, low, low + extent - wanted[0]};
        const int64_t count[] = {wanted[1], extent, wanted[0]};
        b.start[d] = start[n->step[d] + 1];
        b.count[d] = count[n->step[d] + 1];
    }
    return b;
}

/* Layouts count dimensions from the slowest, halos from the fastest. */
static ferry_status box_layout(const ferry_halo *halo, int f, const box *b,
                               const ferry_layout **layout_out)
{
    int64_t sizes[MAX_DIMS], starts[MAX_DIMS], counts[MAX_DIMS];
    ferry_layout *layout;

    for (int d = 0; d < halo->dims; d++) {
        const int k = halo->dims - 1 - d;
        sizes[k] = halo_cells(halo->block, f, d);
        starts[k] = b->start[d];
        counts[k] = b->count[d];
    }
    const ferry_status st = ferry_layout_box(halo->dims, sizes, starts, counts,
                                             halo->block->fields[f].element_bytes, &layout);
    if (st == FERRY_OK)
        *layout_out = layout;
    return st;
}

typedef struct edge_list {
    ferry_edge *edges;
    size_t count;
} edge_list;

static ferry_edge *add_edge(edge_list *list, int from, int to, int tag, int buffer)
{
    ferry_edge *edge = &list->edges[list->count++];

    *edge = (ferry_edge)FERRY_EDGE_INIT;
    edge->from = from;
    edge->to = to;
    edge->tag = tag;
    edge->buffer = buffer;
    return edge;
}

/* What arrives from a neighbour. When that is this rank itself, the edge has both ends: the source
 * is what I am for my neighbour in the opposite direction. */
static ferry_status add_arrival(ferry_halo *halo, const halo_neighbour *n, int f, edge_list *list)
{
    const box ghosts = ghost_box(halo, f, n->step);
    halo_neighbour back = *n;
    ferry_status st;

    if (box_empty(halo, &ghosts))
        return FERRY_OK;
    halo->moves |= (uint64_t)1 << f;
    ferry_edge *edge = add_edge(list, n->rank, halo->rank, n->code * halo->field_count + f, f);
    st = box_layout(halo, f, &ghosts, &edge->target);
    if (st != FERRY_OK || n->rank != halo->rank)
        return st;
    for (int d = 0; d < halo->dims; d++)
        back.step[d] = -n->step[d];
    const box border = border_box(halo, f, &back);
    return box_layout(halo, f, &border, &edge->source);
}

static ferry_status add_departure(ferry_halo *halo, const halo_neighbour *n, int f, edge_list *list)
{
    const int code = halo_codes(halo) - 1 - n->code; /* as the receiver calls it */
    const box border = border_box(halo, f, n);

    if (n->rank == halo->rank || box_empty(halo, &border))
        return FERRY_OK;
    halo->moves |= (uint64_t)1 << f;
    ferry_edge *edge = add_edge(list, halo->rank, n->rank, code * halo->field_count + f, f);
    return box_layout(halo, f, &border, &edge->source);
}

static ferry_status add_edges(ferry_halo *halo, const halo_ring *ring, edge_list *list)
{
    ferry_status st = FERRY_OK;

    for (size_t i = 0; st == FERRY_OK && i < ring->count; i++)
        for (int f = 0; st == FERRY_OK && f < halo->field_count; f++) {
            st = add_arrival(halo, &ring->list[i], f, list);
            if (st == FERRY_OK)
                st = add_departure(halo, &ring->list[i], f, list);
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

ferry_status halo_compile(ferry_context *ctx, ferry_halo *halo, const halo_ring *ring)
{
    edge_list list = {0};
    ferry_status st =
        alloc_zero(2 * ring->count * (size_t)halo->field_count, sizeof *list.edges, &list.edges);

    if (st == FERRY_OK)
        st = add_edges(halo, ring, &list);
    st = ferry_context_agree(ctx, st);
    if (st == FERRY_OK)
        st = ferry_plan_compile(ctx, list.edges, list.count, &halo->plan);
    drop_edges(&list);
    return st;
}
