/* Transposes against numbers worked out by hand, and of random shapes against the serial rule: element (i, j) of the
 * matrix is element (j, i) of the result. Every element has bytes that depend on its place; guards around the arrays
 * stay as they are. */
#include "ferry/memory.h"
#include "ferry/redistribute.h"
#include "mpi/support.h"

enum { GUARD = 64, UNTOUCHED = 0xa5 };

/* --- worked out by hand ------------------------------------------------------------------------------- */

static void block_shares(void)
{
    static const struct {
        int64_t total;
        int parts, part;
        int64_t first, count;
    } shares[] = {
        {10, 3, 0, 0, 4}, {10, 3, 1, 4, 3}, {10, 3, 2, 7, 3}, {7, 3, 0, 0, 3}, {7, 3, 2, 5, 2}, {0, 5, 4, 0, 0},
        {2, 4, 1, 1, 1}, {2, 4, 2, 2, 0}, {2, 4, 3, 2, 0}, {9, 1, 0, 0, 9},
        {INT64_MAX, 2, 1, INT64_MAX / 2 + 1, INT64_MAX / 2},
    };
    int64_t first = -7, count = -7;

    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        CHECK_OK(ferry_block_share(shares[i].total, shares[i].parts, shares[i].part, &first, &count));
        CHECK_EQ_INT(first, shares[i].first);
        CHECK_EQ_INT(count, shares[i].count);
    }
    first = count = -7;
    CHECK_EQ_INT(ferry_block_share(-1, 1, 0, &first, &count), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_block_share(1, 0, 0, &first, &count), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_block_share(1, 1, 1, &first, &count), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_block_share(1, 1, -1, &first, &count), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_block_share(1, 1, 0, NULL, &count), FERRY_ERR_ARG);
    CHECK_EQ_INT(first + count, -14);
}

static ferry_transpose *make(ferry_context *ctx, int64_t rows, int64_t columns, int64_t element_bytes)
{
    ferry_transpose_spec spec = FERRY_TRANSPOSE_SPEC_INIT;
    ferry_transpose *turn = NULL;

    spec.rows = rows;
    spec.columns = columns;
    spec.element_bytes = element_bytes;
    CHECK_OK(ferry_transpose_create(ctx, &spec, &turn));
    return turn;
}

/* Fewer rows or columns than ranks, single rows, shares that differ by one: there and back. */
static void default_shares(ferry_context *ctx, int64_t rows, int64_t columns)
{
    ferry_transpose *there = make(ctx, rows, columns, sizeof(int64_t));
    ferry_transpose *back = make(ctx, columns, rows, sizeof(int64_t));
    int64_t first_row, row_count, first_column, column_count;

    CHECK_OK(ferry_transpose_shares(there, &first_row, &row_count, &first_column, &column_count));
    int64_t *const matrix = calloc((size_t)(row_count * columns + 1), sizeof *matrix);
    int64_t *const turned = calloc((size_t)(column_count * rows + 1), sizeof *turned);
    int64_t *const again = calloc((size_t)(row_count * columns + 1), sizeof *again);
    CHECK(matrix && turned && again);
    for (int64_t i = 0; i < row_count; i++)
        for (int64_t j = 0; j < columns; j++)
            matrix[i * columns + j] = 100 * (first_row + i) + j;
    CHECK_OK(ferry_transpose_run(there, matrix, turned));
    for (int64_t j = 0; j < column_count; j++)
        for (int64_t i = 0; i < rows; i++)
            CHECK_EQ_INT(turned[j * rows + i], 100 * i + first_column + j);
    CHECK_OK(ferry_transpose_run(back, turned, again));
    CHECK_EQ_INT(memcmp(matrix, again, (size_t)(row_count * columns) * sizeof *matrix), 0);
    free(matrix);
    free(turned);
    free(again);
    ferry_transpose_free(there);
    ferry_transpose_free(back);
}

/* 10 x 7 over three ranks: rows 4, 3, 3 and columns 3, 2, 2. */
static void three_ranks(const ferry_context_info *info)
{
    static const int64_t rows[] = {4, 3, 3}, columns[] = {3, 2, 2};
    static const int64_t first_rows[] = {0, 4, 7}, first_columns[] = {0, 3, 5};
    MPI_Comm three;

    if (info->size < 3)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, info->rank < 3 ? 0 : MPI_UNDEFINED, info->rank, &three);
    if (three == MPI_COMM_NULL)
        return;
    ferry_context *ctx = context_over(three);
    ferry_transpose *turn = make(ctx, 10, 7, 8);
    int64_t first_row, row_count, first_column, column_count;
    CHECK_OK(ferry_transpose_shares(turn, &first_row, &row_count, &first_column, &column_count));
    CHECK_EQ_INT(first_row, first_rows[info->rank]);
    CHECK_EQ_INT(row_count, rows[info->rank]);
    CHECK_EQ_INT(first_column, first_columns[info->rank]);
    CHECK_EQ_INT(column_count, columns[info->rank]);
    CHECK_OK(ferry_transpose_shares(turn, NULL, NULL, NULL, NULL));
    ferry_transpose_free(turn);
    default_shares(ctx, 10, 7);
    ferry_context_free(ctx);
    MPI_Comm_free(&three);
}

/* --- random shapes ------------------------------------------------------------------------------------ */

/* A matrix and who has what of it; the same on all ranks but for `rank`. */
typedef struct model {
    int rank, size;
    ferry_transpose_spec spec;
    int64_t first_row, first_column;
} model;

/* Deal `total` at random; returns the share of `rank`. Some ranks get nothing. */
static int64_t deal(check_rng *rng, int64_t total, const model *m, int64_t *first_out)
{
    int64_t mine = 0, given = 0;

    for (int q = 0; q < m->size; q++) {
        const int64_t rest = total - given;
        int64_t share = check_between(rng, 0, 3) ? check_between(rng, 0, rest) : 0;
        if (q == m->size - 1)
            share = rest;
        if (q == m->rank) {
            mine = share;
            *first_out = given;
        }
        given += share;
    }
    return mine;
}

static void choose_model(model *m, check_rng *rng, const ferry_context_info *info)
{
    *m = (model){.rank = info->rank, .size = info->size, .spec = FERRY_TRANSPOSE_SPEC_INIT};
    m->spec.rows = check_between(rng, 0, 70);
    m->spec.columns = check_between(rng, 0, 70);
    m->spec.element_bytes = check_between(rng, 1, 64);
    if (check_between(rng, 0, 1))
        m->spec.element_bytes = (int64_t)1 << check_between(rng, 0, 4);
    m->spec.local_rows = deal(rng, m->spec.rows, m, &m->first_row);
    m->spec.local_columns = deal(rng, m->spec.columns, m, &m->first_column);
}

/* Byte b of element (i, j) of the matrix. */
static unsigned char value_at(int64_t i, int64_t j, int64_t b)
{
    const uint64_t h = ((uint64_t)i * 1000003u + (uint64_t)j) * 0x9e3779b97f4a7c15u + (uint64_t)b * 0xbf58476d1ce4e5b9u;

    return (unsigned char)(h >> 40);
}

static void fill_matrix(const model *m, unsigned char *matrix)
{
    const int64_t columns = m->spec.columns, bytes = m->spec.element_bytes;

    for (int64_t i = 0; i < m->spec.local_rows; i++)
        for (int64_t j = 0; j < columns; j++)
            for (int64_t b = 0; b < bytes; b++)
                matrix[(i * columns + j) * bytes + b] = value_at(m->first_row + i, j, b);
}

static void check_guards(const unsigned char *array, int64_t bytes)
{
    for (int i = 0; i < GUARD; i++) {
        CHECK_EQ_INT(array[-1 - i], UNTOUCHED);
        CHECK_EQ_INT(array[bytes + i], UNTOUCHED);
    }
}

static void check_turned(const model *m, const unsigned char *turned)
{
    const int64_t rows = m->spec.rows, bytes = m->spec.element_bytes;

    for (int64_t j = 0; j < m->spec.local_columns; j++)
        for (int64_t i = 0; i < rows; i++)
            for (int64_t b = 0; b < bytes; b++)
                CHECK_EQ_INT(turned[(j * rows + i) * bytes + b], value_at(i, m->first_column + j, b));
    check_guards(turned, m->spec.local_columns * rows * bytes);
}

static unsigned char *array_take(ferry_context *ctx, int64_t bytes, int shared)
{
    const size_t whole = (size_t)bytes + 2 * GUARD;
    void *memory = NULL;

    if (shared)
        CHECK_OK(ferry_memory_alloc(ctx, whole, &memory));
    else
        memory = malloc(whole);
    CHECK(memory != NULL);
    memset(memory, UNTOUCHED, whole);
    return (unsigned char *)memory + GUARD;
}

static void array_give(ferry_context *ctx, unsigned char *array, int shared)
{
    if (shared)
        ferry_memory_free(ctx, array - GUARD);
    else
        free(array - GUARD);
}

static ferry_transpose *make_back(ferry_context *ctx, const model *m)
{
    ferry_transpose_spec spec = FERRY_TRANSPOSE_SPEC_INIT;
    ferry_transpose *back = NULL;

    spec.rows = m->spec.columns;
    spec.columns = m->spec.rows;
    spec.element_bytes = m->spec.element_bytes;
    spec.local_rows = m->spec.local_columns;
    spec.local_columns = m->spec.local_rows;
    CHECK_OK(ferry_transpose_create(ctx, &spec, &back));
    return back;
}

static void there_and_back(ferry_context *ctx, const model *m, int shared)
{
    const int64_t src_bytes = m->spec.local_rows * m->spec.columns * m->spec.element_bytes;
    const int64_t dst_bytes = m->spec.local_columns * m->spec.rows * m->spec.element_bytes;
    unsigned char *const matrix = array_take(ctx, src_bytes, shared);
    unsigned char *const turned = array_take(ctx, dst_bytes, shared);
    unsigned char *const again = array_take(ctx, src_bytes, shared);
    ferry_transpose *there = NULL, *back = make_back(ctx, m);
    int done = 0;

    CHECK_OK(ferry_transpose_create(ctx, &m->spec, &there));
    fill_matrix(m, matrix);
    for (int round = 0; round < 2; round++) {
        memset(turned, UNTOUCHED, (size_t)dst_bytes);
        CHECK_OK(ferry_transpose_run(there, matrix, turned));
        check_turned(m, turned);
    }
    CHECK_OK(ferry_transpose_start(back, turned, again));
    CHECK_OK(ferry_transpose_test(back, &done));
    CHECK_OK(ferry_transpose_wait(back));
    CHECK_OK(ferry_transpose_test(back, &done));
    CHECK(done);
    CHECK_EQ_INT(memcmp(matrix, again, (size_t)src_bytes), 0);
    check_guards(matrix, src_bytes);
    check_guards(again, src_bytes);
    ferry_transpose_free(there);
    ferry_transpose_free(back);
    array_give(ctx, matrix, shared);
    array_give(ctx, turned, shared);
    array_give(ctx, again, shared);
}

static void random_shapes(ferry_context *ctx, const ferry_context_info *info)
{
    check_rng rng = check_common_rng("random transposes");
    model m;

    for (int i = 0; i < check_repeats(info->size); i++) {
        choose_model(&m, &rng, info);
        there_and_back(ctx, &m, i % 2);
    }
}

/* --- sizes beyond 32 bits ----------------------------------------------------------------------------- */

/* 2^31 elements of 16 bytes: the numbers of a plan are right without any such memory. */
static void numbers_beyond_32_bits(ferry_context *ctx)
{
    ferry_transpose *turn = make(ctx, 2048, 1024 * 1024, 16);
    ferry_plan_info plan;
    uint64_t bytes, all;

    CHECK_OK(ferry_transpose_describe(turn, &plan));
    bytes = plan.recv_bytes;
    MPI_Allreduce(&bytes, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ_INT(all, 34359738368);
    ferry_transpose_free(turn);
}

/* --- refusals ----------------------------------------------------------------------------------------- */

typedef struct refusal {
    const char *words; /* that the text must hold */
    ferry_status status;
    int ranks; /* needed */
    void (*spoil)(ferry_transpose_spec *spec);
} refusal;

static void spoil_size(ferry_transpose_spec *s) { s->size = 1; }
static void spoil_rows(ferry_transpose_spec *s) { s->rows = -1; }
static void spoil_columns(ferry_transpose_spec *s) { s->columns = INT64_MIN; }
static void spoil_element(ferry_transpose_spec *s) { s->element_bytes = 0; }
static void spoil_element_high(ferry_transpose_spec *s) { s->element_bytes = 4097; }
static void spoil_local_rows(ferry_transpose_spec *s) { s->local_rows = -2; }
static void spoil_local_rows_high(ferry_transpose_spec *s) { s->local_rows = 11; }
static void spoil_local_columns(ferry_transpose_spec *s) { s->local_columns = 8; }
static void spoil_bytes(ferry_transpose_spec *s) { s->rows = s->local_rows = INT64_MAX / 50; }
static void differ_rows(ferry_transpose_spec *s) { s->rows = 9; }
static void differ_columns(ferry_transpose_spec *s) { s->columns = 6; }
static void differ_element(ferry_transpose_spec *s) { s->element_bytes = 4; }
static void lose_rows(ferry_transpose_spec *s) { s->local_rows = 0; }
static void lose_columns(ferry_transpose_spec *s) { s->local_columns = 0; }
static void add_rows(ferry_transpose_spec *s) { s->local_rows = 10; }

static const refusal refusals[] = {
    {"spec.size is 1", FERRY_ERR_ARG, 1, spoil_size},
    {"spec.rows is -1", FERRY_ERR_ARG, 1, spoil_rows},
    {"spec.columns is -9223372036854775808", FERRY_ERR_ARG, 1, spoil_columns},
    {"spec.element_bytes is 0, expected 1..4096", FERRY_ERR_ARG, 1, spoil_element},
    {"spec.element_bytes is 4097", FERRY_ERR_ARG, 1, spoil_element_high},
    {"spec.local_rows is -2", FERRY_ERR_ARG, 1, spoil_local_rows},
    {"spec.local_rows is 11, expected -1..10", FERRY_ERR_ARG, 1, spoil_local_rows_high},
    {"spec.local_columns is 8, expected -1..7", FERRY_ERR_ARG, 1, spoil_local_columns},
    {"2^63 bytes or more", FERRY_ERR_ARG, 1, spoil_bytes},
    {"rows is 9 on rank", FERRY_ERR_ARG, 2, differ_rows},
    {"columns is 6 on rank", FERRY_ERR_ARG, 2, differ_columns},
    {"element_bytes is 4 on rank", FERRY_ERR_ARG, 2, differ_element},
    {"local_rows of all ranks add up to", FERRY_ERR_SHAPE, 1, lose_rows},
    {"local_columns of all ranks add up to", FERRY_ERR_SHAPE, 1, lose_columns},
    {"but the matrix has 10 rows", FERRY_ERR_SHAPE, 2, add_rows},
};

/* Right on all ranks but the last; all ranks must say the same. */
static void refuse(ferry_context *ctx, const refusal *wrong, const ferry_context_info *info)
{
    ferry_transpose_spec spec = FERRY_TRANSPOSE_SPEC_INIT;
    ferry_transpose *turn = NULL;

    spec.rows = 10;
    spec.columns = 7;
    spec.element_bytes = 8;
    spec.local_rows = info->rank == info->size - 1 ? 10 - (info->size - 1) : 1; /* nobody has none */
    spec.local_columns = info->rank == info->size - 1 ? 7 - (info->size - 1) : 1;
    if (info->rank == info->size - 1)
        wrong->spoil(&spec);
    CHECK_EQ_INT(ferry_transpose_create(ctx, &spec, &turn), wrong->status);
    CHECK(turn == NULL);
    CHECK_DETAIL(wrong->words);
    check_same_detail();
}

static void refuse_outputs(ferry_context *ctx, const ferry_context_info *info)
{
    ferry_transpose_spec spec = FERRY_TRANSPOSE_SPEC_INIT;
    ferry_transpose *turn = NULL;
    const int last = info->rank == info->size - 1;

    spec.element_bytes = 1;
    CHECK_EQ_INT(ferry_transpose_create(ctx, &spec, last ? NULL : &turn), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_transpose_create(ctx, last ? NULL : &spec, &turn), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_transpose_create(NULL, &spec, &turn), FERRY_ERR_ARG);
    CHECK(turn == NULL);
    CHECK_EQ_INT(ferry_transpose_start(NULL, NULL, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_transpose_wait(NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_transpose_shares(NULL, NULL, NULL, NULL, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_transpose_describe(NULL, NULL), FERRY_ERR_ARG);
    ferry_transpose_free(NULL);
}

/* Calls of a good transpose with bad arguments leave it usable. */
static void refuse_calls(ferry_context *ctx, const ferry_context_info *info)
{
    ferry_transpose *turn = make(ctx, info->size, info->size, 1);
    char *const src = calloc(2, (size_t)info->size), text[32], whole[4096];

    CHECK(src != NULL);
    CHECK_EQ_INT(ferry_transpose_start(turn, NULL, src), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_transpose_start(turn, src, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_transpose_start(turn, src, src + info->size - 1), FERRY_ERR_ARG);
    CHECK_DETAIL("share bytes");
    CHECK_EQ_INT(ferry_transpose_test(turn, NULL), FERRY_ERR_ARG);
    const size_t length = ferry_transpose_explain(turn, whole, sizeof whole);
    CHECK_EQ_INT(strlen(whole), length);
    CHECK_EQ_INT(ferry_transpose_explain(turn, text, sizeof text), length);
    CHECK_EQ_INT(strncmp(whole, text, sizeof text - 1), 0);
    CHECK_OK(ferry_transpose_start(turn, src, src + info->size));
    CHECK_EQ_INT(ferry_transpose_start(turn, src, src + info->size), FERRY_ERR_STATE);
    CHECK_OK(ferry_transpose_wait(turn));
    ferry_transpose_free(turn);
    free(src);
}

void check_transpose(ferry_context *ctx)
{
    static const int64_t shapes[][2] = {{6, 5}, {1, 9}, {9, 1}, {0, 4}, {4, 0}, {0, 0}, {64, 64}, {2, 6}};
    ferry_context_info info;

    CHECK_OK(ferry_context_describe(ctx, &info));
    block_shares();
    three_ranks(&info);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        default_shares(ctx, shapes[i][0], shapes[i][1]);
    random_shapes(ctx, &info);
    numbers_beyond_32_bits(ctx);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (info.size >= refusals[i].ranks && info.size <= 7)
            refuse(ctx, &refusals[i], &info);
    refuse_outputs(ctx, &info);
    refuse_calls(ctx, &info);
}
