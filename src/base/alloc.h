/* Counted allocation. All memory of the library outside of shared segments and the pool comes from
 * here. */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include "ferry/status.h"

/* `count` objects of `bytes` each, zeroed; 0 gives a pointer that may be freed. ERR_MEMORY names
 * the size. Records trouble. */
ferry_status alloc_zero(size_t count, size_t bytes, void *pointer_out /* T ** */);

/* Grow or shrink `*pointer` (may be NULL) to count * bytes, keeping its content; on failure it
 * stays as it was. */
ferry_status alloc_resize(size_t count, size_t bytes, void *pointer_inout /* T ** */);

/* Free memory of the two above; NULL is allowed. */
void alloc_free(void *pointer);

/* Never free memory of the first two: somebody who cannot be stopped may still write into it. It
 * stays in reach, so that it is no leak. */
void alloc_abandon(void *pointer);

/* Allocations made so far by this process (also those of the pool and of segments, which report
 * them here). */
uint64_t alloc_count(void);
void alloc_count_one(void);

/* Tests: the n-th allocation from now on fails (once); 0 switches it off. */
void alloc_fail_at(uint64_t n);

#endif
