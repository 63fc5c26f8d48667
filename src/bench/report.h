/* Tables for people. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "bench/cases.h"
#include "bench/harness.h"
#include "bench/own.h"

/* What holds for all cases of a job: MPI, cores, kernels, and what else decides the figures. */
void report_job(FILE *to, const world *w);

/* One case. `verbose`: baselines and the plan too. */
void report_case(FILE *to, const world *w, const bench_case *c, const measurement *m, bool verbose);

/* Rivals of jobs of their own, below ferry's two rows of the same pairs; `bytes` arrive in a round.
 */
void report_own(FILE *to, const bench_case *c, double bytes, const own_row ferry[2],
                const own_row rows[], int count);

/* The result of that name among those that were measured; NULL when there is none. */
const result *report_find(const measurement *m, const char *name);

#endif
