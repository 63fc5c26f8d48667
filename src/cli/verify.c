/* Verifying a transposed file: tile by tile, read again from both files and compared element by
 * element. Shares no code with the transposition. Knows nothing of MPI. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/transpose.h"

enum { RUN_BYTES = 4096, EDGE_MIN = 64, SUB_EDGE = 32 };

/* A tile: rows [row, row + rows) and columns [column, column + columns) of the input, and the same
 * of the result. */
typedef struct tile {
    int64_t row, rows, column, columns;
    int64_t element_bytes;
    unsigned char *in;  /* rows x columns */
    unsigned char *out; /* columns x rows */
} tile;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The part [r0, r1) x [c0, c1) of a tile; the size is a constant wherever it is common. */
static inline __attribute__((always_inline)) bool part_equal(const tile *tile,
                                                             const int64_t from[2],
                                                             const int64_t to[2], size_t size,
                                                             int64_t odd_out[2])
{
    for (int64_t r = from[0]; r < to[0]; r++) {
        for (int64_t c = from[1]; c < to[1]; c++) {
            const unsigned char *in = tile->in + (size_t)(r * tile->columns + c) * size;
            const unsigned char *out = tile->out + (size_t)(c * tile->rows + r) * size;
            if (memcmp(in, out, size) == 0)
                continue;
            odd_out[0] = tile->row + r;
            odd_out[1] = tile->column + c;
            return false;
        }
    }
    return true;
}

static bool sized_equal(const tile *tile, const int64_t from[2], const int64_t to[2],
                        int64_t odd_out[2])
{
    switch (tile->element_bytes) {
    case 1:
        return part_equal(tile, from, to, 1, odd_out);
    case 2:
        return part_equal(tile, from, to, 2, odd_out);
    case 4:
        return part_equal(tile, from, to, 4, odd_out);
    case 8:
        return part_equal(tile, from, to, 8, odd_out);
    default:
        return part_equal(tile, from, to, (size_t)tile->element_bytes, odd_out);
    }
}

/* In squares that stay in the cache. */
static bool tile_equal(const tile *tile, int64_t odd_out[2])
{
    for (int64_t r = 0; r < tile->rows; r += SUB_EDGE) {
        for (int64_t c = 0; c < tile->columns; c += SUB_EDGE) {
            const int64_t from[2] = {r, c};
            const int64_t to[2] = {least(r + SUB_EDGE, tile->rows),
                                   least(c + SUB_EDGE, tile->columns)};
            if (!sized_equal(tile, from, to, odd_out))
                return false;
        }
    }
    return true;
}

/* Read a tile row by row from both files. */
static int tile_read(const transpose_job *job, int in, int out, tile *tile)
{
    const npy_header *header = &job->header;
    const int64_t e = header->element_bytes;
    const int64_t head = transpose_output_bytes(header) - header->data_bytes;
    int status = CLI_OK;

    for (int64_t r = 0; r < tile->rows && status == CLI_OK; r++)
        status = file_read(job->in, in, tile->in + r * tile->columns * e, tile->columns * e,
                           header->data_offset +
                               ((tile->row + r) * header->shape[1] + tile->column) * e);
    for (int64_t c = 0; c < tile->columns && status == CLI_OK; c++)
        status = file_read(job->out, out, tile->out + c * tile->rows * e, tile->rows * e,
                           head + ((tile->column + c) * header->shape[0] + tile->row) * e);
    return status;
}

static int tile_verify(const transpose_job *job, int in, int out, tile *tile)
{
    int64_t odd[2];
    const int status = tile_read(job, in, out, tile);

    if (status != CLI_OK || tile_equal(tile, odd))
        return status;
    return complain(CLI_FAILURE,
                    "%s: element [%" PRId64 "][%" PRId64 "] is not [%" PRId64 "][%" PRId64
                    "] of %s",
                    job->out, odd[1], odd[0], odd[0], odd[1], job->in);
}

/* All tiles of the rows [first, first + count) of the result. */
static int walk(const transpose_job *job, int in, int out, const int64_t range[2], tile *tile,
                int64_t edge)
{
    for (int64_t c = range[0]; c < range[1]; c += edge) {
        for (int64_t r = 0; r < job->header.shape[0]; r += edge) {
            tile->row = r;
            tile->rows = least(edge, job->header.shape[0] - r);
            tile->column = c;
            tile->columns = least(edge, range[1] - c);
            const int status = tile_verify(job, in, out, tile);
            if (status != CLI_OK)
                return status;
        }
    }
    return CLI_OK;
}

int transpose_verify(const transpose_job *job, int in, int out, int64_t first, int64_t count)
{
    const int64_t range[2] = {first, first + count};
    const int64_t fitting = RUN_BYTES / job->header.element_bytes;
    const int64_t edge = fitting > EDGE_MIN ? fitting : EDGE_MIN;
    const size_t bytes = (size_t)(edge * edge * job->header.element_bytes);
    tile tile = {
        .element_bytes = job->header.element_bytes, .in = malloc(bytes), .out = malloc(bytes)};
    int status;

    if (!tile.in || !tile.out)
        status = complain(CLI_FAILURE, "no memory to verify: 2 x %zu bytes", bytes);
    else
        status = walk(job, in, out, range, &tile, edge);
    free(tile.in);
    free(tile.out);
    return status;
}
