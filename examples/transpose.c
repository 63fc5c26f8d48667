/* A matrix whose rows are spread over the ranks is turned over.    mpiexec -n 2 ./transpose */
#include <ferry/ferry.h>
#include <stdint.h>
#include <stdio.h>

static void must(ferry_status status)
{
    if (status == FERRY_OK)
        return;
    fprintf(stderr, "%s: %s\n", ferry_status_text(status), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Turns a matrix of 1000000 * row + column, and counts the elements that are wrong afterwards. */
static int64_t turn(ferry_context *ctx, int64_t rows, int64_t columns)
{
    ferry_transpose_spec spec = FERRY_TRANSPOSE_SPEC_INIT;
    int64_t first_row, row_count, first_column, column_count, *before, *after, wrong = 0;
    ferry_transpose *transpose;

    spec.rows = rows;
    spec.columns = columns;
    spec.element_bytes = sizeof(int64_t);
    must(ferry_transpose_create(ctx, &spec, &transpose));
    must(ferry_transpose_shares(transpose, &first_row, &row_count, &first_column, &column_count));
    must(ferry_memory_alloc(ctx, row_count * columns * sizeof *before, (void **)&before)); /* any memory will do, */
    must(ferry_memory_alloc(ctx, column_count * rows * sizeof *after, (void **)&after));   /* this kind is fastest */
    for (int64_t i = 0; i < row_count; i++)
        for (int64_t j = 0; j < columns; j++)
            before[i * columns + j] = 1000000 * (first_row + i) + j;
    must(ferry_transpose_run(transpose, before, after));
    for (int64_t j = 0; j < column_count; j++)
        for (int64_t i = 0; i < rows; i++)
            wrong += after[j * rows + i] != 1000000 * i + first_column + j;
    ferry_memory_free(ctx, before);
    ferry_memory_free(ctx, after);
    ferry_transpose_free(transpose);
    return wrong;
}

int main(int argc, char **argv)
{
    ferry_context *ctx;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    must(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
    const int64_t wrong = turn(ctx, 1000, 700);
    printf("rank %d: %lld wrong elements\n", rank, (long long)wrong);
    ferry_context_free(ctx);
    return MPI_Finalize();
}
