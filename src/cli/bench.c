/* `ferry bench`: options, the checks before any rank is started, and one MPI job per number of
 * ranks that the cases want. What is measured, and how, is the business of bench/. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "cli/interrupt.h"
#include "cli/launch.h"
#include "cli/option.h"
#include "cli/rank.h"
#include "cli/report.h"
#include "cli/say.h"

enum { PART_BYTES = 256 };

/* The results of the jobs, one file each. */
typedef struct parts {
    char name[BENCH_JOBS_MAX + 1][PART_BYTES]; /* the last: of rivals with jobs of their own */
    int count;
} parts;

static int help(cli *cli, const option_spec *options)
{
    printf(
        "Usage: ferry bench [OPTION]... CASE [KEY=VALUE]... [CASE [KEY=VALUE]...]...\n"
        "       ferry bench [OPTION]... report bundle|vector [KEY=VALUE]...\n"
        "Measure exchanges against what programs use today: verified first, then interleaved in\n"
        "one run.\n\n");
    bench_help(stdout);
    option_help(cli, options, stdout);
    return CLI_OK;
}

static int measure(const rank *me, bench_options *options)
{
    char error[BENCH_ERROR_BYTES] = "";

    options->ranks = me->size;
    int status = bench_check(options, error, sizeof error);
    if (status == CLI_OK)
        status = options->report ? bench_report(options, error, sizeof error)
                                 : bench_run(options, error, sizeof error);
    return status == CLI_OK ? CLI_OK : complain(status, "%s", error);
}

/* A rank that another program takes over. Nobody could report later how the job ended: what the
 * program leaves tells. */
static int become(const cli *cli, const bench_options *options)
{
    char error[BENCH_ERROR_BYTES] = "";

    if (cli->report)
        report_write(cli->report, CLI_OK, "");
    return complain(bench_become(options, error, sizeof error), "%s", error);
}

static int ranks(cli *cli, bench_options *options)
{
    rank me;

    if (bench_settle(options))
        return become(cli, options);
    int status = rank_begin(cli, false, &me);
    if (status == CLI_OK)
        status = measure(&me, options);
    return rank_end(&me, status);
}

static int make_part(parts *parts)
{
    const char *folder = getenv("TMPDIR");
    char *name = parts->name[parts->count];

    if (!folder || !folder[0])
        folder = "/tmp";
    const int length = snprintf(name, PART_BYTES, "%s/ferry-bench.XXXXXX", folder);
    const int fd = length < PART_BYTES ? mkostemp(name, O_CLOEXEC) : -1;
    if (fd < 0)
        return complain(CLI_FAILURE, "%s: no temporary file can be made there", folder);
    close(fd);
    parts->count++;
    return CLI_OK;
}

static void drop_parts(const parts *parts)
{
    for (int i = 0; i < parts->count; i++)
        unlink(parts->name[i]);
}

/* Failed rows are results too; anything else ends the run. */
static bool goes_on(int status)
{
    return status == CLI_OK || (status == CLI_FAILURE && !complaint()[0]);
}

/* One job. A status of 1 without a text means that a row was refused: its results count, and so
 * does its status. */
static int run_job(const cli *cli, int np, bool progress, parts *parts)
{
    char part[PART_BYTES + 16];
    const char *const extra[] = {part, progress ? "--progress" : NULL, NULL};
    const int status = make_part(parts);

    if (status != CLI_OK)
        return status;
    snprintf(part, sizeof part, "--part=%s", parts->name[parts->count - 1]);
    return launch_job(cli, np, extra);
}

/* The words of jobs that bench_own() starts. Its complaint becomes a text. */
static int start_own(void *user, int np, const char *const *extra, int limit_s, char *why,
                     size_t bytes)
{
    const int status = launch_job_within(user, np, extra, limit_s);

    snprintf(why, bytes, "%s", complaint());
    complain(CLI_OK, "%s", "");
    return status;
}

static int run_own(cli *cli, const bench_options *options, parts *parts)
{
    const bench_starter starter = {start_own, cli};
    char error[BENCH_ERROR_BYTES] = "";
    int status = bench_wants_own(options) ? make_part(parts) : CLI_OK;

    if (status != CLI_OK || !bench_wants_own(options))
        return status;
    status = bench_own(options, &starter, parts->name[parts->count - 1], error, sizeof error);
    return status == CLI_OK ? CLI_OK : complain(status, "%s", error);
}

static int run_jobs(const cli *cli, const bench_options *options, parts *parts)
{
    int np[BENCH_JOBS_MAX], refused = CLI_OK;
    const int count = bench_jobs(options, np);

    for (int i = 0; i < count; i++) {
        const int status = run_job(cli, np[i], options->progress, parts);
        if (!goes_on(status))
            return status;
        refused = status != CLI_OK ? status : refused;
    }
    return refused;
}

static int merge(const bench_options *options, const parts *parts)
{
    const char *names[BENCH_JOBS_MAX + 1];
    char error[BENCH_ERROR_BYTES] = "";

    for (int i = 0; i < parts->count; i++)
        names[i] = parts->name[i];
    const int status = bench_merge(options, names, parts->count, error, sizeof error);
    return status == CLI_OK ? CLI_OK : complain(status, "%s", error);
}

static int parent(cli *cli, bench_options *options)
{
    char error[BENCH_ERROR_BYTES] = "";
    parts parts = {.count = 0};
    int status = bench_check(options, error, sizeof error);

    if (status != CLI_OK)
        return complain(status, "%s", error);
    if (!launch_program())
        return CLI_FAILURE;
    interrupt_hold();
    options->progress = !options->quiet && isatty(STDERR_FILENO);
    status = run_jobs(cli, options, &parts);
    if (goes_on(status)) {
        const int own = run_own(cli, options, &parts);
        status = own != CLI_OK ? own : status;
    }
    if (goes_on(status) && !options->report) {
        const int merged = merge(options, &parts);
        status = merged != CLI_OK ? merged : status;
    }
    drop_parts(&parts);
    return status;
}

int cli_bench(cli *cli)
{
    bench_options bench = {0};
    bool progress = false;
    const option_spec options[] = {
        {'n', "np", "N", OPTION_COUNT, &cli->np, "ranks of cases that do not say np=; default 2"},
        {0, "rivals", "LIST", OPTION_TEXT, &bench.rivals,
         "all (default), none, or names separated by commas"},
        {0, "json", "FILE", OPTION_TEXT, &bench.json, "write the results as JSON"},
        {0, "csv", "FILE", OPTION_TEXT, &bench.csv, "write the results as CSV"},
        {0, "plot", "FILE", OPTION_TEXT, &bench.plot,
         "draw the results, as .svg or .png; needs gnuplot"},
        {0, "pairs", "N", OPTION_COUNT, &bench.pairs,
         "jobs of each rival that needs its own; default 7"},
        {0, "limit", "N", OPTION_COUNT, &bench.limit_s,
         "seconds for each such job; default 120 and more, by its bytes"},
        {0, "own", "ORDER", OPTION_TEXT, &bench.own, NULL},
        {0, "program", "FILE", OPTION_TEXT, &bench.program, NULL},
        {0, "script", "FILE", OPTION_TEXT, &bench.script, NULL},
        {0, "part", "FILE", OPTION_TEXT, &bench.part, NULL},
        {0, "progress", NULL, OPTION_FLAG, &progress, NULL},
        {0, NULL, NULL, OPTION_FLAG, NULL, NULL},
    };
    int at, status;

    if (!option_parse(cli, options, help, false, &at, &status))
        return status;
    bench.np = cli->np;
    bench.progress = progress;
    bench.quiet = cli->quiet;
    bench.verbose = cli->verbose;
    bench.pairs = bench.pairs ? bench.pairs : BENCH_PAIRS_DEFAULT;
    bench.report = at < cli->argc && strcmp(cli->argv[at], "report") == 0;
    at += bench.report;
    bench.words = cli->argv + at;
    bench.word_count = cli->argc - at;
    return cli->report || launch_inside() ? ranks(cli, &bench) : parent(cli, &bench);
}
