/* Arrays; see array.h. Copying and comparing are one walk over two arrays: loops in the order of
 * the first one's strides, folded where both lie dense, with a typed body for the innermost one. */
#include "bundle/array.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/trouble.h"

bool array_bytes(ferry_type element, int dims, const int64_t *shape, size_t *bytes_out)
{
    int64_t bytes = (int64_t)ferry_type_bytes(element);
    bool empty = false;

    for (int k = 0; k < dims; k++) {
        if (shape[k] < 0)
            return false;
        empty |= shape[k] == 0;
    }
    for (int k = 0; k < dims && !empty; k++)
        if (!offset_mul(bytes, shape[k], &bytes))
            return false;
    *bytes_out = empty ? 0 : (size_t)bytes;
    return true;
}

void array_strides(const array_spec *spec, bool column_major, int64_t *strides_out)
{
    uint64_t stride =
        ferry_type_bytes(spec->element); /* may wrap around in arrays without elements */

    for (int k = 0; k < spec->dims; k++) {
        const int dim = column_major ? k : spec->dims - 1 - k;
        strides_out[dim] = (int64_t)stride;
        stride *= (uint64_t)spec->shape[dim];
    }
}

/* The strides are those of a dense array; dimensions of one index do not matter. */
static bool is_dense(const array_spec *spec, bool column_major)
{
    int64_t strides[FERRY_ARRAY_MAX_DIMS];

    array_strides(spec, column_major, strides);
    for (int k = 0; k < spec->dims; k++)
        if (spec->shape[k] != 1 && spec->strides[k] != strides[k])
            return false;
    return true;
}

/* Strides grow with the dimension; those of one index do not matter, and all being equal is not
 * growing. */
static bool is_rising(const array_spec *spec)
{
    int64_t first = -1, last = -1;

    for (int k = 0; k < spec->dims; k++) {
        const int64_t stride = llabs(spec->strides[k]);
        if (spec->shape[k] == 1)
            continue;
        if (stride < last)
            return false;
        first = first < 0 ? stride : first;
        last = stride;
    }
    return first < last;
}

static ferry_status check_shape(const array_spec *spec, size_t *bytes_out)
{
    if (ferry_type_bytes(spec->element) == 0)
        return trouble(FERRY_ERR_ARG, "element is %d (%s), expected a type from bool to complex128",
                       (int)spec->element, ferry_type_name(spec->element));
    if (spec->dims < 1 || spec->dims > FERRY_ARRAY_MAX_DIMS)
        return trouble(FERRY_ERR_ARG, "dims is %d, expected 1..%d", spec->dims,
                       (int)FERRY_ARRAY_MAX_DIMS);
    if (!spec->shape)
        return trouble(FERRY_ERR_ARG, "shape is NULL, expected %d numbers", spec->dims);
    for (int k = 0; k < spec->dims; k++)
        if (spec->shape[k] < 0)
            return trouble(FERRY_ERR_ARG, "shape[%d] is %lld, expected 0 or more", k,
                           (long long)spec->shape[k]);
    if (!array_bytes(spec->element, spec->dims, spec->shape, bytes_out))
        return trouble(FERRY_ERR_ARG, "shape has more bytes than 63 bits can count");
    if (!spec->data && *bytes_out > 0)
        return trouble(FERRY_ERR_ARG, "data is NULL, expected %zu bytes", *bytes_out);
    return FERRY_OK;
}

/* No element is farther from the first one than 62 bits of bytes. */
static ferry_status check_strides(const array_spec *spec)
{
    const int64_t most = INT64_MAX / 2;
    int64_t span = 0;

    for (int k = 0; k < spec->dims; k++) {
        const int64_t stride = spec->strides[k];
        int64_t way;
        if (stride < -most || stride > most ||
            !offset_mul(llabs(stride), spec->shape[k] - 1, &way) || !offset_add(span, way, &span) ||
            span > most)
            return trouble(FERRY_ERR_ARG,
                           "strides_bytes[%d] is %lld, which leads out of the address space", k,
                           (long long)stride);
    }
    return FERRY_OK;
}

ferry_status array_check(const array_spec *spec, array_form *form_out)
{
    array_form form = {.dense = true};
    ferry_status st = check_shape(spec, &form.bytes);

    if (st != FERRY_OK)
        return st;
    if (spec->strides && form.bytes > 0)
        st = check_strides(spec);
    if (st != FERRY_OK)
        return st;
    if (spec->strides && form.bytes > 0 && !is_dense(spec, false)) {
        form.column_major = is_rising(spec);
        form.dense = form.column_major && is_dense(spec, true);
    }
    *form_out = form;
    return FERRY_OK;
}

/* Two arrays of one shape, walked together. */
typedef struct pair pair;
typedef bool run_pair(const pair *p, char *a, const char *b);
struct pair {
    int dims;
    size_t element; /* bytes moved or compared at once */
    struct {
        int64_t count, a, b; /* strides in bytes */
    } loop[FERRY_ARRAY_MAX_DIMS];
    run_pair *run; /* the innermost loop; false ends the walk */
};

/* Outer loops have the longer strides of a. */
static void enter(pair *p, int64_t count, int64_t a, int64_t b)
{
    int at = p->dims++;

    for (; at > 0 && llabs(p->loop[at - 1].a) < llabs(a); at--)
        p->loop[at] = p->loop[at - 1];
    p->loop[at].count = count;
    p->loop[at].a = a;
    p->loop[at].b = b;
}

static void fold(pair *p)
{
    while (p->dims > 0) {
        const int64_t bytes = (int64_t)p->element, count = p->loop[p->dims - 1].count;
        if (p->loop[p->dims - 1].a != bytes || p->loop[p->dims - 1].b != bytes)
            return;
        p->element = (size_t)(bytes * count);
        p->dims--;
    }
}

static bool walk(const pair *p, int depth, char *a, const char *b)
{
    if (depth >= p->dims - 1)
        return p->run(p, a, b);
    for (int64_t i = 0; i < p->loop[depth].count; i++)
        if (!walk(p, depth + 1, a + i * p->loop[depth].a, b + i * p->loop[depth].b))
            return false;
    return true;
}

static bool pair_up(const array_spec *spec, const int64_t *a, const int64_t *b, pair *p)
{
    *p = (pair){.element = ferry_type_bytes(spec->element)};
    for (int k = 0; k < spec->dims; k++) {
        if (spec->shape[k] == 0)
            return false;
        if (spec->shape[k] > 1)
            enter(p, spec->shape[k], a[k], b[k]);
    }
    fold(p);
    return true;
}

/* The loop that is walked innermost; a single pass when everything folded. */
#define EACH(p, a, b, body)                                                                        \
  do {                                                                                             \
    const int last = (p)->dims - 1;                                                                \
    const int64_t count = last < 0 ? 1 : (p)->loop[last].count;                                    \
    const int64_t a_stride = last < 0 ? 0 : (p)->loop[last].a;                                     \
    const int64_t b_stride = last < 0 ? 0 : (p)->loop[last].b;                                     \
    for (int64_t i = 0; i < count; i++, (a) += a_stride, (b) += b_stride)                          \
      body                                                                                         \
  } while (0)

#define COPY(name, bytes)                                                                          \
  static bool name(const pair *p, char *a, const char *b)                                          \
  {                                                                                                \
    EACH(p, a, b, { memcpy(a, b, bytes); });                                                       \
    return true;                                                                                   \
  }
COPY(copy_1, 1)
COPY(copy_2, 2)
COPY(copy_4, 4)
COPY(copy_8, 8)
COPY(copy_16, 16)
COPY(copy_any, p->element)
#undef COPY

static run_pair *copy_of(size_t bytes)
{
    static run_pair *const typed[17] = {
        [1] = copy_1, [2] = copy_2, [4] = copy_4, [8] = copy_8, [16] = copy_16};

    return bytes < sizeof typed / sizeof typed[0] && typed[bytes] ? typed[bytes] : copy_any;
}

static bool compare(const pair *p, char *a, const char *b)
{
    EACH(p, a, b, {
        if (memcmp(a, b, p->element) != 0)
            return false;
    });
    return true;
}

void array_copy(const array_spec *src, void *data, const int64_t *strides)
{
    int64_t dense[FERRY_ARRAY_MAX_DIMS];
    const int64_t *from = src->strides;
    pair p;

    if (!from) {
        array_strides(src, false, dense);
        from = dense;
    }
    if (!pair_up(src, strides, from, &p))
        return;
    p.run = copy_of(p.element);
    walk(&p, 0, data, src->data);
}

bool array_equal(const array_spec *a, const array_spec *b)
{
    pair p;

    if (a->element != b->element || a->dims != b->dims)
        return false;
    if (memcmp(a->shape, b->shape, (size_t)a->dims * sizeof *a->shape) != 0)
        return false;
    if (!pair_up(a, a->strides, b->strides, &p))
        return true;
    p.run = compare;
    return walk(&p, 0, (char *)a->data, b->data);
}

int64_t array_offset(const array_spec *spec, size_t number)
{
    int64_t offset = 0;

    for (int k = spec->dims - 1; k >= 0; k--) {
        offset += (int64_t)(number % (size_t)spec->shape[k]) * spec->strides[k];
        number /= (size_t)spec->shape[k];
    }
    return offset;
}
