/* Which kernel serves which shape. The sets stand in a row, each better than the one before; a
 * look-up begins at the set in use and goes back until a table has an answer. The set in use is the
 * best one that the CPU has and FERRY_CPU allows, found at first use. Nothing here knows what a
 * kernel does inside. */
#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#  include <immintrin.h>
#endif

#include "base/log.h"
#include "base/setting.h"
#include "kernels/sets.h"
#include "kernels/turn.h"

static const kernel_set *const sets[] = {
    &kernels_scalar,
#if defined(__x86_64__)
    &kernels_avx2,
    &kernels_avx512,
#elif defined(__aarch64__)
    &kernels_neon,
#endif
};

/* What FERRY_CPU may say besides: the sets of this kind of CPU. */
#if defined(__x86_64__)
#  define SET_WORDS "avx2 or avx512"
#else
#  define SET_WORDS "or neon on 64-bit Arm"
#endif

enum {
    SETS = sizeof sets / sizeof sets[0],
    STREAM_LEAST = 4096, /* bytes; a shorter copy is over before streaming pays */
    CACHE_DEFAULT = 16 << 20,
    CACHE_SHARE = 4,
    STREAM_MOST = 8 << 20 /* a guest may be told of the whole host's cache */
};

/* Index of the set in use plus one; 0: not chosen. Threads that choose at once choose alike. */
static atomic_int chosen;

static int best_set(int last)
{
    while (last > 0 && !sets[last]->usable())
        last--;
    return last;
}

/* The highest set that FERRY_CPU allows. */
static int last_allowed(void)
{
    const char *const word = setting_text(SETTING_CPU);

    if (!strcmp(word, "auto"))
        return SETS - 1;
    for (int i = 0; i < SETS; i++)
        if (!strcmp(word, sets[i]->name))
            return i;
    log_line(LOG_WARN, "FERRY_CPU is \"%s\": expected auto, scalar, " SET_WORDS "; auto is used",
             word);
    return SETS - 1;
}

static int set_in_use(void)
{
    int index = atomic_load_explicit(&chosen, memory_order_relaxed);

    if (index == 0) {
        index = 1 + best_set(last_allowed());
        atomic_store_explicit(&chosen, index, memory_order_relaxed);
    }
    return index - 1;
}

/* Dense on both sides: one copy. */
static void runs_dense(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                       ptrdiff_t src_stride, size_t count, size_t run)
{
    (void)dst_stride, (void)src_stride;
    memcpy(dst, src, count * run);
}

static kernel_runs *find_runs(const kernel_set *set, size_t run, int dense_src, int dense_dst)
{
    for (const runs_entry *entry = set->runs; entry->most; entry++) {
        kernel_runs *const kernel = dense_dst   ? entry->gather
                                    : dense_src ? entry->scatter
                                                : entry->strided;
        if (kernel && entry->least <= run && run <= entry->most)
            return kernel;
    }
    return NULL;
}

kernel_runs *kernels_runs(size_t run, int dense_src, int dense_dst)
{
    kernel_runs *kernel = dense_src && dense_dst ? runs_dense : NULL;

    for (int i = set_in_use(); !kernel; i--)
        kernel = find_runs(sets[i], run, dense_src, dense_dst);
    return kernel;
}

static kernel_tile *find_tile(const kernel_set *set, size_t element)
{
    for (const tile_entry *entry = set->tiles; entry->most; entry++)
        if (entry->least <= element && element <= entry->most)
            return entry->kernel;
    return NULL;
}

kernel_tile *kernels_tile(size_t element)
{
    kernel_tile *kernel = NULL;

    for (int i = set_in_use(); !kernel; i--)
        kernel = find_tile(sets[i], element);
    return kernel;
}

kernel_runs *kernels_scalar_runs(size_t run, int dense_src, int dense_dst)
{
    return find_runs(&kernels_scalar, run, dense_src, dense_dst);
}

kernel_tile *kernels_scalar_tile(size_t element)
{
    return find_tile(&kernels_scalar, element);
}

static kernel_copy *find_streamed(void)
{
    kernel_copy *streamed = NULL;

    for (int i = set_in_use(); i >= 0 && !streamed; i--)
        streamed = sets[i]->copy_streamed;
    return streamed;
}

void kernels_copy(char *restrict dst, const char *restrict src, size_t bytes, int stream)
{
    kernel_copy *const streamed = stream && bytes >= STREAM_LEAST ? find_streamed() : NULL;

    if (streamed)
        streamed(dst, src, bytes);
    else
        memcpy(dst, src, bytes);
}

kernel_runs *kernels_runs_streamed(size_t run)
{
    kernel_runs *streamed = NULL;

    for (int i = set_in_use(); i >= 0 && !streamed && run > 0 && run % TURN_LINE == 0; i--)
        streamed = sets[i]->runs_streamed;
    return streamed;
}

void kernels_fence(void)
{
#if defined(__x86_64__)
    _mm_sfence();
#else
    atomic_thread_fence(memory_order_release);
#endif
}

static size_t last_cache_bytes(void)
{
    long bytes = 0;

#if defined(_SC_LEVEL3_CACHE_SIZE)
    bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
    return bytes > 0 ? (size_t)bytes : CACHE_DEFAULT;
}

size_t kernels_stream_bytes(void)
{
    static atomic_size_t known;
    size_t bytes = atomic_load_explicit(&known, memory_order_relaxed);

    if (bytes == 0) {
        bytes = last_cache_bytes() / CACHE_SHARE;
        bytes = bytes < STREAM_MOST ? bytes : STREAM_MOST;
        atomic_store_explicit(&known, bytes, memory_order_relaxed);
    }
    return bytes;
}

const char *kernels_name(void)
{
    return sets[set_in_use()]->name;
}

const char *kernels_set(int index)
{
    for (int i = 0; i < SETS; i++)
        if (sets[i]->usable() && index-- == 0)
            return sets[i]->name;
    return NULL;
}

void kernels_use(int index)
{
    for (int i = 0; i < SETS; i++)
        if (sets[i]->usable() && index-- == 0) {
            atomic_store_explicit(&chosen, i + 1, memory_order_relaxed);
            return;
        }
    assert(!"a set that this CPU has");
}
