/* Questions about a context: answered without any communication, ferry_context_gather() excepted. */
#include <string.h>

#include "base/alloc.h"
#include "base/sys.h"
#include "base/trouble.h"
#include "context/context.h"

ferry_status context_usable(const ferry_context *ctx, const char *call)
{
    if (!ctx)
        return trouble(FERRY_ERR_ARG, "%s: ctx is NULL", call);
    if (ctx->broken != FERRY_OK)
        return trouble(FERRY_ERR_STATE, "%s: the context is broken (%s); it may only be freed", call,
                       ferry_status_text(ctx->broken));
    if (ctx->comm == MPI_COMM_NULL)
        return trouble(FERRY_ERR_STATE, "%s: MPI is finalized; the context may only be freed", call);
    return FERRY_OK;
}

bool context_allows(const ferry_context *ctx, const char *name)
{
    const size_t length = strlen(name);

    if (strcmp(ctx->routes, "all") == 0)
        return true;
    for (const char *at = ctx->routes; *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

ferry_status ferry_context_describe(const ferry_context *ctx, ferry_context_info *info_out)
{
    if (!ctx || !info_out)
        return trouble(FERRY_ERR_ARG, "ferry_context_describe: %s is NULL", ctx ? "info_out" : "ctx");
    *info_out = (ferry_context_info){
        .rank = ctx->rank,
        .size = ctx->size,
        .node = ctx->node,
        .node_count = ctx->node_count,
        .node_rank = ctx->node_rank,
        .node_size = ctx->node_size,
        .shared_memory = ctx->shared_kind,
        .shared_reason = ctx->shared_reason,
        .spins = ctx->spins,
        .timeout_s = ctx->timeout_s,
    };
    return FERRY_OK;
}

ferry_status ferry_context_cartesian(const ferry_context *ctx, int max_dims, int *dims_out, int *grid_out, int *periodic_out)
{
    int kind = MPI_UNDEFINED, dims = 0, coords[64];
    ferry_status st = context_usable(ctx, "ferry_context_cartesian");

    if (st != FERRY_OK)
        return st;
    if (!dims_out || !grid_out || !periodic_out)
        return trouble(FERRY_ERR_ARG, "ferry_context_cartesian: %s is NULL",
                       !dims_out ? "dims_out" : !grid_out ? "grid_out" : "periodic_out");
    PMPI_Topo_test(ctx->comm, &kind);
    if (kind != MPI_CART)
        return trouble(FERRY_ERR_NOT_FOUND, "the communicator has no Cartesian topology");
    st = pmpi_status(PMPI_Cartdim_get(ctx->comm, &dims), "MPI_Cartdim_get");
    if (st != FERRY_OK)
        return st;
    if (dims > max_dims || dims > (int)(sizeof coords / sizeof *coords))
        return trouble(FERRY_ERR_ARG, "the topology has %d dimensions, max_dims is %d", dims, max_dims);
    st = pmpi_status(PMPI_Cart_get(ctx->comm, dims, grid_out, periodic_out, coords), "MPI_Cart_get");
    if (st == FERRY_OK)
        *dims_out = dims;
    return st;
}

ferry_status ferry_context_gather(ferry_context *ctx, const void *mine, size_t bytes, void *all_out)
{
    enum { MOST = 4096 };
    ferry_status st = context_usable(ctx, "ferry_context_gather");

    if (st != FERRY_OK)
        return st;
    if (!mine || !all_out)
        st = trouble(FERRY_ERR_ARG, "ferry_context_gather: %s is NULL on rank %d", mine ? "all_out" : "mine", ctx->rank);
    else if (bytes < 1 || bytes > MOST)
        st = trouble(FERRY_ERR_ARG, "ferry_context_gather: bytes is %zu on rank %d, expected 1 to %d", bytes, ctx->rank, MOST);
    st = context_agree(ctx, st);
    if (st != FERRY_OK)
        return st;
    return pmpi_status(PMPI_Allgather(mine, (int)bytes, MPI_BYTE, all_out, (int)bytes, MPI_BYTE, ctx->comm), "MPI_Allgather");
}
