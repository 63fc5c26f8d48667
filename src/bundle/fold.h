/* Numbers of two trees of one schema combined, one by one. */
#ifndef BUNDLE_FOLD_H
#define BUNDLE_FOLD_H

#include "bundle/tree.h"
#include "ferry/bundle_move.h"

static inline bool fold_is_numeric(ferry_bundle_op op)
{
    return op >= FERRY_BUNDLE_SUM && op <= FERRY_BUNDLE_MAX;
}

/* The operation is defined for all numbers of the tree. */
ferry_status fold_check(const tree *t, ferry_bundle_op op);

/* upper = lower op upper. `upper` is a tree that was decoded and not changed since. */
ferry_status fold(const tree *lower, tree *upper, ferry_bundle_op op);

#endif
