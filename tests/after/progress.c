/* The progress thread: rounds arrive while their ranks make no calls; calls and thread do not disturb each other.
 * usage: progress LEVEL WIRE, with LEVEL multiple or single, WIRE 1 when FERRY_NODES puts every rank on a node of its own.
 * Every rank prints what is wrong and returns 1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ferry/experimental.h"
#include "ferry/ferry.h"

enum { COUNT = 3 << 17, ROUNDS = 100 };

static int rank, size, wrong;
static double from[COUNT], into[COUNT];

static void expect(int holds, const char *what)
{
    if (holds)
        return;
    wrong++;
    fprintf(stderr, "rank %d: %s does not hold; %s\n", rank, what, ferry_error_detail());
}
#define EXPECT(condition) expect((condition), #condition)

/* To the next rank, from the one before. */
static ferry_plan *compile(ferry_context *ctx)
{
    ferry_edge edges[2] = {FERRY_EDGE_INIT, FERRY_EDGE_INIT};
    ferry_layout *layout = NULL;
    ferry_plan *plan = NULL;

    ferry_layout_dense(COUNT, sizeof(double), 0, &layout);
    edges[0].from = edges[1].to = rank;
    edges[0].to = (rank + 1) % size;
    edges[1].from = (rank + size - 1) % size;
    edges[0].source = edges[1].target = layout;
    EXPECT(ferry_plan_compile(ctx, edges, 2, &plan) == FERRY_OK);
    ferry_layout_free(layout);
    return plan;
}

static void fill(double start)
{
    for (int i = 0; i < COUNT; i++)
        from[i] = start + rank + i;
}

static int arrived(double start)
{
    const double sender = (rank + size - 1) % size;

    for (int i = 0; i < COUNT; i++)
        if (into[i] != start + sender + i)
            return 0;
    return 1;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The last element is seen without a call of this rank, although the round is longer than any window. */
static void without_calls(ferry_plan *plan)
{
    const volatile double *const last = &into[COUNT - 1];
    const double until = now() + 20;

    fill(1000);
    memset(into, 0, sizeof into);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT(ferry_plan_start(plan, from, into) == FERRY_OK);
    while (*last == 0 && now() < until)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    EXPECT(*last != 0);
    EXPECT(ferry_plan_wait(plan) == FERRY_OK);
    EXPECT(arrived(1000));
}

static ferry_status place(void *user, size_t bytes, void **data_out)
{
    *data_out = bytes <= sizeof(double) ? user : NULL;
    return FERRY_OK;
}

/* Rounds, messages and set-up in any order. */
static void with_calls(ferry_context *ctx, ferry_plan *plan)
{
    for (int i = 0; i < ROUNDS && !wrong; i++) {
        double told = i, heard = -1;
        int done = 0;
        fill(i);
        EXPECT(ferry_plan_start(plan, from, into) == FERRY_OK);
        for (int k = 0; k < i % 7; k++)
            EXPECT(ferry_plan_test(plan, &done) == FERRY_OK);
        if (i % 3 == 0) {
            ferry_stream_request *request = NULL;
            EXPECT(ferry_stream_isend(ctx, &(ferry_piece){&told, sizeof told}, 1, (rank + 1) % size, 1, &request) == FERRY_OK);
            EXPECT(ferry_stream_recv(ctx, (rank + size - 1) % size, 1, place, &heard, NULL) == FERRY_OK);
            EXPECT(ferry_stream_wait(&request, NULL) == FERRY_OK);
            EXPECT(heard == i);
        }
        if (i % 10 == 0)
            EXPECT(ferry_context_agree(ctx, FERRY_OK) == FERRY_OK);
        EXPECT(ferry_plan_wait(plan) == FERRY_OK);
        EXPECT(arrived(i));
    }
}

int main(int argc, char **argv)
{
    ferry_context_options options = FERRY_CONTEXT_OPTIONS_INIT;
    const int wanted = argc > 1 && strcmp(argv[1], "multiple") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    ferry_context *ctx = NULL, *left = NULL;
    ferry_context_info info;
    int level = 0;

    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    options.progress = "sometimes";
    EXPECT(ferry_context_create(MPI_COMM_WORLD, &options, &ctx) == FERRY_ERR_ARG);
    options.progress = "thread";
    EXPECT(ferry_context_create(MPI_COMM_WORLD, &options, &ctx) == FERRY_OK);
    EXPECT(ferry_context_create(MPI_COMM_WORLD, &options, &left) == FERRY_OK);
    EXPECT(ferry_context_describe(ctx, &info) == FERRY_OK);
    EXPECT(strcmp(info.progress, level == MPI_THREAD_MULTIPLE ? "thread" : "node") == 0);
    ferry_plan *const plan = compile(ctx);
    if (level == MPI_THREAD_MULTIPLE || (argc > 2 && argv[2][0] == '0'))
        without_calls(plan);
    with_calls(ctx, plan);
    ferry_plan_free(plan);
    ferry_context_free(ctx);
    MPI_Finalize();
    ferry_context_free(left); /* its thread has ended with MPI */
    return wrong != 0;
}
