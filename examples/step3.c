/* Step 3 of 4: several fields, and corners. Three fields of different elements and different ghosts travel together,
 * in one message to each neighbour.    mpiexec -n 2 ./step3
 *
 * The ranks stand on a grid that MPI made: ferry takes its shape from the Cartesian communicator. */
#include <ferry/ferry.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIELDS = 3 };

static const int64_t extent[2] = {24, 16}; /* cells of one rank's block */

/* Elements and ghost cells of the fields: {low, high} side of x, then of y. */
static const struct {
    const char *name;
    int64_t bytes, ghost[2][2];
} kinds[FIELDS] = {
    {"density", sizeof(double), {{1, 1}, {1, 1}}},
    {"colour", sizeof(int8_t), {{2, 2}, {2, 2}}},
    {"wind", sizeof(double), {{1, 0}, {0, 1}}}, /* only from where it blows */
};

static void must(ferry_status status)
{
    if (status == FERRY_OK)
        return;
    fprintf(stderr, "%s: %s\n", ferry_status_text(status), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static ferry_halo *make_halo(ferry_context *ctx)
{
    ferry_halo_field fields[FIELDS] = {FERRY_HALO_FIELD_INIT, FERRY_HALO_FIELD_INIT, FERRY_HALO_FIELD_INIT};
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo;

    for (int f = 0; f < FIELDS; f++) {
        fields[f].element_bytes = kinds[f].bytes;
        for (int d = 0; d < 2; d++)
            for (int side = 0; side < 2; side++)
                fields[f].ghost[d][side] = kinds[f].ghost[d][side];
    }
    spec.dims = 2; /* spec.grid stays 0: the communicator of the context tells */
    spec.extent[0] = extent[0];
    spec.extent[1] = extent[1];
    spec.corners = FERRY_HALO_ALL; /* as a nine-point stencil needs; FERRY_HALO_FACES leaves corners alone */
    spec.field_count = FIELDS;
    spec.fields = fields;
    must(ferry_halo_create(ctx, &spec, &halo));
    return halo;
}

/* What byte 0 of a cell holds, given its place on the whole grid, which is a ring in x and in y. */
static unsigned char value(int field, int64_t x, int64_t y, const int grid[2])
{
    const int64_t nx = grid[0] * extent[0], ny = grid[1] * extent[1];

    return (unsigned char)(7 * field + 3 * ((x + nx) % nx) + 5 * ((y + ny) % ny));
}

/* Writes the interior, or counts the cells that are wrong, ghosts included. ferry tells where the interior lies. */
static int visit(const ferry_halo *halo, int field, char *memory, const int grid[2], const int place[2], int check)
{
    const int64_t(*ghost)[2] = kinds[field].ghost;
    int64_t offset, strides[2];
    int wrong = 0;

    must(ferry_halo_interior(halo, field, &offset, strides));
    for (int64_t y = check ? -ghost[1][0] : 0; y < extent[1] + (check ? ghost[1][1] : 0); y++)
        for (int64_t x = check ? -ghost[0][0] : 0; x < extent[0] + (check ? ghost[0][1] : 0); x++) {
            char *const cell = memory + offset + x * strides[0] + y * strides[1];
            const unsigned char right = value(field, place[0] * extent[0] + x, place[1] * extent[1] + y, grid);
            if (check)
                wrong += *(unsigned char *)cell != right;
            else
                *cell = (char)right;
        }
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size, grid[2] = {0, 0}, periods[2] = {1, 1}, place[2], wrong = 0;
    void *memory[FIELDS];
    ferry_context *ctx;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, grid);
    MPI_Cart_create(MPI_COMM_WORLD, 2, grid, periods, 1, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Cart_coords(comm, rank, 2, place);
    must(ferry_context_create(comm, NULL, &ctx));
    ferry_halo *halo = make_halo(ctx);
    for (int f = 0; f < FIELDS; f++) {
        int64_t bytes;
        must(ferry_halo_field_bytes(halo, f, &bytes)); /* ghosts included */
        must(ferry_memory_alloc(ctx, (size_t)bytes, &memory[f])); /* malloc works too; this can be read by neighbours */
        visit(halo, f, memory[f], grid, place, 0);
    }
    must(ferry_halo_exchange(halo, memory)); /* all fields at once, in the order of the spec */
    for (int f = 0; f < FIELDS; f++) {
        const int count = visit(halo, f, memory[f], grid, place, 1);
        printf("rank %d: %s: %d cells are wrong\n", rank, kinds[f].name, count);
        wrong += count;
        ferry_memory_free(ctx, memory[f]);
    }
    ferry_halo_free(halo);
    ferry_context_free(ctx);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return wrong != 0;
}
