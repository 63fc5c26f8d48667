/* Headers of NumPy's .npy files, versions 1 to 3. */
#ifndef CLI_NPY_H
#define CLI_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NPY_DIMS_MAX = 32,
    NPY_DESCR_BYTES = 64,
    NPY_HEADER_MAX = 65536, /* bytes of a header that is read */
    NPY_WRITTEN_MAX = 512   /* bytes of a header that is written, at most */
};

typedef struct npy_header {
    char descr[NPY_DESCR_BYTES]; /* type as the file names it, such as "<f8" */
    int64_t element_bytes;       /* >= 1 */
    bool fortran;
    int dims;
    int64_t shape[NPY_DIMS_MAX];
    int64_t data_offset; /* bytes before the first element */
    int64_t data_bytes;
} npy_header;

/* Understand the first `count` bytes of a file: an exit status, with a complaint that begins with
 * `name`. Types that hold objects or fields are refused, and shapes that are negative or pass 63
 * bits. Fills only on success. */
int npy_parse(const char *name, const void *bytes, size_t count, npy_header *header_out);

/* Read the header of an open file and check that the data is all there. */
int npy_read(const char *name, int fd, npy_header *header_out);

/* Write a header of version 1 for a matrix in C order: returns its bytes, a multiple of 64. */
size_t npy_compose(const char *descr, int64_t rows, int64_t columns,
                   char text_out[NPY_WRITTEN_MAX]);

/* "(3, 4)", "(5,)", "()"; cut when there is no room. */
const char *npy_shape(const npy_header *header, char *text_out, size_t bytes);

#endif
