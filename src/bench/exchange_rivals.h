/* What programs do today to exchange blocks: a step for each way, and what they make before. */
#ifndef BENCH_EXCHANGE_RIVALS_H
#define BENCH_EXCHANGE_RIVALS_H

#include "bench/exchange.h"
#include "bench/harness.h"

/* Buffers, persistent requests and the graph of neighbours; types and memory are there. Collective;
 * agreed. */
int rivals_make(exchange *x);
void rivals_drop(exchange *x);

/* Whether MPI_Pack can count the bytes of all messages; the same on all ranks. */
bool rivals_can_pack(const exchange *x);

/* One message after another, or (`posted`) all at once. */
contender_step rival_datatype, rival_datatype_posted, rival_datatype_fields;
contender_step rival_handpack, rival_handpack_posted;
contender_step rival_simd, rival_simd_posted;
contender_step rival_pack, rival_persistent, rival_neighbor;

/* Posted hand packing in two halves, for programs that compute in between: what begins, and what
 * unpacks at the end; `test` lets MPI move on. */
void rivals_begin(exchange *x, char *base);
void rivals_test(exchange *x);
void rivals_end(exchange *x, char *base);

#endif
