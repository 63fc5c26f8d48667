/* Values looked at without knowing their type: items and the walk. */
#include "unit/sample.h"

#include "base/alloc.h"
#include "ferry/bundle_item.h"

static void single_values(void **state)
{
    ferry_bundle *b = fresh();
    ferry_list *list = fresh_list();
    ferry_item item;
    size_t place = 0;
    (void)state;

#define LOOK(name, NAME, c_type)                                                \
    {                                                                           \
        c_type in;                                                              \
        memset(&in, FERRY_TYPE_##NAME == FERRY_TYPE_BOOL ? 1 : 0x92, sizeof in); \
        check_ok(ferry_bundle_set_##name(b, #name, in));                        \
        check_ok(ferry_list_append_##name(list, in));                           \
        for (int which = 0; which < 2; which++) {                               \
            check_ok(which ? ferry_list_item(list, place, &item) : ferry_bundle_item(b, place, &item)); \
            assert_int_equal(item.type, FERRY_TYPE_##NAME);                     \
            assert_int_equal(item.count, 1);                                    \
            assert_int_equal(item.index, place);                                \
            assert_memory_equal(item.data, &in, sizeof in);                     \
            assert_null(item.attributes);                                       \
            assert_true(which ? !item.key : strcmp(item.key, #name) == 0);      \
        }                                                                       \
        place++;                                                                \
    }
    FERRY_SCALAR_LIST(LOOK)
#undef LOOK
    check_ok(ferry_list_append_null(list));
    check_ok(ferry_list_item(list, place, &item));
    assert_int_equal(item.count, 0);
    assert_null(item.data);
    check_fails(ferry_list_item(list, place + 1, &item), FERRY_ERR_NOT_FOUND, "no value 14 among 14");
    check_fails(ferry_bundle_item(NULL, 0, &item), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_bundle_item(b, 0, NULL), FERRY_ERR_ARG, "item_out is NULL");
    ferry_bundle_free(b);
    ferry_list_free(list);
}

static void arrays_and_texts(void **state)
{
    static const char *const texts[] = {"one", "", "\xff"};
    const int64_t shape[] = {2, 3}, strides[] = {8, 16}, wide[] = {-16, 64};
    double m[24] = {1, 2, 3, 4, 5, 6};
    ferry_bundle *b = fresh();
    ferry_item item;
    size_t length;
    (void)state;

    check_ok(ferry_bundle_set_array(b, "columns", FERRY_TYPE_FLOAT64, 2, shape, strides, m));
    check_ok(ferry_bundle_borrow_array(b, "view", FERRY_TYPE_FLOAT64, 2, shape, wide, m + 2));
    check_ok(ferry_bundle_borrow_string(b, "s", "\xc5\xbe", 2));
    check_ok(ferry_bundle_set_strings(b, "texts", 3, texts, NULL));
    check_ok(ferry_bundle_item(b, 0, &item));
    assert_int_equal(item.element, FERRY_TYPE_FLOAT64);
    assert_int_equal(item.dims, 2);
    assert_int_equal(item.column_major, 1);
    assert_int_equal(item.count, 6);
    assert_memory_equal(item.shape, shape, sizeof shape);
    assert_null(item.strides_bytes);
    assert_memory_equal(item.data, m, 6 * sizeof *m);
    check_ok(ferry_bundle_item(b, 1, &item));
    assert_memory_equal(item.strides_bytes, wide, sizeof wide);
    assert_ptr_equal(item.data, m + 2);
    check_ok(ferry_bundle_item(b, 2, &item));
    assert_int_equal(item.utf8, 1);
    assert_int_equal(item.count, 2);
    check_ok(ferry_bundle_item(b, 3, &item));
    assert_int_equal(item.utf8, 0);
    assert_int_equal(item.count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(ferry_item_string(&item, i, &length), texts[i]);
        assert_int_equal(length, strlen(texts[i]));
    }
    assert_null(ferry_item_string(&item, 3, &length));
    assert_null(ferry_item_string(NULL, 0, NULL));
    ferry_bundle_free(b);
}

/* --- the walk --- */

typedef struct notes {
    char text[2000];
    size_t length;
    int stop_at; /* visits; 0: none */
} notes;

static ferry_status note(void *user, const char *path, const ferry_item *item)
{
    notes *const to = user;

    to->length += (size_t)snprintf(to->text + to->length, sizeof to->text - to->length, "%s %s%s\n", path,
                                   ferry_type_name(item->type), item->attributes ? " @" : "");
    return --to->stop_at == 0 ? FERRY_ERR_STATE : FERRY_OK;
}

static const char expected[] = "i int32 @\n"
                               "i/@/unit string @\n"
                               "i/@/unit/@/si bool\n"
                               "i/@/names strings\n"
                               "s strings\n"
                               "m array @\n"
                               "m/@/~2 null\n"
                               "list list\n"
                               "list/0 string\n"
                               "list/1 strings @\n"
                               "list/2 bytes\n"
                               "list/3 list\n"
                               "in bundle @\n"
                               "in/@/a~1b float64\n"
                               "in/~0z complex64\n";

static void the_walk(void **state)
{
    ferry_bundle *b = sample_of_all();
    notes to = {.length = 0};
    (void)state;

    check_ok(ferry_bundle_walk(b, note, &to));
    assert_string_equal(to.text, expected);
    to = (notes){.stop_at = 3};
    assert_int_equal(ferry_bundle_walk(b, note, &to), FERRY_ERR_STATE);
    assert_int_equal(to.stop_at, 0);
    check_fails(ferry_bundle_walk(NULL, note, &to), FERRY_ERR_ARG, "bundle is NULL");
    check_fails(ferry_bundle_walk(b, NULL, &to), FERRY_ERR_ARG, "visit is NULL");
    for (uint64_t n = 1;; n++) {
        to = (notes){.length = 0};
        alloc_fail_at(n);
        const ferry_status st = ferry_bundle_walk(b, note, &to);
        alloc_fail_at(0);
        if (st == FERRY_OK)
            break;
        assert_int_equal(st, FERRY_ERR_MEMORY);
    }
    assert_string_equal(to.text, expected);
    ferry_bundle_free(b);
}

static ferry_status measure(void *user, const char *path, const ferry_item *item)
{
    (void)item;
    *(size_t *)user += strlen(path);
    return FERRY_OK;
}

/* Keys longer than any buffer. */
static void long_paths(void **state)
{
    enum { LONG = 5000, DEEP = 20 };
    char key[LONG + 1];
    ferry_bundle *b = fresh();
    size_t length = 0;
    (void)state;

    memset(key, '/', LONG);
    key[LONG] = '\0';
    for (int i = 0; i < DEEP; i++) {
        ferry_bundle *const outer = fresh();
        check_ok(ferry_bundle_set_bundle(outer, key, b));
        b = outer;
    }
    check_ok(ferry_bundle_walk(b, measure, &length));
    assert_int_equal(length, DEEP * (DEEP + 1) / 2 * (2 * LONG + 1) - DEEP); /* "~1" for each, '/' between */
    ferry_bundle_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_values),
        cmocka_unit_test(arrays_and_texts),
        cmocka_unit_test(the_walk),
        cmocka_unit_test(long_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
