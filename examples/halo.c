/* Heat spreads on a ring of cells: each step needs the cell left and right of one's own block.    mpiexec -n 2 ./halo */
#include <ferry/ferry.h>
#include <stdio.h>

enum { CELLS = 100, STEPS = 1000 };

static void must(ferry_status status)
{
    if (status == FERRY_OK)
        return;
    fprintf(stderr, "%s: %s\n", ferry_status_text(status), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static ferry_halo *make_halo(ferry_context *ctx, int ranks)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo;

    field.element_bytes = sizeof(double);
    spec.dims = 1;
    spec.extent[0] = CELLS;
    spec.ghost[0][0] = spec.ghost[0][1] = 1;
    spec.grid[0] = ranks;
    spec.periodic[0] = 1;
    spec.field_count = 1;
    spec.fields = &field;
    must(ferry_halo_create(ctx, &spec, &halo));
    return halo;
}

int main(int argc, char **argv)
{
    double heat[2][CELLS + 2] = {{0}}, mine = 0, all = 0; /* two times, with a ghost cell at both ends */
    ferry_context *ctx;
    int rank, ranks;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    must(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
    ferry_halo *halo = make_halo(ctx, ranks);
    if (rank == 0)
        heat[0][1] = 1.0;
    for (int step = 0; step < STEPS; step++) {
        double *now = heat[step % 2], *next = heat[(step + 1) % 2];
        must(ferry_halo_exchange(halo, (void *[]){now}));
        for (int i = 1; i <= CELLS; i++)
            next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
    }
    for (int i = 1; i <= CELLS; i++)
        mine += heat[STEPS % 2][i];
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d: after %d steps the heat is still %.12f\n", rank, STEPS, all);
    ferry_halo_free(halo);
    ferry_context_free(ctx);
    return MPI_Finalize();
}
