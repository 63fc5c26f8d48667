/* Trees put together: arrays along one of their dimensions, or lists. Undoes splitting. */
#ifndef BUNDLE_JOIN_H
#define BUNDLE_JOIN_H

#include "bundle/tree.h"
#include "ferry/bundle_move.h"

/* Join `count` trees, which are those of ranks 0, 1, ...; what is not joined must be equal. `op` is
 * one of FERRY_BUNDLE_ROWS, COLUMNS, LISTS. */
ferry_status join(const tree *const *parts, size_t count, ferry_bundle_op op,
                  ferry_bundle **joined_out);

#endif
