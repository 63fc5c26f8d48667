/* Copies of strided blocks as somebody writes them who knows the processor: the rival of ferry's
 * kernels, which it shares nothing with. */
#ifndef BENCH_SIMD_H
#define BENCH_SIMD_H

#include "bench/pattern.h"

/* As box_copy(). */
void simd_copy(void *to, const box *target, const void *from, const box *source);

#endif
