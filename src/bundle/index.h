/* The hash table of a tree's keys: open addressing, at most two thirds full. Few keys are searched
 * one by one instead. A slot holds the place of a key + 1, 0 when it is free; the hashes stand in
 * the values. */
#ifndef BUNDLE_INDEX_H
#define BUNDLE_INDEX_H

#include <string.h>

#include "bundle/tree.h"

enum { INDEX_FEW = 4 /* keys that need no table */ };
#define INDEX_NONE SIZE_MAX
#define INDEX_MOST ((size_t)1 << 31) /* keys of one tree, so that places and slots fit in 32 bits  \
                                      */

/* Size of the table for `count` keys: 2^bits slots, less than 3 * count; 0: no table. */
unsigned index_bits(size_t count);
static inline size_t index_slots(unsigned bits)
{
    return bits ? (size_t)1 << bits : 0;
}

/* Differs from process to process. */
uint32_t index_hash(const char *key, size_t length);

/* The same for a key that zeros follow up to a multiple of 8 bytes; `words` of them, at least one
 * zero. */
uint32_t index_hash_words(const uint64_t *key, size_t words);

/* The place of a key, or INDEX_NONE. `probes`, unless NULL, grows by the keys and slots looked at.
 */
size_t index_find(const tree *t, const char *key, uint32_t hash, size_t *probes);

/* Enter the key at `place`, behind all those entered; false when it is there already. */
bool index_add(tree *t, size_t place);

/* Enter all keys anew; their hashes are there. Returns the first place whose key came before, or
 * INDEX_NONE. */
size_t index_fill(tree *t);

#endif
