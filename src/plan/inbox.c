/* Envelope queues; see inbox.h. A bounded queue with one number per cell that says whose turn it is
 * (the scheme of D. Vyukov's bounded queue, with a single reader): a writer claims a position when
 * the cell there is free, fills the cell, and passes the turn on. */
#include "plan/inbox.h"

ferry_status inbox_make(ferry_context *ctx, inbox *own, int mail)
{
    void *memory = NULL;
    const ferry_status st = memory_take_shared(ctx, sizeof(inbox_shared), &memory);

    if (st != FERRY_OK)
        return st;
    own->shared = memory;
    for (uint64_t i = 0; i < INBOX_CELLS; i++)
        atomic_store_explicit(&own->shared->cells[i].turn, i, memory_order_relaxed);
    atomic_store_explicit(&memory_control_of(ctx, ctx->node_rank)->mail[mail],
                          memory_offset(ctx, memory), memory_order_release);
    return FERRY_OK;
}

bool inbox_find(const ferry_context *ctx, inbox *peer, int node_rank, int mail)
{
    if (peer->shared)
        return true;
    const uint64_t offset =
        atomic_load_explicit(&memory_control_of(ctx, node_rank)->mail[mail], memory_order_acquire);
    if (!offset)
        return false; /* offset 0 is a control record, never an inbox */
    peer->shared = memory_address(ctx, offset);
    return true;
}

inbox_cell *inbox_claim(const inbox *peer, uint64_t *position_out)
{
    inbox_shared *const shared = peer->shared;
    uint64_t position = atomic_load_explicit(&shared->next, memory_order_relaxed);

    for (;;) {
        inbox_cell *const cell = &shared->cells[position % INBOX_CELLS];
        const uint64_t turn = atomic_load_explicit(&cell->turn, memory_order_acquire);
        if (turn < position)
            return NULL;
        if (turn > position) { /* another writer was faster */
            position = atomic_load_explicit(&shared->next, memory_order_relaxed);
            continue;
        }
        *position_out = position;
        if (atomic_compare_exchange_weak_explicit(&shared->next, &position, position + 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return cell;
    }
}

void inbox_publish(inbox_cell *cell, uint64_t position)
{
    atomic_store_explicit(&cell->turn, position + 1, memory_order_release);
}

const inbox_cell *inbox_look(const inbox *own)
{
    const inbox_cell *const cell = &own->shared->cells[own->emptied % INBOX_CELLS];

    return atomic_load_explicit(&cell->turn, memory_order_acquire) == own->emptied + 1 ? cell
                                                                                       : NULL;
}

void inbox_emptied(inbox *own)
{
    inbox_cell *const cell = &own->shared->cells[own->emptied % INBOX_CELLS];

    atomic_store_explicit(&cell->turn, own->emptied + INBOX_CELLS, memory_order_release);
    own->emptied++;
}

/* ---- The outbox ---- */

outbox_block *outbox_take(ferry_context *ctx, outbox *own)
{
    void *memory = NULL;

    if (!own->blocks) {
        if (memory_take_shared(ctx, OUTBOX_BLOCKS * sizeof(outbox_block), &memory) != FERRY_OK)
            return NULL;
        own->blocks = memory;
    }
    for (int i = 0; i < OUTBOX_BLOCKS; i++) {
        outbox_block *const block = &own->blocks[i];
        if (atomic_load_explicit(&block->busy, memory_order_acquire))
            continue;
        atomic_store_explicit(&block->busy, 1, memory_order_relaxed);
        return block;
    }
    return NULL;
}

outbox_block *outbox_find(const ferry_context *ctx, uint64_t offset)
{
    const bool sound = offset % MEMORY_LINE == 0 && memory_holds(ctx, offset, sizeof(outbox_block));

    return sound ? memory_address(ctx, offset) : NULL;
}

void outbox_give(outbox_block *block)
{
    atomic_store_explicit(&block->busy, 0, memory_order_release);
}
