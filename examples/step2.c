/* Step 2 of 4: a halo. Every rank has a block of a 2-D grid, and a frame of ghost cells around it that holds copies of
 * the cells of its neighbours.    mpiexec -n 2 ./step2
 *
 * A halo is a plan whose layouts and edges ferry works out: you say how large your block is, how wide the frame, and
 * how the ranks stand. */
#include <ferry/ferry.h>
#include <stdio.h>

enum { NX = 40, NY = 30 }; /* cells of one rank's block; x runs fastest in memory */

static double cells[NY + 2][NX + 2]; /* with one ghost cell on each side */

static void must(ferry_status status)
{
    if (status == FERRY_OK)
        return;
    fprintf(stderr, "%s: %s\n", ferry_status_text(status), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The ranks stand side by side along x, in a ring; in y the grid ends. */
static ferry_halo *make_halo(ferry_context *ctx, int ranks)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo;

    field.element_bytes = sizeof(double);
    spec.dims = 2;
    spec.extent[0] = NX;
    spec.extent[1] = NY;
    spec.ghost[0][0] = spec.ghost[0][1] = 1; /* in x: low side, high side */
    spec.ghost[1][0] = spec.ghost[1][1] = 1; /* in y */
    spec.grid[0] = ranks;
    spec.grid[1] = 1;
    spec.periodic[0] = 1;
    spec.field_count = 1;
    spec.fields = &field;
    must(ferry_halo_create(ctx, &spec, &halo)); /* all ranks together: they compare what they say of each other */
    return halo;
}

/* A value for each cell of the whole grid. */
static double value(int x, int y)
{
    return 100.0 * x + y;
}

/* Ghosts in x come from the neighbour; those in y lie outside of the grid and keep what they had. */
static int count_wrong(int rank, int ranks)
{
    int wrong = 0;

    for (int j = 1; j <= NY; j++) {
        const int low = (rank * NX + ranks * NX - 1) % (ranks * NX), high = (rank + 1) * NX % (ranks * NX);
        wrong += cells[j][0] != value(low, j);
        wrong += cells[j][NX + 1] != value(high, j);
    }
    for (int i = 1; i <= NX; i++)
        wrong += cells[0][i] != -1 || cells[NY + 1][i] != -1;
    return wrong;
}

int main(int argc, char **argv)
{
    ferry_context *ctx;
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int j = 0; j < NY + 2; j++)
        for (int i = 0; i < NX + 2; i++) {
            const int inside = i >= 1 && i <= NX && j >= 1 && j <= NY;
            cells[j][i] = inside ? value(rank * NX + i - 1, j) : -1;
        }
    must(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
    ferry_halo *halo = make_halo(ctx, ranks);
    must(ferry_halo_exchange(halo, (void *[]){cells})); /* as often as you like, also with another array */
    const int wrong = count_wrong(rank, ranks);
    printf("rank %d: %d ghost cells are wrong\n", rank, wrong);
    ferry_halo_free(halo);
    ferry_context_free(ctx);
    MPI_Finalize();
    return wrong != 0;
}
