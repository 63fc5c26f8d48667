/* The envelope queue, with threads in place of ranks: every message of every writer arrives once, whole, and in the
 * order of its writer. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "plan/inbox.h"
#include "unit/check.h"

enum { WRITERS = 4, EACH = 30000 };

typedef struct writer {
    inbox_shared *shared;
    int number;
} writer;

static size_t length_of(int number, int message)
{
    return (size_t)((message * 37 + number * 101) % (message % 64 ? 60 : INBOX_INLINE + 1));
}

static void *write_all(void *what)
{
    const writer *const w = what;
    const inbox peer = {w->shared, 0};

    for (int k = 0; k < EACH; k++) {
        const size_t length = length_of(w->number, k);
        uint64_t position;
        inbox_cell *cell;
        while ((cell = inbox_claim(&peer, &position)) == NULL)
            sched_yield();
        cell->head = (inbox_head){.bytes = length, .number = (uint64_t)k, .from = w->number};
        memset(cell->data, k % 256, length);
        inbox_publish(cell, position);
    }
    return NULL;
}

static bool is_whole(const inbox_cell *cell)
{
    const int number = cell->head.from, message = (int)cell->head.number;

    if (cell->head.bytes != length_of(number, message))
        return false;
    for (size_t i = 0; i < cell->head.bytes; i++)
        if ((unsigned char)cell->data[i] != message % 256)
            return false;
    return true;
}

static inbox_shared *make(void)
{
    inbox_shared *const shared = aligned_alloc(INBOX_CELL_BYTES, sizeof *shared);

    memset(shared, 0, sizeof *shared);
    for (uint64_t i = 0; i < INBOX_CELLS; i++)
        atomic_init(&shared->cells[i].turn, i);
    return shared;
}

static void many_writers(void **state)
{
    inbox own = {make(), 0};
    writer writers[WRITERS];
    pthread_t threads[WRITERS];
    int next[WRITERS] = {0}, wrong = 0;

    (void)state;
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){own.shared, i};
        assert_int_equal(pthread_create(&threads[i], NULL, write_all, &writers[i]), 0);
    }
    for (int taken = 0; taken < WRITERS * EACH;) {
        const inbox_cell *const cell = inbox_look(&own);
        if (!cell) {
            sched_yield();
            continue;
        }
        wrong += !is_whole(cell) || (int)cell->head.number != next[cell->head.from]++;
        inbox_emptied(&own);
        taken++;
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
    assert_null(inbox_look(&own));
    free(own.shared);
}

static void full_and_empty(void **state)
{
    inbox own = {make(), 0};
    uint64_t position = 0;

    (void)state;
    assert_null(inbox_look(&own));
    for (int k = 0; k < INBOX_CELLS; k++) {
        inbox_cell *const cell = inbox_claim(&own, &position);
        assert_non_null(cell);
        if (k < 2) /* nothing before it is there */
            assert_null(inbox_look(&own));
        inbox_publish(cell, position);
        if (k > 0)
            continue;
        assert_non_null(inbox_look(&own));
        inbox_emptied(&own);
    }
    assert_non_null(inbox_claim(&own, &position));
    assert_null(inbox_claim(&own, &position));
    free(own.shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(full_and_empty), cmocka_unit_test(many_writers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
