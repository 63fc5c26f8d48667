/* Sparse exchange: nobody knows beforehand who will send to whom, and nothing grows with the number
 * of ranks. */
#include "mpi/pmpi.h"

typedef struct inbox {
    pmpi_number *numbers;
    size_t count, room;
} inbox;

typedef struct sending {
    MPI_Request *requests;
    size_t count, taken; /* by their receivers, as far as is known */
    MPI_Request barrier;
} sending;

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

/* Test the sends from the first that is not known to be taken. */
static ferry_status test_sends(sending *mine)
{
    int flag = 1;

    while (mine->taken < mine->count) {
        const ferry_status st = pmpi_status(
            PMPI_Test(&mine->requests[mine->taken], &flag, MPI_STATUS_IGNORE), "MPI_Test");
        if (st != FERRY_OK || !flag)
            return st;
        mine->taken++;
    }
    return FERRY_OK;
}

/* One look: take what has come, enter the barrier once all of mine is taken, see whether it has
 * ended. */
static ferry_status look(const pmpi_place *where, inbox *box, sending *mine, int *ended_out)
{
    ferry_status st = receive(where, box);

    if (st == FERRY_OK && mine->barrier != MPI_REQUEST_NULL)
        return pmpi_status(PMPI_Test(&mine->barrier, ended_out, MPI_STATUS_IGNORE), "MPI_Test");
    if (st == FERRY_OK)
        st = test_sends(mine);
    if (st == FERRY_OK && mine->taken == mine->count)
        st = pmpi_status(PMPI_Ibarrier(where->comm, &mine->barrier), "MPI_Ibarrier");
    return st;
}

ferry_status pmpi_exchange(const pmpi_place *where, const pmpi_number *sends, size_t count,
                           MPI_Request *requests, pmpi_number *numbers, size_t room,
                           size_t *count_out)
{
    inbox box = {numbers, 0, room};
    sending mine = {requests, count, 0, MPI_REQUEST_NULL};
    ferry_status st = post(where, sends, count, requests);

    for (int ended = 0; st == FERRY_OK && !ended;) {
        st = look(where, &box, &mine, &ended);
        if (st == FERRY_OK && !ended)
            st = where->idle(where->user);
    }
    *count_out = box.count;
    return st;
}
