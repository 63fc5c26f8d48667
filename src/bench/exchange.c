/* The contenders of vector and halo: ferry, the derived type, hand packing, and local copying as
 * the limit. Knows nothing of the shapes; those are boxes. */
#include <stdlib.h>
#include <string.h>

#include "bench/cases.h"
#include "bench/exchange.h"
#include "ferry/memory.h"

enum { MARK = 0xee };

uint64_t exchange_need(uint64_t field_bytes, uint64_t face_bytes)
{
    return bytes_plus(bytes_times(FIELDS, field_bytes), bytes_times(2 * FACES_MAX, face_bytes));
}

ferry_status exchange_layout(const exchange *x, const box *b, ferry_layout **layout_out)
{
    const int64_t counts[] = {(int64_t)b->count[0], (int64_t)b->count[1],
                              (int64_t)(b->run / x->element_bytes)};
    const int64_t strides[] = {(int64_t)b->stride[0], (int64_t)b->stride[1],
                               (int64_t)x->element_bytes};

    return ferry_layout_strided(3, counts, strides, (int64_t)x->element_bytes, (int64_t)b->start,
                                layout_out);
}

MPI_Datatype exchange_element(size_t element_bytes)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const MPI_Datatype of = element_bytes == 8   ? MPI_DOUBLE
                            : element_bytes == 4 ? MPI_FLOAT
                                                 : MPI_BYTE;
    const int count = element_bytes == 8 || element_bytes == 4 ? 1 : (int)element_bytes;

    MPI_Type_contiguous(count, of, &type);
    MPI_Type_commit(&type);
    return type;
}

void exchange_drop_type(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL)
        MPI_Type_free(type);
}

/* --- steps ------------------------------------------------------------------------------------ */

static int rewrite(contender *c)
{
    exchange *const x = c->job;
    field *const f = c->memory;
    const size_t unit = pattern_unit(x->element_bytes);

    for (int k = 0; k < x->face_count; ++k)
        pattern_advance(f->base, &x->rewritten[k], unit, 1 + f->owed);
    f->round += 1 + f->owed;
    f->owed = 0;
    return 0;
}

/* Ghost cells get bytes that no round leaves. */
static int mark(contender *c)
{
    const exchange *const x = c->job;
    const field *const f = c->memory;

    for (int k = 0; k < x->face_count; ++k) {
        const box *const b = &x->faces[k].recv;
        for (size_t i = 0; i < b->count[0]; ++i)
            for (size_t j = 0; j < b->count[1]; ++j)
                memset(f->base + b->start + i * b->stride[0] + j * b->stride[1], MARK, b->run);
    }
    return 0;
}

static size_t count_wrong(const contender *c, bool own)
{
    const exchange *const x = c->job;
    const field *const f = c->memory;
    size_t wrong = 0;

    for (int k = 0; k < x->face_count; ++k) {
        const face *const side = &x->faces[k];
        const int origin = own ? x->w->rank : side->from;
        wrong += pattern_wrong(f->base, &side->recv, &side->send, pattern_unit(x->element_bytes),
                               (uint64_t)origin, f->round);
    }
    return wrong;
}

static size_t wrong_of_peers(contender *c)
{
    return count_wrong(c, false);
}

static size_t wrong_of_self(contender *c)
{
    return count_wrong(c, true);
}

static int round_ferry(contender *c)
{
    exchange *const x = c->job;

    return world_ferry(x->w, x->carry(x, ((field *)c->memory)->base), x->carry_name);
}

static int round_datatype(contender *c)
{
    const exchange *const x = c->job;
    char *const base = ((field *)c->memory)->base;

    for (int k = 0; k < x->face_count; ++k) {
        const face *const side = &x->faces[k];
        MPI_Sendrecv(base + side->send_base, 1, side->send_type, side->to, k,
                     base + side->recv_base, 1, side->recv_type, side->from, k, x->w->rivals,
                     MPI_STATUS_IGNORE);
    }
    return 0;
}

static int round_handpack(contender *c)
{
    const exchange *const x = c->job;
    char *const base = ((field *)c->memory)->base;

    for (int k = 0; k < x->face_count; ++k) {
        const face *const side = &x->faces[k];
        const box packed = box_packed(&side->send);
        const int count = (int)(box_bytes(&side->send) / x->element_bytes);
        box_copy(side->send_buffer, &packed, base, &side->send);
        MPI_Sendrecv(side->send_buffer, count, x->element, side->to, k, side->recv_buffer, count,
                     x->element, side->from, k, x->w->rivals, MPI_STATUS_IGNORE);
        box_copy(base, &side->recv, side->recv_buffer, &packed);
    }
    return 0;
}

static void copy_by_loop(const exchange *x, char *base)
{
    for (int k = 0; k < x->face_count; ++k)
        box_copy(base, &x->faces[k].recv, base, &x->faces[k].send);
}

static int copy_by_plan(const exchange *x, char *base)
{
    ferry_status st = ferry_plan_start(x->self, base, base);

    if (st == FERRY_OK)
        st = ferry_plan_wait(x->self);
    return world_ferry(x->w, st, "ferry_plan_start");
}

/* The same synchronisation as the exchange brings, without its bytes. */
static int round_nothing(contender *c)
{
    const exchange *const x = c->job;
    const bool idle = x->face_count == 0;

    world_meet(x->w, idle ? x->w->rank : x->faces[0].from, idle ? x->w->rank : x->faces[0].to);
    return 0;
}

static int round_loop(contender *c)
{
    copy_by_loop(c->job, ((field *)c->memory)->base);
    return round_nothing(c);
}

static int round_plan(contender *c)
{
    return copy_by_plan(c->job, ((field *)c->memory)->base) || round_nothing(c);
}

/* On one rank alone. */
static bool alone(const contender *c)
{
    return ((const exchange *)c->job)->w->rank == 0;
}

static int alone_rewrite(contender *c)
{
    if (alone(c))
        return rewrite(c);
    ++((field *)c->memory)->owed;
    return 0;
}

static int alone_nothing(contender *c)
{
    (void)c;
    return 0;
}

static int alone_loop(contender *c)
{
    if (alone(c))
        copy_by_loop(c->job, ((field *)c->memory)->base);
    return 0;
}

static int alone_plan(contender *c)
{
    return alone(c) ? copy_by_plan(c->job, ((field *)c->memory)->base) : 0;
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Every contender in the order of the table. A check of NULL: nothing arrives that could be
 * checked. */
static const struct entry {
    const char *name;
    contender_kind kind;
    int memory;
    contender_step *rewrite;
    contender_step *round;
    contender_check *wrong;
    bool needs_self;
    const char *note;
} entries[] = {
    {"none", CONTENDER_BASELINE, FIELD_FERRY, rewrite, round_nothing, NULL, false,
     "rewriting the source alone"},
    {"ferry", CONTENDER_FERRY, FIELD_FERRY, rewrite, round_ferry, wrong_of_peers, false,
     "memory of ferry_memory_alloc"},
    {"ferry-private", CONTENDER_FERRY, FIELD_OWN, rewrite, round_ferry, wrong_of_peers, false,
     "malloc'ed memory"},
    {"datatype", CONTENDER_RIVAL, FIELD_OWN, rewrite, round_datatype, wrong_of_peers, false,
     "MPI_Sendrecv with the derived type"},
    {"handpack", CONTENDER_RIVAL, FIELD_OWN, rewrite, round_handpack, wrong_of_peers, false,
     "loops, static buffers, MPI_Sendrecv"},
    {"limit", CONTENDER_LIMIT, FIELD_FERRY, rewrite, round_loop, wrong_of_self, false,
     "source to ghost in each rank, loop"},
    {"limit", CONTENDER_LIMIT, FIELD_FERRY, rewrite, round_plan, wrong_of_self, true,
     "source to ghost in each rank, plan"},
    {"alone-none", CONTENDER_ALONE_BASE, FIELD_FERRY, alone_rewrite, alone_nothing, NULL, false,
     ""},
    {"alone", CONTENDER_ALONE, FIELD_FERRY, alone_rewrite, alone_loop, NULL, false,
     "one rank, loop"},
    {"alone", CONTENDER_ALONE, FIELD_FERRY, alone_rewrite, alone_plan, NULL, true,
     "one rank, plan"},
};

static void add_contenders(exchange *x, measurement *m)
{
    for (size_t k = 0; k < sizeof entries / sizeof *entries; ++k) {
        const struct entry *const e = &entries[k];
        if (e->needs_self && !x->self)
            continue;
        contender *const c = measurement_add(m, e->name, e->kind, x);
        c->memory = &x->fields[e->memory];
        c->rewrite = e->rewrite;
        c->before = e->wrong ? mark : NULL;
        c->round = e->round;
        c->wrong = e->wrong;
        strncpy(c->note, e->note, sizeof c->note - 1);
    }
}

/* Blocks to the rank itself, as a plan. Not every choice of routes can carry them: then there is
 * none. */
static void compile_self(exchange *x)
{
    ferry_edge edges[FACES_MAX];
    ferry_layout *layouts[2 * FACES_MAX] = {NULL};
    ferry_status st = FERRY_OK;

    for (int k = 0; k < x->face_count; ++k) {
        if (st == FERRY_OK)
            st = exchange_layout(x, &x->faces[k].send, &layouts[2 * k]);
        if (st == FERRY_OK)
            st = exchange_layout(x, &x->faces[k].recv, &layouts[2 * k + 1]);
        edges[k] = (ferry_edge)FERRY_EDGE_INIT;
        edges[k].from = edges[k].to = x->w->rank;
        edges[k].tag = k;
        edges[k].source = layouts[2 * k];
        edges[k].target = layouts[2 * k + 1];
    }
    st = ferry_context_agree(x->w->ctx, st);
    if (st == FERRY_OK)
        st = ferry_plan_compile(x->w->ctx, edges, (size_t)x->face_count, &x->self);
    for (int k = 0; k < 2 * x->face_count; ++k)
        ferry_layout_free(layouts[k]);
}

static int take_memory(exchange *x)
{
    void *shared = NULL;
    const ferry_status st = ferry_memory_alloc(x->w->ctx, x->field_bytes, &shared);
    int failed = world_ferry(x->w, st, "ferry_memory_alloc");

    x->fields[FIELD_FERRY].base = shared;
    if (!failed)
        failed = !(x->fields[FIELD_OWN].base = world_alloc(x->w, x->field_bytes));
    for (int k = 0; k < x->face_count && !failed; ++k) {
        face *const side = &x->faces[k];
        side->send_buffer = world_alloc(x->w, box_bytes(&side->send));
        side->recv_buffer = world_alloc(x->w, box_bytes(&side->send));
        failed = !side->send_buffer || !side->recv_buffer;
    }
    return failed;
}

int exchange_open(exchange *x, measurement *m)
{
    const size_t unit = pattern_unit(x->element_bytes);
    double arriving = 0;

    if (world_agree(x->w, take_memory(x)))
        return 1;
    for (int f = 0; f < FIELDS; ++f)
        for (int k = 0; k < x->face_count; ++k)
            pattern_fill(x->fields[f].base, &x->rewritten[k], unit, (uint64_t)x->w->rank, 0, 0);
    for (int k = 0; k < x->face_count; ++k)
        arriving += (double)box_bytes(&x->faces[k].recv);
    compile_self(x);
    m->streaming =
        x->w->size <= x->w->cores; /* else scheduling would drown what is left after subtracting */
    m->alone_bytes = arriving;     /* rank 0 always takes part, and the alone rank is rank 0 */
    MPI_Bcast(&m->alone_bytes, 1, MPI_DOUBLE, 0, x->w->comm);
    m->bytes = world_sum(x->w, arriving);
    add_contenders(x, m);
    return 0;
}

void exchange_close(exchange *x)
{
    ferry_plan_free(x->self);
    for (int k = 0; k < x->face_count; ++k) {
        exchange_drop_type(&x->faces[k].send_type);
        exchange_drop_type(&x->faces[k].recv_type);
        free(x->faces[k].send_buffer);
        free(x->faces[k].recv_buffer);
    }
    exchange_drop_type(&x->element);
    if (x->fields[FIELD_FERRY].base)
        ferry_memory_free(x->w->ctx, x->fields[FIELD_FERRY].base);
    free(x->fields[FIELD_OWN].base);
}
