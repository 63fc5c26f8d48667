/* What every rank of the program does: join the job, agree on failures, leave with one exit status.
 */
#ifndef CLI_RANK_H
#define CLI_RANK_H

#include "cli/cli.h"
#include "ferry/status.h"

typedef struct ferry_context ferry_context;

typedef struct rank {
    cli *cli;
    ferry_context *ctx; /* of all ranks; NULL until rank_context() */
    int rank;
    int size;
} rank;

/* Initialize MPI. Checks that the job is as large as its launcher says (another MPI's launcher
 * starts N jobs of one rank), and as --np, if `np_is_size`. */
int rank_begin(cli *cli, bool np_is_size, rank *me_out);

/* Make the context. */
int rank_context(rank *me);

/* Join: the status of the lowest rank that failed, with its complaint headed by "rank N: ", on all
 * ranks. */
int rank_agree(const rank *me, int status);

/* An exit status for a status that a collective call of ferry left alike on all ranks. */
int rank_status(ferry_status status, const char *doing);

/* Leave: report or print the failure once, finalize MPI, give this process's exit status. */
int rank_end(rank *me, int status);

/* Leave at once when the other ranks cannot be waited for any more. Does not return. */
void rank_give_up(const rank *me, int status) __attribute__((noreturn));

#endif
