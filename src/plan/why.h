/* Why a plan moves its blocks the way it does: what the routes bid when it was compiled, added up
 * over the edges that go together. For people, and for the time that a round is expected to take.
 */
#ifndef PLAN_WHY_H
#define PLAN_WHY_H

#include "route/route.h"

/* All edges between this rank and a peer in one direction that one route has won. */
typedef struct why {
    int peer, route; /* index in routes[] */
    bool sends;
    size_t edges;
    route_bid bids[ROUTE_MOST];
} why;

typedef struct why_list {
    size_t count;
    why *list;
} why_list;

/* Add what the routes bid for an edge that `chosen` has won. */
ferry_status why_add(why_list *whys, const ferry_context *ctx, const route_edge *edge, int chosen,
                     const route_bid bids[ROUTE_MOST]);
void why_drop(why_list *whys);

/* Nanoseconds that a round is expected to take on this rank, when all come in time. */
double why_expected(const why_list *whys);

/* One line for each entry. */
void why_explain(const why_list *whys, const ferry_context *ctx, text_out *out);

#endif
