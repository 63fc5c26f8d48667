/* Bundles and lists as containers: every type in and out, keys, strings, nesting, equality, printing. */
#include "unit/sample.h"

#include "bundle/index.h"
#include "bundle/utf8.h"
#include "ferry/bundle.h"

/* --- single values --- */

/* Fill a value of any type with bytes that differ; a bool gets one of its own two. */
static void fill(void *value, size_t bytes, bool is_bool)
{
    unsigned char *const at = value;

    for (size_t i = 0; i < bytes; i++)
        at[i] = is_bool ? 1 : (unsigned char)(0x91 + 13 * i);
}

#define IS_BOOL(NAME) (strcmp(#NAME, "BOOL") == 0)

static void single_values(void **state)
{
    ferry_bundle *b = fresh();
    ferry_list *list = fresh_list();
    size_t place = 0;
    (void)state;

#define IN_AND_OUT(name, NAME, type)                                            \
    {                                                                           \
        type in, out;                                                           \
        ferry_type found;                                                       \
        fill(&in, sizeof in, IS_BOOL(NAME));                                    \
        memset(&out, 0, sizeof out);                                            \
        check_ok(ferry_bundle_set_##name(b, #name, in));                        \
        check_ok(ferry_bundle_get_##name(b, #name, &out));                      \
        assert_memory_equal(&in, &out, sizeof in);                              \
        check_ok(ferry_bundle_type(b, #name, &found));                          \
        assert_int_equal(found, FERRY_TYPE_##NAME);                             \
        assert_int_equal(ferry_type_bytes(found), sizeof(type));                \
        assert_string_equal(ferry_type_name(found), #name);                     \
        assert_string_equal(ferry_bundle_key(b, place), #name);                 \
        memset(&out, 0, sizeof out);                                            \
        check_ok(ferry_list_append_##name(list, in));                           \
        check_ok(ferry_list_get_##name(list, place, &out));                     \
        assert_memory_equal(&in, &out, sizeof in);                              \
        check_ok(ferry_list_type(list, place, &found));                         \
        assert_int_equal(found, FERRY_TYPE_##NAME);                             \
        place++;                                                                \
    }
    FERRY_SCALAR_LIST(IN_AND_OUT)
#undef IN_AND_OUT
    assert_int_equal(ferry_bundle_count(b), place);
    assert_int_equal(ferry_list_count(list), place);
    ferry_bundle_free(b);
    ferry_list_free(list);
}

/* A getter takes its own type and no other one, and says so. */
static void nothing_is_converted(void **state)
{
    ferry_bundle *b = fresh();
    (void)state;

    check_ok(ferry_bundle_set_null(b, "null"));
    check_ok(ferry_bundle_set_string(b, "string", "1", 1));
    check_ok(ferry_bundle_set_bytes(b, "bytes", "1", 1));
#define SET(name, NAME, type)                                                   \
    {                                                                           \
        type in;                                                                \
        fill(&in, sizeof in, IS_BOOL(NAME));                                    \
        check_ok(ferry_bundle_set_##name(b, #name, in));                        \
    }
    FERRY_SCALAR_LIST(SET)
#undef SET
    for (size_t i = 0; i < ferry_bundle_count(b); i++) {
        const char *const key = ferry_bundle_key(b, i);
        char words[80];
#define GET(name, NAME, type)                                                   \
        if (strcmp(key, #name) != 0) {                                          \
            type out;                                                           \
            snprintf(words, sizeof words, "key \"%s\": wanted %s, found %s", key, #name, key); \
            check_fails(ferry_bundle_get_##name(b, key, &out), FERRY_ERR_TYPE, words); \
        }
        FERRY_SCALAR_LIST(GET)
#undef GET
    }
    ferry_bundle_free(b);
}

static void replacing_keeps_the_order(void **state)
{
    ferry_bundle *b = fresh();
    double x = 0;
    (void)state;

    check_ok(ferry_bundle_set_int32(b, "first", 1));
    check_ok(ferry_bundle_set_int32(b, "second", 2));
    check_ok(ferry_bundle_set_float64(b, "first", 1.5));
    assert_int_equal(ferry_bundle_count(b), 2);
    assert_string_equal(ferry_bundle_key(b, 0), "first");
    assert_string_equal(ferry_bundle_key(b, 1), "second");
    assert_null(ferry_bundle_key(b, 2));
    check_ok(ferry_bundle_get_float64(b, "first", &x));
    assert_true(x == 1.5);

    const char *text;
    size_t length;
    check_ok(ferry_bundle_set_string(b, "first", "abc", 3));
    check_ok(ferry_bundle_get_string(b, "first", &text, &length));
    check_ok(ferry_bundle_set_string(b, "first", text + 1, 2)); /* out of the value that is replaced */
    check_ok(ferry_bundle_get_string(b, "first", &text, &length));
    assert_int_equal(length, 2);
    assert_string_equal(text, "bc");
    ferry_bundle_free(b);
}

/* --- floats, bit for bit --- */

static const uint64_t odd_doubles[] = {0x7ff8000000000001, 0x7ff0000000000001, 0xfff8deadbeef0001,
                                       0x8000000000000000, 0x0000000000000001, 0x7ff0000000000000};
static const uint32_t odd_floats[] = {0x7fc00001, 0x7f800001, 0xffc0beef, 0x80000000, 0x00000001, 0x7f800000};
enum { ODD = 6 };

static void floats_keep_their_bits(void **state)
{
    (void)state;
    for (int i = 0; i < ODD; i++) {
        ferry_bundle *b = fresh();
        double d, d_out;
        float f, f_out;
        memcpy(&d, &odd_doubles[i], sizeof d);
        memcpy(&f, &odd_floats[i], sizeof f);
        check_ok(ferry_bundle_set_float64(b, "d", d));
        check_ok(ferry_bundle_set_float32(b, "f", f));
        check_ok(ferry_bundle_get_float64(b, "d", &d_out));
        check_ok(ferry_bundle_get_float32(b, "f", &f_out));
        assert_memory_equal(&d_out, &odd_doubles[i], sizeof d_out);
        assert_memory_equal(&f_out, &odd_floats[i], sizeof f_out);
        ferry_bundle_free(b);
    }
}

/* --- keys --- */

static void keys_that_are_refused(void **state)
{
    static const char *const bad[] = {"\xff", "a\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"};
    ferry_bundle *b = fresh();
    (void)state;

    check_fails(ferry_bundle_set_int8(b, NULL, 1), FERRY_ERR_ARG, "key is NULL");
    check_fails(ferry_bundle_set_int8(b, "", 1), FERRY_ERR_ARG, "key is empty");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        check_fails(ferry_bundle_set_int8(b, bad[i], 1), FERRY_ERR_ARG, "not valid UTF-8");
        check_fails(ferry_bundle_set_string(b, bad[i], "x", 1), FERRY_ERR_ARG, "not valid UTF-8");
    }
    assert_int_equal(ferry_bundle_count(b), 0);
    ferry_bundle_free(b);
}

/* `times` copies of a text. */
static char *repeat(const char *text, size_t times)
{
    const size_t length = strlen(text);
    char *const whole = malloc(length * times + 1);

    assert_non_null(whole);
    for (size_t i = 0; i < times; i++)
        memcpy(whole + i * length, text, length);
    whole[length * times] = '\0';
    return whole;
}

static void keys_that_are_allowed(void **state)
{
    char *const sharp = repeat("\xc3\x9f", 70000);
    const char *const keys[] = {"a", " ", "\n", "a/b", "žluťoučký kůň", "\xf0\x9d\x84\x9e", sharp};
    ferry_bundle *b = fresh();
    int32_t value;
    (void)state;

    for (int32_t i = 0; i < 7; i++)
        check_ok(ferry_bundle_set_int32(b, keys[i], i));
    for (int32_t i = 0; i < 7; i++) {
        assert_string_equal(ferry_bundle_key(b, (size_t)i), keys[i]);
        check_ok(ferry_bundle_get_int32(b, keys[i], &value));
        assert_int_equal(value, i);
    }
    ferry_bundle_free(b);
    free(sharp);
}

static void number_key(char key[24], int64_t i)
{
    snprintf(key, 24, "key %lld", (long long)i);
}

/* Keys and misses, on average at most three looks each, at every size. */
static void keys_are_found_quickly(void **state)
{
    enum { KEYS = 3000 };
    ferry_bundle *b = fresh();
    char key[24];
    (void)state;

    for (int64_t i = 0; i < KEYS; i++) {
        number_key(key, i);
        check_ok(ferry_bundle_set_int64(b, key, i));
        if (i % 97 != 0 && i > 20)
            continue;
        size_t probes = 0;
        for (int64_t k = 0; k <= i; k++) {
            number_key(key, k);
            assert_int_equal(index_find((tree *)b, key, index_hash(key, strlen(key)), &probes), k);
        }
        assert_in_range(probes, 0, 3 * (uint64_t)(i + 1));
    }
    ferry_bundle_free(b);
}

static void removing(void **state)
{
    enum { KEYS = 300 };
    ferry_bundle *b = fresh();
    char key[24];
    int64_t value;
    (void)state;

    for (int64_t i = 0; i < KEYS; i++) {
        number_key(key, i);
        check_ok(ferry_bundle_set_int64(b, key, i));
    }
    for (int64_t i = 0; i < KEYS; i += 3) {
        number_key(key, i);
        check_ok(ferry_bundle_remove(b, key));
        check_fails(ferry_bundle_remove(b, key), FERRY_ERR_NOT_FOUND, key);
    }
    assert_int_equal(ferry_bundle_count(b), KEYS - KEYS / 3);
    for (int64_t i = 0, place = 0; i < KEYS; i++) {
        number_key(key, i);
        assert_int_equal(ferry_bundle_get_int64(b, key, &value), i % 3 ? FERRY_OK : FERRY_ERR_NOT_FOUND);
        if (i % 3 == 0)
            continue;
        assert_int_equal(value, i);
        assert_string_equal(ferry_bundle_key(b, (size_t)place++), key);
    }
    number_key(key, 0);
    check_ok(ferry_bundle_set_int64(b, key, 7));
    assert_string_equal(ferry_bundle_key(b, ferry_bundle_count(b) - 1), key);
    ferry_bundle_free(b);
}

/* --- strings --- */

static void check_string(const char *bytes, size_t length, int is_utf8)
{
    ferry_bundle *b = fresh();
    const char *out;
    size_t out_length;
    int utf8;

    for (int borrow = 0; borrow < 2; borrow++) {
        check_ok((borrow ? ferry_bundle_borrow_string : ferry_bundle_set_string)(b, "s", bytes, length));
        check_ok(ferry_bundle_get_string(b, "s", &out, &out_length));
        assert_int_equal(out_length, length);
        assert_memory_equal(out, bytes, length);
        assert_true((out == bytes) == borrow);
        check_ok(ferry_bundle_get_utf8(b, "s", &utf8));
        assert_int_equal(utf8, is_utf8);
    }
    ferry_bundle_free(b);
}

static void strings(void **state)
{
    char *const sharp = repeat("\xc3\x9f", 70000);
    (void)state;

    check_string("", 0, 1);
    check_string("a", 1, 1);
    check_string("a\0b", 3, 1);
    check_string("žluťoučký kůň", strlen("žluťoučký kůň"), 1);
    check_string("\xf0\x9d\x84\x9e", 4, 1);
    check_string("\xff", 1, 0);
    check_string(sharp, 140000, 1);
    check_string(sharp, 139999, 0);
    free(sharp);
}

static void utf8(void **state)
{
    static const struct {
        const char *text;
        bool valid;
    } cases[] = {
        {"", true}, {"\x7f", true}, {"\xc2\x80", true}, {"\xdf\xbf", true}, {"\xe0\xa0\x80", true},
        {"\xed\x9f\xbf", true},
        {"\xee\x80\x80", true}, {"\xef\xbf\xbf", true}, {"\xf0\x90\x80\x80", true}, {"\xf4\x8f\xbf\xbf", true},
        {"\x80", false}, {"\xbf", false}, {"\xc0\x80", false}, {"\xc1\xbf", false}, {"\xe0\x9f\xbf", false},
        {"\xed\xa0\x80", false}, {"\xf0\x8f\xbf\xbf", false}, {"\xf4\x90\x80\x80", false}, {"\xf5\x80\x80\x80", false},
        {"\xfe", false}, {"\xc2", false}, {"\xe1\x80", false}, {"\xf1\x80\x80", false}, {"\xc2\x41", false},
        {"\xe1\x80\x41", false}, {"\xf1\x80\x80\xc0", false},
    };
    char text[64];
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t before = 0; before < 20; before++) { /* wherever it lies among words of eight */
            const size_t length = before + strlen(cases[i].text);
            memset(text, 'x', sizeof text);
            memcpy(text + before, cases[i].text, strlen(cases[i].text));
            assert_int_equal(utf8_valid(text, length), cases[i].valid);
        }
}

/* --- trees --- */

static void nesting(void **state)
{
    ferry_bundle *b = fresh(), *child = fresh();
    ferry_list *list = fresh_list();
    const ferry_bundle *read_child;
    const ferry_list *read_list;
    ferry_bundle *edited;
    int8_t value;
    (void)state;

    check_ok(ferry_bundle_set_bundle(b, "child", child));
    check_ok(ferry_bundle_set_int8(child, "late", 4)); /* the pointer stays good */
    check_ok(ferry_bundle_set_list(b, "list", list));
    check_ok(ferry_list_append_null(list));
    check_ok(ferry_bundle_get_bundle(b, "child", &read_child));
    assert_ptr_equal(read_child, child);
    check_ok(ferry_bundle_get_int8(read_child, "late", &value));
    assert_int_equal(value, 4);
    check_ok(ferry_bundle_get_list(b, "list", &read_list));
    assert_int_equal(ferry_list_count(read_list), 1);
    check_ok(ferry_bundle_edit_bundle(b, "child", &edited));
    assert_ptr_equal(edited, child);
    check_fails(ferry_bundle_get_list(b, "child", &read_list), FERRY_ERR_TYPE, "wanted list, found bundle");
    check_fails(ferry_list_get_int8(list, 0, &value), FERRY_ERR_TYPE, "element 0: wanted int8, found null");
    check_fails(ferry_list_get_int8(list, 1, &value), FERRY_ERR_NOT_FOUND, "no element 1 among 1");

    check_fails(ferry_bundle_set_bundle(b, "again", child), FERRY_ERR_ARG, "part of another");
    check_fails(ferry_bundle_set_bundle(child, "me", b), FERRY_ERR_ARG, "root");
    check_fails(ferry_bundle_set_bundle(b, "me", b), FERRY_ERR_ARG, "root");
    check_fails(ferry_list_append_bundle(list, b), FERRY_ERR_ARG, "root");
    check_fails(ferry_bundle_set_list(b, "none", NULL), FERRY_ERR_ARG, "child is NULL");
    ferry_bundle_free(child); /* part of b: not freed by itself */
    check_ok(ferry_bundle_get_int8(child, "late", &value));
    check_ok(ferry_bundle_set_null(b, "child")); /* frees it */
    ferry_bundle_free(b);
}

/* A bundle with `depth` levels, bundles and lists in turn. */
static ferry_bundle *deep(int depth)
{
    ferry_bundle *inner = fresh();
    int levels = depth % 2 ? 1 : 2;

    if (levels == 2)
        check_ok(ferry_bundle_set_list(inner, "empty", fresh_list()));
    for (; levels < depth; levels += 2) {
        ferry_bundle *const outer = fresh();
        ferry_list *const list = fresh_list();
        check_ok(ferry_list_append_bundle(list, inner));
        check_ok(ferry_bundle_set_list(outer, "list", list));
        inner = outer;
    }
    return inner;
}

static void depth_has_a_limit(void **state)
{
    ferry_bundle *b = fresh(), *most = deep(FERRY_BUNDLE_MAX_DEPTH), *less = deep(FERRY_BUNDLE_MAX_DEPTH - 1);
    (void)state;

    check_fails(ferry_bundle_set_bundle(b, "most", most), FERRY_ERR_LIMIT, "129 deep, expected at most 128");
    check_ok(ferry_bundle_set_bundle(b, "less", less));
    ferry_bundle *const outer = fresh();
    check_fails(ferry_bundle_set_bundle(outer, "b", b), FERRY_ERR_LIMIT, "129 deep");
    check_ok(ferry_bundle_remove(b, "less"));
    check_ok(ferry_bundle_set_bundle(outer, "b", b)); /* what is gone does not count */
    ferry_bundle_free(outer);
    ferry_bundle_free(most);
}

/* --- equality, copies, text --- */

static void equality(void **state)
{
    static const uint64_t pairs[][2] = {{0x7ff8000000000001, 0x7ff8000000000002}, {0, 0x8000000000000000}};
    const int64_t shape[] = {2, 3}, turned[] = {3, 2}, columns[] = {8, 16};
    const double x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {1, 2, 3, 4, 5, -6};
    ferry_bundle *a = fresh(), *b = fresh();
    (void)state;

    assert_int_equal(ferry_bundle_equal(NULL, NULL), 1);
    assert_int_equal(ferry_bundle_equal(a, NULL), 0);
    assert_int_equal(ferry_bundle_equal(NULL, a), 0);
    assert_int_equal(ferry_bundle_equal(a, b), 1);
    for (size_t i = 0; i < 2; i++) {
        double first, second;
        memcpy(&first, &pairs[i][0], sizeof first);
        memcpy(&second, &pairs[i][1], sizeof second);
        check_ok(ferry_bundle_set_float64(a, "x", first));
        check_ok(ferry_bundle_set_float64(b, "x", second));
        assert_int_equal(ferry_bundle_equal(a, b), 0);
        check_ok(ferry_bundle_set_float64(b, "x", first));
        assert_int_equal(ferry_bundle_equal(a, b), 1);
    }
#define DIFFER(left, right)                                                     \
    check_ok(left);                                                             \
    check_ok(right);                                                            \
    assert_int_equal(ferry_bundle_equal(a, b), 0);
#define SAME(left, right)                                                       \
    check_ok(left);                                                             \
    check_ok(right);                                                            \
    assert_int_equal(ferry_bundle_equal(a, b), 1);
    DIFFER(ferry_bundle_set_int32(a, "x", 1), ferry_bundle_set_int64(b, "x", 1))
    DIFFER(ferry_bundle_set_string(a, "x", "ab", 2), ferry_bundle_set_string(b, "x", "ac", 2))
    DIFFER(ferry_bundle_set_string(a, "x", "a", 1), ferry_bundle_set_string(b, "x", "a\0", 2))
    DIFFER(ferry_bundle_set_string(a, "x", "a", 1), ferry_bundle_set_bytes(b, "x", "a", 1))
    SAME(ferry_bundle_set_string(a, "x", "a", 1), ferry_bundle_borrow_string(b, "x", "a", 1))
    DIFFER(ferry_bundle_set_array(a, "x", FERRY_TYPE_FLOAT64, 2, shape, NULL, x),
           ferry_bundle_set_array(b, "x", FERRY_TYPE_FLOAT64, 2, shape, NULL, y))
    DIFFER(ferry_bundle_set_array(a, "x", FERRY_TYPE_FLOAT64, 2, shape, NULL, x),
           ferry_bundle_set_array(b, "x", FERRY_TYPE_FLOAT64, 2, turned, NULL, x))
    DIFFER(ferry_bundle_set_array(a, "x", FERRY_TYPE_FLOAT64, 2, shape, NULL, x),
           ferry_bundle_set_array(b, "x", FERRY_TYPE_INT64, 2, shape, NULL, x))
    DIFFER(ferry_bundle_set_array(a, "x", FERRY_TYPE_FLOAT64, 2, shape, NULL, x),
           ferry_bundle_set_array(b, "x", FERRY_TYPE_FLOAT64, 2, shape, columns, x))
    SAME(ferry_bundle_borrow_array(a, "x", FERRY_TYPE_FLOAT64, 2, shape, columns, x),
         ferry_bundle_set_array(b, "x", FERRY_TYPE_FLOAT64, 2, shape, columns, x))
    SAME(ferry_bundle_set_null(a, "y"), ferry_bundle_set_null(b, "y"))
    DIFFER(ferry_bundle_set_null(a, "p"), ferry_bundle_set_null(b, "q"))
    DIFFER(ferry_bundle_set_null(a, "q"), ferry_bundle_set_null(b, "p")) /* the same keys in another order */
#undef SAME
#undef DIFFER
    ferry_bundle_free(a);
    ferry_bundle_free(b);
}

static void copies(void **state)
{
    const int64_t shape[] = {3, 2}, every_second[] = {16, 48};
    double wide[12];
    ferry_bundle *b = fresh(), *child = fresh(), *copy = NULL;
    ferry_array array;
    (void)state;

    for (int i = 0; i < 12; i++)
        wide[i] = i;
    check_ok(ferry_bundle_borrow_array(b, "view", FERRY_TYPE_FLOAT64, 2, shape, every_second, wide));
    check_ok(ferry_bundle_set_bundle(b, "child", child));
    check_ok(ferry_bundle_set_string(child, "s", "text", 4));
    check_ok(ferry_bundle_copy(b, &copy));
    assert_int_equal(ferry_bundle_equal(b, copy), 1);
    wide[4] = -1;
    assert_int_equal(ferry_bundle_equal(b, copy), 0);
    ferry_bundle_free(b);
    check_ok(ferry_bundle_get_array(copy, "view", FERRY_TYPE_FLOAT64, &array));
    assert_true(((const double *)array.data)[2] == 4);
    ferry_bundle_free(copy);
}

static void printing(void **state)
{
    const int64_t shape[] = {2, 4}, none[] = {0, 5};
    const int16_t data[8] = {1, 2, 3, 4, 5, 6, 7, -8};
    static const char expected[] = "bundle of 8\n"
                                   "  \"n\": null \n"
                                   "  \"t\": bool true\n"
                                   "  \"i\": int64 -5\n"
                                   "  \"z\": complex128 0.5-1i\n"
                                   "  \"a \\\"b\\\"\": string \"x\\x0a\"\n"
                                   "  \"m\": int16 [2 x 4]: 1 2 3 4 5 6 ...\n"
                                   "  \"e\": float32 [0 x 5]\n"
                                   "  \"l\": list of 2\n"
                                   "    0: uint8 255\n"
                                   "    1: bundle of 0\n";
    ferry_bundle *b = fresh();
    ferry_list *list = fresh_list();
    char text[1000], cut[20];
    (void)state;

    check_ok(ferry_bundle_set_null(b, "n"));
    check_ok(ferry_bundle_set_bool(b, "t", true));
    check_ok(ferry_bundle_set_int64(b, "i", -5));
    check_ok(ferry_bundle_set_complex128(b, "z", (ferry_complex128){0.5, -1}));
    check_ok(ferry_bundle_set_string(b, "a \"b\"", "x\n", 2));
    check_ok(ferry_bundle_set_array(b, "m", FERRY_TYPE_INT16, 2, shape, NULL, data));
    check_ok(ferry_bundle_set_array(b, "e", FERRY_TYPE_FLOAT32, 2, none, NULL, NULL));
    check_ok(ferry_bundle_set_list(b, "l", list));
    check_ok(ferry_list_append_uint8(list, 255));
    check_ok(ferry_list_append_bundle(list, fresh()));
    assert_int_equal(ferry_bundle_print(b, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
    assert_int_equal(ferry_bundle_print(b, cut, sizeof cut), strlen(expected));
    assert_memory_equal(cut, expected, sizeof cut - 1);
    assert_int_equal(cut[sizeof cut - 1], 0);
    assert_int_equal(ferry_bundle_print(b, NULL, 0), strlen(expected));
    ferry_bundle_print(NULL, text, sizeof text);
    assert_string_equal(text, "none");
    ferry_bundle_free(b);
}

static void nulls(void **state)
{
    ferry_bundle *b = fresh();
    ferry_list *list = fresh_list();
    const char *text;
    const void *data;
    size_t length;
    ferry_type type;
    int8_t value = 0;
    (void)state;

    check_fails(ferry_bundle_new(NULL), FERRY_ERR_ARG, "bundle_out is NULL");
    check_fails(ferry_list_new(NULL), FERRY_ERR_ARG, "list_out is NULL");
    check_fails(ferry_bundle_set_int8(NULL, "k", 1), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_list_append_int8(NULL, 1), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_bundle_set_string(b, "k", NULL, 1), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_bundle_borrow_bytes(b, "k", NULL, 1), FERRY_ERR_ARG, "NULL");
    check_ok(ferry_bundle_set_string(b, "s", NULL, 0));
    check_ok(ferry_bundle_borrow_bytes(b, "b", NULL, 0));
    check_ok(ferry_bundle_get_bytes(b, "b", &data, &length));
    assert_non_null(data);
    check_fails(ferry_bundle_get_int8(NULL, "k", &value), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_bundle_get_int8(b, NULL, &value), FERRY_ERR_ARG, "key is NULL");
    check_fails(ferry_bundle_get_int8(b, "s", NULL), FERRY_ERR_ARG, "output is NULL");
    check_fails(ferry_bundle_get_string(b, "s", NULL, &length), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_bundle_get_string(b, "s", &text, NULL), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_bundle_type(b, "s", NULL), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_list_type(NULL, 0, &type), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_bundle_remove(NULL, "k"), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_bundle_remove(b, NULL), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_bundle_copy(NULL, &b), FERRY_ERR_ARG, "NULL");
    check_fails(ferry_bundle_copy(b, NULL), FERRY_ERR_ARG, "NULL");
    assert_int_equal(ferry_bundle_count(NULL) + ferry_list_count(NULL), 0);
    assert_null(ferry_bundle_key(NULL, 0));
    assert_string_equal(ferry_type_name((ferry_type)77), "unknown");
    assert_int_equal(ferry_type_bytes((ferry_type)-3), 0);
    ferry_bundle_free(NULL);
    ferry_list_free(NULL);
    ferry_bundle_free(b);
    ferry_list_free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_values),
        cmocka_unit_test(nothing_is_converted),
        cmocka_unit_test(replacing_keeps_the_order),
        cmocka_unit_test(floats_keep_their_bits),
        cmocka_unit_test(keys_that_are_refused),
        cmocka_unit_test(keys_that_are_allowed),
        cmocka_unit_test(keys_are_found_quickly),
        cmocka_unit_test(removing),
        cmocka_unit_test(strings),
        cmocka_unit_test(utf8),
        cmocka_unit_test(nesting),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(equality),
        cmocka_unit_test(copies),
        cmocka_unit_test(printing),
        cmocka_unit_test(nulls),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
