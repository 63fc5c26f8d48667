/* The envelope queue of a rank: cells in shared memory that every rank of the node may write and
 * its owner empties, in order. A cell carries a short message whole, or tells where one lies in the
 * sender's outbox, or announces a long one, or answers an announcement. Nobody waits here. */
#ifndef PLAN_INBOX_H
#define PLAN_INBOX_H

#include "memory/arena.h"

enum {
    INBOX_CELL_BYTES = 4096,
    INBOX_HEAD_BYTES = 64,
    INBOX_INLINE = INBOX_CELL_BYTES - INBOX_HEAD_BYTES, /* bytes that a cell carries */
    INBOX_CELLS = 64
};

typedef enum inbox_kind {
    INBOX_WHOLE,     /* the bytes are in the cell */
    INBOX_BLOCK,     /* in the block of the sender's outbox at `number` */
    INBOX_ANNOUNCED, /* they come after the answer; `number` is the sender's request */
    INBOX_ANSWER     /* to the request `number`: `tag` is the status, the cell holds the text */
} inbox_kind;

typedef struct inbox_head {
    uint64_t bytes, number;
    int32_t from; /* rank in the node */
    int32_t tag, kind;
} inbox_head;

typedef struct inbox_cell {
    _Atomic uint64_t turn; /* position it can be filled at; one more: it is full */
    inbox_head head;
    _Alignas(INBOX_HEAD_BYTES) char data[INBOX_INLINE];
} inbox_cell;

_Static_assert(sizeof(inbox_cell) == INBOX_CELL_BYTES, "cells are whole pages");

typedef struct inbox_shared {
    _Alignas(MEMORY_LINE) _Atomic uint64_t next; /* position for the next writer */
    _Alignas(INBOX_CELL_BYTES) inbox_cell cells[INBOX_CELLS];
} inbox_shared;

typedef struct inbox {
    inbox_shared *shared;
    uint64_t emptied; /* by the owner */
} inbox;

/* Make the own inbox and announce it in mailbox `mail`; find another rank's (false: not there). */
ferry_status inbox_make(ferry_context *ctx, inbox *own, int mail);
bool inbox_find(const ferry_context *ctx, inbox *peer, int node_rank, int mail);

/* Claim the next cell of another rank's inbox, NULL while all are full; fill it; then publish it,
 * soon: the owner sees no later one before. Waking is the caller's. */
inbox_cell *inbox_claim(const inbox *peer, uint64_t *position_out);
void inbox_publish(inbox_cell *cell, uint64_t position);

/* The oldest cell, or NULL; gives it back. */
const inbox_cell *inbox_look(const inbox *own);
void inbox_emptied(inbox *own);

/* ---- The outbox: blocks for messages that are too long for a cell ---- */

enum { OUTBOX_BLOCKS = 16, OUTBOX_BLOCK_BYTES = 64 << 10 };

typedef struct outbox_block {
    _Alignas(MEMORY_LINE) _Atomic uint32_t busy; /* set by the sender, cleared by the receiver */
    _Alignas(MEMORY_LINE) char data[OUTBOX_BLOCK_BYTES];
} outbox_block;

typedef struct outbox {
    outbox_block *blocks; /* made at first use */
} outbox;

/* A free block, or NULL while there is none or no memory for any. */
outbox_block *outbox_take(ferry_context *ctx, outbox *own);
/* The block of another rank at this place of the arena, or NULL when there can be none. */
outbox_block *outbox_find(const ferry_context *ctx, uint64_t offset);
void outbox_give(outbox_block *block);

#endif
