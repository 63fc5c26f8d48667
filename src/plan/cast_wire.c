/* Broadcasts over several nodes. All ranks first agree on root, length and arguments, then on
 * having a place; from there on only MPI and time can fail. The bytes pass piece by piece through a
 * binomial tree over one rank per node; a piece flies on, and into the ring of the node, while the
 * next ones come. */
#include <string.h>

#include "base/size.h"
#include "ferry/memory.h"
#include "plan/cast.h"

/* ---- The tree ---- */

static int member(const cast *c, const cast_tree *t, int position)
{
    const ferry_context *const ctx = c->ctx;

    if (position == 0)
        return c->root;
    return t->shares ? ctx->leaders[(ctx->node_of[c->root] + position) % t->size]
                     : (c->root + position) % t->size;
}

static void grow_tree(const cast *c, cast_tree *t)
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

/* ---- Agreement ---- */

static ferry_status vote(cast *c, ferry_status mine)
{
    cast_wire *const w = &c->wire;

    w->mine = (cast_vote){.root = c->root,
                          .minus_root = -(int64_t)c->root,
                          .failing = mine == FERRY_OK ? 0 : c->ctx->size - c->ctx->rank,
                          .bytes = c->root == c->ctx->rank ? (int64_t)c->bytes : 0};
    if (mine != FERRY_OK) {
        w->said.status = mine;
        trouble_copy(w->said.text, sizeof w->said.text);
    }
    return pmpi_status(PMPI_Iallreduce(&w->mine, &w->all, sizeof w->mine / sizeof(int64_t),
                                       MPI_INT64_T, MPI_MAX, c->ctx->comm, &w->agreement),
                       "MPI_Iallreduce");
}

static ferry_status is_through(cast *c, bool *through_out)
{
    int flag = 0;
    const ferry_status st =
        pmpi_status(PMPI_Test(&c->wire.agreement, &flag, MPI_STATUS_IGNORE), "MPI_Test");

    *through_out = st == FERRY_OK && flag;
    return st;
}

/* The lowest rank that failed says why. */
static ferry_status hear(cast *c)
{
    cast_wire *const w = &c->wire;

    c->stage = CAST_TELL;
    return pmpi_status(PMPI_Ibcast(&w->said, sizeof w->said, MPI_BYTE,
                                   c->ctx->size - (int)w->all.failing, c->ctx->comm, &w->agreement),
                       "MPI_Ibcast");
}

static void end(cast *c, ferry_status status)
{
    ferry_memory_give(c->wire.staging);
    c->wire.staging = NULL;
    cast_end(c, status);
}

ferry_status cast_tell(cast *c)
{
    bool through = false;
    const ferry_status st = is_through(c, &through);

    if (!through)
        return st;
    trouble_keep(c->wire.said.text);
    end(c, (ferry_status)c->wire.said.status);
    return FERRY_OK;
}

ferry_status cast_wire_start(cast *c)
{
    cast_wire *const w = &c->wire;

    for (int i = 0; i < CAST_WINDOW; i++) {
        w->receives[i] = MPI_REQUEST_NULL;
        for (int k = 0; k < CAST_CHILDREN; k++)
            w->sends[i][k] = MPI_REQUEST_NULL;
    }
    c->stage = CAST_AGREE;
    trouble_keep(c->request->text);
    return vote(c, c->status);
}

/* Everything that can fail before bytes move. */
static ferry_status prepare(cast *c)
{
    cast_wire *const w = &c->wire;
    const ferry_context *const ctx = c->ctx;
    ferry_status st = FERRY_OK;

    grow_tree(c, &w->tree);
    c->writer = context_node_rank(ctx, member(c, &w->tree, w->tree.position));
    if (ctx->rank != c->root)
        st = cast_place(c);
    if (st == FERRY_OK && w->tree.leads && w->tree.shares && ctx->node_size > 1)
        st = cast_make_ring(c);
    if (st == FERRY_OK && ctx->rank == c->root)
        st = ferry_memory_take(CAST_WINDOW * (size_t)CAST_PIECE, &w->staging);
    return st;
}

ferry_status cast_agree(cast *c)
{
    const cast_vote *const all = &c->wire.all;
    bool through = false;
    const ferry_status st = is_through(c, &through);

    if (!through)
        return st;
    if (all->failing)
        return hear(c);
    if (all->root != -all->minus_root) {
        end(c, trouble(FERRY_ERR_ARG, "broadcast: root is %d on some ranks, %d on others",
                       (int)-all->minus_root, (int)all->root));
        return FERRY_OK;
    }
    c->bytes = (size_t)all->bytes;
    c->stage = CAST_READY;
    return vote(c, prepare(c));
}

ferry_status cast_ready(cast *c)
{
    cast_wire *const w = &c->wire;
    bool through = false;
    const ferry_status st = is_through(c, &through);

    if (!through)
        return st;
    if (w->all.failing)
        return hear(c);
    w->source = c->source;
    if (w->tree.leads && w->tree.position) { /* the ring is filled from where the bytes arrive */
        w->whole = (ferry_piece){c->data, c->bytes};
        c->source = (stream_reader){&w->whole, 1, 0};
    }
    c->stage = CAST_MOVE;
    return FERRY_OK;
}

/* ---- Pieces ---- */

static size_t pieces_of(const cast *c)
{
    return (c->bytes + CAST_PIECE - 1) / CAST_PIECE;
}

static size_t piece_bytes(const cast *c, size_t piece)
{
    return size_min(c->bytes - piece * CAST_PIECE, CAST_PIECE);
}

/* Take in what has come from the parent, and ask for the next pieces. */
static ferry_status receive(cast *c)
{
    cast_wire *const w = &c->wire;
    int flag = 1;
    ferry_status st = FERRY_OK;

    while (w->received < w->posted && flag && st == FERRY_OK) {
        st = pmpi_status(
            PMPI_Test(&w->receives[w->received % CAST_WINDOW], &flag, MPI_STATUS_IGNORE),
            "MPI_Test");
        w->received += st == FERRY_OK && flag;
    }
    while (st == FERRY_OK && w->posted < pieces_of(c) && w->posted < w->received + CAST_WINDOW) {
        st =
            pmpi_status(PMPI_Irecv(c->data + w->posted * CAST_PIECE, (int)piece_bytes(c, w->posted),
                                   MPI_BYTE, w->tree.parent, CONTEXT_TAG_CAST, c->ctx->comm,
                                   &w->receives[w->posted % CAST_WINDOW]),
                        "MPI_Irecv");
        w->posted++;
    }
    return st;
}

static ferry_status send_piece(cast *c, size_t piece)
{
    cast_wire *const w = &c->wire;
    const size_t bytes = piece_bytes(c, piece);
    char *data = c->data ? c->data + piece * CAST_PIECE : NULL; /* the root has none */
    ferry_status st = FERRY_OK;

    if (w->tree.parent < 0) {
        data = (char *)w->staging + piece % CAST_WINDOW * CAST_PIECE;
        stream_read(&w->source, data, bytes);
        c->ctx->counters.copied_bytes += bytes;
    }
    for (int i = 0; i < w->tree.child_count && st == FERRY_OK; i++) {
        c->ctx->counters.messages++;
        c->ctx->counters.wire_bytes += bytes;
        st = pmpi_status(PMPI_Isend(data, (int)bytes, MPI_BYTE, w->tree.children[i],
                                    CONTEXT_TAG_CAST, c->ctx->comm,
                                    &w->sends[piece % CAST_WINDOW][i]),
                         "MPI_Isend");
    }
    return st;
}

static ferry_status sends_through(cast_wire *w, size_t window, bool *through_out)
{
    int flag = 0;
    const ferry_status st =
        pmpi_status(PMPI_Testall(w->tree.child_count, w->sends[window], &flag, MPI_STATUSES_IGNORE),
                    "MPI_Testall");

    *through_out = st == FERRY_OK && flag;
    return st;
}

/* Pass on what is there to the children. */
static ferry_status pass_on(cast *c)
{
    cast_wire *const w = &c->wire;
    const size_t there = w->tree.parent < 0 ? pieces_of(c) : w->received;
    bool through = true;
    ferry_status st = FERRY_OK;

    while (w->sent < there && st == FERRY_OK) {
        st = sends_through(w, w->sent % CAST_WINDOW, &through);
        if (!through)
            return st;
        st = send_piece(c, w->sent++);
    }
    return st;
}

static ferry_status flow_between(cast *c, bool *done_out)
{
    cast_wire *const w = &c->wire;
    bool through = true;
    ferry_status st = w->tree.parent < 0 ? FERRY_OK : receive(c);

    if (st == FERRY_OK && w->tree.child_count)
        st = pass_on(c);
    *done_out = w->tree.parent < 0 || w->received == pieces_of(c);
    if (!w->tree.child_count)
        return st;
    *done_out &= w->sent == pieces_of(c);
    for (size_t i = 0; i < CAST_WINDOW && *done_out && st == FERRY_OK; i++) {
        st = sends_through(w, i, &through);
        *done_out &= through;
    }
    return st;
}

ferry_status cast_move(cast *c)
{
    cast_wire *const w = &c->wire;
    const bool ring = w->tree.shares && c->ctx->node_size > 1;
    bool done = true, shared = true;
    ferry_status st = FERRY_OK;

    if (w->tree.leads)
        st = flow_between(c, &done);
    if (st != FERRY_OK)
        return st;
    if (ring && w->tree.leads)
        shared = cast_fill(c, w->tree.parent < 0 ? c->bytes
                                                 : size_min(w->received * CAST_PIECE, c->bytes));
    else if (ring)
        shared = cast_empty(c);
    if (!done || !shared)
        return FERRY_OK;
    if (!c->request->check) {
        end(c, FERRY_OK);
        return FERRY_OK;
    }
    c->stage = CAST_CHECKED;
    return vote(c, c->ctx->rank == c->root ? FERRY_OK : cast_check(c));
}

ferry_status cast_checked(cast *c)
{
    bool through = false;
    const ferry_status st = is_through(c, &through);

    if (!through)
        return st;
    if (c->wire.all.failing)
        return hear(c);
    end(c, FERRY_OK);
    return FERRY_OK;
}
