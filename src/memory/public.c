/* Memory for blocks that peers read: a piece of the arena, or private pages where there is none. */
#include <string.h>

#include "base/alloc.h"
#include "base/sys.h"
#include "base/trouble.h"
#include "ferry/memory.h"
#include "memory/arena.h"
#include "memory/pages.h"
#include "memory/pool.h"

/* Stands right before private memory. */
typedef struct private_front {
    void *data;
    size_t bytes;
} private_front;

ferry_status ferry_memory_alloc(ferry_context *ctx, size_t bytes, void **data_out)
{
    void *data = NULL;
    ferry_status st = context_usable(ctx, "ferry_memory_alloc");

    if (st != FERRY_OK)
        return st;
    if (!data_out)
        return trouble(FERRY_ERR_ARG, "ferry_memory_alloc: data_out is NULL");
    if (ctx->arena && memory_take_shared(ctx, bytes, data_out) == FERRY_OK)
        return FERRY_OK; /* a small /dev/shm may be full while the machine has memory */
    /* What to unmap is kept in front, where it does not disturb the alignment. */
    const size_t front = bytes >= HUGE_BYTES ? HUGE_BYTES : PAGE_BYTES;
    size_t whole = 0;
    if (bytes > SIZE_MAX - front || pages_map(front + bytes, &data, &whole) != FERRY_OK)
        return trouble(FERRY_ERR_MEMORY,
                       "%zu bytes of memory cannot be had, the machine has %llu left", bytes,
                       (unsigned long long)sys_memory_free());
    st = pages_populate((char *)data + front, whole - front);
    if (st != FERRY_OK) {
        pages_unmap(data, whole);
        return st;
    }
    ((private_front *)((char *)data + front))[-1] = (private_front){.data = data, .bytes = whole};
    *data_out = (char *)data + front;
    return FERRY_OK;
}

void ferry_memory_free(ferry_context *ctx, void *data)
{
    if (!ctx || !data)
        return;
    if (memory_offset(ctx, data) != MEMORY_PRIVATE) {
        memory_give_shared(ctx, data);
        return;
    }
    const private_front front = ((const private_front *)data)[-1];
    pages_unmap(front.data, front.bytes);
}
