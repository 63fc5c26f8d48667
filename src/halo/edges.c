/* Pieces as edges: from owners to their copies, or the other way round, which is the same with both
 * ends exchanged. */
#include "base/alloc.h"
#include "halo/halo.h"

/* Where a piece starts in the array of this rank, as a layout; loops run as at the other end. */
static ferry_status make_layout(const ferry_halo *halo, const halo_piece *p, const int64_t start[],
                                const ferry_layout **layout_out)
{
    const halo_field *field = &halo->block->fields[p->field];
    int64_t counts[MAX_DIMS], strides[MAX_DIMS], offset = 0;
    ferry_layout *layout;

    for (int k = 0; k < halo->dims; k++) {
        const int d = p->order[k];
        counts[k] = p->count[d];
        strides[k] = field->stride[d];
        offset += start[d] * field->stride[d];
    }
    const ferry_status st =
        ferry_layout_strided(halo->dims, counts, strides, field->element_bytes, offset, &layout);
    if (st == FERRY_OK)
        *layout_out = layout;
    return st;
}

/* Fields keep blocks of one pair apart; those of one field come in the same order at both ends. */
static ferry_status make_edge(const ferry_halo *halo, const halo_piece *p, bool reverse,
                              ferry_edge *edge)
{
    ferry_status st = FERRY_OK;

    *edge = (ferry_edge)FERRY_EDGE_INIT;
    edge->from = reverse ? p->to : p->from;
    edge->to = reverse ? p->from : p->to;
    edge->tag = edge->buffer = p->field;
    if (p->from == halo->rank)
        st = make_layout(halo, p, p->source, reverse ? &edge->target : &edge->source);
    if (st == FERRY_OK && p->to == halo->rank)
        st = make_layout(halo, p, p->target, reverse ? &edge->source : &edge->target);
    return st;
}

ferry_status halo_make_edges(const ferry_halo *halo, bool reverse, halo_edges *edges_out)
{
    halo_edges edges = {.count = halo->pieces.count};
    ferry_status st = alloc_zero(edges.count, sizeof *edges.list, &edges.list);

    for (size_t i = 0; st == FERRY_OK && i < edges.count; i++)
        st = make_edge(halo, &halo->pieces.list[i], reverse, &edges.list[i]);
    if (st != FERRY_OK) {
        halo_drop_edges(&edges);
        return st;
    }
    *edges_out = edges;
    return FERRY_OK;
}
