/* Sparse exchange: nobody knows beforehand who will send to whom, and nothing grows with the number of ranks. */
#include "mpi/pmpi.h"

#include <limits.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/trouble.h"

typedef struct inbox {
    pmpi_message *messages;
    size_t count, room;
} inbox;

void pmpi_messages_drop(pmpi_message *messages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        alloc_free(messages[i].data);
    alloc_free(messages);
}

/* Take a message that has been found; its length is known before memory and receive are. */
static ferry_status take(inbox *box, MPI_Message *found, const MPI_Status *status)
{
    int bytes = 0;
    void *data = NULL;
    ferry_status st = FERRY_OK;

    PMPI_Get_count(status, MPI_BYTE, &bytes);
    if (box->count == box->room) {
        const size_t room = box->room ? box->room * 2 : 8;
        st = alloc_resize(room, sizeof *box->messages, &box->messages);
        if (st == FERRY_OK)
            box->room = room;
    }
    if (st == FERRY_OK)
        st = alloc_resize((size_t)bytes + 1, 1, &data);
    if (st != FERRY_OK)
        return st; /* setup ends with an error on all ranks; the message stays with MPI */
    st = pmpi_status(PMPI_Mrecv(data, bytes, MPI_BYTE, found, MPI_STATUS_IGNORE), "MPI_Mrecv");
    box->messages[box->count++] = (pmpi_message){.rank = status->MPI_SOURCE, .bytes = (size_t)bytes, .data = data};
    return st;
}

static ferry_status poll(const pmpi_place *where, inbox *box)
{
    int flag = 0;
    MPI_Message found = MPI_MESSAGE_NULL;
    MPI_Status status;
    const ferry_status st = pmpi_status(PMPI_Improbe(MPI_ANY_SOURCE, where->tag, where->comm, &flag, &found, &status), "MPI_Improbe");

    return st == FERRY_OK && flag ? take(box, &found, &status) : st;
}

static ferry_status post(const pmpi_place *where, const pmpi_message *sends, size_t count, MPI_Request *requests)
{
    for (size_t i = 0; i < count; i++) {
        const ferry_status st = pmpi_status(
            PMPI_Issend(sends[i].data, (int)sends[i].bytes, MPI_BYTE, sends[i].rank, where->tag, where->comm, &requests[i]), "MPI_Issend");
        if (st != FERRY_OK)
            return st;
    }
    return FERRY_OK;
}

/* Test the sends from the first that is not known to be taken; `*taken` says how many are. */
static ferry_status test_sends(size_t send_count, MPI_Request *requests, size_t *taken)
{
    int flag = 1;

    while (*taken < send_count) {
        const ferry_status st = pmpi_status(PMPI_Test(&requests[*taken], &flag, MPI_STATUS_IGNORE), "MPI_Test");
        if (st != FERRY_OK || !flag)
            return st;
        ++*taken;
    }
    return FERRY_OK;
}

/* Until everybody has entered the barrier, which each does when its own messages are taken. A rank that runs out of memory goes
 * on taking part, so that the others end. */
static ferry_status run(const pmpi_place *where, size_t send_count, MPI_Request *requests, inbox *box)
{
    MPI_Request barrier = MPI_REQUEST_NULL;
    ferry_status verdict = FERRY_OK;
    size_t taken = 0;

    for (int ended = 0; !ended;) {
        ferry_status st = poll(where, box);
        if (st == FERRY_ERR_MPI)
            return st;
        if (st != FERRY_OK)
            verdict = st;
        if (barrier != MPI_REQUEST_NULL) {
            st = pmpi_status(PMPI_Test(&barrier, &ended, MPI_STATUS_IGNORE), "MPI_Test");
        } else {
            st = test_sends(send_count, requests, &taken);
            if (st == FERRY_OK && taken == send_count)
                st = pmpi_status(PMPI_Ibarrier(where->comm, &barrier), "MPI_Ibarrier");
        }
        if (st != FERRY_OK)
            return st;
        where->idle(where->user);
    }
    return verdict;
}

static int by_rank(const void *a, const void *b)
{
    const pmpi_message *const x = a, *const y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

ferry_status pmpi_exchange(const pmpi_place *where, const pmpi_message *sends, size_t send_count, pmpi_message **messages_out,
                           size_t *count_out)
{
    MPI_Request *requests = NULL;
    inbox box = {NULL, 0, 0};
    ferry_status st = alloc_zero(send_count, sizeof *requests, &requests);

    for (size_t i = 0; i < send_count; i++)
        if (sends[i].bytes > INT_MAX)
            st = trouble(FERRY_ERR_LIMIT, "the description of the edges to rank %d takes %zu bytes, the limit is %d", sends[i].rank,
                         sends[i].bytes, INT_MAX);
    if (st == FERRY_OK)
        st = post(where, sends, send_count, requests);
    if (st == FERRY_ERR_MPI)
        goto out;
    const ferry_status ran = run(where, st == FERRY_OK ? send_count : 0, requests, &box);
    if (st == FERRY_OK)
        st = ran;
    if (st != FERRY_OK)
        goto out;
    if (box.count)
        qsort(box.messages, box.count, sizeof *box.messages, by_rank);
    *messages_out = box.messages;
    *count_out = box.count;
    box = (inbox){NULL, 0, 0};
out:
    pmpi_messages_drop(box.messages, box.count);
    alloc_free(requests);
    return st;
}
