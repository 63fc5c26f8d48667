/* The usual way to turn a distributed matrix over: transpose each rank's blocks locally,
 * MPI_Alltoall, unpack to rows. */
#ifndef BENCH_TURN_H
#define BENCH_TURN_H

#include <stddef.h>
#include <stdint.h>

#include "bench/world.h"

typedef struct turn turn;

/* Rows and columns are dealt in blocks, the first ranks get one more. Collective, agreed: 0, or 1
 * with a text. */
int turn_make(world *w, int64_t rows, int64_t columns, size_t element_bytes, turn **turn_out);
void turn_drop(turn *t); /* NULL allowed */

/* One round. `source` and `send` have room for this rank's rows, `recv` and `target` for its rows
 * of the transpose. */
void turn_run(const turn *t, const char *source, char *send, char *recv, char *target);

#endif
