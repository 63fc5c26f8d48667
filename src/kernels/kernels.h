/* Kernels: they move bytes of one shape, and are chosen once, when a copy list is made. Scalar
 * bodies for everything, overridden by vector bodies where the CPU (masked by FERRY_CPU) has them.
 * Strides are bytes, of any sign. */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Move `count` runs of `run` bytes: run i from src + i * src_stride to dst + i * dst_stride.
 * Nothing overlaps. */
typedef void kernel_runs(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                         ptrdiff_t src_stride, size_t count, size_t run);

/* Turn a tile over: element (r, c) is at rows[r] + c * element and goes to
 * dst + c * dst_stride + r * element. rows: row_count pointers. `stream`: write whole lines past
 * the caches where possible; the caller calls kernels_fence() before it tells anybody. Any
 * alignment is right; 64-byte aligned dst and dst_stride is fastest.
 *
 * The kernel blocks for the caches itself: give it all rows and columns there are. A caller that
 * works in parts loses nothing with parts of 8 KiB of columns or more and a multiple of 64 rows;
 * where dst_stride is not 64-byte aligned, each part costs part of a line in every column, so that
 * it should have 2048 rows or more. */
typedef void kernel_tile(char *restrict dst, ptrdiff_t dst_stride, const char *const *rows,
                         size_t row_count, size_t columns, size_t element, int stream);

/* Move `count` runs of `run` bytes between packed bytes and base + at[i]. */
typedef void kernel_listed_gather(char *restrict packed, const char *restrict base,
                                  const int64_t *at, size_t count, size_t run);
typedef void kernel_listed_scatter(char *restrict base, const int64_t *at,
                                   const char *restrict packed, size_t count, size_t run);
kernel_listed_gather *kernels_listed_gather(size_t run);
kernel_listed_scatter *kernels_listed_scatter(size_t run);

/* The best kernel for runs of `run` bytes. dense_dst: dst_stride == run; dense_src: src_stride ==
 * run. Never NULL. */
kernel_runs *kernels_runs(size_t run, int dense_src, int dense_dst);

/* Runs of whole lines written past the caches where the destination is aligned to lines; NULL: not
 * for this length or CPU. The caller calls kernels_fence() before it tells anybody. */
kernel_runs *kernels_runs_streamed(size_t run);

/* The best kernel for tiles of elements of `element` bytes, 1 or more. Never NULL. */
kernel_tile *kernels_tile(size_t element);

/* Dense copy of any length; `stream` as above (for blocks larger than the caches). */
void kernels_copy(char *restrict dst, const char *restrict src, size_t bytes, int stream);

/* Orders streamed writes before the next flag store. */
void kernels_fence(void);

/* Bytes from which a block is better written past the caches (about the last-level cache share). */
size_t kernels_stream_bytes(void);

/* The set in use: "scalar", "avx2", "avx512" or "neon"; fixed at first use from the CPU and
 * FERRY_CPU. */
const char *kernels_name(void);

/* Tests: every set that this CPU can run, index 0, 1, ... until NULL; kernels_use() switches to one
 * of them. */
const char *kernels_set(int index);
void kernels_use(int index);

#endif
