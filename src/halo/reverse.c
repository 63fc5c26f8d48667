/* The way back; see reverse.h. What is special about it is left to the plan: edges with an op are
 * combined in the order in which a rank gives them, which is the order of the edges here. */
#include "halo/reverse.h"

#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"

/* What ranks compare. */
typedef struct wishes {
    int32_t op;
    int32_t types[FERRY_PLAN_MAX_BUFFERS];
} wishes;

void halo_drop_edges(halo_edges *edges)
{
    for (size_t i = 0; edges->list && i < edges->count; i++) {
        ferry_layout_free((ferry_layout *)edges->list[i].source);
        ferry_layout_free((ferry_layout *)edges->list[i].target);
    }
    alloc_free(edges->list);
    *edges = (halo_edges){0};
}

static bool computes(ferry_op op)
{
    return op != FERRY_OP_REPLACE && op != FERRY_OP_LAST;
}

static ferry_status check_alone(const halo_reverse *reverse, const halo_reverse_wish *wish)
{
    int done = 1;

    if ((int)wish->op < FERRY_OP_REPLACE || (int)wish->op > FERRY_OP_LAST)
        return trouble(FERRY_ERR_ARG, "%s: op is %d on rank %d, expected %d..%d", wish->call,
                       (int)wish->op, wish->rank, FERRY_OP_REPLACE, FERRY_OP_LAST);
    if (computes(wish->op) && !wish->types)
        return trouble(FERRY_ERR_ARG, "%s: types is NULL on rank %d, expected %d types", wish->call,
                       wish->rank, wish->field_count);
    const ferry_status st = reverse->plan ? ferry_plan_test(reverse->plan, &done) : FERRY_OK;
    if (st == FERRY_OK && !done)
        return trouble(FERRY_ERR_STATE, "%s: a reverse round is under way on rank %d", wish->call,
                       wish->rank);
    return st;
}

static void tell(const halo_reverse_wish *wish, wishes *mine)
{
    memset(mine, 0, sizeof *mine);
    mine->op = wish->op == FERRY_OP_REPLACE ? FERRY_OP_LAST : wish->op;
    for (int f = 0; computes(wish->op) && f < wish->field_count; f++)
        mine->types[f] = (int32_t)wish->types[f];
}

/* All are equal when each is equal to that of rank 0. */
static ferry_status compare(const halo_reverse_wish *wish, const wishes *mine, const wishes *first)
{
    if (mine->op != first->op)
        return trouble(FERRY_ERR_ARG,
                       "%s: op is %d on rank %d but %d on rank 0, expected the same on all ranks",
                       wish->call, (int)mine->op, wish->rank, (int)first->op);
    for (int f = 0; f < wish->field_count; f++)
        if (mine->types[f] != first->types[f])
            return trouble(FERRY_ERR_ARG,
                           "%s: types[%d] is %d on rank %d but %d on rank 0, expected the same on "
                           "all ranks",
                           wish->call, f, (int)mine->types[f], wish->rank, (int)first->types[f]);
    return FERRY_OK;
}

static bool is_prepared(const halo_reverse *reverse, const wishes *mine, int field_count)
{
    if (!reverse->plan || (int)reverse->op != mine->op)
        return false;
    for (int f = 0; f < field_count; f++)
        if ((int32_t)reverse->types[f] != mine->types[f])
            return false;
    return true;
}

ferry_status halo_reverse_check(ferry_context *ctx, const halo_reverse *reverse,
                                const halo_reverse_wish *wish, int *prepared_out)
{
    wishes mine, *all = NULL;
    ferry_status st = check_alone(reverse, wish);

    if (st == FERRY_OK)
        st = alloc_zero((size_t)wish->size, sizeof *all, &all);
    st = ferry_context_agree(ctx, st);
    if (st != FERRY_OK)
        goto out;
    tell(wish, &mine);
    st = ferry_context_gather(ctx, &mine, sizeof mine, all);
    if (st != FERRY_OK)
        goto out;
    st = ferry_context_agree(ctx, compare(wish, &mine, &all[0]));
    if (st == FERRY_OK) /* the same on all ranks, for what was prepared was the same */
        *prepared_out = is_prepared(reverse, &mine, wish->field_count);
out:
    alloc_free(all);
    return st;
}

ferry_status halo_reverse_compile(ferry_context *ctx, halo_reverse *reverse,
                                  const halo_reverse_wish *wish, const halo_edges *edges)
{
    ferry_plan *plan = NULL;
    wishes mine;

    tell(wish, &mine);
    for (size_t i = 0; i < edges->count; i++) {
        edges->list[i].op = (ferry_op)mine.op;
        edges->list[i].type = (ferry_type)mine.types[edges->list[i].buffer];
    }
    const ferry_status st = ferry_plan_compile(ctx, edges->list, edges->count, &plan);
    if (st != FERRY_OK)
        return trouble(st, "%s: %s", wish->call, trouble_text());
    ferry_plan_free(reverse->plan);
    *reverse = (halo_reverse){.plan = plan, .op = (ferry_op)mine.op};
    for (int f = 0; f < wish->field_count; f++)
        reverse->types[f] = (ferry_type)mine.types[f];
    return FERRY_OK;
}

ferry_status halo_reverse_idle(ferry_plan *other, const char *call, int rank)
{
    int done = 1;

    const ferry_status st = other ? ferry_plan_test(other, &done) : FERRY_OK;
    if (st == FERRY_OK && !done)
        return trouble(FERRY_ERR_STATE,
                       "%s: a round of the other way has not ended on rank %d: wait for it first",
                       call, rank);
    return st;
}

ferry_status halo_reverse_account(const halo_reverse *reverse, ferry_plan_info *info)
{
    ferry_plan_info own;

    if (!reverse->plan)
        return FERRY_OK;
    const ferry_status st = ferry_plan_describe(reverse->plan, &own);
    if (st != FERRY_OK)
        return st;
    info->private_bytes += own.private_bytes;
    info->shared_bytes += own.shared_bytes;
    info->staging_bytes += own.staging_bytes;
    return FERRY_OK;
}

void halo_explain_plan(const ferry_plan *plan, text_out *out)
{
    const size_t used = size_min(out->needed, out->room);

    out->needed +=
        ferry_plan_explain(plan, out->room > used ? out->at + used : NULL, out->room - used);
}

ferry_status halo_reverse_ready(const halo_reverse *reverse, const char *call)
{
    if (reverse->plan)
        return FERRY_OK;
    return trouble(FERRY_ERR_STATE, "%s: the reverse is not prepared: call ferry_%s first", call,
                   strncmp(call, "ferry_mesh", 10) == 0 ? "mesh_reverse_prepare"
                                                        : "halo_reverse_prepare");
}
