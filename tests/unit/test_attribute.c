/* Attributes of values, arrays of strings, and lists that are edited: what goes in comes out, also after changes and
 * through an image. */
#include "unit/sample.h"

#include "ferry/bundle_path.h"

/* The number that the attributes of a place hold under "n", or -1 when there are none. */
static int its_number(const ferry_list *list, size_t index)
{
    const ferry_bundle *its;
    int32_t n = -1;

    if (ferry_list_get_attributes(list, index, &its) == FERRY_OK)
        check_ok(ferry_bundle_get_int32(its, "n", &n));
    return n;
}

/* A list of 0, 1, 2, ...; every third one has attributes with its number. */
static ferry_list *numbers(int count)
{
    ferry_list *const list = fresh_list();
    ferry_bundle *its;

    for (int i = 0; i < count; i++)
        check_ok(ferry_list_append_int32(list, i));
    for (int i = count - 1; i >= 0; i--) { /* in any order */
        if (i % 3 != 0)
            continue;
        check_ok(ferry_list_edit_attributes(list, (size_t)i, &its));
        check_ok(ferry_bundle_set_int32(its, "n", i));
    }
    return list;
}

/* Each element has the attributes that belong to it. */
static void check_numbers(const ferry_list *list, int count)
{
    assert_int_equal(ferry_list_count(list), count);
    for (int i = 0; i < count; i++) {
        int32_t number;
        check_ok(ferry_list_get_int32(list, (size_t)i, &number));
        assert_int_equal(its_number(list, (size_t)i), number % 3 ? -1 : number);
    }
}

static void removing_and_moving(void **state)
{
    enum { COUNT = 20 };
    int order[COUNT];
    (void)state;

    check_seed(23);
    for (int round = 0; round < 200; round++) {
        ferry_bundle *b = fresh(), *copy = NULL;
        ferry_list *list = numbers(COUNT);
        int count = COUNT;
        check_ok(ferry_bundle_set_list(b, "l", list));
        if (round % 2) { /* a decoded one: its parts lie in one block */
            check_ok(ferry_bundle_copy(b, &copy));
            check_ok(ferry_bundle_edit_list(copy, "l", &list));
        }
        for (int i = 0; i < COUNT; i++)
            order[i] = i;
        while (count > 1) {
            const int from = (int)check_between(0, count - 1), to = (int)check_between(0, count - 1);
            const int moved = order[from];
            check_ok(ferry_list_move(list, (size_t)from, (size_t)to));
            memmove(order + from, order + from + 1, (size_t)(count - 1 - from) * sizeof order[0]);
            memmove(order + to + 1, order + to, (size_t)(count - 1 - to) * sizeof order[0]);
            order[to] = moved;
            check_numbers(list, count);
            const int gone = (int)check_between(0, count - 1);
            check_ok(ferry_list_remove(list, (size_t)gone));
            memmove(order + gone, order + gone + 1, (size_t)(--count - gone) * sizeof order[0]);
            check_numbers(list, count);
            for (int i = 0; i < count; i++) {
                int32_t number;
                check_ok(ferry_list_get_int32(list, (size_t)i, &number));
                assert_int_equal(number, order[i]);
            }
        }
        ferry_bundle_free(b);
        ferry_bundle_free(copy);
    }
}

static void attributes_go_with_their_value(void **state)
{
    ferry_bundle *b = fresh(), *its, *again;
    const ferry_bundle *found;
    int8_t n;
    (void)state;

    check_ok(ferry_bundle_set_int8(b, "a", 1));
    check_ok(ferry_bundle_set_int8(b, "b", 2));
    check_fails(ferry_bundle_get_attributes(b, "b", &found), FERRY_ERR_NOT_FOUND, "key \"b\" has no attributes");
    check_fails(ferry_bundle_remove_attributes(b, "b"), FERRY_ERR_NOT_FOUND, "key \"b\" has no attributes");
    check_fails(ferry_bundle_edit_attributes(b, "c", &its), FERRY_ERR_NOT_FOUND, "no key \"c\" among 2");
    check_ok(ferry_bundle_edit_attributes(b, "b", &its));
    check_ok(ferry_bundle_set_int8(its, "n", 3));
    check_ok(ferry_bundle_edit_attributes(b, "b", &again));
    assert_ptr_equal(its, again);
    ferry_bundle_free(its); /* part of b: not freed by itself */
    check_ok(ferry_bundle_remove(b, "a")); /* b moves up */
    check_ok(ferry_bundle_get_attributes(b, "b", &found));
    check_ok(ferry_bundle_get_int8(found, "n", &n));
    check_ok(ferry_bundle_set_int8(b, "b", 4)); /* another value */
    check_fails(ferry_bundle_get_attributes(b, "b", &found), FERRY_ERR_NOT_FOUND, "has no attributes");
    check_ok(ferry_bundle_edit_attributes(b, "b", &its));
    check_ok(ferry_bundle_remove_attributes(b, "b"));
    check_fails(ferry_bundle_get_attributes(b, "b", NULL), FERRY_ERR_ARG, "output is NULL");
    check_fails(ferry_bundle_edit_attributes(NULL, "b", &its), FERRY_ERR_ARG, "NULL");
    check_ok(ferry_bundle_edit_attributes(b, "b", &its));
    check_fails(ferry_bundle_set_bundle(its, "cycle", b), FERRY_ERR_ARG, "the root of the tree");
    check_fails(ferry_bundle_set_bundle(b, "its", its), FERRY_ERR_ARG, "part of another");
    ferry_bundle_free(b);
}

static void strings(void **state)
{
    static const char *const texts[] = {"one", "", "t\0o", "\xff"};
    static const size_t lengths[] = {3, 0, 3, 1};
    ferry_bundle *b = fresh(), *copy = NULL;
    ferry_list *list = fresh_list();
    const char *text;
    size_t count, length;
    int utf8;
    (void)state;

    check_ok(ferry_bundle_set_strings(b, "s", 4, texts, lengths));
    check_ok(ferry_bundle_set_strings(b, "plain", 2, texts, NULL));
    check_ok(ferry_list_append_strings(list, 4, texts, lengths));
    check_ok(ferry_bundle_set_list(b, "l", list));
    check_ok(ferry_bundle_copy(b, &copy));
    for (int which = 0; which < 2; which++) {
        const ferry_bundle *const from = which ? copy : b;
        const ferry_list *its;
        check_ok(ferry_bundle_get_list(from, "l", &its));
        check_ok(ferry_bundle_get_strings(from, "s", &count));
        assert_int_equal(count, 4);
        check_ok(ferry_list_get_strings(its, 0, &count));
        assert_int_equal(count, 4);
        for (size_t i = 0; i < 4; i++) {
            check_ok(ferry_bundle_get_string_at(from, "s", i, &text, &length));
            assert_int_equal(length, lengths[i]);
            assert_memory_equal(text, texts[i], length + 1);
            check_ok(ferry_list_get_string_at(its, 0, i, &text, &length));
            assert_int_equal(length, lengths[i]);
            assert_memory_equal(text, texts[i], length + 1);
        }
        check_ok(ferry_bundle_get_utf8(from, "s", &utf8));
        assert_int_equal(utf8, 0);
        check_ok(ferry_bundle_get_utf8(from, "plain", &utf8));
        assert_int_equal(utf8, 1);
    }
    check_fails(ferry_bundle_get_string_at(b, "s", 4, &text, &length), FERRY_ERR_NOT_FOUND,
                "key \"s\": there is no string 4 among 4");
    check_fails(ferry_bundle_get_strings(b, "l", &count), FERRY_ERR_TYPE, "key \"l\": wanted strings, found list");
    check_fails(ferry_bundle_get_string(b, "s", &text, &length), FERRY_ERR_TYPE, "wanted string, found strings");
    check_fails(ferry_bundle_get_utf8(b, "l", &utf8), FERRY_ERR_TYPE, "wanted string, found list");
    check_fails(ferry_bundle_set_strings(b, "x", 1, NULL, NULL), FERRY_ERR_ARG, "texts is NULL");
    check_fails(ferry_bundle_set_strings(b, "x", 1, (const char *const[]){NULL}, NULL), FERRY_ERR_ARG,
                "texts[0] is NULL");
    check_fails(ferry_bundle_set_strings(b, "x", 1, texts, (const size_t[]){SIZE_MAX - 8}), FERRY_ERR_ARG, "63 bits");
    ferry_bundle_free(b);
    ferry_bundle_free(copy);
}

static void printing(void **state)
{
    static const char expected[] = "bundle of 5\n"
                                   "  \"i\": int32 7\n"
                                   "    @: bundle of 2\n"
                                   "      \"unit\": string \"m\"\n"
                                   "        @: bundle of 1\n"
                                   "          \"si\": bool true\n"
                                   "      \"names\": strings [2]: \"a\" \"bc\"\n"
                                   "  \"s\": strings [3]: \"x\" \"\" \"y\\x00z\"\n";
    ferry_bundle *b = sample_of_all();
    char text[1000];
    (void)state;

    ferry_bundle_print(b, text, sizeof text);
    text[strlen(expected)] = '\0';
    assert_string_equal(text, expected);
    ferry_bundle_free(b);
}

static void edits_that_are_refused(void **state)
{
    ferry_list *list = numbers(3);
    ferry_bundle *its;
    (void)state;

    check_fails(ferry_list_remove(list, 3), FERRY_ERR_NOT_FOUND, "no element 3 among 3");
    check_fails(ferry_list_move(list, 3, 0), FERRY_ERR_NOT_FOUND, "no element 3");
    check_fails(ferry_list_move(list, 0, 3), FERRY_ERR_NOT_FOUND, "no element 3");
    check_fails(ferry_list_remove(NULL, 0), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_list_move(NULL, 0, 0), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_list_edit_attributes(list, 3, &its), FERRY_ERR_NOT_FOUND, "no element 3");
    check_fails(ferry_list_remove_attributes(list, 1), FERRY_ERR_NOT_FOUND, "element 1 has no attributes");
    check_ok(ferry_list_move(list, 1, 1));
    check_numbers(list, 3);
    ferry_list_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(removing_and_moving),
        cmocka_unit_test(attributes_go_with_their_value),
        cmocka_unit_test(strings),
        cmocka_unit_test(printing),
        cmocka_unit_test(edits_that_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
