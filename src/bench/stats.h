/* Samples of one contender. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stddef.h>

typedef struct samples {
    double *values;
    size_t count;
    size_t room;
} samples;

int samples_add(samples *s, double value); /* 0, or 1 when memory ran out */
void samples_drop(samples *s);

/* All three are 0 when there are no samples. samples_median() sorts. */
double samples_median(samples *s);
double samples_min(const samples *s);
double samples_max(const samples *s);

#endif
