/* How a writer fills the slots of a ring: past the caches, or through them, which can be faster
 * when the ring is longer than the writer's own, and much slower. Which depends on where the cores
 * of writer and readers lie; nobody tells, and virtual machines move. So long messages are timed,
 * and the way that was faster is kept until it is slow or the other one is due again; with
 * another FERRY_TUNE than trial all go past the caches. */
#ifndef PLAN_FILLING_H
#define PLAN_FILLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct filling {
    bool past;         /* the way of the part at hand */
    double pace[2];    /* ns per byte of the last part through the caches, past them; 0: none */
    unsigned patience; /* parts between two looks at the slower way */
    unsigned left;     /* until the next one */
    int64_t began;     /* of the part at hand; 0: it is not timed */
    size_t bytes;      /* of it so far */
} filling;

/* A message begins; `ring` is the length of the ring in bytes. */
void filling_begin(filling *f, size_t bytes, size_t ring);
/* So many bytes more are in the ring. */
void filling_add(filling *f, size_t bytes);
/* All are. */
void filling_end(filling *f);

#endif
