/* Compare specs between ranks, before the plan is compiled: the plan would find most differences
 * too, but it knows blocks of bytes only and could not name dimension and side.
 *
 * What must be the same everywhere is compared with the rank before: where all are equal to the one
 * before, all are equal, and nobody needs memory for all ranks. Blocks are compared with each
 * neighbour's, by the one who receives. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/trouble.h"
#include "halo/halo.h"

/* A record for `to`, and one from `from` in exchange, told apart by tags. */
typedef struct post {
    int to, from;
    int send_tag, recv_tag;
} post;

static void fill_edges(const ferry_halo *halo, const post *p, const ferry_layout *mine,
                       const ferry_layout *theirs, ferry_edge edges[2])
{
    edges[0] = edges[1] = (ferry_edge)FERRY_EDGE_INIT;
    edges[0].from = p->from;
    edges[0].to = halo->rank;
    edges[0].tag = p->recv_tag;
    edges[0].source = mine; /* looked at where the neighbour is this rank itself */
    edges[0].target = theirs;
    edges[1].from = halo->rank;
    edges[1].to = p->to;
    edges[1].tag = p->send_tag;
    edges[1].source = mine;
}

static void free_targets(const ferry_edge *edges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ferry_layout_free((ferry_layout *)edges[i].target);
}

/* Edges for all posts; those between this rank and itself have both ends in one. */
static ferry_status make_edges(const ferry_halo *halo, const post *posts, size_t count,
                               const ferry_layout *mine, ferry_edge *edges, size_t *edge_count_out)
{
    ferry_layout_info info;
    size_t used = 0;
    ferry_status st = ferry_layout_describe(mine, &info);

    for (size_t i = 0; st == FERRY_OK && i < count; i++) {
        ferry_layout *theirs;
        st = ferry_layout_dense(info.bytes, 1, (int64_t)i * info.bytes, &theirs);
        if (st != FERRY_OK)
            break;
        fill_edges(halo, &posts[i], mine, theirs, &edges[used]);
        used += posts[i].to == halo->rank ? 1 : 2;
    }
    *edge_count_out = used;
    return st;
}

static ferry_status run_once(ferry_context *ctx, const ferry_edge *edges, size_t count,
                             const void *src, void *dst)
{
    ferry_plan *plan = NULL;
    ferry_status st = ferry_plan_compile(ctx, edges, count, &plan);

    if (st != FERRY_OK)
        return st;
    if (count > 0)
        st = ferry_plan_start(plan, src, dst);
    if (st == FERRY_OK)
        st = ferry_plan_wait(plan);
    st = ferry_context_agree(ctx, st);
    ferry_plan_free(plan);
    return st;
}

/* Swap one record with each post; that of post i arrives at theirs + i * bytes. Collective, agreed.
 */
static ferry_status swap(ferry_context *ctx, const ferry_halo *halo, const post *posts,
                         size_t count, const void *mine, size_t bytes, void *theirs)
{
    ferry_layout *layout = NULL;
    ferry_edge *edges = NULL;
    size_t edge_count = 0;
    ferry_status st = alloc_zero(2 * count, sizeof *edges, &edges);

    if (st == FERRY_OK)
        st = ferry_layout_dense((int64_t)bytes, 1, 0, &layout);
    if (st == FERRY_OK)
        st = make_edges(halo, posts, count, layout, edges, &edge_count);
    st = ferry_context_agree(ctx, st);
    if (st == FERRY_OK)
        st = run_once(ctx, edges, edge_count, mine, theirs);
    free_targets(edges, edge_count);
    alloc_free(edges);
    ferry_layout_free(layout);
    return st;
}

/* --- what is the same everywhere
 * ---------------------------------------------------------------------- */

enum {
    SHAPE_DIMS,
    SHAPE_CORNERS,
    SHAPE_FIELDS,
    SHAPE_GRID,
    SHAPE_PERIODIC = SHAPE_GRID + MAX_DIMS,
    SHAPE_NUMBERS = SHAPE_PERIODIC + MAX_DIMS
};

static void fill_shape(const ferry_halo *halo, int64_t shape[SHAPE_NUMBERS])
{
    memset(shape, 0, SHAPE_NUMBERS * sizeof *shape);
    shape[SHAPE_DIMS] = halo->dims;
    shape[SHAPE_CORNERS] = halo->corners;
    shape[SHAPE_FIELDS] = halo->field_count;
    for (int d = 0; d < halo->dims; d++) {
        shape[SHAPE_GRID + d] = halo->grid[d];
        shape[SHAPE_PERIODIC + d] = halo->periodic[d];
    }
}

static ferry_status differ(const ferry_halo *halo, int which, int64_t mine, int other,
                           int64_t theirs)
{
    static const char *const single[] = {"dims", "corners", "field_count"};
    char name[32];

    if (which < SHAPE_GRID)
        snprintf(name, sizeof name, "%s", single[which]);
    else if (which < SHAPE_PERIODIC)
        snprintf(name, sizeof name, "grid[%d]", which - SHAPE_GRID);
    else
        snprintf(name, sizeof name, "periodic[%d]", which - SHAPE_PERIODIC);
    return trouble(FERRY_ERR_ARG,
                   "ferry_halo_create: %s is %lld on rank %d but %lld on rank %d, expected the "
                   "same on all ranks",
                   name, (long long)mine, halo->rank, (long long)theirs, other);
}

ferry_status halo_compare_shapes(ferry_context *ctx, const ferry_halo *halo)
{
    const post before = {.to = (halo->rank + 1) % halo->size,
                         .from = (halo->rank + halo->size - 1) % halo->size};
    int64_t mine[SHAPE_NUMBERS], theirs[SHAPE_NUMBERS];

    fill_shape(halo, mine);
    ferry_status st = swap(ctx, halo, &before, 1, mine, sizeof mine, theirs);
    if (st != FERRY_OK)
        return st;
    for (int i = 0; st == FERRY_OK && i < SHAPE_NUMBERS; i++)
        if (mine[i] != theirs[i])
            st = differ(halo, i, mine[i], before.from, theirs[i]);
    return ferry_context_agree(ctx, st);
}

/* --- blocks of neighbours
 * ----------------------------------------------------------------------------- */

static ferry_status fetch_blocks(ferry_context *ctx, const ferry_halo *halo, halo_ring *ring)
{
    const int opposite = halo_codes(halo) - 1;
    post *posts = NULL;
    ferry_status st = alloc_zero(ring->count, sizeof *posts, &posts);

    st = ferry_context_agree(ctx, st);
    if (st != FERRY_OK)
        goto out;
    for (size_t i = 0; i < ring->count; i++) {
        const halo_neighbour *n = &ring->list[i];
        posts[i] = (post){
            .to = n->rank, .from = n->rank, .send_tag = opposite - n->code, .recv_tag = n->code};
    }
    st = swap(ctx, halo, posts, ring->count, halo->block, halo_block_bytes(halo), ring->blocks);
out:
    alloc_free(posts);
    return st;
}

/* Is there a ghost region in this direction, as far as widths go? */
static bool wants_ghosts(const ferry_halo *halo, const halo_neighbour *n, const halo_field *field)
{
    for (int d = 0; d < halo->dims; d++)
        if (n->step[d] != 0 && field->ghost[d][n->step[d] > 0] == 0)
            return false;
    return true;
}

static ferry_status compare_along(const ferry_halo *halo, const halo_neighbour *n, int f, int d)
{
    const int side = n->step[d] > 0;
    const int64_t width = halo->block->fields[f].ghost[d][side];
    const int64_t mine = halo->block->extent[d], theirs = n->block->extent[d];

    if (n->step[d] != 0 && width > theirs)
        return trouble(FERRY_ERR_ARG,
                       "ferry_halo_create: field %d on rank %d has %lld ghost cells on the %s side "
                       "of dimension %d, "
                       "but the block they come from, of rank %d, is only %lld cells wide",
                       f, halo->rank, (long long)width, side ? "high" : "low", d, n->rank,
                       (long long)theirs);
    if (n->step[d] == 0 && mine != theirs)
        return trouble(
            FERRY_ERR_SHAPE,
            "ferry_halo_create: extent[%d] is %lld on rank %d but %lld on its neighbour rank %d, "
            "expected the same",
            d, (long long)mine, halo->rank, (long long)theirs, n->rank);
    return FERRY_OK;
}

static ferry_status compare_field(const ferry_halo *halo, const halo_neighbour *n, int f)
{
    const halo_field *mine = &halo->block->fields[f], *theirs = &n->block->fields[f];
    ferry_status st = FERRY_OK;

    if (mine->element_bytes != theirs->element_bytes)
        return trouble(
            FERRY_ERR_ARG,
            "ferry_halo_create: element_bytes of field %d is %lld on rank %d but %lld on rank %d, "
            "expected the same",
            f, (long long)mine->element_bytes, halo->rank, (long long)theirs->element_bytes,
            n->rank);
    if (!wants_ghosts(halo, n, mine))
        return FERRY_OK;
    for (int d = 0; st == FERRY_OK && d < halo->dims; d++)
        st = compare_along(halo, n, f, d);
    return st;
}

ferry_status halo_compare_blocks(ferry_context *ctx, const ferry_halo *halo, halo_ring *ring)
{
    ferry_status st = fetch_blocks(ctx, halo, ring);

    if (st != FERRY_OK)
        return st;
    for (size_t i = 0; st == FERRY_OK && i < ring->count; i++)
        for (int f = 0; st == FERRY_OK && f < halo->field_count; f++)
            st = compare_field(halo, &ring->list[i], f);
    return ferry_context_agree(ctx, st);
}
