/* Layouts from the caller's numbers. Everything is checked here, once: behind this file no size can
 * overflow. */
#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "layout/layout.h"

typedef struct reach {
    int64_t lb, ub, bytes;
} reach;

/* A list: its bytes lie between the lowest and the highest place. */
static bool measure_list(const layout_nest *nest, reach *reach_out)
{
    reach sum = {.bytes = 0};

    if (nest->run > INT64_MAX ||
        !offset_mul((int64_t)nest->run, (int64_t)nest->places->count, &sum.bytes))
        return false;
    for (size_t i = 0; i < nest->places->count; i++) {
        int64_t from, to;
        if (!offset_add(nest->offset, nest->places->at[i], &from) ||
            !offset_add(from, (int64_t)nest->run, &to))
            return false;
        sum.lb = i == 0 || from < sum.lb ? from : sum.lb;
        sum.ub = i == 0 || to > sum.ub ? to : sum.ub;
    }
    *reach_out = sum;
    return true;
}

/* What a nest touches and holds. Returns -1, or the loop that passes 63 bits; nest->dims when
 * already a single run does. */
static int measure(const layout_nest *nest, reach *reach_out)
{
    reach sum = {.lb = nest->offset, .bytes = (int64_t)nest->run};
    int64_t span;

    if (nest->places)
        return measure_list(nest, reach_out) ? -1 : 0;
    if (nest->run > INT64_MAX || !offset_add(nest->offset, (int64_t)nest->run, &sum.ub))
        return nest->dims;
    for (int k = nest->dims - 1; k >= 0; k--) {
        const int64_t count = (int64_t)nest->loop[k].count, stride = nest->loop[k].stride;
        if (!offset_mul(sum.bytes, count, &sum.bytes) || !offset_mul(count - 1, stride, &span))
            return k;
        if (!offset_add(stride < 0 ? sum.lb : sum.ub, span, stride < 0 ? &sum.lb : &sum.ub))
            return k;
    }
    *reach_out = sum;
    return -1;
}

/* Bring the loops of a nest into normal form, from the inside outwards. Order of elements stays. */
static void normalise(layout_nest *nest)
{
    layout_nest fresh = {.offset = nest->offset, .run = nest->run};
    int64_t whole;

    if (nest->places)
        return;
    for (int k = nest->dims - 1; k >= 0; k--) { /* fresh.loop is filled innermost first */
        const size_t count = nest->loop[k].count;
        const int64_t stride = nest->loop[k].stride;
        const int top = fresh.dims - 1;
        if (count == 1)
            continue;
        if (top < 0 && stride == (int64_t)fresh.run) {
            fresh.run *= count;
        } else if (top >= 0 &&
                   offset_mul(fresh.loop[top].stride, (int64_t)fresh.loop[top].count, &whole) &&
                   stride == whole) {
            fresh.loop[top].count *= count;
        } else {
            fresh.loop[fresh.dims].count = count;
            fresh.loop[fresh.dims++].stride = stride;
        }
    }
    *nest = fresh;
    for (int k = 0; k < fresh.dims; k++)
        nest->loop[k] = fresh.loop[fresh.dims - 1 - k];
}

static bool has_bytes(const layout_nest *nest)
{
    for (int k = 0; k < nest->dims; k++)
        if (nest->loop[k].count == 0)
            return false;
    return nest->run > 0;
}

/* Append a nest in normal form; a run that continues the run before it becomes part of it. */
static void append(ferry_layout *layout, layout_nest nest)
{
    layout_nest *const last =
        layout->nest_count > 0 ? &layout->nests[layout->nest_count - 1] : NULL;

    normalise(&nest);
    layout_hold(&nest);
    if (last && last->dims == 0 && nest.dims == 0 &&
        last->offset + (int64_t)last->run == nest.offset)
        last->run += nest.run;
    else
        layout->nests[layout->nest_count++] = nest;
}

static ferry_status add_nest(ferry_layout *layout, const layout_nest *nest)
{
    reach one;
    int64_t bytes;

    if (!has_bytes(nest))
        return FERRY_OK;
    if (measure(nest, &one) >= 0 || !offset_add((int64_t)layout->bytes, one.bytes, &bytes))
        return trouble(FERRY_ERR_ARG, "the layout passes 63 bits");
    const bool first = layout->nest_count == 0;
    layout->lb = first || one.lb < layout->lb ? one.lb : layout->lb;
    layout->ub = first || one.ub > layout->ub ? one.ub : layout->ub;
    layout->bytes = (size_t)bytes;
    append(layout, *nest);
    return FERRY_OK;
}

ferry_status layout_make(size_t element, const layout_nest *nests, size_t nest_count,
                         ferry_layout **layout_out)
{
    ferry_layout *layout = NULL;
    size_t room;

    if (!size_mul(nest_count, sizeof *nests, &room) || !size_add(room, sizeof *layout, &room))
        return trouble(FERRY_ERR_MEMORY, "a layout of %zu nests is too large", nest_count);
    ferry_status st = alloc_zero(1, room, &layout);
    if (st != FERRY_OK)
        return st;
    layout->element = element;
    for (size_t i = 0; i < nest_count && st == FERRY_OK; i++)
        st = add_nest(layout, &nests[i]);
    if (st != FERRY_OK) {
        ferry_layout_free(layout);
        return st;
    }
    layout->elements = layout->bytes / element;
    *layout_out = layout;
    return FERRY_OK;
}

ferry_status layout_copy(const ferry_layout *layout, ferry_layout **layout_out)
{
    return layout_make(layout->element, layout->nests, layout->nest_count, layout_out);
}

/* One nest of the caller's: says which of its numbers is too much. */
static ferry_status make_one(const char *call, size_t element, const layout_nest *nest,
                             ferry_layout **layout_out)
{
    reach whole;

    if (!has_bytes(nest))
        return layout_make(element, NULL, 0, layout_out);
    const int bad = measure(nest, &whole);
    if (bad == nest->dims)
        return trouble(FERRY_ERR_ARG,
                       "%s: offset_bytes %lld and element_bytes %zu together pass 63 bits", call,
                       (long long)nest->offset, element);
    if (bad >= 0)
        return trouble(FERRY_ERR_ARG,
                       "%s: the count of loop %d, %zu, with a stride of %lld bytes passes 63 bits",
                       call, bad, nest->loop[bad].count, (long long)nest->loop[bad].stride);
    return layout_make(element, nest, 1, layout_out);
}

static ferry_status check_number(const char *call, const char *name, int64_t value, int64_t least)
{
    if (value >= least)
        return FERRY_OK;
    return trouble(FERRY_ERR_ARG, "%s: %s is %lld; expected %lld or more", call, name,
                   (long long)value, (long long)least);
}

static ferry_status check_entry(const char *call, const char *name, int k, int64_t value)
{
    if (value >= 0)
        return FERRY_OK;
    return trouble(FERRY_ERR_ARG, "%s: %s[%d] is %lld; expected 0 or more", call, name, k,
                   (long long)value);
}

static ferry_status check_dims(const char *call, int dims, int least)
{
    if (dims >= least && dims <= FERRY_LAYOUT_MAX_DIMS)
        return FERRY_OK;
    return trouble(FERRY_ERR_ARG, "%s: dims is %d; expected %d to %d", call, dims, least,
                   (int)FERRY_LAYOUT_MAX_DIMS);
}

static ferry_status check_pointer(const char *call, const char *name, const void *pointer)
{
    return pointer ? FERRY_OK : trouble(FERRY_ERR_ARG, "%s: %s is NULL", call, name);
}

ferry_status ferry_layout_dense(int64_t count, int64_t element_bytes, int64_t offset_bytes,
                                ferry_layout **layout_out)
{
    static const char call[] = "ferry_layout_dense";
    ferry_status st = check_number(call, "count", count, 0);

    if (st == FERRY_OK)
        st = check_number(call, "element_bytes", element_bytes, 1);
    if (st == FERRY_OK)
        st = check_pointer(call, "layout_out", layout_out);
    if (st != FERRY_OK)
        return st;
    const layout_nest nest = {
        .offset = offset_bytes,
        .run = (size_t)element_bytes,
        .dims = 1,
        .loop = {{(size_t)count, element_bytes}},
    };
    return make_one(call, (size_t)element_bytes, &nest, layout_out);
}

ferry_status ferry_layout_strided(int dims, const int64_t *counts, const int64_t *strides_bytes,
                                  int64_t element_bytes, int64_t offset_bytes,
                                  ferry_layout **layout_out)
{
    static const char call[] = "ferry_layout_strided";
    layout_nest nest = {.offset = offset_bytes, .run = (size_t)element_bytes, .dims = dims};
    ferry_status st = check_dims(call, dims, 0);

    if (st == FERRY_OK && dims > 0)
        st = check_pointer(call, "counts", counts);
    if (st == FERRY_OK && dims > 0)
        st = check_pointer(call, "strides_bytes", strides_bytes);
    if (st == FERRY_OK)
        st = check_number(call, "element_bytes", element_bytes, 1);
    if (st == FERRY_OK)
        st = check_pointer(call, "layout_out", layout_out);
    for (int k = 0; k < dims && st == FERRY_OK; k++) {
        st = check_entry(call, "counts", k, counts[k]);
        nest.loop[k].count = (size_t)counts[k];
        nest.loop[k].stride = strides_bytes[k];
    }
    return st == FERRY_OK ? make_one(call, (size_t)element_bytes, &nest, layout_out) : st;
}

/* One dimension of a box: inside of the array? */
static ferry_status check_box(const char *call, int k, int64_t size, int64_t start, int64_t count)
{
    ferry_status st = check_entry(call, "sizes", k, size);

    if (st == FERRY_OK)
        st = check_entry(call, "starts", k, start);
    if (st == FERRY_OK)
        st = check_entry(call, "counts", k, count);
    if (st == FERRY_OK && (start > size || count > size - start))
        st = trouble(FERRY_ERR_ARG,
                     "%s: starts[%d] %lld and counts[%d] %lld leave the array; sizes[%d] is %lld",
                     call, k, (long long)start, k, (long long)count, k, (long long)size);
    return st;
}

/* Add dimension k, the innermost not yet added; `*lead` is the bytes from one index to the next and
 * grows. */
static ferry_status add_dimension(const char *call, int k, const int64_t box[3], int64_t *lead,
                                  layout_nest *nest)
{
    int64_t shift;

    nest->loop[k].count = (size_t)box[2];
    nest->loop[k].stride = *lead;
    if (!offset_mul(box[1], *lead, &shift) || !offset_add(nest->offset, shift, &nest->offset) ||
        !offset_mul(*lead, box[0], lead))
        return trouble(FERRY_ERR_ARG, "%s: sizes[%d] is %lld; with it the array passes 63 bits",
                       call, k, (long long)box[0]);
    return FERRY_OK;
}

ferry_status ferry_layout_box(int dims, const int64_t *sizes, const int64_t *starts,
                              const int64_t *counts, int64_t element_bytes,
                              ferry_layout **layout_out)
{
    static const char call[] = "ferry_layout_box";
    layout_nest nest = {.run = (size_t)element_bytes, .dims = dims};
    int64_t lead = element_bytes;
    ferry_status st = check_dims(call, dims, 1);

    if (st == FERRY_OK)
        st = check_pointer(call, "sizes", sizes);
    if (st == FERRY_OK)
        st = check_pointer(call, "starts", starts);
    if (st == FERRY_OK)
        st = check_pointer(call, "counts", counts);
    if (st == FERRY_OK)
        st = check_number(call, "element_bytes", element_bytes, 1);
    if (st == FERRY_OK)
        st = check_pointer(call, "layout_out", layout_out);
    for (int k = 0; k < dims && st == FERRY_OK; k++)
        st = check_box(call, k, sizes[k], starts[k], counts[k]);
    for (int k = dims - 1; k >= 0 && st == FERRY_OK; k--)
        st = add_dimension(call, k, (int64_t[3]){sizes[k], starts[k], counts[k]}, &lead, &nest);
    return st == FERRY_OK ? make_one(call, (size_t)element_bytes, &nest, layout_out) : st;
}

void ferry_layout_free(ferry_layout *layout)
{
    for (size_t i = 0; layout && i < layout->nest_count; i++)
        layout_release(&layout->nests[i]);
    alloc_free(layout);
}
