/* The shared ring: slots in shared memory that the sender fills out of its layouts and the receiver
 * empties into its own, small enough to stay in the caches. A ring has one direction and one pair,
 * belongs to one carrier, and lies in the sender's part of the arena, so that a block waiting in
 * one plan never stands in the way of another. Routes node_ring and node_direct build on it. */
#ifndef ROUTE_RING_H
#define ROUTE_RING_H

#include "memory/arena.h"
#include "route/route.h"

/* In shared memory. Each word has one writer; counts only grow, over all rounds. */
typedef struct ring_shared {
    _Alignas(MEMORY_LINE) _Atomic uint64_t filled;  /* sender: slots filled */
    _Alignas(MEMORY_LINE) _Atomic uint64_t emptied; /* receiver: slots emptied */
    _Alignas(MEMORY_LINE) _Atomic uint64_t
        offered; /* sender: rounds whose sources are posted below (node_direct) */
    _Alignas(MEMORY_LINE) _Atomic uint64_t
        taken; /* receiver: rounds whose sources have been read (node_direct) */
    _Alignas(MEMORY_LINE)
        uint64_t sources[]; /* sender: where each edge's base address lies in the arena */
} ring_shared;

typedef struct ring_edge {
    copy_side *side;
    size_t bytes;
    int buffer;
    size_t index;   /* of the edge in the list given to make() */
    int64_t lb, ub; /* bytes of the source, from its base address */
} ring_edge;

/* From this slot size on there is a buffer to write slots past the caches. */
enum { RING_BOUNCE_BYTES = 2 << 10 };

/* One end of a ring. */
typedef struct ring_end {
    int peer, node_peer; /* rank of the other end, in the communicator and in the node */
    bool sends;
    ring_shared *shared;
    char *slots;
    size_t slot_bytes, slot_room, slot_count; /* payload of a slot; what it takes; how many */
    size_t row_bytes;    /* of rows that lie side by side in one of the layouts; 0: none do */
    uint64_t slots_done; /* filled or emptied by this end so far */
    size_t edge_count;
    ring_edge *edges;
    bool past;       /* slots are written past the caches */
    size_t total;    /* bytes of a round */
    size_t edge, at; /* next byte: edge, and position in its packed form */
} ring_end;

/* All ends of a carrier. */
typedef struct ring_set {
    ferry_context *ctx;
    size_t count;
    ring_end *ends;
    MPI_Request *requests; /* used while making */
    uint64_t *offsets;     /* likewise */
    char *bounce;          /* a slot is packed here first, then written past the caches */
    char *bounce_memory;
    size_t shared_bytes, staging_bytes, private_bytes; /* of the rings that this rank sends on */
} ring_set;

/* Group the edges by peer and direction, take the shared memory of outgoing rings and learn from
 * the senders where the incoming ones are. Self edges are left out. Talks to the peers; all of them
 * fail when one does. On failure the set is empty. */
ferry_status ring_set_make(ferry_context *ctx, const route_edge *edges, size_t count,
                           ring_set *set_out);
void ring_set_drop(ring_set *set);

/* Begin a round on one end. */
void ring_begin(ring_end *end);
bool ring_ended(const ring_end *end);

/* Fill or empty one slot; false when the other end must move first, or the round has ended. */
bool ring_push(const ring_set *set, ring_end *end, const route_bases *bases);
bool ring_pull(const ring_set *set, ring_end *end, const route_bases *bases);

void ring_missing(const ring_end *end, text_out *out);

#endif
