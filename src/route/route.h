/* The contract of routes. A route is a way to carry edges; what it makes for all edges it won is a
 * carrier. Everything is chosen and taken when a carrier is made; a round only runs. One file per
 * route, functions in the order of the record below. */
#ifndef ROUTE_ROUTE_H
#define ROUTE_ROUTE_H

#include <stdbool.h>

#include "base/text.h"
#include "context/context.h"
#include "copy/copy.h"
#include "ferry/plan.h"

/* A matched edge, as both of its ranks see it. Edges of one pair are in the same order at both. */
typedef struct route_edge {
    int from, to, tag;
    int buffer; /* which base address of a start, at this rank's end */
    size_t bytes;
    const ferry_layout *source, *target;
} route_edge;

/* Base addresses of a round; the lists stay where they are while a plan lives. */
typedef struct route_bases {
    const char **src;
    char **dst;
} route_bases;

typedef struct route route;

/* What carrying an edge is expected to take, in nanoseconds, where both ranks have the same to do
 * in the other direction. */
typedef struct route_cost {
    double start; /* once for all edges of a pair that go this way */
    double rest;
    const char *note; /* how, for people; or NULL */
} route_cost;

/* What every carrier begins with. */
typedef struct route_carrier {
    const route *route;
    ferry_context *ctx;
} route_carrier;

struct route {
    const char *name;
    const char *use; /* one line for people */
    bool calls_mpi;  /* in start() or progress() */

    /* May this route carry the edge? Both ranks come to the same answer. A NULL edge asks whether
     * it may carry any. */
    bool (*can)(const ferry_context *ctx, const route_edge *edge);

    /* The cheapest route that can carry an edge wins, the same at both ranks: what differs between
     * them, such as addresses, must not count. The numbers come from the tuning record. */
    route_cost (*cost)(const ferry_context *ctx, const route_edge *edge);

    /* Take all that rounds need. Collective over the context, also for ranks without edges of the
     * route; may succeed on some ranks and fail on others, the caller agrees. `channel` tells plans
     * apart and is the same on all ranks. */
    ferry_status (*make)(ferry_context *ctx, const route_edge *edges, size_t count,
                         uint32_t channel, route_carrier **carrier_out);

    /* Begin a round; never waits. */
    ferry_status (*start)(route_carrier *carrier, const route_bases *bases);

    /* Move on what can be moved; `*done_out` tells whether the round has ended. */
    ferry_status (*progress)(route_carrier *carrier, bool *done_out);

    /* Which route, which edges, how. */
    void (*explain)(const route_carrier *carrier, text_out *out);

    /* Who is waited for in the round under way: "rank 3 (12 of 40 bytes of tag 0)"; adds nothing
     * when nobody is. */
    void (*missing)(const route_carrier *carrier, text_out *out);

    /* Add this carrier's memory, staging and messages to `info`. */
    void (*account)(const route_carrier *carrier, ferry_plan_info *info);

    /* Give everything back; accepts what make() left half done. */
    void (*drop)(route_carrier *carrier);
};

/* The routes of the library, ended by NULL. */
extern const route *const routes[];

enum { ROUTE_MOST = 8 };

/* What the routes say of an edge, in the order of routes[]. */
typedef struct route_bid {
    enum { ROUTE_CAN, ROUTE_CANNOT, ROUTE_BARRED /* not in the list of routes */ } verdict;
    route_cost cost; /* of one that can */
} route_bid;

/* Ask all routes; returns the index of the cheapest one that can, or -1. */
int route_choose(const ferry_context *ctx, const route_edge *edge, route_bid bids_out[ROUTE_MOST]);

/* ERR_ARG when the context's list of routes has a word that is no route. */
ferry_status route_check_names(const ferry_context *ctx);

/* True when the list of routes allows shared memory: the same on all ranks. And when this rank has
 * some, too. */
bool route_node_listed(const ferry_context *ctx);
bool route_node_allowed(const ferry_context *ctx);

/* Bytes of a row when the rows of a layout lie side by side, element beside element (a matrix read
 * by its columns), else 0. */
size_t route_row_aside(const ferry_layout *layout);

/* Nanoseconds for what a rank has itself, roughly. */
#define ROUTE_SELF_START 10.0
#define ROUTE_SELF_BYTE 0.1

/* Rows shorter than a line are narrow: whoever reads or writes one moves the line. */
enum { ROUTE_LINE = 64 };

/* Shortest contiguous run of an edge's two layouts. */
size_t route_run_bytes(const route_edge *edge);

/* Nanoseconds for all rows of an edge, by costs of the tuning record: `narrow` and `wide` are the
 * first of the three that the record has of a kind. */
double route_rows_ns(const ferry_context *ctx, const route_edge *edge, tune_item narrow,
                     tune_item wide);
/* The same for the bytes of an edge as if they were wide rows. */
double route_lines_ns(const ferry_context *ctx, const route_edge *edge, tune_item wide);

#endif
