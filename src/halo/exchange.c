/* A pair of MPI datatypes as a plan: one edge out, one edge in. Knows of MPI only what its header
 * calls a type and no rank; layouts know how to read types. */
#include "ferry/exchange.h"

#include <stdbool.h>

#include "base/trouble.h"

static const char call[] = "ferry_exchange_create";

static ferry_status check_side(const char *name, int rank, int64_t count, int size)
{
    const bool sends = name[0] == 't';

    if (rank == MPI_PROC_NULL)
        return FERRY_OK;
    if (rank < 0 || rank >= size)
        return trouble(FERRY_ERR_ARG, "%s is %d, expected 0..%d or MPI_PROC_NULL", name, rank,
                       size - 1);
    if (count < 0)
        return trouble(FERRY_ERR_ARG, "%s is %lld, expected >= 0",
                       sends ? "send_count" : "recv_count", (long long)count);
    return FERRY_OK;
}

static ferry_status check(const ferry_exchange_spec *spec, const ferry_context_info *info)
{
    if (spec->size != sizeof *spec)
        return trouble(FERRY_ERR_ARG,
                       "spec->size is %zu, expected %zu: start from FERRY_EXCHANGE_SPEC_INIT",
                       spec->size, sizeof *spec);
    ferry_status st = check_side("to", spec->to, spec->send_count, info->size);
    if (st == FERRY_OK)
        st = check_side("from", spec->from, spec->recv_count, info->size);
    if (st == FERRY_OK && spec->tag < 0)
        st = trouble(FERRY_ERR_ARG, "tag is %d, expected >= 0", spec->tag);
    if (st == FERRY_OK && (spec->to == info->rank) != (spec->from == info->rank))
        st = trouble(FERRY_ERR_ARG,
                     "to is %d and from is %d: what a rank sends to itself it receives from itself",
                     spec->to, spec->from);
    return st;
}

/* At most two edges, or one with both ends. */
typedef struct edge_pair {
    ferry_edge edges[2];
    size_t count;
    ferry_layout *source, *target;
} edge_pair;

static void add_edge(edge_pair *pair, int from, int to, int tag)
{
    ferry_edge *const e = &pair->edges[pair->count++];

    *e = (ferry_edge)FERRY_EDGE_INIT;
    e->from = from;
    e->to = to;
    e->tag = tag;
    e->source = pair->source;
    e->target = pair->target;
}

/* Layouts look at the type; what they say of it, they say of "type". */
static ferry_status read_type(const char *name, MPI_Datatype type, int64_t count,
                              ferry_layout **layout_out)
{
    const ferry_status st = ferry_layout_from_datatype(type, count, 0, layout_out);

    return st == FERRY_OK ? st : trouble(st, "%s: %s", name, trouble_text());
}

static ferry_status make_edges(const ferry_exchange_spec *spec, const ferry_context_info *info,
                               edge_pair *pair)
{
    ferry_status st = check(spec, info);

    if (st == FERRY_OK && spec->to != MPI_PROC_NULL)
        st = read_type("send_type", spec->send_type, spec->send_count, &pair->source);
    if (st == FERRY_OK && spec->from != MPI_PROC_NULL)
        st = read_type("recv_type", spec->recv_type, spec->recv_count, &pair->target);
    if (st != FERRY_OK)
        return trouble(st, "%s on rank %d: %s", call, info->rank, trouble_text());
    if (spec->to != MPI_PROC_NULL)
        add_edge(pair, info->rank, spec->to, spec->tag);
    if (spec->from != MPI_PROC_NULL && spec->from != info->rank)
        add_edge(pair, spec->from, info->rank, spec->tag);
    return FERRY_OK;
}

ferry_status ferry_exchange_create(ferry_context *ctx, const ferry_exchange_spec *spec,
                                   ferry_plan **plan_out)
{
    edge_pair pair = {.count = 0};
    ferry_context_info info;

    if (!ctx)
        return trouble(FERRY_ERR_ARG, "%s: ctx is NULL", call);
    ferry_status st = ferry_context_describe(ctx, &info);
    if (st != FERRY_OK)
        return st;
    if (!spec || !plan_out)
        st = trouble(FERRY_ERR_ARG, "%s: %s is NULL on rank %d", call, spec ? "plan_out" : "spec",
                     info.rank);
    else
        st = make_edges(spec, &info, &pair);
    st = ferry_context_agree(ctx, st);
    if (st == FERRY_OK)
        st = ferry_plan_compile(ctx, pair.edges, pair.count, plan_out);
    ferry_layout_free(pair.source);
    ferry_layout_free(pair.target);
    return st;
}
