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

#endif
