/* What collective calls share. Calls whose messages go from rank to rank begin with collect_open(),
 * which waits for nobody who is not coming: it fails on all ranks when one has a bad argument, or
 * they mean different things. Those that begin with a broadcast of a bundle need none, since the
 * broadcast itself finds that out. All but the sealed broadcast end with collect_agree(). Both are
 * broadcasts of a few bytes: within a node that is quicker than to ask MPI. Between the two every
 * message that somebody waits for is sent, by a rank that has failed as a notice. */
#ifndef BUNDLE_COLLECT_H
#define BUNDLE_COLLECT_H

#include "bundle/share.h"
#include "ferry/context.h"

/* The calls: X(word, name). */
#define COLLECT_CALLS(X)                                                                           \
  X(SCATTER, "ferry_bundle_scatter")                                                               \
  X(SCATTERV, "ferry_bundle_scatterv")                                                             \
  X(GATHER, "ferry_bundle_gather")                                                                 \
  X(ALLGATHER, "ferry_bundle_allgather")                                                           \
  X(ALLTOALL, "ferry_bundle_alltoall")                                                             \
  X(REDUCE, "ferry_bundle_reduce")                                                                 \
  X(ALLREDUCE, "ferry_bundle_allreduce")                                                           \
  X(BCAST_INTO, "ferry_bundle_bcast_into")                                                         \
  X(BCAST_SEALED, "ferry_bundle_bcast_sealed")
typedef enum collect_call {
#define X(word, name) COLLECT_##word,
    COLLECT_CALLS(X)
#undef X
} collect_call;

typedef struct collection {
    ferry_context *ctx;
    collect_call number;
    const char *call; /* its name */
    int root;
    int what; /* the operation; the same on all ranks like the root */
    int rank, size;
} collection;

/* Fill in rank and size. */
ferry_status collect_make(ferry_context *ctx, collect_call call, int root, int what,
                          collection *collection_out);

/* `mine` is what this rank has to say of its own arguments. */
ferry_status collect_open(const collection *c, ferry_status mine);

/* What rank `c->root` and all others have come to: OK everywhere, or one failure everywhere. */
ferry_status collect_agree(const collection *c, ferry_status mine);

/* Send an encoding with its tail, or that there is none because of `st`; returns the first failure
 * of the two. */
ferry_status collect_send(const collection *c, const encoding *e, ferry_status st, int to);

/* Receive what a rank has sent. */
ferry_status collect_receive(const collection *c, int from, ferry_bundle **bundle_out);

/* Give the root's encoding, or what it failed with, to all. */
ferry_status collect_bcast(const collection *c, int root, encoding *e, ferry_status st,
                           ferry_bundle **bundle_out);

/* The bundles of all ranks at the root, in the list `parts`; this rank's is `part`, whose encoding
 * is `e` elsewhere. */
ferry_status collect_parts(const collection *c, const ferry_bundle *part, const encoding *e,
                           ferry_list *parts);

/* Keep the first of two failures, and its text; `text` is that of `first`. */
ferry_status collect_first(ferry_status first, const notice *text, ferry_status second);

/* What a rank has come to that goes on after a failure, since others wait for its messages: the
 * first one, with its text. Begins as {0}. */
typedef struct verdict {
    ferry_status status;
    notice text; /* of a failure */
} verdict;

void verdict_add(verdict *v, ferry_status status);
/* The status, whose text is the last trouble again. */
ferry_status verdict_end(const verdict *v);

#endif
