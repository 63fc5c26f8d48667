/* First fit. Extents cover the whole range, in order, and no two free ones are neighbours. */
#include "memory/heap.h"

#include <string.h>

#include "base/alloc.h"
#include "base/size.h"

typedef struct extent {
    size_t offset, bytes;
    bool used;
} extent;

struct memory_heap {
    extent *extents;
    size_t count, room;
};

ferry_status heap_make(size_t bytes, memory_heap **heap_out)
{
    memory_heap *heap = NULL;
    ferry_status st = alloc_zero(1, sizeof *heap, &heap);

    if (st != FERRY_OK)
        return st;
    heap->room = 16;
    st = alloc_zero(heap->room, sizeof *heap->extents, &heap->extents);
    if (st != FERRY_OK) {
        alloc_free(heap);
        return st;
    }
    heap->extents[0] = (extent){.offset = 0, .bytes = bytes};
    heap->count = 1;
    *heap_out = heap;
    return FERRY_OK;
}

void heap_drop(memory_heap *heap)
{
    if (!heap)
        return;
    alloc_free(heap->extents);
    alloc_free(heap);
}

static bool make_room(memory_heap *heap, size_t more)
{
    if (heap->count + more <= heap->room)
        return true;
    if (alloc_resize(heap->room * 2, sizeof *heap->extents, &heap->extents) != FERRY_OK)
        return false;
    heap->room *= 2;
    return true;
}

/* Cut extent `at` after `bytes`: the rest becomes an extent of its own. There is room. */
static void cut(memory_heap *heap, size_t at, size_t bytes)
{
    extent *const e = &heap->extents[at];

    if (bytes == 0 || bytes == e->bytes)
        return;
    memmove(e + 2, e + 1, (heap->count - at - 1) * sizeof *e);
    e[1] = (extent){.offset = e->offset + bytes, .bytes = e->bytes - bytes, .used = e->used};
    e->bytes = bytes;
    heap->count++;
}

bool heap_take(memory_heap *heap, size_t bytes, size_t align, size_t *offset_out)
{
    if (!make_room(heap, 2))
        return false;
    for (size_t i = 0; i < heap->count; i++) {
        const extent *const e = &heap->extents[i];
        const size_t gap = size_round(e->offset, align) - e->offset;
        if (e->used || e->bytes < gap || e->bytes - gap < bytes)
            continue;
        cut(heap, i, gap);
        if (gap)
            i++;
        cut(heap, i, bytes);
        heap->extents[i].used = true;
        *offset_out = heap->extents[i].offset;
        return true;
    }
    return false;
}

/* Join extent `at` with the next one when both are free. */
static void join(memory_heap *heap, size_t at)
{
    extent *const e = &heap->extents[at];

    if (at + 1 >= heap->count || e[0].used || e[1].used)
        return;
    e->bytes += e[1].bytes;
    memmove(e + 1, e + 2, (heap->count - at - 2) * sizeof *e);
    heap->count--;
}

size_t heap_give(memory_heap *heap, size_t offset)
{
    size_t low = 0, high = heap->count;

    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (heap->extents[middle].offset <= offset)
            low = middle;
        else
            high = middle;
    }
    if (heap->extents[low].offset != offset || !heap->extents[low].used)
        return 0;
    const size_t bytes = heap->extents[low].bytes;
    heap->extents[low].used = false;
    join(heap, low);
    if (low > 0)
        join(heap, low - 1);
    return bytes;
}
