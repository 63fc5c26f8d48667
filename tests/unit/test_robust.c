/* What must hold at the edges: a million keys, the deepest tree on a small stack. */
#include "unit/sample.h"

#include <pthread.h>

#include "bundle/index.h"
#include "ferry/bundle_path.h"

#if defined(__SANITIZE_ADDRESS__)
enum { STACK = 2 << 20 }; /* its frames are many times larger */
#else
enum { STACK = 256 << 10 };
#endif

/* --- many keys --- */

/* Probes for `count` keys from `first` on, each of which is there or not. */
static size_t count_probes(const ferry_bundle *b, int first, int count, bool there)
{
    size_t probes = 0;
    char key[24];

    for (int i = first; i < first + count; i++) {
        const int length = snprintf(key, sizeof key, "key %d", i);
        const size_t place = index_find((const tree *)b, key, index_hash(key, (size_t)length), &probes);
        assert_true(there ? place == (size_t)i : place == INDEX_NONE);
    }
    return probes;
}

static void a_million_keys(void **state)
{
    enum { KEYS = 1000000, MISSES = 100000 };
    ferry_bundle *b = fresh();
    char key[24];
    (void)state;

    for (int i = 0; i < KEYS; i++) {
        snprintf(key, sizeof key, "key %d", i);
        check_ok(ferry_bundle_set_null(b, key));
    }
    assert_in_range(count_probes(b, 0, KEYS, true), KEYS, 3 * (uint64_t)KEYS);
    assert_in_range(count_probes(b, KEYS, MISSES, false), MISSES, 3 * (uint64_t)MISSES);
    ferry_bundle_free(b);
}

/* Keys of which only high bits differ, and which differ in two words at once: all bits count. */
static void keys_that_are_alike(void **state)
{
    enum { KEYS = 1 << 12 };
    ferry_bundle *b = fresh();
    size_t probes = 0;
    char key[25];
    (void)state;

    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < KEYS; i++) {
            memset(key, '@', sizeof key);
            key[24] = '\0';
            for (int bit = 0; bit < 12; bit++)
                if (i >> bit & 1)
                    key[2 * bit + 1] = '`'; /* one bit */
            if (pass == 0)
                check_ok(ferry_bundle_set_null(b, key));
            else
                assert_int_equal(index_find((const tree *)b, key, index_hash(key, 24), &probes), i);
        }
    assert_in_range(probes, KEYS, 3 * (uint64_t)KEYS);
    ferry_bundle_free(b);
}

/* --- a small stack --- */

static ferry_status no_visit(void *user, const char *path, const ferry_item *item)
{
    (void)user, (void)path, (void)item;
    return FERRY_OK;
}

/* All that walks trees, on the deepest ones. cmocka's checks do not work on other threads: the result is a word. */
static void *walk_all(void *user)
{
    for (int seed = SEED_TYPES + 5; seed <= SEED_TYPES + 7; seed += 2) {
        ferry_bundle *const b = ((ferry_bundle **)user)[seed];
        ferry_bundle *copy = NULL, *merged = NULL;
        void *bytes = NULL;
        size_t count;
        if (ferry_bundle_new(&merged) != FERRY_OK || ferry_bundle_merge(merged, b, FERRY_MERGE_REFUSE) != FERRY_OK)
            return "merge";
        if (!ferry_bundle_equal(b, merged))
            return "equal";
        if (ferry_bundle_encode(b, &bytes, &count) != FERRY_OK || ferry_bundle_decode(bytes, count, &copy) != FERRY_OK)
            return "encode and decode";
        if (!ferry_bundle_compare(copy, merged, NULL, 0) || ferry_bundle_print(copy, NULL, 0) == 0)
            return "compare and print";
        if (ferry_bundle_walk(b, no_visit, NULL) != FERRY_OK)
            return "walk";
        ferry_memory_give(bytes);
        ferry_bundle_free(copy);
        ferry_bundle_free(merged);
    }
    return NULL;
}

static void the_deepest_trees(void **state)
{
    ferry_bundle *seeds[SEEDS];
    pthread_attr_t attributes;
    pthread_t thread;
    void *failed;
    (void)state;

    for (int i = 0; i < SEEDS; i++)
        seeds[i] = seed_bundle(i);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, walk_all, seeds), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    if (failed)
        fail_msg("%s", (const char *)failed);
    for (int i = 0; i < SEEDS; i++)
        ferry_bundle_free(seeds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_keys),
        cmocka_unit_test(keys_that_are_alike),
        cmocka_unit_test(the_deepest_trees),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
