/* Headers of .npy files. A file is: magic, version, length of a text, the text: a Python dictionary
 * with exactly the keys 'descr', 'fortran_order' and 'shape', in any order, with any white space.
 * Then the data. Nothing of a file is trusted. Knows nothing of files, of bundles, or of who asks:
 * what is wrong with a header is a text for the caller to pass on. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npy/npy.h"

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* Tell what is wrong. */
static bool flaw(char *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool flaw(char *error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(error, NPY_ERROR_BYTES, format, args);
    va_end(args);
    return false;
}

/* Where the reading of the dictionary is. */
typedef struct scan {
    char *error; /* filled with what is wrong, NPY_ERROR_BYTES */
    const char *at;
    const char *end;
    npy_header *header;
    unsigned seen; /* one bit per key */
} scan;

static char peek(scan *scan)
{
    while (scan->at < scan->end && isspace((unsigned char)*scan->at))
        scan->at++;
    return scan->at < scan->end ? *scan->at : '\0';
}

static bool take(scan *scan, char wanted)
{
    if (peek(scan) != wanted)
        return false;
    scan->at++;
    return true;
}

static bool take_word(scan *scan, const char *word)
{
    const size_t length = strlen(word);

    peek(scan);
    if ((size_t)(scan->end - scan->at) < length || strncmp(scan->at, word, length) != 0)
        return false;
    scan->at += length;
    return true;
}

/* What stands at the place, for messages. */
static bool odd(scan *scan, const char *expected)
{
    const char next = peek(scan);
    const ptrdiff_t left = scan->end - scan->at;

    if (!next)
        return flaw(scan->error, "the header ends early, expected %s", expected);
    return flaw(scan->error, "the header has \"%.*s\", expected %s", left < 20 ? (int)left : 20,
                scan->at, expected);
}

/* A quoted text without escapes. */
static bool take_text(scan *scan, const char *expected, char *text_out, size_t room)
{
    const char quote = peek(scan);

    if (quote != '\'' && quote != '"')
        return odd(scan, expected);
    const char *from = scan->at + 1;
    const char *to = memchr(from, quote, (size_t)(scan->end - from));
    if (!to || memchr(from, '\\', (size_t)(to - from)) || (size_t)(to - from) >= room)
        return odd(scan, expected);
    memcpy(text_out, from, (size_t)(to - from));
    text_out[to - from] = '\0';
    scan->at = to + 1;
    return true;
}

/* Bytes per element of types such as "<f8": order, kind, size, and for dates a unit in brackets. */
static bool understand_type(char *error, const char *descr, int64_t *bytes_out)
{
    const char *at = descr + strspn(descr, "<>|=");
    const char kind = *at;
    char *end = NULL;

    if (kind == 'O')
        return flaw(error, "dtype \"%s\" holds Python objects, expected plain numbers or bytes",
                    descr);
    errno = 0;
    const long long size = kind && isdigit((unsigned char)at[1]) ? strtoll(at + 1, &end, 10) : -1;
    const bool dated = kind == 'm' || kind == 'M';
    const bool ended =
        end && (*end == '\0' || (dated && *end == '[' && end[strlen(end) - 1] == ']'));
    if (at - descr > 1 || !kind || !strchr("biufcSUVmM", kind) || !ended)
        return flaw(error, "dtype \"%s\" is not known, expected one such as \"<f8\"", descr);
    if (size < (kind != 'V') || errno || size > INT32_MAX)
        return flaw(error, "dtype \"%s\" has a size that is not possible, expected 1 to %d", descr,
                    INT32_MAX);
    *bytes_out = kind == 'U' ? 4 * size : size;
    return true;
}

static bool read_descr(scan *scan)
{
    npy_header *header = scan->header;

    if (peek(scan) == '[')
        return flaw(scan->error,
                    "the dtype has fields (structured), expected plain numbers or bytes");
    const bool sound =
        take_text(scan, "a dtype such as '<f8'", header->descr, sizeof header->descr);
    return sound && understand_type(scan->error, header->descr, &header->element_bytes);
}

static bool read_order(scan *scan)
{
    if (take_word(scan, "True")) {
        scan->header->fortran = true;
        return true;
    }
    return take_word(scan, "False") || odd(scan, "True or False after 'fortran_order'");
}

static bool read_extent(scan *scan)
{
    npy_header *header = scan->header;
    char digits[32];
    size_t n = 0;

    const bool negative = take(scan, '-');
    peek(scan);
    while (scan->at < scan->end && isdigit((unsigned char)*scan->at) && n < sizeof digits - 1)
        digits[n++] = *scan->at++;
    digits[n] = '\0';
    if (n == 0)
        return odd(scan, "a number in the shape");
    take(scan, 'L'); /* long integers of Python 2 */
    if (header->dims == NPY_DIMS_MAX)
        return flaw(scan->error, "the shape has more than %d dimensions", NPY_DIMS_MAX);
    errno = 0;
    const long long extent = strtoll(digits, NULL, 10);
    if (negative || errno)
        return flaw(scan->error, "dimension %d of the shape is %s%s, expected 0 to %" PRId64,
                    header->dims, negative ? "-" : "", digits, INT64_MAX);
    header->shape[header->dims++] = extent;
    return true;
}

static bool read_shape(scan *scan)
{
    if (!take(scan, '('))
        return odd(scan, "a shape such as (3, 4)");
    while (peek(scan) != ')') {
        const bool sound = read_extent(scan);
        if (!sound)
            return sound;
        if (!take(scan, ',') && peek(scan) != ')')
            return odd(scan, "',' or ')' in the shape");
    }
    take(scan, ')');
    return true;
}

static const struct {
    const char *name;
    bool (*read)(scan *scan);
} keys[] = {
    {"descr", read_descr},
    {"fortran_order", read_order},
    {"shape", read_shape},
};
enum { KEYS = sizeof keys / sizeof keys[0] };

static bool read_item(scan *scan)
{
    const char *const expected = "the keys 'descr', 'fortran_order' and 'shape', once each";
    char key[24];
    const bool sound = take_text(scan, expected, key, sizeof key);

    if (!sound)
        return sound;
    for (unsigned i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, key) != 0 || scan->seen & 1u << i)
            continue;
        scan->seen |= 1u << i;
        if (!take(scan, ':'))
            return odd(scan, "':' after a key");
        return keys[i].read(scan);
    }
    return flaw(scan->error, "the header has the key '%s', expected %s", key, expected);
}

static bool read_dictionary(scan *scan)
{
    if (!take(scan, '{'))
        return odd(scan, "'{'");
    while (peek(scan) != '}') {
        const bool sound = read_item(scan);
        if (!sound)
            return sound;
        if (!take(scan, ',') && peek(scan) != '}')
            return odd(scan, "',' or '}' after an item");
    }
    take(scan, '}');
    if (peek(scan) != '\0' || scan->at != scan->end)
        return odd(scan, "the end after '}'");
    for (unsigned i = 0; i < KEYS; i++)
        if (!(scan->seen & 1u << i))
            return flaw(scan->error, "the header has no key '%s'", keys[i].name);
    return true;
}

static bool measure(char *error, npy_header *header)
{
    char shape[128];
    int64_t bytes = header->element_bytes;

    /* An empty array is empty, however large its other dimensions are. */
    for (int i = 0; i < header->dims; i++)
        if (header->shape[i] == 0)
            bytes = 0;
    for (int i = 0; i < header->dims && bytes; i++)
        if (__builtin_mul_overflow(bytes, header->shape[i], &bytes))
            return flaw(error, "shape %s of %" PRId64 "-byte elements has more than 2^63 bytes",
                        npy_shape(header, shape, sizeof shape), header->element_bytes);
    int64_t end;
    if (__builtin_add_overflow(bytes, header->data_offset, &end))
        return flaw(error, "shape %s has more than 2^63 bytes",
                    npy_shape(header, shape, sizeof shape));
    header->data_bytes = bytes;
    return true;
}

bool npy_understand(const void *bytes, size_t count, npy_header *header_out, char *error)
{
    const unsigned char *at = bytes;
    npy_header header = {0};
    scan scan = {.error = error, .header = &header};

    if (count < 10)
        return flaw(error, "the file has %zu bytes, expected a .npy header of at least 10", count);
    if (memcmp(at, magic, sizeof magic) != 0)
        return flaw(error, "the file does not begin as a .npy file does (\\x93NUMPY)");
    if (at[6] < 1 || at[6] > 3)
        return flaw(error, ".npy version %d.%d, expected 1 to 3", at[6], at[7]);
    const size_t start = at[6] == 1 ? 10 : 12;
    if (count < start)
        return flaw(error, "the header is cut off after %zu bytes", count);
    uint32_t length = at[8] | (uint32_t)at[9] << 8;
    if (start == 12)
        length |= (uint32_t)at[10] << 16 | (uint32_t)at[11] << 24;
    if (length > NPY_HEADER_MAX)
        return flaw(error, "the header says it has %u bytes, expected at most %d", length,
                    NPY_HEADER_MAX);
    if (count - start < length)
        return flaw(error, "the header is cut off: %zu bytes, expected %u", count - start, length);
    scan.at = (const char *)at + start;
    scan.end = scan.at + length;
    header.data_offset = (int64_t)(start + length);
    bool sound = read_dictionary(&scan);
    if (sound)
        sound = measure(error, &header);
    if (sound)
        *header_out = header;
    return sound;
}

size_t npy_write(const char *descr, bool fortran, int dims, const int64_t *shape,
                 char text_out[NPY_WRITTEN_MAX])
{
    enum { START = 10, ALIGNED = 64 };
    char *const text = text_out + START;
    char numbers[NPY_WRITTEN_MAX / 2];
    npy_header named = {.dims = dims};

    if (dims > 0)
        memcpy(named.shape, shape, (size_t)dims * sizeof *shape);
    const int length = snprintf(
        text, NPY_WRITTEN_MAX - START, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr,
        fortran ? "True" : "False", npy_shape(&named, numbers, sizeof numbers));
    const size_t whole = (START + (size_t)length + 1 + ALIGNED - 1) / ALIGNED * ALIGNED;

    memset(text + length, ' ', whole - START - (size_t)length);
    text_out[whole - 1] = '\n';
    memcpy(text_out, magic, sizeof magic);
    text_out[6] = 1;
    text_out[7] = 0;
    text_out[8] = (char)((whole - START) & 255);
    text_out[9] = (char)((whole - START) >> 8);
    return whole;
}

const char *npy_shape(const npy_header *header, char *text_out, size_t bytes)
{
    size_t used = (size_t)snprintf(text_out, bytes, "(");

    for (int i = 0; i < header->dims && used < bytes; i++)
        used += (size_t)snprintf(text_out + used, bytes - used, "%s%" PRId64, i ? ", " : "",
                                 header->shape[i]);
    if (used < bytes)
        snprintf(text_out + used, bytes - used, header->dims == 1 ? ",)" : ")");
    return text_out;
}
