/* Boxes in the index space of the domain: low <= index < high along each dimension. Pure
 * arithmetic; numbers are small enough (2^60, see spec.c) for sums of a few of them. */
#include "halo/halo.h"

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

bool box_meet(int dims, const ferry_halo_box *a, const ferry_halo_box *b,
              ferry_halo_box *common_out)
{
    for (int d = 0; d < dims; d++) {
        common_out->low[d] = larger(a->low[d], b->low[d]);
        common_out->high[d] = smaller(a->high[d], b->high[d]);
        if (common_out->low[d] >= common_out->high[d])
            return false;
    }
    return true;
}

int64_t box_volume(int dims, const ferry_halo_box *b)
{
    int64_t volume = 1;

    for (int d = 0; d < dims; d++)
        volume *= larger(b->high[d] - b->low[d], 0);
    return volume;
}

/* One cut with a plane is enough; take the one that leaves most. */
void box_cut(int dims, ferry_halo_box *b, const ferry_halo_box *away)
{
    ferry_halo_box best = {0}, common;
    int64_t most = -1;

    if (!box_meet(dims, b, away, &common))
        return;
    for (int d = 0; d < dims; d++)
        for (int side = 0; side < 2; side++) {
            ferry_halo_box left = *b;
            if (side)
                left.high[d] = larger(away->low[d], b->low[d]);
            else
                left.low[d] = smaller(away->high[d], b->high[d]);
            const int64_t volume = box_volume(dims, &left);
            if (volume > most) {
                most = volume;
                best = left;
            }
        }
    *b = best;
}

ferry_halo_box halo_record_box(const halo_record *r, int dims, bool with_reach)
{
    ferry_halo_box b = {0};

    for (int d = 0; d < dims; d++) {
        b.low[d] = r->origin[d] - (with_reach ? r->reach[d][0] : 0);
        b.high[d] = r->origin[d] + r->extent[d] + (with_reach ? r->reach[d][1] : 0);
    }
    return b;
}

ferry_halo_box halo_array_box(const halo_block *block, int f, int dims, bool ghosts)
{
    const halo_field *field = &block->fields[f];
    ferry_halo_box b = {0};

    for (int d = 0; d < dims; d++) {
        b.low[d] = block->origin[d] - (ghosts ? field->ghost[d][0] : 0);
        b.high[d] = block->origin[d] + block->extent[d] + field->stagger[d] +
                    (ghosts ? field->ghost[d][1] : 0);
    }
    return b;
}

/* The last face of a dimension that is not periodic has no cell on its high side and belongs to the
 * cell below. */
ferry_halo_box halo_owned_box(const ferry_halo *halo, const halo_block *block, int f)
{
    ferry_halo_box b = {0};

    for (int d = 0; d < halo->dims; d++) {
        b.low[d] = block->origin[d];
        b.high[d] = block->origin[d] + block->extent[d];
        if (!halo->periodic[d] && block->extent[d] > 0 && b.high[d] == halo->total[d])
            b.high[d] += block->fields[f].stagger[d];
    }
    return b;
}

ferry_halo_box halo_domain_box(const ferry_halo *halo, int f)
{
    ferry_halo_box b = {0};

    for (int d = 0; d < halo->dims; d++) {
        const int64_t last = halo->total[d] > 0 ? halo->block->fields[f].stagger[d] : 0;
        b.low[d] = halo->periodic[d] ? INT64_MIN : 0;
        b.high[d] = halo->periodic[d] ? INT64_MAX : halo->total[d] + last;
    }
    return b;
}

static int64_t divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

void halo_images(const ferry_halo *halo, int d, const ferry_halo_box *a, const ferry_halo_box *b,
                 int64_t *first_out, int64_t *last_out)
{
    const int64_t period = halo->total[d];

    *first_out = *last_out = 0;
    if (!halo->periodic[d] || period == 0)
        return;
    *first_out = divide_down(a->low[d] - b->high[d], period) + 1;
    *last_out = -divide_down(b->low[d] - a->high[d], period) - 1;
}
