/* Contexts and plans that outlive MPI: what is left when MPI_Finalize is called may be freed afterwards, and is good
 * for nothing else.
 * usage: finalize; every rank prints what is wrong and returns 1. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "ferry/context.h"
#include "ferry/memory.h"
#include "ferry/plan.h"

static int failures, rank, size;

static void expect(ferry_status found, ferry_status expected, const char *what)
{
    if (found == expected)
        return;
    failures++;
    fprintf(stderr, "rank %d: %s: found %d (%s), expected %d\n", rank, what, found, ferry_error_detail(), expected);
}

#define EXPECT(call, status) expect((call), (status), #call)

/* To the next rank and from the last one. */
static ferry_plan *compile(ferry_context *ctx)
{
    ferry_edge edges[2] = {FERRY_EDGE_INIT, FERRY_EDGE_INIT};
    ferry_layout *layout = NULL;
    ferry_plan *plan = NULL;

    EXPECT(ferry_layout_dense(100, 8, 0, &layout), FERRY_OK);
    edges[0].from = edges[1].to = rank;
    edges[0].to = (rank + 1) % size;
    edges[1].from = (rank + size - 1) % size;
    for (int i = 0; i < 2; i++)
        edges[i].source = edges[i].target = layout;
    EXPECT(ferry_plan_compile(ctx, edges, size > 1 ? 2 : 1, &plan), FERRY_OK);
    ferry_layout_free(layout);
    return plan;
}

static void check_refusals(ferry_context *ctx, ferry_plan *plan, double *data)
{
    ferry_context *none = NULL;
    ferry_plan *no_plan = NULL;
    ferry_context_info info;

    EXPECT(ferry_plan_start(plan, data, data + 100), FERRY_ERR_STATE);
    EXPECT(ferry_plan_compile(ctx, NULL, 0, &no_plan), FERRY_ERR_STATE);
    EXPECT(ferry_context_agree(ctx, FERRY_OK), FERRY_ERR_STATE);
    EXPECT(ferry_context_create(MPI_COMM_WORLD, NULL, &none), FERRY_ERR_STATE);
    EXPECT(ferry_context_describe(ctx, &info), FERRY_OK); /* what it knows it still tells */
    if (info.rank != rank || info.size != size)
        expect(FERRY_ERR_STATE, FERRY_OK, "rank and size");
}

int main(int argc, char **argv)
{
    ferry_context *ctx[3] = {NULL};
    ferry_plan *plan[3] = {NULL};
    double own[200];
    void *shared = NULL;

    EXPECT(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx[0]), FERRY_ERR_STATE); /* MPI has not begun */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 3; i++) {
        EXPECT(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx[i]), FERRY_OK);
        plan[i] = compile(ctx[i]);
    }
    EXPECT(ferry_memory_alloc(ctx[0], sizeof own, &shared), FERRY_OK);
    memset(shared, 0, sizeof own);
    EXPECT(ferry_plan_start(plan[0], shared, own + 100), FERRY_OK);
    EXPECT(ferry_plan_wait(plan[0]), FERRY_OK);
    ferry_plan_free(plan[1]);
    ferry_context_free(ctx[1]);
    MPI_Finalize();

    check_refusals(ctx[0], plan[0], own);
    *(double *)shared = 1; /* memory stays until it is freed */
    ferry_plan_free(plan[0]);
    ferry_memory_free(ctx[0], shared);
    ferry_context_free(ctx[0]);
    ferry_plan_free(plan[2]);
    ferry_context_free(ctx[2]);
    return failures != 0;
}
