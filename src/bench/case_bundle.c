/* Case bundle: matrices of doubles, or many small entries, in a nested container go from rank 0 to
 * all others, or to rank 1. The rivals move the same payload as one contiguous message, as XML, or
 * in Boost's maps (bundle_boost.c); those that need a job of their own are in own.c. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench/bundle_job.h"
#include "bench/case_bundle.h"
#include "bench/cases.h"
#include "bench/tree.h"
#include "bench/xml.h"
#include "ferry/bundle.h"
#include "ferry/bundle_move.h"
#include "ferry/memory.h"

enum { MATRICES, SMALL, MATRIX, OPERATION, KEYS };
enum { FOUR = 4 };
static const size_t piece = (size_t)1 << 30; /* bytes of one message: MPI counts with int */

static const case_key keys[KEYS] = {
    [MATRICES] =
        {"matrices", "20x1000x100", "matrices x rows x columns, doubles", 3, 1, INT32_MAX, {NULL}},
    [SMALL] = {"small",
               NULL,
               "instead: so many small entries, three levels deep",
               1,
               FOUR,
               1 << 28,
               {NULL}},
    [MATRIX] = {"matrix",
                NULL,
                "instead: one matrix of so many bytes",
                1,
                sizeof(double),
                INT64_C(1) << 40,
                {NULL}},
    [OPERATION] = {"op",
                   "bcast",
                   "bcast: rank 0 to all; sendrecv: rank 0 to rank 1",
                   0,
                   0,
                   0,
                   {"bcast", "sendrecv", NULL}},
};

/* --- the case --------------------------------------------------------------------------------- */

static int64_t number(const bench_case *c, int key)
{
    return c->values[key][0];
}

static bool given(const bench_case *c, int key)
{
    return c->given >> key & 1;
}

static int refuse(char *error, size_t bytes, const char *key, int64_t found, const char *expected)
{
    snprintf(error, bytes, "bundle: %s=%lld; expected %s", key, (long long)found, expected);
    return 1;
}

static int check(const bench_case *c, char *error, size_t bytes)
{
    if (given(c, MATRICES) + given(c, SMALL) + given(c, MATRIX) > 1) {
        snprintf(error, bytes, "bundle: expected one of matrices, small and matrix");
        return 1;
    }
    if (number(c, SMALL) % FOUR != 0)
        return refuse(error, bytes, "small", number(c, SMALL), "a multiple of 4");
    if (number(c, MATRIX) % (int64_t)sizeof(double) != 0)
        return refuse(error, bytes, "matrix", number(c, MATRIX),
                      "a multiple of 8, the bytes of a double");
    return 0;
}

static bool shows(const bench_case *c, int key)
{
    if (key == MATRICES)
        return !given(c, SMALL) && !given(c, MATRIX);
    return key == OPERATION || given(c, key);
}

static uint64_t payload(const bench_case *c)
{
    const int64_t *const n = c->values[MATRICES];
    const content small = {.small = (size_t)number(c, SMALL)};

    if (given(c, SMALL))
        return content_bytes(&small);
    if (given(c, MATRIX))
        return (uint64_t)number(c, MATRIX);
    return bytes_times(bytes_times(bytes_times((uint64_t)n[0], (uint64_t)n[1]), (uint64_t)n[2]),
                       sizeof(double));
}

/* As square as powers of two allow. */
static content one_matrix(size_t elements)
{
    size_t columns = 1;

    while (elements % (2 * columns) == 0 && 4 * columns * columns <= elements)
        columns *= 2;
    return (content){.count = 1, .rows = elements / columns, .columns = columns};
}

content case_bundle_content(const bench_case *c)
{
    const int64_t *const n = c->values[MATRICES];

    if (given(c, SMALL))
        return (content){.small = (size_t)number(c, SMALL)};
    if (given(c, MATRIX))
        return one_matrix((size_t)number(c, MATRIX) / sizeof(double));
    return (content){.count = (size_t)n[0], .rows = (size_t)n[1], .columns = (size_t)n[2]};
}

bool case_bundle_is_bcast(const bench_case *c)
{
    return number(c, OPERATION) == 0;
}

static bool xml_fits(uint64_t bytes)
{
    return bytes / sizeof(double) <= INT_MAX / XML_NUMBER_BYTES;
}

bool case_bundle_xml_fits(const content *shape)
{
    return xml_fits(content_bytes(shape));
}

static bool boost_fits(uint64_t bytes)
{
    return bytes < INT_MAX; /* the archive is one message */
}

/* A receiver has a source, used and fresh memory and what ferry keeps. XML needs the text and the
 * parsed tree; Boost two maps and an archive that doubles while it grows. */
static uint64_t need(const bench_case *c, const char *rivals)
{
    const uint64_t bytes = payload(c);
    uint64_t copies = 4;

    if (case_wants(rivals, "xml") && !given(c, SMALL) && xml_fits(bytes))
        copies += 8;
    if ((case_wants(rivals, "boost") || case_wants(rivals, "boost-content")) && boost_fits(bytes))
        copies += 4;
    return bytes_times((uint64_t)c->np, bytes_times(copies, bytes));
}

/* --- contents --------------------------------------------------------------------------------- */

static void fill(const bundle_job *job)
{
    content_fill(&job->shape, job->source, (uint64_t)job->w->rank, job->round);
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

/* The scalars of the sender's bundle follow its payload. */
static int update_sent(contender *c)
{
    const bundle_job *const job = c->job;

    if (!job->sender || !job->shape.small)
        return 0;
    return world_ferry(job->w, tree_update(&job->shape, job->source, job->sent), "tree_update");
}

static int round_ferry(contender *c)
{
    bundle_job *const job = c->job;
    ferry_context *const ctx = job->w->ctx;

    if (job->bcast)
        return world_ferry(job->w, ferry_bundle_bcast(ctx, job->sender ? &job->sent : &job->got, 0),
                           "ferry_bundle_bcast");
    if (job->sender)
        return world_ferry(job->w, ferry_bundle_send(ctx, job->sent, 1, BUNDLE_TAG),
                           "ferry_bundle_send");
    if (job->receiver)
        return world_ferry(job->w, ferry_bundle_recv(ctx, 0, BUNDLE_TAG, &job->got, NULL),
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
    ferry_memory_trim(0);
    return update_sent(c);
}

/* The image in shared memory is made before the clock starts. */
static int seal_sent(contender *c)
{
    bundle_job *const job = c->job;
    const int failed = update_sent(c);

    if (failed || !job->sender)
        return failed;
    return world_ferry(job->w, ferry_bundle_seal(job->sent, &job->sealed), "ferry_bundle_seal");
}

static int round_sealed(contender *c)
{
    bundle_job *const job = c->job;

    return world_ferry(
        job->w, ferry_bundle_bcast_sealed(job->w->ctx, job->sender ? &job->sealed : &job->got, 0),
        "ferry_bundle_bcast_sealed");
}

static int drop_sealed(contender *c)
{
    bundle_job *const job = c->job;

    ferry_bundle_free(job->sealed);
    job->sealed = NULL;
    return drop_bundle(c);
}

static size_t wrong_bundle(contender *c)
{
    const bundle_job *const job = c->job;

    return job->receiver ? tree_wrong(&job->shape, job->got, 0, job->round) : 0;
}

/* --- rivals ----------------------------------------------------------------------------------- */

/* `bytes` bytes from rank 0 to the receivers, in as few messages as MPI's counts allow. */
static void move_bytes(const bundle_job *job, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += piece) {
        const int count = (int)(bytes - at < piece ? bytes - at : piece);
        if (job->bcast)
            MPI_Bcast((char *)data + at, count, MPI_BYTE, 0, job->w->rivals);
        else if (job->sender)
            MPI_Send((char *)data + at, count, MPI_BYTE, 1, BUNDLE_TAG, job->w->rivals);
        else if (job->receiver)
            MPI_Recv((char *)data + at, count, MPI_BYTE, 0, BUNDLE_TAG, job->w->rivals,
                     MPI_STATUS_IGNORE);
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
    const xml_shape shape = {job->shape.count, job->shape.rows, job->shape.columns};
    int failed = 0;

    if (job->sender && xml_write(job->source, &shape, &text, &bytes))
        failed = world_fail(job->w, "rank %d: libxml2 could not write the matrices", job->w->rank);
    move_bytes(job, &bytes, sizeof bytes);
    if (job->receiver && bytes > 0 && !(text = malloc(bytes)))
        world_give_up(job->w, "XML", bytes);
    move_bytes(job, text, bytes);
    if (job->receiver && !failed && xml_read(text, bytes, &shape, &job->parsed))
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

/* What a receiver of fresh memory cannot avoid: the system clears its pages, then they are written.
 */
static int round_copy_fresh(contender *c)
{
    bundle_job *const job = c->job;
    const ferry_status st = job->receiver ? ferry_memory_take(job->bytes, &job->taken) : FERRY_OK;

    if (st == FERRY_OK && job->receiver)
        memcpy(job->taken, job->source, job->bytes);
    return world_ferry(job->w, st, "ferry_memory_take");
}

static int give_taken(contender *c)
{
    bundle_job *const job = c->job;

    ferry_memory_give(job->taken);
    job->taken = NULL;
    return 0;
}

static int round_alone(contender *c)
{
    return ((const bundle_job *)c->job)->w->rank == 1 ? round_copy(c) : 0;
}

size_t bundle_wrong_in(const bundle_job *job, const void *data)
{
    if (!job->receiver)
        return 0;
    return data ? content_wrong(&job->shape, data, 0, job->round) : content_values(&job->shape);
}

static size_t wrong_used(contender *c)
{
    return bundle_wrong_in(c->job, ((const bundle_job *)c->job)->used);
}

static size_t wrong_fresh(contender *c)
{
    return bundle_wrong_in(c->job, ((const bundle_job *)c->job)->fresh);
}

static size_t wrong_parsed(contender *c)
{
    return bundle_wrong_in(c->job, ((const bundle_job *)c->job)->parsed);
}

static size_t wrong_copy(contender *c)
{
    const bundle_job *const job = c->job;

    return job->receiver ? content_wrong(&job->shape, job->used, (uint64_t)job->w->rank, job->round)
                         : 0;
}

static size_t wrong_taken(contender *c)
{
    const bundle_job *const job = c->job;

    return job->receiver
               ? content_wrong(&job->shape, job->taken, (uint64_t)job->w->rank, job->round)
               : 0;
}

static const char *sealed_missing(const bundle_job *job)
{
    return job->bcast ? NULL : "sealed bundles are broadcast";
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Why a rival cannot run; NULL when it can. */
typedef const char *entry_missing(const bundle_job *job);

static const char *xml_missing(const bundle_job *job)
{
    if (job->shape.small)
        return "this rival writes matrices only";
    return xml_fits(job->bytes) ? NULL : "the text would pass 2 GiB, which libxml2 cannot read";
}

static const char *boost_missing(const bundle_job *job)
{
    const char *missing = NULL;

    if (!boost_open(&missing))
        return missing;
    return boost_fits(job->bytes) ? NULL : "the archive would pass 2 GiB, one message of MPI";
}

static const char *content_missing(const bundle_job *job)
{
    return job->shape.small ? "this rival has types for matrices only" : boost_missing(job);
}

static const struct entry {
    const char *name;
    contender_kind kind;
    contender_step *rewrite, *before, *round, *after;
    contender_check *wrong;
    entry_missing *missing;
    const char *note;
    bool mapped; /* as in a contender */
} entries[] = {
    {"ferry", CONTENDER_FERRY, rewrite_sender, update_sent, round_ferry, drop_bundle, wrong_bundle,
     NULL, "receivers reuse memory", false},
    {"ferry-fresh", CONTENDER_FERRY, rewrite_sender, forget_pool, round_ferry, drop_bundle,
     wrong_bundle, NULL, "receivers take fresh memory", false},
    {"ferry-readonly", CONTENDER_FERRY, rewrite_sender, seal_sent, round_sealed, drop_sealed,
     wrong_bundle, sealed_missing, "receivers map an image made before in shared memory", true},
    {"raw-warm", CONTENDER_RIVAL, rewrite_sender, NULL, round_warm, NULL, wrong_used, NULL,
     "one message into used memory", false},
    {"raw-fresh", CONTENDER_RIVAL, rewrite_sender, NULL, round_fresh, unmap_fresh, wrong_fresh,
     NULL, "one message into fresh memory, 4 KiB pages", false},
    {"raw-nocma", CONTENDER_RIVAL, rewrite_sender, NULL, round_warm, NULL, wrong_used, NULL,
     "one message into used memory", false}, /* in a job of its own, see own.c */
    {"xml", CONTENDER_RIVAL, rewrite_sender, NULL, round_xml, drop_parsed, wrong_parsed,
     xml_missing, "as text through libxml2", false},
    {"boost", CONTENDER_RIVAL, rewrite_sender, bundle_boost_load_map, bundle_boost_round,
     bundle_boost_clear, bundle_boost_wrong_map, boost_missing,
     "Boost.MPI, maps, new at the receivers", false},
    {"boost-content", CONTENDER_RIVAL, rewrite_sender, bundle_boost_load_typed,
     bundle_boost_round_contents, NULL, bundle_boost_wrong_typed, content_missing,
     "Boost.MPI, contents of maps of known shape", false},
    {"copy-fresh", CONTENDER_RIVAL, rewrite_receivers, forget_pool, round_copy_fresh, give_taken,
     wrong_taken, NULL, "every receiver copies the payload once, fresh memory, huge pages", false},
    {"limit", CONTENDER_LIMIT, rewrite_receivers, NULL, round_copy, NULL, wrong_copy, NULL,
     "every receiver copies the payload once, used memory", false},
    {"alone", CONTENDER_ALONE, rewrite_receivers, NULL, round_alone, NULL, NULL, NULL,
     "one receiver copies", false},
};

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
    if (!job->sender)
        return 0;
    return world_ferry(job->w, tree_build(&job->shape, job->source, &job->sent), "tree_build");
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
        c->mapped = e->mapped;
        c->missing = e->missing ? e->missing(job) : NULL;
        strncpy(c->note, e->note, sizeof c->note - 1);
    }
}

static void close_bundle(void *data)
{
    bundle_job *const job = data;

    if (!job)
        return;
    if (job->boost) {
        job->boost->close(job->map);
        job->boost->close(job->typed);
    }
    ferry_bundle_free(job->got);
    ferry_bundle_free(job->sent);
    free(job->source);
    free(job->used);
    free(job->parsed);
    free(job);
}

static bundle_job *make_job(world *w, const bench_case *c)
{
    bundle_job *const job = calloc(1, sizeof *job);
    const char *missing = NULL;

    if (!job)
        return NULL;
    *job = (bundle_job){.w = w, .shape = case_bundle_content(c), .bcast = case_bundle_is_bcast(c)};
    job->sender = w->rank == 0;
    job->receiver = job->bcast ? w->rank != 0 : w->rank == 1;
    job->bytes = content_bytes(&job->shape);
    job->boost = boost_open(&missing);
    return job;
}

static int open_bundle(world *w, const bench_case *c, measurement *m, void **job_out)
{
    bundle_job *const job = make_job(w, c);

    if (!job)
        world_fail(w, "rank %d: no memory for the case", w->rank);
    if (world_agree(w, !job))
        return free(job), 1;
    *job_out = job;
    if (world_agree(w, take_memory(job)))
        return 1;
    m->alone_bytes = (double)job->bytes;
    m->bytes = world_sum(w, job->receiver ? (double)job->bytes : 0);
    add_contenders(job, m);
    return 0;
}

static const case_ratio ratios[] = {
    {"raw-warm", "ferry"},       {"raw-fresh", "ferry-fresh"},
    {"ferry", "limit"},          {"ferry-fresh", "copy-fresh"},
    {"ferry", "ferry-readonly"}, {"boost", "ferry"},
    {"boost-content", "ferry"},  {"raw-nocma", "ferry"},
    {"pickle", "ferry"},         {"pickle5", "ferry"},
    {"gretl", "ferry-fresh"},    {"gretl", "ferry"},
    {"gretl-tuned", "ferry"},    {NULL, NULL},
};

const case_kind case_bundle = {
    .word = "bundle",
    .help = "a bundle of matrices of doubles from rank 0 to all, or to rank 1",
    .key_count = KEYS,
    .least_np = 2,
    .keys = keys,
    .rivals = {"raw-warm", "raw-fresh", "raw-nocma", "copy-fresh", "xml", "boost", "boost-content",
               "pickle", "pickle5", "gretl", "gretl-tuned", NULL},
    .ratios = ratios,
    .check = check,
    .shows = shows,
    .need = need,
    .open = open_bundle,
    .close = close_bundle,
};
