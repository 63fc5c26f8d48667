/* A sorted array under a version number. Arrays grow by half and outgrown ones are kept until the
 * end, so all of them together take less than three times the largest. */
#include "memory/adopted.h"

#include <stdbool.h>

#include "base/alloc.h"

struct adopted_list {
    adopted_list *outgrown;
    size_t room;
    adopted_range ranges[];
};

enum { PATIENCE = 1000 };

static uintptr_t start_of(const adopted_range *range)
{
    return atomic_load_explicit(&range->start, memory_order_relaxed);
}

static void move_range(adopted_range *to, const adopted_range *from)
{
    atomic_store_explicit(&to->start, start_of(from), memory_order_relaxed);
    atomic_store_explicit(&to->bytes, atomic_load_explicit(&from->bytes, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&to->offset, atomic_load_explicit(&from->offset, memory_order_relaxed),
                          memory_order_relaxed);
}

/* How many of the first `count` ranges start at or below `address`. */
static size_t below(const adopted_range *ranges, size_t count, uintptr_t address)
{
    size_t low = 0;

    while (low < count) {
        const size_t middle = low + (count - low) / 2;
        if (start_of(&ranges[middle]) <= address)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

ferry_status adopted_reserve(memory_adopted *table)
{
    adopted_list *const old = atomic_load(&table->list);
    const size_t count = atomic_load(&table->count);
    adopted_list *grown = NULL;

    if (old && count < old->room)
        return FERRY_OK;
    const size_t room = count + count / 2 + 8;
    const ferry_status st = alloc_zero(1, sizeof *grown + room * sizeof *grown->ranges, &grown);
    if (st != FERRY_OK)
        return st;
    grown->outgrown = old;
    grown->room = room;
    for (size_t i = 0; i < count; i++)
        move_range(&grown->ranges[i], &old->ranges[i]);
    atomic_store_explicit(&table->list, grown, memory_order_release); /* says the same as before */
    return FERRY_OK;
}

static void begin_change(memory_adopted *table)
{
    atomic_fetch_add_explicit(&table->version, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void end_change(memory_adopted *table)
{
    atomic_fetch_add_explicit(&table->version, 1, memory_order_release);
}

void adopted_put(memory_adopted *table, const void *start, size_t bytes, uint64_t offset)
{
    adopted_range *const ranges = atomic_load(&table->list)->ranges;
    const size_t count = atomic_load(&table->count);
    const size_t at = below(ranges, count, (uintptr_t)start);
    const adopted_range fresh = {(uintptr_t)start, bytes, offset};

    begin_change(table);
    for (size_t i = count; i > at; i--)
        move_range(&ranges[i], &ranges[i - 1]);
    move_range(&ranges[at], &fresh);
    atomic_store_explicit(&table->count, count + 1, memory_order_relaxed);
    end_change(table);
}

void adopted_remove(memory_adopted *table, const void *start)
{
    const size_t count = atomic_load(&table->count);

    if (count == 0)
        return;
    adopted_range *const ranges = atomic_load(&table->list)->ranges;
    const size_t after = below(ranges, count, (uintptr_t)start);
    if (after == 0 || start_of(&ranges[after - 1]) != (uintptr_t)start)
        return;
    begin_change(table);
    for (size_t i = after; i < count; i++)
        move_range(&ranges[i - 1], &ranges[i]);
    atomic_store_explicit(&table->count, count - 1, memory_order_relaxed);
    end_change(table);
}

/* One look; what it finds counts only when nothing has changed meanwhile. */
static uint64_t look(const memory_adopted *table, uintptr_t address, size_t bytes)
{
    const size_t count = atomic_load_explicit(&table->count, memory_order_relaxed);
    adopted_list *const list = atomic_load_explicit(&table->list, memory_order_acquire);

    if (!list || count > list->room)
        return UINT64_MAX;
    const size_t after = below(list->ranges, count, address);
    if (after == 0)
        return UINT64_MAX;
    const adopted_range *const range = &list->ranges[after - 1];
    const size_t distance = address - start_of(range);
    const size_t whole = atomic_load_explicit(&range->bytes, memory_order_relaxed);
    if (distance > whole || bytes > whole - distance)
        return UINT64_MAX;
    return atomic_load_explicit(&range->offset, memory_order_relaxed) + distance;
}

uint64_t adopted_find(const memory_adopted *table, const void *address, size_t bytes)
{
    for (int i = 0; i < PATIENCE; i++) {
        const uint32_t before = atomic_load_explicit(&table->version, memory_order_acquire);
        const uint64_t found = look(table, (uintptr_t)address, bytes);
        atomic_thread_fence(memory_order_acquire);
        if (before % 2 == 0 &&
            atomic_load_explicit(&table->version, memory_order_relaxed) == before)
            return found;
    }
    return UINT64_MAX;
}

void adopted_drop(memory_adopted *table)
{
    adopted_list *list = atomic_load(&table->list);

    while (list) {
        adopted_list *const outgrown = list->outgrown;
        alloc_free(list);
        list = outgrown;
    }
}
