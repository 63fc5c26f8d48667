/* What halos have in common, structured or not: edges that own their layouts, and the way back, the
 * same edges with both ends exchanged and an op. */
#ifndef HALO_REVERSE_H
#define HALO_REVERSE_H

#include <stdbool.h>

#include "base/text.h"
#include "ferry/context.h"
#include "ferry/plan.h"

typedef struct halo_edges {
    ferry_edge *list;
    size_t count;
} halo_edges;

void halo_drop_edges(halo_edges *edges);

typedef struct halo_reverse {
    ferry_plan *plan; /* NULL: not prepared */
    ferry_op op;
    ferry_type types[FERRY_PLAN_MAX_BUFFERS];
} halo_reverse;

/* What a caller wants; `call` is named in texts. */
typedef struct halo_reverse_wish {
    const char *call;
    int rank, size, field_count;
    ferry_op op;
    const ferry_type *types;
} halo_reverse_wish;

/* Check a wish, let all ranks compare theirs, and tell whether it is what is prepared already.
 * Collective, agreed. */
ferry_status halo_reverse_check(ferry_context *ctx, const halo_reverse *reverse,
                                const halo_reverse_wish *wish, int *prepared_out);

/* Compile edges that go from ghosts to owners, whose `buffer` is the field; sets their ops. The old
 * plan is freed when the new one stands. Collective, agreed. */
ferry_status halo_reverse_compile(ferry_context *ctx, halo_reverse *reverse,
                                  const halo_reverse_wish *wish, const halo_edges *edges);

/* ERR_STATE when a round of `other`, the plan of the other way, is under way; it may be NULL. Both
 * ways read and write the same arrays. */
ferry_status halo_reverse_idle(ferry_plan *other, const char *call, int rank);

/* Add the memory of the way back to `info`. */
ferry_status halo_reverse_account(const halo_reverse *reverse, ferry_plan_info *info);

/* Append what a plan says of itself. */
void halo_explain_plan(const ferry_plan *plan, text_out *out);

/* ERR_STATE unless prepared. */
ferry_status halo_reverse_ready(const halo_reverse *reverse, const char *call);

#endif
