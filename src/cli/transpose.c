/* `ferry transpose IN.npy OUT.npy`: options, the checks before any rank is started, and starting
 * them.
 *
 * The parent makes the partial output, so that a name that cannot be written or a full disk is
 * found first, and removes it when the job fails in any way. Under a user's own launcher rank 0
 * does the same. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/host.h"
#include "cli/interrupt.h"
#include "cli/launch.h"
#include "cli/option.h"
#include "cli/say.h"
#include "cli/transpose.h"
#include "ferry/redistribute.h"
#include "ferry/version.h"

static int help(cli *cli, const option_spec *options)
{
    printf(
        "Usage: ferry transpose [OPTION]... IN.npy OUT.npy\n"
        "Transpose the matrix in a .npy file: 2 dimensions, C order, elements of 1 to %d bytes.\n"
        "\n"
        "Every rank holds its share of the matrix in memory, twice. The result appears under\n"
        "its name when it is complete; until then it grows in a hidden file beside it, which\n"
        "is removed when anything fails.\n",
        FERRY_TRANSPOSE_MAX_ELEMENT);
    option_help(cli, options, stdout);
    return CLI_OK;
}

int64_t transpose_output_bytes(const npy_header *header)
{
    char text[NPY_WRITTEN_MAX];

    return (int64_t)npy_compose(header->descr, header->shape[1], header->shape[0], text) +
           header->data_bytes;
}

int transpose_memory(int64_t bytes, const char *what)
{
    const uint64_t left = host_memory_free();

    if ((uint64_t)bytes <= left)
        return CLI_OK;
    return complain(CLI_FAILURE,
                    "%s: %" PRId64 " bytes of memory are needed, but %" PRIu64 " can be had", what,
                    bytes, left);
}

static int check_shape(const transpose_job *job)
{
    const npy_header *header = &job->header;
    char shape[160];

    if (header->dims != 2)
        return complain(CLI_FAILURE, "%s: shape %s has %d dimension%s, expected 2", job->in,
                        npy_shape(header, shape, sizeof shape), header->dims,
                        header->dims == 1 ? "" : "s");
    if (header->fortran)
        return complain(
            CLI_FAILURE,
            "%s: is in Fortran order (fortran_order: True), this version expects C order", job->in);
    if (header->element_bytes > FERRY_TRANSPOSE_MAX_ELEMENT)
        return complain(CLI_FAILURE, "%s: elements of %" PRId64 " bytes, expected at most %d",
                        job->in, header->element_bytes, FERRY_TRANSPOSE_MAX_ELEMENT);
    if (header->data_bytes > INT64_MAX / 4)
        return complain(CLI_FAILURE, "%s: %" PRId64 " bytes of data, expected at most %" PRId64,
                        job->in, header->data_bytes, INT64_MAX / 4);
    return CLI_OK;
}

static bool same_file(int fd, const char *name)
{
    struct stat one, other;

    return fstat(fd, &one) == 0 && stat(name, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

int transpose_inspect(transpose_job *job)
{
    int fd;
    int status = file_open(job->in, &fd);

    if (status != CLI_OK)
        return status;
    status = npy_read(job->in, fd, &job->header);
    if (status == CLI_OK)
        status = check_shape(job);
    if (status == CLI_OK && !job->force && same_file(fd, job->out))
        status = complain(CLI_FAILURE, "%s: is the input itself, expected another name or --force",
                          job->out);
    close(fd);
    return status;
}

/* One rank per core, but none without rows. */
static int usual_ranks(const npy_header *header)
{
    const int cores = host_cores();

    if (header->shape[0] < 1)
        return 1;
    return header->shape[0] < cores ? (int)header->shape[0] : cores;
}

static int start_ranks(const cli *cli, transpose_job *job)
{
    char partial[PATH_MAX + 16];
    const char *const extra[] = {partial, NULL};
    const int np = cli->np ? cli->np : usual_ranks(&job->header);

    snprintf(partial, sizeof partial, "--partial=%s", job->output.partial);
    const int status = launch_job(cli, np, extra);
    if (status != CLI_OK)
        output_drop(&job->output);
    return status;
}

static int parent(const cli *cli, transpose_job *job)
{
    int status = transpose_inspect(job);

    if (status == CLI_OK)
        status = output_check(job->out, job->force, &job->output);
    if (status == CLI_OK)
        status = transpose_memory(2 * job->header.data_bytes, job->in);
    if (status != CLI_OK)
        return status;
    if (!launch_program())
        return CLI_FAILURE;
    interrupt_hold();
    status = output_make(&job->output, transpose_output_bytes(&job->header));
    return status == CLI_OK ? start_ranks(cli, job) : status;
}

int cli_transpose(cli *cli)
{
    transpose_job job = {0};
    const option_spec options[] = {
        {'n', "np", "N", OPTION_COUNT, &cli->np,
         "ranks to start; default: the cores, at most the rows"},
        {'f', "force", NULL, OPTION_FLAG, &job.force,
         "replace OUT.npy if it exists; it may be IN.npy"},
        {0, "verify", NULL, OPTION_FLAG, &job.verify,
         "read the result again and compare every element"},
        {0, "sync", NULL, OPTION_FLAG, &job.sync, "wait until the result is on the disk"},
        {0, "partial", "PATH", OPTION_TEXT, &job.partial, NULL},
        {0, NULL, NULL, OPTION_FLAG, NULL, NULL},
    };
    int at, status;

    if (!option_parse(cli, options, help, false, &at, &status))
        return status;
    if (cli->argc - at != 2)
        return complain(CLI_USAGE, "%d file names, expected 2: IN.npy OUT.npy", cli->argc - at);
    job.in = cli->argv[at];
    job.out = cli->argv[at + 1];
    return cli->report || launch_inside() ? transpose_ranks(cli, &job) : parent(cli, &job);
}
