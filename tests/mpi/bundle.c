/* Bundles between ranks: what arrives equals what every rank can build by itself, replaces what was there, and
 * failures leave it alone. */
#include "ferry/bundle_move.h"
#include "ferry/experimental.h"
#include "mpi/support.h"

static ferry_bundle *fresh(void)
{
    ferry_bundle *b = NULL;

    CHECK_OK(ferry_bundle_new(&b));
    return b;
}

/* --- bundles to move --- */

static const uint64_t odd_doubles[] = {0x7ff8000000000001, 0x7ff0000000000001, 0xfff8deadbeef0001,
                                       0x8000000000000000, 0x0000000000000001, 0x7ff0000000000000};
static const uint32_t odd_floats[] = {0x7fc00001, 0x7f800001, 0xffc0beef, 0x80000000, 0x00000001, 0x7f800000};
enum { ODD = 6 };

static void add_odd_values(ferry_bundle *b)
{
    static uint64_t spread[2 * ODD];
    const int64_t shape[] = {ODD}, every_second[] = {16};
    double d;
    float f;

    for (int i = 0; i < ODD; i++) {
        char key[24];
        memcpy(&d, &odd_doubles[i], sizeof d);
        memcpy(&f, &odd_floats[i], sizeof f);
        snprintf(key, sizeof key, "double %d", i);
        CHECK_OK(ferry_bundle_set_float64(b, key, d));
        snprintf(key, sizeof key, "float %d", i);
        CHECK_OK(ferry_bundle_set_float32(b, key, f));
        spread[2 * i] = odd_doubles[i];
    }
    CHECK_OK(ferry_bundle_set_array(b, "doubles", FERRY_TYPE_FLOAT64, 1, shape, NULL, odd_doubles));
    CHECK_OK(ferry_bundle_set_array(b, "floats", FERRY_TYPE_FLOAT32, 1, shape, NULL, odd_floats));
    CHECK_OK(ferry_bundle_borrow_array(b, "view", FERRY_TYPE_FLOAT64, 1, shape, every_second, spread));
}

static void add_strings(ferry_bundle *b)
{
    static char sharp[140000];
    static const char *const names[] = {"", "a", "žluťoučký kůň", "\xf0\x9d\x84\x9e", "\xff"};
    char key[24];

    for (size_t i = 0; i < sizeof sharp; i++)
        sharp[i] = i % 2 ? '\x9f' : '\xc3';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(key, sizeof key, "string %zu", i);
        CHECK_OK(ferry_bundle_set_string(b, key, names[i], strlen(names[i])));
        if (i > 0 && i < 4)
            CHECK_OK(ferry_bundle_set_null(b, names[i]));
    }
    CHECK_OK(ferry_bundle_set_string(b, "nul", "a\0b", 3));
    CHECK_OK(ferry_bundle_borrow_string(b, "long", sharp, sizeof sharp));
}

static void add_empty_things(ferry_bundle *b)
{
    static const int64_t shapes[][2] = {{0, 5}, {5, 0}};
    ferry_list *list = NULL;
    char key[32];

    for (int element = FERRY_TYPE_BOOL; element <= FERRY_TYPE_COMPLEX128; element++)
        for (int i = 0; i < 2; i++) {
            snprintf(key, sizeof key, "no %s %d", ferry_type_name(element), i);
            CHECK_OK(ferry_bundle_set_array(b, key, element, 2, shapes[i], NULL, NULL));
        }
    CHECK_OK(ferry_bundle_set_bytes(b, "no bytes", NULL, 0));
    CHECK_OK(ferry_bundle_set_bundle(b, "no values", fresh()));
    CHECK_OK(ferry_list_new(&list));
    CHECK_OK(ferry_bundle_set_list(b, "no elements", list));
}

/* Values that tell who made the bundle. */
static void add_own_values(ferry_bundle *b, int owner, int64_t rows)
{
    const int64_t shape[] = {rows, 650}, columns[] = {8, 8 * rows};
    double *const matrix = malloc((size_t)(rows * 650) * sizeof *matrix);
    ferry_list *list = NULL;

    CHECK(matrix != NULL);
    for (int64_t i = 0; i < rows * 650; i++)
        matrix[i] = (double)(1000000 * owner + i);
    CHECK_OK(ferry_bundle_set_int32(b, "owner", owner));
    CHECK_OK(ferry_bundle_set_array(b, "rows", FERRY_TYPE_FLOAT64, 2, shape, NULL, matrix));
    CHECK_OK(ferry_bundle_set_array(b, "columns", FERRY_TYPE_FLOAT64, 2, shape, columns, matrix));
    CHECK_OK(ferry_list_new(&list));
    CHECK_OK(ferry_bundle_set_list(b, "mixed", list));
    CHECK_OK(ferry_list_append_int32(list, owner));
    CHECK_OK(ferry_list_append_string(list, "text", 4));
    CHECK_OK(ferry_list_append_complex128(list, (ferry_complex128){1, -owner}));
    CHECK_OK(ferry_list_append_array(list, FERRY_TYPE_FLOAT64, 2, shape, NULL, matrix));
    free(matrix);
}

static ferry_bundle *sample(int owner, int64_t rows)
{
    ferry_bundle *const b = fresh(), *const inner = fresh();

    add_own_values(b, owner, rows);
    add_odd_values(b);
    CHECK_OK(ferry_bundle_set_bundle(b, "inner", inner));
    add_strings(inner);
    add_empty_things(inner);
    return b;
}

/* What a receiver may hold before: other keys, and the same with other types. */
static ferry_bundle *old_content(void)
{
    ferry_bundle *const b = fresh(), *const inner = fresh();
    const int32_t x[7] = {0};
    const int64_t shape[] = {7};

    CHECK_OK(ferry_bundle_set_array(b, "owner", FERRY_TYPE_INT32, 1, shape, NULL, x));
    CHECK_OK(ferry_bundle_set_bundle(b, "y", inner));
    CHECK_OK(ferry_bundle_set_string(inner, "z", "alt", 3));
    return b;
}

/* Equal to what it should be, which is freed. */
static void check_equal(const ferry_bundle *b, ferry_bundle *expected)
{
    CHECK(ferry_bundle_equal(b, expected));
    ferry_bundle_free(expected);
}

/* --- broadcasts --- */

/* From every root; receivers hold nothing, something else, or what the last root sent. */
static void bcast_from_every_root(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *b = me->rank % 2 ? old_content() : NULL;

    for (int root = 0; root < me->size; root++) {
        const int64_t rows = root == 0 ? 600 : 1 + 20 * root; /* 3 MB, then less */
        if (me->rank == root) {
            ferry_bundle_free(b);
            b = sample(root, rows);
        }
        CHECK_OK(ferry_bundle_bcast(ctx, &b, root));
        check_equal(b, sample(root, rows));
    }
    ferry_bundle_free(b);
}

static ferry_bundle *deep(int depth)
{
    ferry_bundle *b = fresh();

    for (int i = 1; i < depth; i++) {
        ferry_bundle *const outer = fresh();
        CHECK_OK(ferry_bundle_set_bundle(outer, "in", b));
        b = outer;
    }
    return b;
}

static ferry_bundle *many_values(void)
{
    ferry_bundle *const b = fresh();
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
        ferry_bundle *const expected = i == 0 ? fresh() : i == 1 ? deep(FERRY_BUNDLE_MAX_DEPTH) : many_values();
        ferry_bundle *b = NULL;
        if (me->rank == root)
            CHECK_OK(ferry_bundle_copy(expected, &b));
        CHECK_OK(ferry_bundle_bcast(ctx, &b, root));
        check_equal(b, expected);
        ferry_bundle_free(b);
    }
}

/* The same status on all ranks, and what they hold stays. */
static void bcasts_that_fail(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *b = old_content(), *outer = fresh(), *none = NULL;
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
    check_equal(b, old_content());
    if (me->size > 1) { /* a receiver cannot take it */
        CHECK_EQ_INT(ferry_bundle_bcast(ctx, me->rank == last ? NULL : &b, 0), FERRY_ERR_ARG);
        CHECK_OK(ferry_bundle_set_bundle(outer, "b", b));
        CHECK_EQ_INT(ferry_bundle_bcast(ctx, me->rank == 0 ? &outer : &b, 0), FERRY_ERR_ARG);
        CHECK_DETAIL("inside another one");
        check_equal(b, old_content());
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
    ferry_bundle *b = sample(me->rank, 40), *got = old_content();

    for (int step = 1; step <= 3; step++) {
        if (me->rank % 2 == 0)
            CHECK_OK(ferry_bundle_send(ctx, b, next, step));
        CHECK_OK(ferry_bundle_recv(ctx, last, step, &got, NULL));
        if (me->rank % 2 == 1)
            CHECK_OK(ferry_bundle_send(ctx, b, next, step));
        ferry_bundle *const expected = sample((me->rank + step * (me->size - 1)) % me->size, 40);
        for (int before = 1; before < step; before++)
            CHECK_OK(ferry_bundle_set_int32(expected, before == 1 ? "step 1" : "owner", before));
        check_equal(got, expected);
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
    ferry_bundle *const b = fresh();
    ferry_bundle *got = NULL;

    add_odd_values(b);
    CHECK_OK(ferry_bundle_send(ctx, b, me->rank, 5));
    CHECK_OK(ferry_bundle_recv(ctx, me->rank, 5, &got, NULL));
    CHECK(ferry_bundle_equal(b, got));
    ferry_bundle_free(b);
    ferry_bundle_free(got);
}

enum { EACH = 12 /* bundles from each sender */ };

/* Number k of a sender, of growing size. */
static ferry_bundle *numbered(int from, int k)
{
    static const char bytes[200000];
    ferry_bundle *const b = fresh();

    CHECK_OK(ferry_bundle_set_int32(b, "from", from));
    CHECK_OK(ferry_bundle_set_int32(b, "k", k));
    CHECK_OK(ferry_bundle_borrow_bytes(b, "bytes", bytes, (size_t)(from * 10 + k * k * 1300)));
    return b;
}

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
        check_equal(got, numbered(from, next[from]++));
    }
    ferry_bundle_free(got);
    free(next);
}

static void from_any_source(ferry_context *ctx, const ferry_context_info *me)
{
    for (int k = 0; k < EACH && me->rank > 0; k++) {
        ferry_bundle *const b = numbered(me->rank, k);
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
        ferry_bundle *const b = numbered(me->rank, k);
        CHECK_OK(ferry_bundle_send(ctx, b, peer, 100 + k));
        ferry_bundle_free(b);
    }
    for (int k = 2; k >= 0; k--) {
        ferry_bundle *got = NULL;
        CHECK_OK(ferry_bundle_recv(ctx, peer, 100 + k, &got, NULL));
        check_equal(got, numbered(peer, k));
        ferry_bundle_free(got);
    }
}

static void sends_that_fail(ferry_context *ctx, const ferry_context_info *me)
{
    static const char junk[200] = "no image";
    const ferry_piece piece = {junk, sizeof junk};
    ferry_bundle *b = old_content();

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
    check_equal(b, old_content());
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
