/* What `ferry tune` measures: first how long the ring's slots should be and when they are written
 * past the caches, then what rows cost with these. Trials are off meanwhile, each way is forced. */
#define _GNU_SOURCE
#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/tune.h"
#include "cli/tune_probe.h"
#include "ferry/context.h"
#include "ferry/experimental.h"

enum { RANKS_MOST = 1024 };

/* What the steps share. */
typedef struct bench {
    const rank *me;
    tune_result *result;
    ferry_context *ring, *direct, *wire; /* each allows one route */
    int partner;                         /* on the same node; -1: none */
    int far_partner; /* on another node; -1: none, or not this rank's business */
    bool has_far;    /* some rank has a partner on another node */
    probe *probes;
} bench;

void tune_read(const ferry_context *ctx, tune_result *result_out)
{
    ferry_tune_info info;

    for (result_out->count = 0; result_out->count < TUNE_VALUES_MAX &&
                                ferry_tune_value(ctx, result_out->count, &info) == FERRY_OK;
         result_out->count++)
        result_out->values[result_out->count] = (tune_value){.name = info.name,
                                                             .unit = info.unit,
                                                             .help = info.help,
                                                             .before = info.value,
                                                             .after = info.value};
}

tune_value *tune_find(tune_result *result, const char *name)
{
    for (int i = 0; i < result->count; i++)
        if (strcmp(result->values[i].name, name) == 0)
            return &result->values[i];
    abort(); /* a name of the record that this program was built with */
}

/* ---- Contexts and partners ---- */

/* Ranks of a node pair up in their order; the first ranks of the first two nodes do too. */
static int find_partners(bench *b)
{
    struct place {
        int node, node_rank;
    } mine, all[RANKS_MOST];
    ferry_context_info info;

    b->partner = b->far_partner = -1;
    if (b->me->size > RANKS_MOST)
        return complain(CLI_USAGE, "%d ranks, expected at most %d", b->me->size, RANKS_MOST);
    int status = rank_status(ferry_context_describe(b->me->ctx, &info), "describe the context");
    mine = (struct place){info.node, info.node_rank};
    if (status == CLI_OK)
        status = rank_status(ferry_context_gather(b->me->ctx, &mine, sizeof mine, all),
                             "tell where the ranks are");
    for (int r = 0; r < b->me->size && status == CLI_OK; r++) {
        if (all[r].node == mine.node && all[r].node_rank == (mine.node_rank ^ 1))
            b->partner = r;
        if (all[r].node_rank == 0 && mine.node_rank == 0 && all[r].node == (mine.node ^ 1) &&
            mine.node < 2)
            b->far_partner = r;
    }
    b->has_far = info.node_count > 1;
    return status;
}

static int open_context(const char *routes, ferry_context **ctx_out)
{
    ferry_context_options options = FERRY_CONTEXT_OPTIONS_INIT;

    options.routes = routes;
    return rank_status(ferry_context_create(MPI_COMM_WORLD, &options, ctx_out),
                       "make a context to measure");
}

static int open_contexts(bench *b)
{
    setenv("FERRY_TUNE", "off", 1); /* every way is forced, none is tried */
    int status = open_context("node_ring", &b->ring);
    if (status == CLI_OK)
        status = open_context("node_direct", &b->direct);
    if (status == CLI_OK && b->has_far)
        status = open_context("wire_pack", &b->wire);
    return status;
}

static int set(ferry_context *ctx, const char *name, double value)
{
    return rank_status(ferry_tune_set(ctx, name, value), "change the record");
}

/* ---- Probes of one step ---- */

/* Time `count` probes that are filled but for the plan. */
static int time_probes(bench *b, int count, double seconds)
{
    int status = CLI_OK;

    for (int i = 0; i < count && status == CLI_OK; i++)
        if (!b->probes[i].plan)
            status = probe_open(&b->probes[i], b->me);
    if (status == CLI_OK)
        status = probe_all(b->me, b->probes, count, seconds);
    for (int i = 0; i < count; i++)
        probe_close(&b->probes[i]);
    return status;
}

static void put(bench *b, int index, ferry_context *ctx, int partner, probe_shape shape)
{
    b->probes[index] = (probe){.ctx = ctx, .shape = shape, .partner = partner};
}

/* ---- Slots ---- */

typedef struct slots {
    double bytes, count;
} slots;

/* Compile the probes of one kind of slots; the record is read when a plan is compiled. */
static int open_slots(bench *b, const slots *s, const probe_shape *shapes, int count, int first)
{
    int status = set(b->ring, "slot_bytes", s->bytes);

    if (status == CLI_OK)
        status = set(b->ring, "slot_count", s->count);
    for (int i = 0; i < count && status == CLI_OK; i++) {
        put(b, first + i, b->ring, b->partner, shapes[i]);
        status = probe_open(&b->probes[first + i], b->me);
    }
    return status;
}

/* How much slower than `base` the probes from `first` on are, on the average of the shapes. */
static double log_ratio(const bench *b, int first, int base, int count)
{
    double sum = 0;

    for (int i = 0; i < count; i++)
        sum += log(b->probes[first + i].middle / b->probes[base + i].middle);
    return sum / count;
}

/* Less than this is noise: what is there stays. */
static const double worth = 0.05;

static int measure_slots(bench *b, double seconds)
{
    enum { SHAPES = 4, KINDS = 6 };
    static const probe_shape shapes[SHAPES] = {
        {128, 512, 1024}, {2048, 64, 512}, {16384, 8, 512}, {8192, 64, 256}};
    tune_value *const bytes = tune_find(b->result, "slot_bytes"), *const count = tune_find(
                                                                      b->result, "slot_count");
    const slots kinds[KINDS] = {{bytes->before, count->before},
                                {16384, 4},
                                {32768, 4},
                                {65536, 4},
                                {32768, 8},
                                {131072, 4}};
    double best = -worth;
    int status = CLI_OK;

    for (int k = 0; k < KINDS && status == CLI_OK; k++)
        status = open_slots(b, &kinds[k], shapes, SHAPES, k * SHAPES);
    if (status == CLI_OK)
        status = time_probes(b, KINDS * SHAPES, seconds);
    for (int k = 1; k < KINDS && status == CLI_OK; k++) {
        const double ratio = log_ratio(b, k * SHAPES, 0, SHAPES);
        if (ratio >= best)
            continue;
        best = ratio;
        bytes->after = kinds[k].bytes;
        count->after = kinds[k].count;
    }
    if (status == CLI_OK)
        status = set(b->ring, "slot_bytes", bytes->after);
    return status == CLI_OK ? set(b->ring, "slot_count", count->after) : status;
}

/* ---- Past the caches ---- */

enum { SIZES = 4 };

static const size_t slot_sizes[SIZES] = {3 << 10, 6 << 10, 12 << 10, 24 << 10};

/* How long the sizes take, in logarithms, when slots above `limit` are written past the caches.
 * Probes 0.. are through them, SIZES.. past them. */
static double total_of(const bench *b, double limit)
{
    double sum = 0;

    for (int i = 0; i < SIZES; i++)
        sum += log(b->probes[(double)slot_sizes[i] > limit ? SIZES + i : i].middle);
    return sum / SIZES;
}

static int measure_past(bench *b, double seconds)
{
    static const double limits[] = {2048, 4096, 8192, 16384, 1048576};
    tune_value *const past = tune_find(b->result, "past_bytes");
    int status = CLI_OK;

    for (int way = 0; way < 2 && status == CLI_OK; way++) {
        status = set(b->ring, "past_bytes", way ? limits[0] : limits[4]);
        for (int i = 0; i < SIZES && status == CLI_OK; i++) {
            put(b, way * SIZES + i, b->ring, b->partner,
                (probe_shape){slot_sizes[i] / 64, 64, 512});
            status = probe_open(&b->probes[way * SIZES + i], b->me);
        }
    }
    if (status == CLI_OK)
        status = time_probes(b, 2 * SIZES, seconds);
    double best = status == CLI_OK ? total_of(b, past->before) - worth : 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits && status == CLI_OK; i++) {
        const double total = total_of(b, limits[i]);
        if (total >= best)
            continue;
        best = total;
        past->after = limits[i];
    }
    return status == CLI_OK ? set(b->ring, "past_bytes", past->after) : status;
}

/* ---- Rows ---- */

/* The shapes whose costs the record has, after the one that is over at once. A record's names are
 * the route's, and these. */
static const struct {
    const char *name;
    probe_shape shape;
} rows[] = {
    {"start", {1, 64, 512}},
    {"narrow_near", {1024, 8, 512}},
    {"narrow_far", {16384, 8, 512}},
    {"narrow_memory", {131072, 8, 256}},
    {"wide_near", {1024, 64, 512}},
    {"wide_far", {16384, 64, 512}},
    {"wide_memory", {131072, 64, 256}},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* What a row costs, by what a round took beyond the start; never nothing. */
static double cost_of(double ns, double start, size_t count)
{
    const double least = 0.05;
    const double cost = (ns - start) / (double)count;

    return cost > least ? cost : least;
}

static void keep_rows(bench *b, const char *route, int first)
{
    const double start = b->probes[first].middle;

    for (int i = 0; i < ROWS; i++) {
        const probe *const p = &b->probes[first + i];
        const double base = i ? start : 0;
        const size_t count = rows[i].shape.rows;
        char name[48];
        snprintf(name, sizeof name, "%s_%s_ns", route, rows[i].name);
        tune_value *const value = tune_find(b->result, name);
        value->after = cost_of(p->middle, base, count);
        value->low = cost_of(p->low, base, count);
        value->high = cost_of(p->high, base, count);
    }
}

/* The ring does not care where the cores lie: what makes its short rounds differ is other work. */
static int check_quiet(const bench *b)
{
    const double bound = 4;
    const probe *const p = &b->probes[1];

    if (p->high <= bound * p->low)
        return CLI_OK;
    return complain(CLI_FAILURE,
                    "the same exchange took %.3g to %.3g us from one time to the next: something "
                    "else is running; nothing was written",
                    p->low / 1e3, p->high / 1e3);
}

static int measure_rows(bench *b, double seconds)
{
    for (int i = 0; i < ROWS; i++) {
        put(b, i, b->ring, b->partner, rows[i].shape);
        put(b, ROWS + i, b->direct, b->partner, rows[i].shape);
    }
    int status = time_probes(b, 2 * ROWS, seconds);
    if (status == CLI_OK)
        status = check_quiet(b);
    if (status != CLI_OK)
        return status;
    keep_rows(b, "ring", 0);
    keep_rows(b, "direct", ROWS);
    return CLI_OK;
}

/* ---- The wire ---- */

static int measure_wire(bench *b, double seconds)
{
    static const probe_shape shapes[2] = {{1, 64, 512}, {1, 256 << 10, 512 << 10}};

    for (int i = 0; i < 2; i++)
        put(b, i, b->wire, b->far_partner, shapes[i]);
    const int status = time_probes(b, 2, seconds);
    if (status != CLI_OK)
        return status;
    tune_value *const start = tune_find(b->result, "wire_start_ns"), *const byte = tune_find(
                                                                         b->result, "wire_byte_ns");
    *start = (tune_value){start->name,         start->unit,      start->help,      start->before,
                          b->probes[0].middle, b->probes[0].low, b->probes[0].high};
    byte->after = cost_of(b->probes[1].middle, start->after, shapes[1].run);
    byte->low = cost_of(b->probes[1].low, start->after, shapes[1].run);
    byte->high = cost_of(b->probes[1].high, start->after, shapes[1].run);
    return CLI_OK;
}

/* ---- All of it ---- */

static bool any_pair(const bench *b)
{
    int pairs = b->partner >= 0;

    MPI_Allreduce(MPI_IN_PLACE, &pairs, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return pairs;
}

/* Whether any two ranks share memory, and what to say when none do. */
static int check_near(const bench *b)
{
    ferry_context_info info;

    if (any_pair(b) || b->has_far)
        return CLI_OK;
    ferry_context_describe(b->me->ctx, &info);
    return complain(CLI_FAILURE, "no two ranks share memory, so there is nothing to measure: %s",
                    info.size == 1          ? "there is one rank"
                    : info.shared_reason[0] ? info.shared_reason
                                            : "each is on a node of its own");
}

/* Parts of the time that the steps get. */
static int run_steps(bench *b, double seconds)
{
    const double slots_part = 0.25, past_part = 0.15, rows_part = 0.5, wire_part = 0.1;
    int status = CLI_OK;

    if (any_pair(b)) {
        status = measure_slots(b, slots_part * seconds);
        if (status == CLI_OK)
            status = measure_past(b, past_part * seconds);
        if (status == CLI_OK)
            status = measure_rows(b, rows_part * seconds);
    }
    return status == CLI_OK && b->has_far ? measure_wire(b, wire_part * seconds) : status;
}

int tune_measure(const rank *me, int seconds, tune_result *result)
{
    bench b = {.me = me, .result = result};

    b.probes = calloc(PROBES_MAX, sizeof *b.probes);
    int status = rank_agree(me, b.probes ? CLI_OK : complain(CLI_FAILURE, "no memory"));
    if (status == CLI_OK)
        status = find_partners(&b);
    if (status == CLI_OK)
        status = check_near(&b);
    if (status == CLI_OK)
        status = open_contexts(&b);
    if (status == CLI_OK)
        status = run_steps(&b, seconds);
    for (int i = 0; b.probes && i < PROBES_MAX; i++)
        probe_close(&b.probes[i]);
    ferry_context_free(b.wire);
    ferry_context_free(b.direct);
    ferry_context_free(b.ring);
    free(b.probes);
    return status;
}
