/* The inside of plans, and the engine that moves everything of a context on. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include <stdbool.h>

#include "context/context.h"
#include "ferry/plan.h"
#include "plan/engine.h"
#include "plan/folds.h"
#include "plan/why.h"
#include "route/route.h"

enum { PLAN_MAX_ROUTES = ROUTE_MOST };

_Static_assert(FERRY_PLAN_MAX_BUFFERS <= 64, "a bit for each buffer");

struct ferry_plan {
    ferry_context *ctx;
    uint32_t channel; /* the number of the plan within its context */
    bool has_channel;
    ferry_plan *next; /* among the plans of the context with a round under way */
    bool active;  /* a round is under way */
    bool awaited; /* it was started, and the caller has not yet heard of its end */
    int carrier_count;
    route_carrier *carriers[PLAN_MAX_ROUTES];
    bool done[PLAN_MAX_ROUTES]; /* this round's carriers that have ended */
    uint64_t src_buffers,
        dst_buffers; /* base addresses that edges of this rank read from and write to, as bits */
    const char *src[FERRY_PLAN_MAX_BUFFERS];
    char *dst[FERRY_PLAN_MAX_BUFFERS + 1]; /* the last one: FOLD_BUFFER, staging */
    folds_list *folds;
    ferry_range send, recv;
    why_list whys;
    ferry_plan_info info;
};

/* What the caller gave, but for its ops; not collective. */
ferry_status match_check(const ferry_context *ctx, const ferry_edge *edges, size_t count);

/* Match the checked edges of this rank with those of its peers. Fills a list that the caller frees
 * with match_drop(); blocks without bytes are left out, and those that this rank folds into itself.
 * Collective; all ranks succeed or all fail. */
typedef struct match {
    route_edge *edges;
    size_t count;
    ferry_layout **owned; /* layouts received from peers */
    size_t owned_count;
} match;
ferry_status match_edges(ferry_context *ctx, const ferry_edge *edges, size_t count,
                         match *match_out);
void match_drop(match *matched);

/* Something to wait for. */
typedef struct wait_for {
    bool (*done)(void *what);
    void (*missing)(void *what, text_out *out); /* who is waited for, in words */
    void *what;
} wait_for;

/* Move all rounds of the context on until `wanted` is done. Gives the core away as the context's
 * ranks need it; pokes MPI now and then; FERRY_TIMEOUT ends it. A failure breaks the context. */
ferry_status wait_until(ferry_context *ctx, const wait_for *wanted);

/* One pass over the rounds of plans, those that call MPI too or not. */
ferry_status progress_plans(ferry_context *ctx, bool wire);

/* One pass over all rounds and streams under way. */
ferry_status progress_rounds(ferry_context *ctx);

#endif
