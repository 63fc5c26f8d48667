/* From JSON text to a bundle, in one pass: each value is put where it belongs as soon as it is
 * read. The grammar is that of RFC 8259 and nothing more; every failure names line and byte.
 *
 * A parser of a library would be no shorter: those at hand take NaN for a number, the last of two
 * equal keys, and the largest integer for one that is too large, and tell no position afterwards.
 */
#include "convert/buffer.h"
#include "convert/json.h"
#include "convert/number.h"
#include "convert/place.h"
#include "ferry/convert.h"

#include <stdlib.h>

typedef struct reader {
    const char *begin, *at, *end;
} reader;

/* --- failures --- */

static ferry_status fail_at(const reader *r, const char *where, ferry_status status,
                            const char *what)
{
    size_t line = 1;

    for (const char *c = r->begin; c < where; c++)
        line += *c == '\n';
    return ferry_status_fail(status, "JSON, line %zu, byte %zu: %s", line,
                             (size_t)(where - r->begin), what);
}

static ferry_status wrong(const reader *r, const char *where, const char *what)
{
    return fail_at(r, where, FERRY_ERR_FORMAT, what);
}

/* Pass a failure on; what the bundle says gets the position in front. */
static ferry_status located(const reader *r, const char *where, ferry_status st)
{
    return st == FERRY_OK ? st : fail_at(r, where, st, ferry_error_detail());
}

/* --- words --- */

static char peek(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static bool take(reader *r, char wanted)
{
    if (peek(r) != wanted)
        return false;
    r->at++;
    return true;
}

static bool take_word(reader *r, const char *word)
{
    const size_t bytes = strlen(word);

    if ((size_t)(r->end - r->at) < bytes || memcmp(r->at, word, bytes) != 0)
        return false;
    r->at += bytes;
    return true;
}

static ferry_status expect(reader *r, char wanted, const char *what)
{
    return take(r, wanted) ? FERRY_OK
                           : wrong(r, r->at, r->at == r->end ? "the text ends too early" : what);
}

/* Four hexadecimal digits; -1 for others. */
static int hex4(const reader *r, const char *at)
{
    int code = 0;

    if (r->end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *const digit = memchr(digits, at[i], sizeof digits - 1);
        if (!digit)
            return -1;
        code = code << 4 | (int)((digit - digits) & 15);
    }
    return code;
}

static void add_utf8(buffer *t, uint32_t code)
{
    const char low = (char)(0x80 | (code & 0x3f)), second = (char)(0x80 | (code >> 6 & 0x3f)),
               third = (char)(0x80 | (code >> 12 & 0x3f));

    if (code < 0x80)
        buffer_add(t, (const char[]){(char)code}, 1);
    else if (code < 0x800)
        buffer_add(t, (const char[]){(char)(0xc0 | code >> 6), low}, 2);
    else if (code < 0x10000)
        buffer_add(t, (const char[]){(char)(0xe0 | code >> 12), second, low}, 3);
    else
        buffer_add(t, (const char[]){(char)(0xf0 | code >> 18), third, second, low}, 4);
}

/* \uXXXX, or two of them that are one character; the reader stands behind the 'u'. */
static ferry_status read_unicode(reader *r, buffer *into)
{
    const char *const from = r->at - 2;
    const int high = hex4(r, r->at);
    uint32_t code = (uint32_t)high;

    if (high < 0)
        return wrong(r, from, "\\u without four hexadecimal digits");
    r->at += 4;
    if (high >= 0xd800 && high < 0xe000) {
        const int low = take_word(r, "\\u") ? hex4(r, r->at) : -1;
        if (high >= 0xdc00 || low < 0xdc00 || low >= 0xe000)
            return wrong(r, from, "half of a surrogate pair");
        r->at += 4;
        code = 0x10000 + (((uint32_t)high & 0x3ff) << 10 | ((uint32_t)low & 0x3ff));
    }
    add_utf8(into, code);
    return FERRY_OK;
}

static ferry_status read_escape(reader *r, buffer *into)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char letter = r->at + 1 < r->end ? r->at[1] : '\0';
    const char *const found = letter ? strchr(letters, letter) : NULL;

    if (!found && letter != 'u')
        return wrong(r, r->at, "a backslash before a character that needs none");
    r->at += 2;
    if (!found)
        return read_unicode(r, into);
    buffer_add(into, meant + (found - letters), 1);
    return FERRY_OK;
}

/* Append a string to `into`. */
static ferry_status read_string(reader *r, buffer *into)
{
    const char *const begin = r->at;
    ferry_status st = expect(r, '"', "expected a string");

    while (st == FERRY_OK) {
        const char *const from = r->at;
        while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (unsigned char)*r->at >= 0x20)
            r->at++;
        buffer_add(into, from, (size_t)(r->at - from));
        if (r->at == r->end)
            return wrong(r, begin, "a string without an end");
        if (*r->at == '"')
            break;
        st = *r->at == '\\' ? read_escape(r, into)
                            : wrong(r, r->at, "a control character in a string, expected \\u");
    }
    if (st != FERRY_OK)
        return st;
    r->at++;
    return into->failed ? fail_at(r, begin, FERRY_ERR_MEMORY, "out of memory") : FERRY_OK;
}

static bool is_digit(const reader *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

static bool take_digits(reader *r)
{
    if (!is_digit(r))
        return false;
    while (is_digit(r))
        r->at++;
    return true;
}

/* Step over a number; it began at `*begin_out`. */
static ferry_status scan_number(reader *r, const char **begin_out, bool *real_out)
{
    peek(r);
    const char *const begin = r->at;
    bool sound, real = false;
    take_word(r, "-");
    sound = take_word(r, "0") || take_digits(r);
    if (sound && take_word(r, ".")) {
        real = true;
        sound = take_digits(r);
    }
    if (sound && (take_word(r, "e") || take_word(r, "E"))) {
        real = true;
        if (!take_word(r, "-"))
            take_word(r, "+");
        sound = take_digits(r);
    }
    if (!sound || is_digit(r))
        return wrong(r, begin, r->at == r->end ? "the text ends too early" : "expected a value");
    *begin_out = begin;
    *real_out = real;
    return FERRY_OK;
}

/* --- single values --- */

/* An element or a part of a complex one. */
static ferry_status read_number(reader *r, ferry_type type, void *bits_out)
{
    const char *begin, *what;
    bool real;
    ferry_status st;

    if (peek(r) == '"') {
        buffer word = {0};
        begin = r->at;
        st = read_string(r, &word);
        what = st == FERRY_OK
                   ? number_read_special(word.bytes ? word.data : "", word.bytes, type, bits_out)
                   : NULL;
        buffer_drop(&word);
    } else {
        st = scan_number(r, &begin, &real);
        what = st == FERRY_OK ? number_read(begin, r->at, type, bits_out) : NULL;
    }
    return what ? wrong(r, begin, what) : st;
}

static ferry_status read_bool(reader *r, void *bits_out)
{
    peek(r);
    const bool yes = take_word(r, "true");
    if (!yes && !take_word(r, "false"))
        return wrong(r, r->at, "expected true or false");
    memcpy(bits_out, &yes, sizeof yes);
    return FERRY_OK;
}

/* An element of any type; the two parts of complex ones follow each other. */
static ferry_status read_element(reader *r, ferry_type type, char *bits_out)
{
    int parts;
    ferry_status st;

    if (type == FERRY_TYPE_BOOL)
        return read_bool(r, bits_out);
    number_kind_of(type, &parts);
    st = read_number(r, type, bits_out);
    if (st == FERRY_OK && parts == 2)
        st = expect(r, ',', "expected ',' and the imaginary part");
    if (st == FERRY_OK && parts == 2)
        st = read_number(r, type, bits_out + ferry_type_bytes(type) / 2);
    return st;
}

/* A plain number: int64, uint64 when it is too large for that, or float64. */
static ferry_status read_plain_number(reader *r, const place *at)
{
    const char *begin;
    char bits[16];
    bool real;
    ferry_status st = scan_number(r, &begin, &real);

    if (st != FERRY_OK)
        return st;
    ferry_type type = real ? FERRY_TYPE_FLOAT64 : FERRY_TYPE_INT64;
    const char *what = number_read(begin, r->at, type, bits);
    if (what && !real) {
        type = FERRY_TYPE_UINT64;
        what = number_read(begin, r->at, type, bits);
        if (what)
            what = "an integer beyond 64 bits";
    }
    return what ? wrong(r, begin, what) : located(r, begin, place_scalar(at, type, bits));
}

static ferry_status read_plain_string(reader *r, const place *at)
{
    buffer t = {0};
    const char *const begin = r->at;
    ferry_status st = read_string(r, &t);

    if (st == FERRY_OK)
        st = located(r, begin, place_string(at, t.data, t.bytes));
    buffer_drop(&t);
    return st;
}

/* Bytes in base64, appended to `into`. */
static ferry_status read_base64(reader *r, buffer *into)
{
    buffer word = {0};
    peek(r);
    const char *const begin = r->at;
    ferry_status st = read_string(r, &word);

    if (st == FERRY_OK && !buffer_from_base64(into, word.data, word.bytes))
        st = wrong(r, begin, "expected bytes in base64");
    if (st == FERRY_OK && into->failed)
        st = fail_at(r, begin, FERRY_ERR_MEMORY, "out of memory");
    buffer_drop(&word);
    return st;
}

static ferry_status read_word_text(reader *r, const place *at, ferry_type type)
{
    buffer t = {0};
    const char *const begin = r->at;
    ferry_status st = read_base64(r, &t);

    if (st == FERRY_OK)
        st = located(r, begin,
                     type == FERRY_TYPE_BYTES ? place_bytes(at, t.data, t.bytes)
                                              : place_string(at, t.data, t.bytes));
    buffer_drop(&t);
    return st;
}

static ferry_status read_word_scalar(reader *r, const place *at, ferry_type type)
{
    const bool pair = type == FERRY_TYPE_COMPLEX64 || type == FERRY_TYPE_COMPLEX128;
    const char *const begin = r->at;
    char bits[16] = {0};
    ferry_status st = pair ? expect(r, '[', "expected [real part, imaginary part]") : FERRY_OK;

    if (st == FERRY_OK)
        st = read_element(r, type, bits);
    if (st == FERRY_OK && pair)
        st = expect(r, ']', "expected ']' behind the imaginary part");
    return st == FERRY_OK ? located(r, begin, place_scalar(at, type, bits)) : st;
}

/* --- arrays of strings --- */

typedef struct string_store {
    buffer bytes;   /* of all, one after another */
    buffer lengths; /* size_t each */
} string_store;

/* One string: as such, or in base64 as {"$string": ...}. */
static ferry_status read_one_string(reader *r, string_store *s)
{
    const size_t before = s->bytes.bytes;
    ferry_status st;

    if (take(r, '{')) {
        if (peek(r) != '"' || !take_word(r, "\"$string\"") || !take(r, ':'))
            return wrong(r, r->at, "expected \"$string\": and bytes in base64");
        st = read_base64(r, &s->bytes);
        if (st == FERRY_OK)
            st = expect(r, '}', "expected '}'");
    } else {
        st = read_string(r, &s->bytes);
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

static ferry_status read_word_strings(reader *r, const place *at)
{
    string_store s = {0};
    const char *const begin = r->at;
    ferry_status st = expect(r, '[', "expected '[' and strings");
    bool ended = st == FERRY_OK && take(r, ']');

    while (st == FERRY_OK && !ended) {
        st = read_one_string(r, &s);
        ended = st == FERRY_OK && !take(r, ',');
        if (ended)
            st = expect(r, ']', "expected ',' or ']' behind a string");
    }
    if (st == FERRY_OK)
        st = located(r, begin, put_strings(&s, at));
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

static ferry_status read_element_type(reader *r, array_parts *parts)
{
    buffer word = {0};
    peek(r);
    const char *const begin = r->at;
    ferry_status st = read_string(r, &word);

    for (int type = FERRY_TYPE_BOOL; st == FERRY_OK && type <= FERRY_TYPE_COMPLEX128; type++) {
        const char *const name = ferry_type_name((ferry_type)type);
        if (word.bytes == strlen(name) && memcmp(word.data, name, word.bytes) == 0)
            parts->element = (ferry_type)type;
    }
    buffer_drop(&word);
    if (st == FERRY_OK && parts->element == FERRY_TYPE_NULL)
        return wrong(r, begin, "expected a type of elements such as \"float64\"");
    return st;
}

static ferry_status read_shape(reader *r, array_parts *parts)
{
    ferry_status st = expect(r, '[', "expected '[' and a shape");

    while (st == FERRY_OK) {
        if (parts->dims == FERRY_ARRAY_MAX_DIMS)
            return wrong(r, r->at, "more than 8 dimensions");
        st = read_number(r, FERRY_TYPE_INT64, &parts->shape[parts->dims]);
        if (st == FERRY_OK && parts->shape[parts->dims] < 0)
            return wrong(r, r->at, "a negative number in a shape");
        parts->dims++;
        if (!take(r, ','))
            break;
    }
    return st == FERRY_OK ? expect(r, ']', "expected ',' or ']' in a shape") : st;
}

static ferry_status read_order(reader *r, array_parts *parts)
{
    peek(r);
    parts->column_major = take_word(r, "\"column\"");
    if (parts->column_major || take_word(r, "\"row\""))
        return FERRY_OK;
    return wrong(r, r->at, "expected \"row\" or \"column\"");
}

static ferry_status read_data(reader *r, array_parts *parts)
{
    const size_t bytes = ferry_type_bytes(parts->element);
    ferry_status st = expect(r, '[', "expected '[' and elements");

    if (st != FERRY_OK || take(r, ']'))
        return st;
    do {
        char bits[16];
        st = read_element(r, parts->element, bits);
        buffer_add(&parts->data, bits, bytes);
    } while (st == FERRY_OK && take(r, ','));
    return st == FERRY_OK ? expect(r, ']', "expected ',' or ']' behind an element") : st;
}

/* The fields behind the type, in any order, each once. */
static ferry_status read_array_field(reader *r, array_parts *parts)
{
    const struct {
        const char *name;
        bool *seen;
        ferry_status (*read)(reader *r, array_parts *parts);
    } fields[] = {
        {"\"shape\"", &parts->has_shape, read_shape},
        {"\"order\"", &parts->has_order, read_order},
        {"\"data\"", &parts->has_data, read_data},
    };

    peek(r);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (*fields[i].seen || !take_word(r, fields[i].name))
            continue;
        *fields[i].seen = true;
        const ferry_status st = expect(r, ':', "expected ':'");
        return st == FERRY_OK ? fields[i].read(r, parts) : st;
    }
    return wrong(r, r->at, "expected \"shape\", \"order\" or \"data\", each once");
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

static ferry_status read_word_array(reader *r, const place *at)
{
    array_parts parts = {0};
    const char *const begin = r->at;
    ferry_status st = read_element_type(r, &parts);

    while (st == FERRY_OK && take(r, ','))
        st = read_array_field(r, &parts);
    if (st == FERRY_OK)
        st = located(r, begin, check_count(&parts));
    if (st == FERRY_OK)
        st = located(r, begin,
                     place_array(at, parts.element, parts.dims, parts.shape, parts.column_major,
                                 parts.data.data));
    buffer_drop(&parts.data);
    return st;
}

/* --- bundles and lists --- */

/* Where nested values are: `depth` counts the bundles and lists around them. */
static ferry_status read_value(reader *r, const place *at, int depth, bool plain_only);

static ferry_status read_key(reader *r, buffer *key)
{
    const char *const begin = r->at;
    ferry_status st = read_string(r, key);

    buffer_add(key, "", 1);
    if (st == FERRY_OK && key->failed)
        return fail_at(r, begin, FERRY_ERR_MEMORY, "out of memory");
    if (st == FERRY_OK && strlen(key->data) + 1 != key->bytes)
        return wrong(r, begin, "a key with a NUL");
    if (st == FERRY_OK && key->bytes == 1)
        return wrong(r, begin, "an empty key");
    return st;
}

static ferry_status read_member(reader *r, ferry_bundle *bundle, int depth)
{
    buffer key = {0};
    peek(r);
    const char *const begin = r->at;
    const size_t before = ferry_bundle_count(bundle);
    ferry_status st = read_key(r, &key);

    if (st == FERRY_OK)
        st = expect(r, ':', "expected ':' behind a key");
    if (st == FERRY_OK) {
        const place at = {.bundle = bundle, .key = key.data + (json_escape(key.data) > 1)};
        st = read_value(r, &at, depth, false);
        if (st == FERRY_OK && ferry_bundle_count(bundle) == before)
            st = wrong(r, begin, "a key for the second time");
    }
    buffer_drop(&key);
    return st;
}

/* Behind the '{'. */
static ferry_status read_members(reader *r, ferry_bundle *bundle, int depth)
{
    ferry_status st = FERRY_OK;

    if (depth > FERRY_BUNDLE_MAX_DEPTH)
        return fail_at(r, r->at - 1, FERRY_ERR_LIMIT, "nested deeper than 128 levels");
    if (take(r, '}'))
        return FERRY_OK;
    do
        st = read_member(r, bundle, depth);
    while (st == FERRY_OK && take(r, ','));
    return st == FERRY_OK ? expect(r, '}', "expected ',' or '}' behind a value") : st;
}

static ferry_status read_list(reader *r, const place *at, int depth)
{
    const char *const begin = r->at++;
    place inside = {0};
    ferry_status st;

    if (depth > FERRY_BUNDLE_MAX_DEPTH)
        return fail_at(r, begin, FERRY_ERR_LIMIT, "nested deeper than 128 levels");
    st = located(r, begin, place_list(at, &inside.list));
    if (st != FERRY_OK || take(r, ']'))
        return st;
    do
        st = read_value(r, &inside, depth, false);
    while (st == FERRY_OK && take(r, ','));
    return st == FERRY_OK ? expect(r, ']', "expected ',' or ']' behind a value") : st;
}

/* --- values with attributes --- */

/* Step over an object without looking closer: what is wrong inside is found when it is read. */
static ferry_status skip_object(reader *r)
{
    const char *const begin = r->at;
    int open = 0;

    for (bool quoted = false; r->at < r->end; r->at++) {
        if (quoted && *r->at == '\\' && r->at + 1 < r->end)
            r->at++;
        else if (*r->at == '"')
            quoted = !quoted;
        else if (!quoted && *r->at == '{')
            open++;
        else if (!quoted && *r->at == '}' && --open == 0)
            break;
    }
    return r->at < r->end ? expect(r, '}', "") : wrong(r, begin, "an object without an end");
}

/* Attributes that come before their value, as tools that sort keys write them: the value is read
 * first all the same, since attributes go with a value. */
static ferry_status read_attributes_first(reader *r, const place *at, int depth)
{
    ferry_bundle *attributes;
    const char *const begin = r->at;
    reader back = *r;
    ferry_status st = peek(r) == '{' ? skip_object(r) : wrong(r, r->at, "expected '{'");

    if (st == FERRY_OK &&
        !(take(r, ',') && peek(r) == '"' && take_word(r, "\"$value\"") && take(r, ':')))
        st = wrong(r, r->at, "expected \"$value\" behind \"$attributes\"");
    if (st == FERRY_OK)
        st = read_value(r, at, depth, true);
    if (st == FERRY_OK)
        st = located(r, begin, place_attributes(at, &attributes));
    if (st == FERRY_OK)
        st = expect(&back, '{', "expected '{'");
    return st == FERRY_OK ? read_members(&back, attributes, depth + 1) : st;
}

static ferry_status read_value_first(reader *r, const place *at, int depth)
{
    ferry_bundle *attributes;
    ferry_status st = read_value(r, at, depth, true);

    if (st != FERRY_OK || !take(r, ','))
        return st;
    if (peek(r) != '"' || !take_word(r, "\"$attributes\"") || !take(r, ':') || peek(r) != '{')
        return wrong(r, r->at, "expected \"$attributes\" behind \"$value\"");
    st = located(r, r->at, place_attributes(at, &attributes));
    r->at++;
    return st == FERRY_OK ? read_members(r, attributes, depth + 1) : st;
}

/* Behind a word and its colon. */
static ferry_status read_word(reader *r, const place *at, ferry_type type, int depth)
{
    switch (type) {
    case FERRY_TYPE_NULL:
        return read_value_first(r, at, depth);
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        return read_word_text(r, at, type);
    case FERRY_TYPE_STRINGS:
        return read_word_strings(r, at);
    case FERRY_TYPE_ARRAY:
        return read_word_array(r, at);
    default:
        return read_word_scalar(r, at, type);
    }
}

/* What an object begins with: a word of json.h with its colon, which is then taken, or something
 * else, and then nothing is. */
static bool take_type(reader *r, ferry_type *type_out, bool *attributes_out)
{
    reader ahead = *r;
    buffer key = {0};
    bool found = peek(&ahead) == '"' && read_string(&ahead, &key) == FERRY_OK;

    buffer_add(&key, "", 1);
    found = found && !key.failed && strlen(key.data) + 1 == key.bytes &&
            json_word(key.data, type_out) && take(&ahead, ':');
    if (found) {
        *attributes_out = strcmp(key.data, "$attributes") == 0;
        *r = ahead;
    }
    buffer_drop(&key);
    return found;
}

static ferry_status read_object(reader *r, const place *at, int depth, bool plain_only)
{
    const char *const begin = r->at++;
    ferry_bundle *child;
    ferry_type type;
    bool attributes;
    ferry_status st;

    if (!take_type(r, &type, &attributes)) {
        if (depth >= FERRY_BUNDLE_MAX_DEPTH)
            return fail_at(r, begin, FERRY_ERR_LIMIT, "nested deeper than 128 levels");
        st = located(r, begin, place_bundle(at, &child));
        return st == FERRY_OK ? read_members(r, child, depth + 1) : st;
    }
    if (plain_only && type == FERRY_TYPE_NULL)
        return wrong(r, begin, "\"$value\" right inside \"$value\"");
    st = attributes ? read_attributes_first(r, at, depth) : read_word(r, at, type, depth);
    return st == FERRY_OK ? expect(r, '}', "expected '}' behind the value of a \"$\" word") : st;
}

static ferry_status read_value(reader *r, const place *at, int depth, bool plain_only)
{
    const char next = peek(r);
    const char *const begin = r->at;
    const bool yes = next == 't';

    if (next == '{')
        return read_object(r, at, depth, plain_only);
    if (next == '[')
        return read_list(r, at, depth + 1);
    if (next == '"')
        return read_plain_string(r, at);
    if (take_word(r, "null"))
        return located(r, begin, place_null(at));
    if (take_word(r, "true") || take_word(r, "false"))
        return located(r, begin, place_scalar(at, FERRY_TYPE_BOOL, &yes));
    return read_plain_number(r, at);
}

/* --- the public calls --- */

static ferry_status read_all(reader *r, ferry_bundle *bundle)
{
    const size_t sound = buffer_utf8(r->begin, (size_t)(r->end - r->begin));

    if (r->begin + sound != r->end)
        return wrong(r, r->begin + sound, "no UTF-8");
    take_word(r, "\xef\xbb\xbf"); /* the mark that some editors put first */
    if (!take(r, '{'))
        return wrong(r, r->at, "expected '{': the outermost value has to be an object");
    const ferry_status st = read_members(r, bundle, 1);
    if (st != FERRY_OK)
        return st;
    peek(r);
    return r->at == r->end ? FERRY_OK : wrong(r, r->at, "more text behind the outermost value");
}

ferry_status ferry_convert_from_json(const char *text, size_t bytes, ferry_bundle **bundle_out)
{
    reader r = {.begin = text, .at = text};
    ferry_bundle *bundle;

    if (!text || !bundle_out)
        return ferry_status_fail(FERRY_ERR_ARG, "ferry_convert_from_json: %s is NULL",
                                 text ? "bundle_out" : "text");
    ferry_status st = ferry_bundle_new(&bundle);
    if (st != FERRY_OK)
        return st;
    r.end = text + bytes;
    const number_locale locale = number_begin();
    st = read_all(&r, bundle);
    number_end(locale);
    if (st != FERRY_OK) {
        ferry_bundle_free(bundle);
        return st;
    }
    *bundle_out = bundle;
    return FERRY_OK;
}

ferry_status ferry_convert_load_json(const char *path, ferry_bundle **bundle_out)
{
    char *json;
    size_t bytes;
    ferry_status st = file_read_all(path, &json, &bytes);

    if (st != FERRY_OK)
        return st;
    st = ferry_convert_from_json(json, bytes, bundle_out);
    free(json);
    return st == FERRY_OK ? st : ferry_status_fail(st, "%.300s: %s", path, ferry_error_detail());
}
