/* ferry bench: measures exchanges against what programs use today, verified first, in one run.
 *
 * How a command becomes results. The command line fills `bench_options` and calls bench_check()
 * before any rank is started. Outside of an MPI job it then starts one job per number of
 * bench_jobs(), each with the same words and a part file of its own; in each job all ranks call
 * bench_run(), which measures the cases that want this number of ranks, prints their tables and
 * leaves its results in the part file. Rivals that need a job of their own come then: bench_own()
 * starts jobs of one case each (`own`), and makes one more part file. Last, bench_merge() joins the
 * part files into the one list that --json and --csv promise. Inside of a job (`mpiexec ferry
 * bench`) bench_run() writes --json and --csv itself. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum {
    BENCH_NP_DEFAULT = 2,
    BENCH_NP_MAX = 4096,
    BENCH_JOBS_MAX = 64,
    BENCH_PAIRS_DEFAULT = 7,
    BENCH_PAIRS_MAX = 1000,
    BENCH_ERROR_BYTES = 512
};

typedef struct bench_options {
    int np;    /* --np; 0 when not given */
    int ranks; /* ranks of the running job; 0 outside of one (the parent, which starts jobs) */
    const char *rivals; /* --rivals; NULL: all */
    const char *json;   /* --json; NULL: none; like the next two */
    const char *csv;
    const char *plot;
    int pairs;           /* --pairs: jobs of a rival that needs its own */
    int limit_s;         /* --limit: of a job that only a rival needs; 0: by its bytes */
    bool report;         /* lines for people instead of tables: see bench_report() */
    const char *own;     /* the only case that a job runs, and as what (own.h); else NULL */
    const char *program; /* of that job, or NULL */
    const char *script;  /* likewise */
    const char *part; /* file for this job's results, given by the parent to its jobs; else NULL */
    int progress; /* 1: progress on stderr (the parent's stderr is a terminal and -q was not given)
                   */
    int quiet;    /* -q: only tables */
    int verbose;  /* -v: baselines, plans and counters too */
    int word_count;     /* words after the options: cases */
    char *const *words; /* "halo", "d=3", ... or "halo d=3 n=128" */
} bench_options;

/* Check everything that can be checked before ranks are started: the case words, the rivals, the
 * output files, and whether the memory of the cases is there. 0, or 2 (usage) with one line of text
 * that names the word, the key, the number and what was expected. */
int bench_check(const bench_options *options, char *error, size_t bytes);

/* After a successful check: cases, and the ranks that case `index` wants. */
int bench_case_count(const bench_options *options);
int bench_case_np(const bench_options *options, int index);

/* The different numbers of ranks, in the order of the cases: one MPI job each. Returns how many (at
 * most BENCH_JOBS_MAX; bench_check() refuses more). */
int bench_jobs(const bench_options *options, int np_out[BENCH_JOBS_MAX]);

/* In every rank of a job, MPI initialized: measure. Returns the same exit status everywhere: 0; 1
 * with a text in `error` (a wrong element, no memory, an output that cannot be written), or with an
 * empty text when a row was refused (the table says which). */
int bench_run(const bench_options *options, char *error, size_t bytes);

/* In every rank of a job, likewise: move the case's content as XML, as plain bytes and as a bundle,
 * and print what was sent, got, how long it took and how it differs; of the case vector, two tables
 * over its size. Other cases have no report: bench_check() sees to that. */
int bench_report(const bench_options *options, char *error, size_t bytes);

/* How the parent starts a job: `np` ranks with the words of this run and these before them (NULL at
 * the end), ended after so many seconds. 0, or the exit status with why; 128 and more: interrupted.
 */
typedef struct bench_starter {
    int (*start)(void *user, int np, const char *const *extra, int limit_s, char *why,
                 size_t bytes);
    void *user;
} bench_starter;

/* In the parent, after the jobs: rivals that need jobs of their own, if some are wanted. Prints
 * their tables and leaves their results in `part`. Returns as bench_run(), or what the starter
 * returned. */
bool bench_wants_own(const bench_options *options);
int bench_own(const bench_options *options, const bench_starter *starter, const char *part,
              char *error, size_t bytes);

/* In a rank of such a job, before MPI is initialized: take on the settings of the rival. True when
 * another program measures it; then bench_become() turns this process into that program, or returns
 * 1 with a text. */
bool bench_settle(const bench_options *options);
int bench_become(const bench_options *options, char *error, size_t bytes);

/* In the parent, after all jobs have ended: join the part files and write --json and --csv.
 * Removing the part files is left to the caller. 0, or 1 with a text. Nothing is written under the
 * final names after a failure. */
int bench_merge(const bench_options *options, const char *const *parts, int count, char *error,
                size_t bytes);

/* The cases with their keys, defaults and rivals, for --help. */
void bench_help(FILE *to);

#endif
