/* The case bundle on one rank, as its contenders see it. */
#ifndef BENCH_BUNDLE_JOB_H
#define BENCH_BUNDLE_JOB_H

#include "bench/boost.h"
#include "bench/cases.h"
#include "bench/content.h"
#include "ferry/bundle.h"

enum { BUNDLE_TAG = 7, BUNDLE_CONTENT_TAG = 8 };

typedef struct bundle_job {
    world *w;
    content shape;
    bool bcast;
    bool sender, receiver;
    size_t bytes;             /* of the payload */
    void *source;             /* the sender's payload; the receivers' for the limit */
    uint64_t round;           /* of the source's content */
    void *used;               /* receivers: memory that was touched before */
    void *fresh;              /* receivers, within a round: memory that was not */
    void *taken;              /* likewise, of the pool */
    ferry_bundle *sealed;     /* the sender's, within a round: in shared memory */
    ferry_bundle *sent;       /* the sender's bundle, which borrows the source */
    ferry_bundle *got;        /* what a receiver got in this round */
    double *parsed;           /* likewise, out of XML */
    const boost_calls *boost; /* NULL where Boost.MPI is not */
    boost_side *map, *typed;  /* of `boost`, and of `boost-content` with its shape */
    bool shaped;
} bundle_job;

/* Elements of a receiver's `data` that are not the sender's of this round; NULL: all. */
size_t bundle_wrong_in(const bundle_job *job, const void *data);

/* ---- Boost.MPI: steps of contenders ---- */

int bundle_boost_load_map(contender *c);
int bundle_boost_load_typed(contender *c);
int bundle_boost_round(contender *c);
int bundle_boost_round_contents(contender *c);
int bundle_boost_clear(contender *c);
size_t bundle_boost_wrong_map(contender *c);
size_t bundle_boost_wrong_typed(contender *c);

#endif
