/* The ranks of a job as a measurement needs them. Knows nothing of cases. What waits here polls,
 * and sleeps in between when the node has more ranks than cores: a rank that spins in a barrier
 * would take its core from one that still works. */
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/machine.h"
#include "bench/world.h"

struct world_flag {
    _Alignas(128) _Atomic uint64_t meetings;
};

enum { POLL_NS = 20000, PAGE = 4096, SPINS = 10000 };
static const double lead_alone_s = 4e-6,
                    lead_crowded_s = 300e-6; /* how far ahead a start in common lies */

double world_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void nap(long ns)
{
    const struct timespec t = {0, ns};

    nanosleep(&t, NULL);
}

int world_fail(world *w, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(w->trouble, sizeof w->trouble, format, arguments);
    va_end(arguments);
    return 1;
}

int world_ferry(world *w, ferry_status status, const char *call)
{
    if (status == FERRY_OK)
        return 0;
    return world_fail(w, "%s: rank %d: %s: %.250s", call, w->rank, ferry_status_text(status),
                      ferry_error_detail());
}

_Noreturn void world_give_up(const world *w, const char *what, size_t bytes)
{
    fprintf(stderr, "ferry: bench: rank %d: %zu bytes for %s could not be obtained\n", w->rank,
            bytes, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

void *world_alloc(world *w, size_t bytes)
{
    void *data = NULL;
    const size_t whole = (bytes / PAGE + 1) * PAGE;

    if (bytes > SIZE_MAX - PAGE || posix_memalign(&data, PAGE, whole) != 0) {
        world_fail(w, "rank %d: %zu bytes of memory could not be obtained", w->rank, bytes);
        return NULL;
    }
    memset(data, 0, whole);
    return data;
}

static void wait_quietly(const world *w, MPI_Request *request)
{
    int done = 0;

    for (MPI_Test(request, &done, MPI_STATUS_IGNORE); !done;
         MPI_Test(request, &done, MPI_STATUS_IGNORE)) {
        if (w->crowded)
            nap(POLL_NS);
        else
            pause_briefly();
    }
}

static void reduce(world *w, void *values, int count, MPI_Datatype type, MPI_Op op)
{
    MPI_Request request;

    MPI_Iallreduce(MPI_IN_PLACE, values, count, type, op, w->comm, &request);
    wait_quietly(w, &request);
}

void world_max(world *w, double *values, int count)
{
    reduce(w, values, count, MPI_DOUBLE, MPI_MAX);
}

void world_min(world *w, double *values, int count)
{
    reduce(w, values, count, MPI_DOUBLE, MPI_MIN);
}

double world_sum(world *w, double value)
{
    reduce(w, &value, 1, MPI_DOUBLE, MPI_SUM);
    return value;
}

int world_agree(world *w, int failed)
{
    MPI_Request request;
    int first = failed ? w->rank : w->size;

    reduce(w, &first, 1, MPI_INT, MPI_MIN);
    if (first == w->size)
        return 0;
    MPI_Ibcast(w->trouble, sizeof w->trouble, MPI_CHAR, first, w->comm, &request);
    wait_quietly(w, &request);
    return 1;
}

/* Sleeping gives the cores to ranks that have not yet left the reduction. */
static void wait_until(const world *w, double moment)
{
    if (w->crowded) {
        const struct timespec until = {(time_t)moment,
                                       (long)((moment - (double)(time_t)moment) * 1e9)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    }
    while (world_now() < moment)
        pause_briefly();
}

double world_start(world *w)
{
    double last = world_now();

    world_max(w, &last, 1);
    if (w->one_node) /* clocks of different hosts cannot be compared */
        wait_until(w, last + (w->crowded ? lead_crowded_s : lead_alone_s));
    return last;
}

/* A long wait means that the other rank has lost its core, perhaps to this one. */
static void meet_one(const world *w, int rank)
{
    for (int spins = 0;
         atomic_load_explicit(&w->flags[rank]->meetings, memory_order_acquire) < w->meetings;
         ++spins) {
        if (spins < SPINS)
            pause_briefly();
        else
            sched_yield();
    }
}

void world_meet(world *w, const int *ranks, int count)
{
    if (!w->flags || w->crowded)
        return;
    atomic_store_explicit(&w->flags[w->rank]->meetings, ++w->meetings, memory_order_release);
    for (int k = 0; k < count; ++k)
        meet_one(w, ranks[k]);
}

/* Who shares this rank's memory; cores are those that the ranks of the node may use together, since
 * launchers bind. */
static void find_node(world *w, MPI_Comm *node_out)
{
    uint64_t mask[MACHINE_MASK_WORDS];
    int node_size = 0, crowded = 0, cores = 0, alone = 0;

    MPI_Comm_split_type(w->comm, MPI_COMM_TYPE_SHARED, w->rank, MPI_INFO_NULL, node_out);
    MPI_Comm_size(*node_out, &node_size);
    machine_mask(mask);
    MPI_Allreduce(MPI_IN_PLACE, mask, MACHINE_MASK_WORDS, MPI_UINT64_T, MPI_BOR, *node_out);
    cores = machine_cores(mask);
    crowded = node_size > cores;
    alone = node_size < w->size;
    MPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT, MPI_MAX, w->comm);
    MPI_Allreduce(MPI_IN_PLACE, &alone, 1, MPI_INT, MPI_MAX, w->comm);
    MPI_Allreduce(MPI_IN_PLACE, &cores, 1, MPI_INT, MPI_MIN, w->comm);
    w->crowded = crowded;
    w->one_node = !alone;
    w->cores = cores;
}

static int make_flags(world *w, MPI_Comm node)
{
    world_flag *mine = NULL;

    w->flags = calloc((size_t)w->size, sizeof *w->flags);
    if (!w->flags)
        world_fail(w, "rank %d: no memory for %d flags", w->rank, w->size);
    if (world_agree(w, !w->flags))
        return 1;
    MPI_Win_allocate_shared(2 * sizeof *mine, 1, MPI_INFO_NULL, node, &mine, &w->window);
    for (int rank = 0; rank < w->size; ++rank) {
        MPI_Aint bytes = 0;
        int unit = 0;
        MPI_Win_shared_query(w->window, rank, &bytes, &unit, &mine);
        /* Not every MPI aligns the bases of shared windows. */
        w->flags[rank] = (world_flag *)(((uintptr_t)mine + 127) & ~(uintptr_t)127);
    }
    atomic_store(&w->flags[w->rank]->meetings, 0);
    MPI_Barrier(w->comm);
    return 0;
}

int world_open(world *w)
{
    MPI_Comm node = MPI_COMM_NULL;
    int failed = 0;

    *w = (world){.comm = MPI_COMM_NULL, .rivals = MPI_COMM_NULL, .window = MPI_WIN_NULL};
    MPI_Comm_dup(MPI_COMM_WORLD, &w->comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &w->rivals);
    MPI_Comm_rank(w->comm, &w->rank);
    MPI_Comm_size(w->comm, &w->size);
    find_node(w, &node);
    failed = world_ferry(w, ferry_context_create(MPI_COMM_WORLD, NULL, &w->ctx), "context");
    failed = world_agree(w, failed);
    if (!failed && w->one_node)
        failed = make_flags(w, node);
    MPI_Comm_free(&node);
    return failed;
}

void world_close(world *w)
{
    ferry_context_free(w->ctx);
    if (w->window != MPI_WIN_NULL)
        MPI_Win_free(&w->window);
    free(w->flags);
    if (w->comm != MPI_COMM_NULL)
        MPI_Comm_free(&w->comm);
    if (w->rivals != MPI_COMM_NULL)
        MPI_Comm_free(&w->rivals);
}
