/* Starting the program again as the ranks of an MPI job, under the launcher of the MPI it was built
 * for. */
#ifndef CLI_LAUNCH_H
#define CLI_LAUNCH_H

#include <stdbool.h>

#include "cli/cli.h"

/* True when this process is a rank of an MPI job already. */
bool launch_inside(void);

/* Ranks of the job as the launcher tells in the environment; 0 when it does not. */
int launch_ranks_expected(void);

/* The launcher that would be used, or NULL with a complaint. Lends until the next call. */
const char *launch_program(void);

/* Run this subcommand with the same words as `np` ranks; `extra` (ends at a NULL, at most
 * LAUNCH_EXTRA) is put before them. Returns the job's exit status with its complaint; 128 + number
 * after a signal. Holds signals back from then on. */
enum { LAUNCH_EXTRA = 8 };
int launch_job(const cli *cli, int np, const char *const *extra);

/* The same; a job that takes longer than so many seconds is ended, and fails. 0: any time. */
int launch_job_within(const cli *cli, int np, const char *const *extra, int limit_s);

#endif
