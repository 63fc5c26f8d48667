/* Rivals that need a job of their own: another setting of the MPI, or another program. Each is
 * compared with ferry under equal conditions: a setting within its job, where ferry takes turns
 * with it; a program in whole jobs that alternate with jobs of ferry, pair by pair. */
#ifndef BENCH_OWN_H
#define BENCH_OWN_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/bench.h"
#include "bench/harness.h"

enum { OWN_ROWS_MAX = 8, OWN_NOTE_BYTES = 240 };

/* A rival as it was found in jobs of its own. */
typedef struct own_row {
    const char *name;
    char note[OWN_NOTE_BYTES];    /* settings */
    char missing[OWN_NOTE_BYTES]; /* why there are no times; "" when there are */
    double median_s, min_s, max_s;
    double to_ferry, to_fresh; /* medians of the pairs' ratios */
    long long rounds;
    int pairs; /* 0: one job, in which ferry took turns */
    bool refused;
} own_row;

/* What `--own=INDEX:WORD:ROUNDS` says to a rank: the only case it runs, as what, and whether there
 * are timed rounds; without any, another program only verifies. */
typedef struct own_order {
    int index;
    char word[32];
    int timed;
} own_order;

/* False when there is none, or not a valid one. */
bool own_order_read(const bench_options *options, own_order *order_out);

/* Which contenders a job measures: in a job of its own few, else all that are wanted but those that
 * need one. Inside of somebody's job these stay, as missing. */
void own_choose(measurement *m, const bench_options *options, const char *const *rivals);

#endif
