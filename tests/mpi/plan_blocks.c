/* Single blocks of sizes around every limit that routes have, very many small ones, and ranks that have
 * nothing to do. */
#include <time.h>

#include "mpi/plan.h"
#include "mpi/spy.h"

enum { KIB = 1 << 10, MIB = 1 << 20, GUARD = 64, UNTOUCHED = 0x5a };

static uint64_t word_of(uint64_t i, unsigned round)
{
    return (i + 1) * 0x9e3779b97f4a7c15u + round;
}

static void fill(char *data, size_t bytes, unsigned round)
{
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t word = word_of(i, round);
        memcpy(data + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
}

static bool holds(const char *data, size_t bytes, unsigned round)
{
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t word = word_of(i, round);
        if (memcmp(data + i, &word, bytes - i < 8 ? bytes - i : 8) != 0)
            return false;
    }
    for (size_t i = 0; i < GUARD; i++)
        if (data[bytes + i] != UNTOUCHED)
            return false;
    return true;
}

/* Elements from the first rank to the last, `rounds` times, out of memory of the kind asked for. */
static void one_block(ferry_context *ctx, int64_t count, int64_t element, bool shared)
{
    const ferry_context_info info = plan_info_of(ctx);
    const int last = info.size - 1;
    const size_t bytes = (size_t)(count * element);
    ferry_plan *plan = plan_one_edge(ctx, 0, last, count, element);
    void *src = NULL, *dst = info.rank == last ? malloc(bytes + GUARD) : NULL;

    if (info.rank == 0 && !shared)
        src = malloc(bytes + 1);
    else if (info.rank == 0)
        CHECK_OK(ferry_memory_alloc(ctx, bytes, &src));
    for (unsigned round = 0; round < 2; round++) {
        if (info.rank == 0)
            fill(src, bytes, round);
        if (info.rank == last)
            memset(dst, UNTOUCHED, bytes + GUARD);
        CHECK_OK(ferry_plan_start(plan, src, dst));
        CHECK_OK(ferry_plan_wait(plan));
        if (info.rank == last)
            CHECK(holds(dst, bytes, round));
    }
    ferry_plan_free(plan);
    free(dst);
    if (shared)
        ferry_memory_free(ctx, src);
    else
        free(src);
}

/* Slots of a ring have 32 KiB and there are four; a message of the wire has 1 MiB. */
static void sizes(ferry_context *ctx)
{
    static const int64_t bytes[] = {1, 127, 128, 129, 32 * KIB - 1, 32 * KIB, 32 * KIB + 1, 128 * KIB - 1, 128 * KIB,
                                    128 * KIB + 1, MIB - 1, MIB, MIB + 1, 2 * MIB, 2 * MIB + 1, 3 * MIB + 7};

    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
        one_block(ctx, bytes[i], 1, i % 2);
    one_block(ctx, 100003, 3, true);
    one_block(ctx, 70001, 24, false);
    one_block(ctx, 5000001, 8, plan_first_way());
}

/* 40 000 edges of three ints each, every one to a place of its own, with tags that are the caller's own business: those
 * of MPI stay below what every MPI allows. */
static void very_many_edges(ferry_context *ctx)
{
    enum { EDGES = 40000, EACH = 3 };
    const ferry_context_info info = plan_info_of(ctx);
    const size_t count = info.rank < 2 ? EDGES : 0;
    ferry_edge *edges = calloc(count + 1, sizeof *edges);
    ferry_layout **layouts = calloc(count + 1, sizeof *layouts);
    int *src = calloc(EDGES * EACH, sizeof *src), *dst = calloc(EDGES * EACH, sizeof *dst);
    ferry_plan *plan = NULL;
    long wrong = 0;

    for (size_t i = 0; i < count; i++) { /* the receiver lies them down in the opposite order */
        layouts[i] = plan_dense(EACH, sizeof *src, (int64_t)(EACH * sizeof *src * (info.rank ? EDGES - 1 - i : i)));
        edges[i] = (ferry_edge){sizeof *edges, 0, 1, (int)(i % 1000) * 60000, 0, layouts[i], layouts[i],
                               FERRY_OP_REPLACE, FERRY_TYPE_NULL};
    }
    for (int i = 0; i < EDGES * EACH; i++)
        src[i] = i;
    spy_begin();
    CHECK_OK(ferry_plan_compile(ctx, edges, count, &plan));
    CHECK_OK(ferry_plan_start(plan, src, dst));
    CHECK_OK(ferry_plan_wait(plan));
    const spy_report spied = spy_end();
    CHECK(spied.highest_tag <= 32767);
    CHECK(count == 0 || spied.messages > 0); /* the two tell each other their edges at least */
    for (int i = 0; i < EDGES && info.rank == 1; i++)
        for (int k = 0; k < EACH; k++)
            wrong += dst[(EDGES - 1 - i) * EACH + k] != i * EACH + k;
    CHECK_EQ_INT(wrong, 0);
    ferry_plan_free(plan);
    for (size_t i = 0; i < count; i++)
        ferry_layout_free(layouts[i]);
    free(edges);
    free(layouts);
    free(src);
    free(dst);
}

/* A plan in which nobody has anything to do. */
static void no_edges(ferry_context *ctx)
{
    ferry_plan *plan = NULL;
    ferry_range send = {-1, -1}, recv = {-1, -1};
    int done = 0;

    CHECK_OK(ferry_plan_compile(ctx, NULL, 0, &plan));
    CHECK_OK(ferry_plan_test(plan, &done));
    CHECK_EQ_INT(done, 1);
    CHECK_OK(ferry_plan_wait(plan));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(ferry_plan_start(plan, NULL, NULL));
        CHECK_OK(ferry_plan_wait(plan));
    }
    CHECK_OK(ferry_plan_bounds(plan, &send, &recv));
    CHECK(send.lb == 0 && send.ub == 0 && recv.lb == 0 && recv.ub == 0);
    ferry_plan_free(plan);
}

/* The first rank shares no edge with the others, of which one is late: it must not wait for them. */
static void idle_rank_returns(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);
    const int a = info.size > 2 ? 1 : 0, b = info.size - 1;
    const double began = MPI_Wtime();
    char data[2][16] = {{0}, {0}};
    ferry_plan *plan = a == b || a == 0 ? NULL : plan_one_edge(ctx, a, b, 16, 1);

    if (!plan)
        CHECK_OK(ferry_plan_compile(ctx, NULL, 0, &plan));
    if (info.rank == b)
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    for (int i = 0; i < 100; i++) {
        CHECK_OK(ferry_plan_start(plan, data[0], data[1]));
        CHECK_OK(ferry_plan_wait(plan));
    }
    if (info.rank == 0 && info.size > 1)
        CHECK(MPI_Wtime() - began < 0.7);
    ferry_plan_free(plan);
}

/* The bytes read and written, as told: two columns out of a row, into another place. */
static void bounds(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);
    const int64_t counts[] = {5}, forth[] = {16}, back[] = {-24};
    ferry_layout *source = NULL, *target = NULL;
    ferry_edge edge = FERRY_EDGE_INIT;
    ferry_plan *plan = NULL;
    ferry_range send, recv;

    CHECK_OK(ferry_layout_strided(1, counts, forth, 8, 40, &source));
    CHECK_OK(ferry_layout_strided(1, counts, back, 8, 200, &target));
    edge.from = edge.to = info.rank;
    edge.source = source;
    edge.target = target;
    CHECK_OK(ferry_plan_compile(ctx, &edge, 1, &plan));
    CHECK_OK(ferry_plan_bounds(plan, &send, &recv));
    CHECK_EQ_INT(send.lb, 40);
    CHECK_EQ_INT(send.ub, 40 + 4 * 16 + 8);
    CHECK_EQ_INT(recv.lb, 200 - 4 * 24);
    CHECK_EQ_INT(recv.ub, 208);
    ferry_plan_free(plan);
    ferry_layout_free(source);
    ferry_layout_free(target);
}

void plan_blocks(ferry_context *ctx)
{
    sizes(ctx);
    no_edges(ctx);
    bounds(ctx);
    if (plan_first_way())
        idle_rank_returns(ctx);
    if (plan_info_of(ctx).size > 1 && (plan_first_way() || plan_wire_way()))
        very_many_edges(ctx);
}
