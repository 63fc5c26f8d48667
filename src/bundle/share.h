/* Broadcasts of encodings. Over several nodes a root that has given the same head to all ranks
 * before leaves it out; when one of them does not know it any more, all hear of that and the whole
 * image follows. Within a node the head costs less than to put it back. */
#ifndef BUNDLE_SHARE_H
#define BUNDLE_SHARE_H

#include "bundle/arrival.h"

/* Whether the ranks of a context look at bundles before their broadcasts end: over several nodes,
 * where a head that need not be sent is worth it. NULL: they do not. The same on all ranks. */
ferry_stream_check *share_check(const ferry_context *ctx);

/* At the root: give an encoding with its tail to all. */
ferry_status share_give(ferry_context *ctx, int root, encoding *e);

/* Elsewhere: take it, with this place function; arrival_settled() or arrival_end() must follow. */
ferry_status share_take(ferry_context *ctx, int root, ferry_stream_place *place, arrival *a);

#endif
