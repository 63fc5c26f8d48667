/* The `ferry` program: what its subcommands share. It sees the library through include/ferry only.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>

/* Exit statuses; the same through the MPI launcher. Another signal than SIGINT ends with 128 + its
 * number. */
enum { CLI_OK = 0, CLI_FAILURE = 1, CLI_USAGE = 2, CLI_SIGNALLED = 128 };

enum { CLI_NP_MAX = 4096 };

/* One run of the program. The first group is for every subcommand. */
typedef struct cli {
    const char *subcommand;
    int argc;           /* words after the subcommand ... */
    char **argv;        /* ... from argv[1] on; argv[0] is the program, as getopt wants it */
    const char *report; /* where a rank tells its parent how the job ended; NULL when a user's
                           launcher started it */
    bool quiet;
    bool verbose;
    bool help;
    bool version;
    int np; /* --np; 0 when not given */
} cli;

/* Print the version, for --version of the program and of every subcommand. */
int cli_version(void);

int cli_info(cli *cli);
int cli_bench(cli *cli);
int cli_transpose(cli *cli);
int cli_tune(cli *cli);
int cli_bundle(cli *cli);

#endif
