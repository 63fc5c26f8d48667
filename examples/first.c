/* Rank 0 fills a bundle, every rank receives it.    mpiexec -n 2 ./first */
#include <ferry/ferry.h>
#include <stdio.h>

static double field[1000][100];

static void must(ferry_status status)
{
    if (status == FERRY_OK)
        return;
    fprintf(stderr, "%s: %s\n", ferry_status_text(status), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Returns what arrived: the step, and the last element of the field. */
static double share(ferry_context *ctx, int rank, double *last_out)
{
    const int64_t shape[2] = {1000, 100};
    ferry_bundle *bundle = NULL;
    ferry_array array;
    double dt;

    if (rank == 0) {
        must(ferry_bundle_new(&bundle));
        must(ferry_bundle_set_float64(bundle, "dt", 0.5));
        must(ferry_bundle_set_array(bundle, "field", FERRY_TYPE_FLOAT64, 2, shape, NULL, field));
    }
    must(ferry_bundle_bcast(ctx, &bundle, 0)); /* any tree of values, of any size; rank 0 keeps its own */
    must(ferry_bundle_get_float64(bundle, "dt", &dt));
    must(ferry_bundle_get_array(bundle, "field", FERRY_TYPE_FLOAT64, &array));
    *last_out = ((const double *)array.data)[array.shape[0] * array.shape[1] - 1];
    ferry_bundle_free(bundle);
    return dt;
}

int main(int argc, char **argv)
{
    ferry_context *ctx;
    double dt, last;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        field[999][99] = 42.0;
    must(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
    dt = share(ctx, rank, &last);
    printf("rank %d: dt %g, last element %g\n", rank, dt, last);
    ferry_context_free(ctx);
    return MPI_Finalize();
}
