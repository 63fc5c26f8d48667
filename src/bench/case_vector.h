/* Case vector: its keys, and its exchange for others that move the same columns. */
#ifndef BENCH_CASE_VECTOR_H
#define BENCH_CASE_VECTOR_H

#include "bench/cases.h"
#include "bench/exchange.h"

/* The first keys of a case that moves columns. */
enum { VECTOR_ROWS, VECTOR_RUN, VECTOR_STRIDE, VECTOR_ELEMENT, VECTOR_KEYS };

int vector_check(const bench_case *c, char *error, size_t bytes);
uint64_t vector_need(const bench_case *c, const char *rivals);

/* Describe the columns and compile ferry's plan, the exchange's carrier. Collective; agreed. The
 * exchange is filled after a failure too, if it could be had. */
int vector_make(world *w, const bench_case *c, exchange **x_out);

#endif
