/* Read a spec: every number is checked here and in field.c, once, so that the rest of the halo can
 * rely on it. */
#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "halo/halo.h"

static const int64_t most_cells = (int64_t)1 << 60; /* sums of a few never overflow */

static ferry_status check_counts(const ferry_halo_spec *spec)
{
    if (!spec)
        return trouble(FERRY_ERR_ARG, "spec is NULL");
    if (spec->size != sizeof *spec)
        return trouble(FERRY_ERR_ARG, "spec.size is %zu, expected %zu", spec->size, sizeof *spec);
    if (spec->dims < 1 || spec->dims > MAX_DIMS)
        return trouble(FERRY_ERR_ARG, "spec.dims is %d, expected 1..%d", spec->dims, MAX_DIMS);
    if (spec->field_count < 1 || spec->field_count > FERRY_PLAN_MAX_BUFFERS)
        return trouble(FERRY_ERR_ARG, "spec.field_count is %d, expected 1..%d", spec->field_count,
                       FERRY_PLAN_MAX_BUFFERS);
    if (!spec->fields)
        return trouble(FERRY_ERR_ARG, "spec.fields is NULL, expected %d fields", spec->field_count);
    return FERRY_OK;
}

static ferry_status check_choices(const ferry_halo_spec *spec)
{
    if ((unsigned)spec->corners > FERRY_HALO_ALL)
        return trouble(FERRY_ERR_ARG,
                       "spec.corners is %d, expected FERRY_HALO_FACES, _EDGES or _ALL",
                       (int)spec->corners);
    if ((unsigned)spec->blocks > FERRY_HALO_BOXES)
        return trouble(FERRY_ERR_ARG, "spec.blocks is %d, expected FERRY_HALO_GRID or _BOXES",
                       (int)spec->blocks);
    if ((unsigned)spec->order > FERRY_HALO_LAST_FASTEST)
        return trouble(
            FERRY_ERR_ARG,
            "spec.order is %d, expected FERRY_HALO_FIRST_FASTEST or FERRY_HALO_LAST_FASTEST",
            (int)spec->order);
    if (spec->holes != 0 && spec->holes != 1)
        return trouble(FERRY_ERR_ARG, "spec.holes is %d, expected 0 or 1", spec->holes);
    return FERRY_OK;
}

static ferry_status check_cells(const char *name, int d, int64_t cells)
{
    if (cells < 0)
        return trouble(FERRY_ERR_ARG, "spec.%s[%d] is %lld, expected 0 or more", name, d,
                       (long long)cells);
    if (cells > most_cells)
        return trouble(FERRY_ERR_ARG, "spec.%s[%d] is %lld, expected at most 2^60", name, d,
                       (long long)cells);
    return FERRY_OK;
}

static ferry_status check_block(const ferry_halo_spec *spec)
{
    for (int d = 0; d < spec->dims; d++) {
        ferry_status st = check_cells("extent", d, spec->extent[d]);
        if (st != FERRY_OK)
            return st;
        for (int side = 0; side < 2; side++)
            if (spec->ghost[d][side] < 0 || spec->ghost[d][side] > most_cells)
                return trouble(FERRY_ERR_ARG,
                               "spec.ghost[%d][%d] is %lld, expected 0 or more, at most 2^60", d,
                               side, (long long)spec->ghost[d][side]);
    }
    return FERRY_OK;
}

/* --- grids -------------------------------------------------------------------------------- */

static ferry_status take_cartesian(const ferry_context *ctx, ferry_halo *halo)
{
    int dims;
    const ferry_status st =
        ferry_context_cartesian(ctx, MAX_DIMS, &dims, halo->grid, halo->periodic);

    if (st == FERRY_ERR_NOT_FOUND)
        return trouble(
            st,
            "spec.grid is all 0, but the communicator has no Cartesian topology to take it from");
    if (st != FERRY_OK)
        return st;
    if (dims != halo->dims)
        return trouble(FERRY_ERR_ARG,
                       "spec.dims is %d, but the Cartesian communicator has %d dimensions",
                       halo->dims, dims);
    return FERRY_OK;
}

static ferry_status take_periodic(const ferry_halo_spec *spec, ferry_halo *halo)
{
    for (int d = 0; d < halo->dims; d++) {
        if (spec->periodic[d] != 0 && spec->periodic[d] != 1)
            return trouble(FERRY_ERR_ARG, "spec.periodic[%d] is %d, expected 0 or 1", d,
                           spec->periodic[d]);
        halo->periodic[d] = spec->periodic[d];
    }
    return FERRY_OK;
}

static ferry_status take_grid(const ferry_halo_spec *spec, ferry_halo *halo)
{
    int64_t ranks = 1;

    for (int d = 0; d < halo->dims; d++) {
        if (spec->grid[d] < 1)
            return trouble(FERRY_ERR_ARG,
                           "spec.grid[%d] is %d, expected 1 or more (or 0 in all dimensions)", d,
                           spec->grid[d]);
        if (!offset_mul(ranks, spec->grid[d], &ranks))
            ranks = INT64_MAX; /* no communicator is that large */
        halo->grid[d] = spec->grid[d];
    }
    if (ranks != halo->size)
        return trouble(FERRY_ERR_ARG,
                       "spec.grid has %lld places, but the communicator has %d ranks",
                       (long long)ranks, halo->size);
    return take_periodic(spec, halo);
}

static bool grid_given(const ferry_halo_spec *spec)
{
    for (int d = 0; d < spec->dims; d++)
        if (spec->grid[d] != 0)
            return true;
    return false;
}

static void find_place(ferry_halo *halo)
{
    int rest = halo->rank;

    for (int d = halo->dims - 1; d >= 0; d--) {
        halo->place[d] = rest % halo->grid[d];
        rest /= halo->grid[d];
    }
}

/* --- boxes -------------------------------------------------------------------------------- */

static ferry_status take_box(const ferry_halo_spec *spec, ferry_halo *halo)
{
    for (int d = 0; d < halo->dims; d++) {
        ferry_status st = check_cells("origin", d, spec->origin[d]);
        if (st == FERRY_OK)
            st = check_cells("global", d, spec->global[d]);
        if (st != FERRY_OK)
            return st;
        if (spec->origin[d] + spec->extent[d] > spec->global[d])
            return trouble(FERRY_ERR_ARG,
                           "spec.origin[%d] + spec.extent[%d] is %lld + %lld, expected at most "
                           "spec.global[%d], %lld",
                           d, d, (long long)spec->origin[d], (long long)spec->extent[d], d,
                           (long long)spec->global[d]);
        halo->total[d] = spec->global[d];
    }
    return take_periodic(spec, halo);
}

/* --- all of it ---------------------------------------------------------------------------- */

static ferry_status take_blocks(const ferry_context *ctx, const ferry_halo_spec *spec,
                                ferry_halo *halo)
{
    if (spec->blocks == FERRY_HALO_BOXES)
        return take_box(spec, halo);
    const ferry_status st = grid_given(spec) ? take_grid(spec, halo) : take_cartesian(ctx, halo);
    if (st == FERRY_OK)
        find_place(halo);
    return st;
}

static void take_choices(const ferry_halo_spec *spec, ferry_halo *halo)
{
    halo->dims = spec->dims;
    halo->corners = spec->corners;
    halo->field_count = spec->field_count;
    halo->blocks = spec->blocks;
    halo->holes = spec->blocks == FERRY_HALO_BOXES && spec->holes;
}

static ferry_status make_block(const ferry_halo_spec *spec, ferry_halo *halo)
{
    const ferry_status st = alloc_zero(1, halo_block_bytes(halo), &halo->block);

    if (st != FERRY_OK)
        return st;
    memcpy(halo->block->extent, spec->extent, (size_t)halo->dims * sizeof spec->extent[0]);
    if (halo->blocks == FERRY_HALO_BOXES)
        memcpy(halo->block->origin, spec->origin, (size_t)halo->dims * sizeof spec->origin[0]);
    return halo_read_fields(spec, halo);
}

/* What all ranks will see of this one. */
static void fill_record(ferry_halo *halo)
{
    halo_record *r = &halo->record;

    r->shape[SHAPE_DIMS] = halo->dims;
    r->shape[SHAPE_CORNERS] = halo->corners;
    r->shape[SHAPE_FIELDS] = halo->field_count;
    r->shape[SHAPE_BLOCKS] = halo->blocks;
    r->shape[SHAPE_HOLES] = halo->holes;
    memcpy(r->origin, halo->block->origin, sizeof r->origin);
    memcpy(r->extent, halo->block->extent, sizeof r->extent);
    for (int d = 0; d < halo->dims; d++) {
        r->shape[SHAPE_GRID + d] = halo->grid[d];
        r->shape[SHAPE_PERIODIC + d] = halo->periodic[d];
        r->shape[SHAPE_GLOBAL + d] = halo->total[d]; /* of a grid, not known yet */
        for (int f = 0; f < halo->field_count; f++) {
            const halo_field *field = &halo->block->fields[f];
            const int64_t low = field->ghost[d][0], high = field->ghost[d][1] + field->stagger[d];
            r->reach[d][0] = r->reach[d][0] > low ? r->reach[d][0] : low;
            r->reach[d][1] = r->reach[d][1] > high ? r->reach[d][1] : high;
        }
    }
}

ferry_status halo_read_spec(const ferry_context *ctx, const ferry_halo_spec *spec, ferry_halo *halo)
{
    ferry_context_info info;
    ferry_status st = check_counts(spec);

    if (st == FERRY_OK)
        st = check_choices(spec);
    if (st == FERRY_OK)
        st = check_block(spec);
    if (st == FERRY_OK)
        st = ferry_context_describe(ctx, &info);
    if (st != FERRY_OK)
        return st;
    halo->rank = info.rank;
    halo->size = info.size;
    take_choices(spec, halo);
    st = take_blocks(ctx, spec, halo);
    if (st == FERRY_OK)
        st = make_block(spec, halo);
    if (st == FERRY_OK)
        fill_record(halo);
    return st;
}
