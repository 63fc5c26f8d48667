/* Both sides are read as rows: units of one size (the common divisor of all runs) at one stride.
 * Where the shorter of the two present rows ends, that side goes on to its next row; what both have
 * is one kernel call. */
#include "copy/walk.h"

#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "kernels/kernels.h"

struct copy_walk {
    size_t unit, bytes, src_count, dst_count;
    kernel_runs *kernel;
    layout_nest nests[]; /* of the source, then of the destination */
};

/* The rest of the present row, and where the next one is. */
typedef struct rows {
    const layout_nest *nest;
    size_t unit, left; /* units left in the row */
    int64_t at, stride;
    int outer; /* loops outside of a row */
    size_t index[FERRY_LAYOUT_MAX_DIMS];
} rows;

/* Runs of one unit: the innermost loop is the row. Longer runs, and those of lists: each is a row.
 */
static void begin_row(rows *side)
{
    const layout_nest *const nest = side->nest;
    const bool loop_is_row = nest->run == side->unit && nest->dims > 0 && !nest->places;

    side->outer = nest->dims - loop_is_row;
    side->left = loop_is_row ? nest->loop[side->outer].count : nest->run / side->unit;
    side->stride = loop_is_row ? nest->loop[side->outer].stride : (int64_t)side->unit;
    side->at = nest->offset;
    if (nest->places)
        side->at += nest->places->at[side->index[0]];
    for (int k = 0; k < side->outer && !nest->places; k++)
        side->at += (int64_t)side->index[k] * nest->loop[k].stride;
}

static rows first_row(const layout_nest *nests, size_t unit)
{
    rows side = {.nest = nests, .unit = unit};

    begin_row(&side);
    return side;
}

static void next_row(rows *side)
{
    int k = side->outer - 1;

    for (; k >= 0 && side->index[k] + 1 == side->nest->loop[k].count; k--)
        side->index[k] = 0;
    if (k >= 0)
        side->index[k]++;
    else
        side->nest++;
    begin_row(side);
}

static void pass(rows *side, size_t units)
{
    side->left -= units;
    side->at += (int64_t)units * side->stride;
}

void walk_run(const copy_walk *walk, const char *src, char *dst)
{
    rows from = first_row(walk->nests, walk->unit),
         to = first_row(walk->nests + walk->src_count, walk->unit);
    size_t left = walk->bytes / walk->unit;

    for (;;) {
        const size_t units = size_min(from.left, to.left);
        walk->kernel(dst + to.at, to.stride, src + from.at, from.stride, units, walk->unit);
        left -= units;
        if (left == 0)
            return;
        pass(&from, units);
        pass(&to, units);
        if (from.left == 0)
            next_row(&from);
        if (to.left == 0)
            next_row(&to);
    }
}

static size_t common_unit(const layout_nest *nests, size_t count)
{
    size_t unit = 0;

    for (size_t i = 0; i < count; i++)
        unit = size_divisor(unit, nests[i].run);
    return unit;
}

ferry_status walk_make(const layout_nest *src, size_t src_count, const layout_nest *dst,
                       size_t dst_count, copy_walk **walk_out)
{
    const size_t count = src_count + dst_count;
    copy_walk *walk = NULL;

    const ferry_status st = alloc_zero(1, sizeof *walk + count * sizeof walk->nests[0], &walk);
    if (st != FERRY_OK)
        return st;
    memcpy(walk->nests, src, src_count * sizeof *src);
    memcpy(walk->nests + src_count, dst, dst_count * sizeof *dst);
    for (size_t i = 0; i < count; i++)
        layout_hold(&walk->nests[i]);
    walk->src_count = src_count;
    walk->dst_count = dst_count;
    for (size_t i = 0; i < src_count; i++)
        walk->bytes += layout_nest_bytes(&src[i]);
    walk->unit = common_unit(walk->nests, count);
    walk->kernel = kernels_runs(walk->unit, 0, 0);
    *walk_out = walk;
    return FERRY_OK;
}

void walk_drop(copy_walk *walk)
{
    for (size_t i = 0; walk && i < walk->src_count + walk->dst_count; i++)
        layout_release(&walk->nests[i]);
    alloc_free(walk);
}

size_t walk_bytes(const copy_walk *walk)
{
    return walk->bytes;
}

size_t walk_memory(const copy_walk *walk)
{
    return sizeof *walk + (walk->src_count + walk->dst_count) * sizeof walk->nests[0];
}
