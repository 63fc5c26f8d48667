/* From JSON text to a bundle, in one pass: each value is put where it belongs as soon as it is
 * read. json_text.c steps through the text, json_typed.c reads what "$" words stand for; here are
 * plain values, bundles, lists and attributes.
 *
 * A parser of a library would be no shorter: those at hand take NaN for a number, the last of two
 * equal keys, and the largest integer for one that is too large, and tell no position afterwards.
 */
#include <stdlib.h>
#include <string.h>

#include "convert/json.h"
#include "convert/json_typed.h"
#include "convert/number.h"
#include "ferry/convert.h"

/* --- plain values --- */

/* A plain number: int64, uint64 when it is too large for that, or float64. */
static ferry_status read_plain_number(json_text *r, const place *at)
{
    const char *begin;
    char bits[16];
    bool real;
    ferry_status st = json_scan_number(r, &begin, &real);

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
    return what ? json_wrong(r, begin, what) : json_located(r, begin, place_scalar(at, type, bits));
}

static ferry_status read_plain_string(json_text *r, const place *at)
{
    buffer t = {0};
    const char *const begin = r->at;
    ferry_status st = json_read_string(r, &t);

    if (st == FERRY_OK)
        st = json_located(r, begin, place_string(at, t.data, t.bytes));
    buffer_drop(&t);
    return st;
}

/* --- bundles and lists --- */

/* Where nested values are: `depth` counts the bundles and lists around them. */
static ferry_status read_value(json_text *r, const place *at, int depth, bool plain_only);

static ferry_status read_key(json_text *r, buffer *key)
{
    const char *const begin = r->at;
    ferry_status st = json_read_string(r, key);

    buffer_add(key, "", 1);
    if (st == FERRY_OK && key->failed)
        return json_fail(r, begin, FERRY_ERR_MEMORY, "out of memory");
    if (st == FERRY_OK && strlen(key->data) + 1 != key->bytes)
        return json_wrong(r, begin, "a key with a NUL");
    if (st == FERRY_OK && key->bytes == 1)
        return json_wrong(r, begin, "an empty key");
    return st;
}

static ferry_status read_member(json_text *r, ferry_bundle *bundle, int depth)
{
    buffer key = {0};
    json_peek(r);
    const char *const begin = r->at;
    const size_t before = ferry_bundle_count(bundle);
    ferry_status st = read_key(r, &key);

    if (st == FERRY_OK)
        st = json_expect(r, ':', "expected ':' behind a key");
    if (st == FERRY_OK) {
        const place at = {.bundle = bundle, .key = key.data + (json_escape(key.data) > 1)};
        st = read_value(r, &at, depth, false);
        if (st == FERRY_OK && ferry_bundle_count(bundle) == before)
            st = json_wrong(r, begin, "a key for the second time");
    }
    buffer_drop(&key);
    return st;
}

/* Behind the '{'. */
static ferry_status read_members(json_text *r, ferry_bundle *bundle, int depth)
{
    ferry_status st = FERRY_OK;

    if (depth > FERRY_BUNDLE_MAX_DEPTH)
        return json_fail(r, r->at - 1, FERRY_ERR_LIMIT, "nested deeper than 128 levels");
    if (json_take(r, '}'))
        return FERRY_OK;
    do
        st = read_member(r, bundle, depth);
    while (st == FERRY_OK && json_take(r, ','));
    return st == FERRY_OK ? json_expect(r, '}', "expected ',' or '}' behind a value") : st;
}

static ferry_status read_list(json_text *r, const place *at, int depth)
{
    const char *const begin = r->at++;
    place inside = {0};
    ferry_status st;

    if (depth > FERRY_BUNDLE_MAX_DEPTH)
        return json_fail(r, begin, FERRY_ERR_LIMIT, "nested deeper than 128 levels");
    st = json_located(r, begin, place_list(at, &inside.list));
    if (st != FERRY_OK || json_take(r, ']'))
        return st;
    do
        st = read_value(r, &inside, depth, false);
    while (st == FERRY_OK && json_take(r, ','));
    return st == FERRY_OK ? json_expect(r, ']', "expected ',' or ']' behind a value") : st;
}

/* --- values with attributes --- */

/* Step over an object without looking closer: what is wrong inside is found when it is read. */
static ferry_status skip_object(json_text *r)
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
    return r->at < r->end ? json_expect(r, '}', "")
                          : json_wrong(r, begin, "an object without an end");
}

/* Attributes that come before their value, as tools that sort keys write them: the value is read
 * first all the same, since attributes go with a value. */
static ferry_status read_attributes_first(json_text *r, const place *at, int depth)
{
    ferry_bundle *attributes;
    const char *const begin = r->at;
    json_text back = *r;
    ferry_status st = json_peek(r) == '{' ? skip_object(r) : json_wrong(r, r->at, "expected '{'");

    if (st == FERRY_OK && !(json_take(r, ',') && json_peek(r) == '"' &&
                            json_take_word(r, "\"$value\"") && json_take(r, ':')))
        st = json_wrong(r, r->at, "expected \"$value\" behind \"$attributes\"");
    if (st == FERRY_OK)
        st = read_value(r, at, depth, true);
    if (st == FERRY_OK)
        st = json_located(r, begin, place_attributes(at, &attributes));
    if (st == FERRY_OK)
        st = json_expect(&back, '{', "expected '{'");
    return st == FERRY_OK ? read_members(&back, attributes, depth + 1) : st;
}

static ferry_status read_value_first(json_text *r, const place *at, int depth)
{
    ferry_bundle *attributes;
    ferry_status st = read_value(r, at, depth, true);

    if (st != FERRY_OK || !json_take(r, ','))
        return st;
    if (json_peek(r) != '"' || !json_take_word(r, "\"$attributes\"") || !json_take(r, ':') ||
        json_peek(r) != '{')
        return json_wrong(r, r->at, "expected \"$attributes\" behind \"$value\"");
    st = json_located(r, r->at, place_attributes(at, &attributes));
    r->at++;
    return st == FERRY_OK ? read_members(r, attributes, depth + 1) : st;
}

/* Behind a word and its colon. */
static ferry_status read_word(json_text *r, const place *at, ferry_type type, int depth)
{
    switch (type) {
    case FERRY_TYPE_NULL:
        return read_value_first(r, at, depth);
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        return json_read_text(r, at, type);
    case FERRY_TYPE_STRINGS:
        return json_read_strings(r, at);
    case FERRY_TYPE_ARRAY:
        return json_read_array(r, at);
    default:
        return json_read_scalar(r, at, type);
    }
}

/* What an object begins with: a word of json.h with its colon, which is then taken, or something
 * else, and then nothing is. */
static bool take_type(json_text *r, ferry_type *type_out, bool *attributes_out)
{
    json_text ahead = *r;
    buffer key = {0};
    bool found = json_peek(&ahead) == '"' && json_read_string(&ahead, &key) == FERRY_OK;

    buffer_add(&key, "", 1);
    found = found && !key.failed && strlen(key.data) + 1 == key.bytes &&
            json_word(key.data, type_out) && json_take(&ahead, ':');
    if (found) {
        *attributes_out = strcmp(key.data, "$attributes") == 0;
        *r = ahead;
    }
    buffer_drop(&key);
    return found;
}

static ferry_status read_object(json_text *r, const place *at, int depth, bool plain_only)
{
    const char *const begin = r->at++;
    ferry_bundle *child;
    ferry_type type;
    bool attributes;
    ferry_status st;

    if (!take_type(r, &type, &attributes)) {
        if (depth >= FERRY_BUNDLE_MAX_DEPTH)
            return json_fail(r, begin, FERRY_ERR_LIMIT, "nested deeper than 128 levels");
        st = json_located(r, begin, place_bundle(at, &child));
        return st == FERRY_OK ? read_members(r, child, depth + 1) : st;
    }
    if (plain_only && type == FERRY_TYPE_NULL)
        return json_wrong(r, begin, "\"$value\" right inside \"$value\"");
    st = attributes ? read_attributes_first(r, at, depth) : read_word(r, at, type, depth);
    return st == FERRY_OK ? json_expect(r, '}', "expected '}' behind the value of a \"$\" word")
                          : st;
}

static ferry_status read_value(json_text *r, const place *at, int depth, bool plain_only)
{
    const char next = json_peek(r);
    const char *const begin = r->at;
    const bool yes = next == 't';

    if (next == '{')
        return read_object(r, at, depth, plain_only);
    if (next == '[')
        return read_list(r, at, depth + 1);
    if (next == '"')
        return read_plain_string(r, at);
    if (json_take_word(r, "null"))
        return json_located(r, begin, place_null(at));
    if (json_take_word(r, "true") || json_take_word(r, "false"))
        return json_located(r, begin, place_scalar(at, FERRY_TYPE_BOOL, &yes));
    return read_plain_number(r, at);
}

/* --- the public calls --- */

static ferry_status read_all(json_text *r, ferry_bundle *bundle)
{
    const size_t sound = buffer_utf8(r->begin, (size_t)(r->end - r->begin));

    if (r->begin + sound != r->end)
        return json_wrong(r, r->begin + sound, "no UTF-8");
    json_take_word(r, "\xef\xbb\xbf"); /* the mark that some editors put first */
    if (!json_take(r, '{'))
        return json_wrong(r, r->at, "expected '{': the outermost value has to be an object");
    const ferry_status st = read_members(r, bundle, 1);
    if (st != FERRY_OK)
        return st;
    json_peek(r);
    return r->at == r->end ? FERRY_OK
                           : json_wrong(r, r->at, "more text behind the outermost value");
}

ferry_status ferry_convert_from_json(const char *text, size_t bytes, ferry_bundle **bundle_out)
{
    json_text r = {.begin = text, .at = text};
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
