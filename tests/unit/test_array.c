/* Arrays in bundles: any shape, any strides, copied and borrowed. */
#include "odd.h"
#include "unit/sample.h"

#include "ferry/bundle.h"

/* Every second element of an array with other bits between: copied and borrowed. */
static void strided_floats_keep_their_bits(void **state)
{
    const int64_t shape[] = {ODD_NUMBERS}, strides[] = {16};
    uint64_t spread[2 * ODD_NUMBERS], dense[ODD_NUMBERS];
    ferry_array array;
    ferry_bundle *b = fresh();
    (void)state;

    for (int i = 0; i < ODD_NUMBERS; i++) {
        spread[2 * i] = odd_doubles[i];
        spread[2 * i + 1] = 0x1111111111111111;
    }
    check_ok(ferry_bundle_set_array(b, "copied", FERRY_TYPE_FLOAT64, 1, shape, strides, spread));
    check_ok(ferry_bundle_borrow_array(b, "borrowed", FERRY_TYPE_FLOAT64, 1, shape, strides, spread));
    check_ok(ferry_bundle_get_array(b, "copied", FERRY_TYPE_FLOAT64, &array));
    assert_memory_equal(array.data, odd_doubles, sizeof odd_doubles);
    check_ok(ferry_bundle_read_array(b, "borrowed", FERRY_TYPE_FLOAT64, 1, shape, NULL, dense));
    assert_memory_equal(dense, odd_doubles, sizeof odd_doubles);
    check_fails(ferry_bundle_get_array(b, "borrowed", FERRY_TYPE_FLOAT64, &array), FERRY_ERR_STATE, "strides");
    ferry_bundle_free(b);
}

static void arrays_without_elements(void **state)
{
    static const int64_t shapes[][2] = {{0, 5}, {5, 0}, {0, 0}, {0, INT64_MAX}};
    ferry_array array;
    (void)state;

    for (int element = FERRY_TYPE_BOOL; element <= FERRY_TYPE_COMPLEX128; element++)
        for (int i = 0; i < 8; i++) {
            const int64_t *const shape = shapes[i / 2];
            ferry_bundle *b = fresh();
            check_ok((i % 2 ? ferry_bundle_borrow_array : ferry_bundle_set_array)(b, "empty", element, 2, shape,
                                                                                  NULL, NULL));
            check_ok(ferry_bundle_get_array(b, "empty", element, &array));
            assert_int_equal(array.element, element);
            assert_int_equal(array.dims, 2);
            assert_memory_equal(array.shape, shape, 2 * sizeof shape[0]);
            assert_non_null(array.data);
            ferry_bundle_free(b);
        }
}

/* Element (i, j) of a column-major a(3,2) is 10 i + j. */
static void column_major(void **state)
{
    const double a[6] = {0, 10, 20, 1, 11, 21}, by_rows[6] = {0, 1, 10, 11, 20, 21};
    const double wide[12] = {0, -1, 10, -1, 20, -1, 1, -1, 11, -1, 21, -1};
    const int64_t shape[] = {3, 2}, columns[] = {8, 24}, every_second[] = {16, 48};
    ferry_bundle *b = fresh();
    ferry_array array;
    double out[6];
    (void)state;

    check_ok(ferry_bundle_set_array(b, "a", FERRY_TYPE_FLOAT64, 2, shape, columns, a));
    check_ok(ferry_bundle_set_array(b, "view", FERRY_TYPE_FLOAT64, 2, shape, every_second, wide));
    check_ok(ferry_bundle_borrow_array(b, "lent", FERRY_TYPE_FLOAT64, 2, shape, every_second, wide));
    for (int i = 0; i < 2; i++) {
        check_ok(ferry_bundle_get_array(b, i ? "view" : "a", FERRY_TYPE_FLOAT64, &array));
        assert_int_equal(array.column_major, 1);
        assert_memory_equal(array.data, a, sizeof a);
    }
    for (int i = 0; i < 3; i++) {
        const char *const key = ferry_bundle_key(b, (size_t)i);
        check_ok(ferry_bundle_read_array(b, key, FERRY_TYPE_FLOAT64, 2, shape, NULL, out));
        assert_memory_equal(out, by_rows, sizeof out);
        check_ok(ferry_bundle_read_array(b, key, FERRY_TYPE_FLOAT64, 2, shape, columns, out));
        assert_memory_equal(out, a, sizeof out);
    }
    ferry_bundle_free(b);
}

/* Element (i, j, k) of an array with strides, by the definition. */
static void check_strides(size_t element_bytes, ferry_type element, const int64_t *strides_in_elements)
{
    const int64_t shape[] = {3, 4, 5};
    unsigned char memory[2048], out[60 * 16];
    int64_t strides[3];
    ferry_bundle *b = fresh();

    for (size_t i = 0; i < sizeof memory; i++)
        memory[i] = (unsigned char)(check_random() >> 17);
    for (int k = 0; k < 3; k++)
        strides[k] = strides_in_elements[k] * (int64_t)element_bytes;
    const unsigned char *const first = memory + 1024;
    check_ok(ferry_bundle_set_array(b, "copied", element, 3, shape, strides, first));
    check_ok(ferry_bundle_borrow_array(b, "borrowed", element, 3, shape, strides, first));
    for (int which = 0; which < 2; which++) {
        check_ok(ferry_bundle_read_array(b, which ? "copied" : "borrowed", element, 3, shape, NULL, out));
        for (int64_t n = 0; n < 60; n++) {
            const int64_t offset = n / 20 * strides[0] + n / 5 % 4 * strides[1] + n % 5 * strides[2];
            assert_memory_equal(out + (size_t)n * element_bytes, first + offset, element_bytes);
        }
    }
    ferry_bundle_free(b);
}

static void strides_of_any_kind(void **state)
{
    static const int64_t strides[][3] = {{20, 5, 1}, {1, 3, 12}, {5, 15, 1}, {-20, -5, -1}, {-1, -3, -12},
                                         {0, 0, 0},  {0, 0, 1},  {1, 1, 1},  {20, -5, 1},  {12, 2, -7}};
    (void)state;

    check_seed(17);
    for (int element = FERRY_TYPE_BOOL; element <= FERRY_TYPE_COMPLEX128; element++)
        for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++)
            if (ferry_type_bytes(element) < 16)
                check_strides(ferry_type_bytes(element), element, strides[i]);
    check_strides(16, FERRY_TYPE_COMPLEX128, strides[0]);
    check_strides(16, FERRY_TYPE_COMPLEX128, strides[1]);
}

/* Dense strides are recognised however they are written, so that nothing is packed. */
static void dense_borrowed_arrays_are_lent(void **state)
{
    static const struct {
        int dims;
        int64_t shape[3], strides[3];
        int column_major;
    } cases[] = {
        {1, {7}, {8}, 0}, {2, {3, 2}, {16, 8}, 0}, {2, {3, 2}, {8, 24}, 1}, {3, {2, 1, 3}, {24, 777, 8}, 0},
        {3, {1, 1, 1}, {1, 2, 3}, 0}, {3, {2, 3, 1}, {8, 16, -5}, 1}, {2, {1, 6}, {-1, 8}, 0},
    };
    double memory[8];
    ferry_bundle *b = fresh();
    ferry_array array;
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_ok(ferry_bundle_borrow_array(b, "a", FERRY_TYPE_FLOAT64, cases[i].dims, cases[i].shape,
                                           cases[i].strides, memory));
        check_ok(ferry_bundle_get_array(b, "a", FERRY_TYPE_ARRAY, &array));
        assert_ptr_equal(array.data, memory);
        assert_int_equal(array.column_major, cases[i].column_major);
    }
    ferry_bundle_free(b);
}

static void arrays_that_are_refused(void **state)
{
    static const struct {
        int element, dims;
        int64_t shape[2], strides[2];
        const char *words;
    } cases[] = {
        {FERRY_TYPE_STRING, 1, {1}, {8}, "element is 14 (string)"}, {-1, 1, {1}, {8}, "element is -1"},
        {FERRY_TYPE_NULL, 1, {1}, {8}, "element is 0"},             {99, 1, {1}, {8}, "element is 99"},
        {FERRY_TYPE_INT8, 0, {1}, {8}, "dims is 0"},                {FERRY_TYPE_INT8, 9, {1}, {8}, "dims is 9"},
        {FERRY_TYPE_INT8, 2, {3, -1}, {8, 8}, "shape[1] is -1"},
        {FERRY_TYPE_INT8, 2, {INT64_MAX, 2}, {0, 0}, "63 bits"},
        {FERRY_TYPE_INT64, 1, {INT64_MAX / 8 + 1}, {0}, "63 bits"},
        {FERRY_TYPE_INT8, 2, {2, 3}, {INT64_MIN, 1}, "strides_bytes[0]"},
        {FERRY_TYPE_INT8, 2, {2, 3}, {1, INT64_MAX / 2}, "strides_bytes[1]"},
    };
    const int64_t one[] = {1};
    const char data[8] = {0};
    ferry_bundle *b = fresh();
    ferry_list *list = fresh_list();
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const ferry_type element = (ferry_type)cases[i].element;
        const int dims = cases[i].dims;
        const int64_t *const shape = cases[i].shape, *const strides = cases[i].strides;
        check_fails(ferry_bundle_set_array(b, "a", element, dims, shape, strides, data), FERRY_ERR_ARG,
                    cases[i].words);
        check_fails(ferry_list_borrow_array(list, element, dims, shape, strides, data), FERRY_ERR_ARG,
                    cases[i].words);
    }
    check_fails(ferry_bundle_set_array(b, "a", FERRY_TYPE_INT8, 1, NULL, NULL, data), FERRY_ERR_ARG, "shape is NULL");
    check_fails(ferry_bundle_set_array(b, "a", FERRY_TYPE_INT8, 1, one, NULL, NULL), FERRY_ERR_ARG, "data is NULL");
    assert_int_equal(ferry_bundle_count(b) + ferry_list_count(list), 0);
    ferry_bundle_free(b);
    ferry_list_free(list);
}

static void arrays_of_another_kind(void **state)
{
    const int64_t shape[] = {2, 3}, other[] = {3, 2}, line[] = {6};
    int32_t data[6] = {0}, out[6];
    ferry_bundle *b = fresh();
    ferry_array array;
    (void)state;

    check_ok(ferry_bundle_set_array(b, "a", FERRY_TYPE_INT32, 2, shape, NULL, data));
    check_ok(ferry_bundle_set_int32(b, "i", 5));
    check_fails(ferry_bundle_get_array(b, "a", FERRY_TYPE_FLOAT32, &array), FERRY_ERR_TYPE,
                "key \"a\": wanted array of float32, found array of int32");
    check_fails(ferry_bundle_get_array(b, "i", FERRY_TYPE_INT32, &array), FERRY_ERR_TYPE,
                "key \"i\": wanted array of int32, found int32");
    check_fails(ferry_bundle_get_int32(b, "a", out), FERRY_ERR_TYPE, "key \"a\": wanted int32, found array of int32");
    check_fails(ferry_bundle_get_array(b, "x", FERRY_TYPE_INT32, &array), FERRY_ERR_NOT_FOUND, "key \"x\"");
    check_fails(ferry_bundle_read_array(b, "a", FERRY_TYPE_INT32, 2, other, NULL, out), FERRY_ERR_SHAPE,
                "wanted shape 3 x 2, found 2 x 3");
    check_fails(ferry_bundle_read_array(b, "a", FERRY_TYPE_INT32, 1, line, NULL, out), FERRY_ERR_SHAPE,
                "wanted shape 6,");
    check_fails(ferry_bundle_read_array(b, "a", FERRY_TYPE_INT32, 2, shape, NULL, NULL), FERRY_ERR_ARG, "data is NULL");
    ferry_bundle_free(b);
}

/* What is borrowed is seen as it is when it is looked at; what is copied stays. Large arrays too. */
static void borrowed_or_copied(void **state)
{
    enum { COUNT = 100000 };
    const int64_t shape[] = {COUNT};
    double *const data = calloc(COUNT, sizeof *data);
    ferry_bundle *b = fresh();
    ferry_array array;
    (void)state;

    assert_non_null(data);
    check_ok(ferry_bundle_set_array(b, "copied", FERRY_TYPE_FLOAT64, 1, shape, NULL, data));
    check_ok(ferry_bundle_borrow_array(b, "borrowed", FERRY_TYPE_FLOAT64, 1, shape, NULL, data));
    data[COUNT - 1] = 4;
    check_ok(ferry_bundle_get_array(b, "copied", FERRY_TYPE_FLOAT64, &array));
    assert_true(((const double *)array.data)[COUNT - 1] == 0);
    check_ok(ferry_bundle_get_array(b, "borrowed", FERRY_TYPE_FLOAT64, &array));
    assert_ptr_equal(array.data, data);
    ferry_bundle_free(b);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strided_floats_keep_their_bits),
        cmocka_unit_test(arrays_without_elements),
        cmocka_unit_test(column_major),
        cmocka_unit_test(strides_of_any_kind),
        cmocka_unit_test(dense_borrowed_arrays_are_lent),
        cmocka_unit_test(arrays_that_are_refused),
        cmocka_unit_test(arrays_of_another_kind),
        cmocka_unit_test(borrowed_or_copied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
