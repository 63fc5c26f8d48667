/* Inside the kernels: a set is the kernels written for one kind of CPU, as two tables of overrides.
 * What a set lacks is looked up in the set before it; the first one, scalar, has everything. */
#ifndef KERNELS_SETS_H
#define KERNELS_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/kernels.h"

/* Runs of least .. most bytes. gather: the destination is dense; scatter: the source is; NULL: not
 * in this set. */
typedef struct runs_entry {
    size_t least, most;
    kernel_runs *strided, *gather, *scatter;
} runs_entry;

/* Tiles of elements of least .. most bytes. */
typedef struct tile_entry {
    size_t least, most;
    kernel_tile *kernel;
} tile_entry;

typedef void kernel_copy(char *restrict dst, const char *restrict src, size_t bytes);

/* Both tables end with an entry of most == 0. */
typedef struct kernel_set {
    const char *name;
    bool (*usable)(void); /* on this CPU */
    const runs_entry *runs;
    const tile_entry *tiles;
    kernel_copy *copy_streamed; /* past the caches; NULL: not in this set */
    kernel_runs *runs_streamed; /* likewise, for runs of whole lines */
} kernel_set;

extern const kernel_set kernels_scalar;
#if defined(__x86_64__)
extern const kernel_set kernels_avx2;
extern const kernel_set kernels_avx512;
#elif defined(__aarch64__)
extern const kernel_set kernels_neon;
#endif

/* What the scalar set has for a shape: for the ends that a vector body leaves over. */
kernel_runs *kernels_scalar_runs(size_t run, int dense_src, int dense_dst);
kernel_tile *kernels_scalar_tile(size_t element);

#endif
