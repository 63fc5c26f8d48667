/* How the bytes of a long message are written where they stay: through the caches, or past them,
 * which spares reading the old content first but is dearer into pages that were just made. Which is
 * faster depends on the memory and on the state of the machine, so that the first slots of each
 * message, and some later ones of very long ones, try both. Without FERRY_TUNE=trial none does. */
#ifndef PLAN_LANDING_H
#define PLAN_LANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct landing {
    bool tries;         /* the message is long enough */
    unsigned slots;     /* so far */
    int64_t best_ns[2]; /* fastest slot: through the caches, past them */
} landing;

void landing_begin(landing *l, size_t bytes);
/* Copy one slot. */
void landing_copy(landing *l, char *dst, const char *src, size_t bytes);

#endif
