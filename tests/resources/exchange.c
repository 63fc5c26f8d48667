/* One rank of a job that is short of something, or that is about to be killed. Each rank passes a block of its shared memory, one of its
 * private and one of its adopted memory to the next one, and looks at every byte.
 * usage: exchange MIB          once; rank 0 prints "right BY: WHY", or the text of the refusal, and ends with 3
 *        exchange MIB stay     until it is killed; each rank prints "pid RANK PID" before its context is made, and "round RANK" once */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ferry/ferry.h"

static int rank, size;

static unsigned char value(size_t i, int from, int round)
{
    return (unsigned char)(i * 7 + (i >> 12) + (size_t)(from * 50 + round));
}

/* The next rank gets `data`; returns how many bytes of what came were wrong. */
static size_t pass_on(ferry_plan *plan, unsigned char *data, unsigned char *target, size_t bytes, int round)
{
    const int from = (rank + size - 1) % size;
    size_t wrong = 0;

    for (size_t i = 0; i < bytes; i++)
        data[i] = value(i, rank, round);
    memset(target, 0, bytes);
    if (ferry_plan_start(plan, data, target) != FERRY_OK || ferry_plan_wait(plan) != FERRY_OK)
        return bytes;
    for (size_t i = 0; i < bytes; i++)
        wrong += target[i] != value(i, from, round);
    return wrong;
}

static ferry_plan *ring(ferry_context *ctx, size_t bytes)
{
    ferry_edge edges[2] = {FERRY_EDGE_INIT, FERRY_EDGE_INIT};
    ferry_layout *layout = NULL;
    ferry_plan *plan = NULL;

    if (ferry_layout_dense((int64_t)bytes, 1, 0, &layout) != FERRY_OK)
        return NULL;
    for (int i = 0; i < 2; i++) {
        edges[i].from = i == 0 ? rank : (rank + size - 1) % size;
        edges[i].to = i == 0 ? (rank + 1) % size : rank;
        edges[i].source = edges[i].target = layout;
    }
    if (ferry_plan_compile(ctx, edges, size == 1 ? 1 : 2, &plan) != FERRY_OK)
        plan = NULL;
    ferry_layout_free(layout);
    return plan;
}

/* Ends the job when anything is wrong on any rank. */
static void must(int right, const char *what)
{
    int all = 0;

    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all)
        return;
    if (!right)
        printf("rank %d: %s: %s\n", rank, what, ferry_error_detail());
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    exit(3);
}

int main(int argc, char **argv)
{
    const size_t bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 8) << 20;
    const int stay = argc > 2;
    unsigned char *shared = NULL, *own = malloc(bytes), *adopted = malloc(bytes), *target = malloc(bytes);
    ferry_context *ctx = NULL;
    ferry_context_info info;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(adopted, 1, bytes);
    if (stay)
        printf("pid %d %d\n", rank, (int)getpid());
    fflush(stdout);
    must(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx) == FERRY_OK, "context");
    must(ferry_context_describe(ctx, &info) == FERRY_OK, "describe");
    must(ferry_memory_alloc(ctx, bytes, (void **)&shared) == FERRY_OK, "memory");
    const ferry_status st = ferry_memory_adopt(ctx, adopted, bytes); /* where there is little, it stays private */
    must(st == FERRY_OK || st == FERRY_ERR_MEMORY, "adoption");
    ferry_plan *const plan = ring(ctx, bytes);
    must(plan != NULL, "plan");
    for (int round = 0; round < (stay ? 1 << 30 : 2); round++) {
        size_t wrong = pass_on(plan, shared, target, bytes, 3 * round);
        wrong += pass_on(plan, own, target, bytes, 3 * round + 1) + pass_on(plan, adopted, target, bytes, 3 * round + 2);
        if (round == 0 || wrong) {
            must(wrong == 0, "content");
            if (stay)
                printf("round %d\n", rank);
            fflush(stdout);
        }
    }
    must(ferry_memory_release(ctx, adopted) == (st == FERRY_OK ? FERRY_OK : FERRY_ERR_NOT_FOUND), "release");
    if (rank == 0)
        printf("right %s: %s\n", info.shared_memory, info.shared_reason);
    ferry_plan_free(plan);
    ferry_memory_free(ctx, shared);
    ferry_context_free(ctx);
    free(own);
    free(adopted);
    free(target);
    MPI_Finalize();
    return 0;
}
