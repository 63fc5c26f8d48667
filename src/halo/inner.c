/* Which values can be updated while a round is under way. Start from all that this rank owns, and
 * cut off what reads something that arrives, and what is sent. The rest is what must wait, taken
 * apart into slabs. */
#include "base/alloc.h"
#include "base/trouble.h"
#include "halo/halo.h"

static ferry_halo_box box_at(const ferry_halo *halo, int f, const int64_t start[],
                             const int64_t count[])
{
    ferry_halo_box b = {0};

    for (int d = 0; d < halo->dims; d++) {
        b.low[d] = start[d] - halo->block->fields[f].ghost[d][0]; /* counted from the interior */
        b.high[d] = b.low[d] + count[d];
    }
    return b;
}

/* All values whose stencil, as wide as the ghosts, reads from a box. */
static ferry_halo_box readers(const ferry_halo *halo, int f, ferry_halo_box b)
{
    for (int d = 0; d < halo->dims; d++) {
        b.low[d] -= halo->block->fields[f].ghost[d][1];
        b.high[d] += halo->block->fields[f].ghost[d][0];
    }
    return b;
}

static ferry_halo_box owned_here(const ferry_halo *halo, int f)
{
    ferry_halo_box b = halo_owned_box(halo, halo->block, f);

    for (int d = 0; d < halo->dims; d++) {
        b.low[d] -= halo->block->origin[d];
        b.high[d] -= halo->block->origin[d];
    }
    return b;
}

ferry_status halo_find_inner(ferry_halo *halo)
{
    const ferry_status st =
        alloc_zero((size_t)halo->field_count, sizeof *halo->inner, &halo->inner);

    for (int f = 0; st == FERRY_OK && f < halo->field_count; f++)
        halo->inner[f] = owned_here(halo, f);
    for (size_t i = 0; st == FERRY_OK && i < halo->pieces.count; i++) {
        const halo_piece *p = &halo->pieces.list[i];
        if (p->to == halo->rank) {
            const ferry_halo_box away =
                readers(halo, p->field, box_at(halo, p->field, p->target, p->count));
            box_cut(halo->dims, &halo->inner[p->field], &away);
        }
        if (p->from == halo->rank) {
            const ferry_halo_box away = box_at(halo, p->field, p->source, p->count);
            box_cut(halo->dims, &halo->inner[p->field], &away);
        }
    }
    return st;
}

/* Dimensions that a halo does not have have one place. */
static void give_box(const ferry_halo *halo, ferry_halo_box b, ferry_halo_box *box_out)
{
    for (int d = halo->dims; d < MAX_DIMS; d++) {
        b.low[d] = 0;
        b.high[d] = 1;
    }
    *box_out = b;
}

ferry_status ferry_halo_owned(const ferry_halo *halo, int field, ferry_halo_box *box_out)
{
    const ferry_status st = halo_check_field("ferry_halo_owned", halo, field, box_out);

    if (st == FERRY_OK)
        give_box(halo, owned_here(halo, field), box_out);
    return st;
}

ferry_status ferry_halo_inner(const ferry_halo *halo, int field, ferry_halo_box *box_out)
{
    const ferry_status st = halo_check_field("ferry_halo_inner", halo, field, box_out);

    if (st == FERRY_OK)
        give_box(halo, halo->inner[field], box_out);
    return st;
}

/* What is left of `rest` beside the inner box along one dimension goes out, slab by slab. */
static int peel(const ferry_halo *halo, ferry_halo_box *rest, const ferry_halo_box *inner,
                ferry_halo_box *boxes_out)
{
    int count = 0;

    for (int d = halo->dims - 1; d >= 0; d--) {
        ferry_halo_box low = *rest, high = *rest;
        low.high[d] = inner->low[d];
        high.low[d] = inner->high[d];
        if (box_volume(halo->dims, &low) > 0)
            give_box(halo, low, &boxes_out[count++]);
        if (box_volume(halo->dims, &high) > 0)
            give_box(halo, high, &boxes_out[count++]);
        rest->low[d] = inner->low[d];
        rest->high[d] = inner->high[d];
    }
    return count;
}

ferry_status ferry_halo_boundary(const ferry_halo *halo, int field, ferry_halo_box *boxes_out,
                                 int *count_out)
{
    const ferry_status st = halo_check_field("ferry_halo_boundary", halo, field, boxes_out);

    if (st != FERRY_OK)
        return st;
    if (!count_out)
        return trouble(FERRY_ERR_ARG, "ferry_halo_boundary: count_out is NULL");
    ferry_halo_box rest = owned_here(halo, field);
    *count_out = 0;
    if (box_volume(halo->dims, &halo->inner[field]) > 0)
        *count_out = peel(halo, &rest, &halo->inner[field], boxes_out);
    else if (box_volume(halo->dims, &rest) > 0) {
        *count_out = 1;
        give_box(halo, rest, boxes_out);
    }
    return FERRY_OK;
}
