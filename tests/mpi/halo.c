/* Halos against numbers worked out by hand, and against a naive model: every cell of a global grid has a value that
 * depends on its place, so that each ghost cell can be checked by itself, and cells that nothing may touch hold a
 * pattern. */
#include "ferry/halo.h"
#include "ferry/memory.h"
#include "mpi/support.h"

enum { MOST_DIMS = FERRY_HALO_MAX_DIMS, MOST_FIELDS = 3, MOST_RANKS = 64, GUARD = 64, UNTOUCHED = 0xa5 };

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

/* --- random grids against the model ------------------------------------------------------------------- */

/* A whole grid; the same on all ranks, ghost widths excepted. */
typedef struct model {
    int rank, size;
    ferry_halo_spec spec;
    ferry_halo_field fields[MOST_FIELDS];
    int64_t extents[MOST_DIMS][MOST_RANKS]; /* of the blocks along each dimension */
    int64_t total[MOST_DIMS], first[MOST_DIMS];
    int place[MOST_DIMS];
    unsigned round;
} model;

static void choose_grid(model *m, check_rng *rng)
{
    int rest = m->size;

    for (int d = 0; d < m->spec.dims; d++) {
        int ranks = rest;
        if (d < m->spec.dims - 1)
            do
                ranks = (int)check_between(rng, 1, rest);
            while (rest % ranks != 0);
        m->spec.grid[d] = ranks;
        m->spec.periodic[d] = (int)check_between(rng, 0, 1);
        rest /= ranks;
    }
    rest = m->rank;
    for (int d = m->spec.dims - 1; d >= 0; d--) {
        m->place[d] = rest % m->spec.grid[d];
        rest /= m->spec.grid[d];
    }
}

/* Blocks along each dimension; returns the least extent of each, which is the most a ghost may have. */
static void choose_blocks(model *m, check_rng *rng, int64_t least[])
{
    for (int d = 0; d < m->spec.dims; d++) {
        m->total[d] = m->first[d] = 0;
        least[d] = INT64_MAX;
        for (int k = 0; k < m->spec.grid[d]; k++) {
            const int64_t extent = check_between(rng, 1, m->spec.dims <= 3 ? 7 : 2);
            m->extents[d][k] = extent;
            if (k < m->place[d])
                m->first[d] += extent;
            m->total[d] += extent;
            least[d] = extent < least[d] ? extent : least[d];
        }
        m->spec.extent[d] = m->extents[d][m->place[d]];
    }
}

static void choose_fields(model *m, check_rng *rng, const int64_t least[])
{
    static const int64_t sizes[] = {1, 2, 3, 4, 8, 12, 16, 24, 40};

    m->spec.field_count = (int)check_between(rng, 1, MOST_FIELDS);
    m->spec.fields = m->fields;
    for (int f = 0; f < m->spec.field_count; f++) {
        m->fields[f] = (ferry_halo_field)FERRY_HALO_FIELD_INIT;
        m->fields[f].element_bytes = sizes[check_between(rng, 0, sizeof sizes / sizeof sizes[0] - 1)];
    }
    /* From here on the ranks may differ: what a ghost holds is its owner's business. */
    if (check_between(rng, 0, 1))
        rng->state += (uint64_t)m->rank;
    for (int d = 0; d < m->spec.dims; d++)
        for (int side = 0; side < 2; side++) {
            m->spec.ghost[d][side] = check_between(rng, 0, least[d]);
            for (int f = 0; f < m->spec.field_count; f++)
                m->fields[f].ghost[d][side] = check_between(rng, -1, least[d]);
        }
}

static void choose_model(model *m, check_rng *rng, const ferry_context_info *info)
{
    int64_t least[MOST_DIMS];

    *m = (model){.rank = info->rank, .size = info->size, .spec = FERRY_HALO_SPEC_INIT};
    m->spec.dims = (int)(check_between(rng, 0, 7) ? check_between(rng, 1, 3) : check_between(rng, 4, MOST_DIMS));
    m->spec.corners = (ferry_halo_corners)check_between(rng, FERRY_HALO_FACES, FERRY_HALO_ALL);
    choose_grid(m, rng);
    choose_blocks(m, rng, least);
    choose_fields(m, rng, least);
}

static int64_t ghost_of(const model *m, int f, int d, int side)
{
    const int64_t own = m->fields[f].ghost[d][side];

    return own < 0 ? m->spec.ghost[d][side] : own;
}

static int64_t cells_of(const model *m, int f)
{
    int64_t cells = 1;

    for (int d = 0; d < m->spec.dims; d++)
        cells *= m->spec.extent[d] + ghost_of(m, f, d, 0) + ghost_of(m, f, d, 1);
    return cells;
}

/* Byte b of a field's element at a global place, in a round. */
static unsigned char value_at(const model *m, int f, const int64_t at[], int64_t b)
{
    uint64_t h = m->round * 7919u + (uint64_t)f * 104729u + (uint64_t)b * 31u;

    for (int d = 0; d < m->spec.dims; d++)
        h = (h ^ (uint64_t)at[d]) * 0x9e3779b97f4a7c15u;
    return (unsigned char)(h >> 40);
}

typedef enum cell_kind { CELL_INTERIOR, CELL_GHOST, CELL_OUTSIDE } cell_kind;

/* What cell number `cell` of the local array is, and its place on the global grid, wrapped around. */
static cell_kind place_cell(const model *m, int f, int64_t cell, int64_t at_out[])
{
    static const int most[] = {1, 2, MOST_DIMS};
    int along = 0, outside = 0;

    for (int d = 0; d < m->spec.dims; d++) {
        const int64_t low = ghost_of(m, f, d, 0), cells = m->spec.extent[d] + low + ghost_of(m, f, d, 1);
        const int64_t i = cell % cells - low, global = m->first[d] + i;
        cell /= cells;
        along += i < 0 || i >= m->spec.extent[d];
        outside += !m->spec.periodic[d] && (global < 0 || global >= m->total[d]);
        at_out[d] = (global + m->total[d]) % m->total[d];
    }
    if (along == 0)
        return CELL_INTERIOR;
    return outside || along > most[m->spec.corners] ? CELL_OUTSIDE : CELL_GHOST;
}

static void fill_field(const model *m, int f, unsigned char *array)
{
    const int64_t bytes = m->fields[f].element_bytes, cells = cells_of(m, f);
    int64_t at[MOST_DIMS];

    memset(array - GUARD, UNTOUCHED, (size_t)(cells * bytes) + 2 * GUARD);
    for (int64_t cell = 0; cell < cells; cell++)
        if (place_cell(m, f, cell, at) == CELL_INTERIOR)
            for (int64_t b = 0; b < bytes; b++)
                array[cell * bytes + b] = value_at(m, f, at, b);
}

static void check_field(const model *m, int f, const unsigned char *array)
{
    const int64_t bytes = m->fields[f].element_bytes, cells = cells_of(m, f);
    int64_t at[MOST_DIMS];

    for (int64_t cell = 0; cell < cells; cell++) {
        const int untouched = place_cell(m, f, cell, at) == CELL_OUTSIDE;
        for (int64_t b = 0; b < bytes; b++)
            CHECK_EQ_INT(array[cell * bytes + b], untouched ? UNTOUCHED : value_at(m, f, at, b));
    }
    for (int i = 0; i < GUARD; i++) {
        CHECK_EQ_INT(array[-1 - i], UNTOUCHED);
        CHECK_EQ_INT(array[cells * bytes + i], UNTOUCHED);
    }
}

/* The arithmetic of users: offset and strides lead to the first interior cell and to the last. */
static void check_addresses(const model *m, const ferry_halo *halo, int f)
{
    int64_t bytes = -1, offset = -1, strides[MOST_DIMS], at[MOST_DIMS];

    CHECK_OK(ferry_halo_field_bytes(halo, f, &bytes));
    CHECK_EQ_INT(bytes, cells_of(m, f) * m->fields[f].element_bytes);
    CHECK_OK(ferry_halo_interior(halo, f, &offset, strides));
    CHECK_EQ_INT(place_cell(m, f, offset / m->fields[f].element_bytes, at), CELL_INTERIOR);
    for (int d = 0; d < m->spec.dims; d++) {
        CHECK_EQ_INT(at[d], m->first[d]);
        offset += (m->spec.extent[d] - 1) * strides[d];
    }
    CHECK_EQ_INT(place_cell(m, f, offset / m->fields[f].element_bytes, at), CELL_INTERIOR);
    for (int d = 0; d < m->spec.dims; d++)
        CHECK_EQ_INT(at[d], m->first[d] + m->spec.extent[d] - 1);
}

static void one_round(model *m, ferry_halo *halo, void *const *fields)
{
    int done = 0;

    for (int f = 0; f < m->spec.field_count; f++)
        fill_field(m, f, fields[f]);
    if (m->round % 2 == 0) {
        CHECK_OK(ferry_halo_exchange(halo, fields));
    } else {
        CHECK_OK(ferry_halo_start(halo, fields));
        CHECK_OK(ferry_halo_test(halo, &done));
        CHECK_OK(ferry_halo_wait(halo));
        CHECK_OK(ferry_halo_test(halo, &done));
        CHECK(done);
    }
    for (int f = 0; f < m->spec.field_count; f++)
        check_field(m, f, fields[f]);
}

static void *field_memory(ferry_context *ctx, const model *m, int f, int shared)
{
    const size_t bytes = (size_t)(cells_of(m, f) * m->fields[f].element_bytes) + 2 * GUARD;
    void *memory = NULL;

    if (shared)
        CHECK_OK(ferry_memory_alloc(ctx, bytes, &memory));
    else
        memory = malloc(bytes);
    CHECK(memory != NULL);
    return (char *)memory + GUARD;
}

static void free_memory(ferry_context *ctx, void *field, int shared)
{
    void *const memory = (char *)field - GUARD;

    if (shared)
        ferry_memory_free(ctx, memory);
    else
        free(memory);
}

static void random_grid(ferry_context *ctx, check_rng *rng, const ferry_context_info *info)
{
    model m;
    ferry_halo *halo = NULL;
    void *fields[MOST_FIELDS];

    const int shared = (int)check_between(rng, 0, 1);
    check_rng own = *rng; /* the ranks' own choices must not disturb the next grid, which all choose alike */
    check_next(rng);
    choose_model(&m, &own, info);
    CHECK_OK(ferry_halo_create(ctx, &m.spec, &halo));
    for (int f = 0; f < m.spec.field_count; f++) {
        fields[f] = field_memory(ctx, &m, f, shared);
        check_addresses(&m, halo, f);
    }
    for (; m.round < 3; m.round++)
        one_round(&m, halo, fields);
    for (int f = 0; f < m.spec.field_count; f++)
        free_memory(ctx, fields[f], shared);
    ferry_halo_free(halo);
}

static void random_grids(ferry_context *ctx)
{
    ferry_context_info info;
    check_rng rng = check_common_rng("random halos");

    CHECK_OK(ferry_context_describe(ctx, &info));
    CHECK(info.size <= MOST_RANKS);
    for (int i = 0; i < check_repeats(info.size); i++)
        random_grid(ctx, &rng, &info);
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
static void spoil_bytes(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->extent[0] = INT64_MAX / 4; }
static void spoil_sum(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->extent[0] = INT64_MAX; }
static void differ_dims(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->dims = 1; }
static void differ_corners(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->corners = FERRY_HALO_EDGES; }
static void differ_count(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->field_count = 1; }
static void differ_periodic(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->periodic[0] = 0; }
static void differ_grid(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->grid[1] = s->grid[0], s->grid[0] = 1; }
static void differ_element(ferry_halo_spec *s, ferry_halo_field *f) { (void)s, f[1].element_bytes = 2; }
static void differ_extent(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->extent[1] = 3; }
static void widen(ferry_halo_spec *s, ferry_halo_field *f) { (void)s, f[1].ghost[0][0] = 6; }
static void widen_other(ferry_halo_spec *s, ferry_halo_field *f) { (void)f, s->ghost[1][1] = 5; }

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
    {"2^63 bytes or more", FERRY_ERR_ARG, 1, spoil_sum},
    {"dims is", FERRY_ERR_ARG, 2, differ_dims},
    {"corners is", FERRY_ERR_ARG, 2, differ_corners},
    {"field_count is", FERRY_ERR_ARG, 2, differ_count},
    {"periodic[0] is", FERRY_ERR_ARG, 2, differ_periodic},
    {"grid[0] is", FERRY_ERR_ARG, 2, differ_grid},
    {"element_bytes of field 1 is", FERRY_ERR_ARG, 2, differ_element},
    {"extent[1] is", FERRY_ERR_SHAPE, 2, differ_extent},
    {"has 6 ghost cells on the low side of dimension 0", FERRY_ERR_ARG, 1, widen},
    {"has 5 ghost cells on the high side of dimension 1", FERRY_ERR_ARG, 1, widen_other},
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
    random_grids(ctx);
    cartesian_neighbours(ctx);
    no_ghosts(ctx);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (info.size >= refusals[i].ranks)
            refuse(ctx, &refusals[i], &info);
    refuse_outputs(ctx, &info);
    refuse_calls(ctx, &info);
}
