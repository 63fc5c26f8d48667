/* Programs of others that move the content of the case bundle: where they are, whether they belong
 * to the MPI of this program, and how a rank becomes one of them. */
#ifndef BENCH_PROGRAMS_H
#define BENCH_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "bench/content.h"

/* A variable of the environment. */
typedef struct setting {
    const char *name, *value;
} setting;

typedef struct program {
    const char *word;         /* of its jobs */
    const char *script;       /* text of the script that it runs; NULL: this program itself */
    const char *suffix;       /* of a file with it */
    const setting *settings;  /* NULL: none; names are NULL at the end */
    const char *(*missing)(void); /* why it cannot run here; NULL when it can */
    void (*run)(const char *script, const char *const *names); /* exec; returns after a failure */
} program;

/* NULL when there is none. */
const program *program_find(const char *word);

/* The settings as one text: "A=1 B=2". */
void program_settings(const program *p, char *text, size_t bytes);

/* In a rank, before MPI is initialized. */
void program_set(const program *p);

/* What a script is to move, through the environment; how often is left to this, unless no round
 * shall be timed. */
void program_tell(const content *c, bool is_bcast, bool timed);

/* The scripts, embedded by the build. */
extern const char script_python[], script_gretl[];

#endif
