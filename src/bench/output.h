/* Results in files: JSON and CSV, and the part files through which jobs hand theirs to the parent. */
#ifndef BENCH_OUTPUT_H
#define BENCH_OUTPUT_H

#include <stddef.h>

#include "bench/bench.h"
#include "bench/cases.h"
#include "bench/harness.h"

typedef struct output output; /* results of cases, each with its place in the list of cases */

output *output_new(void); /* NULL when memory ran out */
void output_free(output *o);

/* Add the results of case `index`. 0, or 1 when memory ran out. */
int output_add(output *o, int index, const world *w, const bench_case *c, const measurement *m);

/* Whether a file could be written there: 0, or 1 with a text. */
int output_check(const char *path, char *error, size_t bytes);

/* Hand the results to the parent. 0, or 1 with a text. */
int output_write_part(const output *o, const char *path, char *error, size_t bytes);
int output_read_part(output *o, const char *path, char *error, size_t bytes);

/* Write --json and --csv in the order of the cases. Either complete files under their names, or 1 with a text. */
int output_write(const output *o, const bench_options *options, char *error, size_t bytes);

#endif
