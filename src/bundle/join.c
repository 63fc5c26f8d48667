/* Putting trees together; see join.h. The parts are compared first; then the joined tree is made
 * value by value, each walking all parts. What is not joined comes from the first part. */
#include "bundle/join.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "bundle/attribute.h"
#include "bundle/schema.h"
#include "bundle/value.h"

typedef struct joint {
    const tree *const *parts; /* the trees at one place of all parts */
    size_t count;
    ferry_bundle_op op;
} joint;

static int dim_of(ferry_bundle_op op)
{
    return op == FERRY_BUNDLE_ROWS ? 0 : op == FERRY_BUNDLE_COLUMNS ? 1 : -1;
}

static ferry_status compare_all(const joint *j)
{
    ferry_status st = FERRY_OK;
    char other[32];

    for (size_t k = 1; k < j->count && st == FERRY_OK; k++) {
        const schema_rules rules = {.side = {"rank 0", other},
                                    .values = SCHEMA_ALL,
                                    .free_dim = dim_of(j->op),
                                    .free_lists = j->op == FERRY_BUNDLE_LISTS};
        snprintf(other, sizeof other, "rank %zu", k);
        st = schema_compare(j->parts[0], j->parts[k], &rules);
    }
    return st;
}

/* --- values --- */

static ferry_status join_tree(const joint *j, tree *joined);

static ferry_status join_arrays(const joint *j, size_t place, value *joined_out)
{
    const value *const first = &j->parts[0]->values[place];
    const int dim = dim_of(j->op);
    int64_t shape[FERRY_ARRAY_MAX_DIMS], strides[2][FERRY_ARRAY_MAX_DIMS];

    memcpy(shape, first->array.shape, first->dims * sizeof *shape);
    uint8_t flags = first->flags; /* a part of one row or column lies either way */
    for (size_t k = 1; k < j->count; k++) {
        flags |= j->parts[k]->values[place].flags;
        if (!offset_add(shape[dim], j->parts[k]->values[place].array.shape[dim], &shape[dim]))
            return trouble(FERRY_ERR_LIMIT,
                           "joined arrays have more elements than 63 bits can count");
    }
    ferry_status st =
        value_blank(first->element, first->dims, shape, flags & VALUE_COLUMN, joined_out);
    if (st != FERRY_OK)
        return st;
    const array_spec to = value_spec(joined_out, strides[0]);
    char *at = (char *)to.data;
    for (size_t k = 0; k < j->count; k++) {
        const array_spec from = value_spec(&j->parts[k]->values[place], strides[1]);
        array_copy(&from, at, to.strides);
        at += from.shape[dim] * to.strides[dim];
    }
    return FERRY_OK;
}

static ferry_status add_copy(tree *t, const char *key, const value *v)
{
    value copy;
    ferry_status st = value_copy(v, &copy);

    if (st != FERRY_OK)
        return st;
    st = tree_put(t, key, &copy);
    if (st != FERRY_OK)
        value_drop(&copy);
    return st;
}

/* Say of the last value of `t` what is said of the one at `place` of `from`. */
static ferry_status copy_attributes(const tree *from, size_t place, tree *t)
{
    const tree *const its = attributes_find(from, place);
    tree *copy;

    if (!its)
        return FERRY_OK;
    ferry_status st = attributes_reserve(t, 1);
    if (st == FERRY_OK)
        st = tree_copy(its, &copy);
    if (st == FERRY_OK)
        attributes_give(t, t->count - 1, copy);
    return st;
}

/* All elements of the lists at this place. */
static ferry_status join_lists(const joint *j, size_t place, value *joined_out)
{
    tree *list;
    ferry_status st = tree_make(true, &list);

    for (size_t k = 0; k < j->count && st == FERRY_OK; k++) {
        const tree *const from = j->parts[k]->values[place].child;
        for (size_t i = 0; i < from->count && st == FERRY_OK; i++) {
            st = add_copy(list, NULL, &from->values[i]);
            if (st == FERRY_OK)
                st = copy_attributes(from, i, list);
        }
        if (st != FERRY_OK)
            tree_drop(list);
    }
    if (st == FERRY_OK)
        *joined_out = value_tree(list);
    return st;
}

static ferry_status join_children(const joint *j, size_t place, value *joined_out)
{
    const tree **inside;
    tree *child = NULL;
    ferry_status st = alloc_zero(j->count, sizeof(tree *), &inside);

    if (st != FERRY_OK)
        return st;
    for (size_t k = 0; k < j->count; k++)
        inside[k] = j->parts[k]->values[place].child;
    const joint deeper = {inside, j->count, j->op};
    st = tree_make(inside[0]->is_list, &child);
    if (st == FERRY_OK)
        st = join_tree(&deeper, child);
    if (st == FERRY_OK)
        *joined_out = value_tree(child);
    else
        tree_drop(child);
    alloc_free(inside);
    return st;
}

static ferry_status join_values(const joint *j, size_t place, value *joined_out)
{
    const value *const first = &j->parts[0]->values[place];
    const int dim = dim_of(j->op);

    if (first->type == FERRY_TYPE_ARRAY && dim >= 0 && dim < first->dims)
        return join_arrays(j, place, joined_out);
    if (first->type == FERRY_TYPE_LIST && j->op == FERRY_BUNDLE_LISTS)
        return join_lists(j, place, joined_out);
    if (value_is_tree(first))
        return join_children(j, place, joined_out);
    return value_copy(first, joined_out);
}

static ferry_status join_tree(const joint *j, tree *joined)
{
    const tree *const first = j->parts[0];
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < first->count && st == FERRY_OK; i++) {
        value v;
        st = join_values(j, i, &v);
        if (st != FERRY_OK)
            return st;
        st = tree_put(joined, first->is_list ? NULL : first->keys[i], &v);
        if (st != FERRY_OK)
            value_drop(&v);
        else
            st = copy_attributes(first, i, joined);
    }
    return st;
}

ferry_status join(const tree *const *parts, size_t count, ferry_bundle_op op,
                  ferry_bundle **joined_out)
{
    const joint all = {parts, count, op};
    tree *joined;
    ferry_status st = compare_all(&all);

    if (st == FERRY_OK)
        st = tree_make(false, &joined);
    if (st != FERRY_OK)
        return st;
    st = join_tree(&all, joined);
    if (st == FERRY_OK)
        *joined_out = (ferry_bundle *)joined;
    else
        tree_drop(joined);
    return st;
}
