/* ferry bench: what is checked before, what a job does, and how the jobs' results become one. The
 * measuring is the harness's, the cases' own business is in case_*.c. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/case_bundle.h"
#include "bench/cases.h"
#include "bench/columns.h"
#include "bench/harness.h"
#include "bench/machine.h"
#include "bench/own.h"
#include "bench/plot.h"
#include "bench/refuse.h"
#include "bench/report.h"
#include "bench/results.h"
#include "bench/world.h"

enum { OK = 0, FAILURE = 1, USAGE = 2 };

/* --- before ranks are started ----------------------------------------------------------------- */

static int check_memory(const bench_case *c, const char *rivals, char *error, size_t bytes)
{
    const uint64_t need = c->kind->need(c, rivals), have = machine_memory_free();
    char text[CASE_TEXT_BYTES];

    if (need <= have)
        return 0;
    case_print(c, text, sizeof text);
    return refuse(error, bytes, "%s np=%d needs %llu bytes of memory; there are %llu", text, c->np,
                  (unsigned long long)need, (unsigned long long)have);
}

/* Memory is looked at in the parent only: ranks must all come to the same verdict. */
static int check_case(const bench_options *options, const bench_case *c, char *error, size_t bytes)
{
    if (c->np < c->kind->least_np)
        return refuse(error, bytes, "%s: np=%d; expected %d or more ranks", c->kind->word, c->np,
                      c->kind->least_np);
    if (options->ranks > 0 && !options->part && c->np != options->ranks)
        return refuse(error, bytes, "%s: np=%d, but this job has %d ranks; expected np=%d",
                      c->kind->word, c->np, options->ranks, options->ranks);
    if (c->kind->check(c, error, bytes))
        return 1;
    const bool grows = options->report && c->kind == &case_vector;
    const bench_case most = grows ? columns_largest(c) : *c;
    return options->ranks == 0 && check_memory(&most, options->rivals, error, bytes);
}

static bool is_rival(const case_kind *kind, const char *name, size_t length)
{
    for (int k = 0; kind->rivals[k]; ++k)
        if (strlen(kind->rivals[k]) == length && strncmp(kind->rivals[k], name, length) == 0)
            return true;
    return false;
}

static void print_rivals(const case_list *list, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "all, none");

    for (int kind = 0; case_kinds[kind]; ++kind) {
        bool present = false;
        for (int k = 0; k < list->count; ++k)
            present |= list->items[k].kind == case_kinds[kind];
        for (int k = 0; present && case_kinds[kind]->rivals[k] && used < bytes; ++k) {
            const char *const name = case_kinds[kind]->rivals[k];
            if (!strstr(text, name)) /* vector and halo have the same */
                used += (size_t)snprintf(text + used, bytes - used, ", %s", name);
        }
    }
}

/* Every name must be a rival of some case. */
static int check_rivals(const char *rivals, const case_list *list, char *error, size_t bytes)
{
    char expected[320];

    if (!rivals || strcmp(rivals, "all") == 0 || strcmp(rivals, "none") == 0)
        return 0;
    for (const char *at = rivals;; ++at) {
        const size_t length = strcspn(at, ",");
        bool known = false;
        for (int k = 0; k < list->count; ++k)
            known |= is_rival(list->items[k].kind, at, length);
        if (!known) {
            print_rivals(list, expected, sizeof expected);
            return refuse(error, bytes, "--rivals: unknown rival \"%.*s\"; expected %s",
                          length < 60 ? (int)length : 60, at, expected);
        }
        at += length;
        if (!*at)
            return 0;
    }
}

static int check_outputs(const bench_options *options, char *error, size_t bytes)
{
    if (options->plot &&
        (plot_check(options->plot, error, bytes) || results_check(options->plot, error, bytes)))
        return 1;
    if (options->json && options->csv && strcmp(options->json, options->csv) == 0)
        return refuse(error, bytes, "--json and --csv are both %.200s; expected two files",
                      options->json);
    if (options->json && results_check(options->json, error, bytes))
        return 1;
    return options->csv ? results_check(options->csv, error, bytes) : 0;
}

/* The different numbers of ranks; more than BENCH_JOBS_MAX are counted, not kept. */
static int list_jobs(const case_list *list, int np_out[BENCH_JOBS_MAX])
{
    int count = 0;

    for (int k = 0; k < list->count; ++k) {
        bool seen = false;
        for (int j = 0; j < count && j < BENCH_JOBS_MAX; ++j)
            seen |= np_out[j] == list->items[k].np;
        if (seen)
            continue;
        if (count < BENCH_JOBS_MAX)
            np_out[count] = list->items[k].np;
        ++count;
    }
    return count;
}

/* Reports are of columns, or of matrices. */
static int check_report(const bench_options *options, const case_list *list, char *error,
                        size_t bytes)
{
    for (int k = 0; k < list->count && options->report; ++k) {
        const case_kind *const kind = list->items[k].kind;
        if (kind != &case_bundle && kind != &case_vector)
            return refuse(error, bytes, "report: case %s; expected bundle or vector", kind->word);
        if (kind == &case_vector && columns_check(&list->items[k], error, bytes))
            return 1;
        if (kind == &case_bundle && case_bundle_content(&list->items[k]).small)
            return refuse(error, bytes, "report: small is given; expected matrices or matrix");
    }
    if (options->report && (options->json || options->csv || options->plot))
        return refuse(error, bytes,
                      "report: prints lines only; expected neither --json, --csv nor --plot");
    return 0;
}

static int check_list(const bench_options *options, const case_list *list, char *error,
                      size_t bytes)
{
    int np[BENCH_JOBS_MAX];

    for (int k = 0; k < list->count; ++k)
        if (check_case(options, &list->items[k], error, bytes))
            return 1;
    if (list_jobs(list, np) > BENCH_JOBS_MAX)
        return refuse(error, bytes,
                      "the cases want %d different numbers of ranks; expected at most %d",
                      list_jobs(list, np), BENCH_JOBS_MAX);
    return check_report(options, list, error, bytes) ||
           check_rivals(options->rivals, list, error, bytes) ||
           check_outputs(options, error, bytes);
}

int bench_check(const bench_options *options, char *error, size_t bytes)
{
    case_list list;
    int bad = 0;

    if (options->np < 0 || options->np > BENCH_NP_MAX) {
        refuse(error, bytes, "--np %d; expected a number from 1 to %d", options->np, BENCH_NP_MAX);
        return USAGE;
    }
    if (options->pairs < 0 || options->pairs > BENCH_PAIRS_MAX) {
        refuse(error, bytes, "--pairs %d; expected a number from 1 to %d", options->pairs,
               BENCH_PAIRS_MAX);
        return USAGE;
    }
    bad = case_list_read(options, &list, error, bytes) || check_list(options, &list, error, bytes);
    case_list_drop(&list);
    return bad ? USAGE : OK;
}

int bench_case_count(const bench_options *options)
{
    char error[BENCH_ERROR_BYTES];
    case_list list;
    const int count = case_list_read(options, &list, error, sizeof error) ? 0 : list.count;

    case_list_drop(&list);
    return count;
}

int bench_case_np(const bench_options *options, int index)
{
    char error[BENCH_ERROR_BYTES];
    case_list list;
    int np = 0;

    if (case_list_read(options, &list, error, sizeof error) == 0 && index >= 0 &&
        index < list.count)
        np = list.items[index].np;
    case_list_drop(&list);
    return np;
}

int bench_jobs(const bench_options *options, int np_out[BENCH_JOBS_MAX])
{
    char error[BENCH_ERROR_BYTES];
    case_list list;
    const int count =
        case_list_read(options, &list, error, sizeof error) ? 0 : list_jobs(&list, np_out);

    case_list_drop(&list);
    return count < BENCH_JOBS_MAX ? count : BENCH_JOBS_MAX;
}

/* --- in the ranks ----------------------------------------------------------------------------- */

/* One job: its options, cases and what it found. Results are kept on rank 0. */
typedef struct job {
    const bench_options *options;
    world w;
    case_list list;
    results *out;
    bool refused;
} job;

typedef struct line {
    const char *text;
    int index, count;
} line;

static void show_progress(void *user, const char *step, int done, int of)
{
    const line *const l = user;

    fprintf(stderr, "\r\033[Kcase %d of %d, %s: %s, block %d of %d", l->index + 1, l->count,
            l->text, step, done + 1, of);
    fflush(stderr);
}

static void clear_progress(void)
{
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
}

static int measure(job *j, int index, measurement *m)
{
    const bench_case *const c = &j->list.items[index];
    const bool shows = j->options->progress && j->w.rank == 0;
    char text[CASE_TEXT_BYTES];
    void *state = NULL;

    case_print(c, text, sizeof text);
    line l = {text, index, j->list.count};
    int failed = c->kind->open(&j->w, c, m, &state);
    if (!failed) {
        own_choose(m, j->options, c->kind->rivals);
        failed = harness_run(&j->w, m, shows ? show_progress : NULL, &l);
    }
    if (!failed && c->kind->conclude)
        c->kind->conclude(m);
    c->kind->close(state);
    if (shows)
        clear_progress();
    if (failed) {
        char cause[WORLD_TROUBLE_BYTES];
        memcpy(cause, j->w.trouble, sizeof cause);
        world_fail(&j->w, "%.100s: %.280s", text, cause);
    }
    return failed;
}

static int keep(job *j, int index, const measurement *m)
{
    const bench_case *const c = &j->list.items[index];
    int failed = 0;

    if (j->w.rank == 0) {
        if (!j->options->own)
            report_case(stdout, &j->w, c, m, j->options->verbose);
        if (results_add(j->out, index, &j->w, c, m))
            failed = world_fail(&j->w, "no memory for the results");
    }
    j->refused |= m->refused;
    return world_agree(&j->w, failed);
}

static int run_case(job *j, int index)
{
    measurement *const m = calloc(1, sizeof *m);
    char error[WORLD_TROUBLE_BYTES];
    int failed = 0;

    if (!m)
        failed = world_fail(&j->w, "rank %d: no memory for the case", j->w.rank);
    else if (j->w.rank == 0 && j->w.one_node &&
             check_memory(&j->list.items[index], j->options->rivals, error, sizeof error))
        failed = world_fail(&j->w, "%s", error);
    failed = world_agree(&j->w, failed) || measure(j, index, m) || keep(j, index, m);
    free(m);
    return failed;
}

/* Whether this job runs a case: those that want its number of ranks, or the only one. */
static bool runs_case(const job *j, int index)
{
    own_order order;

    return j->list.items[index].np == j->w.size &&
           (!own_order_read(j->options, &order) || order.index == index);
}

static int begin(job *j)
{
    char error[WORLD_TROUBLE_BYTES];
    int failed = 0;

    if (world_open(&j->w))
        return 1;
    if (case_list_read(j->options, &j->list, error, sizeof error))
        failed = world_fail(&j->w, "%s", error);
    else if (j->w.rank == 0 && !(j->out = results_new()))
        failed = world_fail(&j->w, "no memory for the results");
    if (world_agree(&j->w, failed))
        return 1;
    if (j->w.rank == 0 && !j->options->quiet)
        report_job(stdout, &j->w);
    if (j->w.rank == 0 && j->w.crowded && !j->options->quiet)
        fprintf(stderr,
                "ferry: bench: %d ranks share %d cores, so the figures show scheduling too\n",
                j->w.size, j->w.cores);
    return 0;
}

static int finish(job *j)
{
    char error[WORLD_TROUBLE_BYTES];
    int bad = 0;

    if (j->w.rank == 0)
        bad = j->options->part ? results_write_part(j->out, j->options->part, error, sizeof error)
                               : results_write(j->out, j->options, error, sizeof error);
    if (bad)
        world_fail(&j->w, "%s", error);
    return world_agree(&j->w, bad);
}

int bench_run(const bench_options *options, char *error, size_t bytes)
{
    job j = {.options = options};
    int failed = begin(&j);

    for (int k = 0; k < j.list.count && !failed; ++k)
        if (runs_case(&j, k))
            failed = run_case(&j, k);
    failed = failed || finish(&j);
    error[0] = '\0';
    if (failed)
        snprintf(error, bytes, "%s", j.w.trouble);
    case_list_drop(&j.list);
    results_free(j.out);
    world_close(&j.w);
    return failed || j.refused ? FAILURE : OK;
}

/* --- after the jobs --------------------------------------------------------------------------- */

int bench_merge(const bench_options *options, const char *const *parts, int count, char *error,
                size_t bytes)
{
    results *const all = results_new();
    int bad = !all && refuse(error, bytes, "no memory for the results");

    for (int k = 0; k < count && !bad; ++k)
        bad = results_read_part(all, parts[k], error, bytes);
    bad = bad || results_write(all, options, error, bytes);
    results_free(all);
    return bad ? FAILURE : OK;
}

static void help_key(FILE *to, const case_key *key)
{
    char name[64];

    snprintf(name, sizeof name, "%s=%s", key->name, key->normal ? key->normal : "N");
    fprintf(to, "      %-24s %s\n", name, key->help);
}

void bench_help(FILE *to)
{
    fputs("A case is a word and keys, in one argument or several; a word without = begins the next "
          "case.\n"
          "Keys are shown with their defaults. np=N in a case wins over --np. Sizes take K, M, G "
          "(1024).\n"
          "A list such as rows=1K,2K,4K stands for a case of each.\n\n",
          to);
    for (int kind = 0; case_kinds[kind]; ++kind) {
        const case_kind *const k = case_kinds[kind];
        fprintf(to, "  %-10s %s\n", k->word, k->help);
        for (int key = 0; key < k->key_count; ++key)
            help_key(to, &k->keys[key]);
        fprintf(to, "      rivals:");
        for (int rival = 0; k->rivals[rival]; ++rival)
            fprintf(to, " %s", k->rivals[rival]);
        fprintf(to, "\n");
    }
    fputs(
        "\nEvery contender is verified before and after timing, and all take turns within one "
        "run.\n"
        "A time is the last end minus the first start over all ranks, without that of rewriting "
        "the\n"
        "source. `limit` is copying that no method avoids, done by all ranks at once. The columns\n"
        "`/ ferry` are a row's time divided by ferry's. `bytes` and `rate` count what arrives on "
        "all\n"
        "ranks. A row is refused, and the exit status 1, when it is faster than the cores can "
        "copy:\n"
        "then something is wrong with the figure.\n"
        "Rivals that need a job of their own, as another setting of the MPI or another program, "
        "have "
        "a\n"
        "table of their own: whole jobs alternate with jobs of ferry, ratios are medians over the "
        "pairs.\n\n"
        "\"ferry bench report bundle\" prints lines instead: what was sent and got as XML, as "
        "plain "
        "bytes\n"
        "and as a bundle, how long it took, and the difference, which is 0.\n"
        "\"ferry bench report vector\" prints two tables over the size of a column: its derived "
        "type,\n"
        "static buffers, and ferry.\n\n",
        to);
}
