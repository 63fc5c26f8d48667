/* A broadcast under way, as one rank sees it: what its two halves share, cast.c (within a node) and
 * cast_wire.c (between nodes). A step looks once and never waits. */
#ifndef PLAN_CAST_H
#define PLAN_CAST_H

#include "plan/stream.h"

enum {
    CAST_CHILDREN = 32,   /* of a binomial tree: more would be 2^32 nodes */
    CAST_PIECE = 1 << 20, /* between nodes */
    CAST_WINDOW = 2       /* pieces under way from and to one neighbour */
};

/* Where this rank stands in the tree of nodes: the root's node is 0. Where shared memory may not be
 * used, every rank is a node. */
typedef struct cast_tree {
    bool leads, shares;
    int size, position, parent;
    int child_count, children[CAST_CHILDREN];
} cast_tree;

/* What all ranks find out together; the largest of each number. */
typedef struct cast_vote {
    int64_t root, minus_root; /* the largest and the smallest one; equal when all agree */
    int64_t failing; /* size - rank of a rank that failed, so that the lowest one wins; 0: none */
    int64_t bytes;   /* of the root */
} cast_vote;

typedef struct cast_wire {
    cast_tree tree;
    cast_vote mine, all;
    struct {
        int32_t status;
        char text[TROUBLE_BYTES];
    } said; /* by the lowest rank that failed */
    MPI_Request agreement;
    MPI_Request receives[CAST_WINDOW], sends[CAST_WINDOW][CAST_CHILDREN];
    size_t posted, received, sent; /* pieces */
    stream_reader source;          /* of the root */
    void *staging;                 /* of the root: pieces gathered to be sent */
    ferry_piece whole;             /* of the others that lead a node: what has arrived */
} cast_wire;

typedef enum cast_stage {
    CAST_CALLED,  /* root: wait until all ranks of the node mean this broadcast */
    CAST_FILL,    /* root: fill slots */
    CAST_BEGIN,   /* reader: wait for the first slot, or a verdict */
    CAST_EMPTY,   /* reader: empty slots */
    CAST_JUDGED,  /* wait for the verdict of the last that looked for a place */
    CAST_AGREE,   /* several nodes: length, root and arguments */
    CAST_READY,   /* likewise: has everybody a place? */
    CAST_TELL,    /* likewise: what the lowest rank that failed has to say */
    CAST_MOVE,    /* likewise: everything flows */
    CAST_CHECKED, /* likewise: is everybody content with the bytes? */
    CAST_STAGES
} cast_stage;

typedef struct cast {
    ferry_context *ctx;
    ferry_stream_request *request;
    cast_stage stage;
    int root, writer; /* root; rank of the node that fills its ring, by number in the node */
    uint64_t sequence;
    size_t bytes;
    char *data;           /* of a receiver */
    stream_reader source; /* of whoever fills the ring */
    landing landing;
    size_t front, done;  /* of the ring: bytes before the next payload in its slot; payload */
    ferry_status status; /* arguments at first; then what was found while waiting */
    cast_wire wire;
} cast;

/* It ends on this rank. */
void cast_end(cast *c, ferry_status status);
/* Take the place of the bytes. */
ferry_status cast_place(cast *c);

/* Look at the bytes: the verdict of this rank. */
ferry_status cast_check(cast *c);

/* ---- The ring of the node: slots that one rank fills and all others empty ---- */

ferry_status cast_make_ring(const cast *c);
/* Fill what is free, up to payload byte `limit`; empty what is full. True when all is done. */
bool cast_fill(cast *c, size_t limit);
bool cast_empty(cast *c);

/* ---- Several nodes: cast_wire.c ---- */

ferry_status cast_wire_start(cast *c);
ferry_status cast_agree(cast *c);
ferry_status cast_ready(cast *c);
ferry_status cast_tell(cast *c);
ferry_status cast_move(cast *c);
ferry_status cast_checked(cast *c);

#endif
