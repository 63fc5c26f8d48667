/* Inside of a halo: this rank's block of the domain, the pieces of ghosts that it gets and gives,
 * and the plan that the exchange was compiled to.
 *
 * Everything is boxes in the index space of the whole domain. Who tells where blocks lie, a grid or
 * the ranks themselves, is forgotten once each rank has a box (domain.c). What one rank gets of
 * another is then the part of the other's box, moved by periods of the domain, that lies in the
 * first one's array (pieces.c). Both ends compute it by the same function from the same two blocks,
 * so that their pieces come in the same order. */
#ifndef HALO_HALO_H
#define HALO_HALO_H

#include <stdbool.h>

#include "ferry/context.h"
#include "ferry/halo.h"
#include "halo/reverse.h"

enum { MAX_DIMS = FERRY_HALO_MAX_DIMS };

typedef struct halo_field {
    int64_t element_bytes;
    int64_t ghost[MAX_DIMS][2];
    int64_t stride[MAX_DIMS];  /* bytes; never all 0 any more */
    int64_t stagger[MAX_DIMS]; /* 0 or 1 */
} halo_field;

/* What ranks that share pieces must know of each other; travels as it is. */
typedef struct halo_block {
    int64_t origin[MAX_DIMS], extent[MAX_DIMS];
    halo_field fields[];
} halo_block;

/* What must be the same on all ranks, as numbers. */
enum {
    SHAPE_DIMS,
    SHAPE_CORNERS,
    SHAPE_FIELDS,
    SHAPE_BLOCKS,
    SHAPE_HOLES,
    SHAPE_GRID,
    SHAPE_PERIODIC = SHAPE_GRID + MAX_DIMS,
    SHAPE_GLOBAL = SHAPE_PERIODIC + MAX_DIMS,
    SHAPE_NUMBERS = SHAPE_GLOBAL + MAX_DIMS
};

/* What every rank gets of every rank. `reach` is how far the arrays go beyond the block at most. */
typedef struct halo_record {
    int64_t shape[SHAPE_NUMBERS];
    int64_t origin[MAX_DIMS], extent[MAX_DIMS];
    int64_t reach[MAX_DIMS][2];
} halo_record;

/* One block of values on its way: of one field, from one rank to another, this rank at one end or
 * both. The starts are places in the arrays of the two ends, ghosts included; only those of this
 * rank's ends count. */
typedef struct halo_piece {
    int from, to, field;
    uint8_t order[MAX_DIMS]; /* dimensions from the outermost loop on; the same at both ends */
    int64_t source[MAX_DIMS], target[MAX_DIMS], count[MAX_DIMS];
} halo_piece;

typedef struct halo_pieces {
    halo_piece *list;
    size_t count, room;
} halo_pieces;

struct ferry_halo {
    ferry_context *ctx;
    ferry_plan *plan;
    halo_reverse reverse;
    halo_block *block; /* mine */
    int rank, size;
    int dims, field_count;
    int grid[MAX_DIMS], periodic[MAX_DIMS];
    int place[MAX_DIMS];     /* of this rank on the grid */
    int64_t total[MAX_DIMS]; /* cells of the domain */
    ferry_halo_corners corners;
    ferry_halo_blocks blocks;
    int holes;
    bool idle;          /* no array of any rank reaches beyond its block */
    halo_record record; /* mine */
    halo_pieces pieces;
    ferry_halo_box *inner; /* of each field */
    uint64_t moves;        /* bit f: field f sends or receives something here */
};

/* A rank whose block is known, and which shares pieces with this rank. */
typedef struct halo_partner {
    int rank;
    const halo_block *block;
} halo_partner;

/* This rank itself comes first. */
typedef struct halo_partners {
    halo_partner *list;
    size_t count;
    void *blocks; /* of the others */
} halo_partners;

static inline size_t halo_block_bytes(const ferry_halo *halo)
{
    return sizeof(halo_block) + (size_t)halo->field_count * sizeof(halo_field);
}

/* Values of a field's local array along dimension d, ghosts included. */
static inline int64_t halo_cells(const halo_block *block, int field, int d)
{
    const halo_field *f = &block->fields[field];
    return block->extent[d] + f->stagger[d] + f->ghost[d][0] + f->ghost[d][1];
}

/* spec.c: check a spec and copy it into a zeroed halo; not collective. */
ferry_status halo_read_spec(const ferry_context *ctx, const ferry_halo_spec *spec,
                            ferry_halo *halo);

/* field.c: the fields of a spec, likewise. */
ferry_status halo_read_fields(const ferry_halo_spec *spec, ferry_halo *halo);
int64_t halo_field_size(const halo_block *block, int field, int dims);

/* domain.c: give every rank the records of all, compare what must be the same, and find the place
 * of every block in the domain: `records_out` (halo->size of them, to be freed) then all have their
 * origin. Collective, agreed. */
ferry_status halo_gather(ferry_halo *halo, halo_record **records_out);
int halo_rank_at(const ferry_halo *halo, const int step[]); /* -1: outside of the grid */

/* box.c: boxes in the index space of the domain. */
bool box_meet(int dims, const ferry_halo_box *a, const ferry_halo_box *b,
              ferry_halo_box *common_out);
int64_t box_volume(int dims, const ferry_halo_box *b); /* 0 when empty */
void box_cut(int dims, ferry_halo_box *b,
             const ferry_halo_box *away); /* shrink b until nothing of `away` is left */
ferry_halo_box halo_record_box(const halo_record *r, int dims, bool with_reach);
/* The values of a field: that a block's array holds, ghosts included or not, and those that its
 * rank owns. */
ferry_halo_box halo_array_box(const halo_block *block, int f, int dims, bool ghosts);
ferry_halo_box halo_owned_box(const ferry_halo *halo, const halo_block *block, int f);
ferry_halo_box halo_domain_box(const ferry_halo *halo, int f); /* wherever periodic, without end */
/* The numbers k of periods for which b, moved by k periods along d, touches a. */
void halo_images(const ferry_halo *halo, int d, const ferry_halo_box *a, const ferry_halo_box *b,
                 int64_t *first_out, int64_t *last_out);

/* partners.c: find those who share pieces with this rank, fetch their blocks, compare fields.
 * Collective, not agreed: ranks may come out with different verdicts. */
ferry_status halo_find_partners(ferry_halo *halo, const halo_record *records,
                                halo_partners *partners_out);
void halo_drop_partners(halo_partners *partners);

/* pieces.c: fill halo->pieces; not collective. */
ferry_status halo_find_pieces(ferry_halo *halo, const halo_partners *partners);
int halo_most_steps(const ferry_halo *halo); /* dimensions along which a ghost may lie outside */

/* unfilled.c: ghosts inside of the domain all have a piece, unless holes are allowed; not
 * collective. */
ferry_status halo_check_filled(const ferry_halo *halo);

/* inner.c: fill halo->inner from the pieces; not collective. */
ferry_status halo_find_inner(ferry_halo *halo);

/* edges.c: pieces as edges of a plan, from their owners to ghosts or the other way round. */
ferry_status halo_make_edges(const ferry_halo *halo, bool reverse, halo_edges *edges_out);

/* halo.c: start a round of a plan over the fields; `call` is named in texts. */
ferry_status halo_start(const ferry_halo *halo, const char *call, ferry_plan *plan,
                        void *const *fields);

/* For all calls that name a field. */
ferry_status halo_check_field(const char *call, const ferry_halo *halo, int field, const void *out);

#endif
