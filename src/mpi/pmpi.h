/* The only door to MPI: its header, how its errors become ours, and the few exchanges that setup
 * needs. Everything below this line of the library calls MPI by its PMPI names, so that tools that
 * watch MPI see the user's calls only. */
#ifndef MPI_PMPI_H
#define MPI_PMPI_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ferry/status.h"

/* Turn an MPI error code into a status; records the call's name and the MPI's own text. */
ferry_status pmpi_status(int code, const char *call);

/* FERRY_OK when MPI is running and is the one this library was built for. */
ferry_status pmpi_running(void);
bool pmpi_finalized(void);

/* One number of a sparse exchange, and the rank that it goes to or comes from. */
typedef struct pmpi_number {
    int rank;
    uint64_t value;
} pmpi_number;

/* Where an exchange takes place; `idle` is called between two looks, and ends it when it fails. */
typedef struct pmpi_place {
    MPI_Comm comm;
    int tag;
    ferry_status (*idle)(void *user);
    void *user;
} pmpi_place;

/* Every rank sends a number to the ranks it likes and receives what others send it, without anybody
 * knowing beforehand who sends to whom: synchronous sends, and a nonblocking barrier entered when
 * one's own are taken (the NBX algorithm of Hoefler, Siebert and Lumsdaine, PPoPP 2010).
 * `requests`: room for count requests. Of what comes, the first `room` numbers are kept,
 * `*count_out` tells how many came. Takes no memory, so that a rank cannot fail while others wait
 * for it. Collective. After a failure MPI may still read `sends`. */
ferry_status pmpi_exchange(const pmpi_place *where, const pmpi_number *sends, size_t count,
                           MPI_Request *requests, pmpi_number *numbers, size_t room,
                           size_t *count_out);

#endif
