/* Are two trees equal, bit for bit? And where do they differ first? One walk answers both: equal
 * trees cost nothing more, and what is said of a difference is made when it is found. */
#include <string.h>

#include "bundle/attribute.h"
#include "bundle/print.h"
#include "bundle/step.h"

/* --- what differs between two values of one type --- */

/* A single value; its bits too when what people read is the same. */
static void add_scalars(text_out *out, ferry_type type, const void *a, const void *b)
{
    const size_t bytes = ferry_type_bytes(type);
    char text[2][80];
    text_out one[2] = {{text[0], sizeof text[0], 0}, {text[1], sizeof text[1], 0}};

    for (int side = 0; side < 2; side++) {
        const unsigned char *const bits = side ? b : a;
        print_scalar(&one[side], type, bits);
        text_add(&one[side], " (0x");
        for (size_t i = bytes; i > 0; i--)
            text_add(&one[side], "%02x", bits[i - 1]);
        text_add(&one[side], ")");
    }
    text_add(out, "%s in the first, %s in the second", text[0], text[1]);
}

static void add_texts(text_out *out, text_view a, text_view b, bool utf8)
{
    size_t same = 0;

    while (same < a.bytes && same < b.bytes && a.data[same] == b.data[same])
        same++;
    text_add(out, "from byte %zu on: ", same);
    print_text(out, a, utf8);
    text_add(out, " in the first, ");
    print_text(out, b, utf8);
    text_add(out, " in the second");
}

static void add_strings(text_out *out, const value *a, const value *b)
{
    for (size_t i = 0; i < a->strings.count; i++) {
        const text_view one = strings_view(a, i), other = strings_view(b, i);
        if (one.bytes == other.bytes && memcmp(one.data, other.data, one.bytes) == 0)
            continue;
        text_add(out, "string %zu differs ", i);
        add_texts(out, one, other, value_utf8(a) && value_utf8(b));
        return;
    }
}

/* The indices of an element with a number in C order. */
static void add_indices(text_out *out, const array_spec *spec, size_t number)
{
    size_t below = 1;

    for (int k = 1; k < spec->dims; k++)
        below *= (size_t)spec->shape[k];
    text_add(out, "element (");
    for (int k = 0; k < spec->dims; k++) {
        text_add(out, "%s%zu", k ? ", " : "", number / below);
        number %= below;
        below /= k + 1 < spec->dims ? (size_t)spec->shape[k + 1] : 1;
    }
    text_add(out, "): ");
}

static void add_elements(text_out *out, const array_spec *a, const array_spec *b, size_t count)
{
    const size_t bytes = ferry_type_bytes(a->element);

    for (size_t i = 0; i < count; i++) {
        const char *const one = (const char *)a->data + array_offset(a, i), *const other =
                                                                                (const char *)
                                                                                    b->data +
                                                                                array_offset(b, i);
        if (memcmp(one, other, bytes) == 0)
            continue;
        add_indices(out, a, i);
        add_scalars(out, a->element, one, other);
        return;
    }
}

/* --- values --- */

/* Says where and what kinds differ; true, as a difference was found. Never with `out` NULL. */
static void differ(text_out *out, const way *to, const char *what)
{
    way_add(out, to);
    text_add(out, "%s%s", to ? ": " : "", what);
}

/* The type, the shape or the length differ. */
static bool kinds_differ(text_out *out, const way *to, const value *a, const value *b)
{
    const value *const both[2] = {a, b};

    if (!out)
        return false;
    differ(out, to, "");
    for (int side = 0; side < 2; side++) {
        const value *const v = both[side];
        print_kind(out, v);
        if (v->type == FERRY_TYPE_STRING || v->type == FERRY_TYPE_BYTES)
            text_add(out, " of %zu bytes", v->text.bytes);
        if (v->type == FERRY_TYPE_STRINGS)
            text_add(out, " [%zu]", v->strings.count);
        text_add(out, "%s", side ? " in the second" : " in the first, ");
    }
    return false;
}

static bool equal_arrays(const value *a, const value *b, const way *to, text_out *out)
{
    int64_t strides_a[FERRY_ARRAY_MAX_DIMS], strides_b[FERRY_ARRAY_MAX_DIMS];
    const array_spec spec_a = value_spec(a, strides_a), spec_b = value_spec(b, strides_b);

    if (a->element != b->element || a->dims != b->dims ||
        (a->flags & VALUE_COLUMN) != (b->flags & VALUE_COLUMN) ||
        memcmp(a->array.shape, b->array.shape, a->dims * sizeof *a->array.shape) != 0)
        return kinds_differ(out, to, a, b);
    if (array_equal(&spec_a, &spec_b))
        return true;
    if (out) {
        differ(out, to, "");
        add_elements(out, &spec_a, &spec_b, value_bytes(a) / ferry_type_bytes(a->element));
    }
    return false;
}

/* Values whose data lie in one piece: texts, arrays of strings, single values. */
static bool equal_data(const value *a, const value *b, const way *to, text_out *out)
{
    const size_t bytes = value_bytes(a);
    const bool is_strings = a->type == FERRY_TYPE_STRINGS,
               is_text = a->type == FERRY_TYPE_STRING || a->type == FERRY_TYPE_BYTES;

    if (is_strings && a->strings.count != b->strings.count)
        return kinds_differ(out, to, a, b);
    if (bytes == value_bytes(b) && (bytes == 0 || memcmp(value_data(a), value_data(b), bytes) == 0))
        return true;
    if (!out)
        return false;
    if (is_text && bytes != value_bytes(b))
        return kinds_differ(out, to, a, b);
    differ(out, to, "");
    if (is_strings)
        add_strings(out, a, b);
    else if (is_text)
        add_texts(out, a->text, b->text, a->type == FERRY_TYPE_STRING && value_utf8(a));
    else
        add_scalars(out, a->type, a->scalar, b->scalar);
    return false;
}

static bool equal_trees(const tree *a, const tree *b, const way *to, text_out *out);

static bool equal_values(const value *a, const value *b, const way *to, text_out *out)
{
    if (a->type != b->type)
        return kinds_differ(out, to, a, b);
    switch (a->type) {
    case FERRY_TYPE_ARRAY:
        return equal_arrays(a, b, to, out);
    case FERRY_TYPE_LIST:
    case FERRY_TYPE_BUNDLE:
        return equal_trees(a->child, b->child, to, out);
    default:
        return equal_data(a, b, to, out);
    }
}

static bool equal_attributes(const tree *a, const tree *b, const way *to, text_out *out)
{
    const tree *const one = attributes_find(a, to->number), *const other =
                                                                attributes_find(b, to->number);
    const way inside = {to, NULL, 0};

    if (one && other)
        return equal_trees(one, other, &inside, out);
    if (one == other)
        return true;
    if (out)
        differ(out, to, one ? "only the first has attributes" : "only the second has attributes");
    return false;
}

/* --- trees --- */

/* Bundles whose keys at one place differ: say of which kind that is. */
static void say_keys(text_out *out, const way *to, const tree *a, const tree *b, size_t at)
{
    const char *const one = at < a->count ? a->keys[at] : NULL, *const other = at < b->count
                                                                                   ? b->keys[at]
                                                                                   : NULL;
    const bool missing = one && tree_find(b, one) == SIZE_MAX;

    if (!missing && one && tree_find(a, other) != SIZE_MAX) {
        differ(out, to, "");
        text_add(out, "other order: key %zu is \"%.60s\" in the first, \"%.60s\" in the second", at,
                 one, other);
        return;
    }
    const way inside = {to, missing ? a : b, at};
    differ(out, &inside, missing ? "only in the first" : "only in the second");
}

static bool equal_keys(const tree *a, const tree *b, const way *to, text_out *out)
{
    const size_t at = to->number;

    if (at < a->count && at < b->count && (a->is_list || strcmp(a->keys[at], b->keys[at]) == 0))
        return true;
    if (out && !a->is_list)
        say_keys(out, to->before, a, b, at);
    else if (out) {
        differ(out, to->before, "");
        text_add(out, "%zu values in the first, %zu in the second", a->count, b->count);
    }
    return false;
}

static bool equal_trees(const tree *a, const tree *b, const way *to, text_out *out)
{
    const size_t count = a->count > b->count ? a->count : b->count;

    if (a->count != b->count && !out)
        return false;
    for (size_t i = 0; i < count; i++) {
        const way here = {to, a, i};
        if (!equal_keys(a, b, &here, out) ||
            !equal_values(&a->values[i], &b->values[i], &here, out))
            return false;
        if ((a->attributes || b->attributes) && !equal_attributes(a, b, &here, out))
            return false;
    }
    return true;
}

int ferry_bundle_equal(const ferry_bundle *a, const ferry_bundle *b)
{
    if (!a || !b)
        return a == b;
    return equal_trees(&a->tree, &b->tree, NULL, NULL);
}

int ferry_bundle_compare(const ferry_bundle *a, const ferry_bundle *b, char *text, size_t bytes)
{
    text_out out = {text, bytes, 0};

    if (text && bytes > 0)
        *text = '\0';
    if (!text)
        out.room = 0;
    if (!a || !b) {
        if (a != b)
            text_add(&out, "the %s bundle is NULL", a ? "second" : "first");
        return a == b;
    }
    return equal_trees(&a->tree, &b->tree, NULL, &out);
}
