/* Halos with explicit boxes, wide ghosts, staggered fields and strides against numbers worked out by hand; the trial
 * of a halo; what is refused. */
#include "base/alloc.h"
#include "ferry/halo.h"
#include "halo/halo.h"
#include "mpi/support.h"

static ferry_halo_spec boxes_of(const ferry_halo_field *field, int dims, ferry_halo_corners corners)
{
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;

    spec.blocks = FERRY_HALO_BOXES;
    spec.dims = dims;
    spec.corners = corners;
    spec.field_count = 1;
    spec.fields = field;
    return spec;
}

static ferry_halo *make(ferry_context *ctx, const ferry_halo_spec *spec)
{
    ferry_halo *halo = NULL;

    CHECK_OK(ferry_halo_create(ctx, spec, &halo));
    CHECK(halo != NULL);
    return halo;
}

/* --- one face, two neighbours --------------------------------------------------------------------------- */

/* 6 x 5 cells: rank 0 has the left half, rank 1 most of the right half, rank 2 its last row, one cell thin. */
static void thin_neighbour(ferry_context *ctx, int rank)
{
    static const int64_t origin[3][2] = {{0, 0}, {3, 0}, {3, 4}}, extent[3][2] = {{3, 5}, {3, 4}, {3, 1}};
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    int cells[7][5]; /* y, x */
    void *const fields[] = {cells};

    field.element_bytes = sizeof(int);
    ferry_halo_spec spec = boxes_of(&field, 2, FERRY_HALO_ALL);
    for (int d = 0; d < 2; d++) {
        spec.origin[d] = origin[rank][d];
        spec.extent[d] = extent[rank][d];
        spec.ghost[d][0] = spec.ghost[d][1] = 1;
        spec.global[d] = 6 - d;
    }
    const int x = (int)spec.extent[0], y = (int)spec.extent[1];
    int *const flat = &cells[0][0];
    for (int k = 0; k < 35; k++)
        flat[k] = -1;
    for (int j = 0; j < y; j++)
        for (int i = 0; i < x; i++)
            flat[(j + 1) * (x + 2) + i + 1] = (int)(100 * (spec.origin[0] + i) + spec.origin[1] + j);
    ferry_halo *halo = make(ctx, &spec);
    CHECK_OK(ferry_halo_exchange(halo, fields));
    for (int j = -1; j <= y; j++)
        for (int i = -1; i <= x; i++) {
            const int64_t gx = spec.origin[0] + i, gy = spec.origin[1] + j;
            const int inside = gx >= 0 && gx < 6 && gy >= 0 && gy < 5;
            CHECK_EQ_INT(flat[(j + 1) * (x + 2) + i + 1], inside ? 100 * gx + gy : -1);
        }
    if (rank == 0) {
        CHECK_EQ_INT(flat[1 * 5 + 4], 300);
        CHECK_EQ_INT(flat[5 * 5 + 4], 304);
    }
    CHECK_OK(ferry_halo_check(halo));
    ferry_halo_free(halo);
}

/* --- ghosts wider than blocks --------------------------------------------------------------------------- */

/* `each` cells a rank on a ring, with ghosts of any width. */
static void wide_ring(ferry_context *ctx, const ferry_context_info *info, int each, int low, int high)
{
    const int total = each * info->size;
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    int cells[256];
    void *const fields[] = {cells};

    field.element_bytes = sizeof(int);
    spec.dims = spec.field_count = 1;
    spec.fields = &field;
    spec.extent[0] = each;
    spec.ghost[0][0] = low;
    spec.ghost[0][1] = high;
    spec.grid[0] = info->size;
    spec.periodic[0] = 1;
    for (int i = 0; i < 256; i++)
        cells[i] = i >= low && i < low + each ? info->rank * each + i - low : -1;
    ferry_halo *halo = make(ctx, &spec);
    CHECK_OK(ferry_halo_exchange(halo, fields));
    for (int i = -low; i < each + high; i++)
        CHECK_EQ_INT(cells[low + i], (info->rank * each + i + 100 * total) % total);
    CHECK_EQ_INT(cells[low + each + high], -1);
    CHECK_OK(ferry_halo_check(halo));
    ferry_halo_free(halo);
}

/* Not periodic: what lies beyond the ends stays as it was, what is there comes from as far as it must. */
static void wide_line(ferry_context *ctx, const ferry_context_info *info)
{
    enum { WIDTH = 5 };
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    int64_t cells[1 + 2 * WIDTH];
    void *const fields[] = {cells};

    field.element_bytes = sizeof(int64_t);
    ferry_halo_spec spec = boxes_of(&field, 1, FERRY_HALO_FACES);
    spec.extent[0] = 1;
    spec.origin[0] = info->size - 1 - info->rank; /* ranks the other way round */
    spec.global[0] = info->size;
    spec.ghost[0][0] = spec.ghost[0][1] = WIDTH;
    for (int i = 0; i < 1 + 2 * WIDTH; i++)
        cells[i] = i == WIDTH ? spec.origin[0] : -1;
    ferry_halo *halo = make(ctx, &spec);
    CHECK_OK(ferry_halo_exchange(halo, fields));
    for (int i = -WIDTH; i <= WIDTH; i++) {
        const int64_t place = spec.origin[0] + i;
        CHECK_EQ_INT(cells[WIDTH + i], place >= 0 && place < info->size ? place : -1);
    }
    ferry_halo_free(halo);
}

/* --- staggered fields ----------------------------------------------------------------------------------- */

/* Four cells a rank, values on faces, no ghosts at all: the shared value comes from the rank on its high side. */
static void faces_on_a_line(ferry_context *ctx, const ferry_context_info *info, int periodic)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo_box owned;
    int values[5];
    void *const fields[] = {values};
    const int last = info->rank == info->size - 1;

    field.element_bytes = sizeof(int);
    field.stagger[0] = 1;
    spec.dims = spec.field_count = 1;
    spec.fields = &field;
    spec.extent[0] = 4;
    spec.grid[0] = info->size;
    spec.periodic[0] = periodic;
    for (int i = 0; i < 5; i++)
        values[i] = 10 * info->rank + i;
    ferry_halo *halo = make(ctx, &spec);
    CHECK_OK(ferry_halo_owned(halo, 0, &owned));
    CHECK_EQ_INT(owned.low[0], 0);
    CHECK_EQ_INT(owned.high[0], last && !periodic ? 5 : 4);
    CHECK_EQ_INT(owned.high[1], 1);
    CHECK_OK(ferry_halo_exchange(halo, fields));
    for (int i = 0; i < 4; i++)
        CHECK_EQ_INT(values[i], 10 * info->rank + i);
    CHECK_EQ_INT(values[4], last ? (periodic ? 0 : 10 * info->rank + 4) : 10 * (info->rank + 1));
    CHECK_OK(ferry_halo_check(halo));
    ferry_halo_free(halo);
}

/* --- order and strides ---------------------------------------------------------------------------------- */

/* One rank, its own neighbour along dimension 1: C order in a structure with another member, rows padded to 5. */
static void padded_rows(void)
{
    struct {
        int16_t used, other;
    } cells[3][5];
    ferry_context *ctx = context_over(MPI_COMM_SELF);
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    void *const fields[] = {cells};
    int64_t bytes = 0;

    field.element_bytes = sizeof cells[0][0].used;
    field.stride_bytes[0] = sizeof cells[0];
    field.stride_bytes[1] = sizeof cells[0][0];
    spec.dims = 2;
    spec.field_count = 1;
    spec.fields = &field;
    spec.extent[0] = 3;
    spec.extent[1] = 2;
    spec.ghost[1][0] = spec.ghost[1][1] = 1;
    for (int d = 0; d < 2; d++)
        spec.grid[d] = spec.periodic[d] = 1;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 5; j++) {
            cells[i][j].used = (int16_t)(10 * i + j);
            cells[i][j].other = -1;
        }
    ferry_halo *halo = make(ctx, &spec);
    CHECK_OK(ferry_halo_field_bytes(halo, 0, &bytes));
    CHECK_EQ_INT(bytes, (2 * 5 + 3) * 4 + 2);
    CHECK_OK(ferry_halo_exchange(halo, fields));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 5; j++) {
            CHECK_EQ_INT(cells[i][j].used, 10 * i + (j == 0 ? 2 : j == 3 ? 1 : j));
            CHECK_EQ_INT(cells[i][j].other, -1);
        }
    CHECK_OK(ferry_halo_check(halo));
    ferry_halo_free(halo);
    ferry_context_free(ctx);
}

/* --- what can be computed meanwhile --------------------------------------------------------------------- */

static void plain_inner(ferry_context *ctx, const ferry_context_info *info)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo_box inner, boundary[FERRY_HALO_MAX_BOUNDARY];
    int count = 0;

    field.element_bytes = 8;
    spec.dims = 2;
    spec.field_count = 1;
    spec.fields = &field;
    spec.grid[0] = info->size;
    spec.grid[1] = 1;
    spec.periodic[0] = 1; /* nothing comes from above or below */
    for (int d = 0; d < 2; d++) {
        spec.extent[d] = 10;
        spec.ghost[d][0] = spec.ghost[d][1] = 2;
    }
    ferry_halo *halo = make(ctx, &spec);
    CHECK_OK(ferry_halo_inner(halo, 0, &inner));
    CHECK_EQ_INT(inner.low[0], 2);
    CHECK_EQ_INT(inner.high[0], 8);
    CHECK_EQ_INT(inner.low[1], 0);
    CHECK_EQ_INT(inner.high[1], 10);
    CHECK_OK(ferry_halo_boundary(halo, 0, boundary, &count));
    CHECK_EQ_INT(count, 2);
    CHECK_EQ_INT(boundary[0].low[0] + boundary[1].low[0], 8);
    CHECK_EQ_INT(ferry_halo_inner(halo, 1, &inner), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_inner(halo, 0, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_owned(NULL, 0, &inner), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_halo_boundary(halo, 0, boundary, NULL), FERRY_ERR_ARG);
    ferry_halo_free(halo);
}

/* --- the trial ------------------------------------------------------------------------------------------ */

static void swap_plans(ferry_halo *a, ferry_halo *b)
{
    ferry_plan *const plan = a->plan;
    const uint64_t moves = a->moves;

    a->plan = b->plan;
    a->moves = b->moves;
    b->plan = plan;
    b->moves = moves;
}

/* A halo with the plan of another does not do what it says. */
static void wrong_plan(ferry_context *ctx, const ferry_context_info *info)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    int cells[6] = {0}, done = 1;
    void *const fields[] = {cells};

    field.element_bytes = sizeof(int);
    spec.dims = spec.field_count = 1;
    spec.fields = &field;
    spec.extent[0] = 4;
    spec.ghost[0][0] = spec.ghost[0][1] = 1;
    spec.grid[0] = info->size;
    ferry_halo *line = make(ctx, &spec);
    spec.periodic[0] = 1;
    ferry_halo *ring = make(ctx, &spec);
    CHECK_OK(ferry_halo_check(line));
    CHECK_OK(ferry_halo_check(ring));
    swap_plans(line, ring);
    CHECK_EQ_INT(ferry_halo_check(ring), FERRY_ERR_DELIVERY);
    CHECK_DETAIL("field 0, cell (-1) on the low side of dimension 0 of rank 0: byte 0 is a5");
    check_same_detail();
    CHECK_EQ_INT(ferry_halo_check(line), FERRY_ERR_DELIVERY);
    CHECK_DETAIL("expected a5, what was there before");
    CHECK_EQ_INT(ferry_halo_check(NULL), FERRY_ERR_ARG);
    swap_plans(line, ring);
    /* One rank is in a round: all refuse, and the round goes on. */
    if (info->size > 1) {
        if (info->rank == 0)
            CHECK_OK(ferry_halo_start(ring, fields));
        CHECK_EQ_INT(ferry_halo_check(ring), FERRY_ERR_STATE);
        CHECK_DETAIL("under way on rank 0");
        if (info->rank != 0)
            CHECK_OK(ferry_halo_start(ring, fields));
        CHECK_OK(ferry_halo_wait(ring));
        CHECK_OK(ferry_halo_test(ring, &done));
        CHECK(done);
    }
    ferry_halo_free(ring);
    ferry_halo_free(line);
}

/* --- refusals ------------------------------------------------------------------------------------------- */

typedef struct refusal {
    const char *words;
    ferry_status status;
    int ranks;
    void (*spoil)(ferry_halo_spec *spec, ferry_halo_field *field);
} refusal;

static void spoil_origin(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->origin[0] = -1; }
static void spoil_end(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->extent[1] = 5; }
static void spoil_global(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->global[0] = -4; }
static void spoil_periodic(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->periodic[0] = 2; }
static void differ_global(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->global[1] = 5; }
static void differ_holes(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->holes = 1; }
static void differ_element(ferry_halo_spec *s, ferry_halo_field *f) { (void)s, f->element_bytes = 4; }
static void far_around(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->ghost[0][0] = (int64_t)1 << 40; }
static void overlap(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->origin[0] -= 2; }
static void leave_gap(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->extent[0] -= 1, s->origin[0] += 1; }

static const refusal refusals[] = {
    {"spec.origin[0] is -1", FERRY_ERR_ARG, 1, spoil_origin},
    {"spec.origin[1] + spec.extent[1] is 0 + 5, expected at most spec.global[1], 4", FERRY_ERR_ARG, 1, spoil_end},
    {"spec.global[0] is -4", FERRY_ERR_ARG, 1, spoil_global},
    {"spec.periodic[0] is 2", FERRY_ERR_ARG, 1, spoil_periodic},
    {"global[1] is ", FERRY_ERR_ARG, 2, differ_global},
    {"holes is ", FERRY_ERR_ARG, 2, differ_holes},
    {"element_bytes of field 0 is ", FERRY_ERR_ARG, 2, differ_element},
    {"ghosts 1099511627776 and 1), expected at most 65536 times", FERRY_ERR_ARG, 1, far_around},
    {" overlap: both own cells ", FERRY_ERR_SHAPE, 2, overlap},
    {" ghost cells inside of the domain on the ", FERRY_ERR_SHAPE, 2, leave_gap},
};

/* Columns of 3 x 4 cells beside each other; right on all ranks but the last. */
static void refuse(ferry_context *ctx, const refusal *wrong, const ferry_context_info *info)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo *halo = NULL;

    field.element_bytes = 8;
    ferry_halo_spec spec = boxes_of(&field, 2, FERRY_HALO_FACES);
    spec.extent[0] = 3;
    spec.extent[1] = 4;
    spec.origin[0] = 3 * info->rank;
    spec.global[0] = 3 * info->size;
    spec.global[1] = 4;
    spec.ghost[0][0] = spec.ghost[0][1] = 1;
    spec.periodic[0] = 1;
    if (info->rank == info->size - 1)
        wrong->spoil(&spec, &field);
    CHECK_EQ_INT(ferry_halo_create(ctx, &spec, &halo), wrong->status);
    CHECK(halo == NULL);
    CHECK_DETAIL(wrong->words);
    check_same_detail();
}

/* Two fields cannot live in one array, and a round that is under way cannot start. */
static void refuse_arrays(ferry_context *ctx, const ferry_context_info *info)
{
    ferry_halo_field both[2] = {FERRY_HALO_FIELD_INIT, FERRY_HALO_FIELD_INIT};
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    char one[3] = {1, 2, 3}, other[3] = {4, 5, 6};
    void *const same[] = {one, one}, *const good[] = {one, other};

    both[0].element_bytes = both[1].element_bytes = 1;
    spec.dims = 1;
    spec.field_count = 2;
    spec.fields = both;
    spec.extent[0] = spec.ghost[0][0] = spec.ghost[0][1] = spec.periodic[0] = 1;
    spec.grid[0] = info->size;
    ferry_halo *halo = make(ctx, &spec);
    CHECK_EQ_INT(ferry_halo_start(halo, same), FERRY_ERR_ARG);
    CHECK_DETAIL("fields[0] and fields[1] are the same array");
    CHECK_EQ_INT(one[0], 1);
    CHECK_OK(ferry_halo_start(halo, good));
    CHECK_EQ_INT(ferry_halo_start(halo, good), FERRY_ERR_STATE);
    CHECK_OK(ferry_halo_wait(halo));
    CHECK_EQ_INT(one[0], 2);
    CHECK_EQ_INT(other[2], 5);
    ferry_halo_free(halo);
}

/* A ring without cells has nothing to fill its ghosts with. */
static void ring_without_cells(ferry_context *ctx, const ferry_context_info *info)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo = NULL;

    field.element_bytes = 8;
    spec.dims = 2;
    spec.field_count = 1;
    spec.fields = &field;
    spec.grid[0] = info->size;
    spec.grid[1] = 1;
    spec.extent[1] = 3;
    spec.periodic[0] = 1;
    spec.ghost[0][1] = 2;
    CHECK_EQ_INT(ferry_halo_create(ctx, &spec, &halo), FERRY_ERR_SHAPE);
    CHECK_DETAIL("field 0 on rank 0 has 6 ghost cells inside of the domain on the high side of dimension 0");
    check_same_detail();
    spec.periodic[0] = 0; /* now they lie outside */
    CHECK_OK(ferry_halo_create(ctx, &spec, &halo));
    CHECK_OK(ferry_halo_check(halo));
    ferry_halo_free(halo);
}

/* --- one rank out of memory ----------------------------------------------------------------------------- */

/* Every allocation of the last rank fails in turn, or as good as every: all ranks fail with it. */
static void memory_runs_out(ferry_context *ctx, const ferry_context_info *info)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_status st = FERRY_ERR_MEMORY;
    const int poor = info->rank == info->size - 1;

    field.element_bytes = 8;
    spec.dims = spec.field_count = 1;
    spec.fields = &field;
    spec.extent[0] = 2;
    spec.ghost[0][0] = spec.ghost[0][1] = 3;
    spec.grid[0] = info->size;
    spec.periodic[0] = 1;
    for (int n = 1; st != FERRY_OK && n < 1000; n += 1 + n / 8) {
        ferry_halo *halo = NULL;
        alloc_fail_at(poor ? (uint64_t)n : 0);
        st = ferry_halo_create(ctx, &spec, &halo);
        alloc_fail_at(0);
        if (st != FERRY_OK) {
            CHECK_EQ_INT(st, FERRY_ERR_MEMORY);
            check_same_detail();
            CHECK(halo == NULL);
        }
        ferry_halo_free(halo);
    }
    CHECK_OK(st);
}

/* --- all of it ------------------------------------------------------------------------------------------ */

static void on_first_ranks(const ferry_context_info *world, int ranks, void (*run)(ferry_context *, int))
{
    MPI_Comm some;

    if (world->size < ranks)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, world->rank < ranks ? 0 : MPI_UNDEFINED, world->rank, &some);
    if (some == MPI_COMM_NULL)
        return;
    ferry_context *ctx = context_over(some);
    run(ctx, world->rank);
    ferry_context_free(ctx);
    MPI_Comm_free(&some);
}

static void ring_of_five(ferry_context *ctx, int rank)
{
    const ferry_context_info five = {.rank = rank, .size = 5};

    wide_ring(ctx, &five, 2, 3, 3);
}

void check_halo_boxes(ferry_context *ctx)
{
    ferry_context_info info;

    CHECK_OK(ferry_context_describe(ctx, &info));
    on_first_ranks(&info, 3, thin_neighbour);
    on_first_ranks(&info, 5, ring_of_five);
    wide_ring(ctx, &info, 1, 20, 31);
    wide_line(ctx, &info);
    faces_on_a_line(ctx, &info, 0);
    faces_on_a_line(ctx, &info, 1);
    padded_rows();
    if (info.size > 4) /* more ranks than cores make set-up slow */
        return;
    wide_ring(ctx, &info, 2, 3, 3);
    wide_ring(ctx, &info, 3, 7, 2);
    plain_inner(ctx, &info);
    wrong_plan(ctx, &info);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (info.size >= refusals[i].ranks)
            refuse(ctx, &refusals[i], &info);
    refuse_arrays(ctx, &info);
    ring_without_cells(ctx, &info);
    memory_runs_out(ctx, &info);
}
