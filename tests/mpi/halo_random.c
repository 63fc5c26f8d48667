/* Random halos against a naive model: every value of a global domain has a number that depends on its place, so that
 * each ghost can be checked by itself, and bytes that nothing may touch hold a pattern. Grids of ranks and irregular
 * boxes, with holes or without; ghosts wider than blocks and domains; staggered fields; any order of memory. */
#include "ferry/halo.h"
#include "ferry/memory.h"
#include "mpi/support.h"

enum { MOST_DIMS = FERRY_HALO_MAX_DIMS, MOST_FIELDS = 3, MOST_RANKS = 64, GUARD = 64, UNTOUCHED = 0xa5 };

typedef struct block {
    int64_t origin[MOST_DIMS], extent[MOST_DIMS];
    int64_t ghost[MOST_FIELDS][MOST_DIMS][2];
} block;

/* A whole domain, the same on all ranks; spec and fields are those of this rank. */
typedef struct model {
    int rank, size;
    ferry_halo_spec spec;
    ferry_halo_field fields[MOST_FIELDS];
    int64_t total[MOST_DIMS];
    block blocks[MOST_RANKS];
    unsigned round;
    ferry_halo *halo;
    unsigned char *arrays[MOST_FIELDS];
} model;

/* One value of one rank's array. */
typedef struct cell {
    int rank, field;
    int64_t index[MOST_DIMS]; /* from the first interior value */
    int64_t place[MOST_DIMS]; /* in the domain, wrapped around */
    int owner;                /* -1: nobody */
    int own;                  /* this very value is the owner's */
    int filled;               /* by an exchange */
} cell;

/* --- the domain ----------------------------------------------------------------------------------------- */

static void choose_grid(model *m, check_rng *rng)
{
    int64_t starts[MOST_DIMS][MOST_RANKS + 1];
    int rest = m->size;

    for (int d = 0; d < m->spec.dims; d++) {
        int ranks = rest;
        if (d < m->spec.dims - 1)
            do
                ranks = (int)check_between(rng, 1, rest);
            while (rest % ranks != 0);
        m->spec.grid[d] = ranks;
        rest /= ranks;
        starts[d][0] = 0;
        for (int k = 0; k < ranks; k++)
            starts[d][k + 1] = starts[d][k] + check_between(rng, 0, m->spec.dims <= 3 ? 5 : 2);
        if (starts[d][ranks] == 0)
            starts[d][ranks] = 1;
        m->total[d] = starts[d][ranks];
    }
    for (int r = 0; r < m->size; r++) {
        rest = r;
        for (int d = m->spec.dims - 1; d >= 0; d--) {
            const int k = rest % m->spec.grid[d];
            m->blocks[r].origin[d] = starts[d][k];
            m->blocks[r].extent[d] = starts[d][k + 1] - starts[d][k];
            rest /= m->spec.grid[d];
        }
    }
}

/* Cut boxes in two until there is one for each rank; then deal them out. */
static void choose_boxes(model *m, check_rng *rng)
{
    m->spec.blocks = FERRY_HALO_BOXES;
    for (int d = 0; d < m->spec.dims; d++)
        m->blocks[0].extent[d] = m->total[d] = m->spec.global[d] = check_between(rng, 1, m->spec.dims <= 3 ? 9 : 2);
    for (int count = 1; count < m->size; count++) {
        block *const old = &m->blocks[check_between(rng, 0, count - 1)], *const new = &m->blocks[count];
        const int d = (int)check_between(rng, 0, m->spec.dims - 1);
        const int64_t kept = check_between(rng, 0, old->extent[d]);
        *new = *old;
        new->origin[d] += kept;
        new->extent[d] -= kept;
        old->extent[d] = kept;
    }
    for (int r = m->size - 1; r > 0; r--) {
        const int other = (int)check_between(rng, 0, r);
        const block swapped = m->blocks[r];
        m->blocks[r] = m->blocks[other];
        m->blocks[other] = swapped;
    }
    m->spec.holes = (int)check_between(rng, 0, 1);
    if (m->spec.holes)
        m->blocks[check_between(rng, 0, m->size - 1)].extent[0] = 0;
}

static void choose_ghosts(model *m, check_rng *rng)
{
    const int wide = (int)check_between(rng, 0, 3) == 0, alike = (int)check_between(rng, 0, 1);

    for (int r = 0; r < m->size; r++)
        for (int f = 0; f < m->spec.field_count; f++)
            for (int d = 0; d < m->spec.dims; d++)
                for (int side = 0; side < 2; side++) {
                    const int64_t most = m->spec.dims > 3 ? 1 : wide ? 2 * m->total[d] + 1 : 3;
                    const int64_t width = check_between(rng, 0, most > 9 ? 9 : most);
                    m->blocks[r].ghost[f][d][side] = alike && r ? m->blocks[0].ghost[f][d][side] : width;
                }
}

static int64_t cells_along(const model *m, int rank, int f, int d)
{
    const block *b = &m->blocks[rank];

    return b->extent[d] + m->fields[f].stagger[d] + b->ghost[f][d][0] + b->ghost[f][d][1];
}

/* Any order of dimensions, with gaps. */
static void choose_strides(model *m, check_rng *rng, int f)
{
    int64_t bytes = m->fields[f].element_bytes;
    int order[MOST_DIMS];

    for (int d = 0; d < m->spec.dims; d++) {
        const int at = (int)check_between(rng, 0, d);
        order[d] = order[at];
        order[at] = d;
    }
    for (int k = 0; k < m->spec.dims; k++) {
        const int d = order[k];
        m->fields[f].stride_bytes[d] = bytes + check_between(rng, 0, 1) * check_between(rng, 0, 17);
        bytes = m->fields[f].stride_bytes[d] * cells_along(m, m->rank, f, d);
        bytes += bytes == 0;
    }
}

static void choose_fields(model *m, check_rng *rng)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 8, 12, 16, 24, 40};

    m->spec.field_count = (int)check_between(rng, 1, MOST_FIELDS);
    m->spec.fields = m->fields;
    for (int f = 0; f < m->spec.field_count; f++) {
        m->fields[f] = (ferry_halo_field)FERRY_HALO_FIELD_INIT;
        m->fields[f].element_bytes = sizes[check_between(rng, 0, sizeof sizes / sizeof sizes[0] - 1)];
        for (int d = 0; d < m->spec.dims; d++)
            m->fields[f].stagger[d] = check_between(rng, 0, 3) == 0;
    }
    choose_ghosts(m, rng);
}

/* From here on ranks choose for themselves. */
static void choose_own(model *m, check_rng *rng)
{
    const block *b = &m->blocks[m->rank];

    rng->state += (uint64_t)m->rank * (check_next(rng) % 2);
    m->spec.order = (ferry_halo_order)check_between(rng, 0, 1);
    for (int d = 0; d < m->spec.dims; d++) {
        m->spec.extent[d] = b->extent[d];
        if (m->spec.blocks == FERRY_HALO_BOXES)
            m->spec.origin[d] = b->origin[d];
        for (int side = 0; side < 2; side++)
            m->spec.ghost[d][side] = b->ghost[0][d][side];
    }
    for (int f = 0; f < m->spec.field_count; f++) {
        for (int d = 0; d < m->spec.dims; d++)
            for (int side = 0; side < 2; side++)
                m->fields[f].ghost[d][side] = f == 0 ? -1 : b->ghost[f][d][side];
        if (check_between(rng, 0, 1))
            choose_strides(m, rng, f);
    }
}

static void choose_model(model *m, check_rng *rng, const ferry_context_info *info)
{
    *m = (model){.rank = info->rank, .size = info->size, .spec = FERRY_HALO_SPEC_INIT};
    m->spec.dims = (int)(check_between(rng, 0, 7) ? check_between(rng, 1, 3) : check_between(rng, 4, MOST_DIMS));
    m->spec.corners = (ferry_halo_corners)check_between(rng, FERRY_HALO_FACES, FERRY_HALO_ALL);
    for (int d = 0; d < m->spec.dims; d++)
        m->spec.periodic[d] = (int)check_between(rng, 0, 1);
    if (check_between(rng, 0, 1))
        choose_grid(m, rng);
    else
        choose_boxes(m, rng);
    choose_fields(m, rng);
    choose_own(m, rng);
}

/* --- what each value is --------------------------------------------------------------------------------- */

static int owns(const model *m, int rank, const cell *c)
{
    const block *b = &m->blocks[rank];

    for (int d = 0; d < m->spec.dims; d++) {
        int64_t end = b->origin[d] + b->extent[d];
        if (b->extent[d] == 0)
            return 0;
        if (!m->spec.periodic[d] && end == m->total[d])
            end += m->fields[c->field].stagger[d];
        if (c->place[d] < b->origin[d] || c->place[d] >= end)
            return 0;
    }
    return 1;
}

static void place_cell(const model *m, cell *c)
{
    static const int most[] = {1, 2, MOST_DIMS};
    const block *b = &m->blocks[c->rank];
    int along = 0, wrapped = 0;

    for (int d = 0; d < m->spec.dims; d++) {
        const int64_t straight = b->origin[d] + c->index[d];
        c->place[d] = straight;
        if (m->spec.periodic[d])
            c->place[d] = (straight + 100 * m->total[d]) % m->total[d];
        wrapped += c->place[d] != straight;
        along += c->index[d] < 0 || c->index[d] >= b->extent[d] + m->fields[c->field].stagger[d];
    }
    c->owner = -1;
    for (int r = 0; r < m->size; r++)
        if (owns(m, r, c))
            c->owner = r;
    c->own = c->owner == c->rank && !wrapped;
    c->filled = !c->own && c->owner >= 0 && along <= most[m->spec.corners];
}

/* The first value of an array; 0 when there is none. */
static int first_cell(const model *m, int rank, int f, cell *c)
{
    *c = (cell){.rank = rank, .field = f};
    for (int d = 0; d < m->spec.dims; d++) {
        c->index[d] = -m->blocks[rank].ghost[f][d][0];
        if (cells_along(m, rank, f, d) == 0)
            return 0;
    }
    place_cell(m, c);
    return 1;
}

static int next_cell(const model *m, cell *c)
{
    for (int d = 0; d < m->spec.dims; d++) {
        const int64_t low = -m->blocks[c->rank].ghost[c->field][d][0];
        if (++c->index[d] < low + cells_along(m, c->rank, c->field, d)) {
            place_cell(m, c);
            return 1;
        }
        c->index[d] = low;
    }
    return 0;
}

static int64_t offset_of(const model *m, const cell *c)
{
    int64_t offset = -1, strides[MOST_DIMS];

    CHECK_OK(ferry_halo_interior(m->halo, c->field, &offset, strides));
    for (int d = 0; d < m->spec.dims; d++)
        offset += c->index[d] * strides[d];
    return offset;
}

/* Byte b of a value in a round. */
static unsigned char value_at(const model *m, const cell *c, int64_t b)
{
    uint64_t h = m->round * 7919u + (uint64_t)c->field * 104729u + (uint64_t)b * 31u;

    for (int d = 0; d < m->spec.dims; d++)
        h = (h ^ (uint64_t)c->place[d]) * 0x9e3779b97f4a7c15u;
    return (unsigned char)(h >> 40);
}

static int64_t array_bytes(const model *m, int f)
{
    int64_t bytes = -1;

    CHECK_OK(ferry_halo_field_bytes(m->halo, f, &bytes));
    return bytes;
}

/* As before a round, or after it. */
static void paint(const model *m, int f, int after, unsigned char *array)
{
    cell c;

    memset(array - GUARD, UNTOUCHED, (size_t)array_bytes(m, f) + 2 * GUARD);
    if (first_cell(m, m->rank, f, &c))
        do {
            const int64_t at = offset_of(m, &c);
            for (int64_t b = 0; (c.own || (after && c.filled)) && b < m->fields[f].element_bytes; b++)
                array[at + b] = value_at(m, &c, b);
        } while (next_cell(m, &c));
}

/* --- boxes for overlap ---------------------------------------------------------------------------------- */

static int in_box(const model *m, const ferry_halo_box *b, const cell *c)
{
    for (int d = 0; d < m->spec.dims; d++)
        if (c->index[d] < b->low[d] || c->index[d] >= b->high[d])
            return 0;
    return 1;
}

static int next_in_box(const model *m, const ferry_halo_box *b, cell *c)
{
    for (int d = 0; d < m->spec.dims; d++) {
        if (++c->index[d] < b->high[d])
            return 1;
        c->index[d] = b->low[d];
    }
    return 0;
}

/* Nothing that its stencil reads arrives. */
static void check_reads(const model *m, const cell *c)
{
    const block *mine = &m->blocks[m->rank];
    ferry_halo_box stencil = {{0}, {0}};
    cell read = *c;

    for (int d = 0; d < m->spec.dims; d++) {
        read.index[d] = stencil.low[d] = c->index[d] - mine->ghost[c->field][d][0];
        stencil.high[d] = c->index[d] + mine->ghost[c->field][d][1] + 1;
    }
    do {
        place_cell(m, &read);
        CHECK(!read.filled);
    } while (next_in_box(m, &stencil, &read));
}

/* No rank is sent a value of the inner box. */
static void check_sent(const model *m, int f, const ferry_halo_box *inner)
{
    cell c;

    for (int r = 0; r < m->size; r++)
        if (first_cell(m, r, f, &c))
            do {
                cell source = c;
                for (int d = 0; d < m->spec.dims; d++)
                    source.index[d] = c.place[d] - m->blocks[m->rank].origin[d];
                CHECK(!(c.filled && c.owner == m->rank && in_box(m, inner, &source)));
            } while (next_cell(m, &c));
}

static void check_overlap(const model *m, int f)
{
    ferry_halo_box owned, inner, boundary[FERRY_HALO_MAX_BOUNDARY];
    int count = -1;
    cell c;

    CHECK_OK(ferry_halo_owned(m->halo, f, &owned));
    CHECK_OK(ferry_halo_inner(m->halo, f, &inner));
    CHECK_OK(ferry_halo_boundary(m->halo, f, boundary, &count));
    CHECK(count >= 0 && count <= FERRY_HALO_MAX_BOUNDARY);
    if (first_cell(m, m->rank, f, &c))
        do {
            int times = in_box(m, &inner, &c);
            if (times)
                check_reads(m, &c);
            for (int k = 0; k < count; k++)
                times += in_box(m, &boundary[k], &c);
            CHECK_EQ_INT(times, c.own);
            CHECK_EQ_INT(in_box(m, &owned, &c), c.own);
        } while (next_cell(m, &c));
    check_sent(m, f, &inner);
}

/* --- rounds --------------------------------------------------------------------------------------------- */

/* Update the inner box, in place. */
static void spoil_inner(const model *m, int f, unsigned char *array)
{
    ferry_halo_box inner;
    cell c;

    CHECK_OK(ferry_halo_inner(m->halo, f, &inner));
    if (first_cell(m, m->rank, f, &c))
        do {
            const int64_t at = offset_of(m, &c);
            for (int64_t b = 0; in_box(m, &inner, &c) && b < m->fields[f].element_bytes; b++)
                array[at + b] ^= 0xff;
        } while (next_cell(m, &c));
}

static void check_field(const model *m, int f, int spoiled)
{
    const int64_t bytes = array_bytes(m, f);
    unsigned char *const memory = malloc((size_t)bytes + 2 * GUARD), *const expected = memory + GUARD;

    paint(m, f, 1, expected);
    if (spoiled)
        spoil_inner(m, f, expected);
    for (int64_t at = -GUARD; at < bytes + GUARD; at++)
        if (!CHECK_EQ_INT(m->arrays[f][at], expected[at]))
            break;
    free(memory);
}

static void one_round(const model *m)
{
    const int overlapped = m->round % 2;
    void *fields[MOST_FIELDS];
    int done = 0;

    for (int f = 0; f < m->spec.field_count; f++) {
        fields[f] = m->arrays[f];
        paint(m, f, 0, m->arrays[f]);
    }
    CHECK_OK(ferry_halo_start(m->halo, fields));
    for (int f = 0; overlapped && f < m->spec.field_count; f++)
        spoil_inner(m, f, m->arrays[f]);
    CHECK_OK(ferry_halo_test(m->halo, &done));
    CHECK_OK(ferry_halo_wait(m->halo));
    CHECK_OK(ferry_halo_test(m->halo, &done));
    CHECK(done);
    for (int f = 0; f < m->spec.field_count; f++)
        check_field(m, f, overlapped);
}

static void take_arrays(ferry_context *ctx, model *m, int shared)
{
    for (int f = 0; f < m->spec.field_count; f++) {
        const size_t bytes = (size_t)array_bytes(m, f) + 2 * GUARD;
        void *memory = NULL;
        if (shared)
            CHECK_OK(ferry_memory_alloc(ctx, bytes, &memory));
        else
            memory = malloc(bytes);
        CHECK(memory != NULL);
        m->arrays[f] = (unsigned char *)memory + GUARD;
    }
}

static void give_arrays(ferry_context *ctx, model *m, int shared)
{
    for (int f = 0; f < m->spec.field_count; f++) {
        void *const memory = m->arrays[f] - GUARD;
        if (shared)
            ferry_memory_free(ctx, memory);
        else
            free(memory);
    }
}

static void random_halo(ferry_context *ctx, check_rng *rng, const ferry_context_info *info)
{
    static model m;

    const int shared = (int)check_between(rng, 0, 1);
    check_rng own = *rng; /* the ranks' own choices must not disturb the next halo, which all choose alike */
    check_next(rng);
    choose_model(&m, &own, info);
    CHECK_OK(ferry_halo_create(ctx, &m.spec, &m.halo));
    if (!m.halo)
        return;
    take_arrays(ctx, &m, shared);
    for (int f = 0; f < m.spec.field_count; f++)
        check_overlap(&m, f);
    for (; m.round < 2; m.round++)
        one_round(&m);
    CHECK_OK(ferry_halo_check(m.halo));
    give_arrays(ctx, &m, shared); /* before the halo, which does not know them any more */
    ferry_halo_free(m.halo);
}

void check_halo_random(ferry_context *ctx)
{
    ferry_context_info info;
    check_rng rng = check_common_rng("random halos");

    CHECK_OK(ferry_context_describe(ctx, &info));
    CHECK(info.size <= MOST_RANKS);
    for (int i = 0; i < check_repeats(info.size); i++)
        random_halo(ctx, &rng, &info);
}
