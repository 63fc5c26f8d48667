/* Reductions: every result is computed again from what all ranks have. */
#include <math.h>

#include "mpi/samples.h"

enum { COUNT = 5 };

/* --- numbers: each operation on each type, element by element --- */

/* Number i of rank `rank`: of any sign where there are signs, and large enough to overflow in sums or products. */
static int64_t pick(int rank, int i)
{
    return (rank + 1) * 37 * (i % 2 ? -1 : 1) + i * 1000003;
}

#define INTEGER_EXPECTED(type, a, b, op)                                                                         \
    ((type)((op) == FERRY_BUNDLE_SUM    ? (uint64_t)(a) + (uint64_t)(b)                                          \
            : (op) == FERRY_BUNDLE_PROD ? (uint64_t)(a) * (uint64_t)(b)                                          \
            : (op) == FERRY_BUNDLE_MIN  ? (uint64_t)((a) < (b) ? (a) : (b))                                      \
                                        : (uint64_t)((a) > (b) ? (a) : (b))))

#define REAL_EXPECTED(type, a, b, op)                                                                            \
    ((op) == FERRY_BUNDLE_SUM    ? (a) + (b)                                                                     \
     : (op) == FERRY_BUNDLE_PROD ? (a) * (b)                                                                     \
     : (op) == FERRY_BUNDLE_MIN  ? ((a) < (b) ? (a) : (b))                                                       \
                                 : ((a) > (b) ? (a) : (b)))

/* Rank 0 .. size - 1 combined as the tree does: neighbours first, then neighbours of those, ... */
#define KINDS(X)                                                                                                 \
    X(int8, INT8, int8_t, INTEGER_EXPECTED)                                                                      \
    X(int16, INT16, int16_t, INTEGER_EXPECTED)                                                                   \
    X(int32, INT32, int32_t, INTEGER_EXPECTED)                                                                   \
    X(int64, INT64, int64_t, INTEGER_EXPECTED)                                                                   \
    X(uint8, UINT8, uint8_t, INTEGER_EXPECTED)                                                                   \
    X(uint16, UINT16, uint16_t, INTEGER_EXPECTED)                                                                \
    X(uint32, UINT32, uint32_t, INTEGER_EXPECTED)                                                                \
    X(uint64, UINT64, uint64_t, INTEGER_EXPECTED)                                                                \
    X(float32, FLOAT32, float, REAL_EXPECTED)                                                                    \
    X(float64, FLOAT64, double, REAL_EXPECTED)

#define EXPECT(name, NAME, type, expected)                                                                       \
    static type expect_##name(int low, int high, int size, int i, ferry_bundle_op op)                            \
    {                                                                                                            \
        if (high - low == 1)                                                                                     \
            return (type)pick(low, i);                                                                           \
        const int middle = low + (high - low) / 2;                                                               \
        const type a = expect_##name(low, middle, size, i, op);                                                  \
        if (middle >= size)                                                                                      \
            return a;                                                                                            \
        const type b = expect_##name(middle, high, size, i, op);                                                 \
        return (type)expected(type, a, b, op);                                                                   \
    }
KINDS(EXPECT)
#undef EXPECT

static int power_above(int size)
{
    int power = 1;

    while (power < size)
        power *= 2;
    return power;
}

#define ADD(name, NAME, type, expected)                                                                          \
    static void add_##name(ferry_bundle *b, int rank, int size, ferry_bundle_op op)                              \
    {                                                                                                            \
        const int64_t shape[] = {1, COUNT};                                                                      \
        const bool all = rank < 0;                                                                               \
        type data[COUNT];                                                                                        \
        for (int i = 0; i < COUNT; i++)                                                                          \
            data[i] = all ? expect_##name(0, power_above(size), size, i, op) : (type)pick(rank, i);              \
        CHECK_OK(ferry_bundle_set_##name(b, #name, data[COUNT - 1]));                                            \
        CHECK_OK(ferry_bundle_set_array(b, #name " array", FERRY_TYPE_##NAME, 2, shape, NULL, data));            \
    }
KINDS(ADD)
#undef ADD

/* The numbers of a rank, or (rank -1) those of all ranks combined. */
static ferry_bundle *numbers(int rank, int size, ferry_bundle_op op)
{
    ferry_bundle *const b = sample_empty(), *const inner = sample_empty();
    ferry_list *list = NULL;

#define CALL(name, NAME, type, expected) add_##name(b, rank, size, op);
    KINDS(CALL)
#undef CALL
    CHECK_OK(ferry_list_new(&list));
    CHECK_OK(ferry_bundle_set_list(b, "list", list));
    CHECK_OK(ferry_list_append_string(list, "the same", 8));
    CHECK_OK(ferry_list_append_null(list));
    CHECK_OK(ferry_list_append_bundle(list, inner));
    add_float64(inner, rank, size, op);
    if (op == FERRY_BUNDLE_SUM || op == FERRY_BUNDLE_PROD) /* there are complex ones among them */
        sample_add_nothing(inner);
    return b;
}

static void all_operations(ferry_context *ctx, const ferry_context_info *me)
{
    for (int op = FERRY_BUNDLE_SUM; op <= FERRY_BUNDLE_MAX; op++) {
        ferry_bundle *const mine = numbers(me->rank, me->size, op);
        ferry_bundle *const expected = numbers(-1, me->size, op);
        for (int root = 0; root < me->size; root++) {
            ferry_bundle *result = NULL;
            CHECK_OK(ferry_bundle_reduce(ctx, mine, op, root, me->rank == root ? &result : NULL));
            CHECK(me->rank != root || ferry_bundle_equal(result, expected));
            ferry_bundle_free(result);
        }
        ferry_bundle *result = NULL;
        CHECK_OK(ferry_bundle_allreduce(ctx, mine, op, &result));
        CHECK(ferry_bundle_equal(result, expected));
        sample_check(mine, numbers(me->rank, me->size, op));
        ferry_bundle_free(result);
        ferry_bundle_free(expected);
        ferry_bundle_free(mine);
    }
}

static void complex_and_bool(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *const mine = sample_empty();
    ferry_bundle *result = NULL;
    ferry_complex128 z = {0, 0}, expected = {1, 0};
    const ferry_complex64 w = {(float)me->rank, 1};
    ferry_complex64 sum = {0, 0};
    bool flag = true;

    CHECK_OK(ferry_bundle_set_complex128(mine, "z", (ferry_complex128){1, me->rank % 3}));
    CHECK_OK(ferry_bundle_set_complex64(mine, "w", w));
    CHECK_OK(ferry_bundle_set_bool(mine, "last", me->rank == me->size - 1));
    CHECK_OK(ferry_bundle_allreduce(ctx, mine, FERRY_BUNDLE_PROD, &result));
    for (int i = 0; i < me->size; i++)
        expected = (ferry_complex128){expected.re - expected.im * (i % 3), expected.re * (i % 3) + expected.im};
    CHECK_OK(ferry_bundle_get_complex128(result, "z", &z));
    CHECK(z.re == expected.re && z.im == expected.im);
    CHECK_OK(ferry_bundle_get_bool(result, "last", &flag));
    CHECK_EQ_INT(flag, me->size == 1);
    ferry_bundle_free(result);
    result = NULL;
    CHECK_OK(ferry_bundle_allreduce(ctx, mine, FERRY_BUNDLE_SUM, &result));
    CHECK_OK(ferry_bundle_get_complex64(result, "w", &sum));
    CHECK(sum.re == (float)(me->size * (me->size - 1) / 2) && sum.im == (float)me->size);
    CHECK_OK(ferry_bundle_get_bool(result, "last", &flag));
    CHECK(flag);
    ferry_bundle_free(result);
    result = NULL;
    CHECK_EQ_INT(ferry_bundle_allreduce(ctx, mine, FERRY_BUNDLE_MAX, &result), FERRY_ERR_TYPE);
    CHECK_DETAIL("\"z\": complex numbers have no minimum");
    check_same_detail();
    CHECK(!result);
    ferry_bundle_free(mine);
}

static void not_a_number(ferry_context *ctx, const ferry_context_info *me)
{
    for (int who = 0; who < me->size; who++) {
        ferry_bundle *const mine = sample_empty();
        ferry_bundle *result = NULL;
        double found = 0;
        CHECK_OK(ferry_bundle_set_float64(mine, "x", me->rank == who ? NAN : me->rank));
        CHECK_OK(ferry_bundle_allreduce(ctx, mine, who % 2 ? FERRY_BUNDLE_MIN : FERRY_BUNDLE_MAX, &result));
        CHECK_OK(ferry_bundle_get_float64(result, "x", &found));
        CHECK(isnan(found));
        ferry_bundle_free(result);
        ferry_bundle_free(mine);
    }
}

/* Large, and lying another way on every other rank, or with strides. */
static void any_order_in_memory(ferry_context *ctx, const ferry_context_info *me)
{
    enum { ROWS = 90, COLS = 70 };
    static double data[2 * ROWS * COLS];
    const int64_t shape[] = {ROWS, COLS};
    const int64_t ways[3][2] = {{8 * COLS, 8}, {8, 8 * ROWS}, {16 * COLS, 16}};
    const int64_t *const way = ways[me->rank % 3];
    ferry_bundle *const mine = sample_empty();
    ferry_bundle *result = NULL;
    ferry_array got = {.data = NULL};
    int wrong = 0;

    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            data[(i * way[0] + j * way[1]) / 8] = me->rank * 10000 + i * 100 + j;
    CHECK_OK(ferry_bundle_borrow_array(mine, "m", FERRY_TYPE_FLOAT64, 2, shape, way, data));
    CHECK_OK(ferry_bundle_allreduce(ctx, mine, FERRY_BUNDLE_SUM, &result));
    CHECK_OK(ferry_bundle_get_array(result, "m", FERRY_TYPE_FLOAT64, &got));
    const int sum = me->size * (me->size - 1) / 2 * 10000;
    for (int i = 0; i < ROWS && got.data; i++)
        for (int j = 0; j < COLS; j++)
            wrong += ((const double *)got.data)[got.column_major ? j * ROWS + i : i * COLS + j] !=
                     sum + me->size * (i * 100 + j);
    CHECK_EQ_INT(wrong, 0);
    ferry_bundle_free(result);
    ferry_bundle_free(mine);
}

/* --- joining undoes scattering --- */

static ferry_bundle *table(void)
{
    enum { ROWS = 13, COLS = 9 };
    ferry_bundle *const b = sample_empty(), *const inner = sample_empty();
    const int64_t shape[] = {ROWS, COLS}, columns[] = {4, 4 * ROWS}, cube[] = {ROWS, COLS, 2};
    /* column-major, and cut into parts that could lie either way */
    const int64_t few_rows[] = {2, 1, 5}, few_row_strides[] = {4, 8, 8};
    const int64_t few_columns[] = {1, 2, 5}, few_column_strides[] = {4, 4, 8};
    int32_t data[2 * ROWS * COLS];
    ferry_list *list = NULL, *deep = NULL;

    for (int i = 0; i < 2 * ROWS * COLS; i++)
        data[i] = i;
    CHECK_OK(ferry_bundle_set_array(b, "m", FERRY_TYPE_INT32, 2, shape, NULL, data));
    CHECK_OK(ferry_bundle_set_array(b, "c", FERRY_TYPE_INT32, 3, cube, NULL, data));
    CHECK_OK(ferry_bundle_set_bundle(b, "inner", inner));
    CHECK_OK(ferry_bundle_set_array(inner, "vector", FERRY_TYPE_INT32, 1, shape, NULL, data));
    CHECK_OK(ferry_bundle_set_array(inner, "by columns", FERRY_TYPE_INT32, 2, shape, columns, data));
    CHECK_OK(ferry_bundle_set_array(inner, "few rows", FERRY_TYPE_INT32, 3, few_rows, few_row_strides, data));
    CHECK_OK(ferry_bundle_set_array(inner, "few columns", FERRY_TYPE_INT32, 3, few_columns, few_column_strides, data));
    sample_add_odd(inner);
    CHECK_OK(ferry_list_new(&list));
    CHECK_OK(ferry_list_new(&deep));
    CHECK_OK(ferry_bundle_set_list(b, "list", list));
    for (int i = 0; i < 11; i++)
        CHECK_OK(i % 3 ? ferry_list_append_int16(list, (int16_t)i) : ferry_list_append_bundle(list, sample_old()));
    CHECK_OK(ferry_list_append_bytes(deep, "abc", 3));
    CHECK_OK(ferry_list_append_list(list, deep));
    return b;
}

static void check_joined(const ferry_bundle *joined)
{
    ferry_bundle *const expected = table();

    CHECK(ferry_bundle_equal(joined, expected));
    ferry_bundle_free(expected);
}

static void join_what_was_split(ferry_context *ctx, const ferry_context_info *me)
{
    static const ferry_split splits[] = {FERRY_SPLIT_ROWS, FERRY_SPLIT_COLUMNS, FERRY_SPLIT_LISTS};
    static const ferry_bundle_op ops[] = {FERRY_BUNDLE_ROWS, FERRY_BUNDLE_COLUMNS, FERRY_BUNDLE_LISTS};
    ferry_bundle *const whole = table();

    for (int i = 0; i < 3; i++) {
        ferry_bundle *part = NULL, *joined = NULL;
        const int root = i % me->size;
        CHECK_OK(ferry_bundle_scatter(ctx, me->rank == root ? whole : NULL, splits[i], root, &part));
        CHECK_OK(ferry_bundle_reduce(ctx, part, ops[i], root, me->rank == root ? &joined : NULL));
        if (me->rank == root)
            check_joined(joined);
        ferry_bundle_free(joined);
        joined = NULL;
        CHECK_OK(ferry_bundle_allreduce(ctx, part, ops[i], &joined));
        check_joined(joined);
        ferry_bundle_free(joined);
        ferry_bundle_free(part);
    }
    ferry_bundle_free(whole);
}

/* --- attributes and arrays of strings --- */

static void add_attributes(ferry_bundle *attributes, const char *unit)
{
    static const char *const names[] = {"first", "", "third"};
    static const size_t lengths[] = {5, 0, 5};

    CHECK_OK(ferry_bundle_set_string(attributes, "unit", unit, strlen(unit)));
    CHECK_OK(ferry_bundle_set_strings(attributes, "names", 3, names, lengths));
}

/* Attributes on a number, an array, a list, and on some elements of the list. */
static ferry_bundle *described(int32_t number, const char *unit)
{
    ferry_bundle *const b = sample_empty(), *its = NULL;
    const int64_t shape[] = {6, 2};
    const int16_t data[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    ferry_list *list = NULL;

    CHECK_OK(ferry_bundle_set_int32(b, "n", number));
    CHECK_OK(ferry_bundle_set_array(b, "a", FERRY_TYPE_INT16, 2, shape, NULL, data));
    CHECK_OK(ferry_list_new(&list));
    CHECK_OK(ferry_bundle_set_list(b, "list", list));
    for (int i = 0; i < 9; i++) {
        CHECK_OK(ferry_list_append_int8(list, (int8_t)i));
        if (i % 3 == 1) {
            CHECK_OK(ferry_list_edit_attributes(list, (size_t)i, &its));
            CHECK_OK(ferry_bundle_set_int32(its, "was", i));
        }
    }
    static const char *const keys[] = {"n", "a", "list"};
    for (int i = 0; i < 3; i++) {
        CHECK_OK(ferry_bundle_edit_attributes(b, keys[i], &its));
        add_attributes(its, i == 1 ? unit : "kg");
    }
    return b;
}

static void attributes_stay(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *const whole = described(1, "km"), *result = NULL, *part = NULL;
    const int last = me->size - 1;

    CHECK_OK(ferry_bundle_scatter(ctx, me->rank == 0 ? whole : NULL, FERRY_SPLIT_LISTS, 0, &part));
    CHECK_OK(ferry_bundle_allreduce(ctx, part, FERRY_BUNDLE_LISTS, &result));
    sample_check(result, described(1, "km"));
    ferry_bundle_free(part);
    ferry_bundle_free(result);
    CHECK_OK(ferry_bundle_scatter(ctx, me->rank == 0 ? whole : NULL, FERRY_SPLIT_ROWS, 0, &part));
    CHECK_OK(ferry_bundle_allreduce(ctx, part, FERRY_BUNDLE_ROWS, &result));
    sample_check(result, described(1, "km"));
    ferry_bundle_free(part);
    ferry_bundle_free(result);
    result = NULL;
    CHECK_OK(ferry_bundle_allreduce(ctx, whole, FERRY_BUNDLE_MAX, &result));
    sample_check(result, described(1, "km"));
    ferry_bundle *const other = described(2, me->rank == last ? "mm" : "km");
    CHECK_EQ_INT(ferry_bundle_allreduce(ctx, other, FERRY_BUNDLE_MAX, &part), last ? FERRY_ERR_SHAPE : FERRY_OK);
    if (last) {
        CHECK_DETAIL("\"a/@/unit\": rank");
        check_same_detail();
    } else {
        ferry_bundle_free(part);
    }
    ferry_bundle *const target = described(3, "cm"); /* attributes move like values */
    CHECK_OK(ferry_bundle_bcast_into(ctx, me->rank == 0 ? whole : target, 0));
    CHECK(me->rank == 0 || ferry_bundle_equal(target, whole));
    CHECK_OK(ferry_bundle_bcast_into(ctx, me->rank == 0 ? target : result, 0));
    if (me->rank > 0)
        sample_check(result, described(3, "cm"));
    ferry_bundle_free(target);
    ferry_bundle_free(other);
    ferry_bundle_free(result);
    ferry_bundle_free(whole);
}

/* --- bundles that do not fit together --- */

/* What the odd rank has instead; the text that tells of it. */
static const char *spoil(ferry_bundle *b, int how)
{
    const int64_t shape[] = {2, 4};
    const double data[8] = {0};

    switch (how) {
    case 0:
        CHECK_OK(ferry_bundle_set_int64(b, "float64", 1));
        return "\"float64\": rank";
    case 1:
        CHECK_OK(ferry_bundle_set_array(b, "float64 array", FERRY_TYPE_FLOAT64, 2, shape, NULL, data));
        return "array of float64 2 x 4";
    case 2:
        CHECK_OK(ferry_bundle_set_array(b, "float64 array", FERRY_TYPE_FLOAT32, 2, shape, NULL, data));
        return "array of float32 2 x 4";
    case 3:
        CHECK_OK(ferry_bundle_set_null(b, "more"));
        return "\"more\": rank";
    case 4:
        CHECK_OK(ferry_bundle_remove(b, "int8"));
        return "\"int8\"";
    default: {
        ferry_list *list = NULL;
        CHECK_OK(ferry_bundle_edit_list(b, "list", &list));
        CHECK_OK(ferry_list_append_null(list));
        return "list of 4 values";
    }
    }
}

static void schemas_differ(ferry_context *ctx, const ferry_context_info *me)
{
    for (int how = 0; how < 6 && me->size > 1; how++)
        for (int odd = how % 2; odd < me->size; odd += 2) {
            ferry_bundle *mine = numbers(me->rank, me->size, 0), *spoilt = numbers(odd, me->size, 0);
            const char *const words = spoil(spoilt, how);
            ferry_bundle *result = NULL;
            char name[24];
            snprintf(name, sizeof name, "rank %d", odd);
            const ferry_status st =
                ferry_bundle_allreduce(ctx, me->rank == odd ? spoilt : mine, FERRY_BUNDLE_SUM, &result);
            CHECK(st == FERRY_ERR_TYPE || st == FERRY_ERR_SHAPE);
            CHECK_DETAIL(words);
            CHECK_DETAIL(name);
            check_same_detail();
            CHECK(!result);
            CHECK_OK(ferry_bundle_allreduce(ctx, mine, FERRY_BUNDLE_SUM, &result));
            sample_check(result, numbers(-1, me->size, FERRY_BUNDLE_SUM));
            ferry_bundle_free(result);
            ferry_bundle_free(mine);
            ferry_bundle_free(spoilt);
        }
}

static void texts_differ(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *const mine = sample_empty();
    ferry_bundle *result = NULL;
    const int last = me->size - 1;

    if (last == 0) {
        ferry_bundle_free(mine);
        return;
    }
    CHECK_OK(ferry_bundle_set_string(mine, "unit", me->rank == last ? "mm" : "km", 2));
    CHECK_EQ_INT(ferry_bundle_reduce(ctx, mine, FERRY_BUNDLE_SUM, 0, &result), FERRY_ERR_SHAPE);
    CHECK_DETAIL("string \"mm\" of 2 bytes");
    check_same_detail();
    CHECK_EQ_INT(ferry_bundle_reduce(ctx, mine, FERRY_BUNDLE_ROWS, last, &result), FERRY_ERR_SHAPE);
    CHECK_DETAIL("\"unit\": rank 0 has string \"km\" of 2 bytes");
    check_same_detail();
    CHECK_OK(ferry_bundle_set_string(mine, "unit", "km", 2));
    CHECK_OK(ferry_bundle_set_int32(mine, "n", me->rank == last));
    CHECK_EQ_INT(ferry_bundle_allreduce(ctx, mine, FERRY_BUNDLE_LISTS, &result), FERRY_ERR_SHAPE);
    CHECK_DETAIL("\"n\": rank 0 has int32 0, rank");
    check_same_detail();
    CHECK(!result);
    ferry_bundle_free(mine);
}

static void bad_arguments(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *const mine = numbers(me->rank, me->size, 0);
    const int last = me->size - 1;

    for (int odd = 0; odd < me->size; odd++) {
        const bool bad = me->rank == odd;
        ferry_bundle *result = NULL;
        CHECK_EQ_INT(ferry_bundle_reduce(ctx, bad ? NULL : mine, 0, last, &result), FERRY_ERR_ARG);
        check_same_detail();
        CHECK_EQ_INT(ferry_bundle_reduce(ctx, mine, 0, odd, bad ? NULL : &result), FERRY_ERR_ARG);
        check_same_detail();
        CHECK_EQ_INT(ferry_bundle_allreduce(ctx, mine, bad ? 99 : 0, &result), FERRY_ERR_ARG);
        CHECK_DETAIL("op is 99");
        check_same_detail();
        CHECK_EQ_INT(ferry_bundle_reduce(ctx, mine, 0, me->size, &result), FERRY_ERR_ARG);
        if (me->size > 1) {
            const ferry_bundle_op op = bad ? FERRY_BUNDLE_ROWS : FERRY_BUNDLE_SUM;
            CHECK_EQ_INT(ferry_bundle_allreduce(ctx, mine, op, &result), FERRY_ERR_ARG);
            CHECK_DETAIL("the operation is");
            check_same_detail();
            CHECK_EQ_INT(ferry_bundle_reduce(ctx, mine, 0, bad ? last : 0, &result),
                         odd == last || last > 0 ? FERRY_ERR_ARG : FERRY_OK);
        }
        CHECK(!result);
        CHECK_OK(ferry_bundle_allreduce(ctx, mine, FERRY_BUNDLE_SUM, &result));
        sample_check(result, numbers(-1, me->size, FERRY_BUNDLE_SUM));
        ferry_bundle_free(result);
    }
    CHECK_EQ_INT(ferry_bundle_reduce(NULL, mine, 0, 0, NULL), FERRY_ERR_ARG);
    ferry_bundle_free(mine);
}

void check_bundle_reduce(ferry_context *ctx)
{
    ferry_context_info me;

    CHECK_OK(ferry_context_describe(ctx, &me));
    all_operations(ctx, &me);
    complex_and_bool(ctx, &me);
    not_a_number(ctx, &me);
    any_order_in_memory(ctx, &me);
    join_what_was_split(ctx, &me);
    attributes_stay(ctx, &me);
    schemas_differ(ctx, &me);
    texts_differ(ctx, &me);
    bad_arguments(ctx, &me);
}
