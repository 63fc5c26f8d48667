/* The table of adopted blocks: what is found in it, also while another thread changes it. */
#include "unit/check.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/alloc.h"
#include "memory/adopted.h"

enum { PAGE = 4096, BLOCKS = 200 };

static void *at(size_t address)
{
    return (void *)(uintptr_t)address;
}

/* Block i: i + 1 pages at 1000 pages times i + 1, at offset 7 pages times its number. */
static size_t start_of(size_t i)
{
    return (i + 1) * 1000 * PAGE;
}

static void put(memory_adopted *table, size_t i)
{
    check_ok(adopted_reserve(table));
    adopted_put(table, at(start_of(i)), (i + 1) * PAGE, i * 7 * PAGE);
}

static void finds_what_lies_inside(void **state)
{
    memory_adopted table = {0};
    (void)state;

    assert_true(adopted_find(&table, at(PAGE), 0) == UINT64_MAX);
    for (size_t i = 0; i < BLOCKS; i++)
        put(&table, i * 77 % BLOCKS); /* in no order */
    for (size_t i = 0; i < BLOCKS; i++) {
        const size_t start = start_of(i), bytes = (i + 1) * PAGE;
        assert_true(adopted_find(&table, at(start), bytes) == i * 7 * PAGE);
        assert_true(adopted_find(&table, at(start + 5), bytes - 5) == i * 7 * PAGE + 5);
        assert_true(adopted_find(&table, at(start + bytes - 1), 1) == i * 7 * PAGE + bytes - 1);
        assert_true(adopted_find(&table, at(start + bytes), 0) == i * 7 * PAGE + bytes);
        assert_true(adopted_find(&table, at(start), bytes + 1) == UINT64_MAX);
        assert_true(adopted_find(&table, at(start + 5), bytes - 4) == UINT64_MAX);
        assert_true(adopted_find(&table, at(start + bytes), 1) == UINT64_MAX);
        assert_true(adopted_find(&table, at(start - 1), 1) == UINT64_MAX);
        assert_true(adopted_find(&table, at(start + 1), SIZE_MAX) == UINT64_MAX);
    }
    for (size_t i = 0; i < BLOCKS; i += 2)
        adopted_remove(&table, at(start_of(i)));
    adopted_remove(&table, at(start_of(1) + 1)); /* no start */
    adopted_remove(&table, at(1));
    for (size_t i = 0; i < BLOCKS; i++)
        assert_true(adopted_find(&table, at(start_of(i)), 1) == (i % 2 ? i * 7 * PAGE : UINT64_MAX));
    adopted_drop(&table);
}

static void without_memory(void **state)
{
    memory_adopted table = {0};
    (void)state;

    alloc_fail_at(1);
    assert_int_equal(adopted_reserve(&table), FERRY_ERR_MEMORY);
    alloc_fail_at(0);
    put(&table, 3);
    assert_true(adopted_find(&table, at(start_of(3)), 1) == 3 * 7 * PAGE);
    adopted_drop(&table);
}

typedef struct reader {
    memory_adopted *table;
    atomic_bool stop;
    atomic_size_t looks, lies;
} reader;

/* Block 50 is always there; the others come and go. */
static void *read_on(void *argument)
{
    reader *const r = argument;

    while (!atomic_load(&r->stop)) {
        const uint64_t found = adopted_find(r->table, at(start_of(50) + 9), 100);
        const size_t other = atomic_fetch_add(&r->looks, 1) % BLOCKS;
        const uint64_t maybe = adopted_find(r->table, at(start_of(other)), 1);
        if (found != 50 * 7 * PAGE + 9 && found != UINT64_MAX) /* which would be allowed, after many tries */
            atomic_fetch_add(&r->lies, 1);
        if (maybe != other * 7 * PAGE && maybe != UINT64_MAX)
            atomic_fetch_add(&r->lies, 1);
    }
    return NULL;
}

static void while_it_changes(void **state)
{
    memory_adopted table = {0};
    reader r = {.table = &table};
    pthread_t thread;
    (void)state;

    put(&table, 50);
    assert_int_equal(pthread_create(&thread, NULL, read_on, &r), 0);
    for (int cycle = 0; cycle < 50 || atomic_load(&r.looks) < 100000; cycle++) {
        for (size_t i = 0; i < BLOCKS; i++)
            if (i != 50)
                put(&table, i);
        for (size_t i = 0; i < BLOCKS; i++)
            if (i != 50)
                adopted_remove(&table, at(start_of(i)));
    }
    atomic_store(&r.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(atomic_load(&r.lies), 0);
    assert_true(adopted_find(&table, at(start_of(50)), 1) == 50 * 7 * PAGE);
    adopted_drop(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_lies_inside),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(while_it_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
