/* The hash table of a tree's keys; see index.h. */
#include "bundle/index.h"

#include <stdatomic.h>

#include "base/sys.h"

unsigned index_bits(size_t count)
{
    unsigned bits = 3;

    if (count <= INDEX_FEW)
        return 0;
    while (((size_t)1 << bits) < count + count / 2 + count % 2)
        bits++;
    return bits;
}

/* A random number of this process, so that nobody can choose keys that all fall together. Made when
 * the first key is hashed; never 0 afterwards. */
static uint64_t secret(void)
{
    static atomic_uint_least64_t kept;
    uint_least64_t now = atomic_load_explicit(&kept, memory_order_relaxed);

    if (now == 0) {
        const uint64_t fresh = sys_random() | 1;
        if (atomic_compare_exchange_strong(&kept, &now, fresh))
            now = fresh;
    }
    return now;
}

/* Both halves of the product with a secret number: which bits a change of the word reaches is not
 * known outside. */
static uint64_t mix(uint64_t hash, uint64_t word, uint64_t factor)
{
    const unsigned __int128 product = (unsigned __int128)(hash ^ word) * factor;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Multiplied once more, so that the top bits, which are used, depend on every byte. */
static uint32_t finish(uint64_t hash)
{
    return (uint32_t)(hash * 0xd6e8feb86659fd93u >> 32);
}

uint32_t index_hash(const char *key, size_t length)
{
    const uint64_t factor = secret();
    uint64_t hash = ~factor, word;

    for (; length >= sizeof word; length -= sizeof word, key += sizeof word) {
        memcpy(&word, key, sizeof word);
        hash = mix(hash, word, factor);
    }
    word = 0;
    for (size_t i = 0; i < length; i++)
        word |= (uint64_t)(unsigned char)key[i] << 8 * i;
    return finish(mix(hash, word, factor));
}

uint32_t index_hash_words(const uint64_t *key, size_t words)
{
    const uint64_t factor = secret();
    uint64_t hash = ~factor;

    for (size_t i = 0; i < words; i++)
        hash = mix(hash, key[i], factor);
    return finish(hash);
}

/* The slot where the search for a hash begins. */
static size_t begin(const tree *t, uint32_t hash)
{
    return hash >> (32 - t->slot_bits);
}

static bool same(const tree *t, size_t place, const char *key, uint32_t hash)
{
    return t->values[place].hash == hash && strcmp(t->keys[place], key) == 0;
}

static size_t find_among_few(const tree *t, const char *key, uint32_t hash, size_t *probes)
{
    for (size_t place = 0; place < t->count; place++) {
        ++*probes;
        if (same(t, place, key, hash))
            return place;
    }
    return INDEX_NONE;
}

size_t index_find(const tree *t, const char *key, uint32_t hash, size_t *probes)
{
    const size_t mask = index_slots(t->slot_bits) - 1;
    size_t uncounted = 0;

    if (!probes)
        probes = &uncounted;
    if (t->slot_bits == 0)
        return find_among_few(t, key, hash, probes);
    for (size_t at = begin(t, hash);; at = (at + 1) & mask) {
        const uint32_t slot = t->slots[at];
        ++*probes;
        if (slot == 0)
            return INDEX_NONE;
        if (same(t, slot - 1, key, hash))
            return slot - 1;
    }
}

static bool add_to_few(const tree *t, size_t place)
{
    for (size_t before = 0; before < place; before++)
        if (same(t, before, t->keys[place], t->values[place].hash))
            return false;
    return true;
}

bool index_add(tree *t, size_t place)
{
    const size_t mask = index_slots(t->slot_bits) - 1;
    const uint32_t hash = t->values[place].hash;

    if (t->slot_bits == 0)
        return add_to_few(t, place);
    size_t at = begin(t, hash);
    for (; t->slots[at] != 0; at = (at + 1) & mask)
        if (same(t, t->slots[at] - 1, t->keys[place], hash))
            return false;
    t->slots[at] = (uint32_t)place + 1;
    return true;
}

size_t index_fill(tree *t)
{
    memset(t->slots, 0, index_slots(t->slot_bits) * sizeof *t->slots);
    for (size_t place = 0; place < t->count; place++)
        if (!index_add(t, place))
            return place;
    return INDEX_NONE;
}
