/* Tables over the size of the buffer: the derived type, packing into static buffers, and ferry,
 * each as the case vector measures it. Only the rows of the matrix change from size to size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/case_vector.h"
#include "bench/columns.h"
#include "bench/harness.h"
#include "bench/refuse.h"

enum { SIZES = 5, TABLES = 2 };
#define KIB(n) ((int64_t)(n) << 10)
static const int64_t sizes[TABLES][SIZES] = {
    {KIB(8), KIB(16), KIB(32), KIB(64), KIB(128)},
    {KIB(1024), KIB(2048), KIB(4096), KIB(8192), KIB(16384)},
};

static const struct method {
    const char *name, *title;
} methods[] = {
    {"datatype", "derived type"},
    {"handpack", "static buffers"},
    {"ferry", "ferry"},
};
enum { METHODS = sizeof methods / sizeof *methods };

static int64_t row_bytes(const bench_case *c)
{
    return c->values[VECTOR_RUN][0] * c->values[VECTOR_ELEMENT][0];
}

static bench_case sized(const bench_case *c, int64_t bytes)
{
    bench_case with = *c;

    with.values[VECTOR_ROWS][0] = bytes / row_bytes(c);
    return with;
}

bench_case columns_largest(const bench_case *c)
{
    return sized(c, sizes[TABLES - 1][SIZES - 1]);
}

int columns_check(const bench_case *c, char *error, size_t bytes)
{
    if (c->given & 1u << VECTOR_ROWS)
        return refuse(error, bytes, "report: rows is given; expected none, since sizes vary");
    if (row_bytes(c) > sizes[0][0])
        return refuse(error, bytes, "report: run * e is %lld; expected at most %lld",
                      (long long)row_bytes(c), (long long)sizes[0][0]);
    return 0;
}

/* Only what the tables show, and rewriting alone, which is subtracted. */
static void choose(measurement *m)
{
    int kept = 0;

    for (int k = 0; k < m->contender_count; ++k) {
        bool wanted = m->contenders[k].kind == CONTENDER_BASELINE;
        for (int j = 0; j < METHODS; ++j)
            wanted |= strcmp(m->contenders[k].name, methods[j].name) == 0;
        if (wanted)
            m->contenders[kept++] = m->contenders[k];
    }
    m->contender_count = kept;
}

static int measure(world *w, const bench_case *c, double times_out[METHODS])
{
    measurement *const m = calloc(1, sizeof *m);
    void *job = NULL;

    if (!m)
        world_fail(w, "rank %d: no memory for the case", w->rank);
    if (world_agree(w, !m))
        return free(m), 1;
    int failed = c->kind->open(w, c, m, &job);
    if (!failed) {
        choose(m);
        failed = harness_run(w, m, NULL, NULL);
    }
    c->kind->close(job);
    for (int k = 0; k < m->result_count; ++k)
        for (int j = 0; j < METHODS; ++j)
            if (strcmp(m->results[k].name, methods[j].name) == 0)
                times_out[j] = m->results[k].median_s;
    free(m);
    return failed;
}

/* The bandwidth counts what a rank sends and what it gets. */
static void print_line(int64_t elements, int64_t bytes, double seconds)
{
    printf("%15lld | %14lld |", (long long)elements, (long long)bytes);
    if (seconds > 0)
        printf(" %19.2f | %16.2f\n", seconds * 1e6, 2 * (double)bytes / seconds * 1e-9);
    else
        printf(" %19s | %16s\n", "~0", "-");
}

static void print_table(const bench_case *c, int table, double times[SIZES][METHODS])
{
    printf("\nNum of elements | Size of buffer | Time/iteration (us) | Bandwidth (GB/s)\n");
    for (int j = 0; j < METHODS; ++j) {
        printf("%s\n", methods[j].title);
        for (int k = 0; k < SIZES; ++k) {
            const int64_t rows = sized(c, sizes[table][k]).values[VECTOR_ROWS][0];
            print_line(rows * c->values[VECTOR_RUN][0], rows * row_bytes(c), times[k][j]);
        }
    }
    fflush(stdout);
}

int columns_report(world *w, const bench_case *c)
{
    double times[SIZES][METHODS];
    int failed = 0;

    if (w->rank == 0)
        printf("vector run=%lld stride=%lld e=%lld np=%d: both ways, every element verified\n",
               (long long)c->values[VECTOR_RUN][0], (long long)c->values[VECTOR_STRIDE][0],
               (long long)c->values[VECTOR_ELEMENT][0], w->size);
    for (int table = 0; table < TABLES && !failed; ++table) {
        for (int k = 0; k < SIZES && !failed; ++k) {
            const bench_case with = sized(c, sizes[table][k]);
            failed = measure(w, &with, times[k]);
        }
        if (!failed && w->rank == 0)
            print_table(c, table, times);
    }
    return failed;
}
