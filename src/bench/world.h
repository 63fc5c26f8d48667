/* The ranks of a job as a measurement needs them: a start in common, agreement, one clock, and the
 * ferry context. */
#ifndef BENCH_WORLD_H
#define BENCH_WORLD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "ferry/context.h"

enum { WORLD_TROUBLE_BYTES = 400 };

typedef struct world_flag world_flag;

typedef struct world {
    MPI_Comm comm; /* of the harness; rivals use `rivals` */
    MPI_Comm rivals;
    int rank;
    int size;
    int cores;     /* that the node's ranks may use together */
    bool one_node; /* one monotonic clock, one memory */
    bool crowded;  /* more ranks than cores on this node */
    ferry_context *ctx;
    MPI_Win window;                    /* holds the flags; MPI_WIN_NULL when there are none */
    world_flag **flags;                /* one per rank, or NULL */
    uint64_t meetings;                 /* so far, of world_meet() */
    char trouble[WORLD_TROUBLE_BYTES]; /* why the last step failed on this rank, "" when it did not
                                        */
} world;

/* Make the world of MPI_COMM_WORLD. Collective; the same result everywhere: 0, or 1 with a text in
 * `trouble`. */
int world_open(world *w);
void world_close(world *w);

/* Record why a step failed; returns 1. */
int world_fail(world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Likewise with the detail of a ferry call that failed; returns 1, or 0 for FERRY_OK. */
int world_ferry(world *w, ferry_status status, const char *call);

/* End the job with one line: for failures in the midst of a rival's messages, which the other ranks
 * wait for. */
_Noreturn void world_give_up(const world *w, const char *what, size_t bytes);

/* Memory of the process for this rank, aligned to pages, every page touched; NULL and a text after
 * a failure. */
void *world_alloc(world *w, size_t bytes);

/* Every rank passes here with its verdict; all leave with the same: 0, or 1 and the text of the
 * lowest failing rank. */
int world_agree(world *w, int failed);

/* Reductions that do not spin when there are more ranks than cores, so that waiting ranks do not
 * slow working ones. */
void world_max(world *w, double *values, int count);
void world_min(world *w, double *values, int count);
double world_sum(world *w, double value);

/* Wait for all ranks, then for a moment that lies ahead for all of them: a start in common. Returns
 * the time when the last rank came, the same number on all ranks. */
double world_start(world *w);

/* Wait until these ranks have come as often as this one, through shared flags. Does nothing where
 * flags are missing or a spin would only hold up the rank it waits for. */
void world_meet(world *w, const int *ranks, int count);

/* Seconds of the monotonic clock. */
double world_now(void);

#endif
