/* Who of the node still lives. */
#ifndef MEMORY_LIVENESS_H
#define MEMORY_LIVENESS_H

#include "memory/arena.h"

/* From here on the others notice when this process ends; called once the arena is mapped. */
void liveness_begin(ferry_context *ctx);

/* This rank leaves in good order: what happens to its process afterwards concerns nobody. */
void liveness_leave(const ferry_context *ctx);

/* ERR_PEER_GONE, naming them, when ranks of the node have ended without leaving. `waited` says for
 * what this rank has waited meanwhile. One system call per rank of the node: for waits that are
 * long already. */
ferry_status liveness_look(const ferry_context *ctx, const char *waited);

#endif
