/* Values by path: found, set with what is missing on the way, removed, and refused with the step that failed. */
#include "unit/sample.h"

#include "base/alloc.h"
#include "ferry/bundle_path.h"

static void every_type_in_and_out(void **state)
{
    static const char *const texts[] = {"x", ""};
    const int64_t shape[] = {2};
    const double m[2] = {1, 2};
    ferry_bundle *b = fresh();
    const ferry_bundle *child;
    const ferry_list *list;
    const char *text;
    const void *data;
    size_t length;
    ferry_array array;
    ferry_item item;
    ferry_type found;
    (void)state;

#define IN_AND_OUT(name, NAME, c_type)                                          \
    {                                                                           \
        c_type in, out;                                                         \
        memset(&in, FERRY_TYPE_##NAME == FERRY_TYPE_BOOL ? 1 : 0x92, sizeof in); \
        memset(&out, 0, sizeof out);                                            \
        check_ok(ferry_path_set_##name(b, "single/values/" #name, in));         \
        check_ok(ferry_path_get_##name(b, "single/values/" #name, &out));       \
        assert_memory_equal(&in, &out, sizeof in);                              \
        check_ok(ferry_path_type(b, "single/values/" #name, &found));           \
        assert_int_equal(found, FERRY_TYPE_##NAME);                             \
    }
    FERRY_SCALAR_LIST(IN_AND_OUT)
#undef IN_AND_OUT
    check_ok(ferry_path_set_null(b, "t/null"));
    check_ok(ferry_path_set_string(b, "t/string", "ab", 2));
    check_ok(ferry_path_set_bytes(b, "t/bytes", "abc", 3));
    check_ok(ferry_path_set_strings(b, "t/strings", 2, texts, NULL));
    check_ok(ferry_path_set_array(b, "t/array", FERRY_TYPE_FLOAT64, 1, shape, NULL, m));
    check_ok(ferry_path_set_bundle(b, "t/bundle", fresh()));
    check_ok(ferry_path_set_list(b, "t/list", fresh_list()));
    check_ok(ferry_path_type(b, "t/null", &found));
    assert_int_equal(found, FERRY_TYPE_NULL);
    check_ok(ferry_path_get_string(b, "t/string", &text, &length));
    assert_string_equal(text, "ab");
    check_ok(ferry_path_get_bytes(b, "t/bytes", &data, &length));
    assert_int_equal(length, 3);
    check_ok(ferry_path_item(b, "t/strings", &item));
    assert_int_equal(item.count, 2);
    check_ok(ferry_path_get_array(b, "t/array", FERRY_TYPE_FLOAT64, &array));
    assert_memory_equal(array.data, m, sizeof m);
    check_ok(ferry_path_get_bundle(b, "t/bundle", &child));
    assert_int_equal(ferry_bundle_count(child), 0);
    check_ok(ferry_path_get_list(b, "t/list", &list));
    assert_int_equal(ferry_list_count(list), 0);
    check_ok(ferry_path_get_bundle(b, "t", &child));
    assert_int_equal(ferry_bundle_count(child), 7);
    ferry_bundle_free(b);
}

static void lists_and_escapes(void **state)
{
    ferry_bundle *b = fresh();
    const ferry_bundle *its;
    int32_t value;
    (void)state;

    check_ok(ferry_path_set_list(b, "a~1b/~0/l", fresh_list()));
    assert_string_equal(ferry_bundle_key(b, 0), "a/b");
    for (int i = 0; i < 12; i++)
        check_ok(ferry_path_set_int32(b, "a~1b/~0/l/-", i));
    check_ok(ferry_path_get_int32(b, "a~1b/~0/l/11", &value));
    assert_int_equal(value, 11);
    check_ok(ferry_path_set_int32(b, "a~1b/~0/l/3", 33)); /* an element is replaced */
    check_ok(ferry_path_get_int32(b, "a~1b/~0/l/3", &value));
    assert_int_equal(value, 33);
    check_ok(ferry_path_set_int32(b, "a~1b/~0/l/-/x", 4)); /* a bundle is appended for it */
    check_ok(ferry_path_get_int32(b, "a~1b/~0/l/12/x", &value));
    assert_int_equal(value, 4);
    check_ok(ferry_path_remove(b, "a~1b/~0/l/0"));
    check_ok(ferry_path_get_int32(b, "a~1b/~0/l/2", &value));
    assert_int_equal(value, 33);

    check_ok(ferry_path_set_int32(b, "~2", 5)); /* a key */
    assert_string_equal(ferry_bundle_key(b, 1), "@");
    check_ok(ferry_path_set_int32(b, "~2/@/~2", 6)); /* among the attributes of that value */
    check_ok(ferry_bundle_get_attributes(b, "@", &its));
    check_ok(ferry_bundle_get_int32(its, "@", &value));
    assert_int_equal(value, 6);
    check_ok(ferry_path_get_bundle(b, "~2/@", &its));
    assert_int_equal(ferry_bundle_count(its), 1);
    check_ok(ferry_path_set_int32(b, "~2/@/~2/@/deeper/still", 7));
    check_ok(ferry_path_get_int32(b, "~2/@/~2/@/deeper/still", &value));
    assert_int_equal(value, 7);
    check_ok(ferry_path_remove(b, "~2/@"));
    check_fails(ferry_path_get_bundle(b, "~2/@", &its), FERRY_ERR_NOT_FOUND, "has no attributes");
    check_ok(ferry_path_get_int32(b, "~2", &value));
    ferry_bundle_free(b);
}

static void paths_that_are_refused(void **state)
{
    static const struct {
        const char *path;
        ferry_status status;
        const char *words;
    } cases[] = {
        {"", FERRY_ERR_ARG, "path is empty"},
        {"/a", FERRY_ERR_ARG, "path \"/a\": step 1 \"\": is empty"},
        {"a/", FERRY_ERR_ARG, "path \"a/\": step 2 \"\": is empty"},
        {"a//i", FERRY_ERR_ARG, "step 2 \"\": is empty"},
        {"a/~", FERRY_ERR_ARG, "followed by none of 0, 1 and 2"},
        {"a/~3", FERRY_ERR_ARG, "followed by none of 0, 1 and 2"},
        {"@/x", FERRY_ERR_ARG, "found no value before"},
        {"a/@/@/x", FERRY_ERR_ARG, "found no value before"},
        {"a/i/x", FERRY_ERR_TYPE,
         "path \"a/i/x\": step 3 \"x\": leads into a value: wanted bundle or list, found int32"},
        {"l/x", FERRY_ERR_ARG, "path \"l/x\": step 2 \"x\": wanted the number of an element"},
        {"l/-1", FERRY_ERR_ARG, "wanted the number"},
        {"l/00", FERRY_ERR_ARG, "wanted the number"},
        {"l/1", FERRY_ERR_NOT_FOUND, "path \"l/1\": step 2 \"1\": the list has 1 values"},
        {"l/99999999999999999999999999", FERRY_ERR_NOT_FOUND, "the list has 1 values"},
    };
    ferry_bundle *b = fresh(), *before = NULL;
    int32_t value = 17;
    (void)state;

    check_ok(ferry_path_set_int32(b, "a/i", 1));
    check_ok(ferry_path_set_int32(b, "a/@/u", 1));
    check_ok(ferry_path_set_list(b, "l", fresh_list()));
    check_ok(ferry_path_set_null(b, "l/-"));
    check_ok(ferry_bundle_copy(b, &before));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        check_fails(ferry_path_get_int32(b, cases[i].path, &value), cases[i].status, cases[i].words);
        check_fails(ferry_path_set_int32(b, cases[i].path, 1), cases[i].status, cases[i].words);
        check_fails(ferry_path_set_string(b, cases[i].path, "x", 1), cases[i].status, cases[i].words);
        check_fails(ferry_path_remove(b, cases[i].path), cases[i].status, cases[i].words);
        assert_int_equal(ferry_bundle_equal(b, before), 1);
    }
    assert_int_equal(value, 17);
    check_fails(ferry_path_get_int32(b, "a/x", &value), FERRY_ERR_NOT_FOUND,
                "path \"a/x\": step 2 \"x\": there is no such key among 1 values");
    check_fails(ferry_path_get_int32(b, "l/-", &value), FERRY_ERR_NOT_FOUND, "nothing behind the last of 1 values");
    check_fails(ferry_path_get_int32(b, "a", &value), FERRY_ERR_TYPE,
                "path \"a\": step 1: key \"a\": wanted int32, found bundle");
    check_fails(ferry_path_get_int32(b, "l/0", &value), FERRY_ERR_TYPE, "element 0: wanted int32, found null");
    check_fails(ferry_path_get_int32(b, "a/@", &value), FERRY_ERR_TYPE, "got as a bundle only");
    check_fails(ferry_path_set_int32(b, "a/@", 1), FERRY_ERR_ARG, "expected a key or number behind it");
    check_fails(ferry_path_set_int32(b, "new/deep/@/x", 1), FERRY_ERR_NOT_FOUND, "no such key");
    check_fails(ferry_path_set_int32(b, "new/deep/a/", 1), FERRY_ERR_ARG, "is empty"); /* what was made is gone */
    check_fails(ferry_path_set_int32(b, "a/i/@/new/\xff", 1), FERRY_ERR_ARG, "not valid UTF-8");
    check_fails(ferry_path_set_int32(b, "a/\xff/x", 1), FERRY_ERR_ARG, "not valid UTF-8");
    check_fails(ferry_path_set_bundle(b, "new/me", b), FERRY_ERR_ARG, "the root of the tree");
    check_fails(ferry_path_set_bundle(b, "new/none", NULL), FERRY_ERR_ARG, "child is NULL");
    check_fails(ferry_path_get_int32(NULL, "a", &value), FERRY_ERR_ARG, "bundle is NULL");
    check_fails(ferry_path_get_int32(b, NULL, &value), FERRY_ERR_ARG, "path is NULL");
    check_fails(ferry_path_get_int32(b, "a/i", NULL), FERRY_ERR_ARG, "output is NULL");
    check_fails(ferry_path_set_string(b, "a/s", NULL, 1), FERRY_ERR_ARG, "NULL");
    assert_int_equal(ferry_bundle_equal(b, before), 1);
    ferry_bundle_free(b);
    ferry_bundle_free(before);
}

/* As deep as allowed and one step deeper; long paths leave the buffer on the stack. */
static void deep_paths(void **state)
{
    char path[2 * 200 + 1];
    ferry_bundle *b = fresh();
    int32_t value;
    (void)state;

    for (int i = 0; i < 200; i++)
        memcpy(path + 2 * i, "a/", 2);
    path[2 * FERRY_BUNDLE_MAX_DEPTH - 1] = '\0';
    check_ok(ferry_path_set_int32(b, path, 9));
    check_ok(ferry_path_get_int32(b, path, &value));
    assert_int_equal(value, 9);
    check_ok(ferry_path_remove(b, "a"));
    path[2 * FERRY_BUNDLE_MAX_DEPTH - 1] = '/';
    path[2 * FERRY_BUNDLE_MAX_DEPTH + 1] = '\0';
    check_fails(ferry_path_set_int32(b, path, 9), FERRY_ERR_LIMIT, "129 deep");
    assert_int_equal(ferry_bundle_count(b), 0);
    path[2 * FERRY_BUNDLE_MAX_DEPTH - 1] = '\0';
    check_ok(ferry_path_set_int32(b, path, 9));
    strcat(path, "/@/u"); /* attributes are a level */
    check_fails(ferry_path_set_int32(b, path, 9), FERRY_ERR_LIMIT, "nested 129 deep");
    ferry_bundle_free(b);
}

/* Each allocation on the way fails once: nothing has changed, and the call works again. */
static void allocations_that_fail(void **state)
{
    enum { LONG = 300 };
    char path[LONG + 1];
    ferry_bundle *b = fresh(), *before = NULL, *child = fresh();
    (void)state;

    memset(path, 'k', LONG);
    memcpy(path, "a/@/n/m/", 8);
    path[LONG] = '\0';
    check_ok(ferry_path_set_int32(b, "a/i", 1));
    check_ok(ferry_bundle_copy(b, &before));
    for (int which = 0; which < 2; which++)
        for (uint64_t n = 1;; n++) {
            assert_in_range(n, 1, 100);
            alloc_fail_at(n);
            const ferry_status st =
                which ? ferry_path_set_bundle(b, "x/y/z", child) : ferry_path_set_string(b, path, "text", 4);
            alloc_fail_at(0);
            if (st == FERRY_OK) {
                assert_int_equal(ferry_bundle_equal(b, before), 0);
                check_ok(ferry_path_remove(b, which ? "x" : "a/@"));
                assert_int_equal(ferry_bundle_equal(b, before), 1);
                break;
            }
            assert_int_equal(st, FERRY_ERR_MEMORY);
            assert_int_equal(ferry_bundle_equal(b, before), 1);
        }
    ferry_bundle_free(b);
    ferry_bundle_free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_in_and_out),
        cmocka_unit_test(lists_and_escapes),
        cmocka_unit_test(paths_that_are_refused),
        cmocka_unit_test(deep_paths),
        cmocka_unit_test(allocations_that_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
