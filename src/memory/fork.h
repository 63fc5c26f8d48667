/* What this process shares with others, and what becomes of it in a child: the arenas and adopted
 * blocks that are mapped, under one lock, which a fork waits for. */
#ifndef MEMORY_FORK_H
#define MEMORY_FORK_H

#include "memory/adopt.h"
#include "memory/arena.h"

/* Once a process: from here on children do as said. */
void fork_begin(void);

/* From here on a child has the arena as private memory. */
void fork_watch(struct memory_arena *arena);
void fork_forget(struct memory_arena *arena);

/* Blocks are added, changed and removed under the lock only. */
void fork_lock(void);
void fork_unlock(void);
memory_block *fork_blocks(void); /* the first */
void fork_add_block(memory_block *block);
void fork_remove_block(const memory_block *block);

#endif
