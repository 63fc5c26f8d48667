/* Case bundle: matrices of doubles in a nested container go from rank 0 to all others, or to
 * rank 1. The rivals move the same payload as one contiguous message, or as XML. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/cases.h"
#include "bench/pattern.h"
#include "bench/xml.h"
#include "ferry/bundle_move.h"
#include "ferry/memory.h"

enum { MATRICES, OPERATION, KEYS };
enum { BCAST, SENDRECV };
enum { TAG = 7, KEY_BYTES = 32 };
static const size_t piece = (size_t)1 << 30; /* bytes of one message: MPI counts with int */

static const case_key keys[KEYS] = {
    [MATRICES] =
        {"matrices", "20x1000x100", "matrices x rows x columns, doubles", 3, 1, INT32_MAX, {NULL}},
    [OPERATION] = {"op",
                   "bcast",
                   "bcast: rank 0 to all; sendrecv: rank 0 to rank 1",
                   0,
                   0,
                   0,
                   {"bcast", "sendrecv", NULL}},
};

typedef struct bundle_job {
    world *w;
    xml_shape shape;
    int64_t operation;
    bool sender, receiver;
    size_t elements, bytes; /* of the payload */
    double *source;         /* the sender's payload; the receivers' for the limit */
    uint64_t round;         /* of the source's content */
    double *used;           /* receivers: memory that was touched before */
    double *fresh;          /* receivers, within a round: memory that was not */
    ferry_bundle *sent;     /* the sender's bundle, which borrows the source */
    ferry_bundle *got;      /* what a receiver got in this round */
    double *parsed;         /* likewise, out of XML */
} bundle_job;

static int check(const bench_case *c, char *error, size_t bytes)
{
    (void)c, (void)error, (void)bytes;
    return 0;
}

static uint64_t payload(const bench_case *c)
{
    const int64_t *const n = c->values[MATRICES];

    return bytes_times(bytes_times(bytes_times((uint64_t)n[0], (uint64_t)n[1]), (uint64_t)n[2]),
                       sizeof(double));
}

static bool xml_fits(uint64_t bytes)
{
    return bytes / sizeof(double) <= INT_MAX / XML_NUMBER_BYTES;
}

/* A receiver has a source, used and fresh memory and what ferry keeps; XML needs the text and the
 * parsed tree. */
static uint64_t need(const bench_case *c, const char *rivals)
{
    const uint64_t bytes = payload(c);
    const uint64_t copies = case_wants(rivals, "xml") && xml_fits(bytes) ? 4 + 8 : 4;

    return bytes_times((uint64_t)c->np, bytes_times(copies, bytes));
}

/* --- contents --------------------------------------------------------------------------------- */

/* A number with a full mantissa. */
static double value_at(uint64_t rank, uint64_t index, uint64_t round)
{
    return (double)(pattern_word(rank, index) >> 11) * 0x1p-53 + (double)round;
}

static void fill(const bundle_job *job)
{
    for (size_t k = 0; k < job->elements; ++k)
        job->source[k] = value_at((uint64_t)job->w->rank, k, job->round);
}

static size_t count_wrong(const bundle_job *job, const double *data, uint64_t rank, size_t first,
                          size_t count)
{
    size_t wrong = 0;

    for (size_t k = 0; k < count; ++k)
        wrong += data[k] != value_at(rank, first + k, job->round);
    return wrong;
}

static int rewrite_sender(contender *c)
{
    bundle_job *const job = c->job;

    ++job->round;
    if (job->sender)
        fill(job);
    return 0;
}

/* The limit copies each receiver's own payload. */
static int rewrite_receivers(contender *c)
{
    bundle_job *const job = c->job;

    ++job->round;
    if (job->receiver)
        fill(job);
    return 0;
}

/* --- ferry ------------------------------------------------------------------------------------ */

static void key_of(size_t index, char text[KEY_BYTES])
{
    snprintf(text, KEY_BYTES, "m%zu", index);
}

static int round_ferry(contender *c)
{
    bundle_job *const job = c->job;
    ferry_context *const ctx = job->w->ctx;

    if (job->operation == BCAST)
        return world_ferry(job->w, ferry_bundle_bcast(ctx, job->sender ? &job->sent : &job->got, 0),
                           "ferry_bundle_bcast");
    if (job->sender)
        return world_ferry(job->w, ferry_bundle_send(ctx, job->sent, 1, TAG), "ferry_bundle_send");
    if (job->receiver)
        return world_ferry(job->w, ferry_bundle_recv(ctx, 0, TAG, &job->got, NULL),
                           "ferry_bundle_recv");
    return 0;
}

static int drop_bundle(contender *c)
{
    bundle_job *const job = c->job;

    ferry_bundle_free(job->got);
    job->got = NULL;
    return 0;
}

/* Memory that received bundles left behind goes back to the system, so that the next one comes into
 * fresh memory. */
static int forget_pool(contender *c)
{
    (void)c;
    ferry_memory_trim(0);
    return 0;
}

static size_t wrong_bundle(contender *c)
{
    const bundle_job *const job = c->job;
    const size_t elements = job->shape.rows * job->shape.columns;
    size_t wrong = 0;

    if (!job->receiver)
        return 0;
    if (!job->got || ferry_bundle_count(job->got) != job->shape.count)
        return job->elements;
    for (size_t k = 0; k < job->shape.count; ++k) {
        ferry_array array;
        char key[KEY_BYTES];
        key_of(k, key);
        if (ferry_bundle_get_array(job->got, key, FERRY_TYPE_FLOAT64, &array) != FERRY_OK ||
            array.dims != 2 || array.shape[0] != (int64_t)job->shape.rows ||
            array.shape[1] != (int64_t)job->shape.columns)
            wrong += elements;
        else
            wrong += count_wrong(job, array.data, 0, k * elements, elements);
    }
    return wrong;
}

/* --- rivals ----------------------------------------------------------------------------------- */

/* `bytes` bytes from rank 0 to the receivers, in as few messages as MPI's counts allow. */
static void move_bytes(const bundle_job *job, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += piece) {
        const int count = (int)(bytes - at < piece ? bytes - at : piece);
        if (job->operation == BCAST)
            MPI_Bcast((char *)data + at, count, MPI_BYTE, 0, job->w->rivals);
        else if (job->sender)
            MPI_Send((char *)data + at, count, MPI_BYTE, 1, TAG, job->w->rivals);
        else if (job->receiver)
            MPI_Recv((char *)data + at, count, MPI_BYTE, 0, TAG, job->w->rivals, MPI_STATUS_IGNORE);
    }
}

static int round_warm(contender *c)
{
    const bundle_job *const job = c->job;

    move_bytes(job, job->sender ? job->source : job->used, job->bytes);
    return 0;
}

/* As malloc gives it for a message of this size: mapped anew, not yet present. */
static int round_fresh(contender *c)
{
    bundle_job *const job = c->job;

    if (job->receiver) {
        void *const memory =
            mmap(NULL, job->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
            world_give_up(job->w, "fresh memory", job->bytes);
        job->fresh = memory;
    }
    move_bytes(job, job->sender ? job->source : job->fresh, job->bytes);
    return 0;
}

static int unmap_fresh(contender *c)
{
    bundle_job *const job = c->job;

    if (job->fresh)
        munmap(job->fresh, job->bytes);
    job->fresh = NULL;
    return 0;
}

/* The text's length goes ahead of it; 0 says that the sender could not write it. */
static int round_xml(contender *c)
{
    bundle_job *const job = c->job;
    char *text = NULL;
    size_t bytes = 0;
    int failed = 0;

    if (job->sender && xml_write(job->source, &job->shape, &text, &bytes))
        failed = world_fail(job->w, "rank %d: libxml2 could not write the matrices", job->w->rank);
    move_bytes(job, &bytes, sizeof bytes);
    if (job->receiver && bytes > 0 && !(text = malloc(bytes)))
        world_give_up(job->w, "XML", bytes);
    move_bytes(job, text, bytes);
    if (job->receiver && !failed && xml_read(text, bytes, &job->shape, &job->parsed))
        failed =
            world_fail(job->w, "rank %d: libxml2 could not read %zu bytes", job->w->rank, bytes);
    free(text);
    return failed;
}

static int drop_parsed(contender *c)
{
    bundle_job *const job = c->job;

    free(job->parsed);
    job->parsed = NULL;
    return 0;
}

static int round_copy(contender *c)
{
    const bundle_job *const job = c->job;

    if (job->receiver)
        memcpy(job->used, job->source, job->bytes);
    return 0;
}

static int round_alone(contender *c)
{
    return ((const bundle_job *)c->job)->w->rank == 1 ? round_copy(c) : 0;
}

static size_t wrong_in(const bundle_job *job, const double *data)
{
    if (!job->receiver)
        return 0;
    return data ? count_wrong(job, data, 0, 0, job->elements) : job->elements;
}

static size_t wrong_used(contender *c)
{
    return wrong_in(c->job, ((const bundle_job *)c->job)->used);
}

static size_t wrong_fresh(contender *c)
{
    return wrong_in(c->job, ((const bundle_job *)c->job)->fresh);
}

static size_t wrong_parsed(contender *c)
{
    return wrong_in(c->job, ((const bundle_job *)c->job)->parsed);
}

static size_t wrong_copy(contender *c)
{
    const bundle_job *const job = c->job;

    return job->receiver ? count_wrong(job, job->used, (uint64_t)job->w->rank, 0, job->elements)
                         : 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

static const struct entry {
    const char *name;
    contender_kind kind;
    contender_step *rewrite, *before, *round, *after;
    contender_check *wrong;
    const char *note;
} entries[] = {
    {"ferry", CONTENDER_FERRY, rewrite_sender, NULL, round_ferry, drop_bundle, wrong_bundle,
     "receivers reuse memory"},
    {"ferry-fresh", CONTENDER_FERRY, rewrite_sender, forget_pool, round_ferry, drop_bundle,
     wrong_bundle, "receivers take fresh memory"},
    {"raw-warm", CONTENDER_RIVAL, rewrite_sender, NULL, round_warm, NULL, wrong_used,
     "one message into used memory"},
    {"raw-fresh", CONTENDER_RIVAL, rewrite_sender, NULL, round_fresh, unmap_fresh, wrong_fresh,
     "one message into fresh memory, 4 KiB pages"},
    {"xml", CONTENDER_RIVAL, rewrite_sender, NULL, round_xml, drop_parsed, wrong_parsed,
     "as text through libxml2"},
    {"limit", CONTENDER_LIMIT, rewrite_receivers, NULL, round_copy, NULL, wrong_copy,
     "every receiver copies the payload once, used memory"},
    {"alone", CONTENDER_ALONE, rewrite_receivers, NULL, round_alone, NULL, NULL,
     "one receiver copies"},
};

static int build(bundle_job *job)
{
    const int64_t shape[] = {(int64_t)job->shape.rows, (int64_t)job->shape.columns};
    ferry_status st = ferry_bundle_new(&job->sent);

    for (size_t k = 0; k < job->shape.count && st == FERRY_OK; ++k) {
        char key[KEY_BYTES];
        key_of(k, key);
        st = ferry_bundle_borrow_array(job->sent, key, FERRY_TYPE_FLOAT64, 2, shape, NULL,
                                       job->source + k * job->shape.rows * job->shape.columns);
    }
    return world_ferry(job->w, st, "ferry_bundle_borrow_array");
}

static int take_memory(bundle_job *job)
{
    if (job->sender || job->receiver) {
        job->source = world_alloc(job->w, job->bytes);
        if (!job->source)
            return 1;
        fill(job);
    }
    if (job->receiver && !(job->used = world_alloc(job->w, job->bytes)))
        return 1;
    return job->sender ? build(job) : 0;
}

static void add_contenders(bundle_job *job, measurement *m)
{
    for (size_t k = 0; k < sizeof entries / sizeof *entries; ++k) {
        const struct entry *const e = &entries[k];
        contender *const c = measurement_add(m, e->name, e->kind, job);
        c->rewrite = e->rewrite;
        c->before = e->before;
        c->round = e->round;
        c->after = e->after;
        c->wrong = e->wrong;
        strncpy(c->note, e->note, sizeof c->note - 1);
        if (strcmp(e->name, "xml") == 0 && !xml_fits(job->bytes))
            c->missing = "the text would pass 2 GiB, which libxml2 cannot read";
    }
}

static void close_bundle(void *data)
{
    bundle_job *const job = data;

    if (!job)
        return;
    ferry_bundle_free(job->got);
    ferry_bundle_free(job->sent);
    free(job->source);
    free(job->used);
    free(job->parsed);
    free(job);
}

static int open_bundle(world *w, const bench_case *c, measurement *m, void **job_out)
{
    const int64_t *const n = c->values[MATRICES];
    bundle_job *const job = calloc(1, sizeof *job);

    if (!job)
        world_fail(w, "rank %d: no memory for the case", w->rank);
    if (world_agree(w, !job))
        return free(job), 1;
    *job_out = job;
    *job = (bundle_job){.w = w, .shape = {(size_t)n[0], (size_t)n[1], (size_t)n[2]}};
    job->operation = c->values[OPERATION][0];
    job->sender = w->rank == 0;
    job->receiver = job->operation == BCAST ? w->rank != 0 : w->rank == 1;
    job->elements = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    job->bytes = job->elements * sizeof(double);
    if (world_agree(w, take_memory(job)))
        return 1;
    m->alone_bytes = (double)job->bytes;
    m->bytes = world_sum(w, job->receiver ? (double)job->bytes : 0);
    add_contenders(job, m);
    return 0;
}

const case_kind case_bundle = {
    .word = "bundle",
    .help = "a bundle of matrices of doubles from rank 0 to all, or to rank 1",
    .key_count = KEYS,
    .least_np = 2,
    .keys = keys,
    .rivals = {"raw-warm", "raw-fresh", "xml", NULL},
    .check = check,
    .need = need,
    .open = open_bundle,
    .close = close_bundle,
};
