/* What programs do today to exchange blocks. All ways move the same bytes between the same ranks;
 * those that pack themselves copy what a rank sends to itself without MPI, as such programs do. */
#include <limits.h>
#include <stdlib.h>

#include "bench/exchange_rivals.h"
#include "bench/simd.h"

struct rival_state {
    MPI_Request requests[2 * BLOCKS_MAX]; /* of the round under way: receives first */
    MPI_Request persistent[2 * MESSAGES_MAX];
    int persistent_count;
    MPI_Comm graph; /* of the neighbours, in the order of the messages */
    bool packs;     /* MPI_Pack can count the bytes */
    /* Arguments of MPI_Neighbor_alltoallw. */
    int ones[MESSAGES_MAX];
    MPI_Aint send_places[MESSAGES_MAX], recv_places[MESSAGES_MAX];
    MPI_Datatype send_types[MESSAGES_MAX], recv_types[MESSAGES_MAX];
};

typedef void box_copier(void *to, const box *target, const void *from, const box *source);

static char *base_of(const contender *c)
{
    return ((const memory *)c->memory)->base;
}

/* --- derived types ---------------------------------------------------------------------------- */

int rival_datatype(contender *c)
{
    const exchange *const x = c->job;
    char *const base = base_of(c);

    for (int k = 0; k < x->message_count; ++k) {
        const message *const m = &x->messages[k];
        MPI_Sendrecv(base + m->send_base, 1, m->send_type, m->to, k, base + m->recv_base, 1,
                     m->recv_type, m->from, k, x->w->rivals, MPI_STATUS_IGNORE);
    }
    return 0;
}

int rival_datatype_posted(contender *c)
{
    const exchange *const x = c->job;
    MPI_Request *const requests = x->rivals->requests;
    char *const base = base_of(c);
    const int count = x->message_count;

    for (int k = 0; k < count; ++k)
        MPI_Irecv(base + x->messages[k].recv_base, 1, x->messages[k].recv_type, x->messages[k].from,
                  k, x->w->rivals, &requests[k]);
    for (int k = 0; k < count; ++k)
        MPI_Isend(base + x->messages[k].send_base, 1, x->messages[k].send_type, x->messages[k].to,
                  k, x->w->rivals, &requests[count + k]);
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    return 0;
}

int rival_datatype_fields(contender *c)
{
    const exchange *const x = c->job;
    MPI_Request *const requests = x->rivals->requests;
    char *const base = base_of(c);
    const int count = x->message_count * x->field_count;

    for (int k = 0; k < count; ++k)
        MPI_Irecv(base + x->blocks[k].recv_base, 1, x->blocks[k].recv_type,
                  x->messages[k / x->field_count].from, k, x->w->rivals, &requests[k]);
    for (int k = 0; k < count; ++k)
        MPI_Isend(base + x->blocks[k].send_base, 1, x->blocks[k].send_type,
                  x->messages[k / x->field_count].to, k, x->w->rivals, &requests[count + k]);
    MPI_Waitall(2 * count, requests, MPI_STATUSES_IGNORE);
    return 0;
}

int rival_persistent(contender *c)
{
    const exchange *const x = c->job;

    MPI_Startall(x->rivals->persistent_count, x->rivals->persistent);
    MPI_Waitall(x->rivals->persistent_count, x->rivals->persistent, MPI_STATUSES_IGNORE);
    return 0;
}

int rival_neighbor(contender *c)
{
    const exchange *const x = c->job;
    rival_state *const r = x->rivals;
    char *const base = base_of(c);

    MPI_Neighbor_alltoallw(base, r->ones, r->send_places, r->send_types, base, r->ones,
                           r->recv_places, r->recv_types, r->graph);
    return 0;
}

/* --- packing ---------------------------------------------------------------------------------- */

static int elements_of(const exchange *x, const message *m)
{
    return (int)(m->bytes / x->element_bytes);
}

static void pack(const exchange *x, int at, const char *base, box_copier *copy)
{
    char *to = x->messages[at].send_buffer;

    for (int f = 0; f < x->field_count; ++f) {
        const box *const from = &exchange_blocks(x, at)[f].send;
        const box packed = box_packed(from);
        copy(to, &packed, base, from);
        to += box_bytes(from);
    }
}

static void unpack(const exchange *x, int at, char *base, box_copier *copy)
{
    const char *from = x->messages[at].recv_buffer;

    for (int f = 0; f < x->field_count; ++f) {
        const box *const to = &exchange_blocks(x, at)[f].recv;
        const box packed = box_packed(to);
        copy(base, to, from, &packed);
        from += box_bytes(to);
    }
}

static void copy_to_self(const exchange *x, int at, char *base, box_copier *copy)
{
    for (int f = 0; f < x->field_count; ++f)
        copy(base, &exchange_blocks(x, at)[f].recv, base, &exchange_blocks(x, at)[f].send);
}

/* A rank is its own neighbour on both sides or on none. */
static bool is_own(const exchange *x, int at)
{
    return x->messages[at].to == x->w->rank;
}

static void in_turn(const exchange *x, char *base, box_copier *copy)
{
    for (int k = 0; k < x->message_count; ++k) {
        const message *const m = &x->messages[k];
        const int count = elements_of(x, m);
        if (is_own(x, k)) {
            copy_to_self(x, k, base, copy);
            continue;
        }
        pack(x, k, base, copy);
        MPI_Sendrecv(m->send_buffer, count, x->element, m->to, k, m->recv_buffer, count, x->element,
                     m->from, k, x->w->rivals, MPI_STATUS_IGNORE);
        unpack(x, k, base, copy);
    }
}

static void begin(const exchange *x, char *base, box_copier *copy)
{
    MPI_Request *const requests = x->rivals->requests;
    const int count = x->message_count;

    for (int k = 0; k < 2 * count; ++k)
        requests[k] = MPI_REQUEST_NULL;
    for (int k = 0; k < count; ++k) {
        const message *const m = &x->messages[k];
        if (!is_own(x, k))
            MPI_Irecv(m->recv_buffer, elements_of(x, m), x->element, m->from, k, x->w->rivals,
                      &requests[k]);
    }
    for (int k = 0; k < count; ++k) {
        const message *const m = &x->messages[k];
        if (is_own(x, k)) {
            copy_to_self(x, k, base, copy);
            continue;
        }
        pack(x, k, base, copy);
        MPI_Isend(m->send_buffer, elements_of(x, m), x->element, m->to, k, x->w->rivals,
                  &requests[count + k]);
    }
}

/* Unpacks in the order of arrival. */
static void end(const exchange *x, char *base, box_copier *copy)
{
    MPI_Request *const requests = x->rivals->requests;
    const int count = x->message_count;

    for (int at = 0; count > 0;) {
        MPI_Waitany(count, requests, &at, MPI_STATUS_IGNORE);
        if (at == MPI_UNDEFINED)
            break;
        unpack(x, at, base, copy);
    }
    MPI_Waitall(count, requests + count, MPI_STATUSES_IGNORE);
}

int rival_handpack(contender *c)
{
    in_turn(c->job, base_of(c), box_copy);
    return 0;
}

int rival_handpack_posted(contender *c)
{
    begin(c->job, base_of(c), box_copy);
    end(c->job, base_of(c), box_copy);
    return 0;
}

int rival_simd(contender *c)
{
    in_turn(c->job, base_of(c), simd_copy);
    return 0;
}

int rival_simd_posted(contender *c)
{
    begin(c->job, base_of(c), simd_copy);
    end(c->job, base_of(c), simd_copy);
    return 0;
}

/* Receives stay in the list until rivals_end(), which unpacks: their completion is looked at, not
 * taken. */
void rivals_begin(exchange *x, char *base)
{
    begin(x, base, simd_copy);
}

void rivals_test(exchange *x)
{
    int done = 0;

    for (int k = 0; k < 2 * x->message_count; ++k)
        MPI_Request_get_status(x->rivals->requests[k], &done, MPI_STATUS_IGNORE);
}

void rivals_end(exchange *x, char *base)
{
    end(x, base, simd_copy);
}

int rival_pack(contender *c)
{
    const exchange *const x = c->job;
    MPI_Request *const requests = x->rivals->requests;
    char *const base = base_of(c);
    const int count = x->message_count;

    for (int k = 0; k < count; ++k)
        MPI_Irecv(x->messages[k].recv_buffer, x->messages[k].buffer_bytes, MPI_PACKED,
                  x->messages[k].from, k, x->w->rivals, &requests[k]);
    for (int k = 0; k < count; ++k) {
        const message *const m = &x->messages[k];
        int used = 0;
        MPI_Pack(base + m->send_base, 1, m->send_type, m->send_buffer, m->buffer_bytes, &used,
                 x->w->rivals);
        MPI_Isend(m->send_buffer, used, MPI_PACKED, m->to, k, x->w->rivals, &requests[count + k]);
    }
    for (int k = 0, at = 0, used = 0; k < count; ++k, used = 0) {
        MPI_Waitany(count, requests, &at, MPI_STATUS_IGNORE);
        const message *const m = &x->messages[at];
        MPI_Unpack(m->recv_buffer, m->buffer_bytes, &used, base + m->recv_base, 1, m->recv_type,
                   x->w->rivals);
    }
    MPI_Waitall(count, requests + count, MPI_STATUSES_IGNORE);
    return 0;
}

/* --- what is made before ---------------------------------------------------------------------- */

static int take_buffers(exchange *x)
{
    int failed = 0;

    for (int k = 0; k < x->message_count && !failed; ++k) {
        message *const m = &x->messages[k];
        if (x->rivals->packs)
            MPI_Pack_size(1, m->send_type, x->w->rivals, &m->buffer_bytes);
        const size_t bytes =
            (size_t)m->buffer_bytes > m->bytes ? (size_t)m->buffer_bytes : m->bytes;
        m->send_buffer = world_alloc(x->w, bytes);
        m->recv_buffer = world_alloc(x->w, bytes);
        failed = !m->send_buffer || !m->recv_buffer;
    }
    return failed;
}

static void make_requests(exchange *x)
{
    rival_state *const r = x->rivals;
    char *const base = x->memories[MEMORY_OWN].base;

    for (int k = 0; k < x->message_count; ++k)
        MPI_Recv_init(base + x->messages[k].recv_base, 1, x->messages[k].recv_type,
                      x->messages[k].from, k, x->w->rivals, &r->persistent[r->persistent_count++]);
    for (int k = 0; k < x->message_count; ++k)
        MPI_Send_init(base + x->messages[k].send_base, 1, x->messages[k].send_type,
                      x->messages[k].to, k, x->w->rivals, &r->persistent[r->persistent_count++]);
}

/* A graph and no grid: grids know no corners, and a grid of two in a periodic dimension does not
 * tell its two neighbours apart in every MPI. */
static void make_graph(exchange *x)
{
    rival_state *const r = x->rivals;
    int from[MESSAGES_MAX], to[MESSAGES_MAX];

    for (int k = 0; k < x->message_count; ++k) {
        const message *const m = &x->messages[k];
        from[k] = m->from;
        to[k] = m->to;
        r->ones[k] = 1;
        r->send_places[k] = (MPI_Aint)m->send_base;
        r->recv_places[k] = (MPI_Aint)m->recv_base;
        r->send_types[k] = m->send_type;
        r->recv_types[k] = m->recv_type;
    }
    MPI_Dist_graph_create_adjacent(x->w->rivals, x->message_count, from, r->ones, x->message_count,
                                   to, r->ones, MPI_INFO_NULL, 0, &r->graph);
}

int rivals_make(exchange *x)
{
    rival_state *const r = calloc(1, sizeof *r);
    double largest = 0;

    if (!r)
        world_fail(x->w, "rank %d: no memory for the rivals", x->w->rank);
    x->rivals = r;
    if (world_agree(x->w, !r))
        return 1;
    r->graph = MPI_COMM_NULL;
    for (int k = 0; k < x->message_count; ++k)
        largest = (double)x->messages[k].bytes > largest ? (double)x->messages[k].bytes : largest;
    world_max(x->w, &largest, 1);
    r->packs = largest < INT_MAX / 2;
    if (world_agree(x->w, take_buffers(x)))
        return 1;
    make_requests(x);
    make_graph(x);
    return 0;
}

void rivals_drop(exchange *x)
{
    rival_state *const r = x->rivals;

    for (int k = 0; r && k < r->persistent_count; ++k)
        MPI_Request_free(&r->persistent[k]);
    if (r && r->graph != MPI_COMM_NULL)
        MPI_Comm_free(&r->graph);
    free(r);
    x->rivals = NULL;
}

bool rivals_can_pack(const exchange *x)
{
    return x->rivals->packs;
}
