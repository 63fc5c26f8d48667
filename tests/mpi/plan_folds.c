/* Edges with an op. All ranks draw the same edges, whose targets overlap as they like; each rank computes what it must
 * hold by walking over all of them in its own order, element by element. Sums of floating point numbers would tell of
 * any other order. */
#include <math.h>

#include "mpi/plan.h"

enum {
    CELLS = 3000, /* elements of a target; sources are larger, so that no draw leaves them */
    SOURCE = 4 * CELLS,
    MOST_EDGES = 40,
    MOST_RANKS = 16,
    ROUNDS = 2,
    BUFFERS = 2
};

/* Ops with types of 1, 4, 8 and 16 bytes; of any edge list all have one type, since they overlap. */
static const struct {
    ferry_type type;
    int64_t bytes;
    int ops;
} kinds[] = {
    {FERRY_TYPE_FLOAT64, 8, 5}, {FERRY_TYPE_FLOAT32, 4, 5},    {FERRY_TYPE_INT8, 1, 5},
    {FERRY_TYPE_UINT16, 2, 5},  {FERRY_TYPE_COMPLEX128, 16, 2}, {FERRY_TYPE_INT64, 8, 5},
};

typedef struct fold_edge {
    int from, to, buffer;
    ferry_op op;
    int64_t rows, columns, components; /* elements of `components` numbers */
    int64_t source_at, target_at, source_row, target_row;
} fold_edge;

typedef struct folds {
    int rank, size, count, kind;
    fold_edge edges[MOST_EDGES];
} folds;

static void draw(folds *f, check_rng *rng)
{
    static const ferry_op complex_ops[] = {FERRY_OP_SUM, FERRY_OP_PROD};
    static const ferry_op all_ops[] = {FERRY_OP_SUM, FERRY_OP_PROD, FERRY_OP_MIN, FERRY_OP_MAX, FERRY_OP_LAST};

    f->kind = (int)check_between(rng, 0, sizeof kinds / sizeof *kinds - 1);
    f->count = (int)check_between(rng, 0, MOST_EDGES);
    for (int i = 0; i < f->count; i++) {
        fold_edge *const e = &f->edges[i];
        const int which = (int)check_between(rng, 0, kinds[f->kind].ops - 1);
        e->from = (int)check_between(rng, 0, f->size - 1);
        e->to = (int)check_between(rng, 0, f->size - 1);
        e->buffer = (int)check_between(rng, 0, BUFFERS - 1);
        e->op = kinds[f->kind].ops == 2 ? complex_ops[which] : all_ops[which];
        e->components = check_between(rng, 1, 3);
        e->rows = check_between(rng, 0, 20);
        e->columns = check_between(rng, 1, check_between(rng, 0, 3) ? 8 : 45);
        e->target_row = e->columns + (check_between(rng, 0, 1) ? check_between(rng, 0, 4) : 0);
        e->source_row = e->columns + check_between(rng, 0, 4);
        e->target_at = check_between(rng, 0, CELLS - 20 * 49 * 3);
        e->source_at = check_between(rng, 0, CELLS);
    }
}

static ferry_layout *layout_of(const folds *f, const fold_edge *e, bool source)
{
    const int64_t element = kinds[f->kind].bytes * e->components;
    const int64_t counts[] = {e->rows, e->columns};
    const int64_t strides[] = {(source ? e->source_row : e->target_row) * element, element};
    ferry_layout *layout = NULL;

    CHECK_OK(ferry_layout_strided(2, counts, strides, element, (source ? e->source_at : e->target_at) * kinds[f->kind].bytes,
                                  &layout));
    return layout;
}

static ferry_plan *compile(ferry_context *ctx, const folds *f)
{
    ferry_edge edges[MOST_EDGES];
    ferry_plan *plan = NULL;
    size_t count = 0;

    for (int i = 0; i < f->count; i++) {
        const fold_edge *const e = &f->edges[i];
        if (e->from != f->rank && e->to != f->rank)
            continue;
        ferry_edge *const edge = &edges[count++];
        *edge = (ferry_edge)FERRY_EDGE_INIT;
        edge->from = e->from;
        edge->to = e->to;
        edge->buffer = e->buffer;
        if (e->from == f->rank)
            edge->source = layout_of(f, e, true);
        if (e->to != f->rank)
            continue;
        edge->target = layout_of(f, e, false);
        edge->op = e->op;
        edge->type = kinds[f->kind].type;
    }
    CHECK_OK(ferry_plan_compile(ctx, edges, count, &plan));
    for (size_t i = 0; i < count; i++) {
        ferry_layout_free((ferry_layout *)edges[i].source);
        ferry_layout_free((ferry_layout *)edges[i].target);
    }
    return plan;
}

/* Numbers of a type; small enough integers for products, NaN and zeros of both signs among the floats. */
static void put(ferry_type type, char *at, uint64_t random)
{
    const double odd[] = {0.0, -0.0, 1e-9, -1e9, 3.25, NAN};
    const double value = random % 16 < 6 ? odd[random % 16] : (double)(int64_t)(random >> 40) / 3.0 - 1e6;
    const float small = (float)value;

    if (type == FERRY_TYPE_FLOAT64)
        memcpy(at, &value, sizeof value);
    else if (type == FERRY_TYPE_FLOAT32)
        memcpy(at, &small, sizeof small);
    else if (type == FERRY_TYPE_COMPLEX128)
        memcpy(at, (double[]){(double)(random >> 50) - 7000, (double)(random >> 52) + 0.1}, 16);
    else
        memcpy(at, &random, type == FERRY_TYPE_INT64 ? 8 : type == FERRY_TYPE_UINT16 ? 2 : 1);
}

static void fill(const folds *f, int rank, int what, char *data, int64_t numbers)
{
    check_rng rng = {(uint64_t)(rank * 1000 + what)};

    for (int64_t i = 0; i < numbers; i++)
        put(kinds[f->kind].type, data + i * kinds[f->kind].bytes, check_next(&rng));
}

/* The rules written out once more, in other words than the library's. */
#define COMBINE(type)                                                                                                       \
    static type combine_##type(ferry_op op, type there, type arriving)                                                      \
    {                                                                                                                       \
        if (op == FERRY_OP_SUM)                                                                                             \
            return (type)(there + arriving);                                                                                \
        if (op == FERRY_OP_PROD)                                                                                            \
            return (type)(there * arriving);                                                                                \
        if (op == FERRY_OP_LAST)                                                                                            \
            return arriving;                                                                                                \
        if (there != there)                                                                                                 \
            return there;                                                                                                   \
        const bool take = arriving != arriving || (op == FERRY_OP_MIN ? arriving < there : arriving > there);               \
        return take ? arriving : there;                                                                                     \
    }
COMBINE(double)
COMBINE(float)
COMBINE(int8_t)
COMBINE(uint16_t)

static int64_t combine_int64_t(ferry_op op, int64_t there, int64_t arriving)
{
    if (op == FERRY_OP_SUM)
        return (int64_t)((uint64_t)there + (uint64_t)arriving);
    if (op == FERRY_OP_PROD)
        return (int64_t)((uint64_t)there * (uint64_t)arriving);
    if (op == FERRY_OP_LAST)
        return arriving;
    return (arriving < there) == (op == FERRY_OP_MIN) ? arriving : there;
}

static void combine(ferry_type type, ferry_op op, char *there, const char *arriving)
{
#define CASE(TYPE, type)                                       \
    case FERRY_TYPE_##TYPE: {                                  \
        type a, b;                                             \
        memcpy(&a, there, sizeof a);                           \
        memcpy(&b, arriving, sizeof b);                        \
        a = combine_##type(op, a, b);                          \
        memcpy(there, &a, sizeof a);                           \
        break;                                                 \
    }
    switch (type) {
        CASE(FLOAT64, double)
        CASE(FLOAT32, float)
        CASE(INT8, int8_t)
        CASE(UINT16, uint16_t)
        CASE(INT64, int64_t)
    default: { /* complex */
        double a[2], b[2];
        memcpy(a, there, sizeof a);
        memcpy(b, arriving, sizeof b);
        const double sum[] = {a[0] + b[0], a[1] + b[1]};
        const double product[] = {a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]};
        memcpy(there, op == FERRY_OP_SUM ? sum : product, sizeof a);
    }
    }
}

static void expect(const folds *f, int what, char *const target[BUFFERS], char *scratch)
{
    const int64_t bytes = kinds[f->kind].bytes;

    for (int i = 0; i < f->count; i++) {
        const fold_edge *const e = &f->edges[i];
        if (e->to != f->rank)
            continue;
        fill(f, e->from, what + e->buffer, scratch, SOURCE);
        for (int64_t r = 0; r < e->rows; r++)
            for (int64_t k = 0; k < e->columns * e->components; k++)
                combine(kinds[f->kind].type, e->op,
                        target[e->buffer] + (e->target_at + r * e->target_row * e->components + k) * bytes,
                        scratch + (e->source_at + r * e->source_row * e->components + k) * bytes);
    }
}

/* All NaNs are one: which of two a processor keeps depends on how the compiler orders the factors. */
static bool same(const folds *f, const char *found, const char *expected)
{
    const ferry_type type = kinds[f->kind].type;
    size_t wrong = 0;

    for (int64_t i = 0; i < CELLS; i++) {
        const char *const a = found + i * kinds[f->kind].bytes, *const b = expected + i * kinds[f->kind].bytes;
        double x = 0, y = 0;
        float s = 0, t = 0;
        memcpy(&x, a, type == FERRY_TYPE_FLOAT64 ? sizeof x : 0);
        memcpy(&y, b, type == FERRY_TYPE_FLOAT64 ? sizeof y : 0);
        memcpy(&s, a, type == FERRY_TYPE_FLOAT32 ? sizeof s : 0);
        memcpy(&t, b, type == FERRY_TYPE_FLOAT32 ? sizeof t : 0);
        const bool both = (isnan(x) && isnan(y)) || (isnan(s) && isnan(t));
        wrong += !both && memcmp(a, b, (size_t)kinds[f->kind].bytes) != 0;
    }
    return CHECK_EQ_INT(wrong, 0);
}

static void *room(void)
{
    void *data = malloc(SOURCE * 16 + 1);

    return data;
}

static void try_one(ferry_context *ctx, const folds *f)
{
    char *source[BUFFERS], *target[BUFFERS], *expected[BUFFERS], *const scratch = room();
    ferry_plan *const plan = compile(ctx, f);

    for (int b = 0; b < BUFFERS; b++) {
        source[b] = room();
        target[b] = room();
        expected[b] = room();
    }
    for (int round = 0; round < ROUNDS && plan; round++) {
        const int skew = round % 2; /* addresses that are no multiples of anything are right, too */
        char *const at[BUFFERS] = {target[0] + skew, target[1] + skew};
        for (int b = 0; b < BUFFERS; b++) {
            fill(f, f->rank, 10 * round + b, source[b], SOURCE);
            fill(f, f->rank, 100 + b, at[b], CELLS);
            fill(f, f->rank, 100 + b, expected[b], CELLS);
        }
        expect(f, 10 * round, expected, scratch);
        CHECK_OK(ferry_plan_start_buffers(plan, BUFFERS, (const void *const *)source, (void *const *)at));
        CHECK_OK(ferry_plan_wait(plan));
        for (int b = 0; b < BUFFERS; b++)
            if (!same(f, at[b], expected[b])) {
                char text[4096];
                ferry_plan_explain(plan, text, sizeof text);
                fprintf(stderr, "%s", text);
            }
    }
    ferry_plan_free(plan);
    for (int b = 0; b < BUFFERS; b++) {
        free(source[b]);
        free(target[b]);
        free(expected[b]);
    }
    free(scratch);
}

static void check_random(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);
    check_rng rng = check_common_rng("plan_folds");
    folds f = {.rank = info.rank, .size = info.size};

    for (int i = 0; i < check_repeats(info.size); i++) {
        draw(&f, &rng);
        try_one(ctx, &f);
    }
}

/* Every rank sends a block larger than the pieces it is folded in; the staging is told of. */
static void check_long(ferry_context *ctx)
{
    enum { COUNT = 50000 };
    const ferry_context_info info = plan_info_of(ctx);
    ferry_layout *const block = plan_dense(COUNT, sizeof(double), 0);
    ferry_edge edges[2 * MOST_RANKS];
    ferry_plan *plan = NULL;
    ferry_plan_info told;
    double *const mine = malloc(COUNT * sizeof *mine), *const sum = malloc(COUNT * sizeof *sum);
    size_t count = 0, wrong = 0;

    for (int r = 0; r < info.size; r++) {
        for (int way = 0; way < (r == info.rank ? 1 : 2); way++) {
            ferry_edge *const e = &edges[count++];
            *e = (ferry_edge)FERRY_EDGE_INIT;
            e->from = way ? info.rank : r;
            e->to = way ? r : info.rank;
            e->source = e->target = block;
            e->op = FERRY_OP_SUM;
            e->type = FERRY_TYPE_FLOAT64;
        }
    }
    CHECK_OK(ferry_plan_compile(ctx, edges, count, &plan));
    CHECK_OK(ferry_plan_describe(plan, &told));
    CHECK_EQ_INT(told.recv_bytes, info.size * COUNT * (long long)sizeof(double));
    CHECK(told.staging_bytes >= (uint64_t)(info.size - 1) * COUNT * sizeof(double));
    CHECK(told.private_bytes >= (uint64_t)(info.size - 1) * COUNT * sizeof(double));
    for (int i = 0; i < COUNT; i++) {
        mine[i] = (info.rank + 1) * 0.1 + i;
        sum[i] = -i;
    }
    CHECK_OK(ferry_plan_start(plan, mine, sum));
    CHECK_OK(ferry_plan_wait(plan));
    for (int i = 0; i < COUNT; i++) {
        double expected = -i;
        for (int r = 0; r < info.size; r++)
            expected += (r + 1) * 0.1 + i;
        wrong += sum[i] != expected;
    }
    CHECK_EQ_INT(wrong, 0);

    /* A round of folding takes no memory. */
    ferry_counters before, after;
    CHECK_OK(ferry_context_counters(ctx, &before));
    CHECK_OK(ferry_plan_start(plan, mine, sum));
    CHECK_OK(ferry_plan_wait(plan));
    CHECK_OK(ferry_context_counters(ctx, &after));
    CHECK_EQ_INT(after.allocations, before.allocations);
    ferry_plan_free(plan);
    ferry_layout_free(block);
    free(mine);
    free(sum);
}

/* An edge of every rank to itself, made wrong by one rank, is refused on all. */
static void refused(ferry_context *ctx, ferry_edge edge, const char *words)
{
    const int me = plan_info_of(ctx).rank;
    ferry_plan *plan = NULL;

    edge.from = edge.to = me;
    if (me > 0)
        edge.op = FERRY_OP_REPLACE;
    CHECK_EQ_INT(ferry_plan_compile(ctx, &edge, 1, &plan), FERRY_ERR_ARG);
    CHECK_DETAIL(words);
    check_same_detail();
    CHECK(plan == NULL);
}

static void check_refusals(ferry_context *ctx)
{
    ferry_layout *const five = plan_dense(3, 5, 0), *const eight = plan_dense(3, 8, 0), *const sixteen = plan_dense(3, 16, 0);
    ferry_edge edge = FERRY_EDGE_INIT;

    edge.source = edge.target = five;
    edge.op = (ferry_op)17;
    refused(ctx, edge, "edges[0] (0 -> 0, tag 0): op is 17 on rank 0, expected 0..5");
    edge.op = FERRY_OP_SUM;
    refused(ctx, edge, "type is 0 on rank 0, expected that of a number, as op is sum");
    edge.type = (ferry_type)-3;
    refused(ctx, edge, "type is -3");
    edge.type = FERRY_TYPE_STRING;
    refused(ctx, edge, "type is 14");
    edge.type = FERRY_TYPE_INT16;
    refused(ctx, edge, "elements of target have 5 bytes on rank 0, expected a multiple of 2, as type is int16");
    edge.source = edge.target = sixteen;
    edge.type = FERRY_TYPE_COMPLEX128;
    edge.op = FERRY_OP_MIN;
    refused(ctx, edge, "min is not defined for complex128");
    edge.source = eight;
    edge.op = FERRY_OP_SUM;
    const int me = plan_info_of(ctx).rank;
    ferry_plan *plan = NULL;
    edge.from = edge.to = me;
    CHECK_EQ_INT(ferry_plan_compile(ctx, &edge, 1, &plan), FERRY_ERR_SHAPE); /* sizes differ all the same */
    CHECK_DETAIL("3 elements of 8 bytes");
    CHECK_DETAIL("3 of 16 bytes");

    /* What is replaced shares bytes with nothing else. */
    ferry_edge both[2] = {edge, edge};
    both[0].source = both[1].source = sixteen;
    both[1].tag = 1;
    both[1].op = FERRY_OP_REPLACE;
    CHECK_EQ_INT(ferry_plan_compile(ctx, both, 2, &plan), FERRY_ERR_ARG);
    CHECK_DETAIL("share bytes");
    CHECK(plan == NULL);
    both[1].op = FERRY_OP_LAST;
    CHECK_OK(ferry_plan_compile(ctx, both, 2, &plan));
    ferry_plan_free(plan);
    ferry_layout_free(five);
    ferry_layout_free(eight);
    ferry_layout_free(sixteen);
}

void plan_folds(ferry_context *ctx)
{
    check_random(ctx);
    check_long(ctx);
    check_refusals(ctx);
}
