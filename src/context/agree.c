/* Agreement: all ranks succeed or all fail, with the text of the first failing rank on all. */
#include "context/agree.h"

#include <limits.h>
#include <string.h>

#include "base/trouble.h"
#include "context/context.h"

ferry_status agree_on(MPI_Comm comm, int rank, ferry_status status)
{
    const int mine = status == FERRY_OK ? INT_MAX : rank;
    int first = INT_MAX;
    struct {
        int status;
        char text[TROUBLE_BYTES];
    } verdict;
    ferry_status st = pmpi_status(PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");

    if (st != FERRY_OK || first == INT_MAX)
        return st;
    memset(&verdict, 0, sizeof verdict);
    verdict.status = status;
    strncpy(verdict.text, trouble_text(), sizeof verdict.text - 1);
    st = pmpi_status(PMPI_Bcast(&verdict, sizeof verdict, MPI_BYTE, first, comm), "MPI_Bcast");
    if (st != FERRY_OK)
        return st;
    trouble_keep(verdict.text);
    return (ferry_status)verdict.status;
}

ferry_status ferry_context_agree(ferry_context *ctx, ferry_status status)
{
    const ferry_status st = context_usable(ctx, "ferry_context_agree");

    return st == FERRY_OK ? agree_on(ctx->comm, ctx->rank, status) : st;
}
