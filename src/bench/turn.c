/* The usual way to turn a distributed matrix over, well written: cache-blocked, one collective
 * call, whole rows copied at the end. Knows nothing of the harness. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bench/exchange.h"
#include "bench/turn.h"
#include "ferry/redistribute.h"

struct turn {
    MPI_Comm comm;
    int size, rank;
    size_t element;
    int64_t rows, columns;
    int *row_first, *row_count; /* of each rank; `size` numbers each */
    int *column_first, *column_count;
    MPI_Datatype type;    /* one element */
    MPI_Datatype out, in; /* a row of what is sent, a column of what arrives */
    bool even;            /* equal shares, and MPI can count their elements */
};

/* --- local transposes ------------------------------------------------------------------------- */

/* Tiles of a cache line's elements, at least 16, on each side. */
#define TURN(width, type)                                                                          \
  static void turn##width(const type *from, size_t from_row, size_t rows, size_t columns,          \
                          type *to)                                                                \
  {                                                                                                \
    const size_t tile = 64 / width < 16 ? 16 : 64 / width;                                         \
                                                                                                   \
    for (size_t c0 = 0; c0 < columns; c0 += tile)                                                  \
      for (size_t r0 = 0; r0 < rows; r0 += tile) {                                                 \
        const size_t c1 = c0 + tile < columns ? c0 + tile : columns;                               \
        const size_t r1 = r0 + tile < rows ? r0 + tile : rows;                                     \
        for (size_t c = c0; c < c1; ++c)                                                           \
          for (size_t r = r0; r < r1; ++r)                                                         \
            to[c * rows + r] = from[r * from_row + c];                                             \
      }                                                                                            \
  }

typedef struct pair {
    uint64_t low, high;
} pair;

TURN(1, uint8_t)
TURN(2, uint16_t)
TURN(4, uint32_t)
TURN(8, uint64_t)
TURN(16, pair)

/* Elements of any other size. */
static void turn_any(const char *from, size_t from_row, size_t rows, size_t columns, char *to,
                     size_t element)
{
    enum { TILE = 16 };

    for (size_t c0 = 0; c0 < columns; c0 += TILE)
        for (size_t r0 = 0; r0 < rows; r0 += TILE)
            for (size_t c = c0; c < c0 + TILE && c < columns; ++c)
                for (size_t r = r0; r < r0 + TILE && r < rows; ++r)
                    memcpy(to + (c * rows + r) * element, from + (r * from_row + c) * element,
                           element);
}

/* `rows` x `columns` elements with `from_row` elements from row to row, into dense rows of the
 * transpose.
 */
static void turn_block(const void *from, size_t from_row, size_t rows, size_t columns, void *to,
                       size_t element)
{
    switch (element) {
    case 1:
        turn1(from, from_row, rows, columns, to);
        break;
    case 2:
        turn2(from, from_row, rows, columns, to);
        break;
    case 4:
        turn4(from, from_row, rows, columns, to);
        break;
    case 8:
        turn8(from, from_row, rows, columns, to);
        break;
    case 16:
        turn16(from, from_row, rows, columns, to);
        break;
    default:
        turn_any(from, from_row, rows, columns, to, element);
    }
}

/* --- the round -------------------------------------------------------------------------------- */

static void unpack(const turn *t, const char *recv, char *target)
{
    const size_t mine = (size_t)t->column_count[t->rank];

    for (int peer = 0; peer < t->size; ++peer) {
        const size_t run = (size_t)t->row_count[peer] * t->element;
        const char *from = recv + (size_t)t->row_first[peer] * mine * t->element;
        char *to = target + (size_t)t->row_first[peer] * t->element;
        for (size_t column = 0; column < mine;
             ++column, from += run, to += (size_t)t->rows * t->element)
            memcpy(to, from, run);
    }
}

void turn_run(const turn *t, const char *source, char *send, char *recv, char *target)
{
    const size_t rows = (size_t)t->row_count[t->rank];

    for (int peer = 0; peer < t->size; ++peer)
        turn_block(source + (size_t)t->column_first[peer] * t->element, (size_t)t->columns, rows,
                   (size_t)t->column_count[peer],
                   send + (size_t)t->column_first[peer] * rows * t->element, t->element);
    if (t->even) {
        const int count = (int)rows * t->column_count[t->rank];
        MPI_Alltoall(send, count, t->type, recv, count, t->type, t->comm);
    } else {
        MPI_Alltoallv(send, t->column_count, t->column_first, t->out, recv, t->row_count,
                      t->row_first, t->in, t->comm);
    }
    unpack(t, recv, target);
}

/* --- making ----------------------------------------------------------------------------------- */

static void share_out(turn *t)
{
    for (int peer = 0; peer < t->size; ++peer) {
        int64_t first = 0, count = 0;
        ferry_block_share(t->rows, t->size, peer, &first, &count);
        t->row_first[peer] = (int)first;
        t->row_count[peer] = (int)count;
        ferry_block_share(t->columns, t->size, peer, &first, &count);
        t->column_first[peer] = (int)first;
        t->column_count[peer] = (int)count;
    }
    const int64_t block = (t->rows / t->size) * (t->columns / t->size);
    t->even = t->rows % t->size == 0 && t->columns % t->size == 0 && block <= INT_MAX;
}

static int fill(turn *t, world *w)
{
    const size_t ranks = (size_t)w->size;

    t->row_first = calloc(ranks, sizeof *t->row_first);
    t->row_count = calloc(ranks, sizeof *t->row_count);
    t->column_first = calloc(ranks, sizeof *t->column_first);
    t->column_count = calloc(ranks, sizeof *t->column_count);
    if (!t->row_first || !t->row_count || !t->column_first || !t->column_count)
        return world_fail(w, "rank %d: no memory for the shares of %d ranks", w->rank, w->size);
    share_out(t);
    /* What is sent to a rank is whole rows of this rank's height; what comes from one is as many
     * columns as it has rows. So counts and displacements are in rows, and small. */
    t->type = exchange_element(t->element);
    MPI_Type_contiguous(t->row_count[t->rank], t->type, &t->out);
    MPI_Type_commit(&t->out);
    MPI_Type_contiguous(t->column_count[t->rank], t->type, &t->in);
    MPI_Type_commit(&t->in);
    return 0;
}

int turn_make(world *w, int64_t rows, int64_t columns, size_t element_bytes, turn **turn_out)
{
    turn *const t = calloc(1, sizeof *t);
    int failed = 0;

    if (t) {
        *t = (turn){.comm = w->rivals,
                    .size = w->size,
                    .rank = w->rank,
                    .element = element_bytes,
                    .rows = rows,
                    .columns = columns,
                    .type = MPI_DATATYPE_NULL,
                    .out = MPI_DATATYPE_NULL,
                    .in = MPI_DATATYPE_NULL};
        failed = fill(t, w);
    } else {
        failed = world_fail(w, "rank %d: no memory for the usual method", w->rank);
    }
    if (world_agree(w, failed)) {
        turn_drop(t);
        return 1;
    }
    *turn_out = t;
    return 0;
}

void turn_drop(turn *t)
{
    if (!t)
        return;
    exchange_drop_type(&t->out);
    exchange_drop_type(&t->in);
    exchange_drop_type(&t->type);
    free(t->row_first);
    free(t->row_count);
    free(t->column_first);
    free(t->column_count);
    free(t);
}
