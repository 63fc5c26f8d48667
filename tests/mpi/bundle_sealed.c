/* Sealed bundles: read where the root has them, by ranks that cannot write to them; and every way back to an ordinary
 * broadcast. */
#include <errno.h>
#include <sys/mman.h>

#include "ferry/memory.h"
#include "mpi/samples.h"

enum { LARGE_ROWS = 60 /* 2 arrays of 300 KB */ };

static ferry_bundle *sealed_sample(int owner)
{
    ferry_bundle *const plain = sample_of(owner, LARGE_ROWS), *sealed = NULL;

    CHECK_OK(ferry_bundle_seal(plain, &sealed));
    CHECK(ferry_bundle_equal(plain, sealed));
    ferry_bundle_free(plain);
    return sealed;
}

static const void *data_of(const ferry_bundle *b)
{
    ferry_array array = {.data = NULL};

    CHECK_OK(ferry_bundle_get_array(b, "rows", FERRY_TYPE_FLOAT64, &array));
    return array.data;
}

/* The pages cannot be made writable. */
static bool is_read_only(const void *data)
{
    void *const page = (void *)((uintptr_t)data & ~(uintptr_t)4095);

    if (mprotect(page, 4096, PROT_READ | PROT_WRITE) != 0)
        return errno == EACCES;
    return false;
}

static uint64_t copied(const ferry_context *ctx)
{
    ferry_counters counters = {.copied_bytes = 0};

    CHECK_OK(ferry_context_counters(ctx, &counters));
    return counters.copied_bytes;
}

static void from_every_root(ferry_context *ctx, const ferry_context_info *me)
{
    for (int root = 0; root < me->size; root++) {
        ferry_bundle *b = me->rank == root ? sealed_sample(root) : root % 2 ? sample_old() : NULL;
        const uint64_t before = copied(ctx);
        CHECK_OK(ferry_bundle_bcast_sealed(ctx, &b, root));
        const uint64_t after = copied(ctx);
        sample_check(b, sample_of(root, LARGE_ROWS));
        if (me->node_count == 1 && me->size > 1) {
            CHECK(after - before < 10000);
            CHECK(is_read_only(data_of(b)));
        }
        if (me->rank == root) { /* others keep it */
            ferry_bundle_free(b);
            b = NULL;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (me->rank != root) {
            sample_check(b, sample_of(root, LARGE_ROWS));
            CHECK_OK(ferry_bundle_set_int32(b, "owner", 77)); /* values can be set */
            CHECK_OK(ferry_bundle_set_null(b, "rows"));
            ferry_bundle_free(b);
        }
    }
}

/* What was set after sealing is what arrives; and what was never sealed arrives too. */
static void changed_or_not_sealed(ferry_context *ctx, const ferry_context_info *me)
{
    for (int way = 0; way < 4; way++) {
        ferry_bundle *b = NULL, *inner = NULL, *expected = sample_of(0, LARGE_ROWS);
        if (me->rank == 0)
            b = way == 3 ? sample_of(0, LARGE_ROWS) : sealed_sample(0);
        for (int which = 0; which < 2; which++) {
            ferry_bundle *const at = which ? expected : b;
            if (!at)
                continue;
            if (way == 0)
                CHECK_OK(ferry_bundle_set_int32(at, "owner", 4711));
            if (way == 1)
                CHECK_OK(ferry_bundle_remove(at, "columns"));
            if (way == 2) {
                CHECK_OK(ferry_bundle_edit_bundle(at, "inner", &inner));
                CHECK_OK(ferry_bundle_set_string(inner, "nul", "A\0B", 3));
            }
        }
        CHECK_OK(ferry_bundle_bcast_sealed(ctx, &b, 0));
        CHECK(ferry_bundle_equal(b, expected));
        CHECK_OK(ferry_bundle_bcast_sealed(ctx, &b, me->size - 1)); /* passed on by one that received it */
        sample_check(b, expected);
        ferry_bundle_free(b);
    }
}

static void that_fail(ferry_context *ctx, const ferry_context_info *me)
{
    for (int odd = 0; odd < me->size; odd++) {
        ferry_bundle *b = sealed_sample(me->rank), *none = NULL;
        const bool bad = me->rank == odd;
        CHECK_EQ_INT(ferry_bundle_bcast_sealed(ctx, bad ? &none : &b, odd), FERRY_ERR_ARG);
        CHECK_DETAIL("NULL at the root");
        check_same_detail();
        CHECK_EQ_INT(ferry_bundle_bcast_sealed(ctx, bad ? NULL : &b, 0), FERRY_ERR_ARG);
        check_same_detail();
        CHECK_EQ_INT(ferry_bundle_bcast_sealed(ctx, &b, me->size), FERRY_ERR_ARG);
        if (me->size > 1)
            CHECK_EQ_INT(ferry_bundle_bcast_sealed(ctx, &b, bad ? 0 : me->size - 1), FERRY_ERR_ARG);
        sample_check(b, sample_of(me->rank, LARGE_ROWS));
        CHECK_OK(ferry_bundle_bcast_sealed(ctx, &b, 0));
        sample_check(b, sample_of(0, LARGE_ROWS));
        ferry_bundle_free(b);
    }
    ferry_bundle *sealed = NULL;
    CHECK_EQ_INT(ferry_bundle_seal(NULL, &sealed), FERRY_ERR_ARG);
    ferry_bundle *const plain = sample_empty();
    CHECK_EQ_INT(ferry_bundle_seal(plain, NULL), FERRY_ERR_ARG);
    ferry_bundle_free(plain);
}

/* A sealed bundle as the place of a message becomes an ordinary one. */
static void into_a_sealed_one(ferry_context *ctx, const ferry_context_info *me)
{
    ferry_bundle *const b = sealed_sample(0), *const mine = sample_of(0, LARGE_ROWS);

    CHECK_OK(ferry_bundle_set_int32(mine, "owner", 5));
    CHECK_OK(ferry_bundle_bcast_into(ctx, me->rank == 0 ? mine : b, 0));
    if (me->rank > 0) {
        CHECK(ferry_bundle_equal(b, mine));
        CHECK(!is_read_only(data_of(b)));
    }
    ferry_bundle_free(b);
    ferry_bundle_free(mine);
}

/* --- the memory itself --- */

static void tickets(void)
{
    ferry_sealed *sealed = NULL, *mapped = NULL;
    void *data = NULL;
    const void *fixed = NULL, *seen = NULL;
    ferry_ticket ticket, wrong;

    CHECK_OK(ferry_sealed_create(10000, &sealed, &data));
    memset(data, 'x', 10000);
    CHECK_EQ_INT(ferry_sealed_offer(sealed, &ticket), FERRY_ERR_STATE);
    CHECK_OK(ferry_sealed_close(sealed, &fixed));
    CHECK_EQ_INT(ferry_sealed_close(sealed, &fixed), FERRY_ERR_STATE);
    CHECK(is_read_only(fixed));
    CHECK_OK(ferry_sealed_offer(sealed, &ticket));
    CHECK_OK(ferry_sealed_open(&ticket, &mapped, &seen));
    CHECK(seen != fixed && is_read_only(seen) && memcmp(seen, fixed, 10000) == 0);
    CHECK_EQ_INT(ferry_sealed_offer(mapped, &wrong), FERRY_ERR_STATE);
    ferry_sealed_free(sealed);
    CHECK(((const char *)seen)[9999] == 'x');
    ferry_sealed_free(mapped);
    mapped = NULL;
    CHECK_EQ_INT(ferry_sealed_open(&ticket, &mapped, &seen), FERRY_ERR_SYSTEM); /* gone */
    CHECK_OK(ferry_sealed_create(10000, &sealed, &data));
    CHECK_OK(ferry_sealed_close(sealed, &fixed));
    CHECK_OK(ferry_sealed_offer(sealed, &ticket));
    for (int i = 0; i < 4; i++) {
        wrong = ticket;
        wrong.inode += i == 0;
        wrong.bytes += i == 1;
        wrong.machine[0] ^= i == 2;
        wrong.file += i == 3 ? 1000 : 0;
        CHECK_EQ_INT(ferry_sealed_open(&wrong, &mapped, &seen), FERRY_ERR_SYSTEM);
        CHECK(mapped == NULL);
    }
    CHECK_EQ_INT(ferry_sealed_open(NULL, &mapped, &seen), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_sealed_create(0, &mapped, &data), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_sealed_create((size_t)1 << 60, &mapped, &data), FERRY_ERR_MEMORY);
    CHECK(mapped == NULL);
    ferry_sealed_free(sealed);
    ferry_sealed_free(NULL);
}

void check_bundle_sealed(ferry_context *ctx)
{
    ferry_context_info me;

    CHECK_OK(ferry_context_describe(ctx, &me));
    tickets();
    from_every_root(ctx, &me);
    changed_or_not_sealed(ctx, &me);
    that_fail(ctx, &me);
    into_a_sealed_one(ctx, &me);
}
