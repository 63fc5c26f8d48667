/* Streams: messages of every size between all pairs, wildcards and orders, ranks that cannot take a message,
 * and broadcasts. */
#include "ferry/experimental.h"
#include "mpi/plan.h"

enum { KIB = 1 << 10, MIB = 1 << 20, CELL = 4 * KIB - 64, SHORT = 64 * KIB };

/* Where one message of a test goes: memory of exactly its length, or none. */
typedef struct inbox {
    char *data;
    size_t bytes;
    bool full;          /* refuse the next message */
    int calls;
} inbox;

static ferry_status place(void *user, size_t bytes, void **data_out)
{
    inbox *const box = user;

    box->calls++;
    box->bytes = bytes;
    if (box->full)
        return FERRY_ERR_MEMORY;
    free(box->data);
    box->data = malloc(bytes + 1);
    box->data[bytes] = 'e';
    *data_out = bytes ? box->data : NULL;
    return FERRY_OK;
}

static void drop(inbox *box)
{
    free(box->data);
    *box = (inbox){NULL, 0, false, 0};
}

/* Any two messages differ, also by their position. */
static void fill(char *data, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = (char)((i * 2654435761u >> 7) + seed * 37 + i);
}

static bool holds(const inbox *box, size_t bytes, unsigned seed)
{
    if (!box->data || box->bytes != bytes || box->data[bytes] != 'e')
        return false;
    for (size_t i = 0; i < bytes; i++)
        if (box->data[i] != (char)((i * 2654435761u >> 7) + seed * 37 + i))
            return false;
    return true;
}

static ferry_status send(ferry_context *ctx, size_t bytes, unsigned seed, int to, int tag)
{
    char *const data = malloc(bytes + 1);
    const size_t cut = bytes / 3;
    const ferry_piece pieces[] = {{data, cut}, {NULL, 0}, {data + cut, bytes - cut}};

    fill(data, bytes, seed);
    const ferry_status st = ferry_stream_send(ctx, pieces, 3, to, tag);
    free(data);
    return st;
}

static void receive(ferry_context *ctx, size_t bytes, unsigned seed, int from, int tag)
{
    inbox box = {NULL, 0, false, 0};
    ferry_stream_info info = {-5, -5, 0};

    CHECK_OK(ferry_stream_recv(ctx, from, tag, place, &box, &info));
    CHECK(holds(&box, bytes, seed));
    CHECK_EQ_INT(box.calls, 1);
    CHECK_EQ_INT(info.bytes, bytes);
    CHECK(from == FERRY_STREAM_ANY || info.from == from);
    CHECK(tag == FERRY_STREAM_ANY || info.tag == tag);
    drop(&box);
}

/* ---- Point to point ---- */

/* Sizes around the limit of short messages, slots, and pieces of the wire. */
static void sizes_between_all_pairs(ferry_context *ctx, const ferry_context_info *info)
{
    static const size_t sizes[] = {0, 1, CELL, CELL + 1, SHORT, SHORT + 1, 128 * KIB, MIB + 1};
    enum { SIZES = sizeof sizes / sizeof *sizes };

    const int step = info->size > 4 ? 3 : 1; /* of many ranks some pairs will do */

    for (int from = 0; from < info->size; from++)
        for (int to = from % step; to < info->size; to += step)
            for (int i = 0; i < SIZES && from != to; i++) {
                const unsigned seed = (unsigned)(from * 100 + to * 10 + i);
                if (info->rank == from)
                    CHECK_OK(send(ctx, sizes[i], seed, to, i));
                if (info->rank == to)
                    receive(ctx, sizes[i], seed, from, i);
            }
    if (info->rank == 0 && info->size > 1)
        CHECK_OK(send(ctx, 9 * MIB, 3, info->size - 1, 16383));
    if (info->rank == info->size - 1 && info->size > 1)
        receive(ctx, 9 * MIB, 3, 0, 16383);
}

static void to_itself(ferry_context *ctx, const ferry_context_info *info)
{
    CHECK_OK(send(ctx, 100, 1, info->rank, 1));
    CHECK_OK(send(ctx, SHORT, 2, info->rank, 2));
    CHECK_OK(send(ctx, 0, 3, info->rank, 1));
    CHECK_EQ_INT(send(ctx, SHORT + 1, 4, info->rank, 1), FERRY_ERR_ARG);
    CHECK_DETAIL("to itself");
    receive(ctx, SHORT, 2, info->rank, 2);
    receive(ctx, 100, 1, FERRY_STREAM_ANY, FERRY_STREAM_ANY);
    receive(ctx, 0, 3, info->rank, FERRY_STREAM_ANY);
}

/* Asked for in another order than sent; those with one tag stay in order. */
static void tags_out_of_order(ferry_context *ctx, const ferry_context_info *info)
{
    const int last = info->size - 1;

    if (info->rank == 0)
        for (int i = 0; i < 12; i++)
            CHECK_OK(send(ctx, (size_t)(100 + i), (unsigned)i, last, i % 3));
    if (info->rank != last)
        return;
    for (int tag = 2; tag >= 0; tag--)
        for (int i = tag; i < 9; i += 3)
            receive(ctx, (size_t)(100 + i), (unsigned)i, tag == 1 ? FERRY_STREAM_ANY : 0, tag);
    for (int i = 9; i < 12; i++)
        receive(ctx, (size_t)(100 + i), (unsigned)i, 0, FERRY_STREAM_ANY);
}

/* Everybody sends growing messages to the first rank, which takes whatever comes: each sender's come in order. */
static void many_senders(ferry_context *ctx, const ferry_context_info *info)
{
    enum { EACH = 100, MOST_RANKS = 64, STEP = 577 };
    int next[MOST_RANKS] = {0};
    inbox box = {NULL, 0, false, 0};

    for (int i = 0; i < EACH && info->rank > 0; i++)
        CHECK_OK(send(ctx, (size_t)(i * STEP), (unsigned)i, 0, info->rank));
    for (int i = 0; i < EACH * (info->size - 1) && info->rank == 0; i++) {
        ferry_stream_info got = {0, 0, 0};
        CHECK_OK(ferry_stream_recv(ctx, FERRY_STREAM_ANY, FERRY_STREAM_ANY, place, &box, &got));
        CHECK_EQ_INT(got.tag, got.from);
        CHECK_EQ_INT(got.bytes, next[got.from] * STEP);
        CHECK(holds(&box, got.bytes, (unsigned)next[got.from]++));
    }
    drop(&box);
}

/* Both ranks of a pair have many messages for each other before they take any. */
static void both_ways_at_once(ferry_context *ctx, const ferry_context_info *info)
{
    static const size_t sizes[] = {100, SHORT};
    enum { EACH = 20 };
    const int peer = info->rank ^ 1;

    for (int k = 0; k < 2 && peer < info->size; k++) {
        for (int i = 0; i < EACH; i++)
            CHECK_OK(send(ctx, sizes[k], (unsigned)i, peer, 4));
        for (int i = 0; i < EACH; i++)
            receive(ctx, sizes[k], (unsigned)i, peer, 4);
    }
}

/* Long messages in both directions, one after the other. */
static void long_both_ways(ferry_context *ctx, const ferry_context_info *info)
{
    const int peer = info->rank ^ 1;

    for (int turn = 0; turn < 4 && peer < info->size; turn++)
        if ((info->rank + turn) % 2)
            CHECK_OK(send(ctx, 300000, (unsigned)turn, peer, 9));
        else
            receive(ctx, 300000, (unsigned)turn, peer, 9);
}

/* A long message that the receiver has no room for: both sides are told, and the next one works. */
static void no_room(ferry_context *ctx, const ferry_context_info *info)
{
    const int last = info->size - 1;
    inbox box = {NULL, 0, true, 0};

    if (last == 0)
        return;
    if (info->rank == 0) {
        CHECK_EQ_INT(send(ctx, 3 * MIB, 1, last, 1), FERRY_ERR_MEMORY);
        CHECK_OK(send(ctx, 10, 2, last, 1)); /* a short one is gone before anybody knows */
        CHECK_OK(send(ctx, 3 * MIB, 3, last, 1));
    }
    if (info->rank != last)
        return;
    CHECK_EQ_INT(ferry_stream_recv(ctx, 0, 1, place, &box, NULL), FERRY_ERR_MEMORY);
    CHECK_EQ_INT(box.bytes, 3 * MIB);
    CHECK_EQ_INT(ferry_stream_recv(ctx, 0, 1, place, &box, NULL), FERRY_ERR_MEMORY);
    CHECK_EQ_INT(box.bytes, 10);
    receive(ctx, 3 * MIB, 3, 0, 1);
}

/* Streams and rounds of plans do not hinder each other. */
static void beside_a_round(ferry_context *ctx, const ferry_context_info *info)
{
    enum { BYTES = 400000 };
    const int last = info->size - 1;
    char *const src = calloc(BYTES, 1), *const dst = calloc(BYTES, 1);
    ferry_plan *plan = plan_one_edge(ctx, last, 0, BYTES, 1);

    src[BYTES - 1] = 17;
    CHECK_OK(ferry_plan_start(plan, src, dst));
    if (info->rank == 0 && last > 0)
        CHECK_OK(send(ctx, 200000, 1, last, 1));
    if (info->rank == last && last > 0)
        receive(ctx, 200000, 1, 0, 1);
    CHECK_OK(ferry_plan_wait(plan));
    if (info->rank == 0)
        CHECK_EQ_INT(dst[BYTES - 1], 17);
    ferry_plan_free(plan);
    free(src);
    free(dst);
}

static ferry_status place_nowhere(void *user, size_t bytes, void **data_out)
{
    (void)user, (void)bytes, (void)data_out;
    return FERRY_OK;
}

static void refuse_arguments(ferry_context *ctx, const ferry_context_info *info)
{
    const ferry_piece nothing = {NULL, 5}, good = {"abc", 3}, vast[] = {{"a", SIZE_MAX}, {"b", 2}};
    inbox box = {NULL, 0, false, 0};

    CHECK_EQ_INT(ferry_stream_send(NULL, &good, 1, 0, 0), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_send(ctx, &good, 1, info->size, 0), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_send(ctx, &good, 1, -1, 0), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_send(ctx, &good, 1, 0, -1), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_send(ctx, &good, 1, 0, 16384), FERRY_ERR_ARG);
    CHECK_DETAIL("expected 0 to 16383");
    CHECK_EQ_INT(ferry_stream_send(ctx, NULL, 1, 0, 0), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_send(ctx, &nothing, 1, 0, 0), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_send(ctx, vast, 2, 0, 0), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_recv(ctx, info->size, 0, place, &box, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_recv(ctx, -2, 0, place, &box, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_recv(ctx, 0, 16384, place, &box, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_recv(ctx, 0, 0, NULL, &box, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_stream_recv(NULL, 0, 0, place, &box, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(box.calls, 0);
    CHECK_OK(send(ctx, 3, 1, info->rank, 1));
    CHECK_EQ_INT(ferry_stream_recv(ctx, info->rank, 1, place_nowhere, NULL, NULL), FERRY_ERR_ARG);
    CHECK_DETAIL("the place for 3 bytes is NULL");
}

/* Nobody sends: the wait ends in time, says what it waited for, and the context may only be freed. */
static void time_runs_out(const ferry_context_info *info)
{
    ferry_context_options options = FERRY_CONTEXT_OPTIONS_INIT;
    ferry_context *ctx = NULL;
    inbox box = {NULL, 0, false, 0};

    options.timeout_s = 0.2;
    CHECK_OK(ferry_context_create(MPI_COMM_WORLD, &options, &ctx));
    if (info->rank == 0) {
        CHECK_EQ_INT(ferry_stream_recv(ctx, info->size - 1, 12, place, &box, NULL), FERRY_ERR_TIMEOUT);
        CHECK_DETAIL("with tag 12");
        CHECK_EQ_INT(ferry_stream_recv(ctx, 0, 12, place, &box, NULL), FERRY_ERR_STATE);
        CHECK_EQ_INT(send(ctx, 1, 1, info->size - 1, 1), FERRY_ERR_STATE);
    }
    ferry_context_free(ctx);
}

/* One rank of a node does not take part: the others say so, whoever the root is. */
static void time_runs_out_in_broadcast(const ferry_context_info *info)
{
    ferry_context_options options = FERRY_CONTEXT_OPTIONS_INIT;
    const int last = info->size - 1;

    options.timeout_s = 0.2;
    options.routes = "node_ring,node_direct";
    options.nodes = "auto";
    for (int root = 0; root < info->size && root < 2; root++) {
        ferry_context *ctx = NULL;
        inbox box = {NULL, 0, false, 0};
        char words[64];
        CHECK_OK(ferry_context_create(MPI_COMM_WORLD, &options, &ctx));
        if (info->rank != last) {
            CHECK_EQ_INT(ferry_stream_bcast(ctx, &(ferry_stream_cast){root, &(ferry_piece){"a", 1}, 1, place, NULL, &box}), FERRY_ERR_TIMEOUT);
            snprintf(words, sizeof words, "from rank %d, which rank %d has not called", root, last);
            CHECK_DETAIL(words);
        }
        ferry_context_free(ctx);
        free(box.data);
    }
}

/* ---- Broadcasts ---- */

static ferry_status cast(ferry_context *ctx, size_t bytes, unsigned seed, int root, inbox *box)
{
    char *const data = malloc(bytes + 1);
    const size_t cut = bytes / 7;
    const ferry_piece pieces[] = {{NULL, 0}, {data, cut}, {data + cut, 0}, {data + cut, bytes - cut}, {NULL, 0}};

    fill(data, bytes, seed);
    const ferry_status st = ferry_stream_bcast(ctx, &(ferry_stream_cast){root, pieces, 5, place, NULL, box});
    free(data);
    return st;
}

static void cast_all_sizes(ferry_context *ctx, const ferry_context_info *info)
{
    static const size_t sizes[] = {0, 1, 8, 64 * KIB - 9, 64 * KIB - 8, 64 * KIB - 7, 64 * KIB, 256 * KIB - 8,
                                   256 * KIB - 7, MIB, 2 * MIB + 3};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int root = 0; root < info->size; root++) {
            const unsigned seed = (unsigned)i * 10 + (unsigned)root;
            inbox box = {NULL, 0, false, 0};
            CHECK_OK(cast(ctx, sizes[i], seed, root, &box));
            CHECK_EQ_INT(box.calls, info->rank != root);
            CHECK(info->rank == root || holds(&box, sizes[i], seed));
            drop(&box);
        }
}

static void cast_works(ferry_context *ctx, const ferry_context_info *info)
{
    inbox box = {NULL, 0, false, 0};

    CHECK_OK(cast(ctx, 100000, 5, info->size - 1, &box));
    CHECK(info->rank == info->size - 1 || holds(&box, 100000, 5));
    drop(&box);
}

/* One rank has no room: nobody has the bytes. */
static void cast_no_room(ferry_context *ctx, const ferry_context_info *info)
{
    for (int refuser = 1; refuser < info->size; refuser++) {
        inbox box = {NULL, 0, info->rank == refuser, 0};
        CHECK_EQ_INT(cast(ctx, 700000, 1, 0, &box), FERRY_ERR_MEMORY);
        drop(&box);
        cast_works(ctx, info);
    }
}

/* Ranks that mean different broadcasts fail together. */
static void cast_roots_differ(ferry_context *ctx, const ferry_context_info *info)
{
    const int last = info->size - 1;

    for (int odd = 0; odd < info->size && last > 0; odd++) {
        inbox box = {NULL, 0, false, 0};
        CHECK_EQ_INT(cast(ctx, 1000, 1, info->rank == odd ? last : 0, &box), FERRY_ERR_ARG);
        CHECK_DETAIL("root is");
        CHECK_EQ_INT(cast(ctx, 300000, 1, info->rank == odd ? 0 : last, &box), FERRY_ERR_ARG);
        drop(&box);
        cast_works(ctx, info);
    }
}

/* One rank has a bad argument: all are told. */
static void cast_bad_arguments(ferry_context *ctx, const ferry_context_info *info)
{
    const ferry_piece good = {"abc", 3}, bad = {NULL, 3};

    for (int wrong = 0; wrong < info->size; wrong++) {
        inbox box = {NULL, 0, false, 0};
        CHECK_EQ_INT(cast(ctx, 1000, 1, info->rank == wrong ? info->size : 0, &box), FERRY_ERR_ARG);
        CHECK_EQ_INT(cast(ctx, 1000, 1, info->rank == wrong ? -1 : info->size - 1, &box), FERRY_ERR_ARG);
        const ferry_stream_cast all = {wrong, info->rank == wrong ? &bad : &good, 1, place, NULL, &box};
        CHECK_EQ_INT(ferry_stream_bcast(ctx, &all), FERRY_ERR_ARG);
        CHECK_EQ_INT(ferry_stream_bcast(ctx, info->rank == wrong ? NULL : &(ferry_stream_cast){0, &good, 1, place, NULL, &box}),
                     FERRY_ERR_ARG);
        drop(&box);
        cast_works(ctx, info);
    }
}

/* A receiver that is not content with the bytes: all are told, and it has seen all of them. */
typedef struct judge {
    inbox box; /* first: the place function takes it */
    size_t bytes;
    unsigned seed;
    bool refuses;
    int checks;
} judge;

static ferry_status look_at(void *user)
{
    judge *const j = user;

    j->checks++;
    CHECK(holds(&j->box, j->bytes, j->seed));
    return j->refuses ? FERRY_ERR_FORMAT : FERRY_OK;
}

static void cast_checked(ferry_context *ctx, const ferry_context_info *info)
{
    static const size_t sizes[] = {1, 100, 300000, 5 * MIB};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int refuser = 0; refuser < info->size; refuser += info->size > 4 ? 3 : 1) {
            const int root = (int)i % info->size;
            char *const data = malloc(sizes[i] + 1);
            const ferry_piece piece = {data, sizes[i]};
            ferry_stream_request *request = NULL;
            judge j = {.bytes = sizes[i], .seed = 4, .refuses = info->rank == refuser};
            fill(data, sizes[i], 4);
            CHECK_OK(ferry_stream_ibcast(ctx, &(ferry_stream_cast){root, &piece, 1, place, look_at, &j}, &request));
            CHECK_EQ_INT(ferry_stream_wait(&request, NULL), refuser == root ? FERRY_OK : FERRY_ERR_FORMAT);
            CHECK_EQ_INT(j.checks, info->rank != root);
            drop(&j.box);
            free(data);
            cast_works(ctx, info);
        }
}

/* Broadcasts, messages and rounds in turn, with ranks arriving at different times. */
static void mixed(ferry_context *ctx, const ferry_context_info *info)
{
    for (int i = 0; i < 20; i++) {
        const int root = i % info->size, next = (root + 1) % info->size;
        const size_t bytes = (size_t)i * 9001;
        inbox box = {NULL, 0, false, 0};
        CHECK_OK(cast(ctx, bytes, (unsigned)i, root, &box));
        CHECK(info->rank == root || holds(&box, bytes, (unsigned)i));
        drop(&box);
        if (info->rank == root && next != root)
            CHECK_OK(send(ctx, bytes, (unsigned)i, next, 1));
        if (info->rank == next && next != root)
            receive(ctx, bytes, (unsigned)i, root, i % 2 ? 1 : FERRY_STREAM_ANY);
    }
}

static void (*const parts[])(ferry_context *ctx, const ferry_context_info *info) = {
    sizes_between_all_pairs, to_itself,        tags_out_of_order, many_senders, both_ways_at_once,
    long_both_ways,          no_room,          beside_a_round,    refuse_arguments,
    cast_all_sizes,          cast_no_room,     cast_roots_differ, cast_bad_arguments, cast_checked, mixed,
};

void check_stream(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        parts[i](ctx, &info);
        MPI_Barrier(MPI_COMM_WORLD); /* a receive from anybody must not get a message of the next part */
    }
    if (info.size > 1) {
        time_runs_out(&info);
        time_runs_out_in_broadcast(&info);
    }
}
