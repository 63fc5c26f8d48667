/* Options of the program and of its subcommands: one table gives the parser and the help. */
#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include <stdio.h>

#include "cli/cli.h"

typedef enum option_kind {
    OPTION_FLAG,  /* bool: set to true */
    OPTION_COUNT, /* int: 1..CLI_NP_MAX */
    OPTION_TEXT,  /* const char *: the argument; lends argv's memory */
    OPTION_COLOUR /* handled here; no target */
} option_kind;

typedef struct option_spec {
    char letter;          /* 0: none */
    const char *name;     /* NULL ends a table */
    const char *argument; /* shown in the help; NULL for flags */
    option_kind kind;
    void *target;
    const char *help; /* NULL: not shown, for options that a parent gives to its ranks */
} option_spec;

enum { OPTION_MAX = 24 }; /* options of one subcommand, the common ones included */

/* Prints the help of a subcommand; returns an exit status. */
typedef int option_usage(cli *cli, const option_spec *own);

/* Parse argv by `own` and the options that every subcommand has (help, version, quiet, verbose,
 * color). Operands are moved to the end of argv; their first index is `*operands_out`. With
 * `stop_early` the first operand ends the options. False when all is done: `*status_out` is then
 * that of --help or --version, or CLI_USAGE with a complaint; else it is CLI_OK. */
bool option_parse(cli *cli, const option_spec *own, option_usage *usage, bool stop_early,
                  int *operands_out, int *status_out);

/* Print the options with their help. */
void option_help(cli *cli, const option_spec *own, FILE *to);

/* A number of ranks; false when the text is none. */
bool option_count(const char *text, int *count_out);

#endif
