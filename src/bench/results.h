/* Results in files: JSON and CSV, and the part files through which jobs hand theirs to the parent.
 */
#ifndef BENCH_RESULTS_H
#define BENCH_RESULTS_H

#include <stddef.h>

#include "bench/bench.h"
#include "bench/cases.h"
#include "bench/harness.h"
#include "bench/own.h"

typedef struct results results; /* results of cases, each with its place in the list of cases */

results *results_new(void); /* NULL when memory ran out */
void results_free(results *o);

/* Add the results of case `index`. 0, or 1 when memory ran out. */
int results_add(results *o, int index, const world *w, const bench_case *c, const measurement *m);

/* Rivals that were measured in jobs of their own go to the rows of the same case. `bytes` arrive in
 * a round. */
int results_add_own(results *o, int index, double bytes, const own_row rows[], int count);

/* Fill the times of the row of that name in case `index`: 0, or 1 when there is none. */
int results_find(const results *o, int index, own_row *row_inout);

/* Whether a file could be written there: 0, or 1 with a text. */
int results_check(const char *path, char *error, size_t bytes);

/* Hand the results to the parent. 0, or 1 with a text. */
int results_write_part(const results *o, const char *path, char *error, size_t bytes);
int results_read_part(results *o, const char *path, char *error, size_t bytes);

/* Write --json, --csv and --plot in the order of the cases. Either complete files under their
 * names, or 1 with a text. */
int results_write(const results *o, const bench_options *options, char *error, size_t bytes);

#endif
