/* Folding: what arrived is combined with what is there; see folds.h. Knows nothing of how it
 * arrived. A block is folded in pieces that stay in the first cache: the target's piece is packed,
 * combined with the arrived one, and unpacked, so that one dense loop for each type serves all
 * layouts. A dense target is combined where it lies. */
#include "plan/folds.h"

#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "copy/copy.h"
#include "kernels/fold.h"
#include "layout/layout.h"

enum {
    PIECE =
        8192, /* a multiple of every type's size; two of them and the target fit the first cache */
    ALIGNMENT = 64
};

typedef struct fold_edge {
    kernel_fold *kernel; /* NULL: the last one stays */
    ferry_op op;
    ferry_type type;
    int from, buffer;
    size_t unit, bytes; /* of an element of the type, and of the block */
    copy_side *target;
    copy_side *source; /* of a block of this rank to itself; else NULL */
    size_t staged;     /* where it arrives, else */
    int64_t offset;    /* of a dense target */
    bool dense;
} fold_edge;

struct folds_list {
    char *staging;
    size_t staging_bytes, count;
    fold_edge edges[];
};

/* ---- Checking ---- */

static ferry_status check(const ferry_edge *e, size_t i, int rank)
{
    const size_t unit = kernels_fold_bytes(e->type);

    if ((int)e->op < FERRY_OP_REPLACE || (int)e->op > FERRY_OP_LAST)
        return trouble(FERRY_ERR_ARG,
                       "edges[%zu] (%d -> %d, tag %d): op is %d on rank %d, expected %d..%d", i,
                       e->from, e->to, e->tag, (int)e->op, rank, FERRY_OP_REPLACE, FERRY_OP_LAST);
    if (e->op == FERRY_OP_REPLACE || e->op == FERRY_OP_LAST)
        return FERRY_OK;
    if (unit == 0)
        return trouble(FERRY_ERR_ARG,
                       "edges[%zu] (%d -> %d, tag %d): type is %d on rank %d, expected that of a "
                       "number, as op is %s",
                       i, e->from, e->to, e->tag, (int)e->type, rank, kernels_fold_op(e->op));
    if (!kernels_fold(e->op, e->type))
        return trouble(
            FERRY_ERR_ARG, "edges[%zu] (%d -> %d, tag %d) on rank %d: %s is not defined for %s", i,
            e->from, e->to, e->tag, rank, kernels_fold_op(e->op), kernels_fold_type(e->type));
    if (e->target->element % unit != 0)
        return trouble(FERRY_ERR_ARG,
                       "edges[%zu] (%d -> %d, tag %d): elements of target have %zu bytes on rank "
                       "%d, expected a multiple of %zu, as type is %s",
                       i, e->from, e->to, e->tag, e->target->element, rank, unit,
                       kernels_fold_type(e->type));
    return FERRY_OK;
}

ferry_status folds_check(const ferry_context *ctx, const ferry_edge *edges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const ferry_status st =
            edges[i].to == ctx->rank ? check(&edges[i], i, ctx->rank) : FERRY_OK;
        if (st != FERRY_OK)
            return st;
    }
    return FERRY_OK;
}

/* ---- Making ---- */

void folds_drop(folds_list *folds)
{
    if (!folds)
        return;
    for (size_t i = 0; i < folds->count; i++) {
        copy_side_drop(folds->edges[i].source);
        copy_side_drop(folds->edges[i].target);
    }
    alloc_free(folds->staging);
    alloc_free(folds);
}

/* Room in staging, and the edge as routes see it: dense, elements of the same number and size. */
static ferry_status stage(folds_list *folds, fold_edge *fold, ferry_edge *routed,
                          ferry_layout **layout_out)
{
    const ferry_layout *const target = routed->target;
    const layout_nest nest = {.offset = (int64_t)folds->staging_bytes, .run = target->bytes};

    fold->staged = folds->staging_bytes;
    if (!size_add(folds->staging_bytes, size_round(target->bytes, ALIGNMENT),
                  &folds->staging_bytes) ||
        folds->staging_bytes > INT64_MAX)
        return trouble(FERRY_ERR_LIMIT, "the blocks that are folded take more than 2^63 bytes");
    const ferry_status st = layout_make(target->element, &nest, 1, layout_out);
    if (st == FERRY_OK) {
        routed->target = *layout_out;
        routed->buffer = FOLD_BUFFER;
    }
    return st;
}

static ferry_status add(folds_list *folds, const ferry_edge *e, int rank, ferry_edge *routed,
                        ferry_layout **layout_out)
{
    fold_edge *const fold = &folds->edges[folds->count++];
    const ferry_layout *const target = e->target;

    *fold = (fold_edge){.kernel = kernels_fold(e->op, e->type),
                        .op = e->op,
                        .type = e->type,
                        .from = e->from,
                        .buffer = e->buffer,
                        .unit = kernels_fold_bytes(e->type),
                        .bytes = target->bytes,
                        .dense = target->nest_count == 1 && target->nests[0].dims == 0,
                        .offset = target->lb};
    const ferry_status st = copy_side_make(target, &fold->target);
    if (st != FERRY_OK)
        return st;
    return e->from == rank ? copy_side_make(e->source, &fold->source)
                           : stage(folds, fold, routed, layout_out);
}

static ferry_status take_staging(folds_list *folds)
{
    const ferry_status st = alloc_zero(folds->staging_bytes + ALIGNMENT, 1, &folds->staging);

    if (st == FERRY_OK) /* the pages are taken now, not in the first round */
        memset(folds->staging, 1, folds->staging_bytes);
    return st;
}

ferry_status folds_make(const ferry_context *ctx, const ferry_edge *edges, size_t count,
                        folds_routed *routed, folds_list **folds_out)
{
    folds_list *folds = NULL;
    size_t folded = 0;
    ferry_status st = alloc_zero(count, sizeof *routed->edges, &routed->edges);

    if (st == FERRY_OK && count)
        memcpy(routed->edges, edges, count * sizeof *edges);
    for (size_t i = 0; i < count; i++)
        folded += folds_has(&edges[i], ctx->rank);
    if (st != FERRY_OK || folded == 0)
        return st;
    st = alloc_zero(folded, sizeof *routed->layouts, &routed->layouts);
    if (st == FERRY_OK)
        st = alloc_zero(1, sizeof *folds + folded * sizeof folds->edges[0], &folds);
    for (size_t i = 0; i < count && st == FERRY_OK; i++)
        if (folds_has(&edges[i], ctx->rank))
            st = add(folds, &edges[i], ctx->rank, &routed->edges[i],
                     &routed->layouts[routed->layout_count++]);
    if (st == FERRY_OK)
        st = take_staging(folds);
    if (st == FERRY_OK)
        *folds_out = folds;
    else
        folds_drop(folds);
    return st;
}

void folds_drop_routed(folds_routed *routed)
{
    for (size_t i = 0; i < routed->layout_count; i++)
        ferry_layout_free(routed->layouts[i]);
    alloc_free(routed->layouts);
    alloc_free(routed->edges);
}

char *folds_staging(const folds_list *folds)
{
    return folds ? (char *)size_round((uintptr_t)folds->staging, ALIGNMENT) : NULL;
}

/* ---- Folding ---- */

/* Where a dense target's elements can be combined in place. */
static char *in_place(const fold_edge *fold, char *dst)
{
    const size_t alignment = size_min(fold->unit, sizeof(double));

    if (!fold->dense || !fold->kernel || (uintptr_t)(dst + fold->offset) % alignment != 0)
        return NULL;
    return dst + fold->offset;
}

static void fold_piece(const fold_edge *fold, char *dst, size_t from, size_t to,
                       const char *arrived)
{
    _Alignas(ALIGNMENT) char there[PIECE];
    const size_t count = fold->kernel ? (to - from) / fold->unit : 0;
    char *const place = in_place(fold, dst);

    if (place) {
        fold->kernel(place + from, arrived, count);
        return;
    }
    if (!fold->kernel) {
        copy_unpack(fold->target, dst, from, to, arrived);
        return;
    }
    copy_pack(fold->target, dst, from, to, there);
    fold->kernel(there, arrived, count);
    copy_unpack(fold->target, dst, from, to, there);
}

static void fold_own(const fold_edge *fold, const char *src, char *dst)
{
    _Alignas(ALIGNMENT) char arrived[PIECE];

    for (size_t from = 0; from < fold->bytes; from += PIECE) {
        const size_t to = size_min(from + PIECE, fold->bytes);
        copy_pack(fold->source, src, from, to, arrived);
        fold_piece(fold, dst, from, to, arrived);
    }
}

static void fold_staged(const fold_edge *fold, const char *arrived, char *dst)
{
    for (size_t from = 0; from < fold->bytes; from += PIECE)
        fold_piece(fold, dst, from, size_min(from + PIECE, fold->bytes), arrived + from);
}

void folds_run(ferry_context *ctx, const folds_list *folds, const char *const *src,
               char *const *dst)
{
    for (size_t i = 0; folds && i < folds->count; i++) {
        const fold_edge *const fold = &folds->edges[i];
        if (fold->source)
            fold_own(fold, src[fold->buffer], dst[fold->buffer]);
        else
            fold_staged(fold, dst[FOLD_BUFFER] + fold->staged, dst[fold->buffer]);
        ctx->counters.copied_bytes += fold->bytes;
        ctx->counters.node_bytes += fold->source ? fold->bytes : 0;
    }
}

/* ---- Telling ---- */

void folds_account(const folds_list *folds, ferry_plan_info *info)
{
    if (!folds)
        return;
    info->private_bytes +=
        sizeof *folds + folds->count * sizeof folds->edges[0] + folds->staging_bytes + ALIGNMENT;
    info->staging_bytes += folds->staging_bytes;
    for (size_t i = 0; i < folds->count; i++) {
        info->private_bytes += copy_side_memory(folds->edges[i].target);
        if (folds->edges[i].source)
            info->private_bytes += copy_side_memory(folds->edges[i].source);
    }
}

void folds_explain(const folds_list *folds, text_out *out)
{
    if (!folds)
        return;
    text_add(out, "  folded at the end of a round, in this order (");
    text_bytes(out, folds->staging_bytes);
    text_add(out, " of staging):\n");
    for (size_t i = 0; i < folds->count; i++) {
        const fold_edge *const fold = &folds->edges[i];
        text_add(out, "    %s", kernels_fold_op(fold->op));
        if (fold->kernel)
            text_add(out, " of %s", kernels_fold_type(fold->type));
        text_add(out, " from rank %d, ", fold->from);
        text_bytes(out, fold->bytes);
        text_add(out, "\n");
    }
}
