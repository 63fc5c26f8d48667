/* Moves that do not wait: any number under way, waited for in any order, beside collective calls. */
#include "ferry/experimental.h"
#include "mpi/samples.h"

static int left_of(const ferry_context_info *me)
{
    return (me->rank + me->size - 1) % me->size;
}

static int right_of(const ferry_context_info *me)
{
    return (me->rank + 1) % me->size;
}

/* `bytes` bytes that tell who sent them. */
static ferry_bundle *bytes_of(int from, size_t bytes)
{
    ferry_bundle *const b = sample_empty();
    char *const data = malloc(bytes + 1);

    for (size_t i = 0; i < bytes; i++)
        data[i] = (char)(i * 7 + i / 256 + (size_t)from);
    CHECK_OK(ferry_bundle_set_int32(b, "from", from));
    CHECK_OK(ferry_bundle_set_bytes(b, "bytes", data, bytes));
    free(data);
    return b;
}

static const size_t sizes[] = {1, 32767, 32768, 32769, 65536, 5000000};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Posted before anything is sent, and waited for in another order. */
static void receives_first(ferry_context *ctx, const ferry_context_info *me)
{
    static const int orders[][SIZES] = {{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {3, 0, 5, 1, 4, 2}};

    for (int turn = 0; turn < 3; turn++) {
        ferry_request *in[SIZES] = {NULL}, *out[SIZES] = {NULL};
        ferry_bundle *got[SIZES] = {NULL}, *sent[SIZES];
        for (int i = 0; i < SIZES; i++)
            CHECK_OK(ferry_bundle_irecv(ctx, i % 2 ? left_of(me) : FERRY_ANY_SOURCE, i, &got[i], &in[i]));
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < SIZES; i++) {
            const int which = orders[(turn + 1) % 3][i];
            sent[which] = bytes_of(me->rank, sizes[which]);
            CHECK_OK(ferry_bundle_isend(ctx, sent[which], right_of(me), which, &out[which]));
        }
        for (int i = 0; i < SIZES; i++) {
            const int which = orders[turn][i];
            ferry_message met = {-5, -5, -5};
            CHECK_OK(ferry_request_wait(&in[which], &met));
            CHECK(in[which] == NULL && met.from == left_of(me) && met.tag == which);
            CHECK(met.bytes > (int64_t)sizes[which] && met.bytes < (int64_t)sizes[which] + 600);
            sample_check(got[which], bytes_of(left_of(me), sizes[which]));
            ferry_bundle_free(got[which]);
        }
        CHECK_OK(ferry_request_waitall(SIZES, out, NULL));
        for (int i = 0; i < SIZES; i++) {
            CHECK(out[i] == NULL);
            ferry_bundle_free(sent[i]);
        }
    }
}

/* Nobody blocks: only tests, until all have ended. */
static void only_tests(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_request *all[3] = {NULL};
    ferry_bundle *got = sample_old(), *cast = me->rank == 0 ? bytes_of(0, 300000) : NULL;
    ferry_bundle *const mine = bytes_of(me->rank, 200000);
    ferry_message met = {-5, -5, -5};
    int left = 3;

    CHECK_OK(ferry_bundle_isend(ctx, mine, right_of(me), 4, &all[0]));
    CHECK_OK(ferry_bundle_ibcast(ctx, &cast, 0, &all[1]));
    CHECK_OK(ferry_bundle_irecv(ctx, FERRY_ANY_SOURCE, FERRY_ANY_TAG, &got, &all[2]));
    while (left > 0)
        for (int i = 0; i < 3; i++) {
            int done = 7;
            if (!all[i])
                continue;
            CHECK_OK(ferry_request_test(&all[i], &done, i == 2 ? &met : NULL));
            CHECK_EQ_INT(done, all[i] == NULL);
            left -= done;
        }
    CHECK(met.from == left_of(me) && met.tag == 4);
    sample_check(got, bytes_of(left_of(me), 200000));
    sample_check(cast, bytes_of(0, 300000));
    int done = 0;
    CHECK_OK(ferry_request_test(&all[0], &done, NULL)); /* nothing to do counts as done */
    CHECK_EQ_INT(done, 1);
    ferry_bundle_free(got);
    ferry_bundle_free(cast);
    ferry_bundle_free(mine);
}

/* Several at once, from all roots. */
static void broadcasts_at_once(ferry_context *ctx, const ferry_context_info *me)
{
    enum { MOST = 16 };
    const int count = me->size < MOST ? me->size : MOST;
    ferry_request *all[MOST] = {NULL};
    ferry_bundle *b[MOST] = {NULL};

    for (int root = 0; root < count; root++) {
        b[root] = me->rank == root ? sample_of(root, 10 * (root % 3)) : root % 2 ? sample_old() : NULL;
        CHECK_OK(ferry_bundle_ibcast(ctx, &b[root], root, &all[root]));
    }
    CHECK_OK(ferry_request_waitall((size_t)count, all, NULL));
    for (int root = 0; root < count; root++) {
        sample_check(b[root], sample_of(root, 10 * (root % 3)));
        ferry_bundle_free(b[root]);
    }
}

/* Collective calls use messages of their own. */
static void beside_collectives(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *const mine = sample_of(me->rank, 3);
    ferry_bundle *got = NULL, *part = NULL;
    ferry_list *parts = NULL;
    ferry_request *any = NULL;
    const ferry_bundle *there = NULL;

    CHECK_OK(ferry_bundle_irecv(ctx, FERRY_ANY_SOURCE, FERRY_ANY_TAG, &got, &any));
    CHECK_OK(ferry_bundle_gather(ctx, mine, 0, &parts));
    CHECK_OK(ferry_bundle_scatter(ctx, mine, FERRY_SPLIT_LISTS, 0, &part));
    if (me->rank == 0) {
        CHECK_OK(ferry_list_get_bundle(parts, (size_t)me->size - 1, &there));
        sample_check(there, sample_of(me->size - 1, 3));
    }
    ferry_bundle *const small = bytes_of(me->rank, 100);
    CHECK_OK(ferry_bundle_send(ctx, small, right_of(me), 16382));
    ferry_message met = {-5, -5, -5};
    CHECK_OK(ferry_request_wait(&any, &met));
    CHECK_EQ_INT(met.tag, 16382);
    sample_check(got, bytes_of(left_of(me), 100));
    ferry_bundle_free(small);
    ferry_bundle_free(got);
    ferry_bundle_free(part);
    ferry_bundle_free(mine);
    ferry_list_free(parts);
}

static void looking(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *const b = bytes_of(me->rank, me->rank % 2 ? 100 : 200000);
    ferry_bundle *got = NULL;
    ferry_request *out = NULL;
    ferry_message seen = {-5, -5, -5}, met = {-6, -6, -6};
    int there = 7;

    CHECK_OK(ferry_bundle_iprobe(ctx, FERRY_ANY_SOURCE, 77, &there, &seen));
    CHECK(there == 0 && seen.from == -5);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(ferry_bundle_isend(ctx, b, right_of(me), 77, &out));
    CHECK_OK(ferry_bundle_probe(ctx, FERRY_ANY_SOURCE, FERRY_ANY_TAG, &seen));
    CHECK(seen.from == left_of(me) && seen.tag == 77);
    CHECK_OK(ferry_bundle_iprobe(ctx, left_of(me), 77, &there, NULL));
    CHECK_EQ_INT(there, 1);
    CHECK_OK(ferry_bundle_recv(ctx, seen.from, seen.tag, &got, &met));
    CHECK(met.from == seen.from && met.tag == seen.tag && met.bytes == seen.bytes);
    sample_check(got, bytes_of(left_of(me), left_of(me) % 2 ? 100 : 200000));
    CHECK_OK(ferry_request_wait(&out, NULL));
    CHECK_OK(ferry_bundle_iprobe(ctx, left_of(me), 77, &there, NULL));
    CHECK_EQ_INT(there, 0);
    CHECK_EQ_INT(ferry_bundle_probe(ctx, 0, 0, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_iprobe(ctx, 0, 0, NULL, &seen), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_iprobe(ctx, me->size, 0, &there, &seen), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_iprobe(ctx, 0, 16383, &there, &seen), FERRY_ERR_ARG);
    ferry_bundle_free(got);
    ferry_bundle_free(b);
}

static void both_directions(ferry_context *ctx, const ferry_context_info *me)
{
    for (size_t i = 0; i < SIZES; i++) {
        ferry_bundle *b = bytes_of(me->rank, sizes[i]), *got = sample_old();
        ferry_message met = {-5, -5, -5};
        CHECK_OK(ferry_bundle_sendrecv(ctx, b, right_of(me), left_of(me), 9, &got, &met));
        CHECK(met.from == left_of(me) && met.tag == 9);
        sample_check(got, bytes_of(left_of(me), sizes[i]));
        CHECK_OK(ferry_bundle_sendrecv(ctx, b, left_of(me), FERRY_ANY_SOURCE, 10, &b, NULL)); /* in its place */
        sample_check(b, bytes_of(right_of(me), sizes[i]));
        CHECK_EQ_INT(ferry_bundle_sendrecv(ctx, b, me->size, me->rank, 9, &got, NULL), FERRY_ERR_ARG);
        CHECK_EQ_INT(ferry_bundle_sendrecv(ctx, NULL, me->rank, me->rank, 9, &got, NULL), FERRY_ERR_ARG);
        CHECK_EQ_INT(ferry_bundle_sendrecv(ctx, b, me->rank, me->rank, 9, NULL, NULL), FERRY_ERR_ARG);
        sample_check(got, bytes_of(left_of(me), sizes[i]));
        ferry_bundle_free(got);
        ferry_bundle_free(b);
    }
}

static void taken_back(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *first = sample_old(), *second = NULL;
    ferry_request *in = NULL, *out = NULL;

    CHECK_OK(ferry_bundle_irecv(ctx, left_of(me), 5, &first, &in));
    CHECK_OK(ferry_request_cancel(&in));
    CHECK(in == NULL);
    CHECK_OK(ferry_request_cancel(&in));
    MPI_Barrier(MPI_COMM_WORLD);
    ferry_bundle *const b = bytes_of(me->rank, 70000);
    CHECK_OK(ferry_bundle_isend(ctx, b, right_of(me), 5, &out));
    CHECK_OK(ferry_bundle_recv(ctx, left_of(me), 5, &second, NULL)); /* not the one taken back */
    CHECK_OK(ferry_request_wait(&out, NULL));
    sample_check(second, bytes_of(left_of(me), 70000));
    sample_check(first, sample_old());
    ferry_bundle *cast = me->rank == 0 ? bytes_of(0, 10) : NULL;
    CHECK_OK(ferry_bundle_ibcast(ctx, &cast, 0, &out));
    CHECK_EQ_INT(ferry_request_cancel(&out), FERRY_ERR_STATE);
    CHECK_OK(ferry_request_wait(&out, NULL));
    CHECK_EQ_INT(ferry_request_cancel(NULL), FERRY_ERR_ARG);
    ferry_bundle_free(cast);
    ferry_bundle_free(first);
    ferry_bundle_free(second);
    ferry_bundle_free(b);
}

enum { MANY = 200 };

static ferry_bundle *growing(int from, int k)
{
    static const char bytes[64 * 1000 + MANY];
    ferry_bundle *const b = sample_empty();

    CHECK_OK(ferry_bundle_set_int32(b, "from", from));
    CHECK_OK(ferry_bundle_set_int32(b, "k", k));
    CHECK_OK(ferry_bundle_borrow_bytes(b, "bytes", bytes, (size_t)((from % 64) * 1000 + k)));
    return b;
}

/* 200 from each rank to the first one, which takes what comes: whole, and in order for each sender. */
static void many_senders(ferry_context *ctx, const ferry_context_info *me)
{
    int *const next = calloc((size_t)me->size, sizeof *next);
    ferry_bundle *got = NULL;

    for (int k = 0; k < MANY && me->rank > 0; k++) {
        ferry_bundle *const b = growing(me->rank, k);
        CHECK_OK(ferry_bundle_send(ctx, b, 0, k % 100));
        ferry_bundle_free(b);
    }
    for (int i = 0; i < MANY * (me->size - 1) && me->rank == 0; i++) {
        ferry_message met = {-5, -5, -5};
        CHECK_OK(ferry_bundle_recv(ctx, FERRY_ANY_SOURCE, FERRY_ANY_TAG, &got, &met));
        if (!CHECK(met.from > 0 && met.from < me->size))
            continue;
        CHECK_EQ_INT(met.tag, next[met.from] % 100);
        sample_check(got, growing(met.from, next[met.from]++));
    }
    ferry_bundle_free(got);
    free(next);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* --- failures --- */

static void that_fail(ferry_context *ctx, const ferry_context_info *me)
{
    static const char junk[200] = "no image";
    const ferry_piece piece = {junk, sizeof junk};
    ferry_bundle *got[3] = {NULL, sample_old(), NULL}, *const b = bytes_of(me->rank, 1000);
    ferry_request *in[3] = {NULL}, *out = NULL;

    for (int i = 0; i < 3; i++)
        CHECK_OK(ferry_bundle_irecv(ctx, left_of(me), i, &got[i], &in[i]));
    for (int i = 2; i >= 0; i--)
        if (i == 1)
            CHECK_OK(ferry_stream_send(ctx, &piece, 1, right_of(me), i));
        else
            CHECK_OK(ferry_bundle_send(ctx, b, right_of(me), i));
    CHECK_EQ_INT(ferry_request_waitall(3, in, NULL), FERRY_ERR_FORMAT);
    CHECK_DETAIL("no magic number");
    sample_check(got[0], bytes_of(left_of(me), 1000)); /* the others have come */
    sample_check(got[1], sample_old());
    sample_check(got[2], bytes_of(left_of(me), 1000));
    CHECK_EQ_INT(ferry_bundle_isend(ctx, NULL, 0, 0, &out), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_isend(ctx, b, me->size, 0, &out), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_isend(ctx, b, 0, 16383, &out), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_isend(ctx, b, 0, 0, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_isend(NULL, b, 0, 0, &out), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_irecv(ctx, 0, 0, NULL, &out), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_irecv(ctx, -2, 0, &got[0], &out), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_irecv(ctx, 0, 16383, &got[0], &out), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_irecv(ctx, 0, 0, &got[0], NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_ibcast(NULL, &got[0], 0, &out), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_request_test(NULL, NULL, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_request_wait(NULL, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_request_waitall(1, NULL, NULL), FERRY_ERR_ARG);
    CHECK_OK(ferry_request_waitall(0, NULL, NULL));
    CHECK(out == NULL);
    for (int i = 0; i < 3; i++)
        ferry_bundle_free(got[i]);
    ferry_bundle_free(b);
}

/* The failure of one rank's arguments ends the request on all. */
static void broadcasts_that_fail(ferry_context *ctx, const ferry_context_info *me)
{
    for (int odd = 0; odd < me->size; odd++) {
        ferry_bundle *b = sample_old(), *none = NULL;
        ferry_request *all[3] = {NULL};
        const bool bad = me->rank == odd;
        CHECK_OK(ferry_bundle_ibcast(ctx, bad ? &none : &b, odd, &all[0]));
        CHECK_OK(ferry_bundle_ibcast(ctx, bad ? NULL : &b, odd, &all[1]));
        CHECK_OK(ferry_bundle_ibcast(ctx, &b, odd, &all[2]));
        CHECK_EQ_INT(ferry_request_wait(&all[0], NULL), FERRY_ERR_ARG);
        CHECK_DETAIL("NULL at the root");
        check_same_detail();
        CHECK_EQ_INT(ferry_request_wait(&all[1], NULL), FERRY_ERR_ARG);
        CHECK_OK(ferry_request_wait(&all[2], NULL));
        sample_check(b, sample_old());
        CHECK(none == NULL);
        ferry_bundle_free(b);
    }
}

static void (*const parts[])(ferry_context *ctx, const ferry_context_info *me) = {
    receives_first, only_tests, broadcasts_at_once, beside_collectives, looking,
    both_directions, taken_back, many_senders, that_fail, broadcasts_that_fail,
};

void check_bundle_request(ferry_context *ctx)
{
    ferry_context_info me;

    CHECK_OK(ferry_context_describe(ctx, &me));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        parts[i](ctx, &me);
        MPI_Barrier(MPI_COMM_WORLD); /* a receive from anybody must not get a message of the next part */
    }
}
