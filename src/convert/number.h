/* Single numbers as JSON has them, or nearly. Every bit is kept both ways. The C locale is in use
 * (see number_begin()). */
#ifndef CONVERT_NUMBER_H
#define CONVERT_NUMBER_H

#include <locale.h>

#include "convert/buffer.h"
#include "ferry/bundle.h"

/* A program may have a locale with decimal commas: readers and writers run in the C locale, each in
 * its thread only. */
typedef struct number_locale {
    locale_t c, before;
} number_locale;

number_locale number_begin(void);
void number_end(number_locale locale);

/* Write an element of any type from bool to complex128; complex numbers as "re, im". What JSON has
 * not (NaN, infinities) becomes a string. */
void number_write(buffer *t, ferry_type type, const void *bits);

/* What numbers of each type are read as. */
typedef enum number_kind { NUMBER_INTEGER, NUMBER_REAL32, NUMBER_REAL64 } number_kind;

/* The kind of a type that is no bool, and how many numbers make one value: 1 or 2. */
number_kind number_kind_of(ferry_type type, int *parts_out);

/* Read the word [begin, end), a JSON number, as one of a type, or as a part of a complex one. NULL,
 * or what is wrong with it. */
const char *number_read(const char *begin, const char *end, ferry_type type, void *bits_out);

/* Read "nan", "inf", "-inf" or "nan:" and the bits of a NaN in hexadecimal; likewise. */
const char *number_read_special(const char *word, size_t bytes, ferry_type type, void *bits_out);

#endif
