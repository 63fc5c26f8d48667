/* Receiving into what is there: values land where they belong, nothing is allocated, nothing changes on failure; and
 * receiving into the caller's memory. */
#include "base/alloc.h"
#include "mpi/samples.h"

enum { ROWS = 60, COLS = 50, TAG = 11 }; /* 2 x 24 KB */

static int left_of(const ferry_context_info *me)
{
    return (me->rank + me->size - 1) % me->size;
}

/* What `round` brings: the same schema as every other round. */
static ferry_bundle *round_of(int round)
{
    ferry_bundle *const b = sample_empty(), *const inner = sample_empty();
    const int64_t shape[] = {ROWS, COLS}, few[] = {3};
    static double data[ROWS * COLS];
    ferry_list *list = NULL;
    char text[12];

    for (int i = 0; i < ROWS * COLS; i++)
        data[i] = round * 1e5 + i;
    snprintf(text, sizeof text, "round %04d", round % 10000);
    CHECK_OK(ferry_bundle_set_int32(b, "round", round));
    CHECK_OK(ferry_bundle_set_array(b, "matrix", FERRY_TYPE_FLOAT64, 2, shape, NULL, data));
    CHECK_OK(ferry_bundle_set_bundle(b, "inner", inner));
    CHECK_OK(ferry_bundle_set_string(inner, "text", text, 10));
    CHECK_OK(ferry_bundle_set_bytes(inner, "bytes", data, 8 * (ROWS - 1)));
    CHECK_OK(ferry_bundle_set_array(inner, "few", FERRY_TYPE_FLOAT64, 1, few, NULL, data));
    sample_add_nothing(inner);
    CHECK_OK(ferry_list_new(&list));
    CHECK_OK(ferry_bundle_set_list(b, "list", list));
    CHECK_OK(ferry_list_append_bool(list, round % 2));
    CHECK_OK(ferry_list_append_array(list, FERRY_TYPE_FLOAT64, 2, shape, NULL, data));
    return b;
}

/* The same schema, with arrays of the caller: one with strides that run backwards, one by columns. */
static ferry_bundle *borrowing(double *matrix, double *small)
{
    ferry_bundle *const b = round_of(0);
    ferry_bundle *inner = NULL;
    const int64_t shape[] = {ROWS, COLS}, few[] = {3};
    const int64_t backwards[] = {-24 * COLS, 24}, other[] = {16};

    CHECK_OK(ferry_bundle_borrow_array(b, "matrix", FERRY_TYPE_FLOAT64, 2, shape, backwards,
                                       matrix + 3 * COLS * (ROWS - 1)));
    CHECK_OK(ferry_bundle_edit_bundle(b, "inner", &inner));
    CHECK_OK(ferry_bundle_borrow_array(inner, "few", FERRY_TYPE_FLOAT64, 1, few, other, small));
    CHECK_OK(ferry_bundle_borrow_string(inner, "text", "round    0", 10));
    return b;
}

/* Send round `round` to the right; the bundle from the left has come into `into`. */
static ferry_status pass(ferry_context *ctx, const ferry_context_info *me, int round, ferry_bundle *into)
{
    ferry_bundle *const b = round_of(round);
    ferry_message met = {-5, -5, -5};
    ferry_request *sending = NULL;

    CHECK_OK(ferry_bundle_isend(ctx, b, (me->rank + 1) % me->size, TAG, &sending));
    const ferry_status st = ferry_bundle_recv_into(ctx, left_of(me), TAG, into, &met);
    CHECK_OK(ferry_request_wait(&sending, NULL));
    ferry_bundle_free(b);
    CHECK(st != FERRY_OK || (met.from == left_of(me) && met.tag == TAG && met.bytes > 8 * ROWS * COLS));
    return st;
}

static void into_callers_arrays(ferry_context *ctx, const ferry_context_info *me)
{
    double *const matrix = calloc(3 * ROWS * COLS, sizeof *matrix), small[5] = {-1, -1, -1, -1, -1};
    ferry_bundle *const b = borrowing(matrix, small);
    int wrong = 0;

    for (int round = 1; round < 4; round++) {
        CHECK_OK(pass(ctx, me, round, b));
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < COLS; j++) {
                const double *const at = matrix + 3 * (COLS * (ROWS - 1 - i) + j);
                wrong += at[0] != round * 1e5 + i * COLS + j || at[1] != 0 || at[2] != 0;
            }
        CHECK(small[0] == round * 1e5 && small[1] == -1 && small[2] == round * 1e5 + 1 && small[3] == -1);
        ferry_bundle *copy = NULL; /* everything else too */
        CHECK_OK(ferry_bundle_copy(b, &copy));
        ferry_bundle *const expected = round_of(round);
        const char *text = NULL;
        size_t length = 0;
        const ferry_bundle *inner = NULL;
        CHECK_OK(ferry_bundle_get_bundle(b, "inner", &inner));
        CHECK_OK(ferry_bundle_get_string(inner, "text", &text, &length));
        CHECK(length == 10 && text[6] == '0' && text[9] == '0' + round);
        CHECK(ferry_bundle_equal(copy, expected));
        ferry_bundle_free(copy);
        ferry_bundle_free(expected);
    }
    CHECK_EQ_INT(wrong, 0);
    ferry_bundle_free(b);
    free(matrix);
}

/* A bundle that has been received, one that was copied and changed, and one made here. */
static void into_each_kind(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *kinds[3] = {round_of(0), NULL, NULL};

    CHECK_OK(ferry_bundle_copy(kinds[0], &kinds[1]));
    CHECK_OK(ferry_bundle_copy(kinds[0], &kinds[2]));
    ferry_bundle *inner = NULL;
    CHECK_OK(ferry_bundle_edit_bundle(kinds[2], "inner", &inner));
    CHECK_OK(ferry_bundle_set_string(inner, "text", "0123456789", 10));
    CHECK_OK(ferry_bundle_remove(kinds[2], "round")); /* to the end: another order of keys */
    CHECK_EQ_INT(pass(ctx, me, 1, kinds[2]), FERRY_ERR_TYPE);
    ferry_bundle_free(kinds[2]);
    CHECK_OK(ferry_bundle_copy(kinds[0], &kinds[2]));
    CHECK_OK(ferry_bundle_set_int32(kinds[2], "round", 77));
    CHECK_OK(ferry_bundle_edit_bundle(kinds[2], "inner", &inner));
    CHECK_OK(ferry_bundle_set_string(inner, "text", "0123456789", 10));
    for (int k = 0; k < 3; k++) {
        for (int round = 1; round < 5; round++) {
            CHECK_OK(pass(ctx, me, round, kinds[k]));
            sample_check(kinds[k], round_of(round));
        }
        CHECK_OK(ferry_bundle_set_null(kinds[k], "more")); /* it can still be changed */
        CHECK_OK(ferry_bundle_remove(kinds[k], "matrix"));
        ferry_bundle_free(kinds[k]);
    }
}

/* The pool has what a receiver needs. (A message that comes before its receive is kept, which is one allocation: the
 * sender is a little late, mostly.) */
static void allocates_nothing(ferry_context *ctx, const ferry_context_info *me)
{
    const int peer = me->rank ^ 1;
    ferry_bundle *b = round_of(me->rank);
    uint64_t fewest = UINT64_MAX;

    if (peer >= me->size) {
        ferry_bundle_free(b);
        return;
    }
    for (int round = 0; round < 12; round++) {
        if (me->rank % 2) {
            CHECK_OK(ferry_bundle_send(ctx, b, peer, TAG + 1)); /* I am there */
            const uint64_t begin = alloc_count();
            CHECK_OK(ferry_bundle_recv_into(ctx, peer, TAG, b, NULL));
            const uint64_t now = alloc_count() - begin;
            fewest = now < fewest ? now : fewest;
        } else {
            ferry_bundle *token = NULL;
            CHECK_OK(ferry_bundle_recv(ctx, peer, TAG + 1, &token, NULL));
            ferry_bundle_free(token);
            nanosleep(&(struct timespec){0, 1000000}, NULL);
            CHECK_OK(ferry_bundle_send(ctx, b, peer, TAG));
        }
    }
    if (me->rank % 2)
        CHECK_EQ_INT(fewest, 0);
    sample_check(b, round_of(me->rank & ~1));
    ferry_bundle_free(b);
}

/* --- other schemas --- */

static void set_other(ferry_bundle *b, int how)
{
    const int64_t shape[] = {COLS, ROWS};
    static const double data[ROWS * COLS];
    ferry_bundle *inner = NULL;

    CHECK_OK(ferry_bundle_edit_bundle(b, "inner", &inner));
    if (how == 0)
        CHECK_OK(ferry_bundle_set_float32(b, "round", 1));
    else if (how == 1)
        CHECK_OK(ferry_bundle_set_array(b, "matrix", FERRY_TYPE_FLOAT64, 2, shape, NULL, data));
    else if (how == 2)
        CHECK_OK(ferry_bundle_set_string(inner, "text", "shorter", 7));
    else
        CHECK_OK(ferry_bundle_remove(b, "list"));
}

static const struct {
    ferry_status status;
    const char *words;
} others[] = {
    {FERRY_ERR_TYPE, "\"round\": the bundle has float32 1, the message has int32"},
    {FERRY_ERR_SHAPE, "array of float64 50 x 60, the message has array of float64 60 x 50"},
    {FERRY_ERR_SHAPE, "\"inner/text\": the bundle has string \"shorter\" of 7 bytes"},
    {FERRY_ERR_TYPE, "\"list\": the message has this key"},
};

static void other_schemas(ferry_context *ctx, const ferry_context_info *me)
{
    for (int how = 0; how < 4; how++) {
        ferry_bundle *const b = round_of(3), *kept = NULL;
        set_other(b, how);
        CHECK_OK(ferry_bundle_copy(b, &kept));
        CHECK_EQ_INT(pass(ctx, me, 5, b), others[how].status);
        sample_check(b, kept);
        ferry_bundle_free(b);
        ferry_bundle *const good = round_of(0);
        CHECK_OK(pass(ctx, me, 6, good));
        sample_check(good, round_of(6));
        ferry_bundle_free(good);
    }
}

static void bcast_into(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *const b = round_of(me->rank);

    for (int root = 0; root < me->size; root++) {
        CHECK_OK(ferry_bundle_bcast_into(ctx, b, root));
        sample_check(b, round_of(0));
    }
    for (int how = 0; how < 4 && me->size > 1; how++) {
        const int odd = how % (me->size - 1);
        ferry_bundle *const mine = round_of(10 + me->rank);
        ferry_bundle *kept = NULL;
        if (me->rank == odd)
            set_other(mine, how);
        CHECK_OK(ferry_bundle_copy(mine, &kept));
        CHECK_EQ_INT(ferry_bundle_bcast_into(ctx, mine, me->size - 1), others[how].status);
        CHECK_DETAIL(others[how].words);
        check_same_detail();
        CHECK(ferry_bundle_equal(mine, kept));
        ferry_bundle_free(mine);
        ferry_bundle_free(kept);
        CHECK_EQ_INT(ferry_bundle_bcast_into(ctx, me->rank == odd ? NULL : b, 0), FERRY_ERR_ARG);
        check_same_detail();
        CHECK_EQ_INT(ferry_bundle_bcast_into(ctx, b, me->rank == odd ? 0 : me->size - 1), FERRY_ERR_ARG);
        CHECK_OK(ferry_bundle_bcast_into(ctx, b, odd));
    }
    CHECK_EQ_INT(ferry_bundle_bcast_into(ctx, b, me->size), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_recv_into(ctx, 0, TAG, NULL, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_bundle_recv_into(ctx, 0, 16383, b, NULL), FERRY_ERR_ARG);
    ferry_bundle_free(b);
}

/* --- the caller's memory --- */

typedef struct purse {
    void *given; /* out now */
    size_t bytes;
    int taken, returned, way; /* 0: well; 1: nothing; 2: not aligned */
    char *raw;
} purse;

static void *purse_take(void *user, size_t bytes)
{
    purse *const p = user;

    if (p->way == 1)
        return NULL;
    p->taken++;
    p->bytes = bytes;
    p->raw = malloc(bytes + 128);
    p->given = (void *)(((uintptr_t)p->raw + 63) / 64 * 64 + (p->way == 2 ? 8 : 0));
    return p->given;
}

static void purse_give(void *user, void *data)
{
    purse *const p = user;

    CHECK(data == p->given);
    p->returned++;
    p->given = NULL;
    free(p->raw);
}

static void callers_memory(ferry_context *ctx, const ferry_context_info *me)
{
    for (int way = 0; way < 3; way++) {
        purse p = {.way = way};
        const ferry_allocator mine = {purse_take, purse_give, &p};
        ferry_bundle *const b = round_of(way), *got = NULL;
        ferry_request *sending = NULL;
        ferry_array array = {.data = NULL};
        static const ferry_status expected[] = {FERRY_OK, FERRY_ERR_MEMORY, FERRY_ERR_ARG};
        CHECK_OK(ferry_bundle_isend(ctx, b, (me->rank + 1) % me->size, TAG, &sending));
        CHECK_EQ_INT(ferry_bundle_recv_alloc(ctx, left_of(me), TAG, &mine, &got, NULL), expected[way]);
        const ferry_status sent = ferry_request_wait(&sending, NULL);
        CHECK(sent == FERRY_OK || sent == expected[way]);
        ferry_bundle_free(b);
        CHECK_EQ_INT(p.taken, way != 1);
        CHECK_EQ_INT(p.returned, way == 2);
        if (way > 0)
            continue;
        sample_check(got, round_of(way));
        CHECK_OK(ferry_bundle_get_array(got, "matrix", FERRY_TYPE_FLOAT64, &array));
        CHECK((const char *)array.data > (char *)p.given && (const char *)array.data < (char *)p.given + p.bytes);
        CHECK_OK(pass(ctx, me, 8, got)); /* later values land in the same memory */
        sample_check(got, round_of(8));
        CHECK_OK(ferry_bundle_get_array(got, "matrix", FERRY_TYPE_FLOAT64, &array));
        CHECK((const char *)array.data > (char *)p.given && (const char *)array.data < (char *)p.given + p.bytes);
        CHECK_EQ_INT(p.returned, 0);
        ferry_bundle_free(got);
        CHECK_EQ_INT(p.returned, 1);
    }
    const ferry_allocator none = {NULL, purse_give, NULL};
    ferry_bundle *got = NULL;
    CHECK_EQ_INT(ferry_bundle_recv_alloc(ctx, 0, TAG, &none, &got, NULL), FERRY_ERR_ARG);
    CHECK_DETAIL("allocator->take is NULL");
    CHECK_EQ_INT(ferry_bundle_recv_alloc(ctx, 0, TAG, NULL, &got, NULL), FERRY_ERR_ARG);
}

void check_bundle_into(ferry_context *ctx)
{
    ferry_context_info me;

    CHECK_OK(ferry_context_describe(ctx, &me));
    into_callers_arrays(ctx, &me);
    into_each_kind(ctx, &me);
    allocates_nothing(ctx, &me);
    other_schemas(ctx, &me);
    bcast_into(ctx, &me);
    callers_memory(ctx, &me);
}
