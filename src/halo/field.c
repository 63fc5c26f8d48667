/* The fields of a spec: widths, and strides of the local arrays. */
#include "base/size.h"
#include "base/trouble.h"
#include "halo/halo.h"

static ferry_status check_along(const ferry_halo_field *field, int f, int d)
{
    for (int side = 0; side < 2; side++)
        if (field->ghost[d][side] < -1 || field->ghost[d][side] > (int64_t)1 << 60)
            return trouble(
                FERRY_ERR_ARG,
                "spec.fields[%d].ghost[%d][%d] is %lld, expected -1 or more, at most 2^60", f, d,
                side, (long long)field->ghost[d][side]);
    if (field->stagger[d] != 0 && field->stagger[d] != 1)
        return trouble(FERRY_ERR_ARG, "spec.fields[%d].stagger[%d] is %d, expected 0 or 1", f, d,
                       field->stagger[d]);
    if (field->stride_bytes[d] < 0)
        return trouble(FERRY_ERR_ARG,
                       "spec.fields[%d].stride_bytes[%d] is %lld, expected 0 or more", f, d,
                       (long long)field->stride_bytes[d]);
    return FERRY_OK;
}

static ferry_status check_field(const ferry_halo_spec *spec, int f)
{
    const ferry_halo_field *field = &spec->fields[f];
    ferry_status st = FERRY_OK;

    if (field->size != sizeof *field)
        return trouble(FERRY_ERR_ARG, "spec.fields[%d].size is %zu, expected %zu", f, field->size,
                       sizeof *field);
    if (field->element_bytes < 1)
        return trouble(FERRY_ERR_ARG, "spec.fields[%d].element_bytes is %lld, expected 1 or more",
                       f, (long long)field->element_bytes);
    for (int d = 0; st == FERRY_OK && d < spec->dims; d++)
        st = check_along(field, f, d);
    return st;
}

static void copy_field(const ferry_halo_spec *spec, int f, halo_field *field)
{
    const ferry_halo_field *given = &spec->fields[f];

    field->element_bytes = given->element_bytes;
    for (int d = 0; d < spec->dims; d++) {
        field->stride[d] = given->stride_bytes[d];
        field->stagger[d] = given->stagger[d];
        for (int side = 0; side < 2; side++)
            field->ghost[d][side] =
                given->ghost[d][side] < 0 ? spec->ghost[d][side] : given->ghost[d][side];
    }
}

static bool dense(const halo_field *field, int dims)
{
    for (int d = 0; d < dims; d++)
        if (field->stride[d] != 0)
            return false;
    return true;
}

static ferry_status set_dense(const ferry_halo_spec *spec, halo_block *block, int f)
{
    int64_t bytes = block->fields[f].element_bytes;

    for (int k = 0; k < spec->dims; k++) {
        const int d = spec->order == FERRY_HALO_FIRST_FASTEST ? k : spec->dims - 1 - k;
        block->fields[f].stride[d] = bytes;
        if (!offset_mul(bytes, halo_cells(block, f, d), &bytes))
            return trouble(FERRY_ERR_ARG,
                           "the array of field %d has 2^63 bytes or more (at dimension %d)", f, d);
    }
    return FERRY_OK;
}

/* Dimensions from the smallest stride to the largest; along those with one cell strides do not
 * matter, and in an empty array none does. */
static int sort_strides(const halo_block *block, int f, int dims, int order_out[])
{
    const int64_t *stride = block->fields[f].stride;
    int count = 0;

    for (int d = 0; d < dims; d++) {
        int k = count;
        if (halo_cells(block, f, d) == 0)
            return 0;
        if (halo_cells(block, f, d) == 1)
            continue;
        for (; k > 0 && stride[order_out[k - 1]] > stride[d]; k--)
            order_out[k] = order_out[k - 1];
        order_out[k] = d;
        count++;
    }
    return count;
}

static ferry_status check_strides(const halo_block *block, int f, int dims)
{
    const int64_t *stride = block->fields[f].stride;
    int64_t least = block->fields[f].element_bytes;
    int order[MAX_DIMS];

    const int count = sort_strides(block, f, dims, order);
    for (int k = 0; k < count; k++) {
        const int d = order[k];
        if (stride[d] < least)
            return trouble(FERRY_ERR_ARG,
                           "spec.fields[%d].stride_bytes[%d] is %lld, so that cells share bytes: "
                           "those before it in memory take %lld",
                           f, d, (long long)stride[d], (long long)least);
        if (!offset_mul(stride[d], halo_cells(block, f, d), &least))
            return trouble(FERRY_ERR_ARG,
                           "the array of field %d has 2^63 bytes or more (at dimension %d)", f, d);
    }
    return FERRY_OK;
}

int64_t halo_field_size(const halo_block *block, int field, int dims)
{
    int64_t bytes = block->fields[field].element_bytes;

    for (int d = 0; d < dims; d++) {
        const int64_t cells = halo_cells(block, field, d);
        if (cells == 0)
            return 0;
        bytes += (cells - 1) * block->fields[field].stride[d];
    }
    return bytes;
}

ferry_status halo_read_fields(const ferry_halo_spec *spec, ferry_halo *halo)
{
    ferry_status st = FERRY_OK;

    for (int f = 0; st == FERRY_OK && f < halo->field_count; f++) {
        st = check_field(spec, f);
        if (st != FERRY_OK)
            break;
        copy_field(spec, f, &halo->block->fields[f]);
        st = dense(&halo->block->fields[f], halo->dims) ? set_dense(spec, halo->block, f)
                                                        : check_strides(halo->block, f, halo->dims);
    }
    return st;
}
