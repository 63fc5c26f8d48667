/* How a writer fills the slots of a ring: past the caches, which is right for ranks on distant
 * cores, or through them, which is faster where caches are shared and the ring is longer than the
 * writer's own. Nobody tells which, and virtual machines move; so long messages are timed, and the
 * way that was faster is kept until it is slow or the other one is due again. */
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
