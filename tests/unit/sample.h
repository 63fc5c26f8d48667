/* Bundles to try things on: small ones with one of each kind, so that every bit can be tried. */
#ifndef TESTS_UNIT_SAMPLE_H
#define TESTS_UNIT_SAMPLE_H

#include "unit/check.h"

#include "ferry/bundle.h"
#include "ferry/memory.h"

static inline ferry_bundle *fresh(void)
{
    ferry_bundle *b = NULL;

    check_ok(ferry_bundle_new(&b));
    return b;
}

static inline ferry_list *fresh_list(void)
{
    ferry_list *list = NULL;

    check_ok(ferry_list_new(&list));
    return list;
}

/* {"i": 7 @ {"unit": "m", "names": ["a", "b"]}, "s": ["x", "", "y\0z"], "m": 2 x 3 @ {...}, "list": [...], "in": {...}} */
static inline ferry_bundle *sample_of_all(void)
{
    static const char *const texts[] = {"x", "", "y\0z"}, *const names[] = {"a", "bc"};
    static const size_t lengths[] = {1, 0, 3};
    static const double m[6] = {1, 2, 3, 4, 5, 6};
    const int64_t shape[] = {2, 3}, columns[] = {8, 16};
    ferry_bundle *b = fresh(), *in = fresh(), *its = NULL, *deeper = NULL;
    ferry_list *list = fresh_list();

    check_ok(ferry_bundle_set_int32(b, "i", 7));
    check_ok(ferry_bundle_edit_attributes(b, "i", &its));
    check_ok(ferry_bundle_set_string(its, "unit", "m", 1));
    check_ok(ferry_bundle_edit_attributes(its, "unit", &deeper));
    check_ok(ferry_bundle_set_bool(deeper, "si", true));
    check_ok(ferry_bundle_set_strings(its, "names", 2, names, NULL));
    check_ok(ferry_bundle_set_strings(b, "s", 3, texts, lengths));
    check_ok(ferry_bundle_set_array(b, "m", FERRY_TYPE_FLOAT64, 2, shape, columns, m));
    check_ok(ferry_bundle_edit_attributes(b, "m", &its));
    check_ok(ferry_bundle_set_null(its, "@"));
    check_ok(ferry_bundle_set_list(b, "list", list));
    check_ok(ferry_list_append_string(list, "\xc5\xbe", 2));
    check_ok(ferry_list_append_strings(list, 0, NULL, NULL));
    check_ok(ferry_list_append_bytes(list, "\1\2\3", 3));
    check_ok(ferry_list_edit_attributes(list, 1, &its));
    check_ok(ferry_list_append_list(list, fresh_list()));
    check_ok(ferry_bundle_set_bundle(b, "in", in));
    check_ok(ferry_bundle_edit_attributes(b, "in", &its));
    check_ok(ferry_bundle_set_float64(its, "a/b", 0.5));
    check_ok(ferry_bundle_set_complex64(in, "~z", (ferry_complex64){1, -1}));
    return b;
}

/* --- seeds: thirty bundles, each of another kind --- */

/* A value of any type in a bundle under "v", with attributes of its own. */
static inline ferry_bundle *one_of_type(ferry_type type)
{
    static const char *const texts[] = {"\xc5\xbe", ""};
    static const int16_t elements[6] = {1, -2, 3, -4, 5, -6};
    const int64_t shape[] = {1, 2, 3};
    ferry_bundle *b = fresh(), *its = NULL;

    switch (type) {
    case FERRY_TYPE_NULL:
        check_ok(ferry_bundle_set_null(b, "v"));
        break;
    case FERRY_TYPE_STRING:
        check_ok(ferry_bundle_set_string(b, "v", "a\xc3\x9f", 3));
        break;
    case FERRY_TYPE_BYTES:
        check_ok(ferry_bundle_set_bytes(b, "v", "\xff\0\1", 3));
        break;
    case FERRY_TYPE_ARRAY:
        check_ok(ferry_bundle_set_array(b, "v", FERRY_TYPE_INT16, 3, shape, NULL, elements));
        break;
    case FERRY_TYPE_LIST:
        check_ok(ferry_bundle_set_list(b, "v", fresh_list()));
        break;
    case FERRY_TYPE_BUNDLE:
        check_ok(ferry_bundle_set_bundle(b, "v", fresh()));
        break;
    case FERRY_TYPE_STRINGS:
        check_ok(ferry_bundle_set_strings(b, "v", 2, texts, NULL));
        break;
#define SET(name, NAME, c_type)                                                          \
    case FERRY_TYPE_##NAME: {                                                            \
        c_type x;                                                                        \
        memset(&x, FERRY_TYPE_##NAME == FERRY_TYPE_BOOL ? 1 : 0x92, sizeof x);           \
        check_ok(ferry_bundle_set_##name(b, "v", x));                                    \
        break;                                                                           \
    }
        FERRY_SCALAR_LIST(SET)
#undef SET
    }
    check_ok(ferry_bundle_edit_attributes(b, "v", &its));
    check_ok(ferry_bundle_set_int8(its, "u", 1));
    return b;
}

/* Values that stand among the large ones. */
static inline ferry_bundle *large_values(void)
{
    static double m[40] = {1, 2, 3};
    static char text[300];
    const char *const texts[] = {text, "x"};
    const size_t lengths[] = {sizeof text, 1};
    const int64_t shape[] = {4, 10};
    ferry_bundle *const b = fresh();

    memset(text, 'x', sizeof text);
    check_ok(ferry_bundle_set_array(b, "m", FERRY_TYPE_FLOAT64, 2, shape, NULL, m));
    check_ok(ferry_bundle_set_string(b, "t", text, sizeof text));
    check_ok(ferry_bundle_set_strings(b, "s", 2, texts, lengths));
    check_ok(ferry_bundle_set_int8(b, "last", 1));
    return b;
}

/* More keys than are searched one by one; lengths about a multiple of 8. */
static inline ferry_bundle *many_keys(void)
{
    static const char *const keys[] = {"a", "ab", "abcdef", "abcdefg", "abcdefgh", "abcdefghi", "\xc5\xbe", "x"};
    ferry_bundle *const b = fresh();

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        check_ok(ferry_bundle_set_int8(b, keys[i], (int8_t)i));
    return b;
}

static inline ferry_bundle *nested(int levels)
{
    ferry_bundle *b = fresh();

    for (int i = 1; i < levels; i++) {
        ferry_bundle *const outer = fresh();
        check_ok(ferry_bundle_set_bundle(outer, "k", b));
        b = outer;
    }
    return b;
}

/* Attributes of attributes of attributes. */
static inline ferry_bundle *nested_attributes(int levels)
{
    ferry_bundle *const b = fresh(), *its = b;

    for (int i = 0; i < levels; i++) {
        check_ok(ferry_bundle_set_null(its, "k"));
        check_ok(ferry_bundle_edit_attributes(its, "k", &its));
    }
    return b;
}

static inline ferry_bundle *lists_in_lists(void)
{
    ferry_bundle *const b = fresh();
    ferry_list *const outer = fresh_list(), *const inner = fresh_list();

    check_ok(ferry_bundle_set_list(b, "l", outer));
    check_ok(ferry_list_append_list(outer, inner));
    check_ok(ferry_list_append_int64(inner, -1));
    check_ok(ferry_list_append_bundle(inner, many_keys()));
    check_ok(ferry_list_append_bool(outer, false));
    return b;
}

static inline ferry_bundle *empty_values(void)
{
    const int64_t none[] = {0, 5};
    ferry_bundle *const b = fresh();

    check_ok(ferry_bundle_set_string(b, "s", "", 0));
    check_ok(ferry_bundle_set_bytes(b, "b", "", 0));
    check_ok(ferry_bundle_set_strings(b, "t", 0, NULL, NULL));
    check_ok(ferry_bundle_set_array(b, "a", FERRY_TYPE_COMPLEX128, 2, none, NULL, NULL));
    return b;
}

enum { SEED_TYPES = FERRY_TYPE_STRINGS + 1, SEEDS = SEED_TYPES + 10 };

static inline ferry_bundle *seed_bundle(int number)
{
    switch (number - SEED_TYPES) {
    case 0:
        return fresh();
    case 1:
        return sample_of_all();
    case 2:
        return large_values();
    case 3:
        return many_keys();
    case 4:
        return nested(12);
    case 5:
        return nested(FERRY_BUNDLE_MAX_DEPTH);
    case 6:
        return nested_attributes(5);
    case 7:
        return nested_attributes(FERRY_BUNDLE_MAX_DEPTH - 1);
    case 8:
        return lists_in_lists();
    case 9:
        return empty_values();
    default:
        return one_of_type((ferry_type)number);
    }
}

#endif
