/* The process's pool of private memory: what ferry_memory_take() hands out. */
#ifndef MEMORY_POOL_H
#define MEMORY_POOL_H

#include <stdint.h>

#include "ferry/memory.h"

/* Set the bound from FERRY_POOL for a process that shares its machine with `ranks` others, itself
 * included. ERR_ARG names the setting. The last bound set holds. */
ferry_status pool_bound(int ranks);

/* Bytes kept for reuse. */
uint64_t pool_kept(void);
/* Bytes that may be. */
uint64_t pool_most(void);

#endif
