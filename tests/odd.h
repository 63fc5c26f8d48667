/* Values that ways to move bundles tend to change: bit patterns of floating point numbers, strings of odd bytes. The
 * calls return what the first failing one returned; both kinds of tests use them. */
#ifndef TESTS_ODD_H
#define TESTS_ODD_H

#include <stdio.h>
#include <string.h>

#include "ferry/bundle.h"

enum { ODD_NUMBERS = 6, ODD_TEXT_BYTES = 140000 };

static const uint64_t odd_doubles[ODD_NUMBERS] = {0x7ff8000000000001, 0x7ff0000000000001, 0xfff8deadbeef0001,
                                                  0x8000000000000000, 0x0000000000000001, 0x7ff0000000000000};
static const uint32_t odd_floats[ODD_NUMBERS] = {0x7fc00001, 0x7f800001, 0xffc0beef,
                                                 0x80000000, 0x00000001, 0x7f800000};

/* Not-a-numbers with a payload, -0, denormals and infinities, alone, in arrays, and in a view of every second one. */
static inline ferry_status odd_add_numbers(ferry_bundle *b)
{
    static uint64_t spread[2 * ODD_NUMBERS];
    const int64_t shape[] = {ODD_NUMBERS}, every_second[] = {16};
    ferry_status st = FERRY_OK;
    char key[24];

    for (int i = 0; i < ODD_NUMBERS && st == FERRY_OK; i++) {
        double d;
        float f;
        memcpy(&d, &odd_doubles[i], sizeof d);
        memcpy(&f, &odd_floats[i], sizeof f);
        snprintf(key, sizeof key, "double %d", i);
        st = ferry_bundle_set_float64(b, key, d);
        snprintf(key, sizeof key, "float %d", i);
        if (st == FERRY_OK)
            st = ferry_bundle_set_float32(b, key, f);
        spread[2 * i] = odd_doubles[i];
    }
    if (st == FERRY_OK)
        st = ferry_bundle_set_array(b, "doubles", FERRY_TYPE_FLOAT64, 1, shape, NULL, odd_doubles);
    if (st == FERRY_OK)
        st = ferry_bundle_set_array(b, "floats", FERRY_TYPE_FLOAT32, 1, shape, NULL, odd_floats);
    if (st == FERRY_OK)
        st = ferry_bundle_borrow_array(b, "view", FERRY_TYPE_FLOAT64, 1, shape, every_second, spread);
    return st;
}

/* 70 000 times a letter of two bytes. */
static inline const char *odd_text(void)
{
    static char text[ODD_TEXT_BYTES];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 ? '\x9f' : '\xc3';
    return text;
}

/* Strings without and with many bytes, with NUL, outside of ASCII, and no UTF-8; some are keys, too. */
static inline ferry_status odd_add_strings(ferry_bundle *b)
{
    static const char *const names[] = {"", "a", "\xc5\xbelu\xc5\xa5ou\xc4\x8dk\xc3\xbd k\xc5\xaf\xc5\x88",
                                        "\xf0\x9d\x84\x9e", "\xff"};
    ferry_status st = FERRY_OK;
    char key[24];

    for (size_t i = 0; i < sizeof names / sizeof names[0] && st == FERRY_OK; i++) {
        snprintf(key, sizeof key, "string %zu", i);
        st = ferry_bundle_set_string(b, key, names[i], strlen(names[i]));
        if (st == FERRY_OK && i > 0 && i < 4)
            st = ferry_bundle_set_null(b, names[i]);
    }
    if (st == FERRY_OK)
        st = ferry_bundle_set_string(b, "nul", "a\0b", 3);
    return st == FERRY_OK ? ferry_bundle_borrow_string(b, "long", odd_text(), ODD_TEXT_BYTES) : st;
}

#endif
