/* The hash table of a tree's keys; see index.h. */
#include "bundle/index.h"

#include "base/hash.h"

unsigned index_bits(size_t count)
{
    unsigned bits = 3;

    if (count <= INDEX_FEW)
        return 0;
    while (((size_t)1 << bits) < count + count / 2 + count % 2)
        bits++;
    return bits;
}

uint32_t index_hash(const char *key, size_t length)
{
    /* Multiplied once more, so that the top bits depend on every byte. */
    return (uint32_t)(hash_bytes(HASH_START, key, length) * 0x9e3779b97f4a7c15u >> 32);
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

void index_add(tree *t, size_t place)
{
    const size_t mask = index_slots(t->slot_bits) - 1;

    if (t->slot_bits == 0)
        return;
    size_t at = begin(t, t->values[place].hash);
    while (t->slots[at] != 0)
        at = (at + 1) & mask;
    t->slots[at] = (uint32_t)place + 1;
}

size_t index_fill(tree *t)
{
    const size_t count = t->count;
    size_t twice = INDEX_NONE;

    memset(t->slots, 0, index_slots(t->slot_bits) * sizeof *t->slots);
    for (size_t place = 0; place < count && twice == INDEX_NONE; place++) {
        t->count = place; /* the few are searched among those before */
        if (index_find(t, t->keys[place], t->values[place].hash, NULL) == INDEX_NONE)
            index_add(t, place);
        else
            twice = place;
    }
    t->count = count;
    return twice;
}
