/* Rivals that need a job of their own. Two halves: the parent starts the jobs and reads what they
 * left, a rank takes on settings or becomes another program.
 *
 * A pair is a job of ferry and, right after it, one of each program; ratios are taken within pairs,
 * so that a slow stretch of the machine meets both. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/case_bundle.h"
#include "bench/own.h"
#include "bench/programs.h"
#include "bench/refuse.h"
#include "bench/report.h"
#include "bench/results.h"
#include "bench/stats.h"

enum { PATH_BYTES = 512, LINE_BYTES = 256, NAMES_MAX = 4, INTERRUPTED = 128 };
static const unsigned patience_s = 120;    /* for a job of another program, */
static const size_t more_bytes = 10000000; /* and a second more for so many bytes */
enum { FERRY_TIMES = 3, OUTER_S = 10 };    /* jobs with ferry; programs without a launcher */

static const char inside_text[] = "needs a job of its own: run ferry bench without a launcher";

/* The rivals, and the programs that measure them. */
static const struct own_rival {
    const char *name, *word; /* of the program */
    const char *label;       /* in what it prints */
    const char *note;
} rivals[] = {
    {"raw-nocma", "nocma", NULL, "one message into used memory, with ferry in one job,"},
    {"pickle", "python", "pickle", "mpi4py, pickled dictionaries of numpy arrays"},
    {"pickle5", "python", "pickle5", "mpi4py.util.pkl5, protocol 5 out of band"},
    {"gretl", "gretl", "gretl", "gretl's script language, as it comes"},
    {"gretl-tuned", "gretl-tuned", "gretl", "gretl's script language,"},
};
enum { RIVALS = sizeof rivals / sizeof *rivals };
static const char ferry_word[] = "ferry";

/* Seconds that a program gets. */
static unsigned patience(const bench_options *options, const content *shape)
{
    return options->limit_s > 0 ? (unsigned)options->limit_s
                                : patience_s + (unsigned)(content_bytes(shape) / more_bytes);
}

static bool is_own(const char *name)
{
    for (int k = 0; k < RIVALS; ++k)
        if (strcmp(rivals[k].name, name) == 0)
            return true;
    return false;
}

/* --- in a rank -------------------------------------------------------------------------------- */

bool own_order_read(const bench_options *options, own_order *order_out)
{
    return options->own && sscanf(options->own, "%d:%31[^:]:%d", &order_out->index, order_out->word,
                                  &order_out->timed) == 3;
}

static bool keeps(const contender *c, const bench_options *options, const own_order *order)
{
    if (!order)
        return c->kind != CONTENDER_RIVAL ||
               (!is_own(c->name) && case_wants(options->rivals, c->name));
    if (strcmp(order->word, ferry_word) == 0)
        return c->kind == CONTENDER_FERRY;
    return c->kind != CONTENDER_RIVAL || strcmp(c->name, "raw-nocma") == 0;
}

void own_choose(measurement *m, const bench_options *options, const char *const *names)
{
    own_order order;
    const bool own = own_order_read(options, &order);
    int kept = 0;

    for (int k = 0; k < m->contender_count; ++k)
        if (keeps(&m->contenders[k], options, own ? &order : NULL))
            m->contenders[kept++] = m->contenders[k];
    m->contender_count = kept;
    for (int k = 0; names[k] && !options->part; ++k)
        if (is_own(names[k]) && case_wants(options->rivals, names[k]))
            measurement_add(m, names[k], CONTENDER_RIVAL, NULL)->missing = inside_text;
}

bool bench_settle(const bench_options *options)
{
    own_order order;
    const program *const p = own_order_read(options, &order) ? program_find(order.word) : NULL;

    if (p)
        program_set(p);
    return p && p->script;
}

/* What the program prints goes to the file of this job's results. */
static int redirect(const char *path)
{
    const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

    return fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0;
}

static int names_of(const bench_options *options, const program *p,
                    const char *names[NAMES_MAX + 1])
{
    int count = 0;

    for (int k = 0; k < RIVALS; ++k)
        if (strcmp(rivals[k].word, p->word) == 0 && case_wants(options->rivals, rivals[k].name) &&
            count < NAMES_MAX)
            names[count++] = rivals[k].label;
    names[count] = NULL;
    return count;
}

int bench_become(const bench_options *options, char *error, size_t bytes)
{
    const char *names[NAMES_MAX + 1];
    own_order order;
    case_list list;

    own_order_read(options, &order);
    const program *const p = program_find(order.word);
    if (case_list_read(options, &list, error, bytes))
        return 1;
    const content shape = case_bundle_content(&list.items[order.index]);
    program_tell(&shape, case_bundle_is_bcast(&list.items[order.index]), order.timed);
    case_list_drop(&list);
    names_of(options, p, names);
    alarm(patience(options, &shape) + OUTER_S); /* in case that nobody ends this job */
    if (!redirect(options->part))
        program_run(p, options->program, options->script, names);
    return refuse(error, bytes, "%s cannot be run: %s", order.word, strerror(errno));
}

/* --- in the parent ---------------------------------------------------------------------------- */

/* The samples of one rival. */
typedef struct lane {
    const struct own_rival *rival;
    const program *program;
    own_row *row;
    samples times, to_ferry, to_fresh;
} lane;

/* One case with its rivals. */
typedef struct study {
    const bench_options *options;
    const bench_starter *starter;
    const bench_case *c;
    int index;
    own_row rows[OWN_ROWS_MAX];
    lane lanes[OWN_ROWS_MAX];
    int count;
    double ferry_s, fresh_s; /* of the last job of ferry */
    samples ferry, fresh;
    char why[BENCH_ERROR_BYTES]; /* the last job failed; "" when it did not */
} study;

/* A new file; NULL after a failure. */
static FILE *make_file(char path_out[PATH_BYTES], const char *suffix)
{
    const char *const folder = getenv("TMPDIR");

    snprintf(path_out, PATH_BYTES, "%s/ferry-bench.XXXXXX%s", folder && folder[0] ? folder : "/tmp",
             suffix);
    const int fd = mkostemps(path_out, (int)strlen(suffix), O_CLOEXEC);
    return fd < 0 ? NULL : fdopen(fd, "w");
}

static int make_empty(char path_out[PATH_BYTES])
{
    FILE *const file = make_file(path_out, "");

    return !file || fclose(file) != 0;
}

static int make_script(char path_out[PATH_BYTES], const program *p, bool timed)
{
    FILE *const file = make_file(path_out, p->suffix);

    if (!file)
        return 1;
    const int bad = program_write(p, timed, file);
    return (fclose(file) != 0) | bad;
}

/* What a job shall do. */
typedef struct task {
    const char *word;   /* of the program */
    const char *script; /* a file; NULL for this program */
    const char *out;    /* file of what the job leaves */
    bool timed;
} task;

/* Seconds that a job gets: one with ferry in it measures several contenders. */
static int limit_of(const study *s, const program *p)
{
    const content shape = case_bundle_content(s->c);
    const int seconds = (int)patience(s->options, &shape);

    if (s->options->limit_s > 0)
        return seconds;
    return p ? seconds : FERRY_TIMES * seconds;
}

/* Start a job of a program; what it leaves is in the file `out`. A row that the harness refused is
 * no failure here: the row says so. */
static int start_job(study *s, const task *t)
{
    const program *const p = t->script ? program_find(t->word) : NULL;
    char own[64], part[PATH_BYTES + 16], script[PATH_BYTES + 16], path[PATH_BYTES + 16];
    const char *const extra[] = {own, part, "--quiet", p ? script : NULL, path, NULL};

    snprintf(own, sizeof own, "--own=%d:%s:%d", s->index, t->word, t->timed);
    snprintf(part, sizeof part, "--part=%s", t->out);
    snprintf(script, sizeof script, "--script=%s", p ? t->script : "");
    snprintf(path, sizeof path, "--program=%s", p ? p->find() : "");
    s->why[0] = '\0';
    const int status =
        s->starter->start(s->starter->user, s->c->np, extra, limit_of(s, p), s->why, sizeof s->why);
    return status == 1 && !s->why[0] ? 0 : status;
}

/* A job of this program, in which ferry takes part. Fills the times of ferry; `row_inout`: those of
 * the rival named in it, or NULL. */
static int ferry_job(study *s, const char *word, own_row *row_inout)
{
    own_row ferry = {.name = "ferry"}, fresh = {.name = "ferry-fresh"};
    char out[PATH_BYTES];
    const task task = {word, NULL, out, true};
    results *const found = results_new();
    int status = found && make_empty(out) == 0 ? start_job(s, &task) : 1;

    if (status == 0 &&
        (results_read_part(found, out, s->why, sizeof s->why) ||
         results_find(found, s->index, &ferry) || results_find(found, s->index, &fresh) ||
         (row_inout && results_find(found, s->index, row_inout))))
        status = 1;
    if (found)
        unlink(out);
    results_free(found);
    s->ferry_s = ferry.median_s;
    s->fresh_s = fresh.median_s;
    return status;
}

/* What a program printed for a label. */
typedef struct account {
    samples times;
    bool verified, wrong;
} account;

static int read_account(const char *path, const char *label, account *a)
{
    FILE *const file = fopen(path, "re");
    char line[LINE_BYTES], name[32], word[32];
    int bad = !file;

    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "ferry-bench %31s %31s", name, word) != 2 || strcmp(name, label) != 0)
            continue;
        if (word[0] >= '0' && word[0] <= '9')
            bad |= samples_add(&a->times, strtod(word, NULL));
        a->verified |= strcmp(word, "verified") == 0;
        a->wrong |= strcmp(word, "wrong") == 0;
    }
    if (file)
        fclose(file);
    return bad;
}

/* A rival that is there and failed: the run's exit status tells, too. */
static void fail_row(own_row *row, const char *why)
{
    row->refused = true;
    snprintf(row->missing, sizeof row->missing, "failed: %.200s", why);
}

/* The ratios to the job of ferry before. */
static int add_ratios(const study *s, lane *l, double seconds)
{
    int bad = samples_add(&l->times, seconds);

    bad |= samples_add(&l->to_ferry, seconds / s->ferry_s);
    return bad | samples_add(&l->to_fresh, seconds / s->fresh_s);
}

static void take_sample(const study *s, lane *l, const task *t)
{
    account a = {.wrong = false};
    const int bad = read_account(t->out, l->rival->label, &a);

    if (a.wrong || (!t->timed && !a.verified))
        fail_row(l->row, "its job did not say that what arrived is what was sent");
    else if (t->timed && (bad || a.times.count == 0 || add_ratios(s, l, samples_median(&a.times))))
        fail_row(l->row, "its job printed no times");
    l->row->rounds += (long long)a.times.count;
    samples_drop(&a.times);
}

static bool runs(const lane *l, const program *p)
{
    return l->program == p && !l->row->missing[0];
}

static void collect(study *s, const program *p, const task *t, int status)
{
    for (int k = 0; k < s->count; ++k) {
        if (!runs(&s->lanes[k], p))
            continue;
        if (status != 0)
            fail_row(s->lanes[k].row, s->why);
        else
            take_sample(s, &s->lanes[k], t);
    }
}

/* A job of another program. Its failure ends its rows, not the others. */
static int program_job(study *s, const program *p, bool timed)
{
    char out[PATH_BYTES] = "", script[PATH_BYTES] = "";
    const task task = {p->word, script, out, timed};
    int status = make_empty(out) || make_script(script, p, timed);

    if (status != 0)
        snprintf(s->why, sizeof s->why, "no temporary file: %s", strerror(errno));
    else
        status = start_job(s, &task);
    if (status < INTERRUPTED)
        collect(s, p, &task, status);
    unlink(out);
    unlink(script);
    return status < INTERRUPTED ? 0 : status;
}

/* Whether a lane is the first of its program that still runs. */
static bool leads(const study *s, int lane_index)
{
    const lane *const l = &s->lanes[lane_index];

    if (!l->program->script || !runs(l, l->program))
        return false;
    for (int k = 0; k < lane_index; ++k)
        if (runs(&s->lanes[k], l->program))
            return false;
    return true;
}

/* A job of each program that still runs. */
static int program_jobs(study *s, bool timed)
{
    int status = 0;

    for (int k = 0; k < s->count && status == 0; ++k)
        if (leads(s, k))
            status = program_job(s, s->lanes[k].program, timed);
    return status;
}

static int one_pair(study *s)
{
    int status = ferry_job(s, ferry_word, NULL);

    if (status == 0)
        status = samples_add(&s->ferry, s->ferry_s) | samples_add(&s->fresh, s->fresh_s);
    return status ? status : program_jobs(s, true);
}

static void show_progress(const study *s, const char *what, int pair)
{
    if (s->options->progress)
        fprintf(stderr, "\r\033[K%s: %s, %d of %d", s->c->kind->word, what, pair + 1,
                s->options->pairs);
}

static bool any_left(const study *s)
{
    for (int k = 0; k < s->count; ++k)
        if (leads(s, k))
            return true;
    return false;
}

/* Verified first, in jobs that time nothing. */
static int run_pairs(study *s)
{
    int status = program_jobs(s, false);

    for (int pair = 0; pair < s->options->pairs && any_left(s) && status == 0; ++pair) {
        show_progress(s, "pairs of jobs", pair);
        status = one_pair(s);
    }
    return status;
}

/* The setting of the MPI: one job, in which ferry takes turns. */
static int run_setting(study *s, lane *l)
{
    show_progress(s, l->rival->name, 0);
    const int status = ferry_job(s, l->program->word, l->row);

    if (status != 0 || s->ferry_s <= 0 || s->fresh_s <= 0) {
        fail_row(l->row, s->why[0] ? s->why : "its job left no times");
        return status < INTERRUPTED ? 0 : status;
    }
    l->row->to_ferry = l->row->median_s / s->ferry_s;
    l->row->to_fresh = l->row->median_s / s->fresh_s;
    return 0;
}

static void conclude(const study *s, lane *l)
{
    own_row *const row = l->row;

    if (l->program->script && !row->missing[0]) {
        row->median_s = samples_median(&l->times);
        row->min_s = samples_min(&l->times);
        row->max_s = samples_max(&l->times);
        row->to_ferry = samples_median(&l->to_ferry);
        row->to_fresh = samples_median(&l->to_fresh);
        row->pairs = s->options->pairs;
    }
    samples_drop(&l->times);
    samples_drop(&l->to_ferry);
    samples_drop(&l->to_fresh);
}

static void add_lane(study *s, const struct own_rival *rival)
{
    own_row *const row = &s->rows[s->count];
    lane *const l = &s->lanes[s->count++];
    char settings[OWN_NOTE_BYTES];

    *l = (lane){.rival = rival, .program = program_find(rival->word), .row = row};
    program_settings(l->program, settings, sizeof settings);
    *row = (own_row){.name = rival->name};
    snprintf(row->note, sizeof row->note, "%s%s%.160s", rival->note, settings[0] ? " " : "",
             settings);
    const char *const missing = l->program->missing();
    if (missing)
        snprintf(row->missing, sizeof row->missing, "%s", missing);
}

static int run_study(study *s)
{
    int status = 0;

    for (int k = 0; k < RIVALS; ++k)
        if (case_wants(s->options->rivals, rivals[k].name))
            add_lane(s, &rivals[k]);
    for (int k = 0; k < s->count && status == 0; ++k)
        if (!s->lanes[k].program->script && !s->rows[k].missing[0])
            status = run_setting(s, &s->lanes[k]);
    status = status ? status : run_pairs(s);
    if (s->options->progress)
        fprintf(stderr, "\r\033[K");
    for (int k = 0; k < s->count; ++k)
        conclude(s, &s->lanes[k]);
    return status;
}

/* Ferry's own rows of the pairs, for the table. */
static own_row ferry_row(const char *name, samples *times)
{
    own_row row = {.name = name, .pairs = (int)times->count};

    row.median_s = samples_median(times);
    row.min_s = samples_min(times);
    row.max_s = samples_max(times);
    snprintf(row.note, sizeof row.note, "in the pairs");
    samples_drop(times);
    return row;
}

static double bytes_of(const bench_case *c)
{
    const content shape = case_bundle_content(c);

    return (double)content_bytes(&shape) * (case_bundle_is_bcast(c) ? c->np - 1 : 1);
}

static int study_case(study *s, results *out, bool *refused_inout)
{
    const int status = run_study(s);
    const own_row ferry[] = {ferry_row("ferry", &s->ferry), ferry_row("ferry-fresh", &s->fresh)};

    if (status != 0 || s->count == 0)
        return status;
    report_own(stdout, s->c, bytes_of(s->c), ferry, s->rows, s->count);
    for (int k = 0; k < s->count; ++k)
        *refused_inout |= s->rows[k].refused;
    return results_add_own(out, s->index, bytes_of(s->c), s->rows, s->count);
}

static int study_all(const bench_options *options, const bench_starter *starter,
                     const case_list *list, results *out, char *error, size_t bytes)
{
    bool refused = false;
    int status = 0;

    for (int k = 0; k < list->count && status == 0; ++k) {
        study *const s = list->items[k].kind == &case_bundle ? calloc(1, sizeof *s) : NULL;
        if (!s)
            continue;
        s->options = options;
        s->starter = starter;
        s->c = &list->items[k];
        s->index = k;
        status = study_case(s, out, &refused);
        if (status != 0)
            snprintf(error, bytes, "%s", s->why[0] ? s->why : "no memory or temporary file");
        free(s);
    }
    return status ? status : refused;
}

bool bench_wants_own(const bench_options *options)
{
    char error[BENCH_ERROR_BYTES];
    case_list list;
    bool wants = false, bundles = false;

    if (case_list_read(options, &list, error, sizeof error) == 0)
        for (int k = 0; k < list.count; ++k)
            bundles |= list.items[k].kind == &case_bundle;
    case_list_drop(&list);
    for (int k = 0; k < RIVALS; ++k)
        wants |= case_wants(options->rivals, rivals[k].name);
    return bundles && wants && !options->report;
}

int bench_own(const bench_options *options, const bench_starter *starter, const char *part,
              char *error, size_t bytes)
{
    results *const out = results_new();
    case_list list;

    error[0] = '\0';
    if (case_list_read(options, &list, error, bytes) || !out) {
        case_list_drop(&list);
        results_free(out);
        return 1;
    }
    int status = study_all(options, starter, &list, out, error, bytes);
    if (status == 0 || (status == 1 && !error[0]))
        status |= results_write_part(out, part, error, bytes);
    case_list_drop(&list);
    results_free(out);
    return status;
}
