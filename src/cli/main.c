/* The `ferry` program: finds the subcommand in a table, runs it, and prints the one line that a
 * failure leaves. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/option.h"
#include "cli/report.h"
#include "cli/say.h"
#include "ferry/version.h"

static const struct {
    const char *name;
    int (*run)(cli *cli);
    const char *help;
} subcommands[] = {
    {"info", cli_info, "what this machine, its MPI and this build of ferry offer"},
    {"bench", cli_bench, "measure exchanges against what programs use today"},
    {"transpose", cli_transpose, "transpose a matrix in a .npy file"},
    {"tune", cli_tune, "measure this machine, so that ferry chooses better"},
    {"bundle", cli_bundle, "look at files of bundles, compare and convert them"},
};
enum { SUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

int cli_version(void)
{
    printf("ferry %s (%s)\n", FERRY_VERSION_TEXT, ferry_version_mpi());
    return CLI_OK;
}

static int help(cli *cli, const option_spec *options)
{
    printf("Usage: ferry [OPTION]... SUBCOMMAND [ARGUMENT]...\n"
           "Moves data between the processes of an MPI job.\n\nSubcommands:\n");
    for (int i = 0; i < SUBCOMMANDS; i++)
        printf("  %-10s  %s\n", subcommands[i].name, subcommands[i].help);
    option_help(cli, options, stdout);
    printf("\n\"ferry SUBCOMMAND --help\" tells more. Without mpiexec, --np=N starts N ranks.\n"
           "Exit status: 0 success, 1 failure, 2 wrong usage, 130 interrupted.\n");
    return CLI_OK;
}

static int unknown(const char *word)
{
    const char *names[SUBCOMMANDS + 1] = {NULL};

    for (int i = 0; i < SUBCOMMANDS; i++)
        names[i] = subcommands[i].name;
    const char *near = say_nearest(word, names);
    if (near)
        return complain(CLI_USAGE, "unknown subcommand \"%s\", did you mean \"%s\"?", word, near);
    return complain(CLI_USAGE,
                    "unknown subcommand \"%s\", expected info, bench, transpose, tune or bundle",
                    word);
}

/* The program's name stays before the subcommand's own words, because getopt skips one. */
static int run(cli *cli, int at)
{
    for (int i = 0; i < SUBCOMMANDS; i++) {
        if (strcmp(subcommands[i].name, cli->argv[at]))
            continue;
        cli->subcommand = subcommands[i].name;
        cli->argc -= at;
        cli->argv += at;
        return subcommands[i].run(cli);
    }
    return unknown(cli->argv[at]);
}

static int begin(cli *cli)
{
    const option_spec options[] = {
        {0, "report-to", "PLACE", OPTION_TEXT, &cli->report, NULL},
        {0, NULL, NULL, OPTION_FLAG, NULL, NULL},
    };
    int at, status;

    if (!option_parse(cli, options, help, true, &at, &status))
        return status;
    if (at == cli->argc)
        return complain(CLI_USAGE,
                        "no subcommand, expected info, bench, transpose, tune or bundle");
    return run(cli, at);
}

int main(int argc, char **argv)
{
    cli cli = {.argc = argc, .argv = argv};
    int status = begin(&cli);

    if (fflush(stdout) != 0 && status == CLI_OK)
        status = complain(CLI_FAILURE,
                          "what was printed cannot be written: the output is full or closed");
    if (status == CLI_OK)
        return CLI_OK;
    /* A rank that failed before it joined its job: */
    if (cli.report && report_write(cli.report, status, complaint()))
        return CLI_OK;
    say_error(cli.subcommand, complaint());
    return status;
}
