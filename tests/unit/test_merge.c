/* Bundles merged and compared: what comes out, what is said, and that a merge that fails changes nothing. */
#include "unit/sample.h"

#include "base/alloc.h"
#include "ferry/bundle_path.h"

/* --- merging --- */

/* {"i": 1, "in": {"x": 2, "y": 3} @ {"u": 4}, "l": [..]} */
static ferry_bundle *target(void)
{
    ferry_bundle *const b = fresh();

    check_ok(ferry_path_set_int32(b, "i", 1));
    check_ok(ferry_path_set_int32(b, "in/x", 2));
    check_ok(ferry_path_set_int32(b, "in/y", 3));
    check_ok(ferry_path_set_int32(b, "in/@/u", 4));
    check_ok(ferry_path_set_list(b, "l", fresh_list()));
    return b;
}

static void check_int(const ferry_bundle *b, const char *path, int32_t expected)
{
    int32_t found = ~expected;

    check_ok(ferry_path_get_int32(b, path, &found));
    assert_int_equal(found, expected);
}

static void replacing_and_keeping(void **state)
{
    (void)state;
    for (int how = FERRY_MERGE_REPLACE; how <= FERRY_MERGE_KEEP; how++) {
        ferry_bundle *a = target(), *b = fresh();
        const bool keep = how == FERRY_MERGE_KEEP;
        const ferry_list *list;
        check_ok(ferry_path_set_int32(b, "in/y", 30));
        check_ok(ferry_path_set_int32(b, "in/z/deep", 40));
        check_ok(ferry_path_set_int32(b, "in/@/u", 50));
        check_ok(ferry_path_set_int32(b, "in/@/v", 60));
        check_ok(ferry_path_set_int32(b, "i/deep", 70));
        check_ok(ferry_path_set_int32(b, "i/@/w", 80));
        check_ok(ferry_path_set_list(b, "l", fresh_list()));
        check_ok(ferry_path_set_int32(b, "l/-", 90));
        check_ok(ferry_path_set_int32(b, "new", 100));
        check_ok(ferry_path_set_int32(b, "new/@/v", 110));
        check_ok(ferry_bundle_merge(a, b, how));
        ferry_bundle_free(b);
        check_int(a, "in/x", 2);
        check_int(a, "in/y", keep ? 3 : 30);
        check_int(a, "in/z/deep", 40);
        check_int(a, "in/@/u", keep ? 4 : 50);
        check_int(a, "in/@/v", 60);
        check_int(a, keep ? "i" : "i/deep", keep ? 1 : 70);
        if (!keep)
            check_int(a, "i/@/w", 80);
        check_ok(ferry_path_get_list(a, "l", &list));
        assert_int_equal(ferry_list_count(list), keep ? 0 : 1);
        check_int(a, "new", 100);
        check_int(a, "new/@/v", 110);
        assert_string_equal(ferry_bundle_key(a, 3), "new");
        assert_int_equal(ferry_bundle_count(a), 4);
        ferry_bundle_free(a);
    }
}

static void merges_that_are_refused(void **state)
{
    ferry_bundle *a = target(), *b = fresh(), *before = NULL;
    (void)state;

    check_ok(ferry_bundle_copy(a, &before));
    check_ok(ferry_path_set_int32(b, "new", 1));
    check_ok(ferry_path_set_int32(b, "in/w", 1));
    check_ok(ferry_path_set_int32(b, "in/y", 1));
    check_fails(ferry_bundle_merge(a, b, FERRY_MERGE_REFUSE), FERRY_ERR_ARG, "in/y: is in both bundles");
    assert_int_equal(ferry_bundle_equal(a, before), 1);
    check_ok(ferry_path_remove(b, "in/y"));
    check_ok(ferry_path_set_int32(b, "in/@/u", 1));
    check_fails(ferry_bundle_merge(a, b, FERRY_MERGE_REFUSE), FERRY_ERR_ARG, "in/@/u: is in both bundles");
    assert_int_equal(ferry_bundle_equal(a, before), 1);
    check_ok(ferry_path_remove(b, "in/@"));
    check_ok(ferry_bundle_merge(a, b, FERRY_MERGE_REFUSE));
    check_int(a, "in/w", 1);
    check_fails(ferry_bundle_merge(NULL, b, FERRY_MERGE_KEEP), FERRY_ERR_ARG, "target is NULL");
    check_fails(ferry_bundle_merge(a, NULL, FERRY_MERGE_KEEP), FERRY_ERR_ARG, "source is NULL");
    check_fails(ferry_bundle_merge(a, b, 7), FERRY_ERR_ARG, "how is 7, expected 0..2");
    ferry_bundle_free(a);
    ferry_bundle_free(b);
    ferry_bundle_free(before);
}

/* A bundle of the most levels: its deepest one is a bundle, or the attributes of a value. */
static ferry_bundle *deepest(bool of_attributes)
{
    char path[2 * FERRY_BUNDLE_MAX_DEPTH + 8];
    ferry_bundle *const b = fresh();

    for (int i = 0; i < FERRY_BUNDLE_MAX_DEPTH; i++)
        memcpy(path + 2 * i, "a/", 3);
    path[2 * FERRY_BUNDLE_MAX_DEPTH - (of_attributes ? 3 : 1)] = '\0';
    check_ok(ferry_path_set_null(b, path));
    if (of_attributes)
        check_ok(ferry_path_set_null(b, strcat(path, "/@/u")));
    return b;
}

/* What reaches the limit comes; what would be deeper, because the target is inside another bundle, does not. */
static void depth(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        ferry_bundle *a = fresh(), *b = deepest(which % 2), *outer = fresh();
        ferry_bundle *before = NULL;
        if (which / 2)
            check_ok(ferry_path_set_null(a, "a/x")); /* merged inside, not copied whole */
        check_ok(ferry_bundle_copy(a, &before));
        check_ok(ferry_bundle_set_bundle(outer, "a", a));
        check_fails(ferry_bundle_merge(a, b, FERRY_MERGE_KEEP), FERRY_ERR_LIMIT, "deeper than 128");
        assert_int_equal(ferry_bundle_equal(a, before), 1);
        check_ok(ferry_bundle_merge(before, b, FERRY_MERGE_KEEP));
        assert_int_equal(ferry_bundle_equal(before, b), which / 2 == 0);
        ferry_bundle_free(outer);
        ferry_bundle_free(b);
        ferry_bundle_free(before);
    }
}

/* With itself, and with a part of itself. */
static void merging_with_itself(void **state)
{
    ferry_bundle *a = target(), *before = NULL;
    const ferry_bundle *in;
    (void)state;

    check_ok(ferry_bundle_copy(a, &before));
    check_ok(ferry_bundle_merge(a, a, FERRY_MERGE_REPLACE));
    assert_int_equal(ferry_bundle_equal(a, before), 1);
    check_ok(ferry_path_get_bundle(a, "in", &in));
    check_ok(ferry_bundle_merge(a, in, FERRY_MERGE_REFUSE));
    check_int(a, "x", 2);
    check_int(a, "in/x", 2);
    ferry_bundle_free(a);
    ferry_bundle_free(before);
}

static void allocations_that_fail(void **state)
{
    ferry_bundle *a = NULL, *b = sample_of_all(), *before = NULL, *start = target();
    (void)state;

    check_ok(ferry_path_set_int32(b, "in/x", 7));
    for (int i = 0; i < 40; i++) {
        char key[16];
        snprintf(key, sizeof key, "in/key %d", i);
        check_ok(ferry_path_set_string(b, key, "text", 4));
    }
    check_ok(ferry_bundle_copy(start, &a)); /* one with an arena: its parts move to the heap */
    check_ok(ferry_bundle_copy(start, &before));
    for (uint64_t n = 1;; n++) {
        assert_in_range(n, 1, 1000);
        alloc_fail_at(n);
        const ferry_status st = ferry_bundle_merge(a, b, FERRY_MERGE_REPLACE);
        alloc_fail_at(0);
        if (st == FERRY_OK)
            break;
        assert_int_equal(st, FERRY_ERR_MEMORY);
        assert_int_equal(ferry_bundle_equal(a, before), 1);
    }
    check_int(a, "in/y", 3);
    check_int(a, "in/x", 7);
    check_int(a, "i", 7);
    ferry_bundle_free(a);
    ferry_bundle_free(b);
    ferry_bundle_free(before);
    ferry_bundle_free(start);
}

/* --- comparing --- */

/* One difference between two samples of all types, and what is said of it. */
static void check_difference(void (*change)(ferry_bundle *b), const char *words)
{
    ferry_bundle *a = sample_of_all(), *b = sample_of_all();
    char text[400], cut[12];

    assert_int_equal(ferry_bundle_compare(a, b, text, sizeof text), 1);
    assert_string_equal(text, "");
    change(b);
    assert_int_equal(ferry_bundle_compare(a, b, text, sizeof text), 0);
    assert_string_equal(text, words);
    assert_int_equal(ferry_bundle_equal(a, b), 0);
    assert_int_equal(ferry_bundle_compare(a, b, NULL, 0), 0);
    assert_int_equal(ferry_bundle_compare(a, b, cut, sizeof cut), 0);
    assert_memory_equal(cut, words, sizeof cut - 1);
    assert_int_equal(cut[sizeof cut - 1], 0);
    ferry_bundle_free(a);
    ferry_bundle_free(b);
}

static const int64_t two_three[] = {2, 3}, three_two[] = {3, 2}, columns[] = {8, 16};
static const double other_m[6] = {1, 2, 3, 4, -5, 6};

#define CHANGE(name, call)                                                      \
    static void name(ferry_bundle *b)                                           \
    {                                                                           \
        check_ok(call);                                                         \
    }
CHANGE(scalar, ferry_bundle_set_int32(b, "i", 8))
CHANGE(type, ferry_bundle_set_int64(b, "i", 7))
CHANGE(inner, ferry_path_set_complex64(b, "in/~0z", ((ferry_complex64){1, -0.0f})))
CHANGE(element, ferry_bundle_set_array(b, "m", FERRY_TYPE_FLOAT64, 2, two_three, columns, other_m))
CHANGE(shape, ferry_bundle_set_array(b, "m", FERRY_TYPE_FLOAT64, 2, three_two, NULL, other_m))
CHANGE(order, ferry_bundle_set_array(b, "m", FERRY_TYPE_FLOAT64, 2, two_three, NULL, other_m))
CHANGE(text, ferry_path_set_string(b, "list/0", "\xc5\xbf", 2))
CHANGE(longer, ferry_path_set_string(b, "list/0", "\xc5\xbe\xc5\xbe", 4))
CHANGE(more, ferry_path_set_null(b, "list/-"))
CHANGE(fewer, ferry_path_remove(b, "list/3"))
CHANGE(missing, ferry_bundle_remove(b, "s"))
CHANGE(last_missing, ferry_bundle_remove(b, "in"))
CHANGE(extra, ferry_path_set_null(b, "in/q~1"))
CHANGE(unit, ferry_path_set_string(b, "i/@/unit", "n", 1))
CHANGE(no_attributes, ferry_bundle_remove_attributes(b, "i"))
CHANGE(new_attributes, ferry_path_set_null(b, "s/@/x"))
CHANGE(names, ferry_path_set_strings(b, "i/@/names", 2, ((const char *const[]){"a", "bd"}), NULL))
CHANGE(split, ferry_path_set_strings(b, "i/@/names", 2, ((const char *const[]){"ab", "c"}), NULL))
CHANGE(one_name, ferry_path_set_strings(b, "i/@/names", 1, ((const char *const[]){"a"}), NULL))
#undef CHANGE

static void other_order(ferry_bundle *b)
{
    check_ok(ferry_bundle_remove(b, "s"));
    check_ok(ferry_bundle_set_null(b, "s"));
}

static void first_differences(void **state)
{
    (void)state;
    check_difference(scalar, "i: 7 (0x00000007) in the first, 8 (0x00000008) in the second");
    check_difference(type, "i: int32 in the first, int64 in the second");
    check_difference(inner, "in/~0z: 1-1i (0xbf8000003f800000) in the first, 1-0i (0x800000003f800000) in the second");
    check_difference(element, "m: element (0, 2): 5 (0x4014000000000000) in the first, -5 (0xc014000000000000) in the "
                              "second");
    check_difference(shape, "m: float64 [2 x 3] column-major in the first, float64 [3 x 2] in the second");
    check_difference(order, "m: float64 [2 x 3] column-major in the first, float64 [2 x 3] in the second");
    check_difference(text, "list/0: from byte 1 on: \"\xc5\xbe\" in the first, \"\xc5\xbf\" in the second");
    check_difference(longer, "list/0: string of 2 bytes in the first, string of 4 bytes in the second");
    check_difference(more, "list: 4 values in the first, 5 in the second");
    check_difference(fewer, "list: 4 values in the first, 3 in the second");
    check_difference(missing, "s: only in the first");
    check_difference(last_missing, "in: only in the first");
    check_difference(extra, "in/q~1: only in the second");
    check_difference(unit, "i/@/unit: from byte 0 on: \"m\" in the first, \"n\" in the second");
    check_difference(no_attributes, "i: only the first has attributes");
    check_difference(new_attributes, "s: only the second has attributes");
    check_difference(names, "i/@/names: string 1 differs from byte 1 on: \"bc\" in the first, \"bd\" in the second");
    check_difference(split, "i/@/names: string 0 differs from byte 1 on: \"a\" in the first, \"ab\" in the second");
    check_difference(one_name, "i/@/names: strings [2] in the first, strings [1] in the second");
    check_difference(other_order, "other order: key 1 is \"s\" in the first, \"m\" in the second");
}

static void comparing_nothing(void **state)
{
    ferry_bundle *a = fresh();
    char words[60];
    (void)state;

    assert_int_equal(ferry_bundle_compare(NULL, NULL, words, sizeof words), 1);
    assert_int_equal(ferry_bundle_compare(a, NULL, words, sizeof words), 0);
    assert_string_equal(words, "the second bundle is NULL");
    assert_int_equal(ferry_bundle_compare(NULL, a, words, sizeof words), 0);
    assert_string_equal(words, "the first bundle is NULL");
    ferry_bundle_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replacing_and_keeping),
        cmocka_unit_test(merges_that_are_refused),
        cmocka_unit_test(depth),
        cmocka_unit_test(merging_with_itself),
        cmocka_unit_test(allocations_that_fail),
        cmocka_unit_test(first_differences),
        cmocka_unit_test(comparing_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
