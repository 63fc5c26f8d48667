/* Random exchanges and the naive model of them: see model.h. */
#include "mpi/model.h"

#include <limits.h>

enum { GUARD = 64, UNTOUCHED = 0xa5 };

/* ---- Drawing ---- */

static bool one_in(check_rng *rng, int n)
{
    return check_between(rng, 1, n) == 1;
}

/* The order of the loops in memory. */
static void permute(check_rng *rng, int dims, int *order)
{
    for (int d = 0; d < dims; d++) {
        const int other = (int)check_between(rng, 0, d);
        order[d] = order[other];
        order[other] = d;
    }
}

/* Loops in any order, with gaps, some of them backwards. Elements never share bytes. Returns the bytes they
 * span. */
static int64_t draw_strides(check_rng *rng, model_side *s, int64_t element)
{
    int order[MODEL_DIMS];
    int64_t step = element * (one_in(rng, 3) ? check_between(rng, 2, 3) : 1);

    permute(rng, s->dims, order);
    for (int k = 0; k < s->dims; k++) {
        const int d = order[k];
        s->strides[d] = step;
        step = step * s->counts[d] + (one_in(rng, 2) ? check_between(rng, 0, 2) * element : check_between(rng, 0, 9));
        if (s->counts[d] == 0 || !one_in(rng, 4))
            continue;
        s->offset += (s->counts[d] - 1) * s->strides[d];
        s->strides[d] = -s->strides[d];
    }
    return step;
}

/* A box of a dense array that starts at the base. */
static int64_t draw_box(check_rng *rng, model_side *s, int64_t element)
{
    int64_t step = element;

    for (int d = s->dims - 1; d >= 0; d--) {
        s->starts[d] = check_between(rng, 0, 2);
        s->sizes[d] = s->starts[d] + s->counts[d] + check_between(rng, 0, 2);
        s->strides[d] = step;
        s->offset += s->starts[d] * step;
        step *= s->sizes[d];
    }
    return step;
}

/* Any of the ways to write `counts` as loops: neighbours may be joined, and one element needs none. */
static void draw_loops(check_rng *rng, model_side *s, const int64_t *counts)
{
    const bool single = counts[0] * counts[1] * counts[2] == 1;

    s->dims = 0;
    for (int d = single && one_in(rng, 2) ? MODEL_DIMS : 0; d < MODEL_DIMS; d++) {
        if (d > 0 && one_in(rng, 3))
            s->counts[s->dims - 1] *= counts[d];
        else
            s->counts[s->dims++] = counts[d];
    }
}

/* Any number without a divisor in common with the number of elements shuffles them; 1 leaves a list its loops. */
static void draw_factor(check_rng *rng, model_side *s, int64_t elements)
{
    s->factor = one_in(rng, 3) ? 1 : check_between(rng, 1, 1000);
    s->elements = elements;
    for (int64_t a = s->factor, b = elements, rest; b > 0; a = b, b = rest) {
        rest = a % b;
        if (rest == 0 && b > 1)
            s->factor = 1;
    }
}

static int64_t draw_shape(check_rng *rng, model_side *s, const model_edge *e, bool box_allowed)
{
    s->buffer = (int)check_between(rng, 0, MODEL_BUFFERS - 1);
    s->kind = (model_kind)check_between(rng, 0, MODEL_KINDS - 1);
    s->offset = 0;
    if (s->kind == MODEL_BOX && (!box_allowed || s->dims == 0))
        s->kind = MODEL_STRIDED;
    if (s->kind == MODEL_BOX)
        return draw_box(rng, s, e->element);
    if (s->kind == MODEL_INDEXED)
        draw_factor(rng, s, e->elements);
    if (s->kind == MODEL_STRIDED || s->kind == MODEL_INDEXED)
        return draw_strides(rng, s, e->element);
    s->dims = 1;
    s->counts[0] = e->elements;
    s->strides[0] = e->element;
    return e->elements * e->element;
}

/* Sources may lie anywhere, share bytes with each other, and even repeat elements. */
static void place_source(check_rng *rng, model *m, model_edge *e, int64_t span)
{
    model_side *const s = &e->source;
    const int64_t shift = s->kind == MODEL_BOX ? 0 : check_between(rng, 0, 300);

    s->offset += shift;
    if (s->kind == MODEL_STRIDED && s->dims > 0 && s->strides[0] > 0 && one_in(rng, 10))
        s->strides[0] = 0;
    if (e->from == m->rank && shift + span > m->read[s->buffer])
        m->read[s->buffer] = shift + span;
}

/* Targets follow one another, with gaps that must stay as they are. */
static bool place_target(check_rng *rng, model *m, model_edge *e, int64_t span)
{
    model_side *const s = &e->target;
    int64_t *const used = &m->used[e->to][s->buffer];
    const int64_t shift = s->kind == MODEL_BOX ? 0 : *used + check_between(rng, 0, 40);

    if (shift + span > MODEL_BYTES - GUARD || (s->kind == MODEL_BOX && *used > 0))
        return false;
    s->offset += shift;
    *used = shift + span;
    return true;
}

static void draw_size(check_rng *rng, model_edge *e, int64_t *counts)
{
    static const int64_t elements[] = {1, 2, 4, 8, 16, 3, 24}, most[] = {3, 8, 8, 20, 20, 40};
    const int64_t highest = most[check_between(rng, 0, 5)];

    e->element = elements[check_between(rng, 0, 6)];
    e->elements = 1;
    for (int d = 0; d < MODEL_DIMS; d++) {
        counts[d] = one_in(rng, 60) ? 0 : check_between(rng, 1, highest);
        if (highest == 3 && d == 1 && one_in(rng, 2))
            counts[d] = check_between(rng, 1000, 3000); /* passes the slots of a ring now and then */
        e->elements *= counts[d];
    }
}

static bool draw_edge(check_rng *rng, model *m, model_edge *e)
{
    static const int tags[] = {0, 1, 7, INT_MAX};
    int64_t counts[MODEL_DIMS];

    *e = (model_edge){.from = (int)check_between(rng, 0, m->size - 1), .to = (int)check_between(rng, 0, m->size - 1)};
    e->tag = tags[check_between(rng, 0, 3)];
    draw_size(rng, e, counts);
    draw_loops(rng, &e->source, counts);
    draw_loops(rng, &e->target, counts);
    const int64_t source_span = draw_shape(rng, &e->source, e, true);
    const int64_t target_span = draw_shape(rng, &e->target, e, one_in(rng, 2));
    if (e->from == e->to)
        e->target.buffer = e->source.buffer;
    if (source_span > MODEL_BYTES - 1024 || !place_target(rng, m, e, target_span))
        return false;
    place_source(rng, m, e, source_span);
    return true;
}

/* A block like the last one whose target lies between the elements of that. */
static void draw_twin(check_rng *rng, const model *m, const model_edge *last, model_edge *e)
{
    *e = *last;
    e->target.offset += e->element;
    if (m->size > 1 && one_in(rng, 2))
        e->tag = 2;
}

static bool leaves_room_between(const model_edge *e)
{
    for (int d = 0; d < e->target.dims; d++)
        if (llabs(e->target.strides[d]) < 2 * e->element)
            return false;
    return e->target.kind == MODEL_STRIDED && e->target.dims > 0;
}

void model_draw(model *m, check_rng *rng, int rank, int size, int most)
{
    const int wanted = (int)check_between(rng, 0, most);
    bool twin_allowed = false;

    *m = (model){.rank = rank, .size = size};
    while (m->count < wanted) {
        model_edge *const e = &m->edges[m->count];
        if (twin_allowed && leaves_room_between(e - 1)) {
            draw_twin(rng, m, e - 1, e);
            m->count++;
            twin_allowed = false;
        } else if (draw_edge(rng, m, e)) {
            m->count++;
            twin_allowed = true;
        }
    }
}

/* ---- Compiling ---- */

static int64_t element_at(const model_side *s, int64_t i)
{
    int64_t at = s->offset;

    if (s->kind == MODEL_INDEXED)
        i = i * s->factor % s->elements;
    for (int d = s->dims - 1; d >= 0; i /= s->counts[d--])
        at += i % s->counts[d] * s->strides[d];
    return at;
}

static ferry_layout *indexed_of(const model_side *s, const model_edge *e)
{
    int64_t *const offsets = malloc(sizeof *offsets * (size_t)(e->elements + 1));
    ferry_layout *layout = NULL;

    for (int64_t i = 0; i < e->elements; i++)
        offsets[i] = element_at(s, i) - s->offset;
    CHECK_OK(ferry_layout_indexed(e->elements, offsets, NULL, e->element, s->offset, &layout));
    free(offsets);
    return layout;
}

static ferry_layout *layout_of(const model_side *s, const model_edge *e)
{
    ferry_layout *layout = NULL;

    if (s->kind == MODEL_DENSE)
        CHECK_OK(ferry_layout_dense(e->elements, e->element, s->offset, &layout));
    else if (s->kind == MODEL_INDEXED)
        layout = indexed_of(s, e);
    else if (s->kind == MODEL_BOX)
        CHECK_OK(ferry_layout_box(s->dims, s->sizes, s->starts, s->counts, e->element, &layout));
    else
        CHECK_OK(ferry_layout_strided(s->dims, s->counts, s->strides, e->element, s->offset, &layout));
    return layout;
}

static ferry_edge edge_of(const model_edge *e, int rank, ferry_layout **layouts)
{
    ferry_edge edge = FERRY_EDGE_INIT;

    edge.from = e->from;
    edge.to = e->to;
    edge.tag = e->tag;
    edge.buffer = e->from == rank ? e->source.buffer : e->target.buffer;
    layouts[0] = layouts[1] = NULL;
    if (e->from == rank)
        edge.source = layouts[0] = layout_of(&e->source, e);
    if (e->to == rank)
        edge.target = layouts[1] = layout_of(&e->target, e);
    return edge;
}

/* Each rank names its edges in an order of its own; only equal ones keep theirs. */
static size_t list_edges(const model *m, ferry_edge *edges, ferry_layout **layouts)
{
    static const int tags[] = {0, 1, 2, 7, INT_MAX};
    enum { TAGS = sizeof tags / sizeof *tags };
    size_t count = 0;

    for (int t = 0; t < TAGS; t++)
        for (int i = 0; i < m->count; i++) {
            const model_edge *const e = &m->edges[i];
            if (e->tag != tags[(t + m->rank) % TAGS] || (e->from != m->rank && e->to != m->rank))
                continue;
            edges[count] = edge_of(e, m->rank, layouts + 2 * count);
            count++;
        }
    return count;
}

ferry_plan *model_compile(const model *m, ferry_context *ctx)
{
    ferry_edge edges[MODEL_EDGES];
    ferry_layout *layouts[2 * MODEL_EDGES];
    ferry_plan *plan = NULL;
    const size_t count = list_edges(m, edges, layouts);

    CHECK_OK(ferry_plan_compile(ctx, edges, count, &plan));
    for (size_t i = 0; i < 2 * count; i++)
        ferry_layout_free(layouts[i]);
    return plan;
}

/* ---- What the bytes must be ---- */

/* Eight bytes of a source, told by who has them, where, and when. */
static uint64_t source_word(int rank, int buffer, unsigned round, int64_t index)
{
    check_rng rng = {(uint64_t)index * 0x2545f4914f6cdd1du + ((uint64_t)rank << 40 | (uint64_t)buffer << 32 | round)};

    return check_next(&rng);
}

static char source_byte(int rank, int buffer, unsigned round, int64_t at)
{
    return (char)(source_word(rank, buffer, round, at / 8) >> (at % 8 * 8));
}

void model_fill_source(const model *m, int buffer, unsigned round, char *data)
{
    for (int64_t i = 0; i * 8 < m->read[buffer]; i++) {
        const uint64_t word = source_word(m->rank, buffer, round, i);
        memcpy(data + i * 8, &word, sizeof word);
    }
}

bool model_source_is_whole(const model *m, int buffer, unsigned round, const char *data)
{
    for (int64_t i = 0; i * 8 < m->read[buffer]; i++) {
        const uint64_t word = source_word(m->rank, buffer, round, i);
        if (memcmp(data + i * 8, &word, sizeof word) != 0)
            return false;
    }
    return true;
}

void model_fill_target(const model *m, int buffer, char *data)
{
    memset(data, UNTOUCHED, (size_t)m->used[m->rank][buffer] + GUARD);
}

static void apply(const model_edge *e, unsigned round, char *data)
{
    for (int64_t i = 0; i < e->elements; i++) {
        const int64_t from = element_at(&e->source, i), to = element_at(&e->target, i);
        for (int64_t k = 0; k < e->element; k++)
            data[to + k] = source_byte(e->from, e->source.buffer, round, from + k);
    }
}

bool model_target_is_right(const model *m, int buffer, unsigned round, const char *data, char *scratch)
{
    const size_t bytes = (size_t)m->used[m->rank][buffer] + GUARD;
    size_t at = 0;

    model_fill_target(m, buffer, scratch);
    for (int i = 0; i < m->count; i++)
        if (m->edges[i].to == m->rank && m->edges[i].target.buffer == buffer)
            apply(&m->edges[i], round, scratch);
    if (memcmp(data, scratch, bytes) == 0)
        return true;
    while (data[at] == scratch[at])
        at++;
    fprintf(stderr, "rank %d: byte %zu of target buffer %d is %02x, expected %02x\n", m->rank, at, buffer,
            data[at] & 0xff, scratch[at] & 0xff);
    return false;
}
