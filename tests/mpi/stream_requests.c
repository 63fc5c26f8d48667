/* Streams that do not block: requests in any order, cancelling, probing, several broadcasts under way. */
#include "base/alloc.h"
#include "ferry/experimental.h"
#include "mpi/plan.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

typedef struct arrival {
    char *data;
    size_t bytes;
    bool full; /* refuse the message */
} arrival;

static ferry_status place(void *user, size_t bytes, void **data_out)
{
    arrival *const a = user;

    if (a->full)
        return FERRY_ERR_MEMORY;
    a->bytes = bytes;
    a->data = malloc(bytes + 1);
    *data_out = a->data;
    return FERRY_OK;
}

static char *make(size_t bytes, unsigned seed)
{
    char *const data = malloc(bytes + 1);

    for (size_t i = 0; i < bytes; i++)
        data[i] = (char)(i * 31 + (i >> 9) + seed);
    return data;
}

static void expect(arrival *a, size_t bytes, unsigned seed)
{
    char *const right = make(bytes, seed);

    CHECK_EQ_INT(a->bytes, bytes);
    CHECK(a->data && memcmp(a->data, right, bytes) == 0);
    free(right);
    free(a->data);
    *a = (arrival){NULL, 0, false};
}

static const size_t sizes[] = {1, 32767, 32768, 32769, 64 * KIB, 64 * KIB + 1, 5000000, 0, 4032, 4033};
enum { COUNT = sizeof sizes / sizeof *sizes };

/* Receives are started before the sends and ended in the opposite order. */
static void receives_first(ferry_context *ctx, const ferry_context_info *info)
{
    const int peer = (info->rank + 1) % info->size, before = (info->rank + info->size - 1) % info->size;
    ferry_stream_request *receives[COUNT], *sends[COUNT];
    arrival got[COUNT] = {{NULL, 0, false}};
    char *data[COUNT];
    ferry_piece pieces[COUNT];

    for (int i = 0; i < COUNT; i++)
        CHECK_OK(ferry_stream_irecv(ctx, before, 3, place, &got[i], &receives[i]));
    for (int i = 0; i < COUNT; i++) {
        data[i] = make(sizes[i], (unsigned)i);
        pieces[i] = (ferry_piece){data[i], sizes[i]};
        CHECK_OK(ferry_stream_isend(ctx, &pieces[i], 1, peer, 3, &sends[i]));
    }
    for (int i = COUNT - 1; i >= 0; i--) {
        ferry_stream_info what = {-1, -1, 0};
        CHECK_OK(ferry_stream_wait(&receives[i], &what));
        CHECK(receives[i] == NULL && what.from == before && what.tag == 3 && what.bytes == sizes[i]);
        expect(&got[i], sizes[i], (unsigned)i);
    }
    for (int i = 0; i < COUNT; i++) {
        CHECK_OK(ferry_stream_wait(&sends[i], NULL));
        free(data[i]);
    }
}

/* Long messages wait; a later one with another tag is received before them. */
static void tags_pass_each_other(ferry_context *ctx, const ferry_context_info *info)
{
    const int last = info->size - 1;
    ferry_stream_request *sends[COUNT];
    char *data[COUNT];
    ferry_piece pieces[COUNT];

    if (info->rank == 0)
        for (int i = 0; i < COUNT; i++) {
            data[i] = make(sizes[i], (unsigned)i);
            pieces[i] = (ferry_piece){data[i], sizes[i]};
            CHECK_OK(ferry_stream_isend(ctx, &pieces[i], 1, last, i, &sends[i]));
        }
    if (info->rank == last && last > 0)
        for (int i = COUNT - 1; i >= 0; i--) {
            arrival got = {NULL, 0, false};
            CHECK_OK(ferry_stream_recv(ctx, 0, i, place, &got, NULL));
            expect(&got, sizes[i], (unsigned)i);
        }
    if (info->rank == 0) {
        for (int i = 0; i < COUNT && last == 0; i++) { /* to itself */
            arrival got = {NULL, 0, false};
            CHECK_OK(ferry_stream_recv(ctx, 0, i, place, &got, NULL));
            expect(&got, sizes[i], (unsigned)i);
        }
        for (int i = 0; i < COUNT; i++) {
            CHECK_OK(ferry_stream_wait(&sends[i], NULL));
            free(data[i]);
        }
    }
}

/* Everybody sends to everybody at once, more than any queue holds. */
static void all_at_once(ferry_context *ctx, const ferry_context_info *info)
{
    enum { EACH = 150, MOST = 16 };
    static ferry_stream_request *sends[MOST][EACH], *receives[MOST][EACH];
    static arrival got[MOST][EACH];
    static ferry_piece pieces[MOST][EACH];

    for (int k = 0; k < EACH; k++)
        for (int peer = 0; peer < info->size; peer++) {
            const size_t bytes = (size_t)k * 700 + (size_t)info->rank;
            pieces[peer][k] = (ferry_piece){make(bytes, (unsigned)(k + peer)), bytes};
            CHECK_OK(ferry_stream_isend(ctx, &pieces[peer][k], 1, peer, 5, &sends[peer][k]));
        }
    for (int k = 0; k < EACH; k++)
        for (int peer = 0; peer < info->size; peer++)
            CHECK_OK(ferry_stream_irecv(ctx, peer, k % 2 ? FERRY_STREAM_ANY : 5, place, &got[peer][k],
                                        &receives[peer][k]));
    for (int k = 0; k < EACH; k++)
        for (int peer = 0; peer < info->size; peer++) {
            CHECK_OK(ferry_stream_wait(&receives[peer][k], NULL));
            expect(&got[peer][k], (size_t)k * 700 + (size_t)peer, (unsigned)(k + info->rank));
            CHECK_OK(ferry_stream_wait(&sends[peer][k], NULL));
            free((void *)pieces[peer][k].data);
        }
}

/* What no message has met can be taken back; the message goes to the next receive. */
static void cancels(ferry_context *ctx, const ferry_context_info *info)
{
    const int last = info->size - 1;
    ferry_stream_request *first = NULL, *second = NULL, *none = NULL;
    arrival one = {NULL, 0, false}, two = {NULL, 0, false};
    const ferry_piece piece = {"abc", 3};

    CHECK_OK(ferry_stream_cancel(&none));
    CHECK_EQ_INT(ferry_stream_cancel(NULL), FERRY_ERR_ARG);
    if (info->rank == 0) {
        CHECK_OK(ferry_stream_irecv(ctx, last, 8, place, &one, &first));
        CHECK_OK(ferry_stream_irecv(ctx, last, 8, place, &two, &second));
        CHECK_OK(ferry_stream_cancel(&first));
        CHECK(first == NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (info->rank == last)
        CHECK_OK(ferry_stream_send(ctx, &piece, 1, 0, 8));
    if (info->rank != 0)
        return;
    CHECK_OK(ferry_stream_wait(&second, NULL));
    CHECK(one.data == NULL && two.bytes == 3 && memcmp(two.data, "abc", 3) == 0);
    free(two.data);
    char *const large = calloc(MIB, 1);
    const ferry_piece own = {large, MIB};
    CHECK_OK(ferry_stream_isend(ctx, &own, 1, 0, 2, &first));
    CHECK_OK(ferry_stream_cancel(&first));
    int there = 1;
    CHECK_OK(ferry_stream_probe(ctx, 0, 2, &there, NULL));
    CHECK_EQ_INT(there, 0);
    free(large);
}

/* Looking tells what is there and leaves it there. */
static void probes(ferry_context *ctx, const ferry_context_info *info)
{
    const int last = info->size - 1;
    ferry_stream_info what = {-1, -1, 0};
    arrival got = {NULL, 0, false};
    int there = 1;

    if (info->rank == last) {
        char *const data = make(300000, 4);
        const ferry_piece piece = {data, 300000}, little = {data, 77};
        ferry_stream_request *request = NULL;
        CHECK_OK(ferry_stream_isend(ctx, &little, 1, 0, 21, &request));
        CHECK_OK(ferry_stream_wait(&request, NULL));
        CHECK_OK(ferry_stream_isend(ctx, &piece, 1, 0, 22, &request));
        if (last == 0) {
            CHECK_OK(ferry_stream_probe(ctx, 0, 22, NULL, &what));
            CHECK_OK(ferry_stream_recv(ctx, 0, 21, place, &got, NULL));
            free(got.data);
            CHECK_OK(ferry_stream_recv(ctx, 0, 22, place, &got, NULL));
            expect(&got, 300000, 4);
        }
        CHECK_OK(ferry_stream_wait(&request, NULL));
        free(data);
    }
    if (info->rank != 0 || last == 0)
        return;
    CHECK_OK(ferry_stream_probe(ctx, FERRY_STREAM_ANY, 22, NULL, &what));
    CHECK(what.from == last && what.tag == 22 && what.bytes == 300000);
    CHECK_OK(ferry_stream_probe(ctx, last, 23, &there, NULL));
    CHECK_EQ_INT(there, 0);
    CHECK_OK(ferry_stream_probe(ctx, last, FERRY_STREAM_ANY, &there, &what));
    CHECK(there == 1 && what.tag == 21 && what.bytes == 77);
    CHECK_OK(ferry_stream_recv(ctx, FERRY_STREAM_ANY, 22, place, &got, NULL));
    expect(&got, 300000, 4);
    CHECK_OK(ferry_stream_recv(ctx, last, FERRY_STREAM_ANY, place, &got, NULL));
    expect(&got, 77, 4);
}

/* A long message without a place: both ends are told, the others arrive. */
static void one_is_refused(ferry_context *ctx, const ferry_context_info *info)
{
    enum { MESSAGES = 5, REFUSED = 2 };
    const int last = info->size - 1;
    ferry_stream_request *requests[MESSAGES];
    arrival got[MESSAGES] = {{NULL, 0, false}};
    char *const data = make(3 * MIB, 0);
    const ferry_piece piece = {data, 3 * MIB};

    got[REFUSED].full = true;
    for (int i = 0; i < MESSAGES && last > 0; i++) {
        if (info->rank == 0)
            CHECK_OK(ferry_stream_isend(ctx, &piece, 1, last, 1, &requests[i]));
        if (info->rank == last)
            CHECK_OK(ferry_stream_irecv(ctx, 0, 1, place, &got[i], &requests[i]));
    }
    for (int i = 0; i < MESSAGES && last > 0; i++)
        if (info->rank == 0 || info->rank == last)
            CHECK_EQ_INT(ferry_stream_wait(&requests[i], NULL), i == REFUSED ? FERRY_ERR_MEMORY : FERRY_OK);
    for (int i = 0; i < MESSAGES && info->rank == last && last > 0; i++)
        if (i != REFUSED)
            expect(&got[i], 3 * MIB, 0);
    free(data);
}

/* Broadcasts of all roots are started at once and ended in another order; messages pass them. */
static void casts_at_once(ferry_context *ctx, const ferry_context_info *info)
{
    enum { CASTS = 8 };
    ferry_stream_request *requests[CASTS];
    arrival got[CASTS] = {{NULL, 0, false}};
    char *data[CASTS];
    ferry_piece pieces[CASTS];
    int done = 0;

    for (int i = 0; i < CASTS; i++) {
        const size_t bytes = sizes[i];
        data[i] = make(bytes, (unsigned)i);
        pieces[i] = (ferry_piece){data[i], bytes};
        CHECK_OK(ferry_stream_ibcast(ctx, &(ferry_stream_cast){i % info->size, &pieces[i], 1, place, NULL, &got[i]},
                                     &requests[i]));
        CHECK_EQ_INT(requests[i] != NULL, 1);
    }
    CHECK_EQ_INT(ferry_stream_cancel(&requests[0]), FERRY_ERR_STATE);
    while (!done)
        CHECK_OK(ferry_stream_test(&requests[CASTS / 2], &done, NULL));
    for (int i = 0; i < CASTS; i++) {
        CHECK_OK(ferry_stream_wait(&requests[i], NULL));
        if (i % info->size != info->rank)
            expect(&got[i], sizes[i], (unsigned)i);
        free(data[i]);
    }
}

/* Broadcasts on two contexts whose roots wait for each other's end in different orders. */
static void casts_on_two_contexts(ferry_context *ctx, const ferry_context_info *info)
{
    ferry_context *other = NULL;
    ferry_stream_request *here = NULL, *there = NULL;
    arrival got[2] = {{NULL, 0, false}};
    char *const data = make(5 * MIB, 9);
    const ferry_piece piece = {data, 5 * MIB};

    CHECK_OK(ferry_context_create(MPI_COMM_WORLD, NULL, &other));
    CHECK_OK(ferry_stream_ibcast(ctx, &(ferry_stream_cast){0, &piece, 1, place, NULL, &got[0]}, &here));
    CHECK_OK(ferry_stream_ibcast(other, &(ferry_stream_cast){info->size - 1, &piece, 1, place, NULL, &got[1]}, &there));
    int first = 0, second = 0;
    while (!first || !second) {
        CHECK_OK(ferry_stream_test(info->rank % 2 ? &here : &there, info->rank % 2 ? &first : &second, NULL));
        CHECK_OK(ferry_stream_test(info->rank % 2 ? &there : &here, info->rank % 2 ? &second : &first, NULL));
    }
    if (info->rank != 0)
        expect(&got[0], 5 * MIB, 9);
    if (info->rank != info->size - 1)
        expect(&got[1], 5 * MIB, 9);
    free(data);
    ferry_context_free(other);
}

/* A call that waits always gets its request, since the others wait for it; one that only starts may be refused. */
static void out_of_memory(ferry_context *unused, const ferry_context_info *info)
{
    const ferry_piece piece = {"abc", 3};

    (void)unused;
    for (int poor = 0; poor < info->size; poor++) {
        ferry_context *ctx = NULL;
        ferry_stream_request *request = NULL;
        arrival got = {NULL, 0, false};
        CHECK_OK(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
        for (int round = 0; round < 3; round++) { /* the reserve comes back */
            alloc_fail_at(info->rank == poor);
            if (info->rank == poor && round == 0)
                CHECK_EQ_INT(ferry_stream_irecv(ctx, 0, 1, place, &got, &request), FERRY_ERR_MEMORY);
            alloc_fail_at(info->rank == poor);
            CHECK_OK(ferry_stream_bcast(ctx, &(ferry_stream_cast){0, &piece, 1, place, NULL, &got}));
            alloc_fail_at(0);
            CHECK(request == NULL && (info->rank == 0 || (got.bytes == 3 && memcmp(got.data, "abc", 3) == 0)));
            free(got.data);
            got = (arrival){NULL, 0, false};
        }
        ferry_context_free(ctx);
    }
}

static void refuses_arguments(ferry_context *ctx, const ferry_context_info *info)
{
    const ferry_piece good = {"abc", 3};
    ferry_stream_request *request = NULL;
    arrival got = {NULL, 0, false};
    int done = 0;

    CHECK_EQ_INT(ferry_stream_isend(NULL, &good, 1, 0, 0, &request), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_isend(ctx, &good, 1, info->size, 0, &request), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_isend(ctx, &good, 1, 0, -2, &request), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_isend(ctx, &good, 1, 0, 0, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_irecv(ctx, 0, 0, NULL, NULL, &request), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_irecv(ctx, 0, 0, place, &got, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_ibcast(NULL, &(ferry_stream_cast){0, &good, 1, place, NULL, &got}, &request), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_probe(ctx, info->size, 0, NULL, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_test(NULL, &done, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_test(&request, NULL, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_wait(NULL, NULL), FERRY_ERR_ARG);
    CHECK(request == NULL);
    CHECK_OK(ferry_stream_test(&request, &done, NULL));
    CHECK_EQ_INT(done, 1);
    CHECK_OK(ferry_stream_wait(&request, NULL));
}

static void (*const parts[])(ferry_context *ctx, const ferry_context_info *info) = {
    receives_first, tags_pass_each_other, all_at_once,           cancels,           probes,
    one_is_refused, casts_at_once,        casts_on_two_contexts, out_of_memory,     refuses_arguments,
};

void check_stream_requests(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        parts[i](ctx, &info);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}
