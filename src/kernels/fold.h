/* Kernels that combine elements: the one table of the library that knows types. */
#ifndef KERNELS_FOLD_H
#define KERNELS_FOLD_H

#include <stddef.h>

#include "ferry/element.h"

/* there[i] = there[i] op arriving[i]; both aligned as the type wants, and apart from each other. */
typedef void kernel_fold(void *restrict there, const void *restrict arriving, size_t count);

/* NULL when the op is none that computes, or not defined for the type. */
kernel_fold *kernels_fold(ferry_op op, ferry_type type);

/* Bytes of one element; 0 for what is no number. */
size_t kernels_fold_bytes(ferry_type type);

/* Words for people; "?" for what is none. */
const char *kernels_fold_op(ferry_op op);
const char *kernels_fold_type(ferry_type type);

#endif
