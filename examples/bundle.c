/* A bundle of 20 matrices of 1000 x 100 doubles goes from rank 0 to all ranks, and comes back from rank 1. The largest difference from
 * what was sent is printed: it is 0, since bundles move bit by bit.
 * Run: mpiexec -n 2 ./bundle */
#include <ferry/ferry.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MATRICES = 20, ROWS = 1000, COLUMNS = 100 };

static void check(ferry_status status)
{
    if (status == FERRY_OK)
        return;
    fprintf(stderr, "%s: %s\n", ferry_status_text(status), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double element(int matrix, int i)
{
    return sin(matrix + 0.001 * i);
}

static ferry_bundle *make(double *values)
{
    const int64_t shape[2] = {ROWS, COLUMNS};
    ferry_bundle *bundle;
    char key[8];

    check(ferry_bundle_new(&bundle));
    for (int m = 0; m < MATRICES; m++, values += ROWS * COLUMNS) {
        for (int i = 0; i < ROWS * COLUMNS; i++)
            values[i] = element(m, i);
        snprintf(key, sizeof key, "m%d", m);
        check(ferry_bundle_borrow_array(bundle, key, FERRY_TYPE_FLOAT64, 2, shape, NULL, values));
    }
    return bundle;
}

static double largest_difference(const ferry_bundle *bundle)
{
    double largest = 0;
    ferry_array matrix;
    char key[8];

    for (int m = 0; m < MATRICES; m++) {
        snprintf(key, sizeof key, "m%d", m);
        check(ferry_bundle_get_array(bundle, key, FERRY_TYPE_FLOAT64, &matrix));
        for (int i = 0; i < ROWS * COLUMNS; i++)
            largest = fmax(largest, fabs(((const double *)matrix.data)[i] - element(m, i)));
    }
    return largest;
}

int main(int argc, char **argv)
{
    double *const values = malloc(sizeof *values * MATRICES * ROWS * COLUMNS);
    ferry_bundle *bundle = NULL, *back = NULL;
    ferry_context *ctx;
    double mine = 0, all = 0;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
    if (rank == 0 && values)
        bundle = make(values);
    double began = MPI_Wtime();
    check(ferry_bundle_bcast(ctx, &bundle, 0));
    double seconds = MPI_Wtime() - began;
    mine = largest_difference(bundle);
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("broadcast to %d ranks (first, memory fresh): %.4f s, largest difference %g\n", size, seconds, all);
    if (rank == 1)
        check(ferry_bundle_send(ctx, bundle, 0, 7));
    if (rank == 0 && size > 1) {
        began = MPI_Wtime();
        check(ferry_bundle_recv(ctx, 1, 7, &back, NULL));
        seconds = MPI_Wtime() - began;
        printf("sent back from rank 1 to rank 0: %.4f s, largest difference %g\n", seconds, largest_difference(back));
    }
    ferry_bundle_free(back);
    ferry_bundle_free(bundle);
    ferry_context_free(ctx);
    MPI_Finalize();
    free(values);
    return 0;
}
