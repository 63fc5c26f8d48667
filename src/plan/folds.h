/* Blocks that are combined with what is there. Routes only move bytes: such a block arrives densely
 * in staging of the plan, and is folded into its target at the end of the round, all of them in the
 * order in which this rank gave its edges. Blocks of a rank to itself need no route and no staging.
 */
#ifndef PLAN_FOLDS_H
#define PLAN_FOLDS_H

#include <stdbool.h>

#include "base/text.h"
#include "context/context.h"
#include "ferry/plan.h"
#include "layout/layout.h"

/* The buffer of a route's edge that arrives in staging: one past those of users. */
enum { FOLD_BUFFER = FERRY_PLAN_MAX_BUFFERS };

typedef struct folds_list folds_list; /* NULL: nothing is folded */

/* The op of an edge that arrives at this rank is defined for its type and its target's elements.
 * Not collective. */
ferry_status folds_check(const ferry_context *ctx, const ferry_edge *edges, size_t count);

/* Edges that arrive here with an op; `rank` is this one. */
static inline bool folds_has(const ferry_edge *edge, int rank)
{
    return edge->to == rank && edge->op != FERRY_OP_REPLACE && edge->target->bytes > 0;
}

/* Edges as routes are to see them: those that are folded end in staging, under FOLD_BUFFER. */
typedef struct folds_routed {
    ferry_edge *edges;
    ferry_layout **layouts; /* of the staged ones */
    size_t layout_count;
} folds_routed;

/* The list of checked edges; leaves it NULL when none is folded. What it has made of `routed` is
 * dropped by the caller even after a failure. Not collective. */
ferry_status folds_make(const ferry_context *ctx, const ferry_edge *edges, size_t count,
                        folds_routed *routed, folds_list **folds_out);
void folds_drop_routed(folds_routed *routed);
void folds_drop(folds_list *folds);

/* Where the blocks arrive; NULL when none does. */
char *folds_staging(const folds_list *folds);

/* Bring the blocks of a round into their targets. `src`, `dst`: base addresses by buffer. */
void folds_run(ferry_context *ctx, const folds_list *folds, const char *const *src,
               char *const *dst);

/* What plans tell of themselves. */
void folds_account(const folds_list *folds, ferry_plan_info *info);
void folds_explain(const folds_list *folds, text_out *out);

#endif
