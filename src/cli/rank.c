/* Ranks. The only file of the program's frame that calls MPI; subcommands add their own calls. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/launch.h"
#include "cli/rank.h"
#include "cli/report.h"
#include "cli/say.h"
#include "ferry/context.h"

static int check_size(const cli *cli, bool np_is_size, int size)
{
    const int expected = launch_ranks_expected();

    if (expected && expected != size)
        return complain(
            CLI_USAGE,
            "the launcher started %d ranks, but %s sees %d: it belongs to another MPI than this "
            "program, expected %s",
            expected, FERRY_MPI_NAME, size, "mpiexec." FERRY_MPI_NAME);
    if (np_is_size && cli->np && cli->np != size)
        return complain(CLI_USAGE, "--np is %d, but the launcher started %d rank%s", cli->np, size,
                        size == 1 ? "" : "s");
    return CLI_OK;
}

/* Only the first of jobs that another MPI's launcher cut into pieces speaks. */
static bool speaks(const rank *me)
{
    const char *text = getenv("OMPI_COMM_WORLD_RANK");

    if (!text)
        text = getenv("PMI_RANK");
    return me->rank == 0 && (!text || atoi(text) == 0);
}

/* The thread of FERRY_PROGRESS moves what goes by MPI only where MPI takes calls of all threads. */
static void start_mpi(void)
{
    const char *const progress = getenv("FERRY_PROGRESS");
    const bool threads = progress && strcmp(progress, "thread") == 0;
    int provided;

    MPI_Init_thread(NULL, NULL, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
}

int rank_begin(cli *cli, bool np_is_size, rank *me_out)
{
    int started = 0;

    *me_out = (rank){.cli = cli};
    if (cli->report) {
        report_attend(cli->report);
        report_follow(cli->report, interrupt_end);
    }
    MPI_Initialized(&started);
    if (!started)
        start_mpi();
    MPI_Comm_rank(MPI_COMM_WORLD, &me_out->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &me_out->size);
    return check_size(cli, np_is_size, me_out->size);
}

int rank_context(rank *me)
{
    return rank_status(ferry_context_create(MPI_COMM_WORLD, NULL, &me->ctx), "make the context");
}

int rank_agree(const rank *me, int status)
{
    char text[SAY_ERROR_BYTES];
    int mine[2] = {status == CLI_OK ? me->size : me->rank, status};
    int first = me->size;

    MPI_Allreduce(&mine[0], &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == me->size)
        return CLI_OK;
    snprintf(text, sizeof text, "%s", complaint());
    MPI_Bcast(&status, 1, MPI_INT, first, MPI_COMM_WORLD);
    MPI_Bcast(text, sizeof text, MPI_CHAR, first, MPI_COMM_WORLD);
    if (me->size == 1)
        return complain(status, "%s", text);
    return complain(status, "rank %d: %s", first, text);
}

int rank_status(ferry_status status, const char *doing)
{
    const char *detail = ferry_error_detail();

    if (status == FERRY_OK)
        return CLI_OK;
    return complain(CLI_FAILURE, "cannot %s: %s", doing,
                    detail[0] ? detail : ferry_status_text(status));
}

int rank_end(rank *me, int status)
{
    const char *report = me->cli->report;
    const bool reported = report && (me->rank != 0 || report_write(report, status, complaint()));

    if (!reported && status != CLI_OK && speaks(me))
        say_error(me->cli->subcommand, complaint());
    complain(status, "%s", "");
    me->cli->report = NULL;
    ferry_context_free(me->ctx);
    me->ctx = NULL;
    fflush(stdout);
    MPI_Finalize();
    return reported ? CLI_OK : status;
}

void rank_give_up(const rank *me, int status)
{
    if (!me->cli->report || !report_write(me->cli->report, status, complaint()))
        say_error(me->cli->subcommand, complaint());
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, status);
    abort();
}
