/* Bundles between ranks: what arrives equals what every rank can build by itself, replaces what was there, and
 * failures leave it alone. */
#include "ferry/experimental.h"
#include "mpi/samples.h"

/* --- broadcasts --- */

/* From every root; receivers hold nothing, something else, or what the last root sent. */
static void bcast_from_every_root(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *b = me->rank % 2 ? sample_old() : NULL;

    for (int root = 0; root < me->size; root++) {
        const int64_t rows = root == 0 ? 600 : 1 + 20 * root; /* 3 MB, then less */
        if (me->rank == root) {
            ferry_bundle_free(b);
            b = sample_of(root, rows);
        }
        CHECK_OK(ferry_bundle_bcast(ctx, &b, root));
        sample_check(b, sample_of(root, rows));
    }
    ferry_bundle_free(b);
}

static ferry_bundle *deep(int depth)
{
    ferry_bundle *b = sample_empty();

    for (int i = 1; i < depth; i++) {
        ferry_bundle *const outer = sample_empty();
        CHECK_OK(ferry_bundle_set_bundle(outer, "in", b));
        b = outer;
    }
    return b;
}

static ferry_bundle *many_values(void)
{
    ferry_bundle *const b = sample_empty();
    char key[24];

    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof key, "value %d", i);
        CHECK_OK(ferry_bundle_set_int32(b, key, i));
    }
    return b;
}

static void bcast_extremes(ferry_context *ctx, const ferry_context_info *me)
{
    const int root = me->size - 1;

    for (int i = 0; i < 3; i++) {
        ferry_bundle *const expected = i == 0 ? sample_empty() : i == 1 ? deep(FERRY_BUNDLE_MAX_DEPTH) : many_values();
        ferry_bundle *b = NULL;
        if (me->rank == root)
            CHECK_OK(ferry_bundle_copy(expected, &b));
        CHECK_OK(ferry_bundle_bcast(ctx, &b, root));
        sample_check(b, expected);
        ferry_bundle_free(b);
    }
}

/* The same status on all ranks, and what they hold stays. */
static void bcasts_that_fail(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *b = sample_old(), *outer = sample_empty(), *none = NULL;
    const int last = me->size - 1;

    CHECK_EQ_INT(ferry_bundle_bcast(NULL, &b, 0), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_bcast(ctx, &b, me->size), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_bcast(ctx, &b, -1), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_bcast(ctx, me->rank == last ? &none : &b, last), FERRY_ERR_ARG);
    CHECK_DETAIL("NULL at the root");
    check_same_detail();
    CHECK_EQ_INT(ferry_bundle_bcast(ctx, me->rank == 0 ? NULL : &b, 0), FERRY_ERR_ARG);
    CHECK_DETAIL("bundle_inout is NULL at the root");
    check_same_detail();
    CHECK(none == NULL);
    sample_check(b, sample_old());
    if (me->size > 1) { /* a receiver cannot take it */
        CHECK_EQ_INT(ferry_bundle_bcast(ctx, me->rank == last ? NULL : &b, 0), FERRY_ERR_ARG);
        CHECK_OK(ferry_bundle_set_bundle(outer, "b", b));
        CHECK_EQ_INT(ferry_bundle_bcast(ctx, me->rank == 0 ? &outer : &b, 0), FERRY_ERR_ARG);
        CHECK_DETAIL("inside another one");
        sample_check(b, sample_old());
    } else {
        CHECK_OK(ferry_bundle_set_bundle(outer, "b", b));
    }
    CHECK_OK(ferry_bundle_bcast(ctx, &outer, 0)); /* nothing is broken */
    ferry_bundle_free(outer);
}

/* --- from rank to rank --- */

/* Each rank sends to the next one; what arrives is changed and sent on. */
static void around_the_ring(ferry_context *ctx, const ferry_context_info *me)
{
    const int next = (me->rank + 1) % me->size, last = (me->rank + me->size - 1) % me->size;
    ferry_bundle *b = sample_of(me->rank, 40), *got = sample_old();

    for (int step = 1; step <= 3; step++) {
        if (me->rank % 2 == 0)
            CHECK_OK(ferry_bundle_send(ctx, b, next, step));
        CHECK_OK(ferry_bundle_recv(ctx, last, step, &got, NULL));
        if (me->rank % 2 == 1)
            CHECK_OK(ferry_bundle_send(ctx, b, next, step));
        ferry_bundle *const expected = sample_of((me->rank + step * (me->size - 1)) % me->size, 40);
        for (int before = 1; before < step; before++)
            CHECK_OK(ferry_bundle_set_int32(expected, before == 1 ? "step 1" : "owner", before));
        sample_check(got, expected);
        CHECK_OK(ferry_bundle_set_int32(got, step == 1 ? "step 1" : "owner", step));
        ferry_bundle *const swapped = b;
        b = got;
        got = swapped; /* a used bundle to receive into */
    }
    ferry_bundle_free(b);
    ferry_bundle_free(got);
}

static void to_oneself(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *const b = sample_empty();
    ferry_bundle *got = NULL;

    sample_add_odd(b);
    CHECK_OK(ferry_bundle_send(ctx, b, me->rank, 5));
    CHECK_OK(ferry_bundle_recv(ctx, me->rank, 5, &got, NULL));
    CHECK(ferry_bundle_equal(b, got));
    ferry_bundle_free(b);
    ferry_bundle_free(got);
}

enum { EACH = 12 /* bundles from each sender */ };

/* Whole and in order for each sender, however they come in. */
static void take_any(ferry_context *ctx, const ferry_context_info *me)
{
    int *const next = calloc((size_t)me->size, sizeof *next);
    ferry_bundle *got = NULL;

    CHECK(next != NULL);
    for (int i = 0; i < EACH * (me->size - 1); i++) {
        int32_t from = -1, k = -1;
        ferry_message met = {-5, -5, -5};
        CHECK_OK(ferry_bundle_recv(ctx, FERRY_ANY_SOURCE, FERRY_ANY_TAG, &got, &met));
        CHECK_OK(ferry_bundle_get_int32(got, "from", &from));
        CHECK_OK(ferry_bundle_get_int32(got, "k", &k));
        if (!CHECK(from > 0 && from < me->size))
            continue;
        CHECK_EQ_INT(k, next[from]);
        CHECK_EQ_INT(met.from, from);
        CHECK_EQ_INT(met.tag, from);
        CHECK(met.bytes > from * 10 + k * k * 1300);
        sample_check(got, sample_numbered(from, next[from]++));
    }
    ferry_bundle_free(got);
    free(next);
}

static void from_any_source(ferry_context *ctx, const ferry_context_info *me)
{
    for (int k = 0; k < EACH && me->rank > 0; k++) {
        ferry_bundle *const b = sample_numbered(me->rank, k);
        CHECK_OK(ferry_bundle_send(ctx, b, 0, me->rank));
        ferry_bundle_free(b);
    }
    if (me->rank == 0)
        take_any(ctx, me);
    MPI_Barrier(MPI_COMM_WORLD); /* later messages are not for "any" */
}

/* The tag decides, not the order. */
static void by_tag(ferry_context *ctx, const ferry_context_info *me)
{
    const int peer = me->rank ^ 1;

    if (peer >= me->size)
        return;
    for (int k = 0; k < 3; k++) {
        ferry_bundle *const b = sample_numbered(me->rank, k);
        CHECK_OK(ferry_bundle_send(ctx, b, peer, 100 + k));
        ferry_bundle_free(b);
    }
    for (int k = 2; k >= 0; k--) {
        ferry_bundle *got = NULL;
        CHECK_OK(ferry_bundle_recv(ctx, peer, 100 + k, &got, NULL));
        sample_check(got, sample_numbered(peer, k));
        ferry_bundle_free(got);
    }
}

static void sends_that_fail(ferry_context *ctx, const ferry_context_info *me)
{
    static const char junk[200] = "no image";
    const ferry_piece piece = {junk, sizeof junk};
    ferry_bundle *b = sample_old();

    CHECK_EQ_INT(ferry_bundle_send(ctx, NULL, 0, 0), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_send(NULL, b, 0, 0), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_send(ctx, b, me->size, 0), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_send(ctx, b, 0, -1), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_recv(ctx, 0, 0, NULL, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_recv(ctx, me->size, 0, &b, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_recv(ctx, 0, 16384, &b, NULL), FERRY_ERR_ARG);
    CHECK_OK(ferry_stream_send(ctx, &piece, 1, (me->rank + 1) % me->size, 7));
    CHECK_EQ_INT(ferry_bundle_recv(ctx, (me->rank + me->size - 1) % me->size, 7, &b, NULL), FERRY_ERR_FORMAT);
    CHECK_DETAIL("no magic number at byte 0");
    sample_check(b, sample_old());
    ferry_bundle_free(b);
}

void check_bundle(ferry_context *ctx)
{
    ferry_context_info me;

    CHECK_OK(ferry_context_describe(ctx, &me));
    bcast_from_every_root(ctx, &me);
    bcast_extremes(ctx, &me);
    bcasts_that_fail(ctx, &me);
    if (me.size > 1)
        around_the_ring(ctx, &me);
    to_oneself(ctx, &me);
    from_any_source(ctx, &me);
    by_tag(ctx, &me);
    sends_that_fail(ctx, &me);
}
