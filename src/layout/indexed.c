/* Layouts from lists: runs at given offsets, and other layouts one after another. */
#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "layout/layout.h"

/* --- Indexed --- */

typedef struct indexed {
    const char *call;
    const int64_t *offsets, *runs; /* runs: NULL for one element each */
    int64_t element, offset;
} indexed;

/* Run i, or what is wrong with it. */
static ferry_status read_run(const indexed *from, int64_t i, layout_run *run_out)
{
    const int64_t elements = from->runs ? from->runs[i] : 1;
    int64_t at, bytes, end;

    if (elements < 0)
        return trouble(FERRY_ERR_ARG, "%s: run_elements[%lld] is %lld; expected 0 or more",
                       from->call, (long long)i, (long long)elements);
    if (!offset_mul(elements, from->element, &bytes) ||
        !offset_add(from->offsets[i], from->offset, &at) || !offset_add(at, bytes, &end))
        return trouble(FERRY_ERR_ARG,
                       "%s: offsets_bytes[%lld] is %lld; with a run of %lld elements of %lld bytes "
                       "at offset %lld it passes 63 bits",
                       from->call, (long long)i, (long long)from->offsets[i], (long long)elements,
                       (long long)from->element, (long long)from->offset);
    *run_out = (layout_run){at, (size_t)bytes};
    return FERRY_OK;
}

static ferry_status make_indexed(const indexed *from, int64_t count, ferry_layout **layout_out)
{
    layout_run *runs = NULL;
    size_t kept = 0;
    ferry_status st = alloc_zero((size_t)count, sizeof *runs, &runs);

    for (int64_t i = 0; i < count && st == FERRY_OK; i++) {
        st = read_run(from, i, &runs[kept]);
        kept += st == FERRY_OK && runs[kept].bytes > 0;
    }
    if (st == FERRY_OK)
        st = layout_of_runs((size_t)from->element, runs, kept, layout_out);
    alloc_free(runs);
    return st;
}

ferry_status ferry_layout_indexed(int64_t count, const int64_t *offsets_bytes,
                                  const int64_t *run_elements, int64_t element_bytes,
                                  int64_t offset_bytes, ferry_layout **layout_out)
{
    const indexed from = {"ferry_layout_indexed", offsets_bytes, run_elements, element_bytes,
                          offset_bytes};

    if (count < 0)
        return trouble(FERRY_ERR_ARG, "%s: count is %lld; expected 0 or more", from.call,
                       (long long)count);
    if (element_bytes < 1)
        return trouble(FERRY_ERR_ARG, "%s: element_bytes is %lld; expected 1 or more", from.call,
                       (long long)element_bytes);
    if (!layout_out || (count > 0 && !offsets_bytes))
        return trouble(FERRY_ERR_ARG, "%s: %s is NULL", from.call,
                       layout_out ? "offsets_bytes" : "layout_out");
    return make_indexed(&from, count, layout_out);
}

/* --- Record --- */

/* The nests of all parts, each moved by its offset. */
static ferry_status shift_parts(int64_t count, const ferry_layout *const *parts,
                                const int64_t *offsets, layout_nest *nests)
{
    for (int64_t i = 0; i < count; i++)
        for (size_t k = 0; k < parts[i]->nest_count; k++) {
            layout_nest *const nest = nests++;
            *nest = parts[i]->nests[k];
            if (!offset_add(nest->offset, offsets[i], &nest->offset))
                return trouble(FERRY_ERR_ARG,
                               "ferry_layout_record: offsets_bytes[%lld] is %lld; with it part "
                               "%lld passes 63 bits",
                               (long long)i, (long long)offsets[i], (long long)i);
        }
    return FERRY_OK;
}

static ferry_status check_parts(int64_t count, const ferry_layout *const *parts,
                                const int64_t *offsets, ferry_layout **layout_out)
{
    static const char call[] = "ferry_layout_record";

    if (count < 0)
        return trouble(FERRY_ERR_ARG, "%s: count is %lld; expected 0 or more", call,
                       (long long)count);
    if (!layout_out || (count > 0 && (!parts || !offsets)))
        return trouble(FERRY_ERR_ARG, "%s: %s is NULL", call,
                       !layout_out ? "layout_out"
                       : !parts    ? "layouts"
                                   : "offsets_bytes");
    for (int64_t i = 0; i < count; i++)
        if (!parts[i])
            return trouble(FERRY_ERR_ARG, "%s: layouts[%lld] is NULL", call, (long long)i);
    return FERRY_OK;
}

ferry_status ferry_layout_record(int64_t count, const ferry_layout *const *layouts,
                                 const int64_t *offsets_bytes, ferry_layout **layout_out)
{
    layout_nest *nests = NULL;
    size_t total = 0, element = 0;
    ferry_status st = check_parts(count, layouts, offsets_bytes, layout_out);

    if (st != FERRY_OK)
        return st;
    for (int64_t i = 0; i < count; i++) {
        total += layouts[i]->nest_count;
        element = size_divisor(element, layouts[i]->element);
    }
    st = alloc_zero(total, sizeof *nests, &nests);
    if (st == FERRY_OK)
        st = shift_parts(count, layouts, offsets_bytes, nests);
    if (st == FERRY_OK)
        st = layout_make(count > 0 ? element : 1, nests, layout_fold(nests, total), layout_out);
    alloc_free(nests);
    return st;
}
