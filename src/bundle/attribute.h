/* Attributes: which values of a tree have a bundle of them. Knows nothing of the values themselves.
 * The tree owns these bundles; each counts among its children. */
#ifndef BUNDLE_ATTRIBUTE_H
#define BUNDLE_ATTRIBUTE_H

#include "bundle/tree.h"

/* The attributes of the value at a place, or NULL. */
tree *attributes_find(const tree *t, size_t place);

/* Those of the first place from `place` on: its number in the set, which may be its count. */
size_t attributes_seek(const attribute_set *set, size_t place);

/* Room for `more` of them. */
ferry_status attributes_reserve(tree *t, size_t more);

/* Hand a bundle over as attributes of a place that has none; there is room. */
void attributes_give(tree *t, size_t place, tree *given);

/* Take them out, so that the caller owns them; NULL when there are none. */
tree *attributes_take(tree *t, size_t place);

/* Find them, or make an empty bundle of them. */
ferry_status attributes_edit(tree *t, size_t place, tree **attributes_out);

/* False when there are none. */
bool attributes_remove(tree *t, size_t place);

/* The values at places first .. end - 1 have moved by one place, up (+1) or down (-1). */
void attributes_shift(tree *t, size_t first, size_t end, int by);

/* Copy all to a tree of equal values that has none. */
ferry_status attributes_copy(const tree *t, tree *copy);

void attributes_drop(tree *t);

#endif
