/* Halos on grids of ranks against numbers worked out by hand; specs and calls that are refused. */
#include "ferry/halo.h"
#include "mpi/support.h"

/* --- worked out by hand ------------------------------------------------------------------------------- */

/* One rank in a periodic dimension is its own neighbour on both sides. */
static void one_rank_is_its_own_neighbour(void)
{
    static const int expected[4][5] = {
        {21, 1, 11, 21, 1},
        {20, 0, 10, 20, 0},
        {21, 1, 11, 21, 1},
        {20, 0, 10, 20, 0},
    };
    ferry_context *ctx = context_over(MPI_COMM_SELF);
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo = NULL;
    int cells[4][5] = {{0}};
    void *const fields[] = {cells};

    field.element_bytes = sizeof(int);
    spec.dims = 2;
    spec.extent[0] = 3;
    spec.extent[1] = 2;
    for (int d = 0; d < 2; d++) {
        spec.ghost[d][0] = spec.ghost[d][1] = 1;
        spec.grid[d] = spec.periodic[d] = 1;
    }
    spec.corners = FERRY_HALO_ALL;
    spec.field_count = 1;
    spec.fields = &field;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            cells[j + 1][i + 1] = 10 * i + j;
    CHECK_OK(ferry_halo_create(ctx, &spec, &halo));
    CHECK_OK(ferry_halo_exchange(halo, fields));
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 5; i++)
            CHECK_EQ_INT(cells[j][i], expected[j][i]);
    ferry_halo_free(halo);
    ferry_context_free(ctx);
}

static ferry_halo_spec line_of_two(int64_t cells, int64_t low, int64_t high)
{
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;

    spec.dims = 1;
    spec.extent[0] = cells;
    spec.ghost[0][0] = low;
    spec.ghost[0][1] = high;
    spec.grid[0] = 2;
    spec.periodic[0] = 1;
    return spec;
}

/* Two ranks in a periodic dimension: each is the other's neighbour on both sides, and the sides must not be swapped. */
static void two_ranks_with_widths(ferry_context *ctx, int rank, int low, int high, int field_count)
{
    ferry_halo_field field[3] = {FERRY_HALO_FIELD_INIT, FERRY_HALO_FIELD_INIT, FERRY_HALO_FIELD_INIT};
    ferry_halo_spec spec = line_of_two(4, low, high);
    int64_t cells[3][8];
    void *const fields[] = {cells[0], cells[1], cells[2]};
    ferry_halo *halo = NULL;

    for (int f = 0; f < field_count; f++) {
        field[f].element_bytes = sizeof(int64_t);
        for (int i = 0; i < 8; i++)
            cells[f][i] = -1;
        for (int i = 0; i < 4; i++)
            cells[f][low + i] = 100 * f + 10 * rank + i;
    }
    spec.field_count = field_count;
    spec.fields = field;
    CHECK_OK(ferry_halo_create(ctx, &spec, &halo));
    CHECK_OK(ferry_halo_exchange(halo, fields));
    for (int f = 0; f < field_count; f++) {
        const int64_t other = 100 * f + 10 * (1 - rank);
        for (int i = 0; i < low; i++)
            CHECK_EQ_INT(cells[f][i], other + 4 - low + i);
        for (int i = 0; i < 4; i++)
            CHECK_EQ_INT(cells[f][low + i], 100 * f + 10 * rank + i);
        for (int i = 0; i < high; i++)
            CHECK_EQ_INT(cells[f][low + 4 + i], other + i);
    }
    ferry_halo_free(halo);
}

/* 501 cells do not divide by two. */
static void two_ranks_uneven(ferry_context *ctx, int rank)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = line_of_two(251 - rank, 2, 2);
    const int64_t first = 251 * rank;
    double cells[255];
    void *const fields[] = {cells};
    ferry_halo *halo = NULL;

    field.element_bytes = sizeof(double);
    spec.field_count = 1;
    spec.fields = &field;
    for (int64_t i = 0; i < spec.extent[0]; i++)
        cells[2 + i] = (double)(first + i);
    CHECK_OK(ferry_halo_create(ctx, &spec, &halo));
    CHECK_OK(ferry_halo_exchange(halo, fields));
    for (int64_t i = 0; i < spec.extent[0] + 4; i++)
        CHECK_EQ_INT((long long)cells[i], (first + i - 2 + 501) % 501);
    ferry_halo_free(halo);
}

/* All that travels to one neighbour, of all fields and both sides, is one message. */
static void one_message(ferry_context *ctx)
{
    ferry_halo_field field[3] = {FERRY_HALO_FIELD_INIT, FERRY_HALO_FIELD_INIT, FERRY_HALO_FIELD_INIT};
    ferry_halo_spec spec = line_of_two(4, 2, 1);
    ferry_halo *halo = NULL;
    ferry_context_info info;
    ferry_plan_info plan;

    for (int f = 0; f < 3; f++)
        field[f].element_bytes = f + 1;
    spec.field_count = 3;
    spec.fields = field;
    CHECK_OK(ferry_context_describe(ctx, &info));
    CHECK_OK(ferry_halo_create(ctx, &spec, &halo));
    CHECK_OK(ferry_halo_describe(halo, &plan));
    CHECK_EQ_INT(plan.send_edges, 6);
    CHECK_EQ_INT(plan.send_bytes, 3 * (1 + 2 + 3));
    if (info.node_size == 1)
        CHECK_EQ_INT(plan.messages, 1);
    ferry_halo_free(halo);
}

static void two_ranks(ferry_context *world)
{
    ferry_context_info info;
    MPI_Comm pair;

    CHECK_OK(ferry_context_describe(world, &info));
    if (info.size < 2)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, info.rank < 2 ? 0 : MPI_UNDEFINED, info.rank, &pair);
    if (pair == MPI_COMM_NULL)
        return;
    ferry_context *ctx = context_over(pair);
    two_ranks_with_widths(ctx, info.rank, 1, 1, 1);
    two_ranks_with_widths(ctx, info.rank, 2, 1, 1);
    two_ranks_with_widths(ctx, info.rank, 2, 1, 3);
    two_ranks_with_widths(ctx, info.rank, 1, 1, 3);
    two_ranks_uneven(ctx, info.rank);
    one_message(ctx);
    ferry_context_free(ctx);
    MPI_Comm_free(&pair);
}

/* --- Cartesian communicators -------------------------------------------------------------------------- */

/* Every cell of a rank holds its number: the ghosts then name the neighbours that MPI_Cart_shift() names. */
static void cartesian_neighbours(ferry_context *world)
{
    const int periodic[2] = {1, 0};
    int grid[2] = {0, 0}, low[2], high[2], rank, cells[3][3];
    void *const fields[] = {cells};
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo = NULL;
    ferry_context_info info;
    MPI_Comm cart;

    CHECK_OK(ferry_context_describe(world, &info));
    MPI_Dims_create(info.size, 2, grid);
    MPI_Cart_create(MPI_COMM_WORLD, 2, grid, periodic, 1, &cart);
    MPI_Comm_rank(cart, &rank);
    ferry_context *ctx = context_over(cart);
    field.element_bytes = sizeof(int);
    spec.dims = 2;
    for (int d = 0; d < 2; d++) {
        spec.extent[d] = spec.ghost[d][0] = spec.ghost[d][1] = 1;
        MPI_Cart_shift(cart, d, 1, &low[d], &high[d]);
    }
    spec.field_count = 1;
    spec.fields = &field;
    memset(cells, 0xff, sizeof cells);
    cells[1][1] = rank;
    CHECK_OK(ferry_halo_create(ctx, &spec, &halo));
    CHECK_OK(ferry_halo_exchange(halo, fields));
    CHECK_EQ_INT(cells[1][0], low[0]);
    CHECK_EQ_INT(cells[1][2], high[0]);
    CHECK_EQ_INT(cells[0][1], low[1] == MPI_PROC_NULL ? -1 : low[1]);
    CHECK_EQ_INT(cells[2][1], high[1] == MPI_PROC_NULL ? -1 : high[1]);
    CHECK_EQ_INT(cells[0][0], -1);
    ferry_halo_free(halo);

    ferry_halo *none = NULL;
    spec.dims = 1;
    CHECK_EQ_INT(ferry_halo_create(ctx, &spec, &none), FERRY_ERR_ARG);
    spec.dims = 2;
    CHECK_EQ_INT(ferry_halo_create(world, &spec, &none), FERRY_ERR_NOT_FOUND);
    CHECK(none == NULL);
    ferry_context_free(ctx);
    MPI_Comm_free(&cart);
}

/* --- nothing to do ------------------------------------------------------------------------------------ */

/* Without ghosts nothing is sent, nobody is waited for, and no array is needed. Extents need not fit then. */
static void no_ghosts(ferry_context *ctx)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo = NULL;
    ferry_context_info info;
    ferry_plan_info plan;

    CHECK_OK(ferry_context_describe(ctx, &info));
    field.element_bytes = 8;
    spec.dims = 2;
    spec.grid[0] = info.size;
    spec.grid[1] = 1;
    spec.periodic[0] = spec.periodic[1] = 1;
    spec.extent[0] = 4;
    spec.extent[1] = info.rank;
    spec.corners = FERRY_HALO_ALL;
    spec.field_count = 1;
    spec.fields = &field;
    CHECK_OK(ferry_halo_create(ctx, &spec, &halo));
    CHECK_OK(ferry_halo_describe(halo, &plan));
    CHECK_EQ_INT(plan.send_bytes + plan.recv_bytes + plan.messages + plan.send_edges, 0);
    for (int i = 0; info.rank == 0 && i < 100; i++)
        CHECK_OK(ferry_halo_exchange(halo, NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    ferry_halo_free(halo);
}

/* --- refusals ----------------------------------------------------------------------------------------- */

typedef struct refusal {
    const char *words; /* that the text must hold */
    ferry_status status;
    int ranks; /* needed */
    void (*spoil)(ferry_halo_spec *spec, ferry_halo_field *fields);
} refusal;

static void spoil_size(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->size = 4; }
static void spoil_dims(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->dims = 7; }
static void spoil_dims_low(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->dims = 0; }
static void spoil_corners(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->corners = (ferry_halo_corners)3; }
static void spoil_count(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->field_count = 0; }
static void spoil_count_high(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->field_count = 65; }
static void spoil_fields(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->fields = NULL; }
static void spoil_extent(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->extent[1] = -3; }
static void spoil_ghost(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->ghost[0][1] = -2; }
static void spoil_grid(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->grid[0] += 1; }
static void spoil_grid_sign(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->grid[1] = -1; }
static void spoil_periodic(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->periodic[1] = 2; }
static void spoil_field_size(ferry_halo_spec *s, ferry_halo_field *f) { (void)s, f[1].size = 0; }
static void spoil_element(ferry_halo_spec *s, ferry_halo_field *f) { (void)s, f[1].element_bytes = 0; }
static void spoil_field_ghost(ferry_halo_spec *s, ferry_halo_field *f) { (void)s, f[0].ghost[1][0] = -2; }
static void spoil_bytes(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->extent[0] = (int64_t)1 << 60; }
static void spoil_most(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->extent[0] = INT64_MAX; }
static void spoil_wide(ferry_halo_spec *s, ferry_halo_field *f) { (void)s, f[1].ghost[1][0] = INT64_MAX; }
static void spoil_blocks(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->blocks = (ferry_halo_blocks)2; }
static void spoil_order(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->order = (ferry_halo_order)-1; }
static void spoil_holes(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->holes = 2; }
static void spoil_stagger(ferry_halo_spec *s, ferry_halo_field *f) { (void)s, f[1].stagger[1] = 2; }
static void spoil_stride(ferry_halo_spec *s, ferry_halo_field *f) { (void)s, f[0].stride_bytes[1] = -8; }
static void spoil_share(ferry_halo_spec *s, ferry_halo_field *f)
{
    (void)s;
    f[0].stride_bytes[0] = 8;
    f[0].stride_bytes[1] = 64; /* nine cells of 8 bytes lie before it */
}
static void differ_dims(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->dims = 1; }
static void differ_corners(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->corners = FERRY_HALO_EDGES; }
static void differ_count(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->field_count = 1; }
static void differ_periodic(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->periodic[0] = 0; }
static void differ_grid(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->grid[1] = s->grid[0], s->grid[0] = 1; }
static void differ_element(ferry_halo_spec *s, ferry_halo_field *f) { (void)s, f[1].element_bytes = 2; }
static void differ_extent(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->extent[1] = 3; }
static void differ_stagger(ferry_halo_spec *s, ferry_halo_field *f) { (void)s, f[1].stagger[0] = 1; }
static void differ_blocks(ferry_halo_spec *s, ferry_halo_field *f)
{
    (void)f;
    s->blocks = FERRY_HALO_BOXES;
    s->global[0] = s->global[1] = 100;
}

static const refusal refusals[] = {
    {"spec.size is 4", FERRY_ERR_ARG, 1, spoil_size},
    {"spec.dims is 7, expected 1..6", FERRY_ERR_ARG, 1, spoil_dims},
    {"spec.dims is 0", FERRY_ERR_ARG, 1, spoil_dims_low},
    {"spec.corners is 3", FERRY_ERR_ARG, 1, spoil_corners},
    {"spec.field_count is 0", FERRY_ERR_ARG, 1, spoil_count},
    {"spec.field_count is 65, expected 1..64", FERRY_ERR_ARG, 1, spoil_count_high},
    {"spec.fields is NULL", FERRY_ERR_ARG, 1, spoil_fields},
    {"spec.extent[1] is -3", FERRY_ERR_ARG, 1, spoil_extent},
    {"spec.ghost[0][1] is -2", FERRY_ERR_ARG, 1, spoil_ghost},
    {"spec.grid has", FERRY_ERR_ARG, 1, spoil_grid},
    {"spec.grid[1] is -1", FERRY_ERR_ARG, 1, spoil_grid_sign},
    {"spec.periodic[1] is 2", FERRY_ERR_ARG, 1, spoil_periodic},
    {"spec.fields[1].size is 0", FERRY_ERR_ARG, 1, spoil_field_size},
    {"spec.fields[1].element_bytes is 0", FERRY_ERR_ARG, 1, spoil_element},
    {"spec.fields[0].ghost[1][0] is -2", FERRY_ERR_ARG, 1, spoil_field_ghost},
    {"2^63 bytes or more", FERRY_ERR_ARG, 1, spoil_bytes},
    {"spec.extent[0] is 9223372036854775807, expected at most 2^60", FERRY_ERR_ARG, 1, spoil_most},
    {"spec.fields[1].ghost[1][0] is 9223372036854775807", FERRY_ERR_ARG, 1, spoil_wide},
    {"spec.blocks is 2", FERRY_ERR_ARG, 1, spoil_blocks},
    {"spec.order is -1", FERRY_ERR_ARG, 1, spoil_order},
    {"spec.holes is 2", FERRY_ERR_ARG, 1, spoil_holes},
    {"spec.fields[1].stagger[1] is 2", FERRY_ERR_ARG, 1, spoil_stagger},
    {"spec.fields[0].stride_bytes[1] is -8", FERRY_ERR_ARG, 1, spoil_stride},
    {"stride_bytes[1] is 64, so that cells share bytes: those before it in memory take 72", FERRY_ERR_ARG, 1, spoil_share},
    {"dims is", FERRY_ERR_ARG, 2, differ_dims},
    {"corners is", FERRY_ERR_ARG, 2, differ_corners},
    {"field_count is", FERRY_ERR_ARG, 2, differ_count},
    {"periodic[0] is", FERRY_ERR_ARG, 2, differ_periodic},
    {"grid[0] is", FERRY_ERR_ARG, 2, differ_grid},
    {"element_bytes of field 1 is", FERRY_ERR_ARG, 2, differ_element},
    {"extent[1] is", FERRY_ERR_SHAPE, 2, differ_extent},
    {"its neighbour on the low side of dimension 0; expected the same", FERRY_ERR_SHAPE, 2, differ_extent},
    {"stagger[0] of field 1 is", FERRY_ERR_ARG, 2, differ_stagger},
    {"blocks is", FERRY_ERR_ARG, 2, differ_blocks},
};

/* Right on all ranks but one; all ranks must say the same. */
static void refuse(ferry_context *ctx, const refusal *wrong, const ferry_context_info *info)
{
    ferry_halo_field fields[2] = {FERRY_HALO_FIELD_INIT, FERRY_HALO_FIELD_INIT};
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo = NULL;

    spec.dims = 2;
    spec.grid[0] = info->size;
    spec.grid[1] = 1;
    spec.field_count = 2;
    spec.fields = fields;
    for (int d = 0; d < 2; d++) {
        spec.extent[d] = 5 - d;
        spec.ghost[d][0] = spec.ghost[d][1] = 2;
        spec.periodic[d] = 1;
        fields[d].element_bytes = 8;
    }
    if (info->rank == info->size - 1)
        wrong->spoil(&spec, fields);
    CHECK_EQ_INT(ferry_halo_create(ctx, &spec, &halo), wrong->status);
    CHECK(halo == NULL);
    CHECK_DETAIL(wrong->words);
    check_same_detail();
}

static void refuse_outputs(ferry_context *ctx, const ferry_context_info *info)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo = NULL;
    const int last = info->rank == info->size - 1;

    field.element_bytes = 1;
    spec.dims = 1;
    spec.grid[0] = info->size;
    spec.field_count = 1;
    spec.fields = &field;
    CHECK_EQ_INT(ferry_halo_create(ctx, &spec, last ? NULL : &halo), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_create(ctx, last ? NULL : &spec, &halo), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_create(NULL, &spec, &halo), FERRY_ERR_ARG);
    CHECK(halo == NULL);
    CHECK_EQ_INT(ferry_halo_start(NULL, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_wait(NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_describe(NULL, NULL), FERRY_ERR_ARG);
    ferry_halo_free(NULL);
}

/* Calls of a good halo with bad arguments. */
static void refuse_calls(ferry_context *ctx, const ferry_context_info *info)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo = NULL;
    char cells[3] = {0, 0, 0}, text[32], whole[4096];
    void *const nothing[] = {NULL}, *const good[] = {cells};
    int64_t number = -7;

    field.element_bytes = 1;
    spec.dims = 1;
    spec.extent[0] = spec.ghost[0][0] = spec.ghost[0][1] = spec.periodic[0] = 1;
    spec.grid[0] = info->size;
    spec.field_count = 1;
    spec.fields = &field;
    CHECK_OK(ferry_halo_create(ctx, &spec, &halo));
    CHECK_EQ_INT(ferry_halo_start(halo, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_start(halo, nothing), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_test(halo, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_field_bytes(halo, 1, &number), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_field_bytes(halo, -1, &number), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_field_bytes(halo, 0, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_interior(halo, 1, &number, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(number, -7);
    CHECK_OK(ferry_halo_interior(halo, 0, &number, NULL));
    CHECK_EQ_INT(number, 1);
    const size_t length = ferry_halo_explain(halo, whole, sizeof whole);
    CHECK_EQ_INT(strlen(whole), length);
    CHECK_EQ_INT(ferry_halo_explain(halo, text, sizeof text), length);
    CHECK_EQ_INT(strncmp(whole, text, sizeof text - 1), 0);
    CHECK_EQ_INT(ferry_halo_explain(halo, NULL, 0), length);
    CHECK_OK(ferry_halo_start(halo, good));
    CHECK_EQ_INT(ferry_halo_start(halo, good), FERRY_ERR_STATE);
    CHECK_OK(ferry_halo_wait(halo));
    ferry_halo_free(halo);
}

void check_halo(ferry_context *ctx)
{
    ferry_context_info info;

    CHECK_OK(ferry_context_describe(ctx, &info));
    one_rank_is_its_own_neighbour();
    two_ranks(ctx);
    cartesian_neighbours(ctx);
    no_ghosts(ctx);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (info.size >= refusals[i].ranks && info.size <= 4) /* more ranks than cores make set-up slow */
            refuse(ctx, &refusals[i], &info);
    refuse_outputs(ctx, &info);
    refuse_calls(ctx, &info);
}
