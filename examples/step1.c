/* Step 1 of 4: one block. Rank 0 gives a column of its matrix to the last rank.    mpiexec -n 2 ./step1
 *
 * Three things make an exchange: layouts say where the elements lie, edges say who gives what to whom, and a plan is
 * compiled from them once and then run as often as you like. */
#include <ferry/ferry.h>
#include <stdio.h>

enum { ROWS = 1000, COLUMNS = 64, ROUNDS = 10 };

static double matrix[ROWS][COLUMNS];

static void must(ferry_status status)
{
    if (status == FERRY_OK)
        return;
    fprintf(stderr, "%s: %s\n", ferry_status_text(status), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* One double in each row: ROWS elements, a row apart, from the first row's element in this column on. */
static ferry_layout *column_layout(int column)
{
    const int64_t counts[] = {ROWS}, strides[] = {sizeof matrix[0]};
    ferry_layout *layout;

    must(ferry_layout_strided(1, counts, strides, sizeof(double), column * (int64_t)sizeof(double), &layout));
    return layout;
}

/* Both ends name the edge; each gives the layout of its own end. Ranks in between have nothing to name. */
static ferry_plan *column_plan(ferry_context *ctx, int rank, int last)
{
    ferry_layout *const source = column_layout(COLUMNS - 2), *const target = column_layout(0);
    ferry_edge edge = FERRY_EDGE_INIT;
    ferry_plan *plan;

    edge.from = 0;
    edge.to = last;
    edge.source = source; /* looked at by rank 0 */
    edge.target = target; /* looked at by the last rank */
    must(ferry_plan_compile(ctx, &edge, rank == 0 || rank == last, &plan));
    ferry_layout_free(source); /* the plan keeps what it needs */
    ferry_layout_free(target);
    return plan;
}

int main(int argc, char **argv)
{
    ferry_context *ctx;
    int rank, size, wrong = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    must(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
    ferry_plan *plan = column_plan(ctx, rank, size - 1);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < ROWS; i++)
            matrix[i][COLUMNS - 2] = 1000.0 * round + i;
        must(ferry_plan_start(plan, matrix, matrix)); /* the matrix that is read, the matrix that is written */
        must(ferry_plan_wait(plan));
        for (int i = 0; i < ROWS && rank == size - 1; i++)
            wrong += matrix[i][0] != 1000.0 * round + i;
    }
    if (rank == size - 1)
        printf("%d columns of %d doubles came, %d elements are wrong\n", ROUNDS, ROWS, wrong);
    ferry_plan_free(plan);
    ferry_context_free(ctx);
    MPI_Finalize();
    return wrong != 0;
}
