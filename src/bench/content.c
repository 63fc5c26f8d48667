/* What the case bundle carries. A small entry's place in the payload and in the tree follow from
 * its number, so that nothing has to be kept. */
#include <stdio.h>
#include <string.h>

#include "bench/content.h"
#include "bench/pattern.h"

enum { KINDS = 4, CELLS = CONTENT_SIDE * CONTENT_SIDE };

size_t content_doubles(const content *c)
{
    return c->small ? c->small / 2 + c->small / KINDS * CELLS : c->count * c->rows * c->columns;
}

size_t content_strings(const content *c)
{
    return c->small / KINDS;
}

size_t content_bytes(const content *c)
{
    return content_doubles(c) * sizeof(double) + content_strings(c) * CONTENT_STRING_BYTES;
}

size_t content_values(const content *c)
{
    return content_doubles(c) + content_strings(c);
}

/* A number with a full mantissa. */
double content_double(uint64_t rank, uint64_t index, uint64_t round)
{
    return (double)(pattern_word(rank, index) >> 11) * 0x1p-53 + (double)round;
}

/* Letters that differ from round to round. */
static void string_at(char text[CONTENT_STRING_BYTES], size_t index, uint64_t rank, uint64_t round)
{
    const uint64_t word = pattern_at(rank, index, round);

    for (size_t k = 0; k < CONTENT_STRING_BYTES; ++k)
        text[k] = (char)('a' + (word >> k % 16 * 4 & 15));
}

static char *strings_of(const content *c, const void *payload)
{
    return (char *)payload + content_doubles(c) * sizeof(double);
}

void content_fill(const content *c, void *payload, uint64_t rank, uint64_t round)
{
    double *const doubles = payload;
    const size_t count = content_doubles(c);

    for (size_t k = 0; k < count; ++k)
        doubles[k] = content_double(rank, k, round);
    for (size_t k = 0; k < content_strings(c); ++k)
        string_at(strings_of(c, payload) + k * CONTENT_STRING_BYTES, k, rank, round);
}

size_t content_wrong_doubles(const double *data, size_t first, size_t count, uint64_t rank,
                             uint64_t round)
{
    size_t wrong = 0;

    for (size_t k = 0; k < count; ++k)
        wrong += data[k] != content_double(rank, first + k, round);
    return wrong;
}

bool content_string_is(const char *text, size_t index, uint64_t rank, uint64_t round)
{
    char expected[CONTENT_STRING_BYTES];

    string_at(expected, index, rank, round);
    return memcmp(text, expected, sizeof expected) == 0;
}

size_t content_wrong(const content *c, const void *payload, uint64_t rank, uint64_t round)
{
    size_t wrong = content_wrong_doubles(payload, 0, content_doubles(c), rank, round);

    for (size_t k = 0; k < content_strings(c); ++k)
        wrong +=
            !content_string_is(strings_of(c, payload) + k * CONTENT_STRING_BYTES, k, rank, round);
    return wrong;
}

void content_key(char text[CONTENT_KEY_BYTES], char letter, size_t index)
{
    snprintf(text, CONTENT_KEY_BYTES, "%c%zu", letter, index);
}

/* Of four entries in a row the first two are scalars. */
content_entry content_small(const content *c, size_t index)
{
    static const char letters[] = {
        [CONTENT_SCALAR] = 'x', [CONTENT_STRING] = 's', [CONTENT_MATRIX] = 'm'};
    static const content_type types[KINDS] = {CONTENT_SCALAR, CONTENT_SCALAR, CONTENT_STRING,
                                              CONTENT_MATRIX};
    const size_t four = index / KINDS;
    const size_t offsets[] = {
        [CONTENT_SCALAR] = (2 * four + index % 2) * sizeof(double),
        [CONTENT_STRING] = content_doubles(c) * sizeof(double) + four * CONTENT_STRING_BYTES,
        [CONTENT_MATRIX] = (c->small / 2 + four * CELLS) * sizeof(double),
    };
    content_entry entry = {.type = types[index % KINDS]};

    entry.offset = offsets[entry.type];
    content_key(entry.key, letters[entry.type], index);
    return entry;
}
