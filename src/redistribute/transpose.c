/* Transposes: the calls. A transpose is the shares of all ranks, turned into edges and compiled to
 * a plan; a round is a round of the plan. Knows nothing of how bytes move, or of MPI. */
#include "redistribute/transpose.h"

#include "base/alloc.h"
#include "base/size.h"
#include "base/text.h"
#include "base/trouble.h"

void ferry_transpose_free(ferry_transpose *transpose)
{
    if (!transpose)
        return;
    ferry_plan_free(transpose->plan);
    alloc_free(transpose);
}

/* The text of a failure that one rank alone has found will be read on all ranks: say whose it is.
 */
static ferry_status blame(const ferry_context *ctx, ferry_status st)
{
    ferry_context_info info;

    if (st == FERRY_OK || ferry_context_describe(ctx, &info) != FERRY_OK)
        return st;
    return trouble(st, "ferry_transpose_create on rank %d: %s", info.rank, trouble_text());
}

/* The part of a rank alone: memory, and a spec that is right in itself. */
static ferry_status make_alone(const ferry_context *ctx, const ferry_transpose_spec *spec,
                               ferry_transpose **transpose_out, transpose_record **all_out)
{
    ferry_status st = alloc_zero(1, sizeof **transpose_out, transpose_out);

    if (st == FERRY_OK)
        st = transpose_read_spec(ctx, spec, *transpose_out);
    if (st == FERRY_OK)
        st = alloc_zero((size_t)(*transpose_out)->size, sizeof **all_out, all_out);
    return st;
}

/* Gather the specs of all ranks and see whether they fit; collective, agreed. */
static ferry_status compare(ferry_context *ctx, ferry_transpose *transpose, transpose_record *all)
{
    ferry_status st = ferry_context_gather(ctx, &transpose->spec, sizeof *all, all);

    if (st == FERRY_OK)
        st = transpose_check_all(transpose, all);
    return ferry_context_agree(ctx, st);
}

ferry_status ferry_transpose_create(ferry_context *ctx, const ferry_transpose_spec *spec,
                                    ferry_transpose **transpose_out)
{
    ferry_transpose *transpose = NULL;
    transpose_record *all = NULL;

    if (!ctx)
        return trouble(FERRY_ERR_ARG, "ferry_transpose_create: ctx is NULL");
    ferry_status st = transpose_out ? make_alone(ctx, spec, &transpose, &all)
                                    : trouble(FERRY_ERR_ARG, "transpose_out is NULL");
    st = ferry_context_agree(
        ctx, blame(ctx, st)); /* every rank passes here, also one that has already failed */
    if (st == FERRY_OK)
        st = compare(ctx, transpose, all);
    if (st == FERRY_OK)
        st = transpose_compile(ctx, transpose, all);
    alloc_free(all);
    if (st != FERRY_OK) {
        ferry_transpose_free(transpose);
        return st;
    }
    *transpose_out = transpose;
    return FERRY_OK;
}

static ferry_status check_addresses(const ferry_transpose *transpose, const void *src,
                                    const void *dst)
{
    const uintptr_t s = (uintptr_t)src, d = (uintptr_t)dst;
    const uintptr_t src_bytes = (uintptr_t)transpose->src_bytes,
                    dst_bytes = (uintptr_t)transpose->dst_bytes;

    if (!src && src_bytes > 0)
        return trouble(FERRY_ERR_ARG,
                       "ferry_transpose_start: src is NULL on rank %d, expected %zu bytes",
                       transpose->rank, (size_t)src_bytes);
    if (!dst && dst_bytes > 0)
        return trouble(FERRY_ERR_ARG,
                       "ferry_transpose_start: dst is NULL on rank %d, expected %zu bytes",
                       transpose->rank, (size_t)dst_bytes);
    if (src_bytes > 0 && dst_bytes > 0 && s < d + dst_bytes && d < s + src_bytes)
        return trouble(
            FERRY_ERR_ARG,
            "ferry_transpose_start: src and dst share bytes on rank %d, expected two arrays",
            transpose->rank);
    return FERRY_OK;
}

ferry_status ferry_transpose_start(ferry_transpose *transpose, const void *src, void *dst)
{
    if (!transpose)
        return trouble(FERRY_ERR_ARG, "ferry_transpose_start: transpose is NULL");
    const ferry_status st = check_addresses(transpose, src, dst);
    return st == FERRY_OK ? ferry_plan_start(transpose->plan, src, dst) : st;
}

ferry_status ferry_transpose_test(ferry_transpose *transpose, int *done_out)
{
    if (!transpose)
        return trouble(FERRY_ERR_ARG, "ferry_transpose_test: transpose is NULL");
    return ferry_plan_test(transpose->plan, done_out);
}

ferry_status ferry_transpose_wait(ferry_transpose *transpose)
{
    if (!transpose)
        return trouble(FERRY_ERR_ARG, "ferry_transpose_wait: transpose is NULL");
    return ferry_plan_wait(transpose->plan);
}

ferry_status ferry_transpose_run(ferry_transpose *transpose, const void *src, void *dst)
{
    const ferry_status st = ferry_transpose_start(transpose, src, dst);

    return st == FERRY_OK ? ferry_plan_wait(transpose->plan) : st;
}

ferry_status ferry_transpose_shares(const ferry_transpose *transpose, int64_t *first_row_out,
                                    int64_t *row_count_out, int64_t *first_column_out,
                                    int64_t *column_count_out)
{
    if (!transpose)
        return trouble(FERRY_ERR_ARG, "ferry_transpose_shares: transpose is NULL");
    const struct {
        int64_t *out, value;
    } shares[] = {
        {first_row_out, transpose->first_row},
        {row_count_out, transpose->spec.local_rows},
        {first_column_out, transpose->first_column},
        {column_count_out, transpose->spec.local_columns},
    };
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        if (shares[i].out)
            *shares[i].out = shares[i].value;
    return FERRY_OK;
}

ferry_status ferry_transpose_describe(const ferry_transpose *transpose, ferry_plan_info *info_out)
{
    if (!transpose)
        return trouble(FERRY_ERR_ARG, "ferry_transpose_describe: transpose is NULL");
    return ferry_plan_describe(transpose->plan, info_out);
}

static void explain_share(text_out *out, const char *what, int64_t first, int64_t count,
                          int64_t bytes)
{
    text_add(out, "  %s: %lld from %lld, ", what, (long long)count, (long long)first);
    text_bytes(out, (uint64_t)bytes);
    text_add(out, "\n");
}

size_t ferry_transpose_explain(const ferry_transpose *transpose, char *text, size_t bytes)
{
    text_out out = {.at = text, .room = bytes};

    if (!transpose) {
        text_add(&out, "none");
        return out.needed;
    }
    const transpose_record *spec = &transpose->spec;
    text_add(&out, "transpose of rank %d: %lld x %lld elements of %lld B\n", transpose->rank,
             (long long)spec->rows, (long long)spec->columns, (long long)spec->element_bytes);
    explain_share(&out, "rows", transpose->first_row, spec->local_rows, transpose->src_bytes);
    explain_share(&out, "columns", transpose->first_column, spec->local_columns,
                  transpose->dst_bytes);
    const size_t used = size_min(out.needed, bytes);
    return out.needed +
           ferry_plan_explain(transpose->plan, bytes > used ? text + used : NULL, bytes - used);
}
