/* Step 4 of 4: work while ghosts travel. Two substances spread and react on a grid (Gray and Scott's equations); while
 * their halos are under way, each rank computes the cells that need no ghosts.    mpiexec -n 2 ./step4
 *
 * Every rank also computes the whole grid alone. Both must be the same, bit for bit. */
#include <ferry/ferry.h>
#include <stdio.h>
#include <string.h>

enum { NX = 32, NY = 24, ROW = NX + 2, SUBSTANCES = 2, STEPS = 200, MOST_RANKS = 64 };

/* A block of nx x ny cells with a ghost cell around it, now and at the next step. */
typedef double block[2][SUBSTANCES][(NY + 2) * ROW];

static block mine;

static void must(ferry_status status)
{
    if (status == FERRY_OK)
        return;
    fprintf(stderr, "%s: %s\n", ferry_status_text(status), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static ferry_halo *make_halo(ferry_context *ctx, int ranks)
{
    ferry_halo_field fields[SUBSTANCES] = {FERRY_HALO_FIELD_INIT, FERRY_HALO_FIELD_INIT};
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo;

    for (int f = 0; f < SUBSTANCES; f++)
        fields[f].element_bytes = sizeof(double);
    spec.dims = 2;
    spec.extent[0] = NX;
    spec.extent[1] = NY;
    for (int d = 0; d < 2; d++)
        spec.ghost[d][0] = spec.ghost[d][1] = spec.periodic[d] = 1;
    spec.grid[0] = 1;
    spec.grid[1] = ranks; /* blocks one above the other: what travels are whole rows */
    spec.corners = FERRY_HALO_ALL;
    spec.field_count = SUBSTANCES;
    spec.fields = fields;
    must(ferry_halo_create(ctx, &spec, &halo));
    return halo;
}

/* The mean of the eight neighbours, near ones weighing more, less the cell. */
static double spread(const double *c)
{
    return 0.2 * (c[-1] + c[1] + c[-ROW] + c[ROW]) + 0.05 * (c[-ROW - 1] + c[-ROW + 1] + c[ROW - 1] + c[ROW + 1]) - *c;
}

/* The cells low <= x, y < high of a box, counted from the first interior cell. */
static void update(double *const now[], double *const next[], const ferry_halo_box *box)
{
    for (int64_t y = box->low[1]; y < box->high[1]; y++)
        for (int64_t x = box->low[0]; x < box->high[0]; x++) {
            const int64_t i = (y + 1) * ROW + x + 1;
            const double u = now[0][i], v = now[1][i], reaction = u * v * v;
            next[0][i] = u + 0.2 * spread(now[0] + i) - reaction + 0.03 * (1 - u);
            next[1][i] = v + 0.1 * spread(now[1] + i) + reaction - 0.09 * v;
        }
}

static void step(ferry_halo *halo, double *const now[], double *const next[])
{
    ferry_halo_box inner, border[FERRY_HALO_MAX_BOUNDARY];
    int count;

    must(ferry_halo_inner(halo, 0, &inner)); /* cells whose stencil reaches no ghost; both fields have the same */
    must(ferry_halo_boundary(halo, 0, border, &count)); /* all others */
    must(ferry_halo_start(halo, (void *const *)now));   /* never waits */
    update(now, next, &inner);                          /* reads what is sent, writes another array */
    must(ferry_halo_wait(halo));                        /* the ghosts are there */
    for (int i = 0; i < count; i++)
        update(now, next, &border[i]);
}

/* The start: one substance everywhere, a drop of the other. Its place is on the whole grid. */
static void set(double *const fields[], int rows, int first_row)
{
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < NX; x++) {
            const int i = (y + 1) * ROW + x + 1, drop = x > 10 && x < 17 && first_row + y > 18 && first_row + y < 27;
            fields[0][i] = drop ? 0.5 : 1;
            fields[1][i] = drop ? 0.25 + 0.001 * x : 0;
        }
}

/* The same without ranks: ghosts are copied by hand. */
static void wrap(double *cells, int rows)
{
    memcpy(cells, cells + rows * ROW, ROW * sizeof *cells);
    memcpy(cells + (rows + 1) * ROW, cells + ROW, ROW * sizeof *cells);
    for (int y = 0; y < rows + 2; y++) {
        cells[y * ROW] = cells[y * ROW + NX];
        cells[y * ROW + NX + 1] = cells[y * ROW + 1];
    }
}

static const double *alone(int substance, int rows)
{
    static double whole[2][SUBSTANCES][(MOST_RANKS * NY + 2) * ROW];
    double *fields[2][SUBSTANCES] = {{whole[0][0], whole[0][1]}, {whole[1][0], whole[1][1]}};

    const ferry_halo_box all = {{0, 0}, {NX, rows}};

    set(fields[0], rows, 0);
    for (int i = 0; i < STEPS; i++) {
        wrap(fields[i % 2][0], rows);
        wrap(fields[i % 2][1], rows);
        update(fields[i % 2], fields[(i + 1) % 2], &all);
    }
    return fields[STEPS % 2][substance];
}

int main(int argc, char **argv)
{
    double *fields[2][SUBSTANCES] = {{mine[0][0], mine[0][1]}, {mine[1][0], mine[1][1]}};
    ferry_context *ctx;
    int rank, ranks, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    must(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
    ferry_halo *halo = make_halo(ctx, ranks);
    set(fields[0], NY, rank * NY);
    for (int i = 0; i < STEPS; i++)
        step(halo, fields[i % 2], fields[(i + 1) % 2]);
    for (int f = 0; f < SUBSTANCES; f++) {
        const double *const right = alone(f, ranks * NY) + rank * NY * ROW;
        for (int y = 1; y <= NY; y++)
            wrong += memcmp(&fields[STEPS % 2][f][y * ROW + 1], &right[y * ROW + 1], NX * sizeof *right) != 0;
    }
    printf("rank %d: after %d steps %d rows differ from those computed alone\n", rank, STEPS, wrong);
    ferry_halo_free(halo);
    ferry_context_free(ctx);
    MPI_Finalize();
    return wrong != 0;
}
