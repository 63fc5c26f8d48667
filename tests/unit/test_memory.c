/* The books of shared memory against a map of every byte, and the pool of private memory. */
#include "unit/check.h"

#include <pthread.h>

#include "base/alloc.h"
#include "memory/heap.h"
#include "memory/pool.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };

/* ---- The heap ---- */

static memory_heap *heap_of(size_t bytes)
{
    memory_heap *heap = NULL;

    check_ok(heap_make(bytes, &heap));
    return heap;
}

static void heap_takes_what_fits(void **state)
{
    memory_heap *heap = heap_of(100);
    size_t at = 777;
    (void)state;

    assert_false(heap_take(heap, 101, 1, &at));
    assert_int_equal(at, 777);
    assert_true(heap_take(heap, 100, 1, &at));
    assert_int_equal(at, 0);
    assert_false(heap_take(heap, 1, 1, &at));
    assert_int_equal(heap_give(heap, 0), 100);
    assert_true(heap_take(heap, 10, 1, &at));
    assert_true(heap_take(heap, 10, 64, &at));
    assert_int_equal(at, 64);
    assert_true(heap_take(heap, 54, 1, &at)); /* the gap before it */
    assert_int_equal(at, 10);
    assert_false(heap_take(heap, 27, 1, &at));
    assert_true(heap_take(heap, 26, 1, &at));
    assert_int_equal(at, 74);
    heap_drop(heap);
}

static void heap_gives_only_what_was_taken(void **state)
{
    memory_heap *heap = heap_of(1000);
    size_t a = 0, b = 0;
    (void)state;

    assert_int_equal(heap_give(heap, 0), 0);
    assert_true(heap_take(heap, 100, 1, &a));
    assert_true(heap_take(heap, 200, 1, &b));
    assert_int_equal(heap_give(heap, a + 1), 0);
    assert_int_equal(heap_give(heap, b + 50), 0);
    assert_int_equal(heap_give(heap, 5000), 0);
    assert_int_equal(heap_give(heap, b), 200);
    assert_int_equal(heap_give(heap, b), 0);
    assert_int_equal(heap_give(heap, a), 100);
    assert_true(heap_take(heap, 1000, 1, &a)); /* all in one piece again */
    heap_drop(heap);
    heap_drop(NULL);
}

typedef struct taken {
    size_t offset, bytes;
} taken;

static bool is_free(const char *map, size_t offset, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (map[offset + i])
            return false;
    return true;
}

/* Is there a free place that the heap ought to have found? */
static bool has_place(const char *map, size_t whole, size_t bytes, size_t align)
{
    for (size_t at = 0; at + bytes <= whole; at += align)
        if (is_free(map, at, bytes))
            return true;
    return false;
}

static void heap_against_a_map(void **state)
{
    enum { WHOLE = 4096, STEPS = 4000, MOST = 200 };
    static char map[WHOLE];
    static taken list[MOST];
    size_t count = 0;
    memory_heap *heap = heap_of(WHOLE);
    (void)state;

    check_seed(check_seed_from_environment("heap"));
    for (int step = 0; step < STEPS; step++) {
        if (count < MOST && check_between(0, 99) < 55) {
            const size_t bytes = (size_t)check_between(1, 120), align = (size_t)1 << check_between(0, 8);
            size_t at = 0;
            const bool got = heap_take(heap, bytes, align, &at);
            assert_int_equal(got, has_place(map, WHOLE, bytes, align));
            if (!got)
                continue;
            assert_int_equal(at % align, 0);
            assert_true(at + bytes <= WHOLE && is_free(map, at, bytes));
            memset(map + at, 1, bytes);
            list[count++] = (taken){at, bytes};
        } else if (count > 0) {
            const size_t i = (size_t)check_between(0, (int64_t)count - 1);
            assert_int_equal(heap_give(heap, list[i].offset), list[i].bytes);
            memset(map + list[i].offset, 0, list[i].bytes);
            list[i] = list[--count];
        }
    }
    heap_drop(heap);
}

/* Without memory for the books nothing is taken, and nothing is lost. */
static void heap_without_memory(void **state)
{
    memory_heap *heap = NULL;
    size_t at = 0;
    bool failed = false;
    (void)state;

    for (uint64_t n = 1; n <= 2; n++) {
        alloc_fail_at(n);
        assert_int_equal(heap_make(10, &heap), FERRY_ERR_MEMORY);
        assert_null(heap);
    }
    alloc_fail_at(0);
    heap = heap_of(1000);
    for (int i = 0; i < 40; i++) {
        alloc_fail_at(1);
        failed |= !heap_take(heap, 1, 1, &at);
        alloc_fail_at(0);
    }
    assert_true(failed);
    assert_true(heap_take(heap, 900, 1, &at));
    heap_drop(heap);
}

/* ---- The pool ---- */

static void *take(size_t bytes)
{
    void *data = NULL;

    check_ok(ferry_memory_take(bytes, &data));
    assert_non_null(data);
    assert_int_equal((uintptr_t)data % 64, 0);
    memset(data, 0x77, bytes);
    return data;
}

static int empty_pool(void **state)
{
    (void)state;
    setenv("FERRY_POOL", "64M", 1);
    check_ok(pool_bound(1));
    assert_int_equal(ferry_memory_trim(0), 0);
    assert_int_equal(pool_kept(), 0);
    return 0;
}

static void pool_reuses(void **state)
{
    void *first = take(3 * MIB);
    (void)state;

    ferry_memory_give(first);
    assert_true(pool_kept() >= 3 * MIB && pool_kept() < 6 * MIB);
    void *second = take(3 * MIB - 100); /* a little less will do */
    assert_ptr_equal(first, second);
    assert_int_equal(pool_kept(), 0);
    ferry_memory_give(second);
    void *third = take(200 * KIB); /* much too large a block is left for others */
    assert_ptr_not_equal(first, third);
    void *fourth = take(30 * MIB);
    assert_ptr_not_equal(first, fourth);
    assert_true(pool_kept() >= 3 * MIB);
    ferry_memory_give(third);
    ferry_memory_give(fourth);
    void *fifth = take(3 * MIB);
    assert_ptr_equal(first, fifth); /* the best fit of the three */
    ferry_memory_give(fifth);
}

static void pool_any_size(void **state)
{
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4095, 128 * KIB - 1, 128 * KIB, 128 * KIB + 1,
                                   MIB, 2 * MIB, 2 * MIB + 1};
    void *data[sizeof sizes / sizeof *sizes];
    (void)state;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        data[i] = take(sizes[i]);
        memset(data[i], (int)i, sizes[i]);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t k = 0; k < sizes[i]; k += sizes[i] > 8192 ? 4093 : 1)
            assert_int_equal(((char *)data[i])[k], i);
        ferry_memory_give(data[i]);
    }
    ferry_memory_give(NULL);
}

static void pool_keeps_to_its_bound(void **state)
{
    void *data[6];
    (void)state;

    setenv("FERRY_POOL", "10M", 1);
    check_ok(pool_bound(1));
    for (int i = 0; i < 6; i++)
        data[i] = take(3 * MIB);
    for (int i = 0; i < 6; i++) {
        ferry_memory_give(data[i]);
        assert_true(pool_kept() <= 10 * MIB);
    }
    assert_true(pool_kept() > 6 * MIB);
    void *newest = take(3 * MIB);
    assert_ptr_equal(newest, data[5]); /* the oldest were given up */
    ferry_memory_give(newest);
    assert_true(ferry_memory_trim(7 * MIB) <= 7 * MIB);
    assert_true(pool_kept() > 0);
    assert_int_equal(ferry_memory_trim(0), 0);
    assert_int_equal(pool_kept(), 0);
    void *larger = take(11 * MIB);
    ferry_memory_give(larger);
    assert_int_equal(pool_kept(), 0);
}

static void pool_refuses(void **state)
{
    void *data = (void *)0x1234;
    (void)state;

    check_fails(ferry_memory_take(1, NULL), FERRY_ERR_ARG, "data_out is NULL");
    check_fails(ferry_memory_take(SIZE_MAX, &data), FERRY_ERR_MEMORY, "cannot be had");
    check_fails(ferry_memory_take(SIZE_MAX / 2, &data), FERRY_ERR_MEMORY, "cannot be had");
    check_fails(ferry_memory_take((size_t)1 << 50, &data), FERRY_ERR_MEMORY, "the machine has");
    alloc_fail_at(1);
    assert_int_equal(ferry_memory_take(100, &data), FERRY_ERR_MEMORY);
    alloc_fail_at(0);
    assert_ptr_equal(data, (void *)0x1234);
    setenv("FERRY_POOL", "lots", 1);
    check_fails(pool_bound(1), FERRY_ERR_ARG, "FERRY_POOL is \"lots\"");
    setenv("FERRY_POOL", "12Q", 1);
    check_fails(pool_bound(1), FERRY_ERR_ARG, "expected auto or bytes");
    setenv("FERRY_POOL", "auto", 1);
    check_ok(pool_bound(4));
}

static void *take_and_give(void *argument)
{
    const size_t number = (size_t)(uintptr_t)argument;

    for (size_t i = 0; i < 300; i++) {
        const size_t bytes = 128 * KIB + (i * 7919 + number * 104729) % (512 * KIB);
        char *data = NULL;
        if (ferry_memory_take(bytes, (void **)&data) != FERRY_OK)
            return "no memory";
        data[0] = data[bytes - 1] = (char)number;
        if (i % 10 == 0)
            ferry_memory_trim(MIB);
        if (data[0] != (char)number || data[bytes - 1] != (char)number)
            return "somebody else wrote here";
        ferry_memory_give(data);
    }
    return NULL;
}

static void pool_from_threads(void **state)
{
    pthread_t threads[4];
    void *trouble_found = NULL;
    (void)state;

    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_give, (void *)(uintptr_t)(i + 1)), 0);
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], &trouble_found);
        assert_null(trouble_found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_takes_what_fits),
        cmocka_unit_test(heap_gives_only_what_was_taken),
        cmocka_unit_test(heap_against_a_map),
        cmocka_unit_test(heap_without_memory),
        cmocka_unit_test_setup(pool_reuses, empty_pool),
        cmocka_unit_test_setup(pool_any_size, empty_pool),
        cmocka_unit_test_setup(pool_keeps_to_its_bound, empty_pool),
        cmocka_unit_test_setup(pool_refuses, empty_pool),
        cmocka_unit_test_setup(pool_from_threads, empty_pool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
