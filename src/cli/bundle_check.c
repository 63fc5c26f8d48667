/* `ferry bundle check`: counts what a bundle holds. Each value is visited once, its attributes too.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/bundle.h"
#include "cli/say.h"
#include "ferry/bundle_item.h"

enum { TYPES = FERRY_TYPE_STRINGS + 1 };

typedef struct counts {
    uint64_t values[TYPES]; /* by type */
    uint64_t attributes;    /* values that have some */
    uint64_t bytes;         /* of all values */
    int depth;
} counts;

static void count_bundle(counts *c, const ferry_bundle *bundle, int depth);
static void count_list(counts *c, const ferry_list *list, int depth);

static uint64_t bytes_of(const ferry_item *item)
{
    uint64_t bytes = 0;

    switch (item->type) {
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        return item->count;
    case FERRY_TYPE_ARRAY:
        return item->count * ferry_type_bytes(item->element);
    case FERRY_TYPE_STRINGS:
        for (size_t i = 0; i < item->count; i++) {
            size_t length = 0;
            ferry_item_string(item, i, &length);
            bytes += length;
        }
        return bytes;
    default:
        return ferry_type_bytes(item->type);
    }
}

static void count_item(counts *c, const ferry_item *item, int depth)
{
    if ((int)item->type < TYPES)
        c->values[item->type]++;
    c->bytes += bytes_of(item);
    if (item->attributes) {
        c->attributes++;
        count_bundle(c, item->attributes, depth + 1);
    }
    if (item->bundle)
        count_bundle(c, item->bundle, depth + 1);
    if (item->list)
        count_list(c, item->list, depth + 1);
}

static void count_bundle(counts *c, const ferry_bundle *bundle, int depth)
{
    ferry_item item;

    c->depth = depth > c->depth ? depth : c->depth;
    for (size_t i = 0; i < ferry_bundle_count(bundle); i++)
        if (ferry_bundle_item(bundle, i, &item) == FERRY_OK)
            count_item(c, &item, depth);
}

static void count_list(counts *c, const ferry_list *list, int depth)
{
    ferry_item item;

    c->depth = depth > c->depth ? depth : c->depth;
    for (size_t i = 0; i < ferry_list_count(list); i++)
        if (ferry_list_item(list, i, &item) == FERRY_OK)
            count_item(c, &item, depth);
}

void bundle_print_counts(const char *file, const bundle_format *format, const ferry_bundle *bundle)
{
    counts c = {0};
    uint64_t values = 0;
    char size[SAY_SIZE_BYTES];

    count_bundle(&c, bundle, 1);
    for (int type = 0; type < TYPES; type++)
        values += c.values[type];
    printf("%s: sound, format %s\n", file, bundle_format_name(format));
    printf("  %-12s %" PRIu64 "\n", "values", values);
    for (int type = 0; type < TYPES; type++)
        if (c.values[type] > 0)
            printf("    %-10s %" PRIu64 "\n", ferry_type_name((ferry_type)type), c.values[type]);
    if (c.attributes > 0)
        printf("  %-12s %" PRIu64 "\n", "attributed", c.attributes);
    printf("  %-12s %" PRIu64 " (%s)\n", "bytes", c.bytes, say_bytes(c.bytes, size));
    printf("  %-12s %d\n", "depth", c.depth);
}
