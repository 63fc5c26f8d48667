/* Do runs share bytes? Decided by mixed radix numbers where loops do not interleave, by sorting all
 * runs where there are few of them, else answered with no: a yes refuses a caller's plan, so it
 * must be certain. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/size.h"
#include "layout/layout.h"

enum { RUNS_MAX = 65536 };

typedef enum answer { NO, YES, UNKNOWN } answer;

typedef struct span {
    int64_t from, to;
} span;

static int by_start(const void *a, const void *b)
{
    const span *const x = a, *const y = b;

    return (x->from > y->from) - (x->from < y->from);
}

/* --- All runs, sorted --- */

static size_t runs_of(const ferry_layout *layout)
{
    size_t runs = 0;

    for (size_t i = 0; i < layout->nest_count; i++)
        runs += layout_nest_bytes(&layout->nests[i]) / layout->nests[i].run;
    return runs;
}

/* Runs of lists cost as much memory already. */
static size_t listed_runs(const ferry_layout *layout)
{
    size_t runs = 0;

    for (size_t i = 0; i < layout->nest_count; i++)
        runs += layout->nests[i].places ? layout->nests[i].places->count : 0;
    return runs;
}

static size_t list_places(const layout_nest *nest, span *spans)
{
    for (size_t i = 0; i < nest->places->count; i++) {
        const int64_t at = nest->offset + nest->places->at[i];
        spans[i] = (span){at, at + (int64_t)nest->run};
    }
    return nest->places->count;
}

static size_t list_nest(const layout_nest *nest, span *spans)
{
    size_t index[FERRY_LAYOUT_MAX_DIMS] = {0}, made = 0;
    int64_t at = nest->offset;

    if (nest->places)
        return list_places(nest, spans);
    for (;;) {
        int k = nest->dims - 1;
        spans[made++] = (span){at, at + (int64_t)nest->run};
        for (; k >= 0 && index[k] + 1 == nest->loop[k].count; k--) {
            at -= (int64_t)index[k] * nest->loop[k].stride;
            index[k] = 0;
        }
        if (k < 0)
            return made;
        index[k]++;
        at += nest->loop[k].stride;
    }
}

/* The layout's runs in the order of their addresses; NULL when there are too many or memory is
 * short. */
static span *sorted_runs(const ferry_layout *layout, size_t *count_out)
{
    const size_t runs = runs_of(layout);
    span *spans = NULL;
    size_t made = 0;

    if (runs - listed_runs(layout) > RUNS_MAX ||
        alloc_zero(runs, sizeof *spans, &spans) != FERRY_OK)
        return NULL;
    for (size_t i = 0; i < layout->nest_count; i++)
        made += list_nest(&layout->nests[i], spans + made);
    qsort(spans, made, sizeof *spans, by_start);
    *count_out = made;
    return spans;
}

static bool neighbours_meet(const span *spans, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (spans[i].from < spans[i - 1].to)
            return true;
    return false;
}

/* Both lists are sorted; runs of one list may overlap each other, so the furthest end counts, not
 * the last one. */
static bool lists_meet(const span *a, size_t a_count, const span *b, size_t b_count)
{
    int64_t a_end = INT64_MIN, b_end = INT64_MIN;
    size_t i = 0, j = 0;

    while (i < a_count || j < b_count) {
        const bool take_a = j == b_count || (i < a_count && a[i].from < b[j].from);
        const span next = take_a ? a[i++] : b[j++];
        if (next.from < (take_a ? b_end : a_end))
            return true;
        int64_t *const end = take_a ? &a_end : &b_end;
        *end = next.to > *end ? next.to : *end;
    }
    return false;
}

/* --- One nest against itself --- */

static uint64_t magnitude(int64_t stride)
{
    return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

/* The loops of a nest by the size of their strides, smallest first. */
static void sort_loops(layout_nest *nest)
{
    for (int i = 1; i < nest->dims; i++)
        for (int k = i;
             k > 0 && magnitude(nest->loop[k].stride) < magnitude(nest->loop[k - 1].stride); k--) {
            const size_t count = nest->loop[k].count;
            const int64_t stride = nest->loop[k].stride;
            nest->loop[k] = nest->loop[k - 1];
            nest->loop[k - 1].count = count;
            nest->loop[k - 1].stride = stride;
        }
}

static answer nest_overlaps_itself(layout_nest nest)
{
    uint64_t extent = nest.run; /* of all that smaller strides reach */
    answer found = NO;

    if (nest.places)
        return UNKNOWN;
    sort_loops(&nest);
    for (int k = 0; k < nest.dims; k++) {
        const uint64_t stride = magnitude(nest.loop[k].stride);
        if (stride < nest.run)
            return YES; /* two neighbours of this loop */
        if (stride < extent)
            found = UNKNOWN;
        extent += (nest.loop[k].count - 1) * stride;
    }
    return found;
}

static span bounds_of_list(const layout_nest *nest)
{
    int64_t low = nest->places->at[0], high = low;

    for (size_t i = 1; i < nest->places->count; i++) {
        const int64_t at = nest->places->at[i];
        low = at < low ? at : low;
        high = at > high ? at : high;
    }
    return (span){nest->offset + low, nest->offset + high + (int64_t)nest->run};
}

static span bounds_of(const layout_nest *nest)
{
    span bounds = {nest->offset, nest->offset + (int64_t)nest->run};

    if (nest->places)
        return bounds_of_list(nest);
    for (int k = 0; k < nest->dims; k++) {
        const int64_t reach = (int64_t)(nest->loop[k].count - 1) * nest->loop[k].stride;
        *(reach < 0 ? &bounds.from : &bounds.to) += reach;
    }
    return bounds;
}

/* Are the nests, taken as ranges, apart from each other? */
static bool nests_apart(const ferry_layout *layout)
{
    span *bounds = NULL;

    if (layout->nest_count < 2)
        return true;
    if (alloc_zero(layout->nest_count, sizeof *bounds, &bounds) != FERRY_OK)
        return false;
    for (size_t i = 0; i < layout->nest_count; i++)
        bounds[i] = bounds_of(&layout->nests[i]);
    qsort(bounds, layout->nest_count, sizeof *bounds, by_start);
    const bool apart = !neighbours_meet(bounds, layout->nest_count);
    alloc_free(bounds);
    return apart;
}

bool layout_overlaps_itself(const ferry_layout *layout)
{
    answer found = nests_apart(layout) ? NO : UNKNOWN;
    size_t count;

    for (size_t i = 0; i < layout->nest_count; i++) {
        const answer one = nest_overlaps_itself(layout->nests[i]);
        if (one == YES)
            return true;
        found = one == UNKNOWN ? UNKNOWN : found;
    }
    if (found != UNKNOWN)
        return false;
    span *const spans = sorted_runs(layout, &count);
    const bool meet = spans && neighbours_meet(spans, count);
    alloc_free(spans);
    return meet;
}

/* --- Two nests: boxes of one array ---
 * With strides s0 = 1 < s1 < s2 < ... of both nests, an address from a common origin is a mixed
 * radix number. A nest whose loops never carry is a box of such numbers: an interval in each digit.
 * Two boxes meet when they meet in every digit. */

enum { DIGITS_MAX = 2 * FERRY_LAYOUT_MAX_DIMS + 1 };

typedef struct radix {
    int digits;
    int64_t stride[DIGITS_MAX];
} radix;

static void add_stride(radix *base, int64_t stride)
{
    int k = 0;

    while (k < base->digits && base->stride[k] < stride)
        k++;
    if (stride <= 0 || (k < base->digits && base->stride[k] == stride))
        return;
    for (int j = base->digits++; j > k; j--)
        base->stride[j] = base->stride[j - 1];
    base->stride[k] = stride;
}

static void add_strides(radix *base, const layout_nest *nest)
{
    for (int k = 0; k < nest->dims; k++)
        add_stride(base, (int64_t)magnitude(nest->loop[k].stride));
}

/* Move what passes the next stride into that digit: a run of whole rows is a loop over rows. False
 * when it does not come out even. */
static bool carry(const radix *base, span *box)
{
    for (int k = 0; k + 1 < base->digits; k++) {
        const int64_t next = base->stride[k + 1], unit = base->stride[k];
        if (box[k].to <= next / unit) /* (digit + 1) * unit <= next */
            continue;
        const int64_t count = box[k].to - box[k].from;
        if (next % unit != 0 || box[k].from != 0 || count % (next / unit) != 0)
            return false;
        if (box[k + 1].to - box[k + 1].from != 1)
            return false; /* a loop over the next digit is there already: rows would overlap or
                             interleave */
        box[k + 1].to = box[k + 1].from + count / (next / unit);
        box[k] = (span){0, next / unit};
    }
    return true;
}

/* The intervals of a nest's digits; false when it is no box of numbers in this radix. */
static bool box_of(const radix *base, const layout_nest *nest, int64_t origin, span *box)
{
    int64_t rest = bounds_of(nest).from;

    if (!offset_add(rest, -origin, &rest) || rest < 0)
        return false;
    for (int k = base->digits - 1; k >= 0; k--) {
        box[k].from = rest / base->stride[k];
        box[k].to = box[k].from + 1;
        rest %= base->stride[k];
    }
    box[0].to = box[0].from + (int64_t)nest->run;
    for (int k = 0; k < nest->dims; k++) {
        int digit = 0;
        while (digit < base->digits &&
               base->stride[digit] != (int64_t)magnitude(nest->loop[k].stride))
            digit++;
        if (digit == base->digits || (digit == 0 && nest->run > 1))
            return false;
        box[digit].to += (int64_t)nest->loop[k].count - 1;
    }
    return carry(base, box);
}

static answer boxes_meet(const layout_nest *a, const layout_nest *b, int64_t origin)
{
    radix base = {.digits = 1, .stride = {1}};
    span in_a[DIGITS_MAX], in_b[DIGITS_MAX];

    add_strides(&base, a);
    add_strides(&base, b);
    if (!box_of(&base, a, origin, in_a) || !box_of(&base, b, origin, in_b))
        return UNKNOWN;
    for (int k = 0; k < base.digits; k++)
        if (in_a[k].to <= in_b[k].from || in_b[k].to <= in_a[k].from)
            return NO;
    return YES;
}

static answer nests_meet(const layout_nest *a, const layout_nest *b)
{
    const span x = bounds_of(a), y = bounds_of(b);

    if (x.to <= y.from || y.to <= x.from)
        return NO;
    if (a->places || b->places)
        return UNKNOWN;
    if (a->dims == 0 && b->dims == 0)
        return YES;
    const int64_t origins[] = {0,
                               x.from < y.from ? x.from : y.from}; /* where the array may begin */
    for (int i = 0; i < 2; i++) {
        const answer found = boxes_meet(a, b, origins[i]);
        if (found != UNKNOWN)
            return found;
    }
    return UNKNOWN;
}

bool layout_overlaps(const ferry_layout *a, const ferry_layout *b)
{
    size_t a_count = 0, b_count = 0;

    if (a->nest_count == 0 || b->nest_count == 0 || a->ub <= b->lb || b->ub <= a->lb)
        return false;
    const answer found =
        a->nest_count == 1 && b->nest_count == 1 ? nests_meet(&a->nests[0], &b->nests[0]) : UNKNOWN;
    if (found != UNKNOWN)
        return found == YES;
    span *const in_a = sorted_runs(a, &a_count);
    span *const in_b = in_a ? sorted_runs(b, &b_count) : NULL;
    const bool meet = in_b && lists_meet(in_a, a_count, in_b, b_count);
    alloc_free(in_a);
    alloc_free(in_b);
    return meet;
}
