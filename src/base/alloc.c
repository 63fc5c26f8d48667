/* Counted allocation on the C library's heap, with a switch that lets one allocation fail for
 * tests. */
#include "base/alloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/trouble.h"

static atomic_uint_least64_t made;
static atomic_uint_least64_t fail_in; /* allocations until one fails; 0: none will */

static bool fails_now(void)
{
    uint_least64_t left = atomic_load(&fail_in);

    while (left > 0)
        if (atomic_compare_exchange_weak(&fail_in, &left, left - 1))
            return left == 1;
    return false;
}

static ferry_status out_of_memory(size_t count, size_t bytes)
{
    return trouble(FERRY_ERR_MEMORY, "could not allocate %zu objects of %zu bytes", count, bytes);
}

ferry_status alloc_zero(size_t count, size_t bytes, void *pointer_out)
{
    size_t total;

    if (!size_mul(count, bytes, &total) || fails_now())
        return out_of_memory(count, bytes);
    void *const fresh = calloc(1, size_max(total, 1));
    if (!fresh)
        return out_of_memory(count, bytes);
    alloc_count_one();
    memcpy(pointer_out, &fresh,
           sizeof fresh); /* the caller's T * is not a void * to the compiler */
    return FERRY_OK;
}

ferry_status alloc_resize(size_t count, size_t bytes, void *pointer_inout)
{
    void *old, *fresh;
    size_t total;

    if (!size_mul(count, bytes, &total) || fails_now())
        return out_of_memory(count, bytes);
    memcpy(&old, pointer_inout, sizeof old);
    fresh = realloc(old, size_max(total, 1));
    if (!fresh)
        return out_of_memory(count, bytes);
    alloc_count_one();
    memcpy(pointer_inout, &fresh, sizeof fresh);
    return FERRY_OK;
}

void alloc_free(void *pointer)
{
    free(pointer);
}

static struct {
    pthread_mutex_t lock;
    void **pointers;
    size_t count;
} abandoned = {.lock = PTHREAD_MUTEX_INITIALIZER};

void alloc_abandon(void *pointer)
{
    if (!pointer)
        return;
    pthread_mutex_lock(&abandoned.lock);
    void **const longer =
        realloc(abandoned.pointers, (abandoned.count + 1) * sizeof *abandoned.pointers);
    if (longer) {
        abandoned.pointers = longer;
        abandoned.pointers[abandoned.count++] = pointer;
    }
    pthread_mutex_unlock(&abandoned.lock);
}

uint64_t alloc_count(void)
{
    return atomic_load_explicit(&made, memory_order_relaxed);
}

void alloc_count_one(void)
{
    atomic_fetch_add_explicit(&made, 1, memory_order_relaxed);
}

void alloc_fail_at(uint64_t n)
{
    atomic_store(&fail_in, n);
}
