/* Questions about a context: answered without any communication, ferry_context_gather() excepted.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/sys.h"
#include "base/trouble.h"
#include "context/context.h"

static bool in_child; /* set before the child's own code runs, and never changed after */

void context_enter_child(void)
{
    in_child = true;
}

bool context_in_child(void)
{
    return in_child;
}

ferry_status context_usable(const ferry_context *ctx, const char *call)
{
    if (!ctx)
        return trouble(FERRY_ERR_ARG, "%s: ctx is NULL", call);
    if (in_child)
        return trouble(FERRY_ERR_STATE, "%s: the context is that of the parent process", call);
    if (ctx->broken != FERRY_OK)
        return trouble(FERRY_ERR_STATE, "%s: the context is broken and may only be freed (%s)",
                       call, ctx->broken_text);
    if (ctx->comm == MPI_COMM_NULL)
        return trouble(FERRY_ERR_STATE, "%s: MPI is finalized; the context may only be freed",
                       call);
    return FERRY_OK;
}

ferry_status context_break(ferry_context *ctx, ferry_status status)
{
    if (ctx->broken == FERRY_OK) {
        ctx->broken = status;
        trouble_copy(ctx->broken_text, sizeof ctx->broken_text);
    }
    return status;
}

static bool is_word(const char *at, const char *word)
{
    const size_t length = strlen(word);

    return strncmp(at, word, length) == 0 && (at[length] == ',' || !at[length]);
}

bool context_allows(const ferry_context *ctx, const char *name)
{
    for (const char *at = ctx->routes; *at; at += strcspn(at, ","), at += *at == ',')
        if (is_word(at, name) || is_word(at, "all"))
            return true;
    return false;
}

ferry_status ferry_context_describe(const ferry_context *ctx, ferry_context_info *info_out)
{
    static const char *const origins[] = {
        [TUNING_BUILTIN] = "built-in", [TUNING_FILE] = "file", [TUNING_SET] = "set"};

    if (!ctx || !info_out)
        return trouble(FERRY_ERR_ARG, "ferry_context_describe: %s is NULL",
                       ctx ? "info_out" : "ctx");
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
        .progress = ctx->progress_kind,
        .tuning = origins[ctx->tuning.origin],
        .tuning_reason = ctx->tuning.reason,
    };
    return FERRY_OK;
}

ferry_status ferry_context_cartesian(const ferry_context *ctx, int max_dims, int *dims_out,
                                     int *grid_out, int *periodic_out)
{
    int kind = MPI_UNDEFINED, dims = 0, coords[64];
    ferry_status st = context_usable(ctx, "ferry_context_cartesian");

    if (st != FERRY_OK)
        return st;
    if (!dims_out || !grid_out || !periodic_out)
        return trouble(FERRY_ERR_ARG, "ferry_context_cartesian: %s is NULL",
                       !dims_out   ? "dims_out"
                       : !grid_out ? "grid_out"
                                   : "periodic_out");
    PMPI_Topo_test(ctx->comm, &kind);
    if (kind != MPI_CART)
        return trouble(FERRY_ERR_NOT_FOUND, "the communicator has no Cartesian topology");
    st = pmpi_status(PMPI_Cartdim_get(ctx->comm, &dims), "MPI_Cartdim_get");
    if (st != FERRY_OK)
        return st;
    if (dims > max_dims || dims > (int)(sizeof coords / sizeof *coords))
        return trouble(FERRY_ERR_ARG, "the topology has %d dimensions, max_dims is %d", dims,
                       max_dims);
    st =
        pmpi_status(PMPI_Cart_get(ctx->comm, dims, grid_out, periodic_out, coords), "MPI_Cart_get");
    if (st == FERRY_OK)
        *dims_out = dims;
    return st;
}

/* All ranks gather records of one length. */
static ferry_status compare_bytes(ferry_context *ctx, long long bytes)
{
    ctx->compared[0] = bytes;
    ctx->compared[1] = -bytes;
    const ferry_status st = context_reduce(ctx, MPI_MAX);

    if (st == FERRY_OK && ctx->most[0] != -ctx->most[1])
        return trouble(FERRY_ERR_ARG,
                       "ferry_context_gather: bytes is %lld on some ranks, %lld on others",
                       -ctx->most[1], ctx->most[0]);
    return st;
}

static ferry_status check_gather(const ferry_context *ctx, const void *mine, size_t bytes,
                                 const void *all_out)
{
    enum { MOST = 4096 };

    if (!mine || !all_out)
        return trouble(FERRY_ERR_ARG, "ferry_context_gather: %s is NULL on rank %d",
                       mine ? "all_out" : "mine", ctx->rank);
    if (bytes < 1 || bytes > MOST)
        return trouble(FERRY_ERR_ARG,
                       "ferry_context_gather: bytes is %zu on rank %d, expected 1 to %d", bytes,
                       ctx->rank, MOST);
    return FERRY_OK;
}

/* Through memory of its own: after a time-out MPI may still write there. Rounds under way move on
 * meanwhile. */
ferry_status ferry_context_gather(ferry_context *ctx, const void *mine, size_t bytes, void *all_out)
{
    MPI_Request request = MPI_REQUEST_NULL;
    char *staged = NULL;
    ferry_status st = context_usable(ctx, "ferry_context_gather");

    if (st != FERRY_OK)
        return st;
    const size_t all = (size_t)ctx->size * bytes;
    st = check_gather(ctx, mine, bytes, all_out);
    if (st == FERRY_OK)
        st = alloc_zero(all + bytes, 1, &staged);
    st = context_agree(ctx, st);
    if (st == FERRY_OK)
        st = compare_bytes(ctx, (long long)bytes);
    if (st != FERRY_OK)
        goto out;
    memcpy(staged + all, mine, bytes);
    st = pmpi_status(PMPI_Iallgather(staged + all, (int)bytes, MPI_BYTE, staged, (int)bytes,
                                     MPI_BYTE, ctx->comm, &request),
                     "MPI_Iallgather");
    if (st == FERRY_OK)
        st = context_complete(ctx, &request, "MPI_Iallgather");
    if (st == FERRY_OK)
        memcpy(all_out, staged, all);
out:
    context_release(ctx, staged);
    return st;
}
