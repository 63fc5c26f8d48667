/* Bundles of one schema, broadcast again and again: values change, the schema is left out where that pays, and ranks
 * that have forgotten it get it again. */
#include "ferry/bundle.h"
#include "ferry/memory.h"
#include "mpi/plan.h"
#include "mpi/samples.h"

enum { ROUNDS = 8, ENTRIES = 400 };

/* A schema of each context's own: what a root believes of others lasts longer than contexts. */
static int schema;

/* Many small values under keys that take more room than they do. */
static ferry_bundle *make(int round)
{
    ferry_bundle *b = NULL, *inner = NULL;
    char key[40];

    CHECK_OK(ferry_bundle_new(&b));
    CHECK_OK(ferry_bundle_new(&inner));
    for (int i = 0; i < ENTRIES; i++) {
        snprintf(key, sizeof key, "a rather long key, number %d", i);
        CHECK_OK(ferry_bundle_set_float64(i % 2 ? b : inner, key, i + 1000.0 * round));
    }
    CHECK_OK(ferry_bundle_set_bundle(b, "inner", inner));
    snprintf(key, sizeof key, "schema %d", schema);
    CHECK_OK(ferry_bundle_set_null(b, key));
    return b;
}

static ferry_bundle *other(void)
{
    ferry_bundle *b = make(0);

    CHECK_OK(ferry_bundle_set_int32(b, "one more", 1));
    return b;
}

static void cast(ferry_context *ctx, int rank, int root, int round)
{
    ferry_bundle *b = rank == root ? make(round) : NULL;

    CHECK_OK(ferry_bundle_bcast(ctx, &b, root));
    sample_check(b, make(round));
    ferry_bundle_free(b);
}

/* This process now knows another schema better. */
static void learn_other(void)
{
    ferry_bundle *const b = other();
    void *image = NULL;
    size_t bytes = 0;

    CHECK_OK(ferry_bundle_encode(b, &image, &bytes));
    for (int i = 0; i < 3; i++) {
        ferry_bundle *back = NULL;
        CHECK_OK(ferry_bundle_decode(image, bytes, &back));
        CHECK(ferry_bundle_equal(b, back));
        ferry_bundle_free(back);
    }
    ferry_memory_give(image);
    ferry_bundle_free(b);
}

static uint64_t sent(const ferry_context *ctx)
{
    ferry_counters c = {0};
    unsigned long long mine, all = 0;

    CHECK_OK(ferry_context_counters(ctx, &c));
    mine = c.wire_bytes;
    MPI_Allreduce(&mine, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void less_is_sent(ferry_context *ctx, const ferry_context_info *info)
{
    uint64_t first = 0, last = 0;

    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t before = sent(ctx);
        cast(ctx, info->rank, 0, round);
        last = sent(ctx) - before;
        first = round == 0 ? last : first;
    }
    if (info->node_count > 1)
        CHECK(last < first / 2);
    else
        CHECK_EQ_INT(last, first);
}

static void some_forget(ferry_context *ctx, const ferry_context_info *info)
{
    for (int round = 0; round < 3 * ROUNDS; round++) {
        cast(ctx, info->rank, round % info->size, round);
        if (round % 3 == 2 && info->rank == round % info->size)
            learn_other();
    }
}

/* A bundle that is sent again after changes of every kind arrives as it is then. */
static void changes_arrive(ferry_context *ctx, const ferry_context_info *info)
{
    ferry_bundle *b = info->rank == 0 ? make(0) : NULL, *expected = make(0);

    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < 2; k++) { /* the root's, and what all expect */
            ferry_bundle *const it = k ? expected : b, *inner = NULL, *notes = NULL;
            if (!k && info->rank != 0)
                continue;
            CHECK_OK(ferry_bundle_set_float64(it, "a rather long key, number 7", round));
            if (round == 3)
                CHECK_OK(ferry_bundle_set_string(it, "a rather long key, number 9", "text", 4));
            if (round == 5)
                CHECK_OK(ferry_bundle_remove(it, "a rather long key, number 11"));
            CHECK_OK(ferry_bundle_edit_bundle(it, "inner", &inner));
            if (round == 6)
                CHECK_OK(ferry_bundle_edit_attributes(inner, "a rather long key, number 4", &notes));
            CHECK_OK(ferry_bundle_set_float64(inner, "a rather long key, number 4", -round));
        }
        CHECK_OK(ferry_bundle_bcast(ctx, &b, 0));
        CHECK(ferry_bundle_equal(b, expected));
    }
    ferry_bundle_free(b);
    ferry_bundle_free(expected);
}

void check_bundle_again(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);

    schema++;
    less_is_sent(ctx, &info);
    some_forget(ctx, &info);
    changes_arrive(ctx, &info);
}
