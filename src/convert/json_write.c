/* From a bundle to JSON text. Values that JSON has are written as they are, others as an object
 * with one of the words of json.h. Knows nothing of files. */
#include "convert/buffer.h"
#include "convert/json.h"
#include "convert/number.h"
#include "convert/place.h"
#include "ferry/convert.h"

#include <math.h>
#include <stdlib.h>

enum { INDENT = 2 };

bool json_word(const char *key, ferry_type *type_out)
{
    static const ferry_type others[] = {FERRY_TYPE_STRING, FERRY_TYPE_BYTES, FERRY_TYPE_ARRAY,
                                        FERRY_TYPE_STRINGS};

    if (key[0] != '$')
        return false;
    if (strcmp(key + 1, "value") == 0 || strcmp(key + 1, "attributes") == 0) {
        *type_out = FERRY_TYPE_NULL;
        return true;
    }
    for (int type = FERRY_TYPE_INT8; type <= FERRY_TYPE_COMPLEX128; type++)
        if (strcmp(key + 1, ferry_type_name((ferry_type)type)) == 0) {
            *type_out = (ferry_type)type;
            return true;
        }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(key + 1, ferry_type_name(others[i])) == 0) {
            *type_out = others[i];
            return true;
        }
    return false;
}

int json_escape(const char *key)
{
    const size_t signs = strspn(key, "$");
    ferry_type type;

    return signs > 0 && json_word(key + signs - 1, &type) ? (int)signs : 0;
}

/* --- pieces --- */

/* What stands between the quotes. */
static void write_escaped(buffer *t, const char *data, size_t bytes)
{
    size_t from = 0;

    for (size_t i = 0; i < bytes; i++) {
        const unsigned char c = (unsigned char)data[i];
        if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
            continue;
        buffer_add(t, data + from, i - from);
        from = i + 1;
        if (c == '"' || c == '\\')
            buffer_format(t, "\\%c", c);
        else if (c == '\n')
            buffer_word(t, "\\n");
        else if (c == '\t')
            buffer_word(t, "\\t");
        else
            buffer_format(t, "\\u%04x", c);
    }
    buffer_add(t, data + from, bytes - from);
}

static void write_string(buffer *t, const char *data, size_t bytes)
{
    buffer_word(t, "\"");
    write_escaped(t, data, bytes);
    buffer_word(t, "\"");
}

static void write_key(buffer *t, const char *key)
{
    buffer_word(t, json_escape(key) > 0 ? "\"$" : "\"");
    write_escaped(t, key, strlen(key));
    buffer_word(t, "\": ");
}

static void new_line(buffer *t, int depth)
{
    static const char blanks[] = "                                ";

    buffer_word(t, "\n");
    for (size_t left = (size_t)depth * INDENT; left > 0;) {
        const size_t part = left < sizeof blanks - 1 ? left : sizeof blanks - 1;
        buffer_add(t, blanks, part);
        left -= part;
    }
}

static void open_word(buffer *t, ferry_type type)
{
    buffer_word(t, "{\"$");
    buffer_word(t, ferry_type_name(type));
    buffer_word(t, "\": ");
}

/* --- values --- */

static void write_text(buffer *t, const ferry_item *item)
{
    if (item->type == FERRY_TYPE_STRING && item->utf8) {
        write_string(t, item->data, item->count);
        return;
    }
    open_word(t, item->type);
    buffer_word(t, "\"");
    buffer_base64(t, item->data, item->count);
    buffer_word(t, "\"}");
}

static void write_strings(buffer *t, const ferry_item *item)
{
    open_word(t, FERRY_TYPE_STRINGS);
    buffer_word(t, "[");
    for (size_t i = 0; i < item->count; i++) {
        size_t bytes = 0;
        const char *const one = ferry_item_string(item, i, &bytes);
        buffer_word(t, i > 0 ? ", " : "");
        write_text(t, &(ferry_item){.type = FERRY_TYPE_STRING,
                                    .utf8 = buffer_utf8(one, bytes) == bytes,
                                    .data = one,
                                    .count = bytes});
    }
    buffer_word(t, "]}");
}

/* Plain where JSON's own numbers give the same type back. */
static bool is_plain(ferry_type type, const void *bits)
{
    uint64_t integer;
    double real;

    switch (type) {
    case FERRY_TYPE_BOOL:
    case FERRY_TYPE_INT64:
        return true;
    case FERRY_TYPE_UINT64:
        memcpy(&integer, bits, sizeof integer);
        return integer > INT64_MAX;
    case FERRY_TYPE_FLOAT64:
        memcpy(&real, bits, sizeof real);
        return isfinite(real);
    default:
        return false;
    }
}

static void write_scalar(buffer *t, const ferry_item *item)
{
    const bool pair = item->type == FERRY_TYPE_COMPLEX64 || item->type == FERRY_TYPE_COMPLEX128;

    if (is_plain(item->type, item->data)) {
        number_write(t, item->type, item->data);
        return;
    }
    open_word(t, item->type);
    buffer_word(t, pair ? "[" : "");
    number_write(t, item->type, item->data);
    buffer_word(t, pair ? "]}" : "}");
}

static void write_elements(buffer *t, const ferry_item *item)
{
    const size_t bytes = ferry_type_bytes(item->element);

    buffer_word(t, ", \"data\": [");
    for (size_t i = 0; i < item->count && !t->failed; i++) {
        buffer_word(t, i > 0 ? ", " : "");
        number_write(t, item->element, (const char *)item->data + i * bytes);
    }
    buffer_word(t, "]}");
}

static ferry_status write_array(buffer *t, const ferry_item *item)
{
    ferry_bundle *holder;
    ferry_item dense;
    const ferry_status st = place_dense(item, &holder, &dense);

    if (st != FERRY_OK)
        return st;
    open_word(t, FERRY_TYPE_ARRAY);
    buffer_format(t, "\"%s\", \"shape\": [", ferry_type_name(dense.element));
    for (int k = 0; k < dense.dims; k++)
        buffer_format(t, "%s%lld", k > 0 ? ", " : "", (long long)dense.shape[k]);
    buffer_word(t, dense.column_major ? "], \"order\": \"column\"" : "]");
    write_elements(t, &dense);
    ferry_bundle_free(holder);
    return FERRY_OK;
}

static ferry_status write_value(buffer *t, const ferry_item *item, int depth);

/* All values between two brackets, one a line. */
static ferry_status write_branch(buffer *t, branch b, int depth)
{
    const size_t count = branch_count(b);
    ferry_item item;

    buffer_word(t, b.bundle ? "{" : "[");
    for (size_t i = 0; i < count; i++) {
        ferry_status st = branch_item(b, i, &item);
        if (st != FERRY_OK)
            return st;
        buffer_word(t, i > 0 ? "," : "");
        new_line(t, depth + 1);
        if (b.bundle)
            write_key(t, item.key);
        st = write_value(t, &item, depth + 1);
        if (st != FERRY_OK)
            return st;
    }
    if (count > 0)
        new_line(t, depth);
    buffer_word(t, b.bundle ? "}" : "]");
    return FERRY_OK;
}

static ferry_status write_content(buffer *t, const ferry_item *item, int depth)
{
    switch (item->type) {
    case FERRY_TYPE_NULL:
        buffer_word(t, "null");
        return FERRY_OK;
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        write_text(t, item);
        return FERRY_OK;
    case FERRY_TYPE_STRINGS:
        write_strings(t, item);
        return FERRY_OK;
    case FERRY_TYPE_ARRAY:
        return write_array(t, item);
    case FERRY_TYPE_LIST:
        return write_branch(t, (branch){.list = item->list}, depth);
    case FERRY_TYPE_BUNDLE:
        return write_branch(t, (branch){.bundle = item->bundle}, depth);
    default:
        write_scalar(t, item);
        return FERRY_OK;
    }
}

static ferry_status write_value(buffer *t, const ferry_item *item, int depth)
{
    ferry_status st;

    if (!item->attributes)
        return write_content(t, item, depth);
    buffer_word(t, "{\"$value\": ");
    st = write_content(t, item, depth);
    if (st != FERRY_OK)
        return st;
    buffer_word(t, ", \"$attributes\": ");
    st = write_branch(t, (branch){.bundle = item->attributes}, depth);
    buffer_word(t, "}");
    return st;
}

/* --- the public calls --- */

static ferry_status write_all(buffer *t, const ferry_bundle *bundle)
{
    const number_locale locale = number_begin();
    const ferry_status st = write_branch(t, (branch){.bundle = bundle}, 0);

    number_end(locale);
    buffer_word(t, "\n");
    return st;
}

ferry_status ferry_convert_to_json(const ferry_bundle *bundle, char **text_out)
{
    buffer t = {0};

    if (!bundle || !text_out)
        return ferry_status_fail(FERRY_ERR_ARG, "ferry_convert_to_json: %s is NULL",
                                 bundle ? "text_out" : "bundle");
    const ferry_status st = write_all(&t, bundle);
    if (st != FERRY_OK) {
        buffer_drop(&t);
        return st;
    }
    return buffer_finish(&t, text_out);
}

void ferry_convert_free(char *text)
{
    free(text);
}

ferry_status ferry_convert_save_json(const ferry_bundle *bundle, const char *path)
{
    output o;
    char *json;
    ferry_status st = output_begin(path, &o);

    if (st == FERRY_OK)
        st = ferry_convert_to_json(bundle, &json);
    if (st != FERRY_OK)
        return st;
    st = output_end(&o, output_write(&o, json, strlen(json)));
    free(json);
    return st;
}
