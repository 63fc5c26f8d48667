/* Type maps: what an MPI datatype says, as nests in the order of its elements. Built up from the
 * basic types outwards by the two things that all kinds of types do: repeat, and put side by side.
 */
#ifndef MPI_TYPEMAP_H
#define MPI_TYPEMAP_H

#include "layout/layout.h"
#include "mpi/pmpi.h"

typedef struct typemap {
    layout_nest *nests;
    size_t count, room;
    size_t element; /* largest that divides all basic elements; 0: none so far */
} typemap;

void typemap_drop(typemap *map);

/* Append a run, or another map moved by some bytes. */
ferry_status typemap_add_run(typemap *map, int64_t at, size_t bytes);
ferry_status typemap_add(typemap *map, const typemap *other, int64_t by);

/* The map `count` times, each `stride` bytes behind the one before; 0 times is an empty map. */
ferry_status typemap_repeat(typemap *map, int64_t count, int64_t stride);

/* Fill an empty map with what a datatype says. */
ferry_status typemap_decode(MPI_Datatype type, typemap *map);

/* Fill an empty map with the order in which MPI_Pack() takes the bytes of a type. */
ferry_status typemap_probe(MPI_Datatype type, typemap *map);

#endif
