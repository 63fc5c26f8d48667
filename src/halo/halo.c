/* Halos: the calls. A halo is a block, the pieces of ghosts that it gets and gives, and a plan; a
 * round is a round of the plan. Knows nothing of how bytes move, or of MPI: it sees the engine
 * through its public headers only. */
#include "halo/halo.h"

#include "base/alloc.h"
#include "base/trouble.h"

void ferry_halo_free(ferry_halo *halo)
{
    if (!halo)
        return;
    ferry_plan_free(halo->plan);
    ferry_plan_free(halo->reverse.plan);
    alloc_free(halo->block);
    alloc_free(halo->pieces.list);
    alloc_free(halo->inner);
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

static ferry_status make_alone(ferry_context *ctx, const ferry_halo_spec *spec,
                               ferry_halo **halo_out)
{
    const ferry_status st = alloc_zero(1, sizeof **halo_out, halo_out);

    if (st != FERRY_OK)
        return st;
    (*halo_out)->ctx = ctx;
    return halo_read_spec(ctx, spec, *halo_out);
}

/* Blocks are in place: find out who shares what. Collective, agreed. */
static ferry_status share(ferry_halo *halo)
{
    halo_record *records = NULL;
    halo_partners partners = {0};
    ferry_status st = halo_gather(halo, &records);

    if (st != FERRY_OK)
        return st;
    st = halo_find_partners(halo, records, &partners);
    if (st == FERRY_OK)
        st = halo_find_pieces(halo, &partners);
    if (st == FERRY_OK)
        st = halo_find_inner(halo);
    alloc_free(records);
    halo_drop_partners(&partners);
    return ferry_context_agree(halo->ctx, st);
}

static ferry_status compile(ferry_halo *halo)
{
    halo_edges edges = {0};
    ferry_status st = halo_make_edges(halo, false, &edges);

    st = ferry_context_agree(halo->ctx, st);
    if (st == FERRY_OK)
        st = ferry_plan_compile(halo->ctx, edges.list, edges.count, &halo->plan);
    halo_drop_edges(&edges);
    return st;
}

ferry_status ferry_halo_create(ferry_context *ctx, const ferry_halo_spec *spec,
                               ferry_halo **halo_out)
{
    ferry_halo *halo = NULL;

    if (!ctx)
        return trouble(FERRY_ERR_ARG, "ferry_halo_create: ctx is NULL");
    ferry_status st =
        halo_out ? make_alone(ctx, spec, &halo) : trouble(FERRY_ERR_ARG, "halo_out is NULL");
    st = ferry_context_agree(
        ctx, blame(ctx, st)); /* every rank passes here, also one that has already failed */
    if (st != FERRY_OK)
        goto out;
    st = share(halo);
    if (st != FERRY_OK)
        goto out;
    st = compile(halo);
    if (st != FERRY_OK)
        goto out;
    *halo_out = halo;
    halo = NULL;
out:
    ferry_halo_free(halo);
    return st;
}

/* Ghosts of two fields in one array would be filled twice. Not worth more than a look: fields are
 * few. */
static ferry_status check_addresses(const ferry_halo *halo, const char *call, void *const *fields)
{
    for (int f = 0; f < halo->field_count; f++) {
        if (!(halo->moves >> f & 1))
            continue;
        if (!fields[f])
            return trouble(FERRY_ERR_ARG, "%s: fields[%d] is NULL on rank %d, expected an array",
                           call, f, halo->rank);
        for (int g = 0; g < f; g++)
            if (fields[g] == fields[f] && (halo->moves >> g & 1))
                return trouble(FERRY_ERR_ARG,
                               "%s: fields[%d] and fields[%d] are the same array on rank %d", call,
                               g, f, halo->rank);
    }
    return FERRY_OK;
}

ferry_status halo_start(const ferry_halo *halo, const char *call, ferry_plan *plan,
                        void *const *fields)
{
    if (halo->moves == 0)
        return ferry_plan_start_buffers(plan, 0, NULL, NULL);
    if (!fields)
        return trouble(FERRY_ERR_ARG, "%s: fields is NULL on rank %d, expected %d addresses", call,
                       halo->rank, halo->field_count);
    const ferry_status st = check_addresses(halo, call, fields);
    if (st != FERRY_OK)
        return st;
    return ferry_plan_start_buffers(plan, halo->field_count, (const void *const *)fields, fields);
}

ferry_status ferry_halo_start(ferry_halo *halo, void *const *fields)
{
    static const char call[] = "ferry_halo_start";

    if (!halo)
        return trouble(FERRY_ERR_ARG, "%s: halo is NULL", call);
    const ferry_status st = halo_reverse_idle(halo->reverse.plan, call, halo->rank);
    return st == FERRY_OK ? halo_start(halo, call, halo->plan, fields) : st;
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

ferry_status halo_check_field(const char *call, const ferry_halo *halo, int field, const void *out)
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
    const ferry_status st = halo_check_field("ferry_halo_field_bytes", halo, field, bytes_out);

    if (st == FERRY_OK)
        *bytes_out = halo_field_size(halo->block, field, halo->dims);
    return st;
}

ferry_status ferry_halo_interior(const ferry_halo *halo, int field, int64_t *offset_out,
                                 int64_t *strides_out)
{
    const ferry_status st = halo_check_field("ferry_halo_interior", halo, field, offset_out);

    if (st != FERRY_OK)
        return st;
    const halo_field *f = &halo->block->fields[field];
    int64_t offset = 0;
    for (int d = 0; d < halo->dims; d++) {
        if (strides_out)
            strides_out[d] = f->stride[d];
        offset += f->ghost[d][0] * f->stride[d];
    }
    *offset_out = offset;
    return FERRY_OK;
}

ferry_status ferry_halo_describe(const ferry_halo *halo, ferry_plan_info *info_out)
{
    if (!halo)
        return trouble(FERRY_ERR_ARG, "ferry_halo_describe: halo is NULL");
    const ferry_status st = ferry_plan_describe(halo->plan, info_out);
    if (st != FERRY_OK)
        return st;
    info_out->private_bytes += sizeof *halo + halo_block_bytes(halo) +
                               halo->pieces.room * sizeof *halo->pieces.list +
                               (size_t)halo->field_count * sizeof *halo->inner;
    return halo_reverse_account(&halo->reverse, info_out);
}
