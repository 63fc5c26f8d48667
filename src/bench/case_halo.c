/* Case halo: ghost cells of a block from its neighbours, periodic. Along one dimension the ranks
 * stand in a row along it, and both faces move; `all`: the ranks stand on a grid, and every ghost
 * cell is filled, edges and corners too. Ghosts surround the block in every dimension, as a program
 * has them. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/cases.h"
#include "bench/exchange.h"
#include "ferry/halo.h"

enum { DIMS, EXTENT, WIDTH, ELEMENT, FIELDS, DIRECTION, KEYS };
enum { DIMS_MAX = 3, ALL = 3 }; /* ALL: the word among those of `dir` */

static const case_key keys[KEYS] = {
    [DIMS] = {"d", "3", "dimensions", 1, 1, DIMS_MAX, {NULL}},
    [EXTENT] = {"n", "128", "interior cells of a rank along each dimension", 1, 1, 1 << 30, {NULL}},
    [WIDTH] = {"w", "1", "ghost cells on each side, at most n", 1, 1, 1 << 20, {NULL}},
    [ELEMENT] = {"e", "8", "bytes of a cell", 1, 1, 4096, {NULL}},
    [FIELDS] = {"fields", "1", "fields that are exchanged together", 1, 1, FIELDS_MAX, {NULL}},
    [DIRECTION] = {"dir",
                   "x",
                   "dimension, x varies fastest; all: every neighbour",
                   0,
                   0,
                   0,
                   {"x", "y", "z", "all", NULL}},
};

/* The numbers of a case. */
typedef struct shape {
    int dims, along; /* `along`: ALL or a dimension */
    size_t n, w, e, fields;
    size_t stride[DIMS_MAX];
} shape;

static shape shape_of(const bench_case *c)
{
    shape s = {.dims = (int)c->values[DIMS][0], .along = (int)c->values[DIRECTION][0]};

    s.n = (size_t)c->values[EXTENT][0];
    s.w = (size_t)c->values[WIDTH][0];
    s.e = (size_t)c->values[ELEMENT][0];
    s.fields = (size_t)c->values[FIELDS][0];
    s.stride[0] = s.e;
    for (int k = 1; k < DIMS_MAX; ++k)
        s.stride[k] = s.stride[k - 1] * (s.n + 2 * s.w);
    return s;
}

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
    const uint64_t cells = bytes_times(face_cells(c), (uint64_t)c->values[FIELDS][0]);
    const int64_t dir = c->values[DIRECTION][0];

    if (dir != ALL && dir >= c->values[DIMS][0]) {
        snprintf(error, bytes, "halo: dir=%s needs d=%lld or more; got d=%lld",
                 keys[DIRECTION].words[dir], (long long)dir + 1, (long long)c->values[DIMS][0]);
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

/* Of several directions: all ghost cells, which are fewer than six faces and what joins them. */
static uint64_t need(const bench_case *c, const char *rivals)
{
    const uint64_t n = (uint64_t)c->values[EXTENT][0], w = (uint64_t)c->values[WIDTH][0];
    const uint64_t element = (uint64_t)c->values[ELEMENT][0];
    uint64_t field = element, inside = element;

    (void)rivals;
    for (int64_t k = 0; k < c->values[DIMS][0]; ++k) {
        field = bytes_times(field, n + 2 * w);
        inside = bytes_times(inside, n);
    }
    const uint64_t sent = c->values[DIRECTION][0] == ALL && field != UINT64_MAX
                              ? field - inside
                              : bytes_times(2, bytes_times(face_cells(c), element));
    return bytes_times((uint64_t)c->np, exchange_need((uint64_t)c->values[FIELDS][0], field, sent));
}

/* --- places ----------------------------------------------------------------------------------- */

/* Cells of a block of one field along each dimension, ghosts counted too. */
typedef struct span {
    size_t first[DIMS_MAX], count[DIMS_MAX];
} span;

static box box_of(const shape *s, const span *at, size_t field_start)
{
    size_t start = field_start, count[DIMS_MAX] = {1, 1, 1};

    for (int k = 0; k < s->dims; ++k) {
        start += at->first[k] * s->stride[k];
        count[k] = at->count[k];
    }
    return (box){start, {count[2], count[1]}, {s->stride[2], s->stride[1]}, count[0] * s->e};
}

static MPI_Datatype type_of(const shape *s, const span *at, MPI_Datatype element)
{
    int sizes[DIMS_MAX], counts[DIMS_MAX], starts[DIMS_MAX];
    MPI_Datatype type = MPI_DATATYPE_NULL;

    for (int k = 0; k < s->dims; ++k) {
        const int to = s->dims - 1 - k; /* in C order the last dimension varies fastest */
        sizes[to] = (int)(s->n + 2 * s->w);
        counts[to] = (int)at->count[k];
        starts[to] = (int)at->first[k];
    }
    MPI_Type_create_subarray(s->dims, sizes, counts, starts, MPI_ORDER_C, element, &type);
    MPI_Type_commit(&type);
    return type;
}

/* What goes a step of 1, 0 or -1 along each dimension, and where the like arrives from the other
 * side. */
static void spans_of(const shape *s, const int step[DIMS_MAX], span *sent_out, span *got_out)
{
    for (int k = 0; k < s->dims; ++k) {
        sent_out->count[k] = got_out->count[k] = step[k] == 0 ? s->n : s->w;
        sent_out->first[k] = step[k] > 0 ? s->n : s->w;
        got_out->first[k] = step[k] > 0 ? 0 : step[k] < 0 ? s->n + s->w : s->w;
    }
}

/* Ranks along each dimension; the last one varies fastest among ranks. */
static void grid_of(const shape *s, int size, int grid_out[DIMS_MAX])
{
    for (int k = 0; k < DIMS_MAX; ++k)
        grid_out[k] = k == s->along ? size : s->along == ALL && k < s->dims ? 0 : 1;
    if (s->along == ALL)
        MPI_Dims_create(size, s->dims, grid_out);
}

/* The rank that many steps away. */
static int rank_at(const int grid[DIMS_MAX], int rank, const int step[DIMS_MAX], int sign)
{
    int place[DIMS_MAX], to = 0;

    for (int k = DIMS_MAX - 1; k >= 0; rank /= grid[k], --k)
        place[k] = rank % grid[k];
    for (int k = 0; k < DIMS_MAX; ++k)
        to = to * grid[k] + (place[k] + sign * step[k] + grid[k]) % grid[k];
    return to;
}

/* --- the exchange ----------------------------------------------------------------------------- */

static void add_message(exchange *x, const shape *s, const int grid[DIMS_MAX],
                        const int step[DIMS_MAX])
{
    const int at = x->message_count++;
    span sent = {.first = {0}}, got = {.first = {0}};

    x->messages[at].to = rank_at(grid, x->w->rank, step, 1);
    x->messages[at].from = rank_at(grid, x->w->rank, step, -1);
    spans_of(s, step, &sent, &got);
    for (int f = 0; f < x->field_count; ++f) {
        block *const b = &x->blocks[at * x->field_count + f];
        b->send_base = b->recv_base = (size_t)f * x->field_bytes;
        b->send = box_of(s, &sent, b->send_base);
        b->recv = box_of(s, &got, b->recv_base);
        b->send_type = type_of(s, &sent, x->element);
        b->recv_type = type_of(s, &got, x->element);
    }
}

/* Whether a step leads to a neighbour. */
static bool leads(const shape *s, const int step[DIMS_MAX])
{
    int moved = 0;

    for (int k = 0; k < DIMS_MAX; ++k) {
        moved += step[k] != 0;
        if (step[k] != 0 && (k >= s->dims || (s->along != ALL && k != s->along)))
            return false;
    }
    return moved > 0;
}

/* Message 0 goes up and arrives from below. */
static void add_messages(exchange *x, const shape *s, const int grid[DIMS_MAX])
{
    for (int code = 0; code < 27; ++code) {
        const int step[DIMS_MAX] = {1 - code / 9, 1 - code / 3 % 3, 1 - code % 3};
        if (leads(s, step))
            add_message(x, s, grid, step);
    }
    x->usual_count = x->message_count;
}

/* The shell of cells that are sent, as boxes that do not overlap: a slab at each end of a
 * dimension, then the same of what lies between. In a thin block the second one is thinner. */
static void add_sources(exchange *x, const shape *s)
{
    const size_t second = s->n > 2 * s->w ? s->n : 2 * s->w, end = s->n + s->w;
    span left = {.first = {s->w, s->w, s->w}, .count = {s->n, s->n, s->n}};

    for (int k = s->dims - 1; k >= 0; --k) {
        if (s->along != ALL && k != s->along)
            continue;
        const size_t first[] = {s->w, second}, count[] = {s->w, end - second};
        for (int side = 0; side < 2; ++side) {
            span slab = left;
            slab.first[k] = first[side];
            slab.count[k] = count[side];
            for (int f = 0; f < x->field_count; ++f)
                x->sources[x->source_count++] = box_of(s, &slab, (size_t)f * x->field_bytes);
        }
        left.first[k] = 2 * s->w;
        left.count[k] = second - 2 * s->w;
    }
}

static int create(exchange *x, const shape *s, const int grid[DIMS_MAX])
{
    ferry_halo_field cells[FIELDS_MAX];
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo = NULL;

    for (int f = 0; f < x->field_count; ++f) {
        cells[f] = (ferry_halo_field)FERRY_HALO_FIELD_INIT;
        cells[f].element_bytes = (int64_t)x->element_bytes;
    }
    spec.dims = s->dims;
    for (int k = 0; k < spec.dims; ++k) {
        spec.extent[k] = (int64_t)s->n;
        spec.ghost[k][0] = spec.ghost[k][1] = (int64_t)s->w;
        spec.grid[k] = grid[k];
        spec.periodic[k] = s->along == ALL || k == s->along;
    }
    spec.corners = s->along == ALL ? FERRY_HALO_ALL : FERRY_HALO_FACES;
    spec.field_count = x->field_count;
    spec.fields = cells;
    const ferry_status st = ferry_halo_create(x->w->ctx, &spec, &halo);
    x->carrier = halo;
    return world_ferry(x->w, st, "ferry_halo_create");
}

static ferry_status carry(exchange *x, char *base)
{
    void *fields[FIELDS_MAX];

    for (int f = 0; f < x->field_count; ++f)
        fields[f] = base + (size_t)f * x->field_bytes;
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
    const shape s = shape_of(c);
    exchange *const x = exchange_new(w, s.e);
    int grid[DIMS_MAX];

    *job_out = x;
    if (!x)
        return 1;
    x->carry = carry;
    x->carry_name = "ferry_halo_exchange";
    x->field_count = (int)s.fields;
    x->field_bytes = s.stride[s.dims - 1] * (s.n + 2 * s.w);
    grid_of(&s, w->size, grid);
    add_messages(x, &s, grid);
    add_sources(x, &s);
    if (world_agree(w, create(x, &s, grid)) || exchange_open(x, m))
        return 1;
    ferry_halo_explain(x->carrier, m->explain, sizeof m->explain);
    return 0;
}

const case_kind case_halo = {
    .word = "halo",
    .help = "ghosts of periodic blocks with n^d cells: both faces along `dir`, or all neighbours",
    .key_count = KEYS,
    .least_np = 1,
    .keys = keys,
    .rivals = {"datatype", "handpack", "handpack-simd", "mpi-pack", "persistent", "neighbor", NULL},
    .check = check,
    .need = need,
    .open = open_halo,
    .close = close_halo,
};
