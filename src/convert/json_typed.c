/* Values behind a "$" word, from JSON text: single ones of a given type, bytes, arrays of strings,
 * and arrays. docs/interchange.md describes them. */
#include "convert/json_typed.h"

#include <stdlib.h>
#include <string.h>

#include "convert/number.h"

/* --- single values --- */

/* An element or a part of a complex one. */
static ferry_status read_number(json_text *r, ferry_type type, void *bits_out)
{
    const char *begin, *what;
    bool real;
    ferry_status st;

    if (json_peek(r) == '"') {
        buffer word = {0};
        begin = r->at;
        st = json_read_string(r, &word);
        what = st == FERRY_OK
                   ? number_read_special(word.bytes ? word.data : "", word.bytes, type, bits_out)
                   : NULL;
        buffer_drop(&word);
    } else {
        st = json_scan_number(r, &begin, &real);
        what = st == FERRY_OK ? number_read(begin, r->at, type, bits_out) : NULL;
    }
    return what ? json_wrong(r, begin, what) : st;
}

static ferry_status read_bool(json_text *r, void *bits_out)
{
    json_peek(r);
    const bool yes = json_take_word(r, "true");
    if (!yes && !json_take_word(r, "false"))
        return json_wrong(r, r->at, "expected true or false");
    memcpy(bits_out, &yes, sizeof yes);
    return FERRY_OK;
}

/* An element of any type; the two parts of complex ones follow each other. */
static ferry_status read_element(json_text *r, ferry_type type, char *bits_out)
{
    int parts;
    ferry_status st;

    if (type == FERRY_TYPE_BOOL)
        return read_bool(r, bits_out);
    number_kind_of(type, &parts);
    st = read_number(r, type, bits_out);
    if (st == FERRY_OK && parts == 2)
        st = json_expect(r, ',', "expected ',' and the imaginary part");
    if (st == FERRY_OK && parts == 2)
        st = read_number(r, type, bits_out + ferry_type_bytes(type) / 2);
    return st;
}

/* Bytes in base64, appended to `into`. */
static ferry_status read_base64(json_text *r, buffer *into)
{
    buffer word = {0};
    json_peek(r);
    const char *const begin = r->at;
    ferry_status st = json_read_string(r, &word);

    if (st == FERRY_OK && !buffer_from_base64(into, word.data, word.bytes))
        st = json_wrong(r, begin, "expected bytes in base64");
    if (st == FERRY_OK && into->failed)
        st = json_fail(r, begin, FERRY_ERR_MEMORY, "out of memory");
    buffer_drop(&word);
    return st;
}

ferry_status json_read_text(json_text *r, const place *at, ferry_type type)
{
    buffer t = {0};
    const char *const begin = r->at;
    ferry_status st = read_base64(r, &t);

    if (st == FERRY_OK)
        st = json_located(r, begin,
                          type == FERRY_TYPE_BYTES ? place_bytes(at, t.data, t.bytes)
                                                   : place_string(at, t.data, t.bytes));
    buffer_drop(&t);
    return st;
}

ferry_status json_read_scalar(json_text *r, const place *at, ferry_type type)
{
    const bool pair = type == FERRY_TYPE_COMPLEX64 || type == FERRY_TYPE_COMPLEX128;
    const char *const begin = r->at;
    char bits[16] = {0};
    ferry_status st = pair ? json_expect(r, '[', "expected [real part, imaginary part]") : FERRY_OK;

    if (st == FERRY_OK)
        st = read_element(r, type, bits);
    if (st == FERRY_OK && pair)
        st = json_expect(r, ']', "expected ']' behind the imaginary part");
    return st == FERRY_OK ? json_located(r, begin, place_scalar(at, type, bits)) : st;
}

/* --- arrays of strings --- */

typedef struct string_store {
    buffer bytes;   /* of all, one after another */
    buffer lengths; /* size_t each */
} string_store;

/* One string: as such, or in base64 as {"$string": ...}. */
static ferry_status read_one_string(json_text *r, string_store *s)
{
    const size_t before = s->bytes.bytes;
    ferry_status st;

    if (json_take(r, '{')) {
        if (json_peek(r) != '"' || !json_take_word(r, "\"$string\"") || !json_take(r, ':'))
            return json_wrong(r, r->at, "expected \"$string\": and bytes in base64");
        st = read_base64(r, &s->bytes);
        if (st == FERRY_OK)
            st = json_expect(r, '}', "expected '}'");
    } else {
        st = json_read_string(r, &s->bytes);
    }
    const size_t length = s->bytes.bytes - before;
    buffer_add(&s->lengths, (const char *)&length, sizeof length);
    return st;
}

static ferry_status put_strings(const string_store *s, const place *at)
{
    const size_t count = s->lengths.bytes / sizeof(size_t);
    const size_t *const lengths = (const size_t *)(const void *)s->lengths.data;
    const char **const texts = malloc((count + 1) * sizeof *texts);
    const char *next = s->bytes.data ? s->bytes.data : "";

    if (!texts || s->lengths.failed) {
        free(texts);
        return ferry_status_fail(FERRY_ERR_MEMORY, "out of memory for %zu strings", count);
    }
    for (size_t i = 0; i < count; i++) {
        texts[i] = next;
        next += lengths[i];
    }
    const ferry_status st = place_strings(at, count, texts, lengths);
    free(texts);
    return st;
}

ferry_status json_read_strings(json_text *r, const place *at)
{
    string_store s = {0};
    const char *const begin = r->at;
    ferry_status st = json_expect(r, '[', "expected '[' and strings");
    bool ended = st == FERRY_OK && json_take(r, ']');

    while (st == FERRY_OK && !ended) {
        st = read_one_string(r, &s);
        ended = st == FERRY_OK && !json_take(r, ',');
        if (ended)
            st = json_expect(r, ']', "expected ',' or ']' behind a string");
    }
    if (st == FERRY_OK)
        st = json_located(r, begin, put_strings(&s, at));
    buffer_drop(&s.bytes);
    buffer_drop(&s.lengths);
    return st;
}

/* --- arrays --- */

typedef struct array_parts {
    ferry_type element;
    int dims;
    int64_t shape[FERRY_ARRAY_MAX_DIMS];
    bool column_major;
    buffer data;
    bool has_shape, has_order, has_data;
} array_parts;

static ferry_status read_element_type(json_text *r, array_parts *parts)
{
    buffer word = {0};
    json_peek(r);
    const char *const begin = r->at;
    ferry_status st = json_read_string(r, &word);

    for (int type = FERRY_TYPE_BOOL; st == FERRY_OK && type <= FERRY_TYPE_COMPLEX128; type++) {
        const char *const name = ferry_type_name((ferry_type)type);
        if (word.bytes == strlen(name) && memcmp(word.data, name, word.bytes) == 0)
            parts->element = (ferry_type)type;
    }
    buffer_drop(&word);
    if (st == FERRY_OK && parts->element == FERRY_TYPE_NULL)
        return json_wrong(r, begin, "expected a type of elements such as \"float64\"");
    return st;
}

static ferry_status read_shape(json_text *r, array_parts *parts)
{
    ferry_status st = json_expect(r, '[', "expected '[' and a shape");

    while (st == FERRY_OK) {
        if (parts->dims == FERRY_ARRAY_MAX_DIMS)
            return json_wrong(r, r->at, "more than 8 dimensions");
        st = read_number(r, FERRY_TYPE_INT64, &parts->shape[parts->dims]);
        if (st == FERRY_OK && parts->shape[parts->dims] < 0)
            return json_wrong(r, r->at, "a negative number in a shape");
        parts->dims++;
        if (!json_take(r, ','))
            break;
    }
    return st == FERRY_OK ? json_expect(r, ']', "expected ',' or ']' in a shape") : st;
}

static ferry_status read_order(json_text *r, array_parts *parts)
{
    json_peek(r);
    parts->column_major = json_take_word(r, "\"column\"");
    if (parts->column_major || json_take_word(r, "\"row\""))
        return FERRY_OK;
    return json_wrong(r, r->at, "expected \"row\" or \"column\"");
}

static ferry_status read_data(json_text *r, array_parts *parts)
{
    const size_t bytes = ferry_type_bytes(parts->element);
    ferry_status st = json_expect(r, '[', "expected '[' and elements");

    if (st != FERRY_OK || json_take(r, ']'))
        return st;
    do {
        char bits[16];
        st = read_element(r, parts->element, bits);
        buffer_add(&parts->data, bits, bytes);
    } while (st == FERRY_OK && json_take(r, ','));
    return st == FERRY_OK ? json_expect(r, ']', "expected ',' or ']' behind an element") : st;
}

/* The fields behind the type, in any order, each once. */
static ferry_status read_array_field(json_text *r, array_parts *parts)
{
    const struct {
        const char *name;
        bool *seen;
        ferry_status (*read)(json_text *r, array_parts *parts);
    } fields[] = {
        {"\"shape\"", &parts->has_shape, read_shape},
        {"\"order\"", &parts->has_order, read_order},
        {"\"data\"", &parts->has_data, read_data},
    };

    json_peek(r);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (*fields[i].seen || !json_take_word(r, fields[i].name))
            continue;
        *fields[i].seen = true;
        const ferry_status st = json_expect(r, ':', "expected ':'");
        return st == FERRY_OK ? fields[i].read(r, parts) : st;
    }
    return json_wrong(r, r->at, "expected \"shape\", \"order\" or \"data\", each once");
}

static ferry_status check_count(const array_parts *parts)
{
    const size_t found = parts->data.bytes / ferry_type_bytes(parts->element);
    size_t wanted = 1;
    bool fits = true;

    if (!parts->has_shape || !parts->has_data)
        return ferry_status_fail(FERRY_ERR_FORMAT, "an array without %s",
                                 parts->has_shape ? "\"data\"" : "\"shape\"");
    for (int k = 0; k < parts->dims; k++)
        if (parts->shape[k] == 0)
            wanted = 0;
    for (int k = 0; k < parts->dims && wanted > 0; k++)
        fits = fits && !__builtin_mul_overflow(wanted, (size_t)parts->shape[k], &wanted);
    if (!fits || wanted != found)
        return ferry_status_fail(FERRY_ERR_FORMAT,
                                 "an array of %zu elements, its shape wants %s%zu", found,
                                 fits ? "" : "more than ", wanted);
    return parts->data.failed ? ferry_status_fail(FERRY_ERR_MEMORY, "out of memory") : FERRY_OK;
}

ferry_status json_read_array(json_text *r, const place *at)
{
    array_parts parts = {0};
    const char *const begin = r->at;
    ferry_status st = read_element_type(r, &parts);

    while (st == FERRY_OK && json_take(r, ','))
        st = read_array_field(r, &parts);
    if (st == FERRY_OK)
        st = json_located(r, begin, check_count(&parts));
    if (st == FERRY_OK)
        st = json_located(r, begin,
                          place_array(at, parts.element, parts.dims, parts.shape,
                                      parts.column_major, parts.data.data));
    buffer_drop(&parts.data);
    return st;
}
