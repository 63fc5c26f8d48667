/* The only door to MPI: its header, how its errors become ours, and the few exchanges that setup needs.
 * Everything below this line of the library calls MPI by its PMPI names, so that tools that watch MPI see the user's calls only. */
#ifndef MPI_PMPI_H
#define MPI_PMPI_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>

#include "ferry/status.h"

/* Turn an MPI error code into a status; records the call's name and the MPI's own text. */
ferry_status pmpi_status(int code, const char *call);

/* FERRY_OK when MPI is running and is the one this library was built for. */
ferry_status pmpi_running(void);
bool pmpi_finalized(void);

/* One message of a sparse exchange. */
typedef struct pmpi_message {
    int rank;    /* of the other side */
    size_t bytes;
    void *data;
} pmpi_message;

/* Every rank sends to the ranks it likes and receives what others send it, without anybody knowing beforehand who sends to
 * whom: synchronous sends, and a nonblocking barrier entered when one's own are taken (the NBX algorithm of Hoefler, Siebert and
 * Lumsdaine, PPoPP 2010). The received messages and their list are the caller's, in the order of their ranks; free them with
 * pmpi_messages_drop(). Collective. `where->idle` is called between two looks. */
typedef struct pmpi_place {
    MPI_Comm comm;
    int tag;
    void (*idle)(void *user);
    void *user;
} pmpi_place;
ferry_status pmpi_exchange(const pmpi_place *where, const pmpi_message *sends, size_t send_count, pmpi_message **messages_out,
                           size_t *count_out);
void pmpi_messages_drop(pmpi_message *messages, size_t count);

#endif
