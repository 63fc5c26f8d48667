/* Copy lists: pairs two layouts nest by nest, chooses for each pair how it is moved, and runs what
 * was chosen. */
#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "copy/copy.h"
#include "copy/joint.h"
#include "copy/turn.h"
#include "copy/walk.h"

enum {
    OPS_MAX = 1024, /* pairs in more pieces are walked */
    BLOCK_BYTES =
        4096, /* runs from here on are copied one by one, past the caches if the list is large */
    TURN_LEAST = 8, /* rows and columns that are worth a tile */
};

typedef struct copy_op copy_op;

/* How an op is moved. */
typedef struct copy_way {
    const char *name;
    void (*run)(const copy_op *op, const char *src, char *dst);
} copy_way;

struct copy_op {
    const copy_way *way;
    joint_nest nest;
    kernel_runs *kernel;            /* runs */
    turn_shape turn;                /* turns: of the two innermost loops, rows and columns */
    copy_walk *walk;                /* walks: instead of the nest */
    const layout_places *places;    /* lists: of the side that is one; the other side is dense */
    kernel_listed_gather *gather;   /* the source is the list */
    kernel_listed_scatter *scatter; /* the destination is */
    int stream;
};

struct copy_list {
    size_t element, bytes;
    bool stream; /* large blocks go past the caches */
    bool fence;  /* some op writes past the caches */
    size_t op_count, op_room;
    copy_op *ops;
};

/* --- Ways --- */

/* To the next iteration of the loops outside of the `inner` innermost ones; false after the last.
 */
static inline bool advance(const joint_nest *nest, int inner, size_t *index, const char **src,
                           char **dst)
{
    for (int k = nest->dims - inner - 1; k >= 0; k--) {
        const joint_loop *const loop = &nest->loop[k];
        *src += loop->src;
        *dst += loop->dst;
        if (++index[k] < loop->count)
            return true;
        *src -= (int64_t)loop->count * loop->src;
        *dst -= (int64_t)loop->count * loop->dst;
        index[k] = 0;
    }
    return false;
}

static void run_blocks(const copy_op *op, const char *src, char *dst)
{
    size_t index[JOINT_DIMS] = {0};

    do
        kernels_copy(dst, src, op->nest.run, op->stream);
    while (advance(&op->nest, 0, index, &src, &dst));
}

static void run_runs(const copy_op *op, const char *src, char *dst)
{
    const joint_loop inner = op->nest.loop[op->nest.dims - 1];
    const size_t run = op->nest.run;
    size_t index[JOINT_DIMS] = {0};

    do
        op->kernel(dst, inner.dst, src, inner.src, inner.count, run);
    while (advance(&op->nest, 1, index, &src, &dst));
}

static void run_turn(const copy_op *op, const char *src, char *dst)
{
    const joint_loop rows = op->nest.loop[op->nest.dims - 2],
                     columns = op->nest.loop[op->nest.dims - 1];
    size_t index[JOINT_DIMS] = {0};

    do
        turn_run(&op->turn, (turn_rows){.first = src, .stride = rows.src}, dst, columns.dst);
    while (advance(&op->nest, 2, index, &src, &dst));
}

static void run_walk(const copy_op *op, const char *src, char *dst)
{
    walk_run(op->walk, src, dst);
}

static void run_listed(const copy_op *op, const char *src, char *dst)
{
    const layout_places *const places = op->places;

    if (op->gather)
        op->gather(dst, src, places->at, places->count, op->nest.run);
    else
        op->scatter(dst, places->at, src, places->count, op->nest.run);
}

static const copy_way way_blocks = {"blocks", run_blocks};
static const copy_way way_runs = {"runs", run_runs};
static const copy_way way_turn = {"turn", run_turn};
static const copy_way way_walk = {"walk", run_walk};
static const copy_way way_listed = {"list", run_listed};

/* --- Choosing --- */

static bool is_worth_a_turn(const joint_nest *nest, int *row_out, int *column_out)
{
    enum { ELEMENT_MAX = 4096 }; /* of the tile kernels */

    return nest->run <= ELEMENT_MAX && joint_turn(nest, row_out, column_out) &&
           nest->loop[*row_out].count >= TURN_LEAST && nest->loop[*column_out].count >= TURN_LEAST;
}

static void choose_turn(copy_op *op, int row, int column, size_t bytes)
{
    const size_t rows = op->nest.loop[row].count, columns = op->nest.loop[column].count;

    joint_move(&op->nest, row, op->nest.dims - 1);
    joint_move(&op->nest, column - (column > row), op->nest.dims - 1);
    op->way = &way_turn;
    op->turn = turn_shape_of(rows, columns, op->nest.run);
    op->turn.stream = turn_streams(bytes);
}

/* `bytes`: of the whole list. */
static void choose(copy_op *op, size_t bytes)
{
    const joint_nest *const nest = &op->nest;
    int row, column;

    if (is_worth_a_turn(nest, &row, &column)) {
        choose_turn(op, row, column, bytes);
    } else if (nest->dims == 0 || nest->run >= BLOCK_BYTES) {
        op->way = &way_blocks;
    } else {
        const joint_loop *const inner = &nest->loop[nest->dims - 1];
        const int64_t run = (int64_t)nest->run;
        kernel_runs *const past = op->stream ? kernels_runs_streamed(nest->run) : NULL;
        op->way = &way_runs;
        op->kernel = past ? past : kernels_runs(nest->run, inner->src == run, inner->dst == run);
    }
}

/* --- Making --- */

static ferry_status add_op(copy_list *list, const copy_op *op)
{
    if (list->op_count == list->op_room) {
        const size_t room = list->op_room > 0 ? 4 * list->op_room
                                              : 1; /* one pair of nests is nearly always one op */
        const ferry_status st = alloc_resize(room, sizeof *list->ops, &list->ops);
        if (st != FERRY_OK)
            return st;
        list->op_room = room;
    }
    list->ops[list->op_count++] = *op;
    return FERRY_OK;
}

static ferry_status add_walk(copy_list *list, const layout_nest *src, size_t src_count,
                             const layout_nest *dst, size_t dst_count)
{
    copy_op op = {.way = &way_walk};

    ferry_status st = walk_make(src, src_count, dst, dst_count, &op.walk);
    if (st != FERRY_OK)
        return st;
    st = add_op(list, &op);
    if (st != FERRY_OK)
        walk_drop(op.walk);
    return st;
}

/* A list against one dense run is its places; any other pair with a list is walked. */
static ferry_status add_listed(copy_list *list, const ferry_layout *src, const ferry_layout *dst)
{
    const layout_nest *const from = &src->nests[0], *const to = &dst->nests[0];
    const bool single = src->nest_count == 1 && dst->nest_count == 1;
    copy_op op = {.way = &way_listed, .nest = {.src = from->offset, .dst = to->offset}};

    if (!single || !((from->places && to->dims == 0) || (to->places && from->dims == 0)))
        return add_walk(list, src->nests, src->nest_count, dst->nests, dst->nest_count);
    const layout_nest *const listed = from->places ? from : to;
    op.places = listed->places;
    op.nest.run = listed->run;
    if (from->places)
        op.gather = kernels_listed_gather(listed->run);
    else
        op.scatter = kernels_listed_scatter(listed->run);
    const ferry_status st = add_op(list, &op);
    if (st == FERRY_OK)
        layout_hold(listed);
    return st;
}

static ferry_status add_pair(copy_list *list, const layout_nest *src, const layout_nest *dst)
{
    copy_op op = {.stream = list->stream};

    if (!joint_pair(src, dst, &op.nest))
        return add_walk(list, src, 1, dst, 1);
    joint_reorder(&op.nest);
    choose(&op, list->bytes);
    list->fence = list->fence || op.stream || op.turn.stream;
    return add_op(list, &op);
}

/* A place in a sequence of nests. */
typedef struct place {
    const layout_nest *nest;
    size_t done, bytes; /* of the present nest */
} place;

static void go_on(place *at, size_t bytes)
{
    at->done += bytes;
    if (at->done < at->bytes)
        return;
    at->nest++;
    at->done = 0;
}

/* The next pieces of both sides that are nests and of one size. */
static size_t next_pieces(const place *src, const place *dst, layout_nest *src_out,
                          layout_nest *dst_out)
{
    size_t most = size_min(src->bytes - src->done, dst->bytes - dst->done);

    for (;;) {
        const size_t from = joint_piece(src->nest, src->done, most, src_out);
        most = joint_piece(dst->nest, dst->done, from, dst_out);
        if (most == from)
            return most;
    }
}

/* Pair piece by piece; ERR_LIMIT when that makes too many ops. */
static ferry_status add_pieces(copy_list *list, const ferry_layout *src, const ferry_layout *dst)
{
    place from = {.nest = src->nests}, to = {.nest = dst->nests};
    layout_nest src_piece, dst_piece;

    for (size_t done = 0; done < list->bytes;) {
        if (list->op_count == OPS_MAX)
            return FERRY_ERR_LIMIT;
        from.bytes = layout_nest_bytes(from.nest);
        to.bytes = layout_nest_bytes(to.nest);
        const size_t bytes = next_pieces(&from, &to, &src_piece, &dst_piece);
        const ferry_status st = add_pair(list, &src_piece, &dst_piece);
        if (st != FERRY_OK)
            return st;
        go_on(&from, bytes);
        go_on(&to, bytes);
        done += bytes;
    }
    return FERRY_OK;
}

static void drop_ops(copy_list *list)
{
    for (size_t i = 0; i < list->op_count; i++) {
        walk_drop(list->ops[i].walk);
        layout_release(&(layout_nest){.places = (layout_places *)list->ops[i].places});
    }
    list->op_count = 0;
}

ferry_status copy_make(const ferry_layout *src, const ferry_layout *dst, copy_list **list_out)
{
    copy_list *list = NULL;

    if (src->elements != dst->elements || (src->elements > 0 && src->element != dst->element))
        return trouble(FERRY_ERR_SHAPE,
                       "the source has %zu elements of %zu bytes, the destination %zu of %zu",
                       src->elements, src->element, dst->elements, dst->element);
    ferry_status st = alloc_zero(1, sizeof *list, &list);
    if (st != FERRY_OK)
        return st;
    list->element = src->element;
    list->bytes = src->bytes;
    list->stream = src->bytes >= kernels_stream_bytes();
    st = layout_has_places(src) || layout_has_places(dst) ? add_listed(list, src, dst)
                                                          : add_pieces(list, src, dst);
    if (st == FERRY_ERR_LIMIT) {
        drop_ops(list);
        st = add_walk(list, src->nests, src->nest_count, dst->nests, dst->nest_count);
    }
    if (st != FERRY_OK) {
        copy_drop(list);
        return st;
    }
    *list_out = list;
    return FERRY_OK;
}

void copy_drop(copy_list *list)
{
    if (!list)
        return;
    drop_ops(list);
    alloc_free(list->ops);
    alloc_free(list);
}

void copy_run(const copy_list *list, const char *src, char *dst)
{
    for (size_t i = 0; i < list->op_count; i++) {
        const copy_op *const op = &list->ops[i];
        op->way->run(op, src + op->nest.src, dst + op->nest.dst);
    }
    if (list->fence)
        kernels_fence();
}

/* --- Telling --- */

size_t copy_bytes(const copy_list *list)
{
    return list->bytes;
}

size_t copy_memory(const copy_list *list)
{
    size_t bytes = sizeof *list + list->op_room * sizeof *list->ops;

    for (size_t i = 0; i < list->op_count; i++)
        bytes += list->ops[i].walk ? walk_memory(list->ops[i].walk) : 0;
    return bytes;
}

static void op_text(const copy_op *op, text_out *out)
{
    text_add(out, "%s %zu B", op->way->name, op->walk ? walk_bytes(op->walk) : op->nest.run);
    for (int k = 0; k < op->nest.dims; k++) {
        const joint_loop *const loop = &op->nest.loop[k];
        text_add(out, "%s%zu by %lld to %lld", k == 0 ? " x [" : ", ", loop->count,
                 (long long)loop->src, (long long)loop->dst);
    }
    text_add(out, "%s", op->nest.dims > 0 ? "]" : "");
}

void copy_text(const copy_list *list, text_out *out)
{
    enum { SHOWN = 4 };

    if (list->op_count == 0)
        text_add(out, "nothing");
    for (size_t i = 0; i < list->op_count && i < SHOWN; i++) {
        text_add(out, "%s", i > 0 ? "; " : "");
        op_text(&list->ops[i], out);
    }
    if (list->op_count > SHOWN)
        text_add(out, "; and %zu more", list->op_count - SHOWN);
}

/* A single row or column counts as a matrix; a dense block does not, since it is moved better as
 * one. */
static bool shape_of(const joint_nest *nest, size_t element, joint_loop *rows_out,
                     joint_loop *columns_out)
{
    const int64_t run = (int64_t)nest->run;
    const joint_loop one = {1, run, run};
    int row, column;

    if (nest->dims > 2 || (nest->dims == 0 && nest->run != element))
        return false;
    *rows_out = *columns_out = one;
    if (nest->dims == 0)
        return true;
    if (nest->dims == 2 && joint_turn(nest, &row, &column)) {
        *rows_out = nest->loop[row];
        *columns_out = nest->loop[column];
        return true;
    }
    if (nest->dims == 1 && nest->loop[0].dst == run)
        *rows_out = nest->loop[0];
    else if (nest->dims == 1 && nest->loop[0].src == run)
        *columns_out = nest->loop[0];
    else
        return false;
    return true;
}

bool copy_is_turn(const copy_list *list, copy_turn *turn_out)
{
    joint_loop rows, columns;

    if (list->op_count != 1 || list->ops[0].walk || list->ops[0].places ||
        !shape_of(&list->ops[0].nest, list->element, &rows, &columns))
        return false;
    const joint_nest *const nest = &list->ops[0].nest;
    *turn_out = (copy_turn){
        .element = nest->run,
        .rows = rows.count,
        .columns = columns.count,
        .src_offset = nest->src,
        .src_stride = rows.src,
        .dst_offset = nest->dst,
        .dst_stride = columns.dst,
    };
    return true;
}
