/* Check the numbers of a transpose: first those of this rank alone, then those of all ranks
 * together. */
#include "base/size.h"
#include "base/trouble.h"
#include "redistribute/transpose.h"

static ferry_status check_numbers(const ferry_transpose_spec *spec)
{
    if (!spec)
        return trouble(FERRY_ERR_ARG, "spec is NULL");
    if (spec->size != sizeof *spec)
        return trouble(FERRY_ERR_ARG, "spec.size is %zu, expected %zu", spec->size, sizeof *spec);
    const struct {
        const char *name;
        int64_t value, least, most;
    } numbers[] = {
        {"rows", spec->rows, 0, INT64_MAX},
        {"columns", spec->columns, 0, INT64_MAX},
        {"element_bytes", spec->element_bytes, 1, FERRY_TRANSPOSE_MAX_ELEMENT},
        {"local_rows", spec->local_rows, -1, spec->rows},
        {"local_columns", spec->local_columns, -1, spec->columns},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].value < numbers[i].least || numbers[i].value > numbers[i].most)
            return trouble(FERRY_ERR_ARG, "spec.%s is %lld, expected %lld..%lld", numbers[i].name,
                           (long long)numbers[i].value, (long long)numbers[i].least,
                           (long long)numbers[i].most);
    return FERRY_OK;
}

static ferry_status fill_share(int64_t total, int64_t given, const ferry_context_info *info,
                               int64_t *count_out)
{
    int64_t first;

    *count_out = given;
    return given >= 0 ? FERRY_OK
                      : ferry_block_share(total, info->size, info->rank, &first, count_out);
}

static ferry_status array_bytes(int64_t lines, int64_t length, int64_t element_bytes,
                                int64_t *bytes_out)
{
    if (!offset_mul(lines, length, bytes_out) || !offset_mul(*bytes_out, element_bytes, bytes_out))
        return trouble(FERRY_ERR_ARG, "%lld x %lld elements of %lld bytes are 2^63 bytes or more",
                       (long long)lines, (long long)length, (long long)element_bytes);
    return FERRY_OK;
}

ferry_status transpose_read_spec(const ferry_context *ctx, const ferry_transpose_spec *spec,
                                 ferry_transpose *transpose)
{
    transpose_record *mine = &transpose->spec;
    ferry_context_info info;
    ferry_status st = check_numbers(spec);

    if (st == FERRY_OK)
        st = ferry_context_describe(ctx, &info);
    if (st != FERRY_OK)
        return st;
    transpose->rank = info.rank;
    transpose->size = info.size;
    mine->rows = spec->rows;
    mine->columns = spec->columns;
    mine->element_bytes = spec->element_bytes;
    st = fill_share(spec->rows, spec->local_rows, &info, &mine->local_rows);
    if (st == FERRY_OK)
        st = fill_share(spec->columns, spec->local_columns, &info, &mine->local_columns);
    if (st == FERRY_OK)
        st = array_bytes(mine->local_rows, mine->columns, mine->element_bytes,
                         &transpose->src_bytes);
    if (st == FERRY_OK)
        st = array_bytes(mine->local_columns, mine->rows, mine->element_bytes,
                         &transpose->dst_bytes);
    return st;
}

static ferry_status check_same(const char *name, int64_t value, int rank, int64_t first)
{
    if (value == first)
        return FERRY_OK;
    return trouble(FERRY_ERR_ARG,
                   "ferry_transpose_create: %s is %lld on rank %d but %lld on rank 0, expected the "
                   "same on all ranks",
                   name, (long long)value, rank, (long long)first);
}

static ferry_status check_sum(const char *axis, int64_t sum, int64_t total)
{
    if (sum == total)
        return FERRY_OK;
    return trouble(FERRY_ERR_SHAPE,
                   "ferry_transpose_create: the local_%s of all ranks add up to %lld, but the "
                   "matrix has %lld %s",
                   axis, (long long)sum, (long long)total, axis);
}

ferry_status transpose_check_all(ferry_transpose *transpose, const transpose_record *all)
{
    int64_t rows = 0, columns = 0;

    for (int q = 0; q < transpose->size; q++) {
        ferry_status st = check_same("rows", all[q].rows, q, all[0].rows);
        if (st == FERRY_OK)
            st = check_same("columns", all[q].columns, q, all[0].columns);
        if (st == FERRY_OK)
            st = check_same("element_bytes", all[q].element_bytes, q, all[0].element_bytes);
        if (st != FERRY_OK)
            return st;
        if (q == transpose->rank) {
            transpose->first_row = rows;
            transpose->first_column = columns;
        }
        if (!offset_add(rows, all[q].local_rows, &rows))
            rows = INT64_MAX;
        if (!offset_add(columns, all[q].local_columns, &columns))
            columns = INT64_MAX;
    }
    const ferry_status st = check_sum("rows", rows, all[0].rows);
    return st == FERRY_OK ? check_sum("columns", columns, all[0].columns) : st;
}
