/* The parts of the group "plan", one a file. */
#ifndef TESTS_MPI_PLAN_H
#define TESTS_MPI_PLAN_H

#include "ferry/memory.h"
#include "ferry/plan.h"
#include "mpi/support.h"

void plan_blocks(ferry_context *ctx);
void plan_turns(ferry_context *ctx);
void plan_refusals(ferry_context *ctx);
void plan_twins(ferry_context *ctx);
void plan_lives(ferry_context *ctx);
void plan_folds(ferry_context *ctx);

/* Costly tests run in the first way of all, and where everything goes by MPI. */
static inline bool plan_first_way(void)
{
    return strcmp(getenv("FERRY_ROUTE"), "all") == 0 && strcmp(getenv("FERRY_NODES"), "auto") == 0;
}
static inline bool plan_wire_way(void)
{
    return strcmp(getenv("FERRY_ROUTE"), "wire_pack") == 0;
}

static inline ferry_context_info plan_info_of(const ferry_context *ctx)
{
    ferry_context_info info;

    CHECK_OK(ferry_context_describe(ctx, &info));
    return info;
}

static inline ferry_layout *plan_dense(int64_t count, int64_t element, int64_t offset)
{
    ferry_layout *layout = NULL;

    CHECK_OK(ferry_layout_dense(count, element, offset, &layout));
    return layout;
}

/* `count` dense elements from one rank to another, at offset 0 of both; other ranks take part without edges. */
static inline ferry_plan *plan_one_edge(ferry_context *ctx, int from, int to, int64_t count, int64_t element)
{
    const int me = plan_info_of(ctx).rank;
    ferry_layout *layout = plan_dense(count, element, 0);
    ferry_edge edge = FERRY_EDGE_INIT;
    ferry_plan *plan = NULL;

    edge.from = from;
    edge.to = to;
    edge.source = edge.target = layout;
    CHECK_OK(ferry_plan_compile(ctx, &edge, me == from || me == to, &plan));
    ferry_layout_free(layout);
    return plan;
}

/* One round with one block from each rank to the next one. */
static inline void plan_pass_on(ferry_context *ctx, const ferry_layout *source, const ferry_layout *target,
                                const void *from, void *to)
{
    const ferry_context_info info = plan_info_of(ctx);
    ferry_edge edges[2] = {FERRY_EDGE_INIT, FERRY_EDGE_INIT};
    ferry_plan *plan = NULL;

    for (int i = 0; i < 2; i++) {
        edges[i].from = i == 0 ? info.rank : (info.rank + info.size - 1) % info.size;
        edges[i].to = (edges[i].from + 1) % info.size;
        edges[i].tag = 5;
    }
    edges[0].source = source;
    edges[info.size > 1].target = target;
    CHECK_OK(ferry_plan_compile(ctx, edges, info.size > 1 ? 2 : 1, &plan));
    if (!plan)
        return;
    CHECK_OK(ferry_plan_start(plan, from, to));
    CHECK_OK(ferry_plan_wait(plan));
    ferry_plan_free(plan);
}

#endif
