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

const route *route_choose(const ferry_context *ctx, const route_edge *edge)
{
    const route *best = NULL;
    double least = 0;

    for (const route *const *r = routes; *r; r++) {
        if (!allowed(ctx, *r) || !(*r)->can(ctx, edge))
            continue;
        const double cost = (*r)->cost(ctx, edge);
        if (best && cost >= least)
            continue;
        best = *r;
        least = cost;
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
    enum { NARROW = 64 };
    const layout_nest *const nest = &layout->nests[0];
    const int inner = nest->dims - 1;

    if (layout->nest_count != 1 || nest->dims < 2 || nest->run >= NARROW ||
        nest->loop[inner - 1].stride != (int64_t)nest->run)
        return 0;
    return nest->loop[inner].count * nest->run;
}

size_t route_runs(const route_edge *edge)
{
    const size_t run = route_run_bytes(edge);

    return run ? edge->bytes / run : 0;
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
