/* What the cases vector and halo have in common: blocks of a field that go to other ranks, and
 * arrive in ghost cells of an equal field. A case describes the blocks, MPI's types for them and
 * how ferry carries them; all contenders follow. */
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

enum { FACES_MAX = 2, FIELD_FERRY = 0, FIELD_OWN = 1, FIELDS = 2 };

/* Memory that is exchanged. All ranks are in the same round after each rewriting: one that looked
 * on while a single rank worked owes rounds, and makes up for them with its next rewriting. */
typedef struct field {
    char *base;
    uint64_t round; /* of the source's content */
    uint64_t owed;
} field;

/* One block out and one in. Fields are equal on all ranks: what arrives was in the box `send` of
 * rank `from`. */
typedef struct face {
    int to, from;
    box send, recv;
    MPI_Datatype send_type, recv_type; /* as a program writes them */
    size_t send_base, recv_base;       /* bytes from the field to what the types count from */
    char *send_buffer, *recv_buffer;   /* of hand packing */
} face;

typedef struct exchange exchange;
struct exchange {
    world *w;
    size_t element_bytes;
    size_t field_bytes;
    int face_count; /* 0 on a rank that takes no part */
    face faces[FACES_MAX];
    box rewritten[FACES_MAX]; /* the sources without overlap, as many as faces; empty boxes allowed
                               */
    MPI_Datatype element;
    field fields[FIELDS];
    ferry_plan *self; /* the same blocks to the rank itself, or NULL */
    ferry_status (*carry)(exchange *x, char *base); /* ferry's round, */
    const char *carry_name;                         /* the call it makes */
    void *carrier;                                  /* and its object */
};

/* The layout of a box. */
ferry_status exchange_layout(const exchange *x, const box *b, ferry_layout **layout_out);

/* MPI's type for an element of so many bytes; committed, to be given to exchange_drop_type(). */
MPI_Datatype exchange_element(size_t element_bytes);
void exchange_drop_type(MPI_Datatype *type);

/* Take memory, fill it, compile the limit's plan and add the contenders. Collective; agreed. */
int exchange_open(exchange *x, measurement *m);

/* Free all but the carrier. NULL is not allowed, a half-open exchange is. */
void exchange_close(exchange *x);

/* Bytes a rank needs for an exchange. */
uint64_t exchange_need(uint64_t field_bytes, uint64_t face_bytes);

#endif
