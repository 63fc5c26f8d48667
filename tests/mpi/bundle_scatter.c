/* Scattering and collecting: every part is what a rank can cut out by itself, element by element. */
#include "mpi/samples.h"

enum { COLS = 4 };

/* --- scattering arrays --- */

/* Element (i, j) of the matrix `seed` tells where it comes from. */
static double entry(int seed, int64_t i, int64_t j)
{
    return seed * 1e6 + (double)i * 1000 + (double)j;
}

/* Rows first .. first + rows - 1, likewise columns, of a matrix; column by column when wanted. */
static void set_matrix(ferry_bundle *b, const char *key, int seed, const int64_t first[2], const int64_t shape[2],
                       bool by_columns)
{
    double *const data = malloc((size_t)(shape[0] * shape[1] + 1) * sizeof *data);
    const int64_t columns[] = {8, 8 * shape[0]};

    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++)
            data[by_columns ? j * shape[0] + i : i * shape[1] + j] = entry(seed, first[0] + i, first[1] + j);
    CHECK_OK(ferry_bundle_set_array(b, key, FERRY_TYPE_FLOAT64, 2, shape, by_columns ? columns : NULL, data));
    free(data);
}

/* The vector first .. first + count - 1. */
static void set_vector(ferry_bundle *b, const char *key, int64_t first, int64_t count)
{
    int32_t *const data = malloc((size_t)(count + 1) * sizeof *data);

    for (int64_t i = 0; i < count; i++)
        data[i] = (int32_t)(first + i);
    CHECK_OK(ferry_bundle_set_array(b, key, FERRY_TYPE_INT32, 1, &count, NULL, data));
    free(data);
}

typedef struct cut {
    int64_t first, count;
} cut;

/* What rank k of n gets of `pieces`: by counts, or the first ones one more. */
static cut cut_of(int64_t pieces, int k, int n, const int64_t *counts)
{
    cut c = {0, 0};

    for (int i = 0; i <= k; i++) {
        c.first += c.count;
        c.count = counts ? counts[i] : pieces / n + (i < pieces % n);
    }
    return c;
}

/* Rows `r` and columns `c` of two matrices of the same size, elements `r` of a vector, and more that goes to all. */
static ferry_bundle *tables(cut r, cut c, cut vector)
{
    ferry_bundle *const b = sample_empty(), *const inner = sample_empty();
    const int64_t first[] = {r.first, c.first}, shape[] = {r.count, c.count};
    ferry_list *list = NULL;

    CHECK_OK(ferry_bundle_set_string(b, "name", "tables", 6));
    set_matrix(b, "rows", 1, first, shape, false);
    CHECK_OK(ferry_bundle_set_bundle(b, "inner", inner));
    set_matrix(inner, "columns", 2, first, shape, true);
    set_vector(inner, "vector", vector.first, vector.count);
    CHECK_OK(ferry_bundle_set_complex128(inner, "z", (ferry_complex128){1, -2}));
    CHECK_OK(ferry_list_new(&list));
    CHECK_OK(ferry_bundle_set_list(b, "list", list));
    CHECK_OK(ferry_list_append_int8(list, 7));
    ferry_bundle *const deep = sample_empty();
    set_matrix(deep, "deep", 3, first, shape, false);
    CHECK_OK(ferry_list_append_bundle(list, deep));
    return b;
}

/* Let the matrix that may lie by columns lie by rows. */
static void lay_by_rows(ferry_bundle *b, cut r, cut c)
{
    ferry_bundle *inner = NULL;
    const int64_t shape[] = {r.count, c.count};
    double *const data = malloc((size_t)(r.count * c.count + 1) * sizeof *data);

    CHECK_OK(ferry_bundle_edit_bundle(b, "inner", &inner));
    CHECK_OK(ferry_bundle_read_array(inner, "columns", FERRY_TYPE_FLOAT64, 2, shape, NULL, data));
    CHECK_OK(ferry_bundle_set_array(inner, "columns", FERRY_TYPE_FLOAT64, 2, shape, NULL, data));
    free(data);
}

/* The part of rows `r` and columns `c` is `expected`, but for the order of its elements: parts lie as the whole does,
 * and a matrix that is made with a single row counts as lying by rows. */
static void check_values(const ferry_bundle *b, ferry_bundle *expected, cut r, cut c)
{
    ferry_bundle *copy = NULL;

    CHECK_OK(ferry_bundle_copy(b, &copy));
    CHECK(ferry_bundle_equal(copy, b));
    lay_by_rows(copy, r, c);
    lay_by_rows(expected, r, c);
    sample_check(copy, expected);
    ferry_bundle_free(copy);
}

static void matrices(ferry_context *ctx, const ferry_context_info *me, int64_t rows, int64_t cols)
{
    const cut all_rows = {0, rows}, all_cols = {0, cols};

    for (int root = 0; root < me->size; root++) {
        ferry_bundle *const whole = me->rank == root ? tables(all_rows, all_cols, all_rows) : NULL;
        ferry_bundle *part = NULL;
        CHECK_OK(ferry_bundle_scatter(ctx, whole, FERRY_SPLIT_ROWS, root, &part));
        const cut r = cut_of(rows, me->rank, me->size, NULL);
        check_values(part, tables(r, all_cols, r), r, all_cols);
        ferry_bundle_free(part);
        part = NULL;
        CHECK_OK(ferry_bundle_scatter(ctx, whole, FERRY_SPLIT_COLUMNS, root, &part));
        const cut c = cut_of(cols, me->rank, me->size, NULL);
        check_values(part, tables(all_rows, c, all_rows), all_rows, c);
        ferry_bundle_free(part);
        if (whole)
            sample_check(whole, tables(all_rows, all_cols, all_rows));
        ferry_bundle_free(whole);
    }
}

/* 0, 3, 0, 1, then the same again. */
static void given_counts(ferry_context *ctx, const ferry_context_info *me)
{
    static const int64_t turn[] = {0, 3, 0, 1};
    const int root = me->size - 1;
    int64_t *const counts = malloc((size_t)me->size * sizeof *counts), sum = 0;

    for (int i = 0; i < me->size; i++)
        sum += counts[i] = turn[i % 4];
    const cut all = {0, sum}, five = {0, 5}, mine = cut_of(0, me->rank, me->size, counts);
    ferry_bundle *const tall = me->rank == root ? tables(all, five, all) : NULL;
    ferry_bundle *const wide = me->rank == root ? tables(five, all, five) : NULL;
    ferry_bundle *part = NULL;

    CHECK_OK(ferry_bundle_scatterv(ctx, tall, FERRY_SPLIT_ROWS, me->rank == root ? counts : NULL, root, &part));
    check_values(part, tables(mine, five, mine), mine, five);
    ferry_bundle_free(part);
    part = NULL;
    CHECK_OK(ferry_bundle_scatterv(ctx, wide, FERRY_SPLIT_COLUMNS, me->rank == root ? counts : NULL, root, &part));
    check_values(part, tables(five, mine, five), five, mine);
    ferry_bundle_free(part);
    ferry_bundle_free(tall);
    ferry_bundle_free(wide);
    free(counts);
}

/* Big enough to wait for the receiver; the matrix is cut against the way it lies. */
static void large_columns(ferry_context *ctx, const ferry_context_info *me)
{
    const cut rows = {0, 700}, cols = {0, 300}, mine = cut_of(300, me->rank, me->size, NULL);
    ferry_bundle *const whole = me->rank == 0 ? tables(rows, cols, rows) : NULL;
    ferry_bundle *part = NULL;

    CHECK_OK(ferry_bundle_scatter(ctx, whole, FERRY_SPLIT_COLUMNS, 0, &part));
    check_values(part, tables(rows, mine, rows), rows, mine);
    ferry_bundle_free(part);
    ferry_bundle_free(whole);
}

/* Bits survive: rank k of n gets element k of each odd array. */
static void odd_bits(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *const whole = sample_empty();
    ferry_bundle *part = NULL;
    uint64_t *const all = malloc(8u * (size_t)me->size);
    const int64_t size = me->size, one = 1;

    for (int i = 0; i < me->size; i++)
        all[i] = 0x7ff0000000000001u + (uint64_t)i * 0x8000000000000000u;
    sample_add_nothing(whole);
    CHECK_OK(ferry_bundle_set_array(whole, "odd", FERRY_TYPE_FLOAT64, 1, &size, NULL, all));
    CHECK_OK(ferry_bundle_scatter(ctx, me->rank == 0 ? whole : NULL, FERRY_SPLIT_ROWS, 0, &part));
    ferry_array got = {.data = NULL};
    CHECK_OK(ferry_bundle_get_array(part, "odd", FERRY_TYPE_FLOAT64, &got));
    CHECK_EQ_INT(got.shape[0], one);
    CHECK(memcmp(got.data, &all[me->rank], 8) == 0);
    for (int element = FERRY_TYPE_BOOL; element <= FERRY_TYPE_COMPLEX128; element++) {
        char key[32];
        snprintf(key, sizeof key, "no %s 0", ferry_type_name(element));
        CHECK_OK(ferry_bundle_get_array(part, key, element, &got));
        CHECK(got.dims == 2 && got.shape[0] == 0 && got.shape[1] == 5);
        snprintf(key, sizeof key, "no %s 1", ferry_type_name(element));
        CHECK_OK(ferry_bundle_get_array(part, key, element, &got));
        CHECK(got.dims == 2 && got.shape[0] == cut_of(5, me->rank, me->size, NULL).count && got.shape[1] == 0);
    }
    ferry_bundle_free(part);
    ferry_bundle_free(whole);
    free(all);
}

/* --- scattering lists --- */

/* Elements of a list, of a list in a bundle, and a list in a list, which stays whole. */
static ferry_bundle *lists(cut a, cut b)
{
    ferry_bundle *const all = sample_empty(), *const inner = sample_empty();
    ferry_list *list[3] = {NULL, NULL, NULL};

    CHECK_OK(ferry_list_new(&list[0]));
    CHECK_OK(ferry_list_new(&list[1]));
    for (int64_t i = a.first; i < a.first + a.count; i++) {
        CHECK_OK(ferry_list_new(&list[2]));
        CHECK_OK(ferry_list_append_int64(list[2], i));
        CHECK_OK(ferry_list_append_string(list[2], "inside", 6));
        CHECK_OK(ferry_list_append_list(list[0], list[2]));
    }
    for (int64_t i = b.first; i < b.first + b.count; i++)
        CHECK_OK(ferry_list_append_bundle(list[1], sample_numbered(1, (int)i % 7)));
    CHECK_OK(ferry_bundle_set_list(all, "lists", list[0]));
    CHECK_OK(ferry_bundle_set_bundle(all, "in", inner));
    CHECK_OK(ferry_bundle_set_list(inner, "bundles", list[1]));
    CHECK_OK(ferry_bundle_set_int64(all, "n", 5));
    return all;
}

static void elements(ferry_context *ctx, const ferry_context_info *me)
{
    const cut a = {0, 9}, b = {0, 2};

    for (int root = 0; root < me->size; root++) {
        ferry_bundle *const whole = me->rank == root ? lists(a, b) : NULL;
        ferry_bundle *part = NULL;
        CHECK_OK(ferry_bundle_scatter(ctx, whole, FERRY_SPLIT_LISTS, root, &part));
        sample_check(part, lists(cut_of(9, me->rank, me->size, NULL), cut_of(2, me->rank, me->size, NULL)));
        ferry_bundle_free(part);
        ferry_bundle_free(whole);
    }
}

/* --- collecting --- */

static void check_list(const ferry_list *parts, const ferry_context_info *me, int (*owner_of)(int from, int me))
{
    CHECK_EQ_INT(ferry_list_count(parts), me->size);
    for (int i = 0; i < me->size; i++) {
        const ferry_bundle *part = NULL;
        CHECK_OK(ferry_list_get_bundle(parts, (size_t)i, &part));
        sample_check(part, sample_of(owner_of(i, me->rank), owner_of(i, me->rank) % 5));
    }
}

static int by_rank(int from, int me)
{
    (void)me;
    return from;
}

static int by_both(int from, int me)
{
    return 10 * from + me;
}

static void collect(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *const mine = sample_of(me->rank, me->rank % 5);

    for (int root = 0; root < me->size; root++) {
        ferry_list *parts = NULL;
        CHECK_OK(ferry_bundle_gather(ctx, mine, root, me->rank == root ? &parts : NULL));
        if (me->rank == root)
            check_list(parts, me, by_rank);
        ferry_list_free(parts);
    }
    ferry_list *all = NULL;
    CHECK_OK(ferry_bundle_allgather(ctx, mine, &all));
    check_list(all, me, by_rank);
    ferry_list_free(all);
    ferry_bundle_free(mine);
}

static void exchange(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_list *parts = NULL, *got = NULL;

    CHECK_OK(ferry_list_new(&parts));
    for (int to = 0; to < me->size; to++) {
        const int owner = by_both(me->rank, to);
        CHECK_OK(ferry_list_append_bundle(parts, sample_of(owner, owner % 5)));
    }
    CHECK_OK(ferry_bundle_alltoall(ctx, parts, &got));
    check_list(got, me, by_both);
    ferry_list_free(got);
    ferry_list_free(parts);
}

/* --- failures: the same on all ranks, and nothing is broken --- */

static void still_works(ferry_context *ctx, const ferry_context_info *me)
{
    const cut all = {0, 5}, mine = cut_of(5, me->rank, me->size, NULL);
    ferry_bundle *const whole = me->rank == 0 ? tables(all, all, all) : NULL;
    ferry_bundle *part = NULL;

    CHECK_OK(ferry_bundle_scatter(ctx, whole, FERRY_SPLIT_ROWS, 0, &part));
    check_values(part, tables(mine, all, mine), mine, all);
    ferry_bundle_free(part);
    ferry_bundle_free(whole);
}

static void bad_roots(ferry_context *ctx, const ferry_context_info *me, const ferry_bundle *b)
{
    const int last = me->size - 1;
    ferry_bundle *part = NULL;
    ferry_list *parts = NULL;

    CHECK_EQ_INT(ferry_bundle_scatter(ctx, b, FERRY_SPLIT_ROWS, me->size, &part), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_gather(ctx, b, -1, &parts), FERRY_ERR_ARG);
    for (int odd = 0; odd < me->size && last > 0; odd++) {
        const int root = me->rank == odd ? last : 0;
        CHECK_EQ_INT(ferry_bundle_scatter(ctx, b, FERRY_SPLIT_ROWS, root, &part), FERRY_ERR_ARG);
        CHECK_DETAIL("root");
        CHECK_EQ_INT(ferry_bundle_gather(ctx, b, root, &parts), FERRY_ERR_ARG);
        still_works(ctx, me);
    }
    CHECK(!part && !parts);
}

static void bad_arguments(ferry_context *ctx, const ferry_context_info *me, const ferry_bundle *b)
{
    for (int odd = 0; odd < me->size; odd++) {
        const bool bad = me->rank == odd;
        ferry_bundle *part = NULL;
        ferry_list *parts = NULL;
        CHECK_EQ_INT(ferry_bundle_scatter(ctx, bad ? NULL : b, FERRY_SPLIT_ROWS, odd, &part), FERRY_ERR_ARG);
        CHECK_DETAIL("whole is NULL at the root");
        check_same_detail();
        CHECK_EQ_INT(ferry_bundle_scatter(ctx, b, FERRY_SPLIT_ROWS, 0, bad ? NULL : &part), FERRY_ERR_ARG);
        check_same_detail();
        CHECK_EQ_INT(ferry_bundle_scatter(ctx, b, bad ? 17 : FERRY_SPLIT_ROWS, 0, &part), FERRY_ERR_ARG);
        check_same_detail();
        CHECK_EQ_INT(ferry_bundle_gather(ctx, bad ? NULL : b, 0, &parts), FERRY_ERR_ARG);
        check_same_detail();
        CHECK_EQ_INT(ferry_bundle_gather(ctx, b, odd, bad ? NULL : &parts), FERRY_ERR_ARG);
        CHECK_EQ_INT(ferry_bundle_allgather(ctx, bad ? NULL : b, &parts), FERRY_ERR_ARG);
        check_same_detail();
        CHECK_EQ_INT(ferry_bundle_allgather(ctx, b, bad ? NULL : &parts), FERRY_ERR_ARG);
        check_same_detail();
        CHECK_EQ_INT(ferry_bundle_alltoall(ctx, NULL, &parts), FERRY_ERR_ARG);
        CHECK(!part && !parts);
        still_works(ctx, me);
    }
}

static void bad_counts(ferry_context *ctx, const ferry_context_info *me, const ferry_bundle *b)
{
    int64_t *const counts = calloc((size_t)me->size, sizeof *counts);
    ferry_bundle *part = NULL;
    ferry_list *parts = NULL;

    counts[me->size - 1] = 4; /* there are five of each */
    CHECK_EQ_INT(ferry_bundle_scatterv(ctx, b, FERRY_SPLIT_COLUMNS, counts, 0, &part), FERRY_ERR_SHAPE);
    CHECK_DETAIL("\"rows\" has 5 columns, expected 4");
    check_same_detail();
    counts[0] = -1;
    CHECK_EQ_INT(ferry_bundle_scatterv(ctx, b, FERRY_SPLIT_ROWS, counts, 0, &part), FERRY_ERR_ARG);
    CHECK_DETAIL("counts[0] is -1");
    CHECK_EQ_INT(ferry_bundle_scatterv(ctx, b, FERRY_SPLIT_ROWS, NULL, 0, &part), FERRY_ERR_ARG);
    CHECK_DETAIL("counts is NULL at the root");
    CHECK_EQ_INT(ferry_bundle_scatterv(NULL, b, FERRY_SPLIT_ROWS, counts, 0, &part), FERRY_ERR_ARG);
    CHECK_OK(ferry_list_new(&parts)); /* one too few, or no bundles */
    for (int i = 0; i < me->size - (me->rank == 0); i++)
        CHECK_OK(ferry_list_append_bundle(parts, sample_empty()));
    ferry_list *got = NULL;
    CHECK_EQ_INT(ferry_bundle_alltoall(ctx, parts, &got), FERRY_ERR_ARG);
    check_same_detail();
    CHECK_OK(me->rank == 0 ? ferry_list_append_int32(parts, 4) : FERRY_OK);
    CHECK_EQ_INT(ferry_bundle_alltoall(ctx, parts, &got), FERRY_ERR_TYPE);
    check_same_detail();
    CHECK(!part && !got);
    ferry_list_free(parts);
    free(counts);
    still_works(ctx, me);
}

/* Ranks in different calls are told so. */
static void different_calls(ferry_context *ctx, const ferry_context_info *me, const ferry_bundle *b)
{
    ferry_bundle *part = NULL;
    ferry_list *parts = NULL;

    if (me->size == 1)
        return;
    if (me->rank == 0)
        CHECK_EQ_INT(ferry_bundle_gather(ctx, b, 0, &parts), FERRY_ERR_ARG);
    else
        CHECK_EQ_INT(ferry_bundle_scatter(ctx, NULL, FERRY_SPLIT_ROWS, 0, &part), FERRY_ERR_ARG);
    CHECK_DETAIL("rank 1 is in ferry_bundle_scatter, rank 0 in ferry_bundle_gather");
    CHECK_EQ_INT(ferry_bundle_scatter(ctx, b, me->rank ? FERRY_SPLIT_ROWS : FERRY_SPLIT_COLUMNS, 0, &part),
                 FERRY_ERR_ARG);
    check_same_detail();
    still_works(ctx, me);
}

void check_bundle_scatter(ferry_context *ctx)
{
    const cut five = {0, 5};
    ferry_bundle *const b = tables(five, five, five);
    ferry_context_info me;

    CHECK_OK(ferry_context_describe(ctx, &me));
    matrices(ctx, &me, 10, COLS);
    matrices(ctx, &me, 1, 1);
    given_counts(ctx, &me);
    large_columns(ctx, &me);
    odd_bits(ctx, &me);
    elements(ctx, &me);
    collect(ctx, &me);
    exchange(ctx, &me);
    bad_roots(ctx, &me, b);
    bad_arguments(ctx, &me, b);
    bad_counts(ctx, &me, b);
    different_calls(ctx, &me, b);
    ferry_bundle_free(b);
}
