/* Numbers in and out. Reals are printed with as few digits as read back to the same bits. */
#define _GNU_SOURCE
#include "convert/number.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_ROOM = 400 }; /* digits of a number that are looked at */

number_locale number_begin(void)
{
    number_locale locale = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};

    /* Without memory for it the locale stays; uselocale() of 0 only asks. */
    locale.before = uselocale(locale.c);
    return locale;
}

void number_end(number_locale locale)
{
    if (!locale.c)
        return;
    uselocale(locale.before);
    freelocale(locale.c);
}

/* --- writing --- */

/* The bits of the NaN that arithmetic gives where nothing else was asked for. */
#define USUAL_NAN64 UINT64_C(0x7ff8000000000000)
#define USUAL_NAN32 UINT32_C(0x7fc00000)

/* JSON's reals have a point or an exponent; a word of digits alone is an integer. */
static void write_real_word(buffer *t, const char *word)
{
    buffer_word(t, word);
    if (!strpbrk(word, ".e"))
        buffer_word(t, ".0");
}

/* Not-a-numbers and infinities; false for all others. `usual` tells that a not-a-number has the
 * usual bits, else `digits` of them are written. */
static bool write_special(buffer *t, double value, bool usual, uint64_t pattern, int digits)
{
    if (isnan(value) && !usual)
        buffer_format(t, "\"nan:%0*" PRIx64 "\"", digits, pattern);
    else if (isnan(value))
        buffer_word(t, "\"nan\"");
    else if (isinf(value))
        buffer_word(t, value > 0 ? "\"inf\"" : "\"-inf\"");
    return isnan(value) || isinf(value);
}

static void write_float64(buffer *t, const void *bits)
{
    uint64_t pattern;
    double value;
    char word[40];

    memcpy(&value, bits, sizeof value);
    memcpy(&pattern, bits, sizeof pattern);
    if (write_special(t, value, pattern == USUAL_NAN64, pattern, 16))
        return;
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(word, sizeof word, "%.*g", digits, value);
        if (strtod(word, NULL) == value)
            break;
    }
    write_real_word(t, word);
}

static void write_float32(buffer *t, const void *bits)
{
    uint32_t pattern;
    float value;
    char word[40];

    memcpy(&value, bits, sizeof value);
    memcpy(&pattern, bits, sizeof pattern);
    if (write_special(t, (double)value, pattern == USUAL_NAN32, pattern, 8))
        return;
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(word, sizeof word, "%.*g", digits, (double)value);
        if (strtof(word, NULL) == value)
            break;
    }
    write_real_word(t, word);
}

static void write_pair(buffer *t, const void *bits, size_t part,
                       void (*write)(buffer *t, const void *bits))
{
    write(t, bits);
    buffer_word(t, ", ");
    write(t, (const char *)bits + part);
}

void number_write(buffer *t, ferry_type type, const void *bits)
{
    switch (type) {
#define INTEGER(NAME, ctype, form)                                                                 \
  case FERRY_TYPE_##NAME: {                                                                        \
    ctype value;                                                                                   \
    memcpy(&value, bits, sizeof value);                                                            \
    buffer_format(t, "%" form, value);                                                             \
    break;                                                                                         \
  }
        INTEGER(INT8, int8_t, PRId8)
        INTEGER(INT16, int16_t, PRId16)
        INTEGER(INT32, int32_t, PRId32)
        INTEGER(INT64, int64_t, PRId64)
        INTEGER(UINT8, uint8_t, PRIu8)
        INTEGER(UINT16, uint16_t, PRIu16)
        INTEGER(UINT32, uint32_t, PRIu32)
        INTEGER(UINT64, uint64_t, PRIu64)
#undef INTEGER
    case FERRY_TYPE_BOOL:
        buffer_word(t, *(const unsigned char *)bits ? "true" : "false");
        break;
    case FERRY_TYPE_FLOAT32:
        write_float32(t, bits);
        break;
    case FERRY_TYPE_FLOAT64:
        write_float64(t, bits);
        break;
    case FERRY_TYPE_COMPLEX64:
        write_pair(t, bits, sizeof(float), write_float32);
        break;
    case FERRY_TYPE_COMPLEX128:
        write_pair(t, bits, sizeof(double), write_float64);
        break;
    default:
        break;
    }
}

/* --- reading --- */

number_kind number_kind_of(ferry_type type, int *parts_out)
{
    const bool single = type == FERRY_TYPE_FLOAT32 || type == FERRY_TYPE_COMPLEX64;

    *parts_out = type == FERRY_TYPE_COMPLEX64 || type == FERRY_TYPE_COMPLEX128 ? 2 : 1;
    if (type < FERRY_TYPE_FLOAT32)
        return NUMBER_INTEGER;
    return single ? NUMBER_REAL32 : NUMBER_REAL64;
}

static const char *read_real32(const char *word, void *bits_out)
{
    errno = 0;
    const float value = strtof(word, NULL);
    if (errno == ERANGE && isinf(value))
        return "a number too large for float32";
    memcpy(bits_out, &value, sizeof value);
    return NULL;
}

static const char *read_real64(const char *word, void *bits_out)
{
    errno = 0;
    const double value = strtod(word, NULL);
    if (errno == ERANGE && isinf(value))
        return "a number too large for float64";
    memcpy(bits_out, &value, sizeof value);
    return NULL;
}

static const char *read_integer(const char *word, ferry_type type, void *bits_out)
{
    const size_t bytes = ferry_type_bytes(type);
    const bool is_signed = type <= FERRY_TYPE_INT64, negative = *word == '-';
    const int bits = 8 * (int)bytes;
    uint64_t most = UINT64_MAX >> (64 - bits); /* of the size */

    if (strpbrk(word, ".eE"))
        return "a number that is no integer";
    errno = 0;
    const uint64_t size = strtoull(word + negative, NULL, 10);
    if (is_signed)
        most = (most >> 1) + negative;
    else if (negative)
        most = 0;
    if (errno == ERANGE || size > most)
        return "an integer out of the range of its type";
    const uint64_t value = negative ? -size : size;
    memcpy(bits_out, &value, bytes); /* little-endian: the low bytes come first */
    return NULL;
}

const char *number_read(const char *begin, const char *end, ferry_type type, void *bits_out)
{
    char word[WORD_ROOM];
    const size_t bytes = (size_t)(end - begin);
    int parts;

    if (bytes >= sizeof word)
        return "a number of too many digits";
    memcpy(word, begin, bytes);
    word[bytes] = '\0';
    switch (number_kind_of(type, &parts)) {
    case NUMBER_INTEGER:
        return read_integer(word, type, bits_out);
    case NUMBER_REAL32:
        return read_real32(word, bits_out);
    default:
        return read_real64(word, bits_out);
    }
}

static bool is_word(const char *word, size_t bytes, const char *wanted)
{
    return bytes == strlen(wanted) && memcmp(word, wanted, bytes) == 0;
}

/* The bits behind "nan:". */
static bool read_bits(const char *word, size_t bytes, size_t digits, uint64_t *bits_out)
{
    uint64_t bits = 0;

    if (bytes != 4 + digits || memcmp(word, "nan:", 4) != 0)
        return false;
    for (size_t i = 4; i < bytes; i++) {
        static const char hex[] = "0123456789abcdef";
        const char *const digit = memchr(hex, word[i], sizeof hex - 1);
        if (!digit)
            return false;
        bits = bits << 4 | (uint64_t)(digit - hex);
    }
    *bits_out = bits;
    return true;
}

static const char *read_special32(const char *word, size_t bytes, void *bits_out)
{
    uint64_t wide = 0;
    uint32_t bits = USUAL_NAN32;

    if (is_word(word, bytes, "inf"))
        bits = UINT32_C(0x7f800000);
    else if (is_word(word, bytes, "-inf"))
        bits = UINT32_C(0xff800000);
    else if (read_bits(word, bytes, 8, &wide) && (wide & 0x7fffffff) > 0x7f800000)
        bits = (uint32_t)wide;
    else if (!is_word(word, bytes, "nan"))
        return "a string that is no float32, expected \"nan\", \"inf\", \"-inf\" or \"nan:\" and 8 "
               "hexadecimal digits";
    memcpy(bits_out, &bits, sizeof bits);
    return NULL;
}

const char *number_read_special(const char *word, size_t bytes, ferry_type type, void *bits_out)
{
    int parts;
    uint64_t wide = 0, bits = USUAL_NAN64;
    const number_kind kind = number_kind_of(type, &parts);

    if (kind == NUMBER_INTEGER)
        return "a string, expected an integer";
    if (kind == NUMBER_REAL32)
        return read_special32(word, bytes, bits_out);
    if (is_word(word, bytes, "inf"))
        bits = UINT64_C(0x7ff0000000000000);
    else if (is_word(word, bytes, "-inf"))
        bits = UINT64_C(0xfff0000000000000);
    else if (read_bits(word, bytes, 16, &wide) && (wide & INT64_MAX) > UINT64_C(0x7ff0000000000000))
        bits = wide;
    else if (!is_word(word, bytes, "nan"))
        return "a string that is no float64, expected \"nan\", \"inf\", \"-inf\" or \"nan:\" and "
               "16 "
               "hexadecimal digits";
    memcpy(bits_out, &bits, sizeof bits);
    return NULL;
}
