/* Heat spreads on a plate: an explicit scheme on a grid of processes, closed to a ring in x and held at fixed
 * temperatures at both ends of y. The program runs it with plain MPI (a derived type for the columns, MPI_Sendrecv), with
 * a halo of ferry, and with a halo that travels while the inner cells are computed, in turns; then once on one rank
 * alone. All results must be the same, bit for bit. (To compute columns of border cells by themselves costs time too, so
 * within a node the last way need not be the fastest.)
 *
 *     mpiexec -n 2 ./heat2d [CELLS [STEPS [PICTURE.ppm]]]        CELLS along x and along y, 256; STEPS, 100
 */
#include <ferry/ferry.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 3 };

/* A block of the plate, with a ghost cell on each side; x runs fastest in memory. */
typedef struct plate {
    ferry_context *ctx;
    MPI_Comm comm;              /* Cartesian: dimension 0 is x, 1 is y */
    int64_t cells;              /* of the whole plate, along x and along y */
    int64_t first[2], count[2]; /* the block of this rank */
    int64_t row;                /* doubles from one row to the next */
    double *heat[2];            /* now and at the next step, in turns */
    ferry_halo *halo;           /* serves both */
} plate;

typedef void way(plate *p, int steps);

static void must(ferry_status status)
{
    if (status == FERRY_OK)
        return;
    fprintf(stderr, "%s: %s\n", ferry_status_text(status), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* --- the plate ------------------------------------------------------------------------------------------ */

static ferry_halo *make_halo(const plate *p)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo;

    field.element_bytes = sizeof(double);
    spec.dims = 2; /* where the ranks stand, and what is a ring, the communicator of the context tells */
    for (int d = 0; d < 2; d++) {
        spec.extent[d] = p->count[d];
        spec.ghost[d][0] = spec.ghost[d][1] = 1;
    }
    spec.field_count = 1;
    spec.fields = &field;
    must(ferry_halo_create(p->ctx, &spec, &halo));
    return halo;
}

static plate make_plate(MPI_Comm comm, int64_t cells)
{
    const int periods[2] = {1, 0};
    int size, rank, grid[2] = {0, 0}, place[2];
    plate p = {.cells = cells};

    MPI_Comm_size(comm, &size);
    MPI_Dims_create(size, 2, grid);
    MPI_Cart_create(comm, 2, grid, periods, 0, &p.comm);
    MPI_Comm_rank(p.comm, &rank);
    MPI_Cart_coords(p.comm, rank, 2, place);
    for (int d = 0; d < 2; d++)
        must(ferry_block_share(cells, grid[d], place[d], &p.first[d], &p.count[d]));
    p.row = p.count[0] + 2;
    must(ferry_context_create(p.comm, NULL, &p.ctx));
    for (int i = 0; i < 2; i++) /* malloc works too; this the neighbours can read */
        must(ferry_memory_alloc(p.ctx, (size_t)(p.row * (p.count[1] + 2)) * sizeof(double), (void **)&p.heat[i]));
    p.halo = make_halo(&p);
    return p;
}

static void free_plate(plate *p)
{
    ferry_halo_free(p->halo);
    for (int i = 0; i < 2; i++)
        ferry_memory_free(p->ctx, p->heat[i]);
    ferry_context_free(p->ctx);
    MPI_Comm_free(&p->comm);
}

/* A hot disc on a cold plate; above it is warm, below it is cold. The ghosts outside hold that, and nobody writes them. */
static double at_first(const plate *p, int64_t x, int64_t y)
{
    const double dx = (double)(2 * x - p->cells) / (double)p->cells, dy = (double)(2 * y - p->cells) / (double)p->cells;

    return y < 0 ? 0.5 : dx * dx + dy * dy < 0.1 ? 1.0 : 0.0;
}

static void set_plate(plate *p)
{
    for (int64_t y = 0; y < p->count[1] + 2; y++)
        for (int64_t x = 0; x < p->row; x++) {
            const double heat = at_first(p, p->first[0] + x - 1, p->first[1] + y - 1);
            p->heat[0][y * p->row + x] = p->heat[1][y * p->row + x] = heat;
        }
}

/* The cells low <= x, y < high of a box, counted from the first one that is no ghost. */
static void update(const plate *p, const double *now, double *next, const ferry_halo_box *box)
{
    for (int64_t y = box->low[1]; y < box->high[1]; y++)
        for (int64_t x = box->low[0]; x < box->high[0]; x++) {
            const int64_t i = (y + 1) * p->row + x + 1;
            next[i] = now[i] + 0.2 * (now[i - 1] + now[i + 1] + now[i - p->row] + now[i + p->row] - 4 * now[i]);
        }
}

/* --- with plain MPI ------------------------------------------------------------------------------------- */

/* One strip of `count` elements of a type to the neighbour on one side, and one from the other side. */
static void pass(const plate *p, int dimension, int step, const double *from, double *to, int count, MPI_Datatype type)
{
    int source, target;

    MPI_Cart_shift(p->comm, dimension, step, &source, &target); /* no neighbour is MPI_PROC_NULL */
    MPI_Sendrecv(from, count, type, target, 0, to, count, type, source, 0, p->comm, MPI_STATUS_IGNORE);
}

static void run_plain(plate *p, int steps)
{
    const int nx = (int)p->count[0], ny = (int)p->count[1];
    const int64_t row = p->row;
    const ferry_halo_box all = {{0, 0}, {nx, ny}};
    MPI_Datatype column;

    MPI_Type_vector(ny, 1, (int)row, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < steps; i++) {
        double *const now = p->heat[i % 2], *const next = p->heat[(i + 1) % 2];
        pass(p, 0, 1, now + row + nx, now + row, 1, column);
        pass(p, 0, -1, now + row + 1, now + row + nx + 1, 1, column);
        pass(p, 1, 1, now + ny * row + 1, now + 1, nx, MPI_DOUBLE);
        pass(p, 1, -1, now + row + 1, now + (ny + 1) * row + 1, nx, MPI_DOUBLE);
        update(p, now, next, &all);
    }
    MPI_Type_free(&column);
}

/* --- with ferry ----------------------------------------------------------------------------------------- */

static void run_halo(plate *p, int steps)
{
    const ferry_halo_box all = {{0, 0}, {p->count[0], p->count[1]}};

    for (int i = 0; i < steps; i++) {
        double *const now = p->heat[i % 2];
        must(ferry_halo_exchange(p->halo, (void *[]){now}));
        update(p, now, p->heat[(i + 1) % 2], &all);
    }
}

static void run_overlap(plate *p, int steps)
{
    ferry_halo_box inner, border[FERRY_HALO_MAX_BOUNDARY];
    int borders;

    must(ferry_halo_inner(p->halo, 0, &inner)); /* cells that need no ghosts */
    must(ferry_halo_boundary(p->halo, 0, border, &borders));
    for (int i = 0; i < steps; i++) {
        double *const now = p->heat[i % 2], *const next = p->heat[(i + 1) % 2];
        must(ferry_halo_start(p->halo, (void *[]){now}));
        update(p, now, next, &inner);
        must(ferry_halo_wait(p->halo));
        for (int k = 0; k < borders; k++)
            update(p, now, next, &border[k]);
    }
}

/* --- all of it ------------------------------------------------------------------------------------------ */

/* A box of `count` cells in an array of `whole` cells; ferry counts the dimension that runs fastest last. */
static ferry_layout *box_layout(const int64_t whole[2], const int64_t first[2], const int64_t count[2])
{
    ferry_layout *layout;

    must(ferry_layout_box(2, (int64_t[]){whole[1], whole[0]}, (int64_t[]){first[1], first[0]},
                          (int64_t[]){count[1], count[0]}, sizeof(double), &layout));
    return layout;
}

/* Bring the blocks of all ranks together on rank 0: one edge from each, from box to box. */
static void gather(const plate *p, const double *heat, double *whole)
{
    const int64_t local[2] = {p->row, p->count[1] + 2}, all[2] = {p->cells, p->cells}, inside[2] = {1, 1};
    ferry_layout *const source = box_layout(local, inside, p->count);
    ferry_plan *plan;
    int rank, size;

    MPI_Comm_rank(p->comm, &rank);
    MPI_Comm_size(p->comm, &size);
    int64_t(*const boxes)[4] = malloc((size_t)size * sizeof *boxes);
    ferry_edge *const edges = malloc((size_t)size * sizeof *edges);
    const int64_t own[4] = {p->first[0], p->first[1], p->count[0], p->count[1]};
    must(ferry_context_gather(p->ctx, own, sizeof own, boxes));
    const int count = rank == 0 ? size : 1; /* rank 0 names the edges of all, the others their own */
    for (int i = 0; i < count; i++) {
        edges[i] = (ferry_edge)FERRY_EDGE_INIT;
        edges[i].from = rank + i;
        edges[i].to = 0;
        edges[i].source = source;
        edges[i].target = rank == 0 ? box_layout(all, boxes[i], boxes[i] + 2) : NULL;
    }
    must(ferry_plan_compile(p->ctx, edges, (size_t)count, &plan));
    must(ferry_plan_start(plan, heat, whole));
    must(ferry_plan_wait(plan));
    ferry_plan_free(plan);
    for (int i = 0; i < count; i++)
        ferry_layout_free((ferry_layout *)edges[i].target);
    ferry_layout_free(source);
    free(edges);
    free(boxes);
}

/* Runs it, brings the result to rank 0, and returns the seconds of the slowest rank. */
static double timed(plate *p, way *run, int steps, double *whole)
{
    double seconds, slowest;

    set_plate(p);
    MPI_Barrier(p->comm);
    seconds = -MPI_Wtime();
    run(p, steps);
    seconds += MPI_Wtime();
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, p->comm);
    gather(p, p->heat[steps % 2], whole);
    return slowest;
}

static double *new_whole(int64_t cells)
{
    double *const whole = malloc((size_t)(cells * cells) * sizeof *whole);

    if (!whole)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return whole;
}

/* From black over red and yellow to white. */
static void save_picture(const char *path, const double *whole, int64_t cells)
{
    FILE *const file = fopen(path, "wb");

    if (!file) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fprintf(file, "P6 %lld %lld 255\n", (long long)cells, (long long)cells);
    for (int64_t i = 0; i < cells * cells; i++)
        for (int colour = 0; colour < 3; colour++)
            fputc((int)(255 * fmin(1, fmax(0, 3 * whole[i] - colour))), file);
    fclose(file);
}

static const struct {
    const char *name;
    way *run;
} ways[] = {{"plain MPI", run_plain}, {"ferry", run_halo}, {"ferry, overlapped", run_overlap}};

enum { WAYS = sizeof ways / sizeof *ways };

/* On rank 0: the same plate on one rank. Returns whether it is what the others have computed, each way. */
static int same_alone(int64_t cells, int steps, double *const results[])
{
    double *const alone = new_whole(cells);
    plate p = make_plate(MPI_COMM_SELF, cells);
    int all = 1;

    timed(&p, run_plain, steps, alone);
    for (int w = 0; w < WAYS; w++) {
        const int same = memcmp(alone, results[w], (size_t)(cells * cells) * sizeof(double)) == 0;
        printf("%s: %s to one rank alone\n", ways[w].name, same ? "equal" : "NOT EQUAL");
        all &= same;
    }
    free_plate(&p);
    free(alone);
    return all;
}

int main(int argc, char **argv)
{
    const int64_t cells = argc > 1 ? atoll(argv[1]) : 256;
    const int steps = argc > 2 ? atoi(argv[2]) : 100;
    double seconds[WAYS], *results[WAYS];
    int rank, size, same = 1;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (cells < size || cells > 30000 || steps < 0) {
        fprintf(stderr, "usage: heat2d [CELLS [STEPS [PICTURE.ppm]]], at least %d cells\n", size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    plate p = make_plate(MPI_COMM_WORLD, cells);
    for (int w = 0; w < WAYS; w++) {
        results[w] = rank ? NULL : new_whole(cells);
        seconds[w] = INFINITY;
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (int w = 0; w < WAYS; w++)
            seconds[w] = fmin(seconds[w], timed(&p, ways[w].run, steps, results[w]));
    free_plate(&p);
    if (rank == 0) {
        printf("%lld x %lld cells, %d ranks, %d steps, best of %d:\n", (long long)cells, (long long)cells, size, steps,
               TURNS);
        for (int w = 0; w < WAYS; w++)
            printf("%s: %.3f ms\n", ways[w].name, 1e3 * seconds[w]);
        same = same_alone(cells, steps, results);
        if (argc > 3)
            save_picture(argv[3], results[1], cells);
    }
    for (int w = 0; w < WAYS; w++)
        free(results[w]);
    MPI_Bcast(&same, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return !same;
}
