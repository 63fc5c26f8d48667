/* Probes: see tune_probe.h. */
#define _GNU_SOURCE
#include "cli/tune_probe.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "cli/say.h"
#include "ferry/context.h"
#include "ferry/memory.h"

/* Long enough that the clock and a single interruption do not matter, short enough that the others
 * come soon. */
static const double batch_ns = 2e5;
enum { ROUNDS_LEAST = 4, ROUNDS_MAX = 200, LEAST_BATCHES = 5 };

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The rows that leave lie behind those that arrive. */
static ferry_status compile(probe *p, int me)
{
    const int64_t counts[] = {(int64_t)p->shape.rows}, strides[] = {(int64_t)p->shape.stride};
    const int64_t run = (int64_t)p->shape.run;
    ferry_edge edges[2] = {FERRY_EDGE_INIT, FERRY_EDGE_INIT};
    ferry_layout *in = NULL, *out = NULL;
    ferry_status st = ferry_layout_strided(1, counts, strides, run, 0, &in);

    if (st == FERRY_OK)
        st = ferry_layout_strided(1, counts, strides, run, run, &out);
    st = ferry_context_agree(p->ctx, st);
    edges[0].from = edges[1].to = me;
    edges[0].to = edges[1].from = p->partner;
    edges[0].source = out;
    edges[1].target = in;
    if (st == FERRY_OK)
        st = ferry_plan_compile(p->ctx, edges, p->partner >= 0 ? 2 : 0, &p->plan);
    ferry_layout_free(in);
    ferry_layout_free(out);
    return st;
}

int probe_open(probe *p, const rank *me)
{
    const size_t bytes = p->shape.rows * p->shape.stride;
    void *field = NULL;
    ferry_status st = ferry_context_agree(p->ctx, ferry_memory_alloc(p->ctx, bytes, &field));

    p->field = field;
    if (st == FERRY_OK) {
        memset(field, 1, bytes);
        st = compile(p, me->rank);
    }
    return rank_status(st, "prepare a measurement");
}

void probe_close(probe *p)
{
    ferry_plan_free(p->plan);
    if (p->field)
        ferry_memory_free(p->ctx, p->field);
    p->plan = NULL;
    p->field = NULL;
}

/* ---- Timing ---- */

static void rewrite(const probe *p, int round)
{
    for (size_t i = 0; i < p->shape.rows; i++)
        memset(p->field + i * p->shape.stride + p->shape.run, round, p->shape.run);
}

static ferry_status exchange(const probe *p)
{
    const ferry_status st = ferry_plan_start(p->plan, p->field, p->field);

    return st == FERRY_OK ? ferry_plan_wait(p->plan) : st;
}

static double time_rewriting(const probe *p, int rounds)
{
    const double began = now_ns();

    for (int i = 0; i < rounds; i++)
        rewrite(p, i);
    return now_ns() - began;
}

/* One batch. The exchange before each timing fetches what other probes have driven from the caches,
 * and lets both ranks begin together. */
static ferry_status run_batch(const probe *p, int rounds, double *ns_out)
{
    ferry_status st = exchange(p);
    const double rewriting = st == FERRY_OK ? time_rewriting(p, rounds) : 0;

    if (st == FERRY_OK)
        st = exchange(p);
    const double began = now_ns();
    for (int i = 0; i < rounds && st == FERRY_OK; i++) {
        rewrite(p, i);
        st = exchange(p);
    }
    const double took = now_ns() - began - rewriting;
    *ns_out = took > rounds ? took / rounds : 1;
    return st;
}

/* As many rounds as a batch has room for, the same on all ranks. The fastest of a few counts, since
 * a rank may lose its core. */
static ferry_status size_batch(probe *p)
{
    enum { TRIES = 3 };
    ferry_status st = FERRY_OK;
    double least = batch_ns, ns = 0;

    for (int i = 0; i < TRIES && st == FERRY_OK; i++) {
        st = run_batch(p, ROUNDS_LEAST, &ns);
        least = ns < least ? ns : least;
    }
    p->rounds = least * ROUNDS_MAX < batch_ns     ? ROUNDS_MAX
                : least * ROUNDS_LEAST > batch_ns ? ROUNDS_LEAST
                                                  : (int)(batch_ns / least);
    MPI_Allreduce(MPI_IN_PLACE, &p->rounds, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return st;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void summarize(probe *p)
{
    double quartiles[3];

    qsort(p->ns, (size_t)p->batches, sizeof p->ns[0], compare);
    for (int i = 0; i < 3; i++)
        quartiles[i] = p->partner >= 0 ? p->ns[(i + 1) * (p->batches - 1) / 4] : 0;
    MPI_Allreduce(MPI_IN_PLACE, quartiles, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    p->low = quartiles[0];
    p->middle = quartiles[1];
    p->high = quartiles[2];
}

/* How often this rank has lost its core to others. */
static long interruptions(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* A batch in which a rank lost its core tells of the others' work, and is dropped: so a busy
 * machine costs time, not truth. */
static ferry_status keep_batch(probe *p)
{
    const long before = interruptions();
    double ns = 0;
    const ferry_status st = run_batch(p, p->rounds, &ns);
    int disturbed = interruptions() != before;

    MPI_Allreduce(MPI_IN_PLACE, &disturbed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!disturbed && p->batches < PROBE_BATCHES)
        p->ns[p->batches++] = ns;
    return st;
}

static ferry_status run_turn(probe *probes, int count)
{
    ferry_status st = FERRY_OK;

    for (int i = 0; i < count && st == FERRY_OK; i++)
        st = keep_batch(&probes[i]);
    return st;
}

static int fewest_batches(const probe *probes, int count)
{
    int fewest = PROBE_BATCHES;

    for (int i = 0; i < count; i++)
        fewest = probes[i].batches < fewest ? probes[i].batches : fewest;
    return fewest;
}

/* Rank 0 looks at the clock for all. A slow or busy machine gets three times as long for the least
 * that medians can be taken of. */
static bool goes_on(double began, double ns, int batches)
{
    const double now = now_ns();
    int on = batches < PROBE_BATCHES &&
             (now < began + ns || (batches < LEAST_BATCHES && now < began + 3 * ns));

    MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return on;
}

int probe_all(const rank *me, probe *probes, int count, double seconds)
{
    const double began = now_ns();
    ferry_status st = FERRY_OK;

    for (int i = 0; i < count && st == FERRY_OK; i++) {
        probes[i].batches = 0;
        st = size_batch(&probes[i]);
    }
    while (st == FERRY_OK && goes_on(began, seconds * 1e9, fewest_batches(probes, count)))
        st = run_turn(probes, count);
    if (st != FERRY_OK) /* a round that failed has broken the context */
        rank_give_up(me, rank_status(st, "measure"));
    const int fewest = fewest_batches(probes, count);
    if (fewest < LEAST_BATCHES)
        return complain(CLI_FAILURE,
                        "only %d undisturbed measurements of a kind in %.1f s, expected %d: is "
                        "something else running? More --seconds may help; nothing was written",
                        fewest, 3 * seconds, LEAST_BATCHES);
    for (int i = 0; i < count; i++)
        summarize(&probes[i]);
    return CLI_OK;
}
