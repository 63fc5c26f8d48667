/* `ferry tune`: options, and what is done with the tuning record of this machine: shown, measured
 * and written, or removed. How it is measured is the business of tune_measure.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/launch.h"
#include "cli/option.h"
#include "cli/say.h"
#include "cli/tune.h"
#include "ferry/context.h"
#include "ferry/experimental.h"

enum { USUAL_RANKS = 2, USUAL_SECONDS = 6, SECONDS_MOST = 600 };

typedef struct tune_job {
    bool show, reset, dry_run;
    int seconds;
} tune_job;

static int help(cli *cli, const option_spec *options)
{
    printf("Usage: ferry tune [OPTION]...\n"
           "Measure how fast blocks move between ranks on this machine, print what was known and\n"
           "what was found, and write it to a file that every program using ferry reads from then\n"
           "on (FERRY_TUNE). Leave the machine alone meanwhile.\n");
    option_help(cli, options, stdout);
    return CLI_OK;
}

static int file_name(char path_out[PATH_MAX])
{
    const size_t length = ferry_tune_path(path_out, PATH_MAX);

    return length > 0 && length < PATH_MAX ? CLI_OK
                                           : complain(CLI_FAILURE, "%s", ferry_error_detail());
}

/* ---- Showing ---- */

static void print_number(double value)
{
    printf(value < 100 ? "  %10.3g" : "  %10.0f", value);
}

static void print_range(const tune_value *v)
{
    char text[48] = "";

    if (v->high > 0)
        snprintf(text, sizeof text, "%.3g..%.3g", v->low, v->high);
    printf("  %-16s", text);
}

/* Without `measured` the values in use only. */
static void print_values(const tune_result *result, bool measured)
{
    printf(measured ? "%-24s  %10s  %10s  %-16s  %s\n" : "%-24s  %10s%s%s  %s\n", "",
           measured ? "before" : "value", measured ? "after" : "", measured ? "quartiles" : "",
           "unit");
    for (int i = 0; i < result->count; i++) {
        const tune_value *const v = &result->values[i];
        printf("%-24s", v->name);
        print_number(v->before);
        if (measured) {
            print_number(v->after);
            print_range(v);
        }
        printf("  %-5s  %s\n", v->unit, v->help);
    }
}

static void print_origin(const ferry_context *ctx)
{
    ferry_context_info info;

    if (ferry_context_describe(ctx, &info) == FERRY_OK)
        printf("in use: %s (%s)\n", info.tuning, info.tuning_reason);
}

static int show(const rank *me)
{
    tune_result result;

    tune_read(me->ctx, &result);
    print_origin(me->ctx);
    print_values(&result, false);
    return CLI_OK;
}

/* ---- Removing ---- */

static int reset(void)
{
    char path[PATH_MAX];
    const int status = file_name(path);

    if (status != CLI_OK)
        return status;
    if (unlink(path) == 0)
        printf("removed: %s\n", path);
    else if (errno == ENOENT || errno == ENOTDIR)
        printf("there is no file: %s\n", path);
    else
        return complain(CLI_FAILURE, "%s: cannot be removed: %s", path, strerror(errno));
    return CLI_OK;
}

/* ---- Measuring ---- */

/* Before the work: can the file be written? Folders that are missing will be made. */
static int check_folder(void)
{
    char path[PATH_MAX];
    const int status = file_name(path);

    if (status != CLI_OK)
        return status;
    for (char *slash; (slash = strrchr(path, '/')) != NULL && slash > path;) {
        *slash = '\0';
        if (access(path, W_OK | X_OK) == 0)
            return CLI_OK;
        if (errno != ENOENT)
            break;
    }
    return complain(CLI_FAILURE, "%s: no tuning record can be written there: %s", path,
                    strerror(errno));
}

/* The context takes what was found, if that is what a record may hold. */
static int take(const rank *me, const tune_result *result)
{
    for (int i = 0; i < result->count; i++) {
        const tune_value *const v = &result->values[i];
        if (v->after != v->before && ferry_tune_set(me->ctx, v->name, v->after) != FERRY_OK)
            return complain(CLI_FAILURE,
                            "what was measured is no record (%s); is something else running? "
                            "Nothing was written",
                            ferry_error_detail());
    }
    return CLI_OK;
}

static int write_record(const rank *me, const tune_job *job)
{
    char path[PATH_MAX];
    int status = CLI_OK;

    if (job->dry_run) {
        printf("nothing was written (--dry-run)\n");
        return CLI_OK;
    }
    status = rank_status(ferry_tune_save(me->ctx), "write the tuning record");
    if (status == CLI_OK)
        status = file_name(path);
    if (status == CLI_OK)
        printf("written: %s\n", path);
    return status;
}

static int measure(const rank *me, const tune_job *job)
{
    tune_result result;
    int status = rank_agree(me, me->rank == 0 && !job->dry_run ? check_folder() : CLI_OK);

    if (status != CLI_OK)
        return status;
    tune_read(me->ctx, &result);
    status = tune_measure(me, job->seconds, &result);
    if (status != CLI_OK)
        return status;
    if (me->rank == 0) {
        print_origin(me->ctx);
        print_values(&result, true);
    }
    status = take(me, &result);
    if (status == CLI_OK)
        status = rank_agree(me, me->rank == 0 ? write_record(me, job) : CLI_OK);
    return status;
}

/* What is measured is compared with the file, whatever FERRY_TUNE says; what is shown is what
 * programs use now. */
static int ranks(cli *cli, const tune_job *job)
{
    rank me;
    int status = rank_begin(cli, true, &me);

    if (!job->show)
        setenv("FERRY_TUNE", "file", 1);
    if (status == CLI_OK)
        status = rank_context(&me);
    if (status == CLI_OK)
        status = job->show ? rank_agree(&me, me.rank == 0 ? show(&me) : CLI_OK) : measure(&me, job);
    return rank_end(&me, status);
}

/* ---- Options ---- */

static int check(const cli *cli, const tune_job *job, int at)
{
    if (at < cli->argc)
        return complain(CLI_USAGE, "\"%s\" is too much, expected options only", cli->argv[at]);
    if (job->show + job->reset + job->dry_run > 1)
        return complain(CLI_USAGE,
                        "--show, --reset and --dry-run are given together, expected one");
    if (cli->np == 1 && !job->show && !job->reset)
        return complain(CLI_USAGE,
                        "--np is 1, expected at least 2: one rank has nobody to send to");
    if (job->seconds > SECONDS_MOST)
        return complain(CLI_USAGE, "--seconds is %d, expected at most %d", job->seconds,
                        SECONDS_MOST);
    return CLI_OK;
}

int cli_tune(cli *cli)
{
    tune_job job = {.seconds = USUAL_SECONDS};
    const option_spec options[] = {
        {'n', "np", "N", OPTION_COUNT, &cli->np, "ranks to start; default 2"},
        {0, "seconds", "N", OPTION_COUNT, &job.seconds, "about how long to measure; default 6"},
        {0, "dry-run", NULL, OPTION_FLAG, &job.dry_run, "measure and print, but write nothing"},
        {0, "show", NULL, OPTION_FLAG, &job.show, "print the record in use, measure nothing"},
        {0, "reset", NULL, OPTION_FLAG, &job.reset, "remove the file: back to built-in values"},
        {0, NULL, NULL, OPTION_FLAG, NULL, NULL},
    };
    const char *const extra[] = {NULL};
    int at, status;

    if (!option_parse(cli, options, help, false, &at, &status))
        return status;
    status = check(cli, &job, at);
    if (status != CLI_OK)
        return status;
    const bool inside = cli->report || launch_inside();
    if (job.reset && !inside)
        return reset();
    if (job.reset)
        return complain(CLI_USAGE, "--reset removes a file: it wants no launcher");
    if (inside || (job.show && !cli->np))
        return ranks(cli, &job);
    if (!job.show && !job.dry_run)
        status = check_folder();
    if (status != CLI_OK)
        return status;
    return launch_job(cli, cli->np ? cli->np : USUAL_RANKS, extra);
}
