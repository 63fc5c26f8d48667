/* `ferry bench report vector`: two tables over the size of the buffer. */
#ifndef BENCH_COLUMNS_H
#define BENCH_COLUMNS_H

#include "bench/cases.h"

/* The case with the most rows that the report measures. */
bench_case columns_largest(const bench_case *c);

/* Whether the case can be reported: 0, or 1 with a text. */
int columns_check(const bench_case *c, char *error, size_t bytes);

/* Measure and print. Collective; agreed: 0, or 1 with a text in the world's trouble. */
int columns_report(world *w, const bench_case *c);

#endif
