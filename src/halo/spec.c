/* Read a spec: every number is checked here, once, so that the rest of the halo can rely on it. */
#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "halo/halo.h"

static ferry_status check_counts(const ferry_halo_spec *spec)
{
    if (!spec)
        return trouble(FERRY_ERR_ARG, "spec is NULL");
    if (spec->size != sizeof *spec)
        return trouble(FERRY_ERR_ARG, "spec.size is %zu, expected %zu", spec->size, sizeof *spec);
    if (spec->dims < 1 || spec->dims > MAX_DIMS)
        return trouble(FERRY_ERR_ARG, "spec.dims is %d, expected 1..%d", spec->dims, MAX_DIMS);
    if ((unsigned)spec->corners > FERRY_HALO_ALL)
        return trouble(FERRY_ERR_ARG,
                       "spec.corners is %d, expected FERRY_HALO_FACES, _EDGES or _ALL",
                       (int)spec->corners);
    if (spec->field_count < 1 || spec->field_count > FERRY_PLAN_MAX_BUFFERS)
        return trouble(FERRY_ERR_ARG, "spec.field_count is %d, expected 1..%d", spec->field_count,
                       FERRY_PLAN_MAX_BUFFERS);
    if (!spec->fields)
        return trouble(FERRY_ERR_ARG, "spec.fields is NULL, expected %d fields", spec->field_count);
    return FERRY_OK;
}

static ferry_status check_block(const ferry_halo_spec *spec)
{
    for (int d = 0; d < spec->dims; d++) {
        if (spec->extent[d] < 0)
            return trouble(FERRY_ERR_ARG, "spec.extent[%d] is %lld, expected 0 or more", d,
                           (long long)spec->extent[d]);
        for (int side = 0; side < 2; side++)
            if (spec->ghost[d][side] < 0)
                return trouble(FERRY_ERR_ARG, "spec.ghost[%d][%d] is %lld, expected 0 or more", d,
                               side, (long long)spec->ghost[d][side]);
    }
    return FERRY_OK;
}

static ferry_status check_field(const ferry_halo_spec *spec, int f)
{
    const ferry_halo_field *field = &spec->fields[f];

    if (field->size != sizeof *field)
        return trouble(FERRY_ERR_ARG, "spec.fields[%d].size is %zu, expected %zu", f, field->size,
                       sizeof *field);
    if (field->element_bytes < 1)
        return trouble(FERRY_ERR_ARG, "spec.fields[%d].element_bytes is %lld, expected 1 or more",
                       f, (long long)field->element_bytes);
    for (int d = 0; d < spec->dims; d++)
        for (int side = 0; side < 2; side++)
            if (field->ghost[d][side] < -1)
                return trouble(FERRY_ERR_ARG,
                               "spec.fields[%d].ghost[%d][%d] is %lld, expected -1 or more", f, d,
                               side, (long long)field->ghost[d][side]);
    return FERRY_OK;
}

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

static ferry_status take_grid(const ferry_halo_spec *spec, ferry_halo *halo)
{
    int64_t ranks = 1;

    for (int d = 0; d < halo->dims; d++) {
        if (spec->grid[d] < 1)
            return trouble(FERRY_ERR_ARG,
                           "spec.grid[%d] is %d, expected 1 or more (or 0 in all dimensions)", d,
                           spec->grid[d]);
        if (spec->periodic[d] != 0 && spec->periodic[d] != 1)
            return trouble(FERRY_ERR_ARG, "spec.periodic[%d] is %d, expected 0 or 1", d,
                           spec->periodic[d]);
        if (!offset_mul(ranks, spec->grid[d], &ranks))
            ranks = INT64_MAX; /* no communicator is that large */
        halo->grid[d] = spec->grid[d];
        halo->periodic[d] = spec->periodic[d];
    }
    if (ranks != halo->size)
        return trouble(FERRY_ERR_ARG,
                       "spec.grid has %lld places, but the communicator has %d ranks",
                       (long long)ranks, halo->size);
    return FERRY_OK;
}

static bool grid_given(const ferry_halo_spec *spec)
{
    for (int d = 0; d < spec->dims; d++)
        if (spec->grid[d] != 0)
            return true;
    return false;
}

static void copy_field(const ferry_halo_spec *spec, int f, halo_field *field)
{
    field->element_bytes = spec->fields[f].element_bytes;
    for (int d = 0; d < spec->dims; d++)
        for (int side = 0; side < 2; side++) {
            const int64_t own = spec->fields[f].ghost[d][side];
            field->ghost[d][side] = own < 0 ? spec->ghost[d][side] : own;
        }
}

/* The local array must be addressable; the layouts of parts of it then are, too. */
static ferry_status check_field_size(const ferry_halo *halo, int f)
{
    const halo_field *field = &halo->block->fields[f];
    int64_t bytes = field->element_bytes;

    for (int d = 0; d < halo->dims; d++) {
        int64_t cells;
        if (!offset_add(halo->block->extent[d], field->ghost[d][0], &cells) ||
            !offset_add(cells, field->ghost[d][1], &cells) || !offset_mul(bytes, cells, &bytes))
            return trouble(FERRY_ERR_ARG,
                           "the array of field %d has 2^63 bytes or more (at dimension %d)", f, d);
    }
    return FERRY_OK;
}

int64_t halo_field_size(const ferry_halo *halo, int field)
{
    int64_t bytes = halo->block->fields[field].element_bytes;

    for (int d = 0; d < halo->dims; d++)
        bytes *= halo_cells(halo->block, field, d);
    return bytes;
}

static ferry_status copy_block(const ferry_halo_spec *spec, ferry_halo *halo)
{
    ferry_status st = alloc_zero(1, halo_block_bytes(halo), &halo->block);

    if (st != FERRY_OK)
        return st;
    memcpy(halo->block->extent, spec->extent, (size_t)halo->dims * sizeof spec->extent[0]);
    for (int f = 0; st == FERRY_OK && f < halo->field_count; f++) {
        st = check_field(spec, f);
        if (st != FERRY_OK)
            break;
        copy_field(spec, f, &halo->block->fields[f]);
        st = check_field_size(halo, f);
    }
    return st;
}

ferry_status halo_read_spec(const ferry_context *ctx, const ferry_halo_spec *spec, ferry_halo *halo)
{
    ferry_context_info info;
    ferry_status st = check_counts(spec);

    if (st == FERRY_OK)
        st = check_block(spec);
    if (st == FERRY_OK)
        st = ferry_context_describe(ctx, &info);
    if (st != FERRY_OK)
        return st;
    halo->rank = info.rank;
    halo->size = info.size;
    halo->dims = spec->dims;
    halo->corners = spec->corners;
    halo->field_count = spec->field_count;
    st = grid_given(spec) ? take_grid(spec, halo) : take_cartesian(ctx, halo);
    if (st != FERRY_OK)
        return st;
    halo_find_place(halo);
    return copy_block(spec, halo);
}
