/* `ferry transpose`: what the command's parts share. */
#ifndef CLI_TRANSPOSE_H
#define CLI_TRANSPOSE_H

#include "cli/cli.h"
#include "cli/file.h"
#include "cli/npy.h"

typedef struct transpose_job {
    const char *in; /* as the user names them */
    const char *out;
    const char *partial; /* the partial file that the parent has made; NULL: rank 0 makes it */
    bool force;
    bool verify;
    bool sync;
    npy_header header; /* of `in` */
    output output;
} transpose_job;

/* Bytes of the output, header included. */
int64_t transpose_output_bytes(const npy_header *header);

/* Is there memory for `bytes` more bytes? */
int transpose_memory(int64_t bytes, const char *what);

/* As one of the ranks of a job: all of it. Returns this process's exit status. */
int transpose_ranks(cli *cli, transpose_job *job);

/* Compare rows [first, first + count) of the transposed file with the input, element by element. */
int transpose_verify(const transpose_job *job, int in, int out, int64_t first, int64_t count);

/* Read the input's header and check that it can be transposed, and the output's name. */
int transpose_inspect(transpose_job *job);

#endif
