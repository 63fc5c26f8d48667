/* Case halo: both faces of a block along one dimension, periodic, all ranks in a row along it.
 * Ghosts surround the block in every dimension, as a program has them; those of the other
 * dimensions are not exchanged. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/cases.h"
#include "bench/exchange.h"
#include "ferry/halo.h"

enum { DIMS, EXTENT, WIDTH, ELEMENT, DIRECTION, KEYS };

static const case_key keys[KEYS] = {
    [DIMS] = {"d", "3", "dimensions", 1, 1, 3, {NULL}},
    [EXTENT] = {"n", "128", "interior cells of a rank along each dimension", 1, 1, 1 << 30, {NULL}},
    [WIDTH] = {"w", "1", "ghost cells on each side, at most n", 1, 1, 1 << 20, {NULL}},
    [ELEMENT] = {"e", "8", "bytes of a cell", 1, 1, 4096, {NULL}},
    [DIRECTION] = {"dir", "x", "dimension; x varies fastest", 0, 0, 0, {"x", "y", "z", NULL}},
};

/* Cells of one face. */
static uint64_t face_cells(const bench_case *c)
{
    uint64_t cells = (uint64_t)c->values[WIDTH][0];

    for (int64_t k = 1; k < c->values[DIMS][0]; ++k)
        cells = bytes_times(cells, (uint64_t)c->values[EXTENT][0]);
    return cells;
}

static int check(const bench_case *c, char *error, size_t bytes)
{
    const uint64_t n = (uint64_t)c->values[EXTENT][0], w = (uint64_t)c->values[WIDTH][0];
    const uint64_t cells = face_cells(c);

    if (c->values[DIRECTION][0] >= c->values[DIMS][0]) {
        snprintf(error, bytes, "halo: dir=%s needs d=%lld or more; got d=%lld",
                 keys[DIRECTION].words[c->values[DIRECTION][0]],
                 (long long)c->values[DIRECTION][0] + 1, (long long)c->values[DIMS][0]);
        return 1;
    }
    if (w > n) {
        snprintf(error, bytes, "halo: w=%llu is wider than the block, n=%llu; expected w <= n",
                 (unsigned long long)w, (unsigned long long)n);
        return 1;
    }
    if (cells > INT32_MAX) {
        snprintf(error, bytes,
                 "halo: a face has %llu cells; expected at most %d, as MPI counts them",
                 (unsigned long long)cells, INT32_MAX);
        return 1;
    }
    return 0;
}

static uint64_t need(const bench_case *c, const char *rivals)
{
    const uint64_t n = (uint64_t)c->values[EXTENT][0], w = (uint64_t)c->values[WIDTH][0];
    uint64_t field = (uint64_t)c->values[ELEMENT][0];

    (void)rivals;
    for (int64_t k = 0; k < c->values[DIMS][0]; ++k)
        field = bytes_times(field, n + 2 * w);
    const uint64_t face = face_cells(c) * (uint64_t)c->values[ELEMENT][0];
    return bytes_times((uint64_t)c->np, exchange_need(field, face));
}

/* Where cells first .. first + count - 1 along `dir` lie, the whole interior along the other
 * dimensions. */
static box slab(const bench_case *c, size_t first, size_t count)
{
    const size_t n = (size_t)c->values[EXTENT][0], w = (size_t)c->values[WIDTH][0];
    const size_t e = (size_t)c->values[ELEMENT][0], row = e * (n + 2 * w);
    const int dims = (int)c->values[DIMS][0], dir = (int)c->values[DIRECTION][0];
    const size_t stride[3] = {e, row, row * (n + 2 * w)};
    size_t counts[3] = {1, 1, 1}, start = 0;

    for (int k = 0; k < dims; ++k) {
        counts[k] = k == dir ? count : n;
        start += (k == dir ? first : w) * stride[k];
    }
    return (box){start, {counts[2], counts[1]}, {stride[2], stride[1]}, counts[0] * e};
}

static MPI_Datatype slab_type(const bench_case *c, MPI_Datatype element, size_t first, size_t count)
{
    const int n = (int)c->values[EXTENT][0], w = (int)c->values[WIDTH][0];
    const int dims = (int)c->values[DIMS][0];
    int sizes[3], counts[3], starts[3];
    MPI_Datatype type = MPI_DATATYPE_NULL;

    for (int k = 0; k < dims; ++k) {
        const int at = dims - 1 - k; /* in C order the last dimension varies fastest */
        const bool along = k == (int)c->values[DIRECTION][0];
        sizes[at] = n + 2 * w;
        counts[at] = along ? (int)count : n;
        starts[at] = along ? (int)first : w;
    }
    MPI_Type_create_subarray(dims, sizes, counts, starts, MPI_ORDER_C, element, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Face 0 goes up and arrives from below, face 1 the other way. */
static void describe_faces(exchange *x, const bench_case *c)
{
    const size_t n = (size_t)c->values[EXTENT][0], w = (size_t)c->values[WIDTH][0];
    const int up = (x->w->rank + 1) % x->w->size, down = (x->w->rank + x->w->size - 1) % x->w->size;
    const size_t sent[FACES_MAX] = {n, w}, got[FACES_MAX] = {0, n + w};

    x->field_bytes = x->element_bytes;
    for (int64_t k = 0; k < c->values[DIMS][0]; ++k)
        x->field_bytes *= n + 2 * w;
    x->face_count = FACES_MAX;
    for (int k = 0; k < FACES_MAX; ++k) {
        face *const side = &x->faces[k];
        *side = (face){.to = k == 0 ? up : down, .from = k == 0 ? down : up};
        side->send = slab(c, sent[k], w);
        side->recv = slab(c, got[k], w);
        side->send_type = slab_type(c, x->element, sent[k], w);
        side->recv_type = slab_type(c, x->element, got[k], w);
    }
    /* In a thin block the two sources share cells, which are rewritten once. */
    const size_t from = n > 2 * w ? n : 2 * w;
    x->rewritten[0] = slab(c, w, w);
    x->rewritten[1] = slab(c, from, n + w - from);
}

static int create(exchange *x, const bench_case *c)
{
    ferry_halo_field cell = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo = NULL;

    cell.element_bytes = (int64_t)x->element_bytes;
    spec.dims = (int)c->values[DIMS][0];
    for (int k = 0; k < spec.dims; ++k) {
        const bool along = k == (int)c->values[DIRECTION][0];
        spec.extent[k] = c->values[EXTENT][0];
        spec.ghost[k][0] = spec.ghost[k][1] = c->values[WIDTH][0];
        spec.grid[k] = along ? x->w->size : 1;
        spec.periodic[k] = along;
    }
    spec.corners = FERRY_HALO_FACES;
    spec.field_count = 1;
    spec.fields = &cell;
    const ferry_status st = ferry_halo_create(x->w->ctx, &spec, &halo);
    x->carrier = halo;
    return world_ferry(x->w, st, "ferry_halo_create");
}

static ferry_status carry(exchange *x, char *base)
{
    void *const fields[] = {base};

    return ferry_halo_exchange(x->carrier, fields);
}

static void close_halo(void *job)
{
    exchange *const x = job;

    if (!x)
        return;
    ferry_halo_free(x->carrier);
    exchange_close(x);
    free(x);
}

static int open_halo(world *w, const bench_case *c, measurement *m, void **job_out)
{
    exchange *const x = calloc(1, sizeof *x);

    if (!x)
        world_fail(w, "rank %d: no memory for the case", w->rank);
    if (world_agree(w, !x))
        return free(x), 1;
    *job_out = x;
    *x = (exchange){.w = w, .element_bytes = (size_t)c->values[ELEMENT][0], .carry = carry};
    x->carry_name = "ferry_halo_exchange";
    x->element = exchange_element(x->element_bytes);
    describe_faces(x, c);
    if (world_agree(w, create(x, c)) || exchange_open(x, m))
        return 1;
    ferry_halo_explain(x->carrier, m->explain, sizeof m->explain);
    return 0;
}

const case_kind case_halo = {
    .word = "halo",
    .help = "both faces along `dir` of a periodic row of blocks with n^d cells each",
    .key_count = KEYS,
    .least_np = 1,
    .keys = keys,
    .rivals = {"datatype", "handpack", NULL},
    .check = check,
    .need = need,
    .open = open_halo,
    .close = close_halo,
};
