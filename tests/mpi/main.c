/* All tests that need ranks, in one job: every group once under every way to carry blocks. usage: mpitests [GROUP]... */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/check.h"

static int rank, failures;
static const char *now = "";

bool check_report(bool holds, const char *file, int line, const char *text)
{
    if (!holds && ++failures <= 20)
        fprintf(stderr, "%s:%d: rank %d, %s: %s does not hold\n", file, line, rank, now, text);
    return holds;
}

bool check_report_int(long long found, long long expected, const char *file, int line, const char *text)
{
    if (found != expected && ++failures <= 20)
        fprintf(stderr, "%s:%d: rank %d, %s: %s does not hold: found %lld, expected %lld\n", file, line, rank, now, text, found, expected);
    return found == expected;
}

/* Ways to carry blocks; the small "nodes" send part of them over MPI, as several hosts would. */
static const struct {
    const char *name, *routes, *nodes;
} ways[] = {
    {"all routes", "all", "auto"},          {"node_ring", "node_ring", "auto"},
    {"node_direct", "node_direct", "auto"}, {"wire_pack", "wire_pack", "auto"},
    {"two ranks a node", "all", "block:2"}, {"every rank a node", "all", "mpi"},
};

static const struct {
    const char *name;
    void (*run)(ferry_context *ctx);
} groups[] = {
#define CHECK_X(name) {#name, check_##name},
    CHECK_GROUPS(CHECK_X)
#undef CHECK_X
};

static bool wanted(const char *group, int count, char **names)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], group) == 0)
            return true;
    return count == 0;
}

static void run_groups(int count, char **names)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        ferry_context *ctx = NULL;
        const double began = MPI_Wtime();
        if (!wanted(groups[i].name, count, names))
            continue;
        if (!CHECK_EQ_INT(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx), FERRY_OK)) {
            fprintf(stderr, "%s\n", ferry_error_detail());
            return;
        }
        groups[i].run(ctx);
        ferry_context_free(ctx);
        if (rank == 0)
            printf("%-18s %-10s %.2f s\n", now, groups[i].name, MPI_Wtime() - began);
    }
}

int main(int argc, char **argv)
{
    int total = 0, provided = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        now = ways[i].name;
        setenv("FERRY_ROUTE", ways[i].routes, 1);
        setenv("FERRY_NODES", ways[i].nodes, 1);
        run_groups(argc - 1, argv + 1);
    }
    MPI_Allreduce(&failures, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && total)
        printf("%d checks failed\n", total);
    MPI_Finalize();
    return total != 0;
}
