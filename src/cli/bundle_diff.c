/* `ferry bundle diff`: where two bundles differ. The first difference is the library's to tell; all
 * of them are found by walking over one bundle and looking each path up in the other. */
#include <stdio.h>
#include <string.h>

#include "cli/bundle.h"
#include "ferry/bundle_path.h"

enum { TEXT_BYTES = 4096 };

typedef struct search {
    const ferry_bundle *other;
    const char *name; /* of the file that is walked over */
    bool missing;     /* look for paths that the other has not, and at nothing else */
    size_t found;
} search;

static bool same_strings(const ferry_item *a, const ferry_item *b)
{
    for (size_t i = 0; i < a->count; i++) {
        size_t bytes = 0, others = 0;
        const char *const one = ferry_item_string(a, i, &bytes);
        const char *const other = ferry_item_string(b, i, &others);
        if (bytes != others || memcmp(one, other, bytes) != 0)
            return false;
    }
    return true;
}

/* Values of one type; elements lie dense, since both come from files. */
static bool same_content(const ferry_item *a, const ferry_item *b)
{
    const size_t unit = a->type == FERRY_TYPE_ARRAY ? ferry_type_bytes(a->element)
                        : ferry_type_bytes(a->type) ? ferry_type_bytes(a->type)
                                                    : 1;

    if (a->bundle || a->list || a->type == FERRY_TYPE_NULL)
        return true; /* what is inside is visited by itself */
    if (a->count != b->count || a->column_major != b->column_major)
        return false;
    if (a->type == FERRY_TYPE_STRINGS)
        return same_strings(a, b);
    return a->count == 0 || memcmp(a->data, b->data, a->count * unit) == 0;
}

static bool same_shape(const ferry_item *a, const ferry_item *b)
{
    return a->dims == b->dims &&
           (a->dims == 0 || memcmp(a->shape, b->shape, (size_t)a->dims * sizeof *a->shape) == 0);
}

static const char *difference(const ferry_item *a, const ferry_item *b)
{
    if (a->type != b->type)
        return "types differ";
    if (a->element != b->element)
        return "types of elements differ";
    if (!same_shape(a, b))
        return "shapes differ";
    return same_content(a, b) ? NULL : "values differ";
}

static ferry_status visit(void *user, const char *path, const ferry_item *item)
{
    search *const s = user;
    ferry_item other;

    if (ferry_path_item(s->other, path, &other) != FERRY_OK) {
        printf("%s: only in %s\n", path, s->name);
        s->found++;
        return FERRY_OK;
    }
    const char *const what = s->missing ? NULL : difference(item, &other);
    if (what) {
        printf("%s: %s (%s, %s)\n", path, what, ferry_type_name(item->type),
               ferry_type_name(other.type));
        s->found++;
    }
    return FERRY_OK;
}

void bundle_print_difference(const ferry_bundle *a, const ferry_bundle *b)
{
    char text[TEXT_BYTES];

    if (!ferry_bundle_compare(a, b, text, sizeof text))
        printf("%s\n", text);
}

void bundle_print_differences(const char *const names[2], const ferry_bundle *a,
                              const ferry_bundle *b)
{
    search first = {.other = b, .name = names[0]}, second = {a, names[1], true, 0};

    ferry_bundle_walk(a, visit, &first);
    ferry_bundle_walk(b, visit, &second);
    if (first.found + second.found == 0) /* the same values in another order */
        bundle_print_difference(a, b);
}
