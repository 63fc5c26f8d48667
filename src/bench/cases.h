/* Cases: what a line such as "halo d=3 n=128 dir=x" says. A kind of case is one record
 * (case_bundle, case_vector, ...) with its keys and what opens it; reading words, defaults and the
 * printed form are common to all. */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/bench.h"
#include "bench/harness.h"
#include "bench/world.h"

enum { KEYS_MAX = 8, KEY_PARTS_MAX = 3, CASE_TEXT_BYTES = 160, CASE_RIVALS_MAX = 12 };

/* A key of a case: numbers joined by x ("20x1000x100"), or one of a few words (kept as its place in
 * the list). */
typedef struct case_key {
    const char *name;
    const char *normal; /* default, as a text; NULL: 0, the key stands for another one */
    const char *help;
    int parts;           /* numbers, 1..KEY_PARTS_MAX; 0: a word */
    int64_t least, most; /* of each number */
    const char *words[5];
} case_key;

typedef struct case_kind case_kind;

/* Two rows whose times a reader of this case compares. */
typedef struct case_ratio {
    const char *above, *below;
} case_ratio;

typedef struct bench_case {
    const case_kind *kind;
    unsigned given; /* bits: the keys that were given */
    int64_t values[KEYS_MAX][KEY_PARTS_MAX];
    int np;
} bench_case;

struct case_kind {
    const char *word;
    const char *help;
    int key_count;
    int least_np;
    const case_key *keys;
    const char *rivals[CASE_RIVALS_MAX + 1]; /* NULL at the end */
    const case_ratio *ratios; /* printed below the table; NULL: none, names are NULL at the end */

    /* Values that are each allowed but not together: 0, or 1 with a text. */
    int (*check)(const bench_case *c, char *error, size_t bytes);

    /* Whether the printed form names a key; NULL: all of them. */
    bool (*shows)(const bench_case *c, int key);

    /* Bytes of memory that all ranks together need with these rivals; UINT64_MAX when they do not
     * fit. After check(). */
    uint64_t (*need)(const bench_case *c, const char *rivals);

    /* Make the contenders. Collective; the same result on all ranks: 0, or 1 with a text in the
     * world's trouble. */
    int (*open)(world *w, const bench_case *c, measurement *m, void **job_out);
    /* Figures from what was measured, the same on all ranks; NULL: none. */
    void (*conclude)(measurement *m);
    void (*close)(void *job); /* NULL allowed */
};

extern const case_kind case_bundle, case_vector, case_halo, case_overlap, case_transpose;

/* The kinds, NULL at the end. */
extern const case_kind *const case_kinds[];

typedef struct case_list {
    bench_case *items;
    int count;
} case_list;

/* Read the words of the options. 0, or 1 with a text; case_list_drop() is allowed after both. */
int case_list_read(const bench_options *options, case_list *list_out, char *error, size_t bytes);
void case_list_drop(case_list *list);

/* The case with all its keys, `np` left out: "vector rows=16384 run=1 stride=64 e=8". */
void case_print(const bench_case *c, char *text, size_t bytes);

/* Whether --rivals asks for a rival; NULL: all. */
bool case_wants(const char *rivals, const char *name);

/* a * b and a + b, UINT64_MAX when they do not fit. */
uint64_t bytes_times(uint64_t a, uint64_t b);
uint64_t bytes_plus(uint64_t a, uint64_t b);

#endif
