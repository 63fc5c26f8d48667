/* The harness. It knows contenders and the world, nothing of cases.
 *
 * Contenders take turns: in each of BLOCKS blocks every contender runs a few rounds, so that a
 * noisy stretch of the machine meets all alike. How many rounds fill a block is found before. Slow
 * contenders sit out most blocks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/harness.h"
#include "bench/stats.h"

enum {
    BLOCKS = 9,
    SLOW_EVERY = 4,
    PACED_MAX = 256,
    STREAM_MAX = 1 << 20,
    CHECKED_ROUNDS = 2,
    STRETCHES = 64
};
static const double block_s = 20e-3,
                    patience_s = 0.2; /* what a block shall take, and what is too much */
static const double sure_s = 4e-3, slow_s = 0.25, quick_s = 50e-3;
static const double noise = 0.25; /* differences below say nothing on a shared machine */

/* What the harness keeps of a contender while it runs. */
typedef struct lane {
    contender *c;
    int rounds; /* per block */
    bool slow;
    bool out;           /* missing, or a slower one of several with its name */
    double estimate;    /* seconds of a round, rewriting included */
    double raw[BLOCKS]; /* streaming: mean round of each block; NAN when it sat out */
    samples times;
    uint64_t total;
} lane;

typedef struct run {
    world *w;
    measurement *m;
    lane lanes[CONTENDERS_MAX];
    int count;
    harness_progress *progress;
    void *user;
} run;

contender *measurement_add(measurement *m, const char *name, contender_kind kind, void *job)
{
    contender *const c = &m->contenders[m->contender_count++];

    *c = (contender){.name = name, .kind = kind, .job = job};
    return c;
}

static int step(contender_step *what, contender *c)
{
    return what ? what(c) : 0;
}

/* --- one block -------------------------------------------------------------------------------- */

/* One paced round: its stamps on this rank, and when the last rank was ready for it. */
static int paced_round(world *w, contender *c, double *start_out, double *end_out,
                       double *ready_out)
{
    int failed = step(c->rewrite, c);

    failed |= step(c->before, c);
    *ready_out = world_start(w);
    *start_out = world_now();
    failed |= c->round(c);
    *end_out = world_now();
    return failed;
}

/* From stamps of this rank to times of rounds: last end minus first start. */
static void rounds_of_all(world *w, double *starts, double *ends, int count)
{
    for (int k = 0; k < count && !w->one_node; ++k) { /* no common clock: the slowest rank */
        ends[k] -= starts[k];
        starts[k] = 0;
    }
    world_min(w, starts, count);
    world_max(w, ends, count);
    for (int k = 0; k < count; ++k)
        ends[k] -= starts[k];
}

/* Rounds with a start in common each, fewer when the machine is too busy for all; times_out has
 * room for all. `wrong_out`: NULL, or the wrong elements of the last. */
static int paced_block(world *w, contender *c, int *rounds_inout, double *times_out,
                       size_t *wrong_out)
{
    double starts[PACED_MAX], first = 0, ready = 0;
    int failed = 0, done = 0;

    for (; done < *rounds_inout && (ready - first < patience_s || wrong_out); ++done) {
        failed |= paced_round(w, c, &starts[done], &times_out[done], &ready);
        first = done == 0 ? ready : first;
        if (wrong_out && c->wrong && done == *rounds_inout - 1 && !failed)
            *wrong_out = c->wrong(c);
        failed |= step(c->after, c);
    }
    *rounds_inout = done;
    failed = world_agree(w, failed);
    rounds_of_all(w, starts, times_out, done);
    return failed;
}

/* Rounds one after another: the time of all. */
static int streaming_rounds(world *w, contender *c, int rounds, double *seconds_out,
                            size_t *wrong_out)
{
    double start = 0, end = 0;
    int failed = 0;

    world_start(w);
    start = world_now();
    for (int k = 0; k < rounds && !failed; ++k) {
        failed |= step(c->rewrite, c);
        failed |= step(c->round, c);
    }
    end = world_now();
    if (wrong_out && c->wrong && !failed)
        *wrong_out = c->wrong(c);
    failed = world_agree(w, failed);
    rounds_of_all(w, &start, &end, 1);
    *seconds_out = end;
    return failed;
}

/* The same in a few stretches of growing length, of which the last are left out when the machine is
 * too busy: then a round may last as long as the system's slices of time. Fills the mean time of a
 * round. */
static int streaming_block(world *w, contender *c, int *rounds_inout, double *mean_out,
                           size_t *wrong_out)
{
    int failed = 0, done = 0, next = *rounds_inout > STRETCHES ? *rounds_inout / STRETCHES : 1;
    double seconds = 0;

    while (done < *rounds_inout && seconds < patience_s && !failed) {
        double more = 0;
        failed = streaming_rounds(w, c, next, &more, wrong_out);
        seconds += more;
        done += next;
        next = done < *rounds_inout - done ? done : *rounds_inout - done;
    }
    *rounds_inout = done;
    *mean_out = seconds / done;
    return failed;
}

/* Wrong elements anywhere are a failure. Collective. */
static int judge(world *w, const contender *c, size_t wrong, const char *when)
{
    const double all = world_sum(w, (double)wrong);

    if (all > 0)
        return world_fail(w, "%s: %.0f elements are wrong %s the timing; expected 0", c->name, all,
                          when);
    return 0;
}

/* --- before timing ---------------------------------------------------------------------------- */

static int verify(run *r, lane *l)
{
    double times[PACED_MAX];
    size_t wrong = 0;
    int failed = 0, rounds = 1;

    for (int k = 0; k < CHECKED_ROUNDS && !failed; ++k) {
        wrong = 0;
        if (r->m->streaming) {
            failed = world_agree(r->w, step(l->c->before, l->c));
            failed = failed || streaming_rounds(r->w, l->c, 1, times, &wrong);
        } else {
            failed = paced_block(r->w, l->c, &rounds, times, &wrong);
        }
        failed = failed || judge(r->w, l->c, wrong, "before");
    }
    return failed;
}

/* Time of `rounds` rounds, everything included. */
static int trial(run *r, lane *l, int rounds, double *seconds_out)
{
    double times[PACED_MAX];
    const double start = world_now();
    int done = rounds;

    if (r->m->streaming)
        return streaming_rounds(r->w, l->c, rounds, seconds_out, NULL);
    const int failed = paced_block(r->w, l->c, &done, times, NULL);
    *seconds_out = (world_now() - start) / done * rounds;
    world_max(r->w, seconds_out, 1);
    return failed;
}

/* The shorter of two trials, so that a moment without a core is not taken for work. */
static int sure_trial(run *r, lane *l, int rounds, double *seconds_out)
{
    double again = 0;

    if (trial(r, l, rounds, seconds_out))
        return 1;
    if (*seconds_out < sure_s || *seconds_out >= slow_s)
        return 0;
    if (trial(r, l, rounds, &again))
        return 1;
    *seconds_out = again < *seconds_out ? again : *seconds_out;
    return 0;
}

static int calibrate(run *r, lane *l)
{
    const int most = r->m->streaming ? STREAM_MAX : PACED_MAX;
    double seconds = 0;
    int rounds = 1;

    for (;; rounds *= 2) {
        if (sure_trial(r, l, rounds, &seconds))
            return 1;
        if (seconds >= sure_s || 2 * rounds > most)
            break;
    }
    l->estimate = seconds / rounds;
    const double wanted = block_s / l->estimate;
    l->rounds = wanted < 1 ? 1 : wanted > most ? most : (int)wanted;
    l->slow = l->estimate > slow_s;
    return 0;
}

/* Of contenders that have one name only the fastest stays. */
static void keep_fastest(run *r)
{
    for (int k = 0; k < r->count; ++k)
        for (int j = 0; j < k; ++j) {
            lane *const a = &r->lanes[j], *const b = &r->lanes[k];
            if (!a->out && !b->out && strcmp(a->c->name, b->c->name) == 0)
                (a->estimate <= b->estimate ? b : a)->out = true;
        }
}

static void tell(const run *r, const char *what, int done, int of)
{
    if (r->progress)
        r->progress(r->user, what, done, of);
}

static int prepare(run *r)
{
    for (int k = 0; k < r->count; ++k) {
        lane *const l = &r->lanes[k];
        if (l->out)
            continue;
        tell(r, l->c->name, 0, BLOCKS);
        if ((l->c->wrong && verify(r, l)) || calibrate(r, l))
            return 1;
    }
    keep_fastest(r);
    return 0;
}

/* --- timing ----------------------------------------------------------------------------------- */

/* Either kind begins with a round that is not timed, to get over the traces of the contender
 * before. */
static int timed_streaming(run *r, lane *l, int block, int *rounds_inout, size_t *wrong_out)
{
    double warm = 0;

    if (streaming_rounds(r->w, l->c, 1, &warm, NULL))
        return 1;
    return streaming_block(r->w, l->c, rounds_inout, &l->raw[block], wrong_out);
}

static int timed_paced(run *r, lane *l, int *rounds_inout, size_t *wrong_out)
{
    double times[PACED_MAX];
    int failed = 0, warm = 1;

    if (l->estimate < quick_s && paced_block(r->w, l->c, &warm, times, NULL))
        return 1;
    failed = paced_block(r->w, l->c, rounds_inout, times, wrong_out);
    for (int k = 0; k < *rounds_inout && !failed; ++k)
        if (samples_add(&l->times, times[k]))
            failed =
                world_fail(r->w, "rank %d: no memory for the times of %s", r->w->rank, l->c->name);
    return world_agree(r->w, failed);
}

static int timed_block(run *r, lane *l, int block)
{
    size_t wrong = 0, *const wrong_out = block == BLOCKS - 1 ? &wrong : NULL;
    int rounds = l->rounds;

    l->raw[block] = NAN;
    if (l->out || (l->slow && block % SLOW_EVERY != 0))
        return 0;
    const int failed = r->m->streaming ? timed_streaming(r, l, block, &rounds, wrong_out)
                                       : timed_paced(r, l, &rounds, wrong_out);
    l->total += (uint64_t)rounds;
    return failed || (wrong_out && judge(r->w, l->c, wrong, "after"));
}

static int take_turns(run *r)
{
    for (int block = 0; block < BLOCKS; ++block)
        for (int k = 0; k < r->count; ++k) {
            tell(r, r->lanes[k].c->name, block, BLOCKS);
            if (timed_block(r, &r->lanes[k], block))
                return 1;
        }
    return 0;
}

/* --- results ---------------------------------------------------------------------------------- */

static lane *lane_of(run *r, contender_kind kind)
{
    for (int k = 0; k < r->count; ++k)
        if (r->lanes[k].c->kind == kind && !r->lanes[k].out)
            return &r->lanes[k];
    return NULL;
}

/* What rewriting alone took: the median of its blocks, and their least. Zero for paced rounds. */
typedef struct baseline {
    double median_s, least_s;
} baseline;

static int measure_baseline(run *r, contender_kind kind, baseline *found_out)
{
    const lane *const l = r->m->streaming ? lane_of(r, kind) : NULL;
    samples blocks = {0};
    int failed = 0;

    *found_out = (baseline){0, 0};
    for (int block = 0; l && block < BLOCKS; ++block)
        if (!isnan(l->raw[block]))
            failed |= samples_add(&blocks, l->raw[block]);
    found_out->median_s = samples_median(&blocks);
    found_out->least_s = samples_min(&blocks);
    samples_drop(&blocks);
    return failed;
}

/* Streaming: what a block took beyond the baseline. */
static int subtract(lane *l, const baseline *base)
{
    const bool is_base = l->c->kind == CONTENDER_BASELINE || l->c->kind == CONTENDER_ALONE_BASE;
    int failed = 0;

    for (int block = 0; block < BLOCKS; ++block)
        if (!isnan(l->raw[block]))
            failed |= samples_add(&l->times, l->raw[block] - (is_base ? 0 : base->median_s));
    return failed;
}

/* The least time in which the cores could have copied as many bytes as arrive in a round; 0 when it
 * is not known, also when the noise of the baseline hides it. */
static double least_time(run *r)
{
    const lane *const alone = lane_of(r, CONTENDER_ALONE);
    const double core_s = alone ? samples_min(&alone->times) : 0;
    const int cores = r->w->size < r->w->cores ? r->w->size : r->w->cores;

    return core_s > 0 && r->m->alone_bytes > 0 ? core_s * r->m->bytes / r->m->alone_bytes / cores
                                               : 0;
}

/* A row is refused when it is too fast even if rewriting took no longer than in its fastest block.
 */
static void conclude(run *r, lane *l, double least_s, double doubt_s)
{
    measurement *const m = r->m;
    result *const found = &m->results[m->result_count];
    const bool carries =
        (l->c->kind == CONTENDER_FERRY || l->c->kind == CONTENDER_RIVAL) && !l->c->mapped;

    if (l->out && !l->c->missing)
        return;
    *found = (result){
        .name = l->c->name, .kind = l->c->kind, .rounds = l->total, .missing = l->c->missing};
    memcpy(found->note, l->c->note, sizeof found->note);
    found->median_s = samples_median(&l->times);
    found->min_s = samples_min(&l->times);
    found->max_s = samples_max(&l->times);
    found->refused = carries && !l->c->missing && found->median_s + doubt_s < least_s * (1 - noise);
    m->refused |= found->refused;
    ++m->result_count;
}

static int gather_results(run *r)
{
    baseline all = {0, 0}, alone = {0, 0};
    int failed = measure_baseline(r, CONTENDER_BASELINE, &all) |
                 measure_baseline(r, CONTENDER_ALONE_BASE, &alone);

    for (int k = 0; k < r->count && r->m->streaming; ++k)
        failed |= subtract(&r->lanes[k], r->lanes[k].c->kind == CONTENDER_ALONE ? &alone : &all);
    if (failed)
        world_fail(r->w, "rank %d: no memory for the times", r->w->rank);
    if (world_agree(r->w, failed))
        return 1;
    const double least_s = least_time(r);
    const double doubt_s =
        all.median_s - (all.least_s < alone.least_s ? all.least_s : alone.least_s);
    for (int k = 0; k < r->count; ++k)
        conclude(r, &r->lanes[k], least_s, doubt_s);
    return 0;
}

int harness_run(world *w, measurement *m, harness_progress *progress, void *user)
{
    run *const r = calloc(1, sizeof *r);
    int failed = 0;

    if (!r)
        world_fail(w, "rank %d: no memory for the harness", w->rank);
    if (world_agree(w, !r))
        return free(r), 1;
    *r = (run){.w = w, .m = m, .count = m->contender_count, .progress = progress, .user = user};
    for (int k = 0; k < r->count; ++k)
        r->lanes[k] = (lane){.c = &m->contenders[k], .out = m->contenders[k].missing != NULL};
    failed = prepare(r) || take_turns(r) || gather_results(r);
    for (int k = 0; k < r->count; ++k)
        samples_drop(&r->lanes[k].times);
    free(r);
    return failed;
}
