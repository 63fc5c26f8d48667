/* Inside of a halo: this rank's block, its place on the grid, and the plan that the exchange was
 * compiled to.
 *
 * Everything that depends on a direction is computed from a step per dimension, -1, 0 or 1, packed
 * into a code (the steps as digits to base 3). The code of a ghost region, seen from its owner, is
 * also what tells messages of a pair apart, so that one or two ranks in a periodic dimension cannot
 * mix up their low and high sides. */
#ifndef HALO_HALO_H
#define HALO_HALO_H

#include <stdbool.h>

#include "ferry/context.h"
#include "ferry/halo.h"

enum { MAX_DIMS = FERRY_HALO_MAX_DIMS };

typedef struct halo_field {
    int64_t element_bytes;
    int64_t ghost[MAX_DIMS][2];
} halo_field;

/* What neighbours must know of each other; travels as it is. */
typedef struct halo_block {
    int64_t extent[MAX_DIMS];
    halo_field fields[];
} halo_block;

struct ferry_halo {
    ferry_plan *plan;
    halo_block *block; /* mine */
    int rank, size;
    int dims, field_count;
    int grid[MAX_DIMS], periodic[MAX_DIMS];
    int place[MAX_DIMS]; /* of this rank on the grid */
    ferry_halo_corners corners;
    uint64_t moves; /* bit f: field f sends or receives something here */
};

/* One direction with a block at its end. */
typedef struct halo_neighbour {
    int rank;
    int code;           /* of the direction */
    int step[MAX_DIMS]; /* the direction: -1, 0, 1 */
    const halo_block *block;
} halo_neighbour;

/* All neighbours of this rank, one entry per direction, with their blocks. */
typedef struct halo_ring {
    halo_neighbour *list;
    size_t count;
    void *blocks;
} halo_ring;

static inline size_t halo_block_bytes(const ferry_halo *halo)
{
    return sizeof(halo_block) + (size_t)halo->field_count * sizeof(halo_field);
}

/* Cells of a field's local array along dimension d, ghosts included. */
static inline int64_t halo_cells(const halo_block *block, int field, int d)
{
    return block->extent[d] + block->fields[field].ghost[d][0] + block->fields[field].ghost[d][1];
}

/* spec.c: check a spec and copy it into a zeroed halo; not collective. */
ferry_status halo_read_spec(const ferry_context *ctx, const ferry_halo_spec *spec,
                            ferry_halo *halo);
int64_t halo_field_size(const ferry_halo *halo, int field);

/* neighbours.c: who is where. The opposite of a direction has the code halo_codes() - 1 - code. */
int halo_codes(const ferry_halo *halo);
void halo_find_place(ferry_halo *halo);
int halo_rank_at(const ferry_halo *halo, const int step[]); /* -1: outside of the grid */
ferry_status halo_find_neighbours(const ferry_halo *halo, halo_ring *ring_out);
void halo_drop_neighbours(halo_ring *ring);

/* compare.c: collective, agreed. First what is the same on all ranks; then the blocks of neighbours
 * are fetched. */
ferry_status halo_compare_shapes(ferry_context *ctx, const ferry_halo *halo);
ferry_status halo_compare_blocks(ferry_context *ctx, const ferry_halo *halo, halo_ring *ring);

/* edges.c: compile the plan; collective, agreed. */
ferry_status halo_compile(ferry_context *ctx, ferry_halo *halo, const halo_ring *ring);

#endif
