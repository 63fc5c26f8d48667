/* Lists of places, and finding the loops in a sequence of runs. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "layout/layout.h"

enum {
    ROW_LEAST = 3,  /* runs at one stride that are a row: any two are */
    ROWS_WORTH = 8, /* runs a row must have on average; a list is smaller and faster below */
    ROWS_FEW = 4    /* so few rows are loops in any case */
};

/* --- Places --- */

ferry_status layout_places_take(size_t count, layout_places **places_out)
{
    layout_places *places = NULL;
    size_t bytes;

    if (!size_mul(count, sizeof places->at[0], &bytes) || !size_add(bytes, sizeof *places, &bytes))
        return trouble(FERRY_ERR_MEMORY, "a list of %zu places is too large", count);
    const ferry_status st = alloc_zero(1, bytes, &places);
    if (st != FERRY_OK)
        return st;
    places->count = count;
    atomic_init(&places->users, 1);
    *places_out = places;
    return FERRY_OK;
}

void layout_hold(const layout_nest *nest)
{
    if (nest->places)
        atomic_fetch_add_explicit(&nest->places->users, 1, memory_order_relaxed);
}

void layout_release(const layout_nest *nest)
{
    if (nest->places &&
        atomic_fetch_sub_explicit(&nest->places->users, 1, memory_order_acq_rel) == 1)
        alloc_free(nest->places);
}

bool layout_has_places(const ferry_layout *layout)
{
    for (size_t i = 0; i < layout->nest_count; i++)
        if (layout->nests[i].places)
            return true;
    return false;
}

/* --- Loops in a sequence of nests --- */

static bool same_shape(const layout_nest *a, const layout_nest *b)
{
    if (a->run != b->run || a->dims != b->dims || a->places || b->places)
        return false;
    for (int k = 0; k < a->dims; k++)
        if (a->loop[k].count != b->loop[k].count || a->loop[k].stride != b->loop[k].stride)
            return false;
    return true;
}

/* Nests from the first on that lie at one stride. */
static size_t row_length(const layout_nest *nests, size_t count, int64_t *stride_out)
{
    size_t length = 1;
    int64_t stride = 0, step;

    if (count < 2 || nests[0].dims == FERRY_LAYOUT_MAX_DIMS || !same_shape(&nests[0], &nests[1]) ||
        !offset_sub(nests[1].offset, nests[0].offset, &stride))
        return 1;
    while (length < count && same_shape(&nests[0], &nests[length]) &&
           offset_sub(nests[length].offset, nests[length - 1].offset, &step) && step == stride)
        length++;
    *stride_out = stride;
    return length;
}

layout_nest layout_looped(const layout_nest *nest, size_t count, int64_t stride)
{
    layout_nest outer = *nest;

    for (int k = outer.dims++; k > 0; k--)
        outer.loop[k] = outer.loop[k - 1];
    outer.loop[0].count = count;
    outer.loop[0].stride = stride;
    return outer;
}

/* One level of loops. */
static size_t fold_once(layout_nest *nests, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0, length; i < count; i += length) {
        int64_t stride = 0;
        length = row_length(nests + i, count - i, &stride);
        if (length < ROW_LEAST && length < count)
            length = 1;
        nests[kept++] = length > 1 ? layout_looped(&nests[i], length, stride) : nests[i];
    }
    return kept;
}

size_t layout_fold(layout_nest *nests, size_t count)
{
    for (size_t before = 0; before != count;) {
        before = count;
        count = fold_once(nests, count);
    }
    return count;
}

/* --- Runs --- */

/* Runs that follow each other without a gap become one. Returns how many are left. */
static size_t join_runs(const layout_run *runs, size_t count, layout_run *joined_out)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        layout_run *const last = kept > 0 ? &joined_out[kept - 1] : NULL;
        if (last && last->at + (int64_t)last->bytes == runs[i].at)
            last->bytes += runs[i].bytes;
        else
            joined_out[kept++] = runs[i];
    }
    return kept;
}

/* Is the second run at `stride` from the first, and as long? Places may be further apart than 63
 * bits tell. */
static bool at_stride(const layout_run *first, const layout_run *second, int64_t stride)
{
    int64_t expected;

    return second->bytes == first->bytes && offset_add(first->at, stride, &expected) &&
           second->at == expected;
}

/* Length of the row of runs that begins with the first. */
static size_t row_of_runs(const layout_run *runs, size_t count)
{
    size_t length = 1;
    int64_t stride;

    if (count < 2 || !offset_sub(runs[1].at, runs[0].at, &stride))
        return 1;
    while (length < count && at_stride(&runs[length - 1], &runs[length], stride))
        length++;
    return length < ROW_LEAST && length < count ? 1 : length;
}

static size_t rows_of(const layout_run *runs, size_t count)
{
    size_t rows = 0;

    for (size_t i = 0; i < count; i += row_of_runs(runs + i, count - i))
        rows++;
    return rows;
}

static ferry_status make_loops(size_t element, const layout_run *runs, size_t count, size_t rows,
                               ferry_layout **layout_out)
{
    layout_nest *nests = NULL;
    size_t made = 0;
    ferry_status st = alloc_zero(rows, sizeof *nests, &nests);

    for (size_t i = 0, length; i < count && st == FERRY_OK; i += length) {
        length = row_of_runs(runs + i, count - i);
        nests[made] = (layout_nest){.offset = runs[i].at, .run = runs[i].bytes};
        if (length > 1)
            nests[made] = layout_looped(&nests[made], length, runs[i + 1].at - runs[i].at);
        made++;
    }
    if (st == FERRY_OK)
        st = layout_make(element, nests, layout_fold(nests, made), layout_out);
    alloc_free(nests);
    return st;
}

static size_t common_run(const layout_run *runs, size_t count)
{
    size_t unit = 0;

    for (size_t i = 0; i < count; i++)
        unit = size_divisor(unit, runs[i].bytes);
    return unit;
}

/* A list has runs of one length: the longest that divides all. */
static ferry_status make_list(size_t element, const layout_run *runs, size_t count,
                              ferry_layout **layout_out)
{
    layout_nest nest = {.run = common_run(runs, count), .dims = 1};
    size_t total = 0, made = 0;

    for (size_t i = 0; i < count; i++)
        total += runs[i].bytes / nest.run;
    ferry_status st = layout_places_take(total, &nest.places);
    if (st != FERRY_OK)
        return st;
    nest.loop[0].count = total;
    for (size_t i = 0; i < count; i++)
        for (size_t done = 0; done < runs[i].bytes; done += nest.run)
            nest.places->at[made++] = runs[i].at + (int64_t)done;
    st = layout_make(element, &nest, 1, layout_out);
    layout_release(&nest);
    return st;
}

ferry_status layout_of_runs(size_t element, const layout_run *runs, size_t count,
                            ferry_layout **layout_out)
{
    layout_run *joined = NULL;
    ferry_status st = alloc_zero(count, sizeof *joined, &joined);

    if (st != FERRY_OK)
        return st;
    count = join_runs(runs, count, joined);
    const size_t rows = rows_of(joined, count);
    st = rows <= ROWS_FEW || rows <= count / ROWS_WORTH
             ? make_loops(element, joined, count, rows, layout_out)
             : make_list(element, joined, count, layout_out);
    alloc_free(joined);
    return st;
}
