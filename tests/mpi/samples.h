/* Bundles that tests of moves share: every rank can make what another one sends. */
#ifndef TESTS_MPI_SAMPLES_H
#define TESTS_MPI_SAMPLES_H

#include "ferry/bundle_move.h"
#include "mpi/support.h"

ferry_bundle *sample_empty(void);

/* Values of all kinds; which rank made it, and about 10 KB for each row, can be told from them. */
ferry_bundle *sample_of(int owner, int64_t rows);

/* What a receiver may hold before: other keys, and the same with other types. */
ferry_bundle *sample_old(void);

/* Number k of a sender, of growing size. */
ferry_bundle *sample_numbered(int from, int k);

/* Not-a-numbers with a payload, -0, denormals, infinities; arrays of every type without elements. */
void sample_add_odd(ferry_bundle *b);
void sample_add_nothing(ferry_bundle *b);

/* Equal to what it should be, which is freed. */
void sample_check(const ferry_bundle *b, ferry_bundle *expected);

#endif
