/* Who of the node still lives. Each rank holds a record lock on a byte of the arena's file, and the
 * kernel lets go of it when the process ends, however it ends: killed, crashed, or not reaped yet.
 * Nobody touches a lock in a round; who has waited for long asks the kernel whether the locks of
 * the others are still held. That works across pid namespaces, in which process numbers mean
 * nothing.
 *
 * A robust mutex would not do: it belongs to a thread, and the one that made the context may end
 * long before the process. Nor would a lock of an open file: children that a rank has forked share
 * it and may outlive the rank. A record lock belongs to the process alone. It would be lost when
 * the process closed any descriptor of the same file; only this module has some.
 *
 * Where the kernel refuses the lock, the rank says that it is not watched, and is waited for
 * without end, as ranks of other nodes are. */
#include "memory/liveness.h"

#include "base/sys.h"
#include "base/text.h"
#include "base/trouble.h"

enum { NOT_WATCHED, WATCHED, LEFT };

void liveness_begin(ferry_context *ctx)
{
    if (sys_hold_byte(ctx->arena->fd, ctx->node_rank) != 0)
        return;
    atomic_store(&memory_control_of(ctx, ctx->node_rank)->life, WATCHED);
}

void liveness_leave(const ferry_context *ctx)
{
    if (ctx->arena)
        atomic_store(&memory_control_of(ctx, ctx->node_rank)->life, LEFT);
}

/* The word is read again after the lock: a rank may leave in between. */
static bool is_gone(const ferry_context *ctx, int node_rank)
{
    const memory_control *const control = memory_control_of(ctx, node_rank);

    return node_rank != ctx->node_rank && atomic_load(&control->life) == WATCHED &&
           sys_byte_is_held(ctx->arena->fd, node_rank) == 0 &&
           atomic_load(&control->life) == WATCHED;
}

ferry_status liveness_look(const ferry_context *ctx, const char *waited)
{
    char names[100];
    text_out out = {names, sizeof names, 0};
    int gone = 0;

    for (int i = 0; i < ctx->node_size; i++)
        if (is_gone(ctx, i))
            text_add(&out, gone++ ? ", %d" : "%d", ctx->node_ranks[i]);
    if (!gone)
        return FERRY_OK;
    return trouble(FERRY_ERR_PEER_GONE,
                   "rank%s %s ha%s ended without leaving the context; rank %d waited %s",
                   gone > 1 ? "s" : "", names, gone > 1 ? "ve" : "s", ctx->rank, waited);
}
