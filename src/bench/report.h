/* Tables for people. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdio.h>

#include "bench/cases.h"
#include "bench/harness.h"

/* What holds for all cases of a job: MPI, cores, kernels, and what else decides the figures. */
void report_job(FILE *to, const world *w);

/* One case. `verbose`: baselines and the plan too. */
void report_case(FILE *to, const world *w, const bench_case *c, const measurement *m, bool verbose);

/* The result of that name among those that were measured; NULL when there is none. */
const result *report_find(const measurement *m, const char *name);

#endif
