/* Probes: exchanges that are timed in turn, so that whatever the machine does meanwhile happens to
 * all of them. */
#ifndef CLI_TUNE_PROBE_H
#define CLI_TUNE_PROBE_H

#include <stddef.h>

#include "cli/rank.h"
#include "ferry/plan.h"

enum { PROBES_MAX = 40, PROBE_BATCHES = 400 };

/* Rows of a field that go to the partner; those next to them come from it. */
typedef struct probe_shape {
    size_t rows, run, stride; /* bytes, stride >= 2 * run */
} probe_shape;

typedef struct probe {
    ferry_context *ctx; /* borrowed: allows the route that is measured */
    probe_shape shape;
    int partner; /* rank; -1: none */
    ferry_plan *plan;
    char *field;
    int rounds; /* of a batch */
    int batches;
    double ns[PROBE_BATCHES]; /* of a round, batch by batch; later sorted */
    double low, middle, high; /* quartiles, of the slower rank */
} probe;

/* Compile the plan and take the field. Collective; agreed. */
int probe_open(probe *p, const rank *me);
void probe_close(probe *p);

/* Time all in turn for so many seconds, and fill the quartiles. Collective; agreed. */
int probe_all(const rank *me, probe *probes, int count, double seconds);

#endif
