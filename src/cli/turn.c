/* The ranks of `ferry transpose`: each reads its rows, takes part in the transposition, writes its
 * rows of the result.
 *
 * Every step ends in an agreement, so that all ranks leave together when one fails; only when all
 * have written, and verified, does rank 0 give the partial file its name. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/rank.h"
#include "cli/say.h"
#include "cli/transpose.h"
#include "ferry/context.h"
#include "ferry/memory.h"
#include "ferry/redistribute.h"

enum { CLOSED = -1 };

/* This rank's part. */
typedef struct turn {
    const rank *me;
    transpose_job *job;
    ferry_transpose *transpose;
    int64_t first_row, rows;       /* of the input */
    int64_t first_column, columns; /* of the input, rows of the result */
    void *source, *target;
    int in, out; /* descriptors */
} turn;

static int64_t row_bytes(const turn *turn)
{
    return turn->job->header.shape[1] * turn->job->header.element_bytes;
}

static int64_t column_bytes(const turn *turn)
{
    return turn->job->header.shape[0] * turn->job->header.element_bytes;
}

/* The ranks of this node at once, as if all shares were equal. A parent has checked already. */
static int check_memory(const turn *turn)
{
    const npy_header *header = &turn->job->header;
    ferry_context_info info;

    if (turn->job->partial || ferry_context_describe(turn->me->ctx, &info) != FERRY_OK)
        return CLI_OK;
    return transpose_memory(
        (int64_t)(2.0 * (double)header->data_bytes * info.node_size / info.size), turn->job->in);
}

static int make_partial(transpose_job *job)
{
    const int status = output_check(job->out, job->force, &job->output);

    if (status != CLI_OK || !job->partial)
        return status != CLI_OK ? status
                                : output_make(&job->output, transpose_output_bytes(&job->header));
    snprintf(job->output.partial, sizeof job->output.partial, "%s", job->partial);
    return CLI_OK;
}

/* Rank 0 answers for the partial file, whoever made it; all ranks learn its name. */
static int make_output(const turn *turn)
{
    transpose_job *job = turn->job;
    int status = CLI_OK;

    if (turn->me->rank == 0) {
        interrupt_hold();
        status = make_partial(job);
        interrupt_removes(job->output.partial);
        interrupt_release();
    }
    status = rank_agree(turn->me, status);
    if (status == CLI_OK)
        MPI_Bcast(&job->output, sizeof job->output, MPI_BYTE, 0, MPI_COMM_WORLD);
    return status;
}

static int compile(turn *turn)
{
    const npy_header *header = &turn->job->header;
    ferry_transpose_spec spec = FERRY_TRANSPOSE_SPEC_INIT;

    spec.rows = header->shape[0];
    spec.columns = header->shape[1];
    spec.element_bytes = header->element_bytes;
    const ferry_status st = ferry_transpose_create(turn->me->ctx, &spec, &turn->transpose);
    if (st != FERRY_OK)
        return rank_status(st, "compile the transposition");
    return rank_status(ferry_transpose_shares(turn->transpose, &turn->first_row, &turn->rows,
                                              &turn->first_column, &turn->columns),
                       "learn the shares");
}

static int take_memory(turn *turn)
{
    ferry_context *ctx = turn->me->ctx;
    ferry_status st =
        ferry_memory_alloc(ctx, (size_t)(turn->rows * row_bytes(turn)), &turn->source);

    if (st == FERRY_OK)
        st = ferry_memory_alloc(ctx, (size_t)(turn->columns * column_bytes(turn)), &turn->target);
    return rank_status(st, "hold the matrix");
}

static int open_files(turn *turn)
{
    const output *output = &turn->job->output;
    const int status = file_open(turn->job->in, &turn->in);

    if (status != CLI_OK)
        return status;
    turn->out = open(output->partial, O_RDWR | O_CLOEXEC);
    if (turn->out < 0)
        return complain(CLI_FAILURE, "%s: cannot be opened: %s", output->partial, strerror(errno));
    return CLI_OK;
}

static int read_rows(turn *turn)
{
    return file_read(turn->job->in, turn->in, turn->source, turn->rows * row_bytes(turn),
                     turn->job->header.data_offset + turn->first_row * row_bytes(turn));
}

static int move(turn *turn)
{
    const ferry_status st = ferry_transpose_run(turn->transpose, turn->source, turn->target);
    const int status = rank_status(st, "transpose");

    if (st == FERRY_ERR_PEER_GONE || st == FERRY_ERR_TIMEOUT) {
        output_drop(&turn->job->output);
        rank_give_up(turn->me, status);
    }
    return status;
}

static int write_rows(turn *turn)
{
    const npy_header *header = &turn->job->header;
    const char *name = turn->job->output.name;
    char head[NPY_WRITTEN_MAX];
    const int64_t head_bytes =
        (int64_t)npy_compose(header->descr, header->shape[1], header->shape[0], head);
    const int status =
        turn->me->rank == 0 ? file_write(name, turn->out, head, head_bytes, 0) : CLI_OK;

    if (status != CLI_OK)
        return status;
    return file_write(name, turn->out, turn->target, turn->columns * column_bytes(turn),
                      head_bytes + turn->first_column * column_bytes(turn));
}

static int verify(turn *turn)
{
    return transpose_verify(turn->job, turn->in, turn->out, turn->first_column, turn->columns);
}

/* Every rank, because each may be on a machine of its own. */
static int sync_file(turn *turn)
{
    if (fsync(turn->out) == 0)
        return CLI_OK;
    return complain(CLI_FAILURE, "%s: cannot be written: %s", turn->job->output.name,
                    strerror(errno));
}

static int finish(turn *turn)
{
    return turn->me->rank == 0 ? output_finish(&turn->job->output, turn->job->force) : CLI_OK;
}

/* The steps after the output was made. A name makes a step one that -v tells the time of. */
static const struct {
    const char *name;
    int (*run)(turn *turn);
    size_t asked; /* where in transpose_job the option is that asks for the step; 0: always done */
} steps[] = {
    {NULL, take_memory, 0},
    {NULL, open_files, 0},
    {"read", read_rows, 0},
    {"move", move, 0},
    {"write", write_rows, 0},
    {"sync", sync_file, offsetof(transpose_job, sync)},
    {"verify", verify, offsetof(transpose_job, verify)},
    {NULL, finish, 0},
};
enum { STEPS = sizeof steps / sizeof steps[0] };

static bool asked(const transpose_job *job, int step)
{
    return !steps[step].asked || *(const bool *)((const char *)job + steps[step].asked);
}

static int run_steps(turn *turn, double seconds_out[STEPS])
{
    for (int i = 0; i < STEPS; i++) {
        if (!asked(turn->job, i))
            continue;
        const double before = MPI_Wtime();
        const int status = rank_agree(turn->me, steps[i].run(turn));
        if (status != CLI_OK)
            return status;
        seconds_out[i] = MPI_Wtime() - before;
    }
    return CLI_OK;
}

static void tell(const turn *turn, const double seconds[STEPS])
{
    const npy_header *header = &turn->job->header;
    char size[SAY_SIZE_BYTES], rate[SAY_SIZE_BYTES], text[4096];
    double all = 0;

    for (int i = 0; i < STEPS; i++)
        all += seconds[i];
    printf("%" PRId64 " x %" PRId64 " of %" PRId64 " byte%s -> %s, %s in %.2f s%s\n",
           header->shape[0], header->shape[1], header->element_bytes,
           header->element_bytes == 1 ? "" : "s", turn->job->out,
           say_bytes((uint64_t)header->data_bytes, size), all,
           turn->job->verify ? ", verified" : "");
    for (int i = 0; i < STEPS && turn->me->cli->verbose; i++)
        if (steps[i].name && seconds[i] > 0)
            printf("  %-6s %9.4f s  %s/s\n", steps[i].name, seconds[i],
                   say_bytes((uint64_t)((double)header->data_bytes / seconds[i]), rate));
    if (turn->me->cli->verbose && ferry_transpose_explain(turn->transpose, text, sizeof text) > 0)
        printf("%s%s", text, text[strlen(text) - 1] == '\n' ? "" : "\n");
}

static int run(turn *turn)
{
    double seconds[STEPS] = {0};
    int status = rank_agree(turn->me, transpose_inspect(turn->job));

    if (status == CLI_OK)
        status = rank_agree(turn->me, check_memory(turn));
    if (status == CLI_OK)
        status = make_output(turn);
    if (status == CLI_OK)
        status = compile(turn);
    if (status == CLI_OK)
        status = run_steps(turn, seconds);
    if (status == CLI_OK && turn->me->rank == 0 && !turn->me->cli->quiet)
        tell(turn, seconds);
    return status;
}

static void drop(turn *turn)
{
    if (turn->me->rank == 0)
        output_drop(&turn->job->output);
    if (turn->in != CLOSED)
        close(turn->in);
    if (turn->out != CLOSED)
        close(turn->out);
    ferry_transpose_free(turn->transpose);
    ferry_memory_free(turn->me->ctx, turn->source);
    ferry_memory_free(turn->me->ctx, turn->target);
}

int transpose_ranks(cli *cli, transpose_job *job)
{
    rank me;
    turn turn = {.me = &me, .job = job, .in = CLOSED, .out = CLOSED};
    int status;

    if (job->partial)
        interrupt_removes(job->partial);
    status = rank_begin(cli, true, &me);

    if (status == CLI_OK)
        status = rank_context(&me);
    if (status == CLI_OK) {
        status = run(&turn);
        drop(&turn);
    }
    return rank_end(&me, status);
}
