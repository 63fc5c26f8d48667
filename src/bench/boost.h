/* The rival `boost`: maps that Boost.MPI moves. It is C++, so it lives in a module of its own that
 * is built where Boost.MPI is found, and opened when it is asked for. This is what both sides agree
 * on; it is read by C and C++. */
#ifndef BENCH_BOOST_H
#define BENCH_BOOST_H

#include <mpi.h>

#include "bench/content.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct boost_side boost_side; /* the map of one rank */

/* Steps return 0, or 1 with a text in boost_side_text(). */
typedef struct boost_calls {
    /* The map of a content, empty; NULL when memory ran out. */
    boost_side *(*open)(const content *c, MPI_Comm comm);
    void (*close)(boost_side *side); /* NULL allowed */
    const char *(*text)(const boost_side *side);

    int (*load)(boost_side *side, const void *payload);   /* the map gets these values */
    int (*unload)(const boost_side *side, void *payload); /* 1 also when an entry is missing */
    void (*clear)(boost_side *side);

    int (*bcast)(boost_side *side, int root);
    int (*send)(const boost_side *side, int to, int tag);
    int (*recv)(boost_side *side, int from, int tag);

    /* Contents only, between maps of equal shape; the first call of a rank makes MPI's type of it.
     */
    int (*bcast_content)(boost_side *side, int root);
    int (*send_content)(boost_side *side, int to, int tag);
    int (*recv_content)(boost_side *side, int from, int tag);
} boost_calls;

/* The module's only symbol. */
#define BOOST_SYMBOL "ferry_bench_boost"
typedef const boost_calls *boost_entry(void);

#ifdef __cplusplus
}
#endif

/* Open the module once; NULL and why it cannot be had. Not for the module itself. */
const boost_calls *boost_open(const char **missing_out);

#endif
