/* Memory of the program made shareable where it is: its pages are exchanged for pages of the arena
 * at the same addresses, so that peers, who have the arena mapped, read it without doing anything.
 */
#ifndef MEMORY_ADOPT_H
#define MEMORY_ADOPT_H

#include <stdbool.h>

#include "context/context.h"

/* One adopted block. */
typedef struct memory_block {
    struct memory_block *next; /* of this process, see fork.h */
    ferry_context *ctx;
    const void *data; /* as the caller gave it */
    char *start;      /* whole pages */
    size_t bytes;
    size_t done;    /* of them, from the start, lie in the arena; 0 without one */
    void *reserved; /* addresses in the arena that were taken for it */
    char *shared;   /* those of `start` */
    unsigned advice;
    bool edges[2]; /* the first and the last page hold what belongs to others */
    char *kept;    /* room for a copy of each */
} memory_block;

/* Release all that a context has adopted, where it still is. */
void adopt_end(ferry_context *ctx);

#endif
