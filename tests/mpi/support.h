/* What tests of ranks share beyond checks: random numbers that all ranks draw alike, texts compared between ranks. */
#ifndef TESTS_MPI_SUPPORT_H
#define TESTS_MPI_SUPPORT_H

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ferry/context.h"
#include "mpi/check.h"

/* The call succeeds; else its text is printed. */
#define CHECK_OK(call)                                                                             \
    do {                                                                                           \
        const ferry_status check_status = (call);                                                  \
        if (!check_report_int(check_status, FERRY_OK, __FILE__, __LINE__, #call))                  \
            fprintf(stderr, "  %s\n", ferry_error_detail());                                       \
    } while (0)

/* The text of the last failure holds these words. */
#define CHECK_DETAIL(words)                                                                        \
    do {                                                                                           \
        if (!CHECK(strstr(ferry_error_detail(), (words)) != NULL))                                 \
            fprintf(stderr, "  \"%s\" does not say \"%s\"\n", ferry_error_detail(), (words));      \
    } while (0)

/* A random number generator (splitmix64): a seed means the same everywhere. */
typedef struct check_rng {
    uint64_t state;
} check_rng;

static inline uint64_t check_next(check_rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* low .. high, both included */
static inline int64_t check_between(check_rng *rng, int64_t low, int64_t high)
{
    return low + (int64_t)(check_next(rng) % (uint64_t)(high - low + 1));
}

/* FERRY_SEED, else the time; the same on all ranks, and printed by one, so that a failure can be repeated. */
static inline check_rng check_common_rng(const char *what)
{
    const char *const wanted = getenv("FERRY_SEED");
    const int given = wanted && wanted[0] >= '0' && wanted[0] <= '9';
    uint64_t seed = given ? strtoull(wanted, NULL, 10) : (uint64_t)time(NULL);
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s: FERRY_SEED=%llu\n", what, (unsigned long long)seed);
    return (check_rng){seed};
}

/* How often to repeat a random test: ranks that share cores and spin make each round dear. */
static inline int check_repeats(int ranks)
{
    return 60 / (ranks + 1);
}

/* All ranks have the same detail text. */
static inline void check_same_detail(void)
{
    char first[1024];

    snprintf(first, sizeof first, "%s", ferry_error_detail());
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK_DETAIL(first);
    CHECK_EQ_INT(strlen(ferry_error_detail()), strlen(first));
}

/* Entries of a folder, such as the open files in /proc/self/fd. */
static inline long check_entries(const char *path)
{
    DIR *const folder = opendir(path);
    long entries = 0;

    while (folder && readdir(folder))
        entries++;
    if (folder)
        closedir(folder);
    return entries;
}

static inline ferry_context *context_over(MPI_Comm comm)
{
    ferry_context *ctx = NULL;

    CHECK_OK(ferry_context_create(comm, NULL, &ctx));
    return ctx;
}

#endif
