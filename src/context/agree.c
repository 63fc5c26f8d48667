/* Agreement: all ranks succeed or all fail, with the text of the first failing rank on all. Rounds under way move on meanwhile, since a rank
 * that this one is waiting for may be waiting for one of them. */
#include <limits.h>
#include <string.h>

#include "base/sys.h"
#include "base/trouble.h"
#include "context/context.h"

enum { NAP_AFTER = 200, NAP_NS = 20000 };

void context_idle(void *context)
{
    ferry_context *const ctx = context;

    if (ctx->progress)
        ctx->progress(ctx);
    if (!ctx->spins && ++ctx->idle_calls % NAP_AFTER == 0)
        sys_nap(NAP_NS);
}

ferry_status context_complete(ferry_context *ctx, MPI_Request *request, const char *call)
{
    int ended = 0;

    for (;;) {
        const ferry_status st = pmpi_status(PMPI_Test(request, &ended, MPI_STATUS_IGNORE), call);
        if (st != FERRY_OK || ended)
            return st;
        context_idle(ctx);
    }
}

static ferry_status agree(ferry_context *ctx, MPI_Comm comm, int rank, ferry_status status)
{
    const int mine = status == FERRY_OK ? INT_MAX : rank;
    int first = INT_MAX;
    struct {
        int status;
        char text[TROUBLE_BYTES];
    } verdict;
    MPI_Request request = MPI_REQUEST_NULL;
    ferry_status st = pmpi_status(PMPI_Iallreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm, &request), "MPI_Iallreduce");

    if (st == FERRY_OK)
        st = context_complete(ctx, &request, "MPI_Iallreduce");
    if (st != FERRY_OK || first == INT_MAX)
        return st;
    memset(&verdict, 0, sizeof verdict);
    verdict.status = status;
    strncpy(verdict.text, trouble_text(), sizeof verdict.text - 1);
    st = pmpi_status(PMPI_Ibcast(&verdict, sizeof verdict, MPI_BYTE, first, comm, &request), "MPI_Ibcast");
    if (st == FERRY_OK)
        st = context_complete(ctx, &request, "MPI_Ibcast");
    if (st != FERRY_OK)
        return st;
    trouble_keep(verdict.text);
    return (ferry_status)verdict.status;
}

ferry_status context_agree(ferry_context *ctx, ferry_status status)
{
    return agree(ctx, ctx->comm, ctx->rank, status);
}

ferry_status context_agree_node(ferry_context *ctx, ferry_status status)
{
    return agree(ctx, ctx->node_comm, ctx->node_rank, status);
}

ferry_status ferry_context_agree(ferry_context *ctx, ferry_status status)
{
    const ferry_status st = context_usable(ctx, "ferry_context_agree");

    return st == FERRY_OK ? context_agree(ctx, status) : st;
}
