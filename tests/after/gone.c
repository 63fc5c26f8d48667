/* A rank ends in the middle of things, or stops for a while: those that wait for it hear of it in time, and can free what
 * they have.
 * usage: gone MOMENT END FOLDER, with MOMENT round, stream, broadcast, compile, agree, bundle, and END kill, crash, exit, stop,
 * pause. The last rank ends. Every other one writes a file into the folder, with a line for each thing that is wrong and a last
 * one that says "rank N is content" or "is not content": the launcher may be gone before it. Within a node a dead rank is
 * noticed; over nodes (FERRY_NODES) the time set for waits passes. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ferry/ferry.h"
#include "ferry/experimental.h"

enum { COUNT = 1 << 18 };

static int rank, size, wrong;
static double from[COUNT], into[COUNT];
static ferry_plan *plan;
static FILE *report;

static void expect(int holds, const char *what)
{
    if (holds)
        return;
    wrong++;
    fprintf(report, "rank %d: %s does not hold; %s\n", rank, what, ferry_error_detail());
}
#define EXPECT(condition) expect((condition), #condition)

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Everybody to everybody. */
static ferry_status compile(ferry_context *ctx, ferry_plan **plan_out)
{
    ferry_edge edges[64];
    ferry_layout *layout = NULL;
    size_t count = 0;

    ferry_layout_dense(COUNT / 64, sizeof(double), 0, &layout);
    for (int peer = 0; peer < size && count < 62; peer++) {
        if (peer == rank)
            continue;
        edges[count] = edges[count + 1] = (ferry_edge)FERRY_EDGE_INIT;
        edges[count].from = edges[count + 1].to = rank;
        edges[count].to = edges[count + 1].from = peer;
        edges[count].source = layout;
        ferry_layout_dense(COUNT / 64, sizeof(double), (int64_t)peer * (COUNT / 64) * 8, (ferry_layout **)&edges[count + 1].target);
        count += 2;
    }
    return ferry_plan_compile(ctx, edges, count, plan_out);
}

static ferry_status place(void *user, size_t bytes, void **data_out)
{
    (void)user;
    *data_out = bytes <= sizeof into ? into : NULL;
    return FERRY_OK;
}

static ferry_status in_round(ferry_context *ctx)
{
    ferry_status st = FERRY_OK;

    (void)ctx;
    for (int i = 0; i < 3 && st == FERRY_OK; i++) {
        st = ferry_plan_start(plan, from, into);
        if (st == FERRY_OK)
            st = ferry_plan_wait(plan);
    }
    return st;
}

static ferry_status in_stream(ferry_context *ctx)
{
    return ferry_stream_recv(ctx, size - 1, 3, place, NULL, NULL);
}

static ferry_status in_broadcast(ferry_context *ctx)
{
    return ferry_stream_bcast(ctx, &(ferry_stream_cast){size - 1, NULL, 0, place, NULL, NULL});
}

static ferry_status in_compile(ferry_context *ctx)
{
    ferry_plan *none = NULL;

    return compile(ctx, &none);
}

static ferry_status in_agree(ferry_context *ctx)
{
    return ferry_context_agree(ctx, FERRY_OK);
}

static ferry_status in_bundle(ferry_context *ctx)
{
    ferry_bundle *part = NULL;
    ferry_list *parts = NULL;

    ferry_bundle_new(&part);
    const ferry_status st = ferry_bundle_allgather(ctx, part, &parts);
    ferry_bundle_free(part);
    ferry_list_free(parts);
    return st;
}

static const struct {
    const char *name;
    ferry_status (*call)(ferry_context *ctx);
} moments[] = {{"round", in_round},     {"stream", in_stream}, {"broadcast", in_broadcast},
               {"compile", in_compile}, {"agree", in_agree},   {"bundle", in_bundle}};

/* A child that lets this rank go on after a while. */
static void stop_for_a_while(void)
{
    const pid_t me = getpid();

    if (fork() == 0) {
        usleep(700000);
        kill(me, SIGCONT);
        _exit(0);
    }
    kill(me, SIGSTOP);
    wait(NULL);
}

/* It would end the others too; the script ends it. */
static void stop_launcher(const char *folder)
{
    char name[256];

    snprintf(name, sizeof name, "%s/launcher", folder);
    FILE *const file = fopen(name, "w");
    if (!file)
        return;
    fprintf(file, "%d\n", (int)getppid());
    fclose(file);
    kill(getppid(), SIGSTOP);
}

static void end(const char *how, const char *folder)
{
    usleep(50000); /* the others wait by now */
    if (strcmp(how, "pause") != 0)
        stop_launcher(folder);
    if (strcmp(how, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(how, "crash") == 0) {
        signal(SIGSEGV, SIG_DFL);
        kill(getpid(), SIGSEGV);
    }
    if (strcmp(how, "exit") == 0)
        _exit(0);
    if (strcmp(how, "pause") == 0) {
        stop_for_a_while();
        return;
    }
    if (fork() == 0) { /* so that nothing is left behind */
        const pid_t parent = getppid();
        usleep(4000000);
        kill(parent, SIGKILL);
        _exit(0);
    }
    kill(getpid(), SIGSTOP);
}

static void check(ferry_context *ctx, ferry_status st, const char *how, double seconds)
{
    ferry_context_info info;
    char name[32];

    ferry_context_describe(ctx, &info);
    const int seen = info.node_size > 1 && strcmp(how, "stop") != 0;
    if (strcmp(how, "pause") == 0) {
        EXPECT(st == FERRY_OK);
        return;
    }
    if (!seen) {
        EXPECT(st == FERRY_ERR_TIMEOUT);
        EXPECT(seconds >= info.timeout_s * 0.9 && seconds < info.timeout_s + 2);
        return;
    }
    snprintf(name, sizeof name, "rank %d has ended", size - 1);
    EXPECT(st == FERRY_ERR_PEER_GONE);
    EXPECT(strstr(ferry_error_detail(), name) != NULL);
    EXPECT(seconds < 2);
}

int main(int argc, char **argv)
{
    ferry_context *ctx = NULL;
    size_t which = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    signal(SIGPIPE, SIG_IGN);
    while (argc == 4 && which < 6 && strcmp(moments[which].name, argv[1]))
        which++;
    char name[256];
    snprintf(name, sizeof name, "%s/%d", argc == 4 ? argv[3] : "", rank);
    report = argc == 4 ? fopen(name, "w") : NULL;
    if (!report || which == 6 || ferry_context_create(MPI_COMM_WORLD, NULL, &ctx) != FERRY_OK)
        return 2;
    EXPECT(compile(ctx, &plan) == FERRY_OK);
    EXPECT(in_round(ctx) == FERRY_OK);
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = now();
    if (rank == size - 1)
        end(argv[2], argv[3]);
    ferry_status st = FERRY_OK;
    if (rank < size - 1 || strcmp(argv[1], "stream") != 0)
        st = moments[which].call(ctx);
    else
        for (int i = 0; i < size - 1; i++)
            ferry_stream_send(ctx, NULL, 0, i, 3);
    check(ctx, st, argv[2], now() - began);
    const double freeing = now();
    ferry_plan_free(plan);
    ferry_context_free(ctx);
    EXPECT(now() - freeing < 1);
    fprintf(report, "%.2f s: %d %s\nrank %d is %scontent\n", freeing - began, st, ferry_error_detail(), rank, wrong ? "not " : "");
    fclose(report);
    if (strcmp(argv[2], "pause") == 0)
        MPI_Finalize();
    _exit(0); /* MPI_Finalize would wait for the dead */
}
