/* The way back of a structured halo: the calls. */
#include "base/trouble.h"
#include "halo/halo.h"

ferry_status ferry_halo_reverse_prepare(ferry_halo *halo, ferry_op op, const ferry_type *types)
{
    static const char call[] = "ferry_halo_reverse_prepare";
    halo_edges edges = {0};
    int prepared = 0;

    if (!halo)
        return trouble(FERRY_ERR_ARG, "%s: halo is NULL", call);
    const halo_reverse_wish wish = {call, halo->rank, halo->size, halo->field_count, op, types};
    ferry_status st = halo_reverse_check(halo->ctx, &halo->reverse, &wish, &prepared);
    if (st != FERRY_OK || prepared)
        return st;
    st = ferry_context_agree(halo->ctx, halo_make_edges(halo, true, &edges));
    if (st == FERRY_OK)
        st = halo_reverse_compile(halo->ctx, &halo->reverse, &wish, &edges);
    halo_drop_edges(&edges);
    return st;
}

ferry_status ferry_halo_reverse_start(ferry_halo *halo, void *const *fields)
{
    static const char call[] = "ferry_halo_reverse_start";

    if (!halo)
        return trouble(FERRY_ERR_ARG, "%s: halo is NULL", call);
    ferry_status st = halo_reverse_ready(&halo->reverse, call);
    if (st == FERRY_OK)
        st = halo_reverse_idle(halo->plan, call, halo->rank);
    return st == FERRY_OK ? halo_start(halo, call, halo->reverse.plan, fields) : st;
}

ferry_status ferry_halo_reverse_test(ferry_halo *halo, int *done_out)
{
    if (!halo || !done_out)
        return trouble(FERRY_ERR_ARG, "ferry_halo_reverse_test: %s is NULL",
                       halo ? "done_out" : "halo");
    if (halo->reverse.plan)
        return ferry_plan_test(halo->reverse.plan, done_out);
    *done_out = 1;
    return FERRY_OK;
}

ferry_status ferry_halo_reverse_wait(ferry_halo *halo)
{
    if (!halo)
        return trouble(FERRY_ERR_ARG, "ferry_halo_reverse_wait: halo is NULL");
    return halo->reverse.plan ? ferry_plan_wait(halo->reverse.plan) : FERRY_OK;
}

ferry_status ferry_halo_reverse_exchange(ferry_halo *halo, void *const *fields)
{
    const ferry_status st = ferry_halo_reverse_start(halo, fields);

    return st == FERRY_OK ? ferry_plan_wait(halo->reverse.plan) : st;
}
