/* Programs of others that move the content of the case bundle: where they are, whether they belong
 * to the MPI of this program, and how a rank becomes one of them. */
#ifndef BENCH_PROGRAMS_H
#define BENCH_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "bench/content.h"

/* A variable of the environment. */
typedef struct setting {
    const char *name, *value;
} setting;

typedef struct program {
    const char *word;             /* of its jobs */
    const char *script;           /* text of the script that it runs; NULL: this program itself */
    const char *suffix;           /* of a file with it */
    const setting *settings;      /* NULL: none; names are NULL at the end */
    const char *(*missing)(void); /* why it cannot run here; NULL when it can */
    const char *(*find)(void);    /* its path; launchers give ranks another search path */
    const char *const *words;     /* before the script; NULL at the end */
} program;

/* NULL when there is none. */
const program *program_find(const char *word);

/* The settings as one text: "A=1 B=2". */
void program_settings(const program *p, char *text, size_t bytes);

/* In a rank, before MPI is initialized. */
void program_set(const program *p);

/* Turn this process into a program; `names` (NULL at the end) come after the script. Returns after
 * a failure. */
void program_run(const program *p, const char *path, const char *script, const char *const *names);

/* What a script is to move, through the environment; how often is left to this, unless no round
 * shall be timed. */
void program_tell(const content *c, bool is_bcast, bool timed);

/* Write the script of a program's job; a timed one goes without the parts that verify, where they
 * are marked. 0, or 1 when it could not be written. */
int program_write(const program *p, bool timed, FILE *to);

/* The scripts, embedded by the build. */
extern const char script_python[], script_gretl[];

#endif
