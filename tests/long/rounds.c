/* Very many rounds of a halo, some of them followed by one of the way back: the library allocates nothing and makes no
 * system call, the process does not grow, and each round brings the values of its own start, out of arrays that take
 * turns.
 * usage: rounds COUNT */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ferry/context.h"
#include "ferry/halo.h"
#include "ferry/memory.h"

enum { NX = 24, NY = 20, ROW = NX + 2, FIELDS = 2, ARRAYS = 2, WARM_UP = 1000, GROWTH_PAGES = 16, BACK = 4 };

static int rank, size;

static void must(ferry_status st, const char *what)
{
    if (st == FERRY_OK)
        return;
    fprintf(stderr, "rank %d: %s: %s (%s)\n", rank, what, ferry_status_text(st), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define MUST(call) must((call), #call)

/* A ring of blocks, so that columns travel; two fields, one in shared and one in private memory. */
typedef struct room {
    ferry_context *ctx;
    ferry_halo *halo;
    int32_t *fields[ARRAYS][FIELDS];
} room;

static room make_room(const char *routes)
{
    ferry_context_options options = FERRY_CONTEXT_OPTIONS_INIT;
    ferry_halo_field fields[FIELDS] = {FERRY_HALO_FIELD_INIT, FERRY_HALO_FIELD_INIT};
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    room r;

    options.routes = routes;
    MUST(ferry_context_create(MPI_COMM_WORLD, &options, &r.ctx));
    for (int f = 0; f < FIELDS; f++)
        fields[f].element_bytes = sizeof(int32_t);
    spec.dims = 2;
    spec.extent[0] = NX;
    spec.extent[1] = NY;
    for (int d = 0; d < 2; d++)
        spec.ghost[d][0] = spec.ghost[d][1] = 1;
    spec.grid[0] = size;
    spec.grid[1] = spec.periodic[0] = 1;
    spec.field_count = FIELDS;
    spec.fields = fields;
    MUST(ferry_halo_create(r.ctx, &spec, &r.halo));
    MUST(ferry_halo_reverse_prepare(r.halo, FERRY_OP_MAX, (ferry_type[]){FERRY_TYPE_INT32, FERRY_TYPE_INT32}));
    for (int a = 0; a < ARRAYS; a++) {
        MUST(ferry_memory_alloc(r.ctx, (NY + 2) * ROW * sizeof(int32_t), (void **)&r.fields[a][0]));
        r.fields[a][1] = calloc((NY + 2) * ROW, sizeof(int32_t));
    }
    return r;
}

static void free_room(room *r)
{
    for (int a = 0; a < ARRAYS; a++) {
        ferry_memory_free(r->ctx, r->fields[a][0]);
        free(r->fields[a][1]);
    }
    ferry_halo_free(r->halo);
    ferry_context_free(r->ctx);
}

static int32_t value(int of, long round, int f, int y)
{
    return (int32_t)(round * 64 + of * 16 + f * 8 + y % 8);
}

static void write_sent(room *r, long round)
{
    for (int f = 0; f < FIELDS; f++)
        for (int y = 1; y <= NY; y++) {
            int32_t *const row = r->fields[round % ARRAYS][f] + y * ROW;
            row[1] = row[NX] = value(rank, round, f, y);
        }
}

/* Every ghost grows by one, and so do their cells on the way back. */
static long wrong_cells_after_way_back(room *r, long round)
{
    int32_t *const *const fields = r->fields[round % ARRAYS];
    long wrong = 0;

    for (int f = 0; f < FIELDS; f++)
        for (int y = 1; y <= NY; y++)
            fields[f][y * ROW]++, fields[f][y * ROW + NX + 1]++;
    MUST(ferry_halo_reverse_exchange(r->halo, (void *const *)fields));
    for (int f = 0; f < FIELDS; f++)
        for (int y = 1; y <= NY; y++) {
            const int32_t right = value(rank, round, f, y) + 1;
            wrong += (fields[f][y * ROW + 1] != right) + (fields[f][y * ROW + NX] != right);
        }
    return wrong;
}

static long wrong_ghosts(const room *r, long round)
{
    const int low = (rank + size - 1) % size, high = (rank + 1) % size;
    long wrong = 0;

    for (int f = 0; f < FIELDS; f++)
        for (int y = 1; y <= NY; y++) {
            const int32_t *const row = r->fields[round % ARRAYS][f] + y * ROW;
            wrong += row[0] != value(low, round, f, y);
            wrong += row[NX + 1] != value(high, round, f, y);
        }
    return wrong;
}

/* In every other round something else is done before waiting. */
static long one_round(room *r, long round)
{
    void *const *const fields = (void *const *)r->fields[round % ARRAYS];
    int done;

    write_sent(r, round);
    MUST(ferry_halo_start(r->halo, fields));
    if (round % 2)
        MUST(ferry_halo_test(r->halo, &done));
    MUST(ferry_halo_wait(r->halo));
    const long wrong = wrong_ghosts(r, round);
    return round % BACK ? wrong : wrong + wrong_cells_after_way_back(r, round);
}

static long resident_pages(void)
{
    FILE *const file = fopen("/proc/self/statm", "r");
    long all = 0, resident = 0;

    if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    fclose(file);
    return resident;
}

static long many_rounds(const char *routes, long rounds)
{
    room r = make_room(routes);
    ferry_counters before, after;
    long wrong = 0, pages;

    for (long i = 0; i < WARM_UP; i++)
        wrong += one_round(&r, i);
    resident_pages(); /* stdio takes its own memory once */
    pages = -resident_pages();
    MUST(ferry_context_counters(r.ctx, &before));
    for (long i = 0; i < rounds; i++)
        wrong += one_round(&r, i);
    MUST(ferry_context_counters(r.ctx, &after));
    pages += resident_pages();
    const long expected = rounds + (rounds + BACK - 1) / BACK, counted = (long)(after.rounds - before.rounds);
    const long allocations = (long)(after.allocations - before.allocations);
    const long calls = (long)(after.system_calls - before.system_calls);
    printf("rank %d, %s: %ld rounds, %ld wrong cells, %ld allocations, %ld system calls, %ld pages more\n", rank, routes,
           counted, wrong, allocations, calls, pages);
    free_room(&r);
    return wrong + allocations + calls + labs(counted - expected) + (pages > GROWTH_PAGES);
}

int main(int argc, char **argv)
{
    static const char *const ways[] = {"all", "node_ring", "node_direct", "wire_pack"};
    const long rounds = argc == 2 ? atol(argv[1]) : 0;
    long wrong = rounds <= 0, all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof ways / sizeof *ways && rounds > 0; i++)
        wrong += many_rounds(ways[i], rounds);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
