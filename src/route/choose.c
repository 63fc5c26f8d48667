/* The list of routes, and which one carries an edge. */
#include <stdio.h>
#include <string.h>

#include "base/size.h"
#include "base/trouble.h"
#include "memory/arena.h"
#include "route/route.h"

extern const route route_self, route_node_direct, route_node_ring, route_wire_pack;

const route *const routes[] = {&route_self, &route_node_direct, &route_node_ring, &route_wire_pack,
                               NULL};

/* What a rank has itself needs no permission. */
static bool allowed(const ferry_context *ctx, const route *r)
{
    return r == &route_self || context_allows(ctx, r->name);
}

int route_choose(const ferry_context *ctx, const route_edge *edge, route_bid bids_out[ROUTE_MOST])
{
    int best = -1;
    double least = 0;

    for (int i = 0; routes[i]; i++) {
        route_bid *const bid = &bids_out[i];
        *bid = (route_bid){.verdict = !allowed(ctx, routes[i])     ? ROUTE_BARRED
                                      : !routes[i]->can(ctx, edge) ? ROUTE_CANNOT
                                                                   : ROUTE_CAN};
        if (bid->verdict != ROUTE_CAN)
            continue;
        bid->cost = routes[i]->cost(ctx, edge);
        if (best >= 0 && bid->cost.start + bid->cost.rest >= least)
            continue;
        best = i;
        least = bid->cost.start + bid->cost.rest;
    }
    return best;
}

bool route_node_listed(const ferry_context *ctx)
{
    return allowed(ctx, &route_node_direct) || allowed(ctx, &route_node_ring);
}

bool route_node_allowed(const ferry_context *ctx)
{
    return ctx->arena && route_node_listed(ctx);
}

static bool known(const char *word, size_t length)
{
    if (length == strlen("all") && strncmp(word, "all", length) == 0)
        return true;
    for (const route *const *r = routes; *r; r++)
        if (strlen((*r)->name) == length && strncmp((*r)->name, word, length) == 0)
            return true;
    return false;
}

ferry_status route_check_names(const ferry_context *ctx)
{
    for (const char *at = ctx->routes; *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        if (!known(at, length))
            return trouble(FERRY_ERR_ARG,
                           "routes (FERRY_ROUTE) name \"%.*s\", expected self, node_direct, "
                           "node_ring, wire_pack or all",
                           (int)size_min(length, 40), at);
        at += length;
    }
    return FERRY_OK;
}

static size_t run_bytes(const ferry_layout *layout)
{
    size_t least = layout->bytes;

    for (size_t i = 0; i < layout->nest_count; i++)
        least = size_min(least, layout->nests[i].run);
    return least;
}

size_t route_run_bytes(const route_edge *edge)
{
    return size_min(run_bytes(edge->source), run_bytes(edge->target));
}

size_t route_row_aside(const ferry_layout *layout)
{
    const layout_nest *const nest = &layout->nests[0];
    const int inner = nest->dims - 1;

    if (layout->nest_count != 1 || nest->dims < 2 || nest->run >= ROUTE_LINE ||
        nest->loop[inner - 1].stride != (int64_t)nest->run)
        return 0;
    return nest->loop[inner].count * nest->run;
}

static size_t lines_of(size_t bytes)
{
    return bytes / ROUTE_LINE + (bytes % ROUTE_LINE > 0);
}

/* Lines that one end of an edge touches. */
static size_t lines_touched(const ferry_layout *layout)
{
    const size_t run = run_bytes(layout);
    const size_t span = lines_of((size_t)(layout->ub - layout->lb)) + 1;

    return run ? size_min(layout->bytes / run * lines_of(run), span) : 0;
}

/* The one of three costs in a row that holds for an edge: lines that the sender has just written
 * lie near, in its own caches, or in those of the whole chip, or in memory. */
static double cost_of(const ferry_context *ctx, const route_edge *edge, tune_item first)
{
    const size_t lines = size_max(lines_touched(edge->source), lines_touched(edge->target));
    const int further =
        (lines > TUNE_NEAR_BYTES / ROUTE_LINE) + (lines > TUNE_FAR_BYTES / ROUTE_LINE);

    return context_tuned(ctx, (tune_item)((int)first + further));
}

double route_rows_ns(const ferry_context *ctx, const route_edge *edge, tune_item narrow,
                     tune_item wide)
{
    const size_t run = route_run_bytes(edge);
    const size_t rows = run ? edge->bytes / run : 0;

    if (run < ROUTE_LINE)
        return (double)rows * cost_of(ctx, edge, narrow);
    return (double)rows * (double)lines_of(run) * cost_of(ctx, edge, wide);
}

double route_lines_ns(const ferry_context *ctx, const route_edge *edge, tune_item wide)
{
    return (double)lines_of(edge->bytes) * cost_of(ctx, edge, wide);
}

/* Why a route is or is not used. */
static const char *reason_of(const ferry_context *ctx, const route *r, bool usable)
{
    if (usable)
        return r->use;
    if (!allowed(ctx, r))
        return "not in the list of allowed routes (FERRY_ROUTE)";
    return !ctx->arena && *ctx->shared_reason ? ctx->shared_reason
                                              : "no other rank is reached this way";
}

ferry_status ferry_context_route(const ferry_context *ctx, int index, ferry_route_info *info_out)
{
    int count = 0;

    if (!ctx || !info_out)
        return trouble(FERRY_ERR_ARG, "ferry_context_route: %s is NULL", ctx ? "info_out" : "ctx");
    while (routes[count])
        count++;
    if (index < 0 || index >= count)
        return trouble(FERRY_ERR_NOT_FOUND, "ferry_context_route: index is %d, expected 0 to %d",
                       index, count - 1);
    const route *const r = routes[index];
    *info_out = (ferry_route_info){.name = r->name, .usable = allowed(ctx, r) && r->can(ctx, NULL)};
    snprintf(info_out->reason, sizeof info_out->reason, "%s", reason_of(ctx, r, info_out->usable));
    return FERRY_OK;
}
