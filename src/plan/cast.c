/* Broadcast of a stream. Within a node the root fills slots that all others empty: each byte is
 * copied once at the root and once at each receiver. Everybody says which broadcast and which root
 * it means before anything moves, and leaves with the root's verdict, so that ranks that disagree
 * or cannot place the bytes fail together and leave nothing in the ring. Between nodes a binomial
 * tree over one rank per node passes the bytes on piece by piece, after all ranks have agreed that
 * they have a place. */
#include <string.h>

#include "base/size.h"
#include "base/trouble.h"
#include "ferry/memory.h"
#include "plan/stream.h"

enum {
    SLOT_ONE = 64 << 10,   /* slot for a single reader */
    SLOT_MANY = 256 << 10, /* for several */
    PIECE_BYTES = 1 << 20, /* between nodes */
    MAX_CHILDREN = 32      /* of a binomial tree: more would be 2^32 nodes */
};

static const char call_name[] = "ferry_stream_bcast";

/* One broadcast as one rank sees it. */
typedef struct cast {
    ferry_context *ctx;
    int root, writer; /* root; rank of the node that fills its ring, by number in the node */
    uint64_t sequence;
    size_t bytes;
    char *data;           /* of a receiver */
    stream_reader source; /* of the root */
    ferry_status status;  /* found while waiting */
    char *free_slot;
    const char *full_slot;
} cast;

/* First bytes of the first slot. */
typedef struct cast_head {
    uint64_t bytes;
} cast_head;

static memory_control *control(const cast *c, int node_rank)
{
    return memory_control_of(c->ctx, node_rank);
}

static slots *ring_of(const cast *c)
{
    struct stream_state *const s = c->ctx->engine->streams;

    return c->writer == c->ctx->node_rank ? &s->cast_to : &s->cast_from[c->writer];
}

static void missing(void *what, text_out *out)
{
    const cast *const c = what;

    text_add(out, "in broadcast %llu from rank %d", (unsigned long long)c->sequence, c->root);
}

static ferry_status wait_cast(cast *c, bool (*done)(void *))
{
    const ferry_status st = wait_until(c->ctx, &(wait_for){done, missing, c});

    return st == FERRY_OK ? c->status : st;
}

/* ---- Slots ---- */

static int reader_number(int node_rank, int writer)
{
    return node_rank < writer ? node_rank : node_rank - 1;
}

static void wake_readers(const cast *c)
{
    for (int i = 0; i < c->ctx->node_size; i++)
        if (i != c->writer)
            memory_wake(c->ctx, i);
}

static bool can_fill(void *what)
{
    cast *const c = what;

    c->free_slot = slots_free_slot(ring_of(c));
    return c->free_slot != NULL;
}

static bool can_empty(void *what)
{
    cast *const c = what;
    slots *const ring = ring_of(c);
    const int mail = c->ctx->node_size;

    if (!slots_find(c->ctx, ring, c->writer, mail, reader_number(c->ctx->node_rank, c->writer)))
        return false;
    c->full_slot = slots_full_slot(ring);
    return c->full_slot != NULL;
}

static ferry_status make_ring(const cast *c)
{
    const uint32_t readers = (uint32_t)c->ctx->node_size - 1;

    return slots_make(c->ctx, ring_of(c), c->ctx->node_size, readers,
                      readers == 1 ? SLOT_ONE : SLOT_MANY);
}

/* Fill slot after slot with a head and the bytes of the source. */
static ferry_status fill_slots(cast *c)
{
    slots *const ring = ring_of(c);
    const cast_head head = {c->bytes};
    size_t front = sizeof head;

    for (size_t done = 0; front || done < c->bytes;) {
        const ferry_status st = wait_cast(c, can_fill);
        if (st != FERRY_OK)
            return st;
        const size_t part = size_min(c->bytes - done, ring->shared->slot_bytes - front);
        if (front)
            memcpy(c->free_slot, &head, sizeof head);
        stream_read(&c->source, c->free_slot + front, part);
        slots_filled(ring);
        wake_readers(c);
        done += part;
        front = 0;
    }
    c->ctx->counters.copied_bytes += c->bytes;
    return FERRY_OK;
}

/* Empty the slots that follow; without a place the bytes are dropped. The first slot is full
 * already. */
static ferry_status empty_slots(cast *c)
{
    slots *const ring = ring_of(c);
    size_t front = sizeof(cast_head);

    for (size_t done = 0; front || done < c->bytes;) {
        const ferry_status st = wait_cast(c, can_empty);
        if (st != FERRY_OK)
            return st;
        const size_t part = size_min(c->bytes - done, ring->shared->slot_bytes - front);
        if (c->data && part)
            memcpy(c->data + done, c->full_slot + front, part);
        slots_emptied(ring);
        memory_wake(c->ctx, c->writer);
        done += part;
        front = 0;
    }
    c->ctx->counters.copied_bytes += c->bytes;
    c->ctx->counters.node_bytes += c->bytes;
    return FERRY_OK;
}

static ferry_status place_bytes(cast *c, ferry_stream_place *place, void *user)
{
    void *data = NULL;
    const ferry_status st = place(user, c->bytes, &data);

    if (st != FERRY_OK)
        return st;
    if (!data && c->bytes)
        return trouble(FERRY_ERR_ARG, "%s: the place for %zu bytes is NULL on rank %d", call_name,
                       c->bytes, c->ctx->rank);
    c->data = data;
    return FERRY_OK;
}

/* ---- One node ---- */

enum { ROOT_BITS = 24 /* ranks up to 2^24, broadcasts up to 2^40 */ };

static uint64_t call_word(uint64_t sequence, int root)
{
    return sequence << ROOT_BITS | (uint32_t)(root + 1);
}

/* Which broadcast another rank of the node is in: before this one, in it with the same root, or
 * elsewhere. */
static bool has_called(cast *c, int node_rank)
{
    const uint64_t word =
        atomic_load_explicit(&control(c, node_rank)->called, memory_order_acquire);

    if (word >> ROOT_BITS < c->sequence)
        return false;
    if (word == call_word(c->sequence, c->root) || c->status != FERRY_OK)
        return true;
    if (word == call_word(c->sequence, -1))
        c->status = trouble(FERRY_ERR_ARG, "%s: rank %d gives arguments that are not valid",
                            call_name, c->ctx->node_ranks[node_rank]);
    else
        c->status = trouble(FERRY_ERR_ARG, "%s: root is %d on rank %d, another one on rank %d",
                            call_name, c->root, c->ctx->rank, c->ctx->node_ranks[node_rank]);
    return true;
}

static bool all_called(void *what)
{
    cast *const c = what;
    bool all = true;

    for (int i = 0; i < c->ctx->node_size; i++)
        all &= has_called(c, i);
    return all;
}

static bool all_finished(void *what)
{
    const cast *const c = what;
    const slots *const ring = ring_of(c);

    for (uint32_t i = 0; i < ring->shared->reader_count; i++)
        if (atomic_load_explicit(&ring->shared->readers[i].finished, memory_order_acquire) <
            c->sequence)
            return false;
    return true;
}

/* The failure of the lowest reader, kept as this rank's. */
static ferry_status readers_status(const slots *ring)
{
    for (uint32_t i = 0; i < ring->shared->reader_count; i++) {
        const slots_reader *const reader = &ring->shared->readers[i];
        if (reader->status == FERRY_OK)
            continue;
        trouble_keep(reader->text);
        return (ferry_status)reader->status;
    }
    return FERRY_OK;
}

static void judge(const cast *c, ferry_status status)
{
    memory_control *const own = control(c, c->ctx->node_rank);

    own->verdict = status;
    if (status != FERRY_OK)
        trouble_copy(own->verdict_text, sizeof own->verdict_text);
    atomic_store_explicit(&own->judged, c->sequence, memory_order_release);
    wake_readers(c);
}

static ferry_status node_root(cast *c)
{
    ferry_status st = make_ring(c);
    const ferry_status called = wait_cast(c, all_called);

    if (st == FERRY_OK)
        st = called;
    if (st == FERRY_OK)
        st = fill_slots(c);
    if (st == FERRY_OK)
        st = wait_cast(c, all_finished);
    if (c->ctx->broken != FERRY_OK)
        return st;
    if (st == FERRY_OK)
        st = readers_status(ring_of(c));
    judge(c, st);
    return st;
}

static bool is_judged(void *what)
{
    const cast *const c = what;

    return atomic_load_explicit(&control(c, c->writer)->judged, memory_order_acquire) >=
           c->sequence;
}

/* Something to read, a verdict without anything to read, or a root that means another broadcast. */
static bool begins_or_fails(void *what)
{
    cast *const c = what;

    if (is_judged(c) || can_empty(c))
        return true;
    has_called(c, c->writer);
    if (c->status != FERRY_OK &&
        is_judged(c)) /* the root gave its verdict in between, and went on to another broadcast */
        c->status = FERRY_OK;
    return c->status != FERRY_OK || is_judged(c);
}

static ferry_status verdict_of(const cast *c)
{
    const memory_control *const root = control(c, c->writer);

    if (root->verdict != FERRY_OK)
        trouble_keep(root->verdict_text);
    return (ferry_status)root->verdict;
}

static ferry_status node_reader(cast *c, ferry_stream_place *place, void *user)
{
    cast_head head;
    ferry_status st = wait_cast(c, begins_or_fails);

    if (st != FERRY_OK)
        return st;
    if (is_judged(c))
        return verdict_of(c);
    memcpy(&head, c->full_slot, sizeof head);
    c->bytes = (size_t)head.bytes;
    const ferry_status placed = place_bytes(c, place, user);
    slots_reader *const own = &ring_of(c)->shared->readers[ring_of(c)->reader];
    own->status = placed;
    if (placed != FERRY_OK)
        trouble_copy(own->text, sizeof own->text);
    st = empty_slots(c);
    if (st != FERRY_OK)
        return st;
    atomic_store_explicit(&own->finished, c->sequence, memory_order_release);
    memory_wake(c->ctx, c->writer);
    st = wait_cast(c, is_judged);
    return st == FERRY_OK ? verdict_of(c) : st;
}

/* A rank with bad arguments takes part with a root that nobody else has. */
static ferry_status within_node(cast *c, ferry_status st, ferry_stream_place *place, void *user)
{
    memory_control *const own = control(c, c->ctx->node_rank);

    atomic_store_explicit(&own->called, call_word(c->sequence, st == FERRY_OK ? c->root : -1),
                          memory_order_release);
    if (st != FERRY_OK)
        return st;
    c->writer = context_node_rank(c->ctx, c->root);
    if (c->writer == c->ctx->node_rank)
        return node_root(c);
    memory_wake(c->ctx, c->writer);
    return node_reader(c, place, user);
}

/* ---- Several nodes ---- */

/* Where this rank stands in the tree of nodes: the root's node is 0. Where shared memory may not be
 * used, every rank is a node. */
typedef struct tree {
    bool leads, shares;
    int size, position, parent;
    int child_count, children[MAX_CHILDREN];
} tree;

static int member(const cast *c, const tree *t, int position)
{
    const ferry_context *const ctx = c->ctx;

    if (position == 0)
        return c->root;
    return t->shares ? ctx->leaders[(ctx->node_of[c->root] + position) % t->size]
                     : (c->root + position) % t->size;
}

static void grow_tree(const cast *c, tree *t)
{
    const ferry_context *const ctx = c->ctx;
    int bit = 1;

    t->shares = route_node_listed(
        ctx); /* also where a node has a single rank: all ranks must see one tree */
    t->size = t->shares ? ctx->node_count : ctx->size;
    t->position = t->shares ? (ctx->node - ctx->node_of[c->root] + t->size) % t->size
                            : (ctx->rank - c->root + t->size) % t->size;
    t->leads = member(c, t, t->position) == ctx->rank;
    for (; bit < t->size && !(t->position & bit); bit <<= 1)
        ;
    t->parent = t->position ? member(c, t, t->position - bit) : -1;
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (t->position + bit < t->size)
            t->children[t->child_count++] = member(c, t, t->position + bit);
}

static ferry_status pass_on(cast *c, const tree *t, const char *piece, size_t bytes,
                            MPI_Request *requests)
{
    ferry_status st = FERRY_OK;

    for (int i = 0; i < t->child_count && st == FERRY_OK; i++) {
        c->ctx->counters.messages++;
        c->ctx->counters.wire_bytes += bytes;
        st = pmpi_status(PMPI_Isend(piece, (int)bytes, MPI_BYTE, t->children[i], CONTEXT_TAG_CAST,
                                    c->ctx->comm, &requests[i]),
                         "MPI_Isend");
    }
    return st;
}

static ferry_status finish_sends(cast *c, const tree *t, MPI_Request *requests)
{
    ferry_status st = FERRY_OK;

    for (int i = 0; i < t->child_count && st == FERRY_OK; i++)
        st = post_wait(c->ctx, &requests[i], t->children[i], "to take a piece of a broadcast");
    return st;
}

/* The root gathers each piece into a buffer; the others receive into place. A piece flies on while
 * the next one comes. */
static ferry_status move_pieces(cast *c, const tree *t, char *staging)
{
    MPI_Request sends[2][MAX_CHILDREN], receive = MPI_REQUEST_NULL;
    ferry_status st = FERRY_OK;
    size_t k = 0;

    for (int i = 0; i < 2 * MAX_CHILDREN; i++)
        sends[i / MAX_CHILDREN][i % MAX_CHILDREN] = MPI_REQUEST_NULL;
    for (size_t done = 0; done < c->bytes && st == FERRY_OK; k++) {
        const size_t part = size_min(c->bytes - done, PIECE_BYTES);
        char *const piece = t->parent < 0 ? staging + k % 2 * PIECE_BYTES : c->data + done;
        st = finish_sends(c, t, sends[k % 2]);
        if (st == FERRY_OK && t->parent < 0) {
            stream_read(&c->source, piece, part);
            c->ctx->counters.copied_bytes += part;
        } else if (st == FERRY_OK) {
            st = pmpi_status(PMPI_Irecv(piece, (int)part, MPI_BYTE, t->parent, CONTEXT_TAG_CAST,
                                        c->ctx->comm, &receive),
                             "MPI_Irecv");
        }
        if (st == FERRY_OK && t->parent >= 0)
            st = post_wait(c->ctx, &receive, t->parent, "a piece of a broadcast");
        if (st == FERRY_OK)
            st = pass_on(c, t, piece, part, sends[k % 2]);
        done += part;
    }
    for (int i = 0; i < 2 && st == FERRY_OK; i++)
        st = finish_sends(c, t, sends[i]);
    return st;
}

static ferry_status between_nodes(cast *c, const tree *t, char *staging)
{
    const stream_reader again = c->source; /* the node's ranks are served from the start too */
    ferry_status st = FERRY_OK;

    if (t->leads && (t->parent >= 0 || t->child_count))
        st = move_pieces(c, t, staging);
    c->source = again;
    return st;
}

static ferry_status node_share(cast *c, const tree *t)
{
    const ferry_piece whole = {c->data, c->bytes};

    if (!t->shares || c->ctx->node_size == 1)
        return FERRY_OK;
    if (!t->leads)
        return empty_slots(c);
    if (t->position)
        c->source = (stream_reader){&whole, 1, 0};
    return fill_slots(c);
}

/* All ranks learn the root's length, or that they do not mean the same root. */
static ferry_status agree_root(cast *c, ferry_status st)
{
    ferry_context *const ctx = c->ctx;
    int mine[2] = {c->root, -c->root}, all[2] = {0, 0};
    uint64_t bytes = c->bytes;
    MPI_Request request = MPI_REQUEST_NULL;

    st = context_agree(ctx, st);
    if (st != FERRY_OK)
        return st;
    st = pmpi_status(PMPI_Iallreduce(mine, all, 2, MPI_INT, MPI_MAX, ctx->comm, &request),
                     "MPI_Iallreduce");
    if (st == FERRY_OK)
        st = context_complete(ctx, &request, "MPI_Iallreduce");
    if (st == FERRY_OK && all[0] != -all[1])
        st = trouble(FERRY_ERR_ARG, "%s: root is %d on some ranks, %d on others", call_name,
                     -all[1], all[0]);
    if (st != FERRY_OK)
        return st;
    st = pmpi_status(PMPI_Ibcast(&bytes, 1, MPI_UINT64_T, c->root, ctx->comm, &request),
                     "MPI_Ibcast");
    if (st == FERRY_OK)
        st = context_complete(ctx, &request, "MPI_Ibcast");
    c->bytes = (size_t)bytes;
    return st;
}

static ferry_status across_nodes(cast *c, ferry_status st, ferry_stream_place *place, void *user)
{
    ferry_context *const ctx = c->ctx;
    tree t = {.size = 0};
    void *staging = NULL;

    st = agree_root(c, st);
    if (st != FERRY_OK)
        return st;
    grow_tree(c, &t);
    c->writer = context_node_rank(ctx, member(c, &t, t.position));
    st = ctx->rank == c->root ? FERRY_OK : place_bytes(c, place, user);
    if (st == FERRY_OK && t.leads && t.shares && ctx->node_size > 1)
        st = make_ring(c);
    if (st == FERRY_OK && ctx->rank == c->root)
        st = ferry_memory_take(2 * (size_t)PIECE_BYTES, &staging);
    st = context_agree(ctx, st); /* from here on only MPI and time can fail */
    if (st == FERRY_OK) {
        st = between_nodes(c, &t, staging);
        if (st == FERRY_OK)
            st = node_share(c, &t);
        if (st != FERRY_OK)
            return context_break(ctx, st); /* MPI may still be sending what is staged */
    }
    ferry_memory_give(staging);
    return st;
}

static ferry_status check(const ferry_context *ctx, int root, ferry_stream_place *place)
{
    if (root < 0 || root >= ctx->size)
        return trouble(FERRY_ERR_ARG, "%s: root is %d on rank %d, expected 0 to %d", call_name,
                       root, ctx->rank, ctx->size - 1);
    if (!place && root != ctx->rank)
        return trouble(FERRY_ERR_ARG, "%s: place is NULL on rank %d", call_name, ctx->rank);
    return FERRY_OK;
}

ferry_status ferry_stream_bcast(ferry_context *ctx, const ferry_piece *pieces, size_t count,
                                int root, ferry_stream_place *place, void *user)
{
    cast c = {.ctx = ctx, .root = root, .source = {pieces, count, 0}};
    ferry_status st = context_usable(ctx, call_name);

    if (st != FERRY_OK)
        return st;
    st = check(ctx, root, place);
    if (st == FERRY_OK && root == ctx->rank)
        st = stream_check_pieces(pieces, count, call_name, ctx->rank, &c.bytes);
    if (ctx->size == 1)
        return st;
    c.sequence = ++ctx->engine->streams->casts;
    if (route_node_allowed(ctx) && ctx->node_size == ctx->size)
        return within_node(&c, st, place, user);
    return across_nodes(&c, st, place, user);
}
