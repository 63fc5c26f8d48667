/* Bundles as JSON and as .npz, and from gretl's XML: bit for bit there and back, text of others, and refusals. */
#include "unit/sample.h"
#include "unit/folder.h"

#include <locale.h>
#include <math.h>
#include <unistd.h>

#include <json-c/json.h>

#include "ferry/convert.h"
#include "ferry/bundle_item.h"

/* --- there and back --- */

static void json_round(const ferry_bundle *b)
{
    ferry_bundle *back = NULL;
    char *text = NULL, difference[200];

    check_ok(ferry_convert_to_json(b, &text));
    check_ok(ferry_convert_from_json(text, strlen(text), &back));
    if (!ferry_bundle_compare(b, back, difference, sizeof difference))
        fail_msg("JSON: %s\n%s", difference, text);
    ferry_bundle_free(back);
    ferry_convert_free(text);
}

static void npz_round(const ferry_bundle *b)
{
    ferry_bundle *back = NULL;
    char difference[200];

    check_ok(ferry_convert_save_npz(b, "round.npz"));
    check_ok(ferry_convert_load_npz("round.npz", &back));
    if (!ferry_bundle_compare(b, back, difference, sizeof difference))
        fail_msg("npz: %s", difference);
    ferry_bundle_free(back);
}

static void round_both(const ferry_bundle *b)
{
    json_round(b);
    npz_round(b);
}

static const uint64_t patterns64[] = {
    0,
    0x8000000000000000, /* -0 */
    1,                  /* the smallest */
    0x7fefffffffffffff, /* the largest */
    0x7ff0000000000000,
    0xfff0000000000000,
    0x7ff8000000000000,
    0x7ff8000000000001,
    0x7ff0000000000001, /* signalling */
    0xfff8deadbeef0001,
    0x3fb999999999999a, /* 0.1 */
    0x4340000000000000,
    0x43e0000000000000, /* 2^63: no integer after the way through text */
    0x0010000000000000,
    0x000fffffffffffff,
};
enum { PATTERNS64 = sizeof patterns64 / sizeof patterns64[0] };

static const uint32_t patterns32[] = {
    0,          0x80000000, 1,          0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
    0x7fc00001, 0x7f800001, 0xffc0beef, 0x3dcccccd, 0x4b800000, 0x00800000, 0x007fffff,
};
enum { PATTERNS32 = sizeof patterns32 / sizeof patterns32[0] };

static void reals(void **state)
{
    ferry_bundle *b = fresh();
    const int64_t all64[] = {PATTERNS64}, all32[] = {PATTERNS32}, pairs32[] = {PATTERNS32 / 2};
    char key[16];
    (void)state;

    for (size_t i = 0; i < PATTERNS64; i++) {
        double value;
        memcpy(&value, &patterns64[i], sizeof value);
        snprintf(key, sizeof key, "d%zu", i);
        check_ok(ferry_bundle_set_float64(b, key, value));
        snprintf(key, sizeof key, "z%zu", i);
        ferry_complex128 z;
        memcpy(&z.re, &patterns64[PATTERNS64 - 1 - i], sizeof z.re);
        memcpy(&z.im, &patterns64[i], sizeof z.im);
        check_ok(ferry_bundle_set_complex128(b, key, z));
    }
    for (size_t i = 0; i < PATTERNS32; i++) {
        float value;
        memcpy(&value, &patterns32[i], sizeof value);
        snprintf(key, sizeof key, "f%zu", i);
        check_ok(ferry_bundle_set_float32(b, key, value));
    }
    check_ok(ferry_bundle_set_array(b, "D", FERRY_TYPE_FLOAT64, 1, all64, NULL, patterns64));
    check_ok(ferry_bundle_set_array(b, "F", FERRY_TYPE_FLOAT32, 1, all32, NULL, patterns32));
    check_ok(ferry_bundle_set_array(b, "C", FERRY_TYPE_COMPLEX64, 1, pairs32, NULL, patterns32));
    round_both(b);
    ferry_bundle_free(b);
}

/* Random bits, each a different double and float. */
static void random_reals(void **state)
{
    enum { COUNT = 20000 };
    const int64_t shape[] = {COUNT};
    ferry_bundle *b = fresh();
    uint64_t *const bits = malloc(COUNT * sizeof *bits);
    (void)state;

    check_seed_from_environment("random_reals");
    for (size_t i = 0; i < COUNT; i++)
        bits[i] = check_random();
    check_ok(ferry_bundle_set_array(b, "d", FERRY_TYPE_FLOAT64, 1, shape, NULL, bits));
    check_ok(ferry_bundle_set_array(b, "f", FERRY_TYPE_FLOAT32, 1, shape, NULL, bits));
    round_both(b);
    free(bits);
    ferry_bundle_free(b);
}

static void integers(void **state)
{
    ferry_bundle *b = fresh();
    (void)state;

#define BOTH(name, type, low, high)                              \
    check_ok(ferry_bundle_set_##name(b, #name "_low", low));     \
    check_ok(ferry_bundle_set_##name(b, #name "_high", high));   \
    check_ok(ferry_bundle_set_##name(b, #name "_one", (type)1));
    BOTH(int8, int8_t, INT8_MIN, INT8_MAX)
    BOTH(int16, int16_t, INT16_MIN, INT16_MAX)
    BOTH(int32, int32_t, INT32_MIN, INT32_MAX)
    BOTH(int64, int64_t, INT64_MIN, INT64_MAX)
    BOTH(uint8, uint8_t, 0, UINT8_MAX)
    BOTH(uint16, uint16_t, 0, UINT16_MAX)
    BOTH(uint32, uint32_t, 0, UINT32_MAX)
    BOTH(uint64, uint64_t, (uint64_t)INT64_MAX + 1, UINT64_MAX)
    BOTH(bool, bool, false, true)
#undef BOTH
    check_ok(ferry_bundle_set_uint64(b, "uint64_middle", INT64_MAX));
    round_both(b);
    ferry_bundle_free(b);
}

/* Arrays of every type, both orders, with strides, without elements. */
static void arrays(void **state)
{
    static const int64_t shapes[][3] = {{2, 3, 4}, {1, 1, 1}, {0, 5, 2}, {5, 0, 1}, {3, 1, 2}};
    unsigned char data[2 * 3 * 4 * 16];
    char key[40];
    (void)state;

    for (int type = FERRY_TYPE_BOOL; type <= FERRY_TYPE_COMPLEX128; type++) {
        const int64_t bytes = (int64_t)ferry_type_bytes((ferry_type)type);
        ferry_bundle *b = fresh();
        for (size_t i = 0; i < sizeof data; i++)
            data[i] = type == FERRY_TYPE_BOOL ? (i * 7 / 3) & 1 : (unsigned char)(0x91 + 13 * i);
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
            for (int dims = 1; dims <= 3; dims++) {
                const int64_t *const n = shapes[s];
                const int64_t columns[] = {bytes, bytes * n[0], bytes * n[0] * n[1]};
                const int64_t apart[] = {bytes, bytes * 2, bytes * 6}; /* overlapping, no order */
                snprintf(key, sizeof key, "row %zu %d", s, dims);
                check_ok(ferry_bundle_set_array(b, key, (ferry_type)type, dims, n, NULL, data));
                snprintf(key, sizeof key, "column %zu %d", s, dims);
                check_ok(ferry_bundle_set_array(b, key, (ferry_type)type, dims, n, columns, data));
                snprintf(key, sizeof key, "borrowed %zu %d", s, dims);
                check_ok(ferry_bundle_borrow_array(b, key, (ferry_type)type, dims, n, apart, data));
            }
        round_both(b);
        ferry_bundle_free(b);
    }
}

static void set_text(ferry_bundle *b, const char *key, const char *text, size_t bytes)
{
    check_ok(ferry_bundle_set_string(b, key, text, bytes));
}

static void strings(void **state)
{
    static const char *const mixed[] = {"a", "", "\xff\xfe", "\xc5\xbe"};
    static const size_t lengths[] = {1, 0, 2, 2};
    static const char *const plain[] = {"one", "", "\xf0\x9f\x9a\xa2 and more", "\"\\/\b\f\n\r\t\x7f"};
    ferry_bundle *b = fresh();
    (void)state;

    set_text(b, "plain", "a", 1);
    set_text(b, "empty", "", 0);
    set_text(b, "NUL inside", "a\0b", 3);
    set_text(b, "utf8", "\xc5\xbelu\xc5\xa5ou\xc4\x8dk\xc3\xbd k\xc5\xaf\xc5\x88", 18);
    set_text(b, "beyond", "\xf0\x9f\x9a\xa2", 4);
    set_text(b, "no utf8", "\xff\x80z", 3);
    set_text(b, "quotes", "\"\\\n\x01\x1f/", 6);
    check_ok(ferry_bundle_set_bytes(b, "bytes", "\0\1\2\xff\0\0", 6));
    check_ok(ferry_bundle_set_bytes(b, "no bytes", "", 0));
    check_ok(ferry_bundle_set_strings(b, "mixed", 4, mixed, lengths));
    check_ok(ferry_bundle_set_strings(b, "texts", 4, plain, NULL));
    check_ok(ferry_bundle_set_strings(b, "no strings", 0, NULL, NULL));
    round_both(b);
    set_text(b, "ends in NUL", "ab\0", 3);
    json_round(b);
    check_fails(ferry_convert_save_npz(b, "x.npz"), FERRY_ERR_TYPE, "ends in NUL: a string that ends");
    assert_int_equal(access("x.npz", F_OK), -1);
    ferry_bundle_free(b);
}

/* Names that formats have other plans for. */
static void keys(void **state)
{
    static const char *const odd[] = {
        "a/b", "~", "~0", "~1", "@", "~2", "[0]", "[x", "~3", "$", "$int8", "$$int8", "$array", "$value",
        "$attributes", "$ref", "$$ref", ".", "..", " ", "x.npy", "\"", "\\", "\n", "\xc5\xbe", "/", "//",
        "[]", "$bundle", "a~b", "~~1",
    };
    ferry_bundle *b = fresh();
    (void)state;

    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        ferry_bundle *child = fresh(), *deep = fresh();
        check_ok(ferry_bundle_set_int64(child, odd[i], (int64_t)i));
        check_ok(ferry_bundle_set_int64(child, "next", 1));
        check_ok(ferry_bundle_set_bundle(deep, odd[i], child));
        check_ok(ferry_bundle_set_bundle(b, odd[i], deep));
    }
    round_both(b);
    ferry_bundle_free(b);
}

static void nesting(void **state)
{
    ferry_bundle *b = fresh(), *child = fresh(), *attributes;
    ferry_list *list = fresh_list(), *inside = fresh_list();
    (void)state;

    check_ok(ferry_list_append_int64(inside, 3));
    check_ok(ferry_list_append_string(inside, "x", 1));
    check_ok(ferry_list_append_list(list, inside));
    check_ok(ferry_list_append_list(list, fresh_list()));
    check_ok(ferry_list_append_bundle(list, fresh()));
    check_ok(ferry_bundle_set_list(child, "list", list));
    check_ok(ferry_bundle_set_bundle(child, "empty", fresh()));
    check_ok(ferry_bundle_set_list(child, "empty list", fresh_list()));
    check_ok(ferry_bundle_set_bundle(b, "child", child));
    check_ok(ferry_bundle_set_float64(b, "x", 1));
    /* attributes of a number, of a list's element, of a bundle, and of an attribute */
    check_ok(ferry_bundle_edit_attributes(b, "x", &attributes));
    check_ok(ferry_bundle_set_string(attributes, "unit", "m", 1));
    check_ok(ferry_bundle_edit_attributes(attributes, "unit", &attributes));
    check_ok(ferry_bundle_set_int8(attributes, "n", 4));
    check_ok(ferry_list_edit_attributes(inside, 1, &attributes));
    check_ok(ferry_bundle_set_bundle(attributes, "nothing", fresh()));
    check_ok(ferry_bundle_edit_attributes(b, "child", &attributes));
    check_ok(ferry_bundle_set_bool(attributes, "checked", true));
    check_ok(ferry_bundle_edit_attributes(child, "empty", &attributes));
    check_ok(ferry_bundle_set_bool(attributes, "really", true));
    round_both(b);
    check_ok(ferry_bundle_set_null(b, "nothing"));
    json_round(b);
    check_fails(ferry_convert_save_npz(b, "x.npz"), FERRY_ERR_TYPE, "nothing: null");
    ferry_bundle_free(b);

    b = fresh();
    round_both(b);
    ferry_bundle_free(b);
}

static void deepest(void **state)
{
    ferry_bundle *b = fresh(), *at = b;
    (void)state;

    for (int depth = 1; depth < FERRY_BUNDLE_MAX_DEPTH; depth++) {
        ferry_bundle *child = fresh();
        check_ok(ferry_bundle_set_bundle(at, "d", child));
        at = child;
    }
    check_ok(ferry_bundle_set_float32(at, "x", 1));
    round_both(b);
    ferry_bundle_free(b);
}

/* A program with decimal commas gets the same text. */
static void other_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "cs_CZ.UTF-8", "fr_FR.UTF-8"};
    ferry_bundle *b = fresh();
    bool found = false;
    (void)state;

    for (size_t i = 0; i < 4 && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found)
        puts("skipped: no locale with decimal commas is installed");
    check_ok(ferry_bundle_set_float64(b, "x", 0.5));
    json_round(b);
    setlocale(LC_ALL, "C");
    ferry_bundle_free(b);
}

/* --- JSON of others --- */

static ferry_status parse(const char *text, ferry_bundle **out)
{
    return ferry_convert_from_json(text, strlen(text), out);
}

static void plain_json(void **state)
{
    static const char text[] =
        "\xef\xbb\xbf { \"i\" : 42, \"m\":-7,\"big\":18446744073709551615, \"r\":1e3, \"z\":-0, \"q\":-0.0,\n"
        "\"s\":\"\\u017e\\ud83d\\udea2\\\"\\\\\\/\\b\\f\\n\\r\\t\", \"t\":true,\"f\":false, \"n\":null,\r\n"
        "\"a\":[1, 2.5,\"x\", [], {}], \"o\":{\"$ref\":\"y\", \"$schema\": 3}}\n";
    ferry_bundle *b = NULL;
    const ferry_bundle *o;
    const ferry_list *a;
    const char *s;
    size_t bytes;
    int64_t i;
    uint64_t u;
    double d;
    bool t;
    (void)state;

    check_ok(parse(text, &b));
    check_ok(ferry_bundle_get_int64(b, "i", &i));
    assert_int_equal(i, 42);
    check_ok(ferry_bundle_get_int64(b, "m", &i));
    assert_int_equal(i, -7);
    check_ok(ferry_bundle_get_uint64(b, "big", &u));
    assert_true(u == UINT64_MAX);
    check_ok(ferry_bundle_get_float64(b, "r", &d));
    assert_true(d == 1000);
    check_ok(ferry_bundle_get_int64(b, "z", &i));
    assert_int_equal(i, 0);
    check_ok(ferry_bundle_get_float64(b, "q", &d));
    assert_true(d == 0 && signbit(d));
    check_ok(ferry_bundle_get_string(b, "s", &s, &bytes));
    assert_int_equal(bytes, 14);
    assert_memory_equal(s, "\xc5\xbe\xf0\x9f\x9a\xa2\"\\/\b\f\n\r\t", bytes);
    check_ok(ferry_bundle_get_bool(b, "t", &t));
    assert_true(t);
    check_ok(ferry_bundle_get_bool(b, "f", &t));
    assert_false(t);
    check_ok(ferry_bundle_get_list(b, "a", &a));
    assert_int_equal(ferry_list_count(a), 5);
    check_ok(ferry_list_get_int64(a, 0, &i));
    check_ok(ferry_list_get_float64(a, 1, &d));
    check_ok(ferry_bundle_get_bundle(b, "o", &o));
    check_ok(ferry_bundle_get_int64(o, "$schema", &i));
    assert_int_equal(i, 3);
    assert_int_equal(ferry_bundle_count(b), 12);
    ferry_bundle_free(b);
}

/* Tools that sort keys may have been at work. */
static void sorted_json(void **state)
{
    ferry_bundle *b = NULL, *want = fresh(), *attributes;
    const int64_t shape[] = {2, 2};
    const float numbers[] = {1, 2, 3, 4.5f};
    const int64_t columns[] = {4, 8};
    (void)state;

    check_ok(parse("{\"m\":{\"$attributes\":{\"unit\":\"}\\\"\"},\"$value\":{\"$array\":\"float32\","
                   "\"data\":[1,2,3,4.5],\"order\":\"column\",\"shape\":[2,2]}}}", &b));
    check_ok(ferry_bundle_set_array(want, "m", FERRY_TYPE_FLOAT32, 2, shape, columns, numbers));
    check_ok(ferry_bundle_edit_attributes(want, "m", &attributes));
    check_ok(ferry_bundle_set_string(attributes, "unit", "}\"", 2));
    assert_true(ferry_bundle_equal(b, want));
    ferry_bundle_free(want);
    ferry_bundle_free(b);
}

/* An independent reader understands what is written, numbers included. */
static void read_by_others(void **state)
{
    ferry_bundle *b = fresh();
    char *text;
    (void)state;

    check_ok(ferry_bundle_set_int64(b, "i", INT64_MIN));
    check_ok(ferry_bundle_set_uint64(b, "u", UINT64_MAX));
    check_ok(ferry_bundle_set_float64(b, "d", 0.1));
    check_ok(ferry_bundle_set_string(b, "s", "a\0\"\x1f\xc5\xbe", 6));
    check_ok(ferry_convert_to_json(b, &text));
    json_object *const root = json_tokener_parse(text);
    assert_non_null(root);
    assert_true(json_object_get_int64(json_object_object_get(root, "i")) == INT64_MIN);
    assert_true(json_object_get_uint64(json_object_object_get(root, "u")) == UINT64_MAX);
    assert_true(json_object_get_double(json_object_object_get(root, "d")) == 0.1);
    json_object *const s = json_object_object_get(root, "s");
    assert_int_equal(json_object_get_string_len(s), 6);
    assert_memory_equal(json_object_get_string(s), "a\0\"\x1f\xc5\xbe", 6);
    json_object_put(root);
    ferry_convert_free(text);
    ferry_bundle_free(b);
}

static void refused_json(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "line 1, byte 0: expected '{'"},
        {"[1]", "line 1, byte 0: expected '{'"},
        {"5", "expected '{'"},
        {"{", "the text ends too early"},
        {"{\"a\":1", "byte 6: the text ends too early"},
        {"{\"a\":1}\n\n x", "line 3, byte 10: more text"},
        {"{\"a\":1,\n \"b\":2, \"a\":3}", "line 2, byte 16: a key for the second time"},
        {"{\"b\":{\"a\":{},\"a\":[]}}", "byte 13: a key for the second time"},
        {"{\"a\":1,}", "byte 7: expected a string"},
        {"{'a':1}", "expected a string"},
        {"{\"a\" 1}", "byte 5: expected ':'"},
        {"{\"a\":[1,]}", "expected a value"},
        {"{\"a\":[1 2]}", "byte 8: expected ',' or ']'"},
        {"{\"a\":1 \"b\":2}", "expected ',' or '}'"},
        {"{\"a\":NaN}", "byte 5: expected a value"},
        {"{\"a\":-Infinity}", "expected a value"},
        {"{\"a\":01}", "expected a value"},
        {"{\"a\":1.}", "expected a value"},
        {"{\"a\":.5}", "expected a value"},
        {"{\"a\":+1}", "expected a value"},
        {"{\"a\":1e}", "expected a value"},
        {"{\"a\":TRUE}", "expected a value"},
        {"{\"a\":/**/1}", "expected a value"},
        {"{\"a\":18446744073709551616}", "byte 5: an integer beyond 64 bits"},
        {"{\"a\":-9223372036854775809}", "an integer beyond 64 bits"},
        {"{\"a\":1e999}", "too large for float64"},
        {"{\"a\":\"\\ud800\"}", "byte 6: half of a surrogate pair"},
        {"{\"a\":\"\\ud800\\u0041\"}", "half of a surrogate pair"},
        {"{\"a\":\"\\udc00\"}", "half of a surrogate pair"},
        {"{\"a\":\"\\u12g4\"}", "four hexadecimal digits"},
        {"{\"a\":\"\\x\"}", "a backslash"},
        {"{\"a\":\"x\ny\"}", "byte 7: a control character"},
        {"{\"a\":\"x", "byte 5: a string without an end"},
        {"{\"\":1}", "an empty key"},
        {"{\"a\\u0000b\":1}", "byte 1: a key with a NUL"},
        {"{\"a\":\"\xff\"}", "byte 6: no UTF-8"},
        {"{\"a\":\"\xc0\x80\"}", "byte 6: no UTF-8"},
        {"{\"a\":\"\xed\xa0\x80\"}", "byte 6: no UTF-8"},
        {"{\"a\":{\"$int8\":128}}", "byte 14: an integer out of the range"},
        {"{\"a\":{\"$uint8\":-1}}", "an integer out of the range"},
        {"{\"a\":{\"$int8\":1.5}}", "no integer"},
        {"{\"a\":{\"$int8\":1,\"b\":2}}", "expected '}' behind the value"},
        {"{\"a\":{\"$float32\":1e39}}", "too large for float32"},
        {"{\"a\":{\"$float32\":\"NaN\"}}", "no float32"},
        {"{\"a\":{\"$float64\":\"nan:7ff0000000000000\"}}", "no float64"},
        {"{\"a\":{\"$complex64\":[1]}}", "the imaginary part"},
        {"{\"a\":{\"$bytes\":\"AAA\"}}", "base64"},
        {"{\"a\":{\"$bytes\":\"AAB=\"}}", "base64"},
        {"{\"a\":{\"$bytes\":7}}", "expected a string"},
        {"{\"a\":{\"$array\":\"text\"}}", "expected a type of elements"},
        {"{\"a\":{\"$array\":\"int8\",\"data\":[1]}}", "an array without \"shape\""},
        {"{\"a\":{\"$array\":\"int8\",\"shape\":[1]}}", "an array without \"data\""},
        {"{\"a\":{\"$array\":\"int8\",\"shape\":[2],\"data\":[1]}}", "1 elements, its shape wants 2"},
        {"{\"a\":{\"$array\":\"int8\",\"shape\":[-1],\"data\":[]}}", "negative"},
        {"{\"a\":{\"$array\":\"int8\",\"shape\":[],\"data\":[1]}}", "expected a value"},
        {"{\"a\":{\"$array\":\"int8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data\":[1]}}", "more than 8"},
        {"{\"a\":{\"$array\":\"int8\",\"shape\":[4294967296,4294967296],\"data\":[1]}}", "wants more than"},
        {"{\"a\":{\"$array\":\"int8\",\"shape\":[1],\"data\":[1],\"data\":[1]}}", "each once"},
        {"{\"a\":{\"$array\":\"int8\",\"shape\":[1],\"order\":\"F\",\"data\":[1]}}", "\"column\""},
        {"{\"a\":{\"$strings\":[1]}}", "expected a string"},
        {"{\"a\":{\"$value\":{\"$value\":1}}}", "right inside"},
        {"{\"a\":{\"$value\":1,\"x\":2}}", "\"$attributes\" behind"},
        {"{\"a\":{\"$attributes\":{}}}", "\"$value\" behind"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ferry_bundle *b = NULL;
        const ferry_status st = parse(cases[i].text, &b);
        if (st != FERRY_ERR_FORMAT || b || !strstr(trouble_text(), cases[i].says))
            fail_msg("%s: status %d, \"%s\" does not say \"%s\"", cases[i].text, st, trouble_text(), cases[i].says);
    }
    ferry_bundle *b = NULL;
    check_fails(ferry_convert_from_json(NULL, 0, &b), FERRY_ERR_ARG, "text is NULL");
    check_fails(ferry_convert_from_json("{}", 2, NULL), FERRY_ERR_ARG, "bundle_out is NULL");
    check_fails(ferry_convert_to_json(NULL, NULL), FERRY_ERR_ARG, "bundle is NULL");
}

/* One level too many, and very many: refused before the stack is in danger. */
static void too_deep(void **state)
{
    static const struct {
        const char *open;
        int levels;
    } cases[] = {{"{\"a\":", 128}, {"{\"a\":", 1000000}, {"[", 128}, {"[", 1000000}, {"{\"$value\":", 1000000}};
    ferry_bundle *b = NULL;
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t step = strlen(cases[i].open);
        char *const text = malloc(5 + step * (size_t)cases[i].levels);
        memcpy(text, "{\"a\":", 5);
        for (int k = 0; k < cases[i].levels; k++)
            memcpy(text + 5 + (size_t)k * step, cases[i].open, step);
        const ferry_status st = ferry_convert_from_json(text, 5 + step * (size_t)cases[i].levels, &b);
        assert_true(st == (strchr(cases[i].open, '$') ? FERRY_ERR_FORMAT : FERRY_ERR_LIMIT));
        assert_null(b);
        free(text);
    }
}

/* Cut after each byte, and each byte changed: an answer, never a crash. */
static void damaged_json(void **state)
{
    static const char whole[] = "{\"a\":{\"$value\":{\"$array\":\"float32\",\"shape\":[2],\"data\":[1,\"nan\"]},"
                                "\"$attributes\":{\"u\":{\"$bytes\":\"AAE=\"}}},\"l\":[null,{\"$strings\":[\"x\"]}]}";
    char text[sizeof whole];
    ferry_bundle *b;
    (void)state;

    for (size_t cut = 0; cut < sizeof whole - 1; cut++) {
        b = NULL;
        assert_true(ferry_convert_from_json(whole, cut, &b) != FERRY_OK);
    }
    for (size_t i = 0; i < sizeof whole - 1; i++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(text, whole, sizeof text);
            text[i] ^= (char)(1 << bit);
            b = NULL;
            ferry_convert_from_json(text, sizeof whole - 1, &b);
            ferry_bundle_free(b);
        }
}

/* --- files --- */

static void write_text(const char *name, const char *text)
{
    FILE *const file = fopen(name, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    fclose(file);
}

static void files(void **state)
{
    ferry_bundle *b = fresh(), *back = NULL;
    (void)state;

    check_ok(ferry_bundle_set_int64(b, "i", 1));
    check_ok(ferry_convert_save_json(b, "x.json"));
    check_ok(ferry_convert_load_json("x.json", &back));
    assert_true(ferry_bundle_equal(b, back));
    write_text("x.json", "{\"i\": 1,\n}");
    check_fails(ferry_convert_load_json("x.json", &back), FERRY_ERR_FORMAT, "x.json: JSON, line 2, byte 9");
    check_fails(ferry_convert_load_json("none", &back), FERRY_ERR_SYSTEM, "none: cannot be opened: No such");
    check_fails(ferry_convert_load_npz("none", &back), FERRY_ERR_SYSTEM, "none: cannot be opened: No such");
    check_fails(ferry_convert_load_gretl("none", &back), FERRY_ERR_SYSTEM, "none: cannot be opened: No such");
    check_fails(ferry_convert_load_npz(".", &back), FERRY_ERR_ARG, "a folder");
    check_fails(ferry_convert_load_npz("x.json", &back), FERRY_ERR_FORMAT, "x.json: Not a zip");
    check_fails(ferry_convert_save_json(b, "none/x"), FERRY_ERR_SYSTEM, "none/x: cannot be written: No such");
    check_fails(ferry_convert_save_npz(b, "none/x"), FERRY_ERR_SYSTEM, "none/x: cannot be written");
    check_fails(ferry_convert_save_npz(b, "."), FERRY_ERR_ARG, "a folder");
    check_fails(ferry_convert_save_npz(b, NULL), FERRY_ERR_ARG, "path is NULL");
    check_fails(ferry_convert_save_json(b, ""), FERRY_ERR_ARG, "path is empty");
    ferry_bundle_free(back);
    ferry_bundle_free(b);
}

/* Each byte of an archive changed in turn. */
static void damaged_npz(void **state)
{
    ferry_bundle *b = fresh(), *out;
    const int64_t shape[] = {3};
    const int16_t numbers[] = {1, 2, 3};
    static char bytes[4096];
    int refused = 0;
    (void)state;

    check_ok(ferry_bundle_set_array(b, "a", FERRY_TYPE_INT16, 1, shape, NULL, numbers));
    check_ok(ferry_bundle_set_string(b, "s", "text", 4));
    check_ok(ferry_convert_save_npz(b, "x.npz"));
    FILE *file = fopen("x.npz", "r");
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_in_range(length, 200, sizeof bytes - 1);
    for (size_t i = 0; i < length; i++) {
        bytes[i] ^= 0x55;
        file = fopen("y.npz", "w");
        assert_int_equal(fwrite(bytes, 1, length, file), length);
        fclose(file);
        bytes[i] ^= 0x55;
        out = NULL;
        refused += ferry_convert_load_npz("y.npz", &out) != FERRY_OK;
        ferry_bundle_free(out);
    }
    assert_true(refused > (int)length / 2);
    ferry_bundle_free(b);
}

/* --- gretl --- */

static void gretl(void **state)
{
    static const char text[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gretl-bundle>\n"
        "<bundled-item key=\"na\" type=\"scalar\" note=\"no value\">NA</bundled-item>\n"
        "<bundled-item key=\"x\" type=\"scalar\">-1.5e-3</bundled-item>\n"
        "<bundled-item key=\"t1\" type=\"int\">7</bundled-item>\n"
        "<bundled-item key=\"s\" type=\"string\">a &lt;b&gt; &amp;\n\xc5\xbe</bundled-item>\n"
        "<bundled-item key=\"m\" type=\"matrix\">\n<gretl-matrix rows=\"2\" cols=\"3\" colnames=\"a b c\""
        " rownames=\"r one r2\">\n1 2 3 \n4 nan -inf \n</gretl-matrix>\n</bundled-item>\n"
        "<bundled-item key=\"c\" type=\"matrix\">\n<gretl-matrix rows=\"1\" cols=\"2\" complex=\"1\">\n"
        "1 2 \n3 4 \n</gretl-matrix>\n</bundled-item>\n"
        "<bundled-item key=\"e\" type=\"matrix\"><gretl-matrix rows=\"0\" cols=\"3\">\n</gretl-matrix></bundled-item>\n"
        "<bundled-item key=\"y\" type=\"series\" size=\"3\">\n1 NA 3 </bundled-item>\n"
        "<bundled-item key=\"L\" type=\"list\"><list>\n2 0 5 </list></bundled-item>\n"
        "<bundled-item key=\"S\" type=\"array\"><gretl-array type=\"strings\" length=\"2\">\n"
        "<string>a b</string>\n<string></string>\n</gretl-array></bundled-item>\n"
        "<bundled-item key=\"B\" type=\"array\"><gretl-array type=\"bundles\" length=\"1\"><gretl-bundle>\n"
        "<bundled-item key=\"z\" type=\"scalar\">9</bundled-item></gretl-bundle></gretl-array></bundled-item>\n"
        "<bundled-item key=\"b\" type=\"bundle\"><gretl-bundle></gretl-bundle></bundled-item>\n"
        "</gretl-bundle>\n";
    /* The same, made by hand. */
    static const char same[] =
        "{\"na\":{\"$value\":{\"$float64\":\"nan\"},\"$attributes\":{\"note\":\"no value\"}},\"x\":-1.5e-3,\"t1\":7,"
        "\"s\":\"a <b> &\\n\\u017e\",\"m\":{\"$value\":{\"$array\":\"float64\",\"shape\":[2,3],\"order\":\"column\","
        "\"data\":[1,4,2,\"nan\",3,\"-inf\"]},\"$attributes\":{\"rownames\":\"r one r2\","
        "\"colnames\":{\"$strings\":[\"a\",\"b\",\"c\"]}}},"
        "\"c\":{\"$array\":\"complex128\",\"shape\":[1,2],\"order\":\"column\",\"data\":[1,3,2,4]},"
        "\"e\":{\"$array\":\"float64\",\"shape\":[0,3],\"order\":\"column\",\"data\":[]},"
        "\"y\":{\"$array\":\"float64\",\"shape\":[3],\"data\":[1,\"nan\",3]},"
        "\"L\":{\"$array\":\"int32\",\"shape\":[2],\"data\":[0,5]},\"S\":{\"$strings\":[\"a b\",\"\"]},"
        "\"B\":[{\"z\":9.0}],\"b\":{}}";
    ferry_bundle *b = NULL, *want = NULL;
    char difference[300];
    (void)state;

    write_text("g.xml", text);
    check_ok(ferry_convert_load_gretl("g.xml", &b));
    check_ok(parse(same, &want));
    if (!ferry_bundle_compare(b, want, difference, sizeof difference))
        fail_msg("%s", difference);
    ferry_bundle_free(want);
    ferry_bundle_free(b);
}

#define ITEM(attributes, inside) \
    "<gretl-bundle>\n<bundled-item " attributes ">" inside "</bundled-item></gretl-bundle>"
#define KX "key=\"x\" type="

static void refused_gretl(void **state)
{
    static const struct {
        const char *text, *says;
        ferry_status status;
    } cases[] = {
        {"", "g.xml: line", FERRY_ERR_FORMAT},
        {"<gretl-bundle>", "g.xml: line 1: ", FERRY_ERR_FORMAT},
        {"<other/>", "expected a <gretl-bundle>", FERRY_ERR_FORMAT},
        {"<!DOCTYPE x [<!ENTITY e SYSTEM \"/etc/passwd\">]><gretl-bundle>&e;</gretl-bundle>", "a document type",
         FERRY_ERR_FORMAT},
        {"<!DOCTYPE x SYSTEM \"none.dtd\"><gretl-bundle/>", "a document type", FERRY_ERR_FORMAT},
        {"<gretl-bundle><x/></gretl-bundle>", "expected a <bundled-item>", FERRY_ERR_FORMAT},
        {ITEM("type=\"scalar\"", "1"), "line 2: a value without a key", FERRY_ERR_FORMAT},
        {ITEM("key=\"x\"", "1"), "has the type \"\"", FERRY_ERR_TYPE},
        {ITEM(KX "\"pointer\"", "1"), "\"x\" has the type \"pointer\"", FERRY_ERR_TYPE},
        {ITEM(KX "\"scalar\"", "one"), "expected 1 numbers, found 0 and \"one\"", FERRY_ERR_FORMAT},
        {ITEM(KX "\"scalar\"", "1 2"), "found 1 and \"2\"", FERRY_ERR_FORMAT},
        {ITEM(KX "\"int\"", "1.5"), "expected an integer", FERRY_ERR_FORMAT},
        {ITEM(KX "\"matrix\"", ""), "expected a <gretl-matrix>", FERRY_ERR_FORMAT},
        {ITEM(KX "\"matrix\"", "<gretl-matrix rows=\"2\" cols=\"2\">1 2 3</gretl-matrix>"), "expected 4 numbers",
         FERRY_ERR_FORMAT},
        {ITEM(KX "\"matrix\"", "<gretl-matrix rows=\"2000000000\" cols=\"2000000000\">1</gretl-matrix>"), "numbers",
         FERRY_ERR_FORMAT},
        {ITEM(KX "\"matrix\"", "<gretl-matrix rows=\"-2\" cols=\"2\">1</gretl-matrix>"), "rows is \"-2\"",
         FERRY_ERR_FORMAT},
        {ITEM(KX "\"series\"", "1"), "size is \"\"", FERRY_ERR_FORMAT},
        {ITEM(KX "\"list\"", "<list>3 1 2</list>"), "so many numbers", FERRY_ERR_FORMAT},
        {ITEM(KX "\"array\"", "<gretl-array type=\"strings\" length=\"2\"><string/></gretl-array>"), "fewer strings",
         FERRY_ERR_FORMAT},
        {ITEM(KX "\"array\"", "<gretl-array type=\"strings\" length=\"0\"><string/></gretl-array>"), "as many",
         FERRY_ERR_FORMAT},
        {ITEM(KX "\"array\"", "<gretl-array type=\"bundles\" length=\"1\"></gretl-array>"), "not as many",
         FERRY_ERR_FORMAT},
        {ITEM(KX "\"array\"", "<gretl-array type=\"bundles\" length=\"1\"><list/></gretl-array>"), "another type",
         FERRY_ERR_FORMAT},
        {ITEM(KX "\"array\"", "<gretl-array type=\"odd\" length=\"1\"><list/></gretl-array>"), "not known",
         FERRY_ERR_TYPE},
        {"<gretl-bundle><bundled-item key=\"x\" type=\"scalar\">1</bundled-item>\n"
         "<bundled-item key=\"x\" type=\"scalar\">1</bundled-item></gretl-bundle>", "line 2: a key for the second",
         FERRY_ERR_FORMAT},
    };
    ferry_bundle *b = NULL;
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write_text("g.xml", cases[i].text);
        const ferry_status st = ferry_convert_load_gretl("g.xml", &b);
        if (st != cases[i].status || b || !strstr(trouble_text(), cases[i].says))
            fail_msg("%s: status %d, \"%s\" does not say \"%s\"", cases[i].text, st, trouble_text(), cases[i].says);
    }
}

/* 129 bundles in each other. */
static void too_deep_gretl(void **state)
{
    FILE *const file = fopen("g.xml", "w");
    ferry_bundle *b = NULL;
    (void)state;

    assert_non_null(file);
    for (int i = 0; i < 129; i++)
        fputs("<gretl-bundle><bundled-item key=\"x\" type=\"bundle\">", file);
    fputs("<gretl-bundle/>", file);
    for (int i = 0; i < 129; i++)
        fputs("</bundled-item></gretl-bundle>", file);
    fclose(file);
    assert_int_equal(ferry_convert_load_gretl("g.xml", &b), FERRY_ERR_LIMIT);
    assert_null(b);
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ALONE(reals),          ALONE(random_reals),  ALONE(integers),     ALONE(arrays),
        ALONE(strings),        ALONE(keys),          ALONE(nesting),      ALONE(deepest),
        ALONE(other_locale),   ALONE(plain_json),    ALONE(sorted_json),  ALONE(read_by_others),
        ALONE(refused_json),   ALONE(too_deep),      ALONE(damaged_json), ALONE(files),
        ALONE(damaged_npz),    ALONE(gretl),         ALONE(refused_gretl), ALONE(too_deep_gretl),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
