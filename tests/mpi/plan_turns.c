/* A matrix in blocks of rows over all ranks is turned over: every rank has a block for every rank. Some of the
 * ranks may have their part in private memory, others chosen anew in each round. */
#include "mpi/plan.h"

enum { ROUNDS = 3, MOST_RANKS = 64 };

typedef struct matrix {
    int64_t rows, columns, element;
} matrix;

static int64_t first_of(int64_t all, int rank, int size)
{
    return all * rank / size;
}

static int64_t length_of(int64_t all, int rank, int size)
{
    return first_of(all, rank + 1, size) - first_of(all, rank, size);
}

/* The block that rank `from` has for rank `to`: rows of the one, columns of the other, in the order of the rows. */
static ferry_edge edge_of(const matrix *m, int from, int to, int size, ferry_layout **layouts)
{
    const int64_t counts[] = {length_of(m->rows, from, size), length_of(m->columns, to, size)};
    const int64_t source_strides[] = {m->columns * m->element, m->element};
    const int64_t target_strides[] = {m->element, m->rows * m->element};
    ferry_edge edge = FERRY_EDGE_INIT;
    const int64_t column = first_of(m->columns, to, size) * m->element;
    const int64_t row = first_of(m->rows, from, size) * m->element;

    CHECK_OK(ferry_layout_strided(2, counts, source_strides, m->element, column, &layouts[0]));
    CHECK_OK(ferry_layout_strided(2, counts, target_strides, m->element, row, &layouts[1]));
    edge.from = from;
    edge.to = to;
    edge.source = layouts[0];
    edge.target = layouts[1];
    return edge;
}

static ferry_plan *compile(ferry_context *ctx, const matrix *m, const ferry_context_info *info)
{
    ferry_edge edges[2 * MOST_RANKS] = {FERRY_EDGE_INIT};
    ferry_layout *layouts[4 * MOST_RANKS];
    ferry_plan *plan = NULL;
    size_t count = 0;

    for (int peer = 0; peer < info->size; peer++) {
        edges[count] = edge_of(m, info->rank, peer, info->size, &layouts[2 * count]);
        count++;
        if (peer == info->rank)
            continue;
        edges[count] = edge_of(m, peer, info->rank, info->size, &layouts[2 * count]);
        count++;
    }
    CHECK_OK(ferry_plan_compile(ctx, edges, count, &plan));
    for (size_t i = 0; i < 2 * count; i++)
        ferry_layout_free(layouts[i]);
    return plan;
}

static char value_at(const matrix *m, int64_t row, int64_t column, int64_t byte, int round)
{
    return (char)((row * m->columns + column) * 31 + byte * 7 + round + (row >> 3));
}

static void fill(const matrix *m, char *data, int64_t first, int64_t count, int round)
{
    for (int64_t i = 0; i < count * m->columns; i++)
        for (int64_t k = 0; k < m->element; k++)
            *data++ = value_at(m, first + i / m->columns, i % m->columns, k, round);
}

static long count_wrong(const matrix *m, const char *data, int64_t first, int64_t count, int round)
{
    long wrong = 0;

    for (int64_t i = 0; i < count * m->rows; i++)
        for (int64_t k = 0; k < m->element; k++)
            wrong += *data++ != value_at(m, i % m->rows, first + i / m->rows, k, round);
    return wrong;
}

static void turn(ferry_context *ctx, const matrix *m)
{
    const ferry_context_info info = plan_info_of(ctx);
    const int64_t rows = length_of(m->rows, info.rank, info.size);
    const int64_t columns = length_of(m->columns, info.rank, info.size);
    const size_t in = (size_t)(rows * m->columns * m->element), out = (size_t)(columns * m->rows * m->element);
    ferry_plan *plan = compile(ctx, m, &info);
    void *shared = NULL, *own = malloc(in + 1), *dst = malloc(out + 1);

    CHECK_OK(ferry_memory_alloc(ctx, in, &shared));
    for (int round = 0; round < ROUNDS; round++) {
        char *const src = round == 0 || (info.rank + round) % 3 ? shared : own; /* at first all shared */
        fill(m, src, first_of(m->rows, info.rank, info.size), rows, round);
        memset(dst, 0, out);
        CHECK_OK(ferry_plan_start(plan, src, dst));
        CHECK_OK(ferry_plan_wait(plan));
        CHECK_EQ_INT(count_wrong(m, dst, first_of(m->columns, info.rank, info.size), columns, round), 0);
    }
    ferry_plan_free(plan);
    ferry_memory_free(ctx, shared);
    free(own);
    free(dst);
}

void plan_turns(ferry_context *ctx)
{
    static const matrix matrices[] = {{700, 900, 2}, {64, 64, 8},    {333, 129, 4}, {128, 256, 16},
                                      {257, 255, 1}, {1024, 512, 8}, {5, 3, 8},     {40, 60, 3}};

    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        turn(ctx, &matrices[i]);
}
