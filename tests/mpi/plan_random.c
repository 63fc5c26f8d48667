/* Random plans against the model. Several have rounds under way at once; each rank starts and ends them in an
 * order of its own, out of and into shared or private memory as it likes in each round. */
#include "mpi/model.h"
#include "mpi/plan.h"

enum { GROUPS = 60, MANY_RANKS = 3, FEWER_GROUPS = 20, MOST_PLANS = 4, ROUNDS = 3, PRIVATE = 0, SHARED = 1 };

/* A plan and memory of both kinds for its buffers. */
typedef struct trial {
    model model;
    ferry_plan *plan;
    char *src[MODEL_BUFFERS][2], *dst[MODEL_BUFFERS][2];
    const void *from[MODEL_BUFFERS]; /* in this round */
    void *to[MODEL_BUFFERS];
} trial;

static void take_both(ferry_context *ctx, char *pair[2])
{
    void *shared = NULL;

    pair[PRIVATE] = malloc(MODEL_BYTES);
    CHECK_OK(ferry_memory_alloc(ctx, MODEL_BYTES, &shared));
    pair[SHARED] = shared;
}

static void give_both(ferry_context *ctx, char *pair[2])
{
    free(pair[PRIVATE]);
    ferry_memory_free(ctx, pair[SHARED]);
}

static void start(trial *t, check_rng *own, unsigned round)
{
    for (int b = 0; b < MODEL_BUFFERS; b++) {
        t->from[b] = t->src[b][check_between(own, 0, 1)];
        t->to[b] = t->dst[b][check_between(own, 0, 1)];
        model_fill_source(&t->model, b, round, (char *)t->from[b]);
        model_fill_target(&t->model, b, t->to[b]);
    }
    CHECK_OK(ferry_plan_start_buffers(t->plan, MODEL_BUFFERS, t->from, t->to));
}

static void end(trial *t, check_rng *own)
{
    int done = 0;

    if (check_between(own, 0, 2) == 0)
        while (!done)
            CHECK_OK(ferry_plan_test(t->plan, &done));
    else
        CHECK_OK(ferry_plan_wait(t->plan));
}

static bool compare(const trial *t, unsigned round, char *scratch)
{
    bool right = true;

    for (int b = 0; b < MODEL_BUFFERS; b++) {
        right &= CHECK(model_source_is_whole(&t->model, b, round, t->from[b]));
        right &= CHECK(model_target_is_right(&t->model, b, round, t->to[b], scratch));
    }
    return right;
}

static void explain(const ferry_plan *plan)
{
    char text[4096];

    ferry_plan_explain(plan, text, sizeof text);
    fprintf(stderr, "%s", text);
}

static void shuffle(check_rng *rng, int *order, int count)
{
    for (int i = 0; i < count; i++) {
        const int other = (int)check_between(rng, 0, i);
        order[i] = order[other];
        order[other] = i;
    }
}

static bool run_round(trial *trials, int count, check_rng *own, unsigned round, char *scratch)
{
    int order[MOST_PLANS];
    bool right = true;

    shuffle(own, order, count);
    for (int i = 0; i < count; i++)
        start(&trials[order[i]], own, round + (unsigned)order[i]);
    shuffle(own, order, count);
    for (int i = 0; i < count; i++)
        end(&trials[order[i]], own);
    for (int i = 0; i < count; i++)
        if (!compare(&trials[i], round + (unsigned)i, scratch)) {
            explain(trials[i].plan);
            right = false;
        }
    return right;
}

static bool check_numbers(const trial *t)
{
    ferry_plan_info info;
    uint64_t send = 0, recv = 0;
    const model *const m = &t->model;

    for (int i = 0; i < m->count; i++) {
        const uint64_t bytes = (uint64_t)(m->edges[i].elements * m->edges[i].element);
        send += m->edges[i].from == m->rank ? bytes : 0;
        recv += m->edges[i].to == m->rank ? bytes : 0;
    }
    CHECK_OK(ferry_plan_describe(t->plan, &info));
    bool right = CHECK_EQ_INT(info.send_bytes, send);
    right &= CHECK_EQ_INT(info.recv_bytes, recv);
    right &= CHECK_EQ_INT(info.rounds, ROUNDS);
    return right;
}

/* Returns false when something was wrong, on every rank alike, so that one fault is not reported a hundred
 * times. */
static bool run_group(ferry_context *ctx, trial *trials, check_rng *common, check_rng *own, char *scratch)
{
    const ferry_context_info info = plan_info_of(ctx);
    const int count = check_between(common, 0, 1) ? (int)check_between(common, 2, MOST_PLANS) : 1;
    int right = true, all_right = 0;

    for (int i = 0; i < count; i++) {
        model_draw(&trials[i].model, common, info.rank, info.size, MODEL_EDGES);
        trials[i].plan = model_compile(&trials[i].model, ctx);
        right &= trials[i].plan != NULL;
    }
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    for (unsigned round = 0; all_right && round < ROUNDS; round++)
        right &= run_round(trials, count, own, round * 1000, scratch);
    for (int i = 0; i < count; i++) {
        right &= !all_right || check_numbers(&trials[i]);
        ferry_plan_free(trials[i].plan);
    }
    MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all_right;
}

/* TEST_PLANS in the environment: that many groups instead. */
static int groups_wanted(int ranks)
{
    const char *const wanted = getenv("TEST_PLANS");

    return wanted ? atoi(wanted) : ranks >= MANY_RANKS ? FEWER_GROUPS : GROUPS;
}

void check_plan_random(ferry_context *ctx)
{
    check_rng common = check_common_rng("plans");
    check_rng own = {common.state + (uint64_t)plan_info_of(ctx).rank};
    trial *trials = calloc(MOST_PLANS, sizeof *trials);
    char *scratch = malloc(MODEL_BYTES);
    const int groups = groups_wanted(plan_info_of(ctx).size);

    for (int i = 0; i < MOST_PLANS; i++)
        for (int b = 0; b < MODEL_BUFFERS; b++) {
            take_both(ctx, trials[i].src[b]);
            take_both(ctx, trials[i].dst[b]);
        }
    for (int i = 0; i < groups && run_group(ctx, trials, &common, &own, scratch); i++)
        ;
    for (int i = 0; i < MOST_PLANS; i++)
        for (int b = 0; b < MODEL_BUFFERS; b++) {
            give_both(ctx, trials[i].src[b]);
            give_both(ctx, trials[i].dst[b]);
        }
    free(scratch);
    free(trials);
}
