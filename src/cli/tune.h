/* What `ferry tune` measures. Ranks of one node exchange rows of a field in pairs, both ways; the
 * source is written anew before every round, as a program does, and that time is subtracted. */
#ifndef CLI_TUNE_H
#define CLI_TUNE_H

#include "cli/rank.h"

enum { TUNE_VALUES_MAX = 64 };

/* A number of the record before and after. */
typedef struct tune_value {
    const char *name, *unit, *help; /* static */
    double before, after;
    double low, high; /* the quartiles of what was measured; 0: another number decided */
} tune_value;

typedef struct tune_result {
    int count;
    tune_value values[TUNE_VALUES_MAX];
} tune_result;

/* Read the record of a context. */
void tune_read(const ferry_context *ctx, tune_result *result_out);
tune_value *tune_find(tune_result *result, const char *name);

/* Measure for about `seconds`, and fill `after`. Collective; the same status on all ranks, and the
 * same result. A failure leaves a complaint. */
int tune_measure(const rank *me, int seconds, tune_result *result);

#endif
