/* Comparing two trees; see schema.h. */
#include "bundle/schema.h"

#include <string.h>

#include "base/text.h"
#include "base/trouble.h"
#include "bundle/attribute.h"
#include "bundle/print.h"
#include "bundle/value.h"

enum { WORDS_BYTES = 120, EXCERPT = 40 };

/* --- texts --- */

const char *schema_way(const way *to, char text[SCHEMA_WAY_BYTES])
{
    text_out out = {text, SCHEMA_WAY_BYTES, 0};

    text[0] = '\0';
    way_add(&out, to);
    return text;
}

/* What a side has at this place, in words. */
static const char *words_of(const value *v, char words[WORDS_BYTES])
{
    text_out out = {words, WORDS_BYTES, 0};
    const text_view begin = {v->text.data, v->text.bytes < EXCERPT ? v->text.bytes : EXCERPT};

    text_add(&out, "%s", ferry_type_name(v->type));
    if (v->type == FERRY_TYPE_ARRAY) {
        text_add(&out, " of %s", ferry_type_name(v->element));
        for (int k = 0; k < v->dims; k++)
            text_add(&out, "%s%lld", k ? " x " : " ", (long long)v->array.shape[k]);
    } else if (v->type == FERRY_TYPE_STRING) {
        text_add(&out, " ");
        print_text(&out, begin, false);
        text_add(&out, " of %zu bytes", v->text.bytes);
    } else if (v->type == FERRY_TYPE_BYTES) {
        text_add(&out, ", %zu of them", v->text.bytes);
    } else if (v->type == FERRY_TYPE_STRINGS) {
        text_add(&out, ", %zu of them", v->strings.count);
    } else if (value_is_tree(v)) {
        text_add(&out, " of %zu values", v->child->count);
    } else if (v->type != FERRY_TYPE_NULL) {
        text_add(&out, " ");
        print_scalar(&out, (ferry_type)v->type, v->scalar);
    }
    return words;
}

/* --- comparing --- */

typedef struct comparison {
    const schema_rules *rules;
    bool in_list;
} comparison;

static ferry_status differ(const comparison *c, const way *path, const value *a, const value *b,
                           ferry_status status)
{
    char at[SCHEMA_WAY_BYTES], words[2][WORDS_BYTES];

    words_of(a, words[0]);
    words_of(b, words[1]);
    return trouble(status, "\"%s\": %s has %s, %s has %s%s", schema_way(path, at),
                   c->rules->side[0], words[0], c->rules->side[1], words[1],
                   strcmp(words[0], words[1]) == 0 ? " with other content" : "");
}

static bool same_shape(const value *a, const value *b, int free_dim)
{
    for (int k = 0; k < a->dims; k++)
        if (k != free_dim && a->array.shape[k] != b->array.shape[k])
            return false;
    return true;
}

static ferry_status compare_arrays(const comparison *c, const way *path, const value *a,
                                   const value *b)
{
    int64_t strides[2][FERRY_ARRAY_MAX_DIMS];
    const int free_dim = c->rules->free_dim;
    const bool is_free = free_dim >= 0 && free_dim < a->dims;

    if (a->element != b->element || a->dims != b->dims)
        return differ(c, path, a, b, a->element != b->element ? FERRY_ERR_TYPE : FERRY_ERR_SHAPE);
    if (!same_shape(a, b, free_dim))
        return differ(c, path, a, b, FERRY_ERR_SHAPE);
    if (c->rules->values != SCHEMA_ALL || is_free)
        return FERRY_OK;
    const array_spec left = value_spec(a, strides[0]), right = value_spec(b, strides[1]);
    return array_equal(&left, &right) ? FERRY_OK : differ(c, path, a, b, FERRY_ERR_SHAPE);
}

/* Strings, bytes, arrays of strings. */
static ferry_status compare_texts(const comparison *c, const way *path, const value *a,
                                  const value *b)
{
    const size_t bytes = value_bytes(a);
    const bool same_count = a->type != FERRY_TYPE_STRINGS || a->strings.count == b->strings.count;

    if (same_count && bytes == value_bytes(b) &&
        (c->rules->values == SCHEMA_LENGTHS || memcmp(value_data(a), value_data(b), bytes) == 0))
        return FERRY_OK;
    return differ(c, path, a, b, FERRY_ERR_SHAPE);
}

static ferry_status compare_trees(const comparison *c, const way *outer, const tree *a,
                                  const tree *b);

static ferry_status compare_children(const comparison *c, const way *path, const value *a,
                                     const value *b)
{
    const bool is_list = a->type == FERRY_TYPE_LIST;
    const comparison inside = {c->rules, c->in_list || is_list};

    if (is_list && !c->in_list && c->rules->free_lists)
        return FERRY_OK;
    if (is_list && a->child->count != b->child->count)
        return differ(c, path, a, b, FERRY_ERR_SHAPE);
    return compare_trees(&inside, path, a->child, b->child);
}

static ferry_status compare_values(const comparison *c, const way *path, const value *a,
                                   const value *b)
{
    if (a->type != b->type)
        return differ(c, path, a, b, FERRY_ERR_TYPE);
    switch (a->type) {
    case FERRY_TYPE_ARRAY:
        return compare_arrays(c, path, a, b);
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
    case FERRY_TYPE_STRINGS:
        return compare_texts(c, path, a, b);
    case FERRY_TYPE_LIST:
    case FERRY_TYPE_BUNDLE:
        return compare_children(c, path, a, b);
    default:
        if (c->rules->values != SCHEMA_ALL ||
            memcmp(a->scalar, b->scalar, ferry_type_bytes(a->type)) == 0)
            return FERRY_OK;
        return differ(c, path, a, b, FERRY_ERR_SHAPE);
    }
}

/* The two have other keys: name the first one, from which on they differ. */
static ferry_status keys_differ(const comparison *c, const way *at, const tree *a, const tree *b)
{
    char path[SCHEMA_WAY_BYTES] = "";
    const size_t place = at->number;
    const tree *const with = place < a->count ? a : b;
    const way named = {at->before, with, place};

    schema_way(&named, path);
    if (place < a->count && place < b->count)
        return trouble(FERRY_ERR_TYPE, "\"%s\": %s has this key, %s has \"%.64s\" in its place",
                       path, c->rules->side[0], c->rules->side[1], b->keys[place]);
    return trouble(FERRY_ERR_TYPE, "\"%s\": %s has this key, %s has no key after %zu others", path,
                   c->rules->side[with == b], c->rules->side[with == a], place);
}

/* What is said of values is said of them: they are the same on both sides, unless all that moves.
 */
static ferry_status compare_attributes(const comparison *c, const way *at, const tree *a,
                                       const tree *b)
{
    const tree *const left = attributes_find(a, at->number), *const right =
                                                                 attributes_find(b, at->number);
    const schema_rules whole = {.side = {c->rules->side[0], c->rules->side[1]},
                                .values = c->rules->values == SCHEMA_LENGTHS ? SCHEMA_LENGTHS
                                                                             : SCHEMA_ALL,
                                .free_dim = -1};
    const comparison inside = {&whole, false};
    const way into = {at, NULL, 0};
    char text[SCHEMA_WAY_BYTES];

    if (!left && !right)
        return FERRY_OK;
    if (left && right)
        return compare_trees(&inside, &into, left, right);
    return trouble(FERRY_ERR_TYPE, "\"%s\": %s has attributes, %s has none", schema_way(at, text),
                   c->rules->side[!left], c->rules->side[!right]);
}

static ferry_status compare_trees(const comparison *c, const way *outer, const tree *a,
                                  const tree *b)
{
    way at = {outer, a, 0};
    const size_t most = a->count > b->count ? a->count : b->count;
    ferry_status st = FERRY_OK;

    for (; at.number < most && st == FERRY_OK; at.number++) {
        const size_t i = at.number;
        if (i >= a->count || i >= b->count || (!a->is_list && strcmp(a->keys[i], b->keys[i]) != 0))
            return keys_differ(c, &at, a, b);
        st = compare_values(c, &at, &a->values[i], &b->values[i]);
        if (st == FERRY_OK)
            st = compare_attributes(c, &at, a, b);
    }
    return st;
}

ferry_status schema_compare(const tree *a, const tree *b, const schema_rules *rules)
{
    const comparison c = {rules, false};

    return compare_trees(&c, NULL, a, b);
}
