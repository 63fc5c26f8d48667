/* Case overlap: how much of an exchange hides behind computing. Columns move as in the case vector;
 * the computing takes as long as ferry's exchange, which is measured first. Every contender is
 * timed with and without computing, and what both together take less than one after the other, as a
 * part of the shorter, is what was hidden. */
#include <stdlib.h>
#include <string.h>

#include "bench/case_vector.h"
#include "bench/exchange_rivals.h"
#include "bench/stats.h"

enum { TESTS = VECTOR_KEYS, KEYS };
enum { TRIALS = 5, TRIAL_STEPS = 1 << 20 };

static const case_key keys[KEYS] = {
    [VECTOR_ROWS] = {"rows", "16384", "rows of the column", 1, 1, INT32_MAX, {NULL}},
    [VECTOR_RUN] = {"run", "8", "elements of a row that are sent", 1, 1, INT32_MAX, {NULL}},
    [VECTOR_STRIDE] =
        {"stride", "64", "elements from row to row, at least 2 * run", 1, 2, INT32_MAX, {NULL}},
    [VECTOR_ELEMENT] = {"e", "8", "bytes of an element", 1, 1, 4096, {NULL}},
    [TESTS] = {"tests", "32", "calls of test during the computing", 1, 1, 1 << 20, {NULL}},
};

/* The computing of a round, in as many pieces as there are tests. */
typedef struct work {
    long steps; /* of a piece */
    int pieces;
    volatile double result; /* so that it is really done */
} work;

/* Every step needs the one before: nothing but the processor's clock decides. */
static double compute(double value, long steps)
{
    for (long k = 0; k < steps; ++k)
        value = value * 0.999999 + 1e-6;
    return value;
}

typedef ferry_status tester(exchange *x);

static ferry_status test_nothing(exchange *x)
{
    (void)x;
    return FERRY_OK;
}

static ferry_status test_ferry(exchange *x)
{
    int done = 0;

    return ferry_plan_test(x->carrier, &done);
}

static ferry_status test_mpi(exchange *x)
{
    rivals_test(x);
    return FERRY_OK;
}

static ferry_status compute_all(exchange *x, tester *test)
{
    work *const w = x->own;
    ferry_status st = FERRY_OK;

    for (int k = 0; k < w->pieces && st == FERRY_OK; ++k) {
        w->result = compute(w->result, w->steps);
        st = test(x);
    }
    return st;
}

/* --- steps ------------------------------------------------------------------------------------ */

static char *base_of(const contender *c)
{
    return ((const memory *)c->memory)->base;
}

static int round_compute(contender *c)
{
    exchange *const x = c->job;

    return world_ferry(x->w, compute_all(x, test_nothing), "compute");
}

static int round_ferry(contender *c)
{
    exchange *const x = c->job;

    return world_ferry(x->w, x->carry(x, base_of(c)), x->carry_name);
}

static int both_ferry(contender *c, tester *test)
{
    exchange *const x = c->job;
    ferry_status st = ferry_plan_start(x->carrier, base_of(c), base_of(c));

    if (st == FERRY_OK)
        st = compute_all(x, test);
    if (st == FERRY_OK)
        st = ferry_plan_wait(x->carrier);
    return world_ferry(x->w, st, x->carry_name);
}

static int round_tested(contender *c)
{
    return both_ferry(c, test_ferry);
}

static int round_untested(contender *c)
{
    return both_ferry(c, test_nothing);
}

static int round_isend(contender *c)
{
    exchange *const x = c->job;

    rivals_begin(x, base_of(c));
    rivals_end(x, base_of(c));
    return 0;
}

static int both_isend(contender *c)
{
    exchange *const x = c->job;

    rivals_begin(x, base_of(c));
    const ferry_status st = compute_all(x, test_mpi);
    rivals_end(x, base_of(c));
    return world_ferry(x->w, st, "compute");
}

/* --- opening ---------------------------------------------------------------------------------- */

static const char compute_name[] = "compute";

/* `alone`: the row of the same exchange without computing. */
static const struct entry {
    const char *name, *alone;
    contender_kind kind;
    int memory;
    contender_step *round;
    contender_check *wrong;
    const char *note;
} entries[] = {
    {compute_name, NULL, CONTENDER_PART, MEMORY_FERRY, round_compute, NULL, "as long as ferry"},
    {"ferry", NULL, CONTENDER_FERRY, MEMORY_FERRY, round_ferry, exchange_wrong,
     "start, wait; nothing in between"},
    {"ferry-tested", "ferry", CONTENDER_FERRY, MEMORY_FERRY, round_tested, exchange_wrong,
     "start, compute with calls of test, wait"},
    {"ferry-untested", "ferry", CONTENDER_FERRY, MEMORY_FERRY, round_untested, exchange_wrong,
     "start, compute, wait"},
    {"isend", NULL, CONTENDER_RIVAL, MEMORY_OWN, round_isend, exchange_wrong,
     "vector loops, static buffers, MPI_Isend and MPI_Irecv"},
    {"isend-tested", "isend", CONTENDER_RIVAL, MEMORY_OWN, both_isend, exchange_wrong,
     "the same, computing in between, requests looked at"},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static void add_contenders(exchange *x, measurement *m)
{
    for (int k = 0; k < ENTRIES; ++k) {
        const struct entry *const e = &entries[k];
        contender *const c = measurement_add(m, e->name, e->kind, x);
        c->memory = &x->memories[e->memory];
        c->rewrite = exchange_rewrite;
        c->before = exchange_mark;
        c->round = e->round;
        c->wrong = e->wrong;
        strncpy(c->note, e->note, sizeof c->note - 1);
    }
}

/* Steps that take as long as ferry's exchange; the same on all ranks. */
static int choose_steps(exchange *x, work *todo)
{
    samples rounds = {0};
    double speed = 0;
    int failed = 0;

    for (int k = 0; k < TRIALS && !failed; ++k) {
        world_start(x->w);
        double seconds = world_now();
        failed = world_ferry(x->w, x->carry(x, x->memories[MEMORY_FERRY].base), x->carry_name);
        seconds = world_now() - seconds;
        world_max(x->w, &seconds, 1);
        failed |= samples_add(&rounds, seconds);
        seconds = world_now();
        todo->result = compute(todo->result, TRIAL_STEPS); /* not known beforehand */
        seconds = TRIAL_STEPS / (world_now() - seconds);
        world_min(x->w, &seconds, 1);
        speed = seconds > speed ? seconds : speed;
    }
    todo->steps = (long)(samples_median(&rounds) * speed / todo->pieces) + 1;
    samples_drop(&rounds);
    return world_agree(x->w, failed);
}

static void close_overlap(void *job)
{
    exchange *const x = job;

    if (!x)
        return;
    free(x->own);
    ferry_plan_free(x->carrier);
    exchange_close(x);
    free(x);
}

static int open_overlap(world *w, const bench_case *c, measurement *m, void **job_out)
{
    exchange *x = NULL;
    int failed = vector_make(w, c, &x);
    work *const todo = failed ? NULL : calloc(1, sizeof *todo);

    *job_out = x;
    if (failed)
        return 1;
    x->own = todo;
    if (!todo)
        world_fail(w, "rank %d: no memory for the case", w->rank);
    if (world_agree(w, !todo) || exchange_prepare(x, m))
        return 1;
    todo->pieces = (int)c->values[TESTS][0];
    if (choose_steps(x, todo))
        return 1;
    add_contenders(x, m);
    ferry_plan_explain(x->carrier, m->explain, sizeof m->explain);
    return 0;
}

/* --- what was hidden -------------------------------------------------------------------------- */

static double median_of(const measurement *m, const char *name)
{
    for (int k = 0; name && k < m->result_count; ++k)
        if (strcmp(m->results[k].name, name) == 0)
            return m->results[k].median_s;
    return 0;
}

static void conclude(measurement *m)
{
    const double work_s = median_of(m, compute_name);

    m->figure_title = "hidden";
    for (int k = 0; k < ENTRIES; ++k) {
        const double alone_s = median_of(m, entries[k].alone);
        const double both_s = median_of(m, entries[k].name);
        const double shorter_s = work_s < alone_s ? work_s : alone_s;
        if (shorter_s > 0 && both_s > 0)
            m->figures[m->figure_count++] =
                (figure){entries[k].name, (alone_s + work_s - both_s) / shorter_s};
    }
}

const case_kind case_overlap = {
    .word = "overlap",
    .help = "columns as in vector, while the ranks compute as long as that takes",
    .key_count = KEYS,
    .least_np = 2,
    .keys = keys,
    .rivals = {"isend", "isend-tested", NULL},
    .check = vector_check,
    .need = vector_need,
    .open = open_overlap,
    .conclude = conclude,
    .close = close_overlap,
};
