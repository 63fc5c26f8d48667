/* Halos: the calls. A halo is a block, a place on a grid, and a plan; a round is a round of the
 * plan. Knows nothing of how bytes move, or of MPI: it sees the engine through its public headers
 * only. */
#include "halo/halo.h"

#include "base/alloc.h"
#include "base/size.h"
#include "base/text.h"
#include "base/trouble.h"

void ferry_halo_free(ferry_halo *halo)
{
    if (!halo)
        return;
    ferry_plan_free(halo->plan);
    alloc_free(halo->block);
    alloc_free(halo);
}

/* The text of a failure that one rank alone has found will be read on all ranks: say whose it is.
 */
static ferry_status blame(const ferry_context *ctx, ferry_status st)
{
    ferry_context_info info;

    if (st == FERRY_OK || ferry_context_describe(ctx, &info) != FERRY_OK)
        return st;
    return trouble(st, "ferry_halo_create on rank %d: %s", info.rank, trouble_text());
}

/* The part of a rank alone: read the spec, find the place on the grid and the neighbours. */
static ferry_status make_alone(const ferry_context *ctx, const ferry_halo_spec *spec,
                               ferry_halo **halo_out, halo_ring *ring_out)
{
    ferry_status st = alloc_zero(1, sizeof **halo_out, halo_out);

    if (st == FERRY_OK)
        st = halo_read_spec(ctx, spec, *halo_out);
    if (st == FERRY_OK)
        st = halo_find_neighbours(*halo_out, ring_out);
    return st;
}

ferry_status ferry_halo_create(ferry_context *ctx, const ferry_halo_spec *spec,
                               ferry_halo **halo_out)
{
    ferry_halo *halo = NULL;
    halo_ring ring = {0};

    if (!ctx)
        return trouble(FERRY_ERR_ARG, "ferry_halo_create: ctx is NULL");
    ferry_status st =
        halo_out ? make_alone(ctx, spec, &halo, &ring) : trouble(FERRY_ERR_ARG, "halo_out is NULL");
    st = ferry_context_agree(
        ctx, blame(ctx, st)); /* every rank passes here, also one that has already failed */
    if (st != FERRY_OK)
        goto out;
    st = halo_compare_shapes(ctx, halo);
    if (st != FERRY_OK)
        goto out;
    st = halo_compare_blocks(ctx, halo, &ring);
    if (st != FERRY_OK)
        goto out;
    st = halo_compile(ctx, halo, &ring);
    if (st != FERRY_OK)
        goto out;
    *halo_out = halo;
    halo = NULL;
out:
    halo_drop_neighbours(&ring);
    ferry_halo_free(halo);
    return st;
}

ferry_status ferry_halo_start(ferry_halo *halo, void *const *fields)
{
    if (!halo)
        return trouble(FERRY_ERR_ARG, "ferry_halo_start: halo is NULL");
    if (halo->moves == 0)
        return ferry_plan_start_buffers(halo->plan, 0, NULL, NULL);
    if (!fields)
        return trouble(FERRY_ERR_ARG,
                       "ferry_halo_start: fields is NULL on rank %d, expected %d addresses",
                       halo->rank, halo->field_count);
    for (int f = 0; f < halo->field_count; f++)
        if (!fields[f] && (halo->moves >> f & 1))
            return trouble(FERRY_ERR_ARG,
                           "ferry_halo_start: fields[%d] is NULL on rank %d, expected an array", f,
                           halo->rank);
    return ferry_plan_start_buffers(halo->plan, halo->field_count, (const void *const *)fields,
                                    fields);
}

ferry_status ferry_halo_test(ferry_halo *halo, int *done_out)
{
    if (!halo)
        return trouble(FERRY_ERR_ARG, "ferry_halo_test: halo is NULL");
    return ferry_plan_test(halo->plan, done_out);
}

ferry_status ferry_halo_wait(ferry_halo *halo)
{
    if (!halo)
        return trouble(FERRY_ERR_ARG, "ferry_halo_wait: halo is NULL");
    return ferry_plan_wait(halo->plan);
}

ferry_status ferry_halo_exchange(ferry_halo *halo, void *const *fields)
{
    const ferry_status st = ferry_halo_start(halo, fields);

    return st == FERRY_OK ? ferry_plan_wait(halo->plan) : st;
}

static ferry_status check_field_number(const char *call, const ferry_halo *halo, int field,
                                       const void *out)
{
    if (!halo || !out)
        return trouble(FERRY_ERR_ARG, "%s: %s is NULL", call, halo ? "the output" : "halo");
    if (field < 0 || field >= halo->field_count)
        return trouble(FERRY_ERR_ARG, "%s: field is %d, expected 0..%d", call, field,
                       halo->field_count - 1);
    return FERRY_OK;
}

ferry_status ferry_halo_field_bytes(const ferry_halo *halo, int field, int64_t *bytes_out)
{
    const ferry_status st = check_field_number("ferry_halo_field_bytes", halo, field, bytes_out);

    if (st == FERRY_OK)
        *bytes_out = halo_field_size(halo, field);
    return st;
}

ferry_status ferry_halo_interior(const ferry_halo *halo, int field, int64_t *offset_out,
                                 int64_t *strides_out)
{
    const ferry_status st = check_field_number("ferry_halo_interior", halo, field, offset_out);

    if (st != FERRY_OK)
        return st;
    int64_t stride = halo->block->fields[field].element_bytes, offset = 0;
    for (int d = 0; d < halo->dims; d++) {
        if (strides_out)
            strides_out[d] = stride;
        offset += halo->block->fields[field].ghost[d][0] * stride;
        stride *= halo_cells(halo->block, field, d);
    }
    *offset_out = offset;
    return FERRY_OK;
}

ferry_status ferry_halo_describe(const ferry_halo *halo, ferry_plan_info *info_out)
{
    if (!halo)
        return trouble(FERRY_ERR_ARG, "ferry_halo_describe: halo is NULL");
    return ferry_plan_describe(halo->plan, info_out);
}

/* --- explain
 * ------------------------------------------------------------------------------------------ */

static void explain_side(const ferry_halo *halo, int d, int side, text_out *out)
{
    int step[MAX_DIMS] = {0};

    step[d] = side ? 1 : -1;
    const int rank = halo_rank_at(halo, step);
    text_add(out, ", %s neighbour ", side ? "high" : "low");
    if (rank < 0)
        text_add(out, "none");
    else
        text_add(out, "rank %d", rank);
}

static void explain_dimension(const ferry_halo *halo, int d, text_out *out)
{
    text_add(out, "  dimension %d: %lld cells, block %d of %d%s", d,
             (long long)halo->block->extent[d], halo->place[d], halo->grid[d],
             halo->periodic[d] ? " (periodic)" : "");
    explain_side(halo, d, 0, out);
    explain_side(halo, d, 1, out);
    text_add(out, "\n");
}

static void explain_field(const ferry_halo *halo, int f, text_out *out)
{
    const halo_field *field = &halo->block->fields[f];

    text_add(out, "  field %d: %lld B a cell, ghosts", f, (long long)field->element_bytes);
    for (int d = 0; d < halo->dims; d++)
        text_add(out, " %lld/%lld", (long long)field->ghost[d][0], (long long)field->ghost[d][1]);
    text_add(out, ", array ");
    text_bytes(out, (uint64_t)halo_field_size(halo, f));
    text_add(out, "\n");
}

size_t ferry_halo_explain(const ferry_halo *halo, char *text, size_t bytes)
{
    static const char *const corners[] = {"faces", "faces and edges", "faces, edges and corners"};
    text_out out = {.at = text, .room = bytes};

    if (!halo) {
        text_add(&out, "none");
        return out.needed;
    }
    text_add(&out, "halo of rank %d: %s\n", halo->rank, corners[halo->corners]);
    for (int d = 0; d < halo->dims; d++)
        explain_dimension(halo, d, &out);
    for (int f = 0; f < halo->field_count; f++)
        explain_field(halo, f, &out);
    const size_t used = size_min(out.needed, bytes);
    return out.needed +
           ferry_plan_explain(halo->plan, bytes > used ? text + used : NULL, bytes - used);
}
