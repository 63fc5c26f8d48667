/* Case transpose: a matrix in block rows becomes its transpose in block rows. All contenders work
 * on the same matrices in memory of ferry_memory_alloc(); `ferry-private` and the rival's buffers
 * are malloc'ed.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/cases.h"
#include "bench/pattern.h"
#include "bench/turn.h"
#include "ferry/memory.h"
#include "ferry/plan.h"
#include "ferry/redistribute.h"

enum { SIZE, ELEMENT, KEYS };

static const case_key keys[KEYS] = {
    [SIZE] = {"n", "10080x20160", "rows x columns of the whole matrix", 2, 1, INT32_MAX, {NULL}},
    [ELEMENT] = {"e", "2", "bytes of an element", 1, 1, 64, {NULL}},
};

typedef struct turn_job {
    world *w;
    size_t element, unit;
    int64_t rows, columns;        /* of the whole matrix */
    int64_t first_row, row_count; /* of this rank */
    int64_t first_column, column_count;
    size_t source_bytes, target_bytes;
    char *source, *target; /* memory of ferry */
    char *send, *recv;     /* malloc'ed */
    ferry_transpose *ferry;
    ferry_plan *copy; /* of this rank's share to itself; may be NULL */
    turn *rival;
    uint64_t round;
} turn_job;

static int check(const bench_case *c, char *error, size_t bytes)
{
    (void)c, (void)error, (void)bytes;
    return 0;
}

/* Source, target and the two buffers of the usual method. */
static uint64_t need(const bench_case *c, const char *rivals)
{
    const uint64_t elements =
        bytes_times((uint64_t)c->values[SIZE][0], (uint64_t)c->values[SIZE][1]);

    (void)rivals;
    return bytes_times(4, bytes_times(elements, (uint64_t)c->values[ELEMENT][0]));
}

/* What a copy of this rank's share moves. */
static size_t share_bytes(const turn_job *job)
{
    return job->source_bytes < job->target_bytes ? job->source_bytes : job->target_bytes;
}

/* --- steps ------------------------------------------------------------------------------------ */

static int rewrite(contender *c)
{
    turn_job *const job = c->job;
    const box all = box_dense(0, job->source_bytes);

    pattern_advance(job->source, &all, job->unit, 1);
    ++job->round;
    return 0;
}

static int copy_to_private(contender *c)
{
    const turn_job *const job = c->job;

    memcpy(job->send, job->source, job->source_bytes);
    return 0;
}

static int round_ferry(contender *c)
{
    const turn_job *const job = c->job;

    return world_ferry(job->w, ferry_transpose_run(job->ferry, job->source, job->target),
                       "ferry_transpose_run");
}

static int round_private(contender *c)
{
    const turn_job *const job = c->job;

    return world_ferry(job->w, ferry_transpose_run(job->ferry, job->send, job->recv),
                       "ferry_transpose_run");
}

static int round_rival(contender *c)
{
    const turn_job *const job = c->job;

    turn_run(job->rival, job->source, job->send, job->recv, job->target);
    return 0;
}

static int round_copy(contender *c)
{
    const turn_job *const job = c->job;

    memcpy(job->target, job->source, share_bytes(job));
    return 0;
}

static int round_plan(contender *c)
{
    const turn_job *const job = c->job;
    ferry_status st = ferry_plan_start(job->copy, job->source, job->target);

    if (st == FERRY_OK)
        st = ferry_plan_wait(job->copy);
    return world_ferry(job->w, st, "ferry_plan_start");
}

static int round_alone(contender *c)
{
    return ((const turn_job *)c->job)->w->rank == 0 ? round_copy(c) : 0;
}

static int plan_alone(contender *c)
{
    return ((const turn_job *)c->job)->w->rank == 0 ? round_plan(c) : 0;
}

/* Words of a transposed matrix that are not those of the source in this round; compiled once for
 * each size of a word, since it looks at every one. Little-endian: the low bytes, which a word of
 * `unit` bytes keeps, come first. */
static inline __attribute__((always_inline)) size_t count_wrong(const turn_job *job,
                                                                const char *target, size_t unit)
{
    const size_t words = job->element / unit;
    size_t wrong = 0;

    for (int64_t column = 0; column < job->column_count; ++column)
        for (int64_t row = 0; row < job->rows; ++row) {
            const uint64_t first =
                (uint64_t)(row * job->columns + job->first_column + column) * words;
            for (size_t k = 0; k < words; ++k, target += unit) {
                const uint64_t value = pattern_at(0, first + k, job->round);
                wrong += memcmp(target, &value, unit) != 0;
            }
        }
    return wrong;
}

static size_t wrong_words(const turn_job *job, const char *target)
{
    switch (job->unit) {
    case 1:
        return count_wrong(job, target, 1);
    case 2:
        return count_wrong(job, target, 2);
    case 4:
        return count_wrong(job, target, 4);
    case 8:
        return count_wrong(job, target, 8);
    default:
        return count_wrong(job, target, job->unit);
    }
}

static size_t wrong_target(contender *c)
{
    const turn_job *const job = c->job;

    return wrong_words(job, job->target);
}

static size_t wrong_private(contender *c)
{
    const turn_job *const job = c->job;

    return wrong_words(job, job->recv);
}

static size_t wrong_copy(contender *c)
{
    const turn_job *const job = c->job;

    return memcmp(job->target, job->source, share_bytes(job)) != 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

static const struct entry {
    const char *name;
    contender_kind kind;
    contender_step *before, *round;
    contender_check *wrong;
    const char *note;
} entries[] = {
    {"ferry", CONTENDER_FERRY, NULL, round_ferry, wrong_target, "memory of ferry_memory_alloc"},
    {"ferry-private", CONTENDER_FERRY, copy_to_private, round_private, wrong_private,
     "malloc'ed memory"},
    {"blocked-alltoall", CONTENDER_RIVAL, NULL, round_rival, wrong_target,
     "blocked transpose, MPI_Alltoall, unpack to rows"},
    {"limit", CONTENDER_LIMIT, NULL, round_copy, wrong_copy, "each rank copies its share, memcpy"},
    {"limit", CONTENDER_LIMIT, NULL, round_plan, wrong_copy,
     "each rank copies its share, past the caches"},
    {"alone", CONTENDER_ALONE, NULL, round_alone, NULL, "one rank, memcpy"},
    {"alone", CONTENDER_ALONE, NULL, plan_alone, NULL, "one rank, past the caches"},
};

static int take_memory(turn_job *job)
{
    void *source = NULL, *target = NULL;
    ferry_status st = ferry_memory_alloc(job->w->ctx, job->source_bytes, &source);

    if (st == FERRY_OK)
        st = ferry_memory_alloc(job->w->ctx, job->target_bytes, &target);
    int failed = world_ferry(job->w, st, "ferry_memory_alloc");
    job->source = source;
    job->target = target;
    if (!failed)
        failed = !(job->send = world_alloc(job->w, job->source_bytes));
    if (!failed)
        failed = !(job->recv = world_alloc(job->w, job->target_bytes));
    return failed;
}

static int create(turn_job *job)
{
    ferry_transpose_spec spec = FERRY_TRANSPOSE_SPEC_INIT;

    spec.rows = job->rows;
    spec.columns = job->columns;
    spec.element_bytes = (int64_t)job->element;
    const ferry_status st = ferry_transpose_create(job->w->ctx, &spec, &job->ferry);
    return world_ferry(job->w, st, "ferry_transpose_create");
}

/* The best copy of the share there is: a block of the rank to itself. Not every choice of routes
 * can carry it: then there is none. */
static void compile_copy(turn_job *job)
{
    const int me = job->w->rank;
    ferry_layout *share = NULL;
    ferry_edge edge = FERRY_EDGE_INIT;
    ferry_status st = ferry_layout_dense((int64_t)share_bytes(job), 1, 0, &share);

    edge.from = edge.to = me;
    edge.source = edge.target = share;
    st = ferry_context_agree(job->w->ctx, st);
    if (st == FERRY_OK)
        ferry_plan_compile(job->w->ctx, &edge, 1, &job->copy);
    ferry_layout_free(share);
}

static void share_out(turn_job *job, const bench_case *c)
{
    job->rows = c->values[SIZE][0];
    job->columns = c->values[SIZE][1];
    job->element = (size_t)c->values[ELEMENT][0];
    job->unit = pattern_unit(job->element);
    ferry_block_share(job->rows, job->w->size, job->w->rank, &job->first_row, &job->row_count);
    ferry_block_share(job->columns, job->w->size, job->w->rank, &job->first_column,
                      &job->column_count);
    job->source_bytes = (size_t)(job->row_count * job->columns) * job->element;
    job->target_bytes = (size_t)(job->column_count * job->rows) * job->element;
}

static void add_contenders(turn_job *job, measurement *m)
{
    for (size_t k = 0; k < sizeof entries / sizeof *entries; ++k) {
        const struct entry *const e = &entries[k];
        if (!job->copy && (e->round == round_plan || e->round == plan_alone))
            continue;
        contender *const c = measurement_add(m, e->name, e->kind, job);
        c->rewrite = rewrite;
        c->before = e->before;
        c->round = e->round;
        c->wrong = e->wrong;
        strncpy(c->note, e->note, sizeof c->note - 1);
    }
}

static void close_transpose(void *data)
{
    turn_job *const job = data;

    if (!job)
        return;
    turn_drop(job->rival);
    ferry_transpose_free(job->ferry);
    ferry_plan_free(job->copy);
    ferry_memory_free(job->w->ctx, job->source);
    ferry_memory_free(job->w->ctx, job->target);
    free(job->send);
    free(job->recv);
    free(job);
}

static int open_transpose(world *w, const bench_case *c, measurement *m, void **job_out)
{
    turn_job *const job = calloc(1, sizeof *job);

    if (!job)
        world_fail(w, "rank %d: no memory for the case", w->rank);
    if (world_agree(w, !job))
        return free(job), 1;
    *job_out = job;
    job->w = w;
    share_out(job, c);
    if (world_agree(w, create(job)) || world_agree(w, take_memory(job)) ||
        turn_make(w, job->rows, job->columns, job->element, &job->rival))
        return 1;
    compile_copy(job);
    const box all = box_dense(0, job->source_bytes);
    pattern_fill(job->source, &all, job->unit, 0,
                 (uint64_t)(job->first_row * job->columns) * (job->element / job->unit), 0);
    m->bytes = (double)job->rows * (double)job->columns * (double)job->element;
    m->alone_bytes = (double)share_bytes(job);
    MPI_Bcast(&m->alone_bytes, 1, MPI_DOUBLE, 0, w->comm);
    add_contenders(job, m);
    ferry_transpose_explain(job->ferry, m->explain, sizeof m->explain);
    return 0;
}

const case_kind case_transpose = {
    .word = "transpose",
    .help = "a matrix in block rows becomes its transpose in block rows",
    .key_count = KEYS,
    .least_np = 1,
    .keys = keys,
    .rivals = {"blocked-alltoall", NULL},
    .check = check,
    .need = need,
    .open = open_transpose,
    .close = close_transpose,
};
