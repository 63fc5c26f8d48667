/* What the kernel says of memory of this process. */
#ifndef MEMORY_SMAPS_H
#define MEMORY_SMAPS_H

#include <stdbool.h>

#include "ferry/status.h"

/* What to tell the kernel of memory that takes the place of other memory, as bits. */
enum { SMAPS_HUGE = 1, SMAPS_NO_HUGE = 2, SMAPS_NO_DUMP = 4 };

/* Is start .. end (whole pages) private anonymous memory that may be exchanged for other memory?
 * ERR_ARG names what speaks against it; ERR_SYSTEM: the kernel does not tell. `advice_out`: bits
 * that hold for all of it. */
ferry_status smaps_check(uintptr_t start, uintptr_t end, unsigned *advice_out);

/* True when start .. end is the shared mapping of a file with this inode, from `offset` on. */
bool smaps_is_file(uintptr_t start, uintptr_t end, uint64_t inode, uint64_t offset);

#endif
