/* Images: whatever a bundle holds comes back bit for bit, also when memory runs out on the way and the call is made
 * again. */
#include "unit/image.h"
#include "unit/sample.h"

#include "base/alloc.h"
#include "ferry/bundle.h"
#include "ferry/memory.h"
#include "odd.h"

/* --- bundles to try --- */

static void add_strings(ferry_bundle *b)
{
    const char *const sharp = odd_text();

    check_ok(odd_add_strings(b));
    check_ok(ferry_bundle_borrow_string(b, "long, no UTF-8", sharp, ODD_TEXT_BYTES - 1));
    check_ok(ferry_bundle_set_bytes(b, "bytes", "\0\1\2", 3));
    check_ok(ferry_bundle_set_bytes(b, "no bytes", NULL, 0));
    for (int length = 250; length < 260; length++) { /* about the size where values become large */
        char key[24];
        snprintf(key, sizeof key, "text %d", length);
        check_ok(ferry_bundle_set_string(b, key, sharp, (size_t)length));
        snprintf(key, sizeof key, "bytes %d", length);
        check_ok(ferry_bundle_borrow_bytes(b, key, sharp, (size_t)length));
    }
    check_ok(ferry_bundle_set_string(b, "text 320", sharp, 320)); /* a whole number of lines */
}

static void add_arrays(ferry_bundle *b)
{
    static double wide[12 * 100];
    static const int64_t none[][2] = {{0, 5}, {5, 0}}, tall[] = {3, 2}, every_second[] = {16, 48}, columns[] = {8, 24};
    static const int64_t big[] = {30, 20}, big_strides[] = {-40, 16 * 60 / 16}, cube[] = {1, 2, 3, 1, 2, 1, 1, 2};
    char key[24];

    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        wide[i] = (double)i;
    for (int element = FERRY_TYPE_BOOL; element <= FERRY_TYPE_COMPLEX128; element++)
        for (int i = 0; i < 2; i++) {
            snprintf(key, sizeof key, "%s %d", ferry_type_name(element), i);
            check_ok(ferry_bundle_set_array(b, key, element, 2, none[i], NULL, NULL));
            snprintf(key, sizeof key, "%s cube %d", ferry_type_name(element), i);
            check_ok(ferry_bundle_set_array(b, key, element, 8, cube, NULL, wide + i));
        }
    check_ok(ferry_bundle_set_array(b, "columns", FERRY_TYPE_FLOAT64, 2, tall, columns, wide));
    check_ok(ferry_bundle_borrow_array(b, "every second", FERRY_TYPE_FLOAT64, 2, tall, every_second, wide));
    check_ok(ferry_bundle_borrow_array(b, "big", FERRY_TYPE_FLOAT64, 2, big, NULL, wide));
    check_ok(ferry_bundle_borrow_array(b, "big view", FERRY_TYPE_FLOAT64, 2, big, big_strides, wide + 600));
}

/* One of everything. */
static ferry_bundle *sample(void)
{
    ferry_bundle *b = fresh(), *child = fresh(), *arrays = fresh();
    ferry_list *list = fresh_list();

    check_ok(ferry_bundle_set_null(b, "null"));
#define SET(name, NAME, type)                                       \
    {                                                               \
        type in;                                                    \
        memset(&in, FERRY_TYPE_##NAME == FERRY_TYPE_BOOL ? 1 : 0x92, sizeof in); \
        check_ok(ferry_bundle_set_##name(b, #NAME, in));            \
        check_ok(ferry_list_append_##name(list, in));               \
    }
    FERRY_SCALAR_LIST(SET)
#undef SET
    check_ok(ferry_bundle_set_list(b, "list", list));
    check_ok(ferry_list_append_null(list));
    check_ok(ferry_list_append_bundle(list, fresh()));
    check_ok(ferry_list_append_list(list, fresh_list()));
    check_ok(ferry_list_append_string(list, "in a list", 9));
    check_ok(ferry_bundle_set_bundle(b, "child", child));
    check_ok(ferry_bundle_set_bundle(child, "empty", fresh()));
    add_strings(child);
    check_ok(ferry_bundle_set_bundle(child, "arrays", arrays));
    add_arrays(arrays);
    check_ok(ferry_bundle_set_bundle(child, "with attributes", sample_of_all()));
    check_ok(ferry_bundle_set_bundle(child, "large", large_values()));
    check_ok(odd_add_numbers(b));
    return b;
}

/* --- back and forth --- */

static void check_round_trip(const ferry_bundle *b)
{
    image one = encode(b), two;
    ferry_bundle *back = NULL;

    check_ok(ferry_bundle_decode(one.data, one.bytes, &back));
    assert_int_equal(ferry_bundle_equal(b, back), 1);
    two = encode(back); /* there is one image of a bundle, not several */
    assert_int_equal(two.bytes, one.bytes);
    assert_memory_equal(two.data, one.data, one.bytes);
    ferry_bundle_free(back);
    free(one.data);
    free(two.data);
}

static void everything_comes_back(void **state)
{
    ferry_bundle *b = sample(), *none = fresh();
    (void)state;

    check_round_trip(b);
    check_round_trip(none);
    ferry_bundle_free(b);
    ferry_bundle_free(none);
}

/* {"n": int32 7}, byte for byte as in docs/image.md: what was written once can be read for ever. */
static void the_bytes_are_as_documented(void **state)
{
    static const unsigned char expected[192] = {
        0x89, 0x46, 0x45, 0x52, 0x52, 0x59, 0x0d, 0x0a, 0x01, 0x00, 0x00, 0x00, 0x5e, 0x73, 0xe4, 0xb6,
        0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xaa, 0x73, 0x25, 0xab, 0x42, 0x95, 0xed, 0x45,
        0x28, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x12, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x04, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x6e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    };
    ferry_bundle *b = fresh();
    (void)state;

    check_ok(ferry_bundle_set_int32(b, "n", 7));
    image of = encode(b);
    assert_int_equal(of.bytes, sizeof expected);
    assert_memory_equal(of.data, expected, sizeof expected);
    free(of.data);
    ferry_bundle_free(b);
}

/* The hash of the schema tells structures apart, not values. */
static void the_hash_is_of_the_structure(void **state)
{
    enum { HASH_AT = 24 };
    ferry_bundle *its, *b = fresh();
    (void)state;

    check_ok(ferry_bundle_set_int32(b, "n", 7));
    image one = encode(b);
    check_ok(ferry_bundle_set_int32(b, "n", 8));
    image two = encode(b);
    check_ok(ferry_bundle_set_uint32(b, "n", 8));
    image three = encode(b);
    check_ok(ferry_bundle_edit_attributes(b, "n", &its));
    image four = encode(b);
    assert_memory_not_equal(three.data + HASH_AT, four.data + HASH_AT, 8);
    free(four.data);
    assert_memory_equal(one.data + HASH_AT, two.data + HASH_AT, 8);
    assert_memory_not_equal(one.data + HASH_AT, three.data + HASH_AT, 8);
    free(one.data);
    free(two.data);
    free(three.data);
    ferry_bundle_free(b);
}

/* Arrays are aligned: large ones to 64 bytes, others to 16, in the image that they stay in. */
static void arrays_are_aligned(void **state)
{
    ferry_bundle *b = sample(), *copy = NULL;
    const ferry_bundle *child, *arrays;
    ferry_array array;
    (void)state;

    check_ok(ferry_bundle_copy(b, &copy));
    check_ok(ferry_bundle_get_bundle(copy, "child", &child));
    check_ok(ferry_bundle_get_bundle(child, "arrays", &arrays));
    for (size_t i = 0; i < ferry_bundle_count(arrays); i++) {
        check_ok(ferry_bundle_get_array(arrays, ferry_bundle_key(arrays, i), FERRY_TYPE_ARRAY, &array));
        assert_int_equal((uintptr_t)array.data % 16, 0);
    }
    check_ok(ferry_bundle_get_array(arrays, "big", FERRY_TYPE_ARRAY, &array));
    assert_int_equal((uintptr_t)array.data % 64, 0);
    check_ok(ferry_bundle_get_array(arrays, "big view", FERRY_TYPE_ARRAY, &array));
    assert_int_equal((uintptr_t)array.data % 64, 0);
    ferry_bundle_free(b);
    ferry_bundle_free(copy);
}

/* A decoded bundle can be changed like any other one, on every level. */
static void changing_what_was_decoded(void **state)
{
    ferry_bundle *b = sample(), *copy = NULL, *child, *outer = fresh();
    ferry_list *list;
    char key[24];
    (void)state;

    check_ok(ferry_bundle_copy(b, &copy));
    check_ok(ferry_bundle_set_int8(copy, "INT64", 1));
    check_ok(ferry_bundle_set_string(copy, "list", "gone", 4));
    check_ok(ferry_bundle_remove(copy, "null"));
    check_ok(ferry_bundle_edit_bundle(copy, "child", &child));
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "new %d", i);
        check_ok(ferry_bundle_set_int32(child, key, i));
    }
    check_ok(ferry_bundle_remove(child, "arrays"));
    check_round_trip(copy);
    ferry_bundle_free(copy);

    check_ok(ferry_bundle_copy(b, &copy));
    check_ok(ferry_bundle_edit_list(copy, "list", &list));
    for (int i = 0; i < 100; i++)
        check_ok(ferry_list_append_int32(list, i));
    check_ok(ferry_bundle_set_bundle(outer, "inner", copy)); /* takes its block along */
    check_ok(ferry_bundle_set_bundle(outer, "more", b));
    check_round_trip(outer);
    ferry_bundle_free(outer);
}

/* --- random trees --- */

static int64_t random_shape(int dims, int64_t *shape)
{
    int64_t elements = 1;

    for (int k = 0; k < dims; k++)
        elements *= shape[k] = check_between(0, dims < 3 ? 9 : dims < 5 ? 3 : 2);
    return elements;
}

/* A view of `memory` whose elements are all inside. */
static void add_random_array(ferry_list *list, const char *memory)
{
    const ferry_type element = (ferry_type)check_between(FERRY_TYPE_BOOL, FERRY_TYPE_COMPLEX128);
    const int dims = (int)check_between(1, FERRY_ARRAY_MAX_DIMS);
    int64_t shape[FERRY_ARRAY_MAX_DIMS], strides[FERRY_ARRAY_MAX_DIMS];
    const bool strided = check_between(0, 2) > 0;

    random_shape(dims, shape);
    for (int k = 0; k < dims; k++)
        strides[k] = check_between(-9, 9) * (int64_t)ferry_type_bytes(element);
    check_ok((check_between(0, 1) ? ferry_list_append_array : ferry_list_borrow_array)(
        list, element, dims, shape, strided ? strides : NULL, memory));
}

static void add_random_text(ferry_list *list, const char *memory)
{
    const size_t length = (size_t)check_between(0, check_between(0, 9) ? 20 : 900);

    check_ok((check_between(0, 1) ? ferry_list_append_string : ferry_list_borrow_string)(list, memory, length));
    check_ok((check_between(0, 1) ? ferry_list_append_bytes : ferry_list_borrow_bytes)(list, memory, length));
}

/* Strings cut out of memory, and sometimes attributes for them. */
static void add_random_strings(ferry_list *list, const char *memory)
{
    const char *texts[12];
    size_t lengths[12];
    ferry_bundle *its;
    const size_t count = (size_t)check_between(0, 12);

    for (size_t i = 0; i < count; i++) {
        texts[i] = memory + check_between(0, 1000);
        lengths[i] = (size_t)check_between(0, check_between(0, 20) ? 12 : 300);
    }
    check_ok(ferry_list_append_strings(list, count, texts, lengths));
    if (check_between(0, 1) == 0)
        return;
    const size_t last = ferry_list_count(list) - 1;
    check_ok(ferry_list_edit_attributes(list, (size_t)check_between(0, (int64_t)last), &its));
    check_ok(ferry_bundle_set_strings(its, "names", count, texts, lengths));
    check_ok(ferry_list_edit_attributes(list, last, &its));
}

static void add_random_scalars(ferry_list *list)
{
#define APPEND(name, NAME, type)                                    \
    if (check_between(0, 3) == 0) {                                 \
        uint64_t bits[2] = {check_random(), check_random()};        \
        type in;                                                    \
        if (FERRY_TYPE_##NAME == FERRY_TYPE_BOOL)                   \
            memset(bits, bits[0] % 2 ? 1 : 0, sizeof bits);         \
        memcpy(&in, bits, sizeof in);                               \
        check_ok(ferry_list_append_##name(list, in));               \
    }
    FERRY_SCALAR_LIST(APPEND)
#undef APPEND
}

static ferry_bundle *random_bundle(const char *memory, int levels)
{
    ferry_bundle *b = fresh();
    const int64_t count = check_between(0, check_between(0, 4) ? 6 : 40);
    char key[40];

    for (int64_t i = 0; i < count; i++) {
        ferry_list *const list = fresh_list();
        add_random_scalars(list);
        add_random_text(list, memory);
        add_random_array(list, memory);
        add_random_strings(list, memory);
        if (levels > 0 && check_between(0, 2) == 0)
            check_ok(ferry_list_append_bundle(list, random_bundle(memory, levels - 1)));
        snprintf(key, sizeof key, "%.*s %lld", (int)check_between(1, 9), "abcdefghi", (long long)check_between(0, 99));
        check_ok(ferry_bundle_set_list(b, key, list));
    }
    return b;
}

static void random_trees_come_back(void **state)
{
    enum { BYTES = 32768 };
    char *const memory = malloc(BYTES);
    (void)state;

    assert_non_null(memory);
    check_seed(check_seed_from_environment("random_trees_come_back"));
    for (int i = 0; i < BYTES; i++)
        memory[i] = (char)(check_random() >> 20);
    for (int i = 0; i < 200; i++) {
        ferry_bundle *const b = random_bundle(memory + BYTES / 2, 3);
        check_round_trip(b);
        ferry_bundle_free(b);
    }
    free(memory);
}

/* --- memory that runs out --- */

/* Call something with the first, second, ... allocation failing until none does. */
#define EACH_FAILURE(call, untouched)                               \
    for (uint64_t n = 1;; n++) {                                    \
        assert_in_range(n, 1, 1000);                                \
        alloc_fail_at(n);                                           \
        const ferry_status st = (call);                             \
        alloc_fail_at(0);                                           \
        if (st == FERRY_OK)                                         \
            break;                                                  \
        assert_int_equal(st, FERRY_ERR_MEMORY);                     \
        assert_true(untouched);                                     \
    }

static void allocations_that_fail(void **state)
{
    const int64_t shape[] = {100}, large_shape[] = {100000};
    static const char *const texts[] = {"one", "two"};
    double *const data = calloc(100000, sizeof *data);
    ferry_bundle *its, *b = sample(), *before = NULL, *copy = NULL, *child = fresh();
    ferry_list *list = fresh_list();
    void *bytes = NULL;
    size_t count = 0;
    char key[24];
    (void)state;

    assert_non_null(data);
    EACH_FAILURE(ferry_bundle_copy(b, &before), before == NULL)
    EACH_FAILURE(ferry_bundle_encode(b, &bytes, &count), bytes == NULL && count == 0)
    EACH_FAILURE(ferry_bundle_decode(bytes, count, &copy), copy == NULL)
#define SAME ferry_bundle_equal(b, before) == 1
    for (int i = 0; i < 40; i++) { /* sometimes there is room, sometimes not */
        snprintf(key, sizeof key, "new %d", i);
        EACH_FAILURE(ferry_bundle_set_string(b, key, "text", 4), SAME)
        check_ok(ferry_bundle_set_string(before, key, "text", 4));
    }
    EACH_FAILURE(ferry_bundle_set_string(b, "INT8", "text", 4), SAME)
    check_ok(ferry_bundle_set_string(before, "INT8", "text", 4));
    EACH_FAILURE(ferry_bundle_set_array(b, "array", FERRY_TYPE_FLOAT64, 1, shape, NULL, data), SAME)
    check_ok(ferry_bundle_remove(b, "array"));
    EACH_FAILURE(ferry_bundle_set_array(b, "array", FERRY_TYPE_FLOAT64, 1, large_shape, NULL, data), SAME)
    check_ok(ferry_bundle_remove(b, "array"));
    EACH_FAILURE(ferry_bundle_borrow_array(b, "array", FERRY_TYPE_FLOAT64, 1, shape, NULL, data), SAME)
    check_ok(ferry_bundle_remove(b, "array"));
    EACH_FAILURE(ferry_bundle_set_bundle(b, "new child", child), SAME)
    check_ok(ferry_bundle_remove(b, "new child"));
    EACH_FAILURE(ferry_bundle_set_list(b, "new list", list), SAME)
    EACH_FAILURE(ferry_list_append_bytes(list, "bytes", 5), ferry_list_count(list) == 0)
    EACH_FAILURE(ferry_list_append_strings(list, 2, texts, NULL), ferry_list_count(list) == 1)
    check_ok(ferry_bundle_remove(b, "new list"));
    EACH_FAILURE(ferry_bundle_set_strings(b, "strings", 2, texts, NULL), SAME)
    check_ok(ferry_bundle_remove(b, "strings"));
    EACH_FAILURE(ferry_bundle_edit_attributes(b, "INT8", &its), SAME)
    check_ok(ferry_bundle_remove_attributes(b, "INT8"));
    assert_true(SAME);
#undef SAME
    ferry_memory_give(bytes);
    ferry_bundle_free(b);
    ferry_bundle_free(before);
    ferry_bundle_free(copy);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_comes_back),
        cmocka_unit_test(the_bytes_are_as_documented),
        cmocka_unit_test(the_hash_is_of_the_structure),
        cmocka_unit_test(arrays_are_aligned),
        cmocka_unit_test(changing_what_was_decoded),
        cmocka_unit_test(random_trees_come_back),
        cmocka_unit_test(allocations_that_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
