/* Parts of trees; see split.h. */
#include "bundle/split.h"

#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "bundle/attribute.h"
#include "bundle/head.h"
#include "bundle/schema.h"
#include "bundle/value.h"

/* What is being cut: dimension of arrays, or lists. */
static int dim_of(ferry_split how)
{
    return how == FERRY_SPLIT_ROWS ? 0 : how == FERRY_SPLIT_COLUMNS ? 1 : FERRY_ARRAY_MAX_DIMS;
}

static bool cuts_array(const split_plan *plan, const value *v)
{
    return v->type == FERRY_TYPE_ARRAY && dim_of(plan->how) < v->dims;
}

static bool cuts_list(const split_plan *plan, const value *v)
{
    return v->type == FERRY_TYPE_LIST && plan->how == FERRY_SPLIT_LISTS;
}

/* --- checking --- */

static ferry_status check_pieces(const split_plan *plan, int64_t sum, const way *at, const value *v)
{
    const int64_t pieces =
        cuts_array(plan, v) ? v->array.shape[dim_of(plan->how)] : (int64_t)v->child->count;
    static const char *const words[] = {"rows", "columns", "elements"};
    char text[SCHEMA_WAY_BYTES];

    if (pieces == sum)
        return FERRY_OK;
    return trouble(FERRY_ERR_SHAPE, "\"%s\" has %lld %s, expected %lld, the sum of the counts",
                   schema_way(at, text), (long long)pieces, words[plan->how], (long long)sum);
}

static ferry_status check_tree(const split_plan *plan, int64_t sum, const way *outer, const tree *t)
{
    way at = {outer, t, 0};
    ferry_status st = FERRY_OK;

    for (; at.number < t->count && st == FERRY_OK; at.number++) {
        const value *const v = &t->values[at.number];
        if (cuts_array(plan, v) || cuts_list(plan, v))
            st = check_pieces(plan, sum, &at, v);
        else if (value_is_tree(v))
            st = check_tree(plan, sum, &at, v->child);
    }
    return st;
}

ferry_status split_check(const tree *whole, const split_plan *plan)
{
    int64_t sum = 0;

    for (int i = 0; plan->counts && i < plan->parts; i++)
        if (plan->counts[i] < 0 || !offset_add(sum, plan->counts[i], &sum))
            return trouble(FERRY_ERR_ARG, "counts[%d] is %lld, expected 0 or more%s", i,
                           (long long)plan->counts[i],
                           plan->counts[i] < 0 ? "" : ", and a sum of less than 2^63");
    return plan->counts ? check_tree(plan, sum, NULL, whole) : FERRY_OK;
}

/* --- making --- */

typedef struct maker {
    const split_plan *plan;
    int part;
    void *blocks;
} maker;

/* Zeroed memory that lives as long as the part. */
static ferry_status take(maker *m, size_t bytes, void **data_out)
{
    void **link;
    const ferry_status st = alloc_zero(1, sizeof(void *) + bytes, &link);

    if (st != FERRY_OK)
        return st;
    *link = m->blocks;
    m->blocks = link;
    *data_out = link + 1;
    return FERRY_OK;
}

/* The pieces of this part among `pieces`. */
static void range_of(const maker *m, int64_t pieces, int64_t *first_out, int64_t *count_out)
{
    const int64_t each = pieces / m->plan->parts, more = pieces % m->plan->parts, k = m->part;

    if (!m->plan->counts) {
        *first_out = k * each + (k < more ? k : more);
        *count_out = each + (k < more);
        return;
    }
    *first_out = 0;
    for (int i = 0; i < m->part; i++)
        *first_out += m->plan->counts[i];
    *count_out = m->plan->counts[m->part];
}

/* Shapes and strides of a cut array stand at `numbers`. */
static ferry_status cut_array(const maker *m, const value *whole, int64_t *numbers, value *v)
{
    int64_t own[FERRY_ARRAY_MAX_DIMS], first;
    const int dim = dim_of(m->plan->how);
    array_spec spec = value_spec(whole, own);
    array_form form;

    memcpy(numbers, spec.shape, (size_t)spec.dims * sizeof *numbers);
    memcpy(numbers + spec.dims, spec.strides, (size_t)spec.dims * sizeof *numbers);
    range_of(m, spec.shape[dim], &first, &numbers[dim]);
    size_t bytes;
    array_bytes(spec.element, spec.dims, numbers, &bytes);
    const char *const data = whole->array.data;
    spec.shape = numbers;
    spec.strides = numbers + spec.dims;
    spec.data = bytes ? data + first * spec.strides[dim] : data;
    const ferry_status st = array_check(&spec, &form);
    *v = *whole;
    /* The order is that of the whole, also where a part of one row could lie either way: joined
     * parts give the whole again. */
    const uint8_t column = whole->flags & VALUE_COLUMN;
    const bool dense = form.dense && (column || !form.column_major);
    v->flags = (uint8_t)(VALUE_BORROWED | (dense ? 0 : VALUE_STRIDED) | column);
    v->array.shape = numbers;
    v->array.data = spec.data;
    return st;
}

/* The attributes of `count` elements from `first` on, for a list that begins with them. */
static ferry_status cut_attributes(maker *m, const attribute_set *whole, size_t first, size_t count,
                                   attribute_set **part_out)
{
    const size_t begin = attributes_seek(whole, first),
                 number = attributes_seek(whole, first + count) - begin;
    attribute_set *part;
    const ferry_status st = take(m, sizeof *part + number * sizeof(attribute), (void **)&part);

    if (st != FERRY_OK)
        return st;
    part->count = (uint32_t)number;
    for (size_t i = 0; i < number; i++)
        part->at[i] = (attribute){whole->at[begin + i].place - first, whole->at[begin + i].tree};
    *part_out = part;
    return FERRY_OK;
}

/* A list with some of the elements, which stay where they are. */
static ferry_status cut_list(maker *m, const value *whole, value *v)
{
    const tree *const list = whole->child;
    int64_t first, count;
    tree *part;
    ferry_status st = take(m, sizeof *part, (void **)&part);

    if (st != FERRY_OK)
        return st;
    range_of(m, (int64_t)list->count, &first, &count);
    *part = (tree){.values = list->count ? list->values + first : NULL,
                   .count = (size_t)count,
                   .is_list = true};
    if (list->attributes)
        st = cut_attributes(m, list->attributes, (size_t)first, (size_t)count, &part->attributes);
    v->child = part;
    return st;
}

static ferry_status cut_tree(maker *m, const tree *whole, tree **part_out);

static ferry_status cut_value(maker *m, const value *whole, int64_t **numbers, value *v)
{
    ferry_status st = FERRY_OK;

    *v = *whole;
    if (cuts_array(m->plan, whole)) {
        st = cut_array(m, whole, *numbers, v);
        *numbers += 2 * whole->dims;
    } else if (cuts_list(m->plan, whole)) {
        st = cut_list(m, whole, v);
    } else if (value_is_tree(whole)) {
        st = cut_tree(m, whole->child, &v->child);
    }
    return st;
}

/* Record, values, and the numbers of arrays are one block; keys and attributes are those of the
 * whole. */
static ferry_status cut_tree(maker *m, const tree *whole, tree **part_out)
{
    size_t numbers = 0;
    char *block;

    for (size_t i = 0; i < whole->count; i++)
        if (cuts_array(m->plan, &whole->values[i]))
            numbers += 2u * whole->values[i].dims;
    ferry_status st =
        take(m, sizeof(tree) + whole->count * sizeof(value) + numbers * sizeof(int64_t),
             (void **)&block);
    if (st != FERRY_OK)
        return st;
    tree *const part = (tree *)block;
    *part = (tree){.values = (value *)(part + 1),
                   .keys = whole->keys,
                   .count = whole->count,
                   .attributes = whole->attributes,
                   .is_list = whole->is_list};
    int64_t *next = (int64_t *)(part->values + part->count);
    for (size_t i = 0; i < whole->count && st == FERRY_OK; i++)
        st = cut_value(m, &whole->values[i], &next, &part->values[i]);
    *part_out = part;
    return st;
}

ferry_status split_make(const tree *whole, const split_plan *plan, int part, split_part *part_out)
{
    maker m = {.plan = plan, .part = part};
    split_part made = {0};
    const ferry_status st = cut_tree(&m, whole, &made.root);

    made.blocks = m.blocks;
    if (st == FERRY_OK)
        *part_out = made;
    else
        split_drop(&made);
    return st;
}

void split_drop(split_part *part)
{
    head_forget(part->root);
    for (void *block = part->blocks; block;) {
        void *const next = *(void **)block;
        alloc_free(block);
        block = next;
    }
    *part = (split_part){0};
}
