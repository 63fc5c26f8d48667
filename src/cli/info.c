/* `ferry info`: options, and starting ranks. By default two, because one rank alone reaches nobody;
 * --np=1 needs no launcher. */
#include <stdio.h>

#include "cli/host.h"
#include "cli/info.h"
#include "cli/launch.h"
#include "cli/option.h"
#include "cli/say.h"

enum { USUAL_RANKS = 2, FLAGS = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE };

static int help(cli *cli, const option_spec *options)
{
    printf("Usage: ferry info [OPTION]...\n"
           "Show this build and its MPI, the machine, the routes that work between ranks here and\n"
           "why others do not, and every FERRY_* setting with its value and its origin.\n");
    option_help(cli, options, stdout);
    return CLI_OK;
}

static int show(const rank *me, bool json, int cores)
{
    json_object *facts = info_gather(me, cores);

    if (!facts)
        return CLI_FAILURE;
    if (json)
        printf("%s\n", json_object_to_json_string_ext(facts, FLAGS));
    else
        info_print(facts);
    json_object_put(facts);
    return CLI_OK;
}

static int ranks(cli *cli, bool json, int cores)
{
    rank me;
    int status = rank_begin(cli, true, &me);

    if (status == CLI_OK)
        status = rank_context(&me);
    if (status == CLI_OK)
        status = rank_agree(&me, me.rank == 0 ? show(&me, json, cores) : CLI_OK);
    return rank_end(&me, status);
}

int cli_info(cli *cli)
{
    bool json = false;
    int cores = 0; /* of the parent: launchers bind each rank to a few */
    char cores_word[32];
    const option_spec options[] = {
        {'n', "np", "N", OPTION_COUNT, &cli->np, "ranks to start; default 2"},
        {0, "json", NULL, OPTION_FLAG, &json, "print JSON"},
        {0, "cores", "N", OPTION_COUNT, &cores, NULL},
        {0, NULL, NULL, OPTION_FLAG, NULL, NULL},
    };
    const char *const extra[] = {cores_word, NULL};
    int at, status;

    if (!option_parse(cli, options, help, false, &at, &status))
        return status;
    if (at < cli->argc)
        return complain(CLI_USAGE, "\"%s\" is too much, expected options only", cli->argv[at]);
    if (cli->report || launch_inside() || cli->np == 1 || (!cli->np && !launch_program()))
        return ranks(cli, json, cores ? cores : host_cores());
    snprintf(cores_word, sizeof cores_word, "--cores=%d", host_cores());
    return launch_job(cli, cli->np ? cli->np : USUAL_RANKS, extra);
}
