/* The harness: verifies contenders, then times them in turns within one run.
 *
 * A case opens a list of contenders; the harness knows nothing else of it. Two kinds of timing:
 * - paced: every round is a start in common, then the operation. Rewriting the source and preparing
 *   memory lie outside.
 * - streaming: rounds follow one another without a barrier, each rewriting the source first, as a
 * stencil code does; the time of rewriting alone (the median of the baseline contender) is
 * subtracted.
 *
 * The time of a round is the last end minus the first start over all ranks. Of contenders that have
 * one name only the faster is kept: ways to do the same thing, of which a program takes the best.
 */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/world.h"

enum { CONTENDERS_MAX = 24, CONTENDER_NOTE_BYTES = 120, EXPLAIN_BYTES = 2048, FIGURES_MAX = 8 };

typedef enum contender_kind {
    CONTENDER_FERRY,
    CONTENDER_RIVAL,
    CONTENDER_LIMIT,      /* local copying by all ranks at once */
    CONTENDER_PART,       /* a part of the work, or other work beside it: shown, never refused */
    CONTENDER_BASELINE,   /* streaming: rewriting alone */
    CONTENDER_ALONE,      /* the limit's copying on a single rank: what one core can do */
    CONTENDER_ALONE_BASE, /* streaming: rewriting alone on that rank */
} contender_kind;

typedef struct contender contender;
typedef int contender_step(contender *c);     /* 0, or 1 with a text in the world's trouble */
typedef size_t contender_check(contender *c); /* elements that are wrong on this rank */

/* One way to do the case's work. Steps that are NULL do nothing. */
struct contender {
    const char *name;
    contender_kind kind;
    void *job;               /* the case's state */
    void *memory;            /* what this contender works on, of the case's making */
    contender_step *rewrite; /* the source gets the next round's content */
    contender_step *before;  /* untimed, before a paced round and before checks: memory, marks */
    contender_step *round;   /* the operation, timed */
    contender_step *after; /* untimed, after each paced round: gives back what the round obtained */
    contender_check *wrong; /* after a round: NULL for what has no result to check */
    bool mapped; /* receivers read what the sender wrote where it lies: copying is no limit */
    const char *missing;             /* why it cannot run here; NULL when it can */
    char note[CONTENDER_NOTE_BYTES]; /* what a reader should know of the row, "" if nothing */
};

/* One measured contender. Times in seconds; 0 and below: not to be told from nothing. */
typedef struct result {
    const char *name;
    contender_kind kind;
    double median_s, min_s, max_s;
    uint64_t rounds;
    bool refused;
    const char *missing;
    char note[CONTENDER_NOTE_BYTES];
} result;

/* A number that a case computes from its rows, such as "hidden ferry 0.93". */
typedef struct figure {
    const char *name;
    double value;
} figure;

/* What the harness is given, and what it finds (the results are the same on all ranks). */
typedef struct measurement {
    contender contenders[CONTENDERS_MAX];
    int contender_count;
    bool streaming;
    double bytes;                /* that arrive on all ranks in a round */
    double alone_bytes;          /* that the ALONE contender copies in a round */
    char explain[EXPLAIN_BYTES]; /* how ferry moves the bytes on this rank, "" when it does not tell
                                  */
    result results[CONTENDERS_MAX];
    int result_count;
    bool refused;             /* some row is */
    const char *figure_title; /* of what the figures are */
    figure figures[FIGURES_MAX];
    int figure_count;
} measurement;

typedef void harness_progress(void *user, const char *step, int done, int of);

/* Add a contender; the case fills the rest of it. */
contender *measurement_add(measurement *m, const char *name, contender_kind kind, void *job);

/* Verify, calibrate and time all contenders. Collective; the same result on all ranks: 0, or 1 with
 * a text in the world's trouble. */
int harness_run(world *w, measurement *m, harness_progress *progress, void *user);

#endif
