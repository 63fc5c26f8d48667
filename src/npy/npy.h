/* Headers of NumPy's .npy files, versions 1 to 3. Used by the program for .npy files and by the
 * library of formats for what is inside .npz files. */
#ifndef NPY_NPY_H
#define NPY_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    NPY_DIMS_MAX = 32,
    NPY_DESCR_BYTES = 64,
    NPY_HEADER_MAX = 65536, /* bytes of a header that is read */
    NPY_ERROR_BYTES = 256,  /* room for a text about a header */
    NPY_WRITTEN_MAX = 512   /* bytes of a header that is written, at most */
};

typedef struct npy_header {
    char descr[NPY_DESCR_BYTES]; /* type as the file names it, such as "<f8" */
    int64_t element_bytes;       /* >= 1; 0 for "|V0" */
    bool fortran;
    int dims;
    int64_t shape[NPY_DIMS_MAX];
    int64_t data_offset; /* bytes before the first element */
    int64_t data_bytes;
} npy_header;

/* Understand the first `count` bytes of a file, as far as they are there. False, and `error_out`
 * (of NPY_ERROR_BYTES) has a text: types that hold objects or fields are refused, and shapes that
 * are negative or pass 63 bits. Fills the header only on success. */
bool npy_understand(const void *bytes, size_t count, npy_header *header_out, char *error_out);

/* Write a header of version 1, of at most 8 dimensions: returns its bytes, a multiple of 64. */
size_t npy_write(const char *descr, bool fortran, int dims, const int64_t *shape,
                 char text_out[NPY_WRITTEN_MAX]);

/* "(3, 4)", "(5,)", "()"; cut when there is no room. */
const char *npy_shape(const npy_header *header, char *text_out, size_t bytes);

#endif
