/* Sparse exchange: nobody knows beforehand who will send to whom, and nothing grows with the number
 * of ranks. */
#include "mpi/pmpi.h"

typedef struct inbox {
    pmpi_number *numbers;
    size_t count, room;
} inbox;

static ferry_status receive(const pmpi_place *where, inbox *box)
{
    uint64_t value = 0;
    int flag = 0;
    MPI_Message found = MPI_MESSAGE_NULL;
    MPI_Status status;
    ferry_status st =
        pmpi_status(PMPI_Improbe(MPI_ANY_SOURCE, where->tag, where->comm, &flag, &found, &status),
                    "MPI_Improbe");

    if (st != FERRY_OK || !flag)
        return st;
    st = pmpi_status(PMPI_Mrecv(&value, 1, MPI_UINT64_T, &found, MPI_STATUS_IGNORE), "MPI_Mrecv");
    if (box->count < box->room)
        box->numbers[box->count] = (pmpi_number){.rank = status.MPI_SOURCE, .value = value};
    box->count++;
    return st;
}

static ferry_status post(const pmpi_place *where, const pmpi_number *sends, size_t count,
                         MPI_Request *requests)
{
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < count && st == FERRY_OK; i++)
        st = pmpi_status(PMPI_Issend(&sends[i].value, 1, MPI_UINT64_T, sends[i].rank, where->tag,
                                     where->comm, &requests[i]),
                         "MPI_Issend");
    return st;
}

/* Test the sends from the first that is not known to be taken; `*taken` says how many are. */
static ferry_status test_sends(size_t count, MPI_Request *requests, size_t *taken)
{
    int flag = 1;

    while (*taken < count) {
        const ferry_status st =
            pmpi_status(PMPI_Test(&requests[*taken], &flag, MPI_STATUS_IGNORE), "MPI_Test");
        if (st != FERRY_OK || !flag)
            return st;
        ++*taken;
    }
    return FERRY_OK;
}

ferry_status pmpi_exchange(const pmpi_place *where, const pmpi_number *sends, size_t count,
                           MPI_Request *requests, pmpi_number *numbers, size_t room,
                           size_t *count_out)
{
    inbox box = {numbers, 0, room};
    MPI_Request barrier = MPI_REQUEST_NULL;
    size_t taken = 0;
    ferry_status st = post(where, sends, count, requests);

    for (int ended = 0; st == FERRY_OK && !ended; where->idle(where->user)) {
        st = receive(where, &box);
        if (st != FERRY_OK)
            break;
        if (barrier != MPI_REQUEST_NULL) {
            st = pmpi_status(PMPI_Test(&barrier, &ended, MPI_STATUS_IGNORE), "MPI_Test");
            continue;
        }
        st = test_sends(count, requests, &taken);
        if (st == FERRY_OK && taken == count)
            st = pmpi_status(PMPI_Ibarrier(where->comm, &barrier), "MPI_Ibarrier");
    }
    *count_out = box.count;
    return st;
}
