/* NumPy's .npy files, as the subcommands read and write them. */
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include "npy/npy.h"

/* Understand the first `count` bytes of a file: an exit status, with a complaint that begins with
 * `name`. Types that hold objects or fields are refused, and shapes that are negative or pass 63
 * bits. Fills only on success. */
int npy_parse(const char *name, const void *bytes, size_t count, npy_header *header_out);

/* Read the header of an open file and check that the data is all there. */
int npy_read(const char *name, int fd, npy_header *header_out);

/* Write a header of version 1 for a matrix in C order: returns its bytes, a multiple of 64. */
size_t npy_compose(const char *descr, int64_t rows, int64_t columns,
                   char text_out[NPY_WRITTEN_MAX]);

#endif
