/* A tree as text: one value a line, indented by its level. A table says how a single value of each
 * type is written; see print.h for what others use. */
#include "bundle/print.h"

#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/text.h"
#include "bundle/attribute.h"

enum { FIRST_ELEMENTS = 6, FIRST_BYTES = 60 }; /* what is shown of long values */

typedef void scalar_text(text_out *out, const void *bits);

#define SCALAR_TEXT(name, type, format, ...)                                                       \
  static void name(text_out *out, const void *bits)                                                \
  {                                                                                                \
    type x;                                                                                        \
    memcpy(&x, bits, sizeof x);                                                                    \
    text_add(out, format, __VA_ARGS__);                                                            \
  }
SCALAR_TEXT(bool_text, unsigned char, "%s", x ? "true" : "false")
SCALAR_TEXT(int8_text, int8_t, "%d", x)
SCALAR_TEXT(int16_text, int16_t, "%d", x)
SCALAR_TEXT(int32_text, int32_t, "%ld", (long)x)
SCALAR_TEXT(int64_text, int64_t, "%lld", (long long)x)
SCALAR_TEXT(uint8_text, uint8_t, "%u", x)
SCALAR_TEXT(uint16_text, uint16_t, "%u", x)
SCALAR_TEXT(uint32_text, uint32_t, "%lu", (unsigned long)x)
SCALAR_TEXT(uint64_text, uint64_t, "%llu", (unsigned long long)x)
SCALAR_TEXT(float32_text, float, "%.9g", (double)x)
SCALAR_TEXT(float64_text, double, "%.17g", x)
SCALAR_TEXT(complex64_text, ferry_complex64, "%.9g%+.9gi", (double)x.re, (double)x.im)
SCALAR_TEXT(complex128_text, ferry_complex128, "%.17g%+.17gi", x.re, x.im)
#undef SCALAR_TEXT

static scalar_text *const scalar_texts[] = {
#define ENTRY(word, WORD, type) [FERRY_TYPE_##WORD] = word##_text,
    FERRY_SCALAR_LIST(ENTRY)
#undef ENTRY
};

void print_scalar(text_out *out, ferry_type type, const void *bits)
{
    scalar_texts[type](out, bits);
}

static void quote(text_out *out, const char *text, size_t bytes, bool utf8)
{
    text_add(out, "\"");
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\')
            text_add(out, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !utf8))
            text_add(out, "\\x%02x", byte);
        else
            text_add(out, "%c", byte);
    }
    text_add(out, "\"");
}

void print_text(text_out *out, text_view view, bool utf8)
{
    size_t shown = size_min(view.bytes, FIRST_BYTES);

    while (utf8 && shown > 0 && shown < view.bytes && (view.data[shown] & 0xc0) == 0x80)
        shown--; /* not within a character */
    quote(out, view.data, shown, utf8);
    if (shown < view.bytes)
        text_add(out, "... (%zu bytes)", view.bytes);
}

static void add_strings(text_out *out, const value *v)
{
    const size_t count = v->strings.count;

    text_add(out, "[%zu]%s", count, count ? ":" : "");
    for (size_t i = 0; i < size_min(count, FIRST_ELEMENTS); i++) {
        text_add(out, " ");
        print_text(out, strings_view(v, i), value_utf8(v));
    }
    if (count > FIRST_ELEMENTS)
        text_add(out, " ...");
}

void print_shape(text_out *out, int dims, const int64_t *shape)
{
    for (int k = 0; k < dims; k++)
        text_add(out, "%s%lld", k ? " x " : "", (long long)shape[k]);
}

void print_kind(text_out *out, const value *v)
{
    const bool is_array = v->type == FERRY_TYPE_ARRAY;

    text_add(out, "%s", ferry_type_name(is_array ? v->element : v->type));
    if (!is_array)
        return;
    text_add(out, " [");
    print_shape(out, v->dims, v->array.shape);
    text_add(out, "]%s", v->flags & VALUE_COLUMN ? " column-major" : "");
}

static void add_array(text_out *out, const value *v)
{
    int64_t strides[FERRY_ARRAY_MAX_DIMS];
    const array_spec spec = value_spec(v, strides);
    const size_t count = value_bytes(v) / ferry_type_bytes(spec.element);

    text_add(out, "%s", count ? ":" : "");
    for (size_t i = 0; i < size_min(count, FIRST_ELEMENTS); i++) {
        text_add(out, " ");
        scalar_texts[spec.element](out, (const char *)spec.data + array_offset(&spec, i));
    }
    if (count > FIRST_ELEMENTS)
        text_add(out, " ...");
}

static void add_tree(text_out *out, const tree *t, int level);

static void add_value(text_out *out, const value *v, int level)
{
    print_kind(out, v);
    if (v->type != FERRY_TYPE_ARRAY)
        text_add(out, " ");
    switch (v->type) {
    case FERRY_TYPE_ARRAY:
        add_array(out, v);
        break;
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        print_text(out, v->text, v->type == FERRY_TYPE_STRING && value_utf8(v));
        break;
    case FERRY_TYPE_STRINGS:
        add_strings(out, v);
        break;
    case FERRY_TYPE_LIST:
    case FERRY_TYPE_BUNDLE:
        add_tree(out, v->child, level);
        return;
    case FERRY_TYPE_NULL:
        break;
    default:
        scalar_texts[v->type](out, v->scalar);
    }
    text_add(out, "\n");
}

static void add_tree(text_out *out, const tree *t, int level)
{
    text_add(out, "of %zu\n", t->count);
    for (size_t i = 0; i < t->count; i++) {
        text_add(out, "%*s", 2 * level + 2, "");
        if (t->is_list)
            text_add(out, "%zu", i);
        else
            quote(out, t->keys[i], strlen(t->keys[i]), true);
        text_add(out, ": ");
        add_value(out, &t->values[i], level + 1);
        const tree *const its = attributes_find(t, i);
        if (!its)
            continue;
        text_add(out, "%*s@: bundle ", 2 * level + 4, "");
        add_tree(out, its, level + 2);
    }
}

size_t ferry_bundle_print(const ferry_bundle *bundle, char *text, size_t bytes)
{
    text_out out = {text, bytes, 0};

    if (bytes > 0)
        *text = '\0';
    if (!bundle) {
        text_add(&out, "none");
        return out.needed;
    }
    text_add(&out, "bundle ");
    add_tree(&out, &bundle->tree, 0);
    return out.needed;
}
