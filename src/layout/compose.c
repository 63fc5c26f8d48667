/* Layouts from repeated parts, each a layout itself: how descriptions nest. A part that is a single
 * loop nest becomes one nest with one more loop; where the parts are many or of several nests their
 * runs are laid out instead, in which layout_of_runs() looks for loops. What is kept is the smaller
 * of the two. */
#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "layout/layout.h"

enum {
    NESTS_TRIED = 4096, /* so many nests are written down to see whether they fold */
    NEST_RUNS = sizeof(layout_nest) / sizeof(int64_t) /* of a list take as much memory as a nest */
};

static ferry_status passes(void)
{
    return trouble(FERRY_ERR_ARG, "the layout passes 63 bits");
}

static bool is_empty(const layout_part *part)
{
    return part->count == 0 || part->base->nest_count == 0;
}

/* Is every repetition one more iteration of a loop? */
static bool is_loop(const layout_part *part)
{
    const layout_nest *const nest = &part->base->nests[0];

    return part->base->nest_count == 1 && !nest->places &&
           (nest->dims < FERRY_LAYOUT_MAX_DIMS || part->count == 1);
}

/* Do the repetitions follow each other without a gap? */
static bool is_dense(const layout_part *part)
{
    return part->base->nest_count == 1 && part->base->nests[0].dims == 0 &&
           (part->count == 1 || part->stride == (int64_t)part->base->bytes);
}

static size_t runs_in(const layout_nest *nest)
{
    return layout_nest_bytes(nest) / nest->run;
}

/* What the parts come to, written as nests or as runs. Stops at what nothing could hold. */
typedef struct sizes {
    size_t nests, runs, element;
} sizes;

static bool count_part(const layout_part *part, sizes *sum)
{
    size_t nests = part->base->nest_count, runs = 0;

    if (is_empty(part))
        return true;
    for (size_t i = 0; i < nests; i++)
        runs += runs_in(&part->base->nests[i]);
    sum->element = size_divisor(sum->element, part->base->element);
    return size_mul(nests, is_loop(part) ? 1 : (size_t)part->count, &nests) &&
           size_mul(runs, is_dense(part) ? 1 : (size_t)part->count, &runs) &&
           size_add(sum->nests, nests, &sum->nests) && size_add(sum->runs, runs, &sum->runs);
}

/* --- As nests --- */

/* All nests of a part; returns where the next part's go, NULL when 63 bits are passed. */
static layout_nest *write_nests(const layout_part *part, layout_nest *out)
{
    const bool loop = is_loop(part);
    int64_t shift;

    for (int64_t i = 0; i < (loop ? 1 : part->count); i++)
        for (size_t k = 0; k < part->base->nest_count; k++, out++) {
            const layout_nest *const nest = &part->base->nests[k];
            *out = loop && part->count > 1 ? layout_looped(nest, (size_t)part->count, part->stride)
                                           : *nest;
            if (!offset_mul(i, part->stride, &shift) || !offset_add(shift, part->at, &shift) ||
                !offset_add(out->offset, shift, &out->offset))
                return NULL;
        }
    return out;
}

static ferry_status make_nests(const layout_part *parts, size_t count, const sizes *sum,
                               ferry_layout **layout_out)
{
    layout_nest *nests = NULL;
    ferry_status st = alloc_zero(sum->nests, sizeof *nests, &nests);
    layout_nest *end = nests;

    for (size_t i = 0; i < count && st == FERRY_OK; i++) {
        end = is_empty(&parts[i]) ? end : write_nests(&parts[i], end);
        st = end ? FERRY_OK : passes();
    }
    if (st == FERRY_OK)
        st = layout_make(sum->element, nests, layout_fold(nests, sum->nests), layout_out);
    alloc_free(nests);
    return st;
}

/* --- As runs --- */

/* The runs of one nest, moved. Returns where the next go. The caller has looked that they fit. */
static layout_run *write_runs(const layout_nest *nest, int64_t shift, layout_run *out)
{
    size_t index[FERRY_LAYOUT_MAX_DIMS] = {0};
    int64_t at = nest->offset + shift;

    for (size_t left = runs_in(nest); left > 0; left--) {
        *out++ = (layout_run){nest->places ? nest->places->at[index[0]] + at : at, nest->run};
        for (int k = nest->dims - 1; k >= 0; k--) {
            at += nest->places ? 0 : nest->loop[k].stride;
            if (++index[k] < nest->loop[k].count)
                break;
            at -= nest->places ? 0 : (int64_t)nest->loop[k].count * nest->loop[k].stride;
            index[k] = 0;
        }
    }
    return out;
}

/* Lie all bytes of one repetition, so moved, within 63 bits? */
static bool fits(const ferry_layout *base, int64_t shift)
{
    int64_t end;

    return offset_add(base->lb, shift, &end) && offset_add(base->ub, shift, &end);
}

static layout_run *write_dense(const layout_part *part, layout_run *out)
{
    int64_t at, bytes, end;

    if (!offset_add(part->base->lb, part->at, &at) ||
        !offset_mul((int64_t)part->base->bytes, part->count, &bytes) ||
        !offset_add(at, bytes, &end))
        return NULL;
    *out = (layout_run){at, (size_t)bytes};
    return out + 1;
}

static layout_run *write_part(const layout_part *part, layout_run *out)
{
    int64_t shift;

    if (is_dense(part))
        return write_dense(part, out);
    for (int64_t i = 0; i < part->count; i++) {
        if (!offset_mul(i, part->stride, &shift) || !offset_add(shift, part->at, &shift) ||
            !fits(part->base, shift))
            return NULL;
        for (size_t k = 0; k < part->base->nest_count; k++)
            out = write_runs(&part->base->nests[k], shift, out);
    }
    return out;
}

static ferry_status make_runs(const layout_part *parts, size_t count, const sizes *sum,
                              ferry_layout **layout_out)
{
    layout_run *runs = NULL;
    ferry_status st = alloc_zero(sum->runs, sizeof *runs, &runs);
    layout_run *end = runs;

    for (size_t i = 0; i < count && st == FERRY_OK; i++) {
        end = is_empty(&parts[i]) ? end : write_part(&parts[i], end);
        st = end ? FERRY_OK : passes();
    }
    if (st == FERRY_OK)
        st = layout_of_runs(sum->element, runs, sum->runs, layout_out);
    alloc_free(runs);
    return st;
}

/* --- The smaller --- */

static ferry_status choose(const layout_part *parts, size_t count, const sizes *sum,
                           ferry_layout **layout_out)
{
    ferry_layout *folded = NULL;

    if (sum->nests > NESTS_TRIED && sum->nests > sum->runs / NEST_RUNS)
        return make_runs(parts, count, sum, layout_out);
    const ferry_status st = make_nests(parts, count, sum, &folded);
    if (st != FERRY_OK)
        return st;
    if (folded->nest_count > 1 && folded->nest_count > sum->runs / NEST_RUNS) {
        ferry_layout_free(folded);
        return make_runs(parts, count, sum, layout_out);
    }
    *layout_out = folded;
    return FERRY_OK;
}

ferry_status layout_compose(const layout_part *parts, size_t count, ferry_layout **layout_out)
{
    sizes sum = {.nests = 0};

    for (size_t i = 0; i < count; i++)
        if (!count_part(&parts[i], &sum))
            return passes();
    if (sum.nests == 0)
        return layout_make(1, NULL, 0, layout_out);
    return choose(parts, count, &sum, layout_out);
}
