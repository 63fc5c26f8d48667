/* Memory runs out at any allocation of any one rank: the same failure on all ranks that the call concerns, nothing is
 * filled, and the next call works. */
#include "base/alloc.h"
#include "mpi/samples.h"

enum { MOST = 200 /* allocations of one call */ };

/* What a call works on: made before memory runs short. */
typedef struct scene {
    ferry_context *ctx;
    const ferry_context_info *me;
    ferry_bundle *mine, *same, *out;
    ferry_list *list, *list_out;
} scene;

static ferry_status do_bcast(scene *s)
{
    ferry_bundle *b = s->me->rank == 0 ? s->mine : NULL;
    const ferry_status st = ferry_bundle_bcast(s->ctx, &b, 0);

    s->out = s->me->rank == 0 ? NULL : b;
    return st;
}

static ferry_status do_ibcast(scene *s)
{
    ferry_bundle *b = s->me->rank == 0 ? s->mine : NULL;
    ferry_request *request = NULL;
    ferry_status st = ferry_bundle_ibcast(s->ctx, &b, 0, &request);

    while (st == FERRY_ERR_MEMORY && !request) /* nothing was started: the others wait */
        st = ferry_bundle_ibcast(s->ctx, &b, 0, &request);
    st = ferry_request_wait(&request, NULL);
    s->out = s->me->rank == 0 ? NULL : b;
    return st;
}

static ferry_status do_bcast_into(scene *s)
{
    return ferry_bundle_bcast_into(s->ctx, s->same, 0);
}

static ferry_status do_scatter(scene *s)
{
    return ferry_bundle_scatter(s->ctx, s->mine, FERRY_SPLIT_ROWS, 0, &s->out);
}

static ferry_status do_scatter_lists(scene *s)
{
    return ferry_bundle_scatter(s->ctx, s->mine, FERRY_SPLIT_LISTS, s->me->size - 1, &s->out);
}

static ferry_status do_gather(scene *s)
{
    return ferry_bundle_gather(s->ctx, s->mine, 0, &s->list_out);
}

static ferry_status do_allgather(scene *s)
{
    return ferry_bundle_allgather(s->ctx, s->mine, &s->list_out);
}

static ferry_status do_alltoall(scene *s)
{
    return ferry_bundle_alltoall(s->ctx, s->list, &s->list_out);
}

static ferry_status do_reduce(scene *s)
{
    return ferry_bundle_reduce(s->ctx, s->same, FERRY_BUNDLE_SUM, s->me->size - 1, &s->out);
}

static ferry_status do_allreduce(scene *s)
{
    return ferry_bundle_allreduce(s->ctx, s->same, FERRY_BUNDLE_PROD, &s->out);
}

static ferry_status do_join(scene *s)
{
    return ferry_bundle_allreduce(s->ctx, s->same, FERRY_BUNDLE_ROWS, &s->out);
}

static const struct {
    const char *name;
    ferry_status (*run)(scene *s);
} calls[] = {
    {"bcast", do_bcast},         {"ibcast", do_ibcast},       {"bcast_into", do_bcast_into},
    {"scatter", do_scatter},     {"lists", do_scatter_lists}, {"gather", do_gather},
    {"allgather", do_allgather}, {"alltoall", do_alltoall},   {"reduce", do_reduce},
    {"allreduce", do_allreduce}, {"join", do_join},
};

static void clear(scene *s)
{
    ferry_bundle_free(s->out);
    ferry_list_free(s->list_out);
    s->out = NULL;
    s->list_out = NULL;
}

static void works(scene *s)
{
    ferry_bundle *b = s->me->rank == 0 ? s->mine : NULL;

    CHECK_OK(ferry_bundle_bcast(s->ctx, &b, 0));
    CHECK(ferry_bundle_equal(b, s->same));
    if (s->me->rank > 0)
        ferry_bundle_free(b);
}

/* The n-th allocation of rank `who` fails; false when the call makes fewer. */
static bool one_failure(scene *s, int call, int who, int n)
{
    const uint64_t before = alloc_count();

    alloc_fail_at(s->me->rank == who ? (uint64_t)n : 0);
    int st = (int)calls[call].run(s);
    alloc_fail_at(0);
    int made = (int)(alloc_count() - before) >= n;
    int both[2] = {st, -st}, least[2];
    MPI_Allreduce(both, least, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Bcast(&made, 1, MPI_INT, who, MPI_COMM_WORLD);
    const int worst = least[0], best = -least[1];
    if (!CHECK(worst == best && (worst == FERRY_OK || worst == FERRY_ERR_MEMORY)))
        fprintf(stderr, "  %s, allocation %d of rank %d: rank %d returns %d\n", calls[call].name, n, who, s->me->rank, st);
    if (worst == best && worst != FERRY_OK)
        check_same_detail();
    CHECK(worst == FERRY_OK || (!s->out && !s->list_out));
    clear(s);
    works(s);
    return worst != FERRY_OK || made;
}

/* Of two ranks every allocation; of more, which share cores so that each try is dear, the first ones and later ones at
 * growing distances. */
static int next_failure(int n, int size)
{
    if (size <= 2)
        return n + 1;
    return size > 4 ? 3 * n + 2 : n + 1 + n / 2;
}

static void short_of_memory(scene *s)
{
    const int size = s->me->size;

    for (int call = 0; call < (int)(sizeof calls / sizeof *calls); call++)
        for (int who = 0; who < size; who += size > 1 ? size - 1 : 1)
            for (int n = 1 + (size > 2 && call % 2); n < MOST && one_failure(s, call, who, n);)
                n = next_failure(n, size);
}

/* From rank to rank: what is longer than an eager message fails on both sides, or on neither. */
static void between_two(scene *s)
{
    const int peer = s->me->rank ^ 1;

    for (int n = 1; n < 12 && peer < s->me->size && s->me->size > 1; n++)
        for (int side = 0; side < 2; side++) {
            ferry_bundle *got = NULL;
            ferry_message met;
            int st, others = 0;
            MPI_Request report;
            if (s->me->rank % 2 == 0) {
                alloc_fail_at(side == 0 ? (uint64_t)n : 0);
                st = ferry_bundle_send(s->ctx, s->mine, peer, 3);
                alloc_fail_at(0);
                if (st != FERRY_OK && side == 0) /* nothing was sent */
                    CHECK_OK(ferry_bundle_send(s->ctx, s->mine, peer, 3));
            } else {
                alloc_fail_at(side == 1 ? (uint64_t)n : 0);
                st = ferry_bundle_recv(s->ctx, peer, 3, &got, &met);
                alloc_fail_at(0);
                CHECK(st == FERRY_OK ? got != NULL : got == NULL);
            }
            CHECK(st == FERRY_OK || st == FERRY_ERR_MEMORY);
            MPI_Isend(&st, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &report);
            MPI_Recv(&others, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&report, MPI_STATUS_IGNORE);
            if (side == 1)
                CHECK_EQ_INT(st, others);
            ferry_bundle_free(got);
        }
}

void check_bundle_memory(ferry_context *ctx)
{
    ferry_context_info me;
    CHECK_OK(ferry_context_describe(ctx, &me));
    scene s = {.ctx = ctx, .me = &me, .mine = sample_of(1, 1), .same = sample_of(1, 1)};

    CHECK_OK(ferry_list_new(&s.list));
    for (int to = 0; to < me.size; to++)
        CHECK_OK(ferry_list_append_bundle(s.list, sample_of(1, 1)));
    short_of_memory(&s);
    between_two(&s);
    ferry_list_free(s.list);
    ferry_bundle_free(s.mine);
    ferry_bundle_free(s.same);
}
