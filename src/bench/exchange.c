/* Blocks of fields: memory, known contents, types and buffers of messages, and the contenders in
 * the order of the table. Knows nothing of the shapes; those are boxes. What rivals do in a round
 * is in exchange_rivals.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/cases.h"
#include "bench/exchange.h"
#include "bench/exchange_rivals.h"
#include "ferry/memory.h"

enum { MARK = 0xee, PAGE = 4096 };

uint64_t exchange_need(uint64_t fields, uint64_t field_bytes, uint64_t sent_bytes)
{
    const uint64_t one = bytes_plus(bytes_times(MEMORIES, field_bytes), bytes_times(2, sent_bytes));

    return bytes_times(fields, one);
}

exchange *exchange_new(world *w, size_t element_bytes)
{
    exchange *const x = calloc(1, sizeof *x);

    if (!x)
        world_fail(w, "rank %d: no memory for the case", w->rank);
    if (world_agree(w, !x))
        return free(x), NULL;
    *x = (exchange){.w = w, .element_bytes = element_bytes, .field_count = 1};
    x->element = exchange_element(element_bytes);
    for (int k = 0; k < BLOCKS_MAX; ++k)
        x->blocks[k].send_type = x->blocks[k].recv_type = MPI_DATATYPE_NULL;
    for (int k = 0; k < MESSAGES_MAX; ++k)
        x->messages[k].send_type = x->messages[k].recv_type = MPI_DATATYPE_NULL;
    return x;
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

static int block_count(const exchange *x)
{
    return x->message_count * x->field_count;
}

/* --- steps ------------------------------------------------------------------------------------ */

int exchange_rewrite(contender *c)
{
    const exchange *const x = c->job;
    memory *const f = c->memory;
    const size_t unit = pattern_unit(x->element_bytes);

    for (int k = 0; k < x->source_count; ++k)
        pattern_advance(f->base, &x->sources[k], unit, 1 + f->owed);
    f->round += 1 + f->owed;
    f->owed = 0;
    return 0;
}

/* Ghost cells get bytes that no round leaves. */
int exchange_mark(contender *c)
{
    const exchange *const x = c->job;
    const memory *const f = c->memory;

    for (int k = 0; k < block_count(x); ++k) {
        const box *const b = &x->blocks[k].recv;
        for (size_t i = 0; i < b->count[0]; ++i)
            for (size_t j = 0; j < b->count[1]; ++j)
                memset(f->base + b->start + i * b->stride[0] + j * b->stride[1], MARK, b->run);
    }
    return 0;
}

static size_t count_wrong(const contender *c, bool own)
{
    const exchange *const x = c->job;
    const memory *const f = c->memory;
    size_t wrong = 0;

    for (int k = 0; k < block_count(x); ++k) {
        const block *const b = &x->blocks[k];
        const int origin = own ? x->w->rank : x->messages[k / x->field_count].from;
        wrong += pattern_wrong(f->base, &b->recv, &b->send, pattern_unit(x->element_bytes),
                               (uint64_t)origin, f->round);
    }
    return wrong;
}

size_t exchange_wrong(contender *c)
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

    return world_ferry(x->w, x->carry(x, ((memory *)c->memory)->base), x->carry_name);
}

static void copy_by_loop(const exchange *x, char *base)
{
    for (int k = 0; k < block_count(x); ++k)
        box_copy(base, &x->blocks[k].recv, base, &x->blocks[k].send);
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
    int peers[MESSAGES_MAX];

    for (int k = 0; k < x->message_count; ++k)
        peers[k] = x->messages[k].from;
    world_meet(x->w, peers, x->message_count);
    return 0;
}

static int round_loop(contender *c)
{
    copy_by_loop(c->job, ((memory *)c->memory)->base);
    return round_nothing(c);
}

static int round_plan(contender *c)
{
    return copy_by_plan(c->job, ((memory *)c->memory)->base) || round_nothing(c);
}

/* On one rank alone. */
static bool alone(const contender *c)
{
    return ((const exchange *)c->job)->w->rank == 0;
}

static int alone_rewrite(contender *c)
{
    if (alone(c))
        return exchange_rewrite(c);
    ++((memory *)c->memory)->owed;
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
        copy_by_loop(c->job, ((memory *)c->memory)->base);
    return 0;
}

static int alone_plan(contender *c)
{
    return alone(c) ? copy_by_plan(c->job, ((memory *)c->memory)->base) : 0;
}

/* --- contenders ------------------------------------------------------------------------------- */

/* What an entry of the table needs. */
enum {
    NEEDS_SELF = 1,
    NEEDS_FEW = 2,
    NEEDS_MANY = 4,
    NEEDS_FIELDS = 8,
    NEEDS_PACK = 16,
    NEEDS_ADOPTED = 32
};

/* Without these the row says why. */
enum { NEEDS_TOLD = NEEDS_PACK | NEEDS_ADOPTED };

/* Every contender in the order of the table; of those with one name the faster stays. A check of
 * NULL: nothing arrives that could be checked. */
static const struct entry {
    const char *name;
    contender_kind kind;
    int memory;
    contender_step *rewrite;
    contender_step *round;
    contender_check *wrong;
    int needs;
    const char *note;
} entries[] = {
    {"none", CONTENDER_BASELINE, MEMORY_FERRY, exchange_rewrite, round_nothing, NULL, 0,
     "rewriting the source alone"},
    {"ferry", CONTENDER_FERRY, MEMORY_FERRY, exchange_rewrite, round_ferry, exchange_wrong, 0,
     "memory of ferry_memory_alloc"},
    {"ferry-private", CONTENDER_FERRY, MEMORY_OWN, exchange_rewrite, round_ferry, exchange_wrong, 0,
     "malloc'ed memory"},
    {"ferry-adopted", CONTENDER_FERRY, MEMORY_ADOPTED, exchange_rewrite, round_ferry,
     exchange_wrong, NEEDS_ADOPTED, "malloc'ed memory, adopted"},
    {"datatype", CONTENDER_RIVAL, MEMORY_OWN, exchange_rewrite, rival_datatype, exchange_wrong,
     NEEDS_FEW, "MPI_Sendrecv with the derived type"},
    {"datatype", CONTENDER_RIVAL, MEMORY_OWN, exchange_rewrite, rival_datatype_posted,
     exchange_wrong, NEEDS_MANY, "a message with a derived type per neighbour, all posted"},
    {"datatype", CONTENDER_RIVAL, MEMORY_OWN, exchange_rewrite, rival_datatype_fields,
     exchange_wrong, NEEDS_FIELDS, "a message per neighbour and field, all posted"},
    {"handpack", CONTENDER_RIVAL, MEMORY_OWN, exchange_rewrite, rival_handpack, exchange_wrong,
     NEEDS_FEW, "loops, static buffers, MPI_Sendrecv"},
    {"handpack", CONTENDER_RIVAL, MEMORY_OWN, exchange_rewrite, rival_handpack_posted,
     exchange_wrong, NEEDS_MANY, "loops, static buffers, MPI_Isend and MPI_Irecv"},
    {"handpack-simd", CONTENDER_RIVAL, MEMORY_OWN, exchange_rewrite, rival_simd, exchange_wrong,
     NEEDS_FEW, "vector loops, static buffers, MPI_Sendrecv"},
    {"handpack-simd", CONTENDER_RIVAL, MEMORY_OWN, exchange_rewrite, rival_simd_posted,
     exchange_wrong, NEEDS_MANY, "vector loops, static buffers, MPI_Isend and MPI_Irecv"},
    {"mpi-pack", CONTENDER_RIVAL, MEMORY_OWN, exchange_rewrite, rival_pack, exchange_wrong,
     NEEDS_PACK, "MPI_Pack, static buffers, MPI_Isend, MPI_Unpack"},
    {"persistent", CONTENDER_RIVAL, MEMORY_OWN, exchange_rewrite, rival_persistent, exchange_wrong,
     0, "MPI_Send_init and MPI_Recv_init with the derived type"},
    {"neighbor", CONTENDER_RIVAL, MEMORY_OWN, exchange_rewrite, rival_neighbor, exchange_wrong, 0,
     "MPI_Neighbor_alltoallw with the derived type"},
    {"limit", CONTENDER_LIMIT, MEMORY_FERRY, exchange_rewrite, round_loop, wrong_of_self, 0,
     "source to ghost in each rank, loop"},
    {"limit", CONTENDER_LIMIT, MEMORY_FERRY, exchange_rewrite, round_plan, wrong_of_self,
     NEEDS_SELF, "source to ghost in each rank, plan"},
    {"alone-none", CONTENDER_ALONE_BASE, MEMORY_FERRY, alone_rewrite, alone_nothing, NULL, 0, ""},
    {"alone", CONTENDER_ALONE, MEMORY_FERRY, alone_rewrite, alone_loop, NULL, 0, "one rank, loop"},
    {"alone", CONTENDER_ALONE, MEMORY_FERRY, alone_rewrite, alone_plan, NULL, NEEDS_SELF,
     "one rank, plan"},
};

/* Everything that is here; the same on all ranks. A single message gains nothing from being posted
 * with others. */
static int find_means(const exchange *x)
{
    return (x->self ? NEEDS_SELF : 0) | (x->usual_count <= FEW_MESSAGES ? NEEDS_FEW : 0) |
           (x->usual_count > 1 ? NEEDS_MANY : 0) | (x->field_count > 1 ? NEEDS_FIELDS : 0) |
           (rivals_can_pack(x) ? NEEDS_PACK : 0) | (x->unadopted[0] ? 0 : NEEDS_ADOPTED);
}

static void add_contenders(exchange *x, measurement *m)
{
    const int means = find_means(x);

    for (size_t k = 0; k < sizeof entries / sizeof *entries; ++k) {
        const struct entry *const e = &entries[k];
        if ((e->needs & ~means & ~NEEDS_TOLD) != 0)
            continue;
        contender *const c = measurement_add(m, e->name, e->kind, x);
        c->memory = &x->memories[e->memory];
        c->rewrite = e->rewrite;
        c->before = e->wrong ? exchange_mark : NULL;
        c->round = e->round;
        c->wrong = e->wrong;
        strncpy(c->note, e->note, sizeof c->note - 1);
        if (e->needs & ~means & NEEDS_ADOPTED)
            c->missing = x->unadopted;
        else if (e->needs & ~means)
            c->missing = "a message has more than 2 GiB, which MPI_Pack cannot count";
    }
}

/* --- opening ---------------------------------------------------------------------------------- */

/* Blocks to the rank itself, as a plan. Not every choice of routes can carry them: then there is
 * none. */
static void compile_self(exchange *x)
{
    static ferry_edge edges[BLOCKS_MAX];
    ferry_layout *layouts[2 * BLOCKS_MAX] = {NULL};
    ferry_status st = FERRY_OK;

    for (int k = 0; k < block_count(x); ++k) {
        if (st == FERRY_OK)
            st = exchange_layout(x, &x->blocks[k].send, &layouts[2 * k]);
        if (st == FERRY_OK)
            st = exchange_layout(x, &x->blocks[k].recv, &layouts[2 * k + 1]);
        edges[k] = (ferry_edge)FERRY_EDGE_INIT;
        edges[k].from = edges[k].to = x->w->rank;
        edges[k].tag = k;
        edges[k].source = layouts[2 * k];
        edges[k].target = layouts[2 * k + 1];
    }
    st = ferry_context_agree(x->w->ctx, st);
    if (st == FERRY_OK)
        st = ferry_plan_compile(x->w->ctx, edges, (size_t)block_count(x), &x->self);
    for (int k = 0; k < 2 * block_count(x); ++k)
        ferry_layout_free(layouts[k]);
}

/* Whole pages are adopted, so that a small field fills one. No failure ends the case: a system may
 * refuse, and the row says so. */
static void adopt(exchange *x, size_t bytes)
{
    const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    const ferry_status st = ferry_memory_adopt(x->w->ctx, x->memories[MEMORY_ADOPTED].base, whole);
    double refused = st != FERRY_OK;

    x->adopted = st == FERRY_OK;
    if (!x->adopted)
        snprintf(x->unadopted, sizeof x->unadopted, "%.*s", CONTENDER_NOTE_BYTES - 1,
                 ferry_error_detail());
    world_max(x->w, &refused, 1);
    if (refused > 0 && x->adopted)
        snprintf(x->unadopted, sizeof x->unadopted, "another rank could not adopt its memory");
}

static int take_memory(exchange *x)
{
    const size_t bytes = x->field_bytes * (size_t)x->field_count;
    void *shared = NULL;
    const ferry_status st = ferry_memory_alloc(x->w->ctx, bytes, &shared);
    int failed = world_ferry(x->w, st, "ferry_memory_alloc");

    x->memories[MEMORY_FERRY].base = shared;
    if (!failed)
        failed = !(x->memories[MEMORY_OWN].base = world_alloc(x->w, bytes));
    if (!failed)
        failed = !(x->memories[MEMORY_ADOPTED].base = world_alloc(x->w, bytes));
    return failed;
}

/* One type for the blocks of all fields: the only one, or a record of them. */
static void join_types(const exchange *x, int at, bool sent, MPI_Datatype *type_out,
                       size_t *base_out)
{
    const block *const b = exchange_blocks(x, at);
    MPI_Datatype types[FIELDS_MAX];
    MPI_Aint places[FIELDS_MAX];
    int ones[FIELDS_MAX];

    for (int f = 0; f < x->field_count; ++f) {
        types[f] = sent ? b[f].send_type : b[f].recv_type;
        places[f] = (MPI_Aint)(sent ? b[f].send_base : b[f].recv_base);
        ones[f] = 1;
    }
    *base_out = x->field_count == 1 ? (size_t)places[0] : 0;
    if (x->field_count == 1) {
        MPI_Type_dup(types[0], type_out);
        return;
    }
    MPI_Type_create_struct(x->field_count, ones, places, types, type_out);
    MPI_Type_commit(type_out);
}

static void join_blocks(exchange *x)
{
    for (int k = 0; k < x->message_count; ++k) {
        message *const m = &x->messages[k];
        for (int f = 0; f < x->field_count; ++f)
            m->bytes += box_bytes(&exchange_blocks(x, k)[f].send);
        join_types(x, k, true, &m->send_type, &m->send_base);
        join_types(x, k, false, &m->recv_type, &m->recv_base);
    }
}

int exchange_prepare(exchange *x, measurement *m)
{
    const size_t unit = pattern_unit(x->element_bytes);
    double arriving = 0;

    if (world_agree(x->w, take_memory(x)))
        return 1;
    adopt(x, x->field_bytes * (size_t)x->field_count);
    join_blocks(x);
    if (rivals_make(x))
        return 1;
    for (int f = 0; f < MEMORIES; ++f)
        for (int k = 0; k < x->source_count; ++k)
            pattern_fill(x->memories[f].base, &x->sources[k], unit, (uint64_t)x->w->rank, 0, 0);
    for (int k = 0; k < x->message_count; ++k)
        arriving += (double)x->messages[k].bytes;
    m->alone_bytes = arriving; /* rank 0 always takes part, and the alone rank is rank 0 */
    MPI_Bcast(&m->alone_bytes, 1, MPI_DOUBLE, 0, x->w->comm);
    m->bytes = world_sum(x->w, arriving);
    return 0;
}

int exchange_open(exchange *x, measurement *m)
{
    if (exchange_prepare(x, m))
        return 1;
    compile_self(x);
    m->streaming =
        x->w->size <= x->w->cores; /* else scheduling would drown what is left after subtracting */
    add_contenders(x, m);
    return 0;
}

void exchange_close(exchange *x)
{
    ferry_plan_free(x->self);
    rivals_drop(x);
    for (int k = 0; k < BLOCKS_MAX; ++k) {
        exchange_drop_type(&x->blocks[k].send_type);
        exchange_drop_type(&x->blocks[k].recv_type);
    }
    for (int k = 0; k < MESSAGES_MAX; ++k) {
        exchange_drop_type(&x->messages[k].send_type);
        exchange_drop_type(&x->messages[k].recv_type);
        free(x->messages[k].send_buffer);
        free(x->messages[k].recv_buffer);
    }
    exchange_drop_type(&x->element);
    if (x->memories[MEMORY_FERRY].base)
        ferry_memory_free(x->w->ctx, x->memories[MEMORY_FERRY].base);
    free(x->memories[MEMORY_OWN].base);
    if (x->adopted)
        ferry_memory_release(x->w->ctx, x->memories[MEMORY_ADOPTED].base);
    free(x->memories[MEMORY_ADOPTED].base);
}
