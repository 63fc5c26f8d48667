/* What the cases vector, halo and overlap have in common: blocks of fields that go to other ranks,
 * and arrive in ghost cells of equal fields. A case describes the blocks, MPI's types for them and
 * how ferry carries them; all contenders follow. Several fields lie one after another in one piece
 * of memory, so that a block of a later field is a box that starts further on. */
#ifndef BENCH_EXCHANGE_H
#define BENCH_EXCHANGE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/harness.h"
#include "bench/pattern.h"
#include "bench/world.h"
#include "ferry/layout.h"
#include "ferry/plan.h"

enum {
    MESSAGES_MAX = 26, /* neighbours in three dimensions */
    FIELDS_MAX = 8,
    BLOCKS_MAX = MESSAGES_MAX * FIELDS_MAX,
    SOURCES_MAX = 6 * FIELDS_MAX, /* a shell in three dimensions is six boxes */
    FEW_MESSAGES = 2              /* that a program may send one after another */
};

/* Which memory a contender works on. */
enum { MEMORY_FERRY, MEMORY_OWN, MEMORY_ADOPTED, MEMORIES };

/* Memory that is exchanged. All ranks are in the same round after each rewriting: one that looked
 * on while a single rank worked owes rounds, and makes up for them with its next rewriting. */
typedef struct memory {
    char *base;
    uint64_t round; /* of the source's content */
    uint64_t owed;
} memory;

/* One block out and one in, of one field. Memories are equal on all ranks: what arrives was in the
 * box `send` of the rank it comes from. */
typedef struct block {
    box send, recv;
    MPI_Datatype send_type, recv_type; /* as a program writes them */
    size_t send_base, recv_base;       /* bytes from the memory to what the types count from */
} block;

/* What goes to one neighbour and comes from the opposite one: its blocks, one of each field. The
 * rest is made by exchange_open(). */
typedef struct message {
    int to, from;
    size_t bytes;
    MPI_Datatype send_type, recv_type; /* of all its blocks */
    size_t send_base, recv_base;
    char *send_buffer, *recv_buffer; /* of packing */
    int buffer_bytes;
} message;

typedef struct rival_state rival_state;

typedef struct exchange exchange;
struct exchange {
    world *w;
    size_t element_bytes;
    size_t field_bytes; /* of one field */
    int field_count;
    int usual_count;   /* messages of a rank that takes part, */
    int message_count; /* 0 on one that does not */
    message messages[MESSAGES_MAX];
    block blocks[BLOCKS_MAX]; /* field_count of each message */
    int source_count;
    box sources[SOURCES_MAX]; /* all that is sent, without overlap; empty boxes allowed */
    MPI_Datatype element;
    memory memories[MEMORIES];
    bool adopted;                         /* by this rank */
    char unadopted[CONTENDER_NOTE_BYTES]; /* why not by all ranks; "" when it is */
    ferry_plan *self;                     /* the same blocks to the rank itself, or NULL */
    ferry_status (*carry)(exchange *x, char *base); /* ferry's round, */
    const char *carry_name;                         /* the call it makes */
    void *carrier;                                  /* and its object */
    rival_state *rivals;
    void *own; /* of the case */
};

/* The blocks of a message. */
static inline const block *exchange_blocks(const exchange *x, int message)
{
    return &x->blocks[message * x->field_count];
}

/* A new exchange of elements of so many bytes, with one field; NULL after an agreed failure. */
exchange *exchange_new(world *w, size_t element_bytes);

/* The layout of a box. */
ferry_status exchange_layout(const exchange *x, const box *b, ferry_layout **layout_out);

/* MPI's type for an element of so many bytes; committed, to be given to exchange_drop_type(). */
MPI_Datatype exchange_element(size_t element_bytes);
void exchange_drop_type(MPI_Datatype *type);

/* Take memory, fill it, and make the types and buffers of messages. Collective; agreed. */
int exchange_prepare(exchange *x, measurement *m);

/* The same, then compile the limit's plan and add the contenders. Collective; agreed. */
int exchange_open(exchange *x, measurement *m);

/* Free all but the carrier. NULL is not allowed, a half-open exchange is. */
void exchange_close(exchange *x);

/* Steps that other cases use too. A contender's job is the exchange, its memory one of the
 * exchange's. */
contender_step exchange_rewrite, exchange_mark;
contender_check exchange_wrong;

/* Bytes a rank needs for an exchange of `fields` fields that sends so many bytes of each. */
uint64_t exchange_need(uint64_t fields, uint64_t field_bytes, uint64_t sent_bytes);

#endif
