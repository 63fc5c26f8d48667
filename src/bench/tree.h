/* The content of the case bundle as ferry's container. */
#ifndef BENCH_TREE_H
#define BENCH_TREE_H

#include "bench/content.h"
#include "ferry/bundle.h"

/* Make the bundle of a payload. Matrices and strings are borrowed from it, so that a payload that
 * is rewritten needs tree_update() only for its scalars. The detail of a failure is ferry's. */
ferry_status tree_build(const content *c, const void *payload, ferry_bundle **bundle_out);
ferry_status tree_update(const content *c, const void *payload, ferry_bundle *bundle);

/* How many values are missing in a bundle, or are not those of that rank and round; NULL: all. */
size_t tree_wrong(const content *c, const ferry_bundle *bundle, uint64_t rank, uint64_t round);

/* Sum of the absolute differences between the matrices of a bundle and a payload; infinite when the
 * bundle holds other things. */
double tree_difference(const content *c, const ferry_bundle *bundle, const double *payload);

#endif
