/* Known contents: every word of a source is a formula of rank, position and round, so that each
 * element that arrives can be checked, and so that a source can be rewritten as cheaply as a
 * program does (one addition per word). */
#ifndef BENCH_PATTERN_H
#define BENCH_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Rows of a strided block, in bytes: for i < count[0], for j < count[1]: `run` bytes at start + i *
 * stride[0] + j * stride[1]. */
typedef struct box {
    size_t start;
    size_t count[2];
    size_t stride[2];
    size_t run;
} box;

/* What a round adds; odd, so that words of any width change. */
#define PATTERN_STEP UINT64_C(0x9e3779b97f4a7c15)

/* The value in round 0 of word `index` of rank `rank`. */
static inline uint64_t pattern_word(uint64_t rank, uint64_t index)
{
    uint64_t x = (index + 1) * UINT64_C(0xd1b54a32d192ed03) + rank * UINT64_C(0xaef17502108ef2d9);

    x ^= x >> 32;
    x *= UINT64_C(0xe9846af9b1a615d);
    return x ^ x >> 28;
}

/* The same in another round. */
static inline uint64_t pattern_at(uint64_t rank, uint64_t index, uint64_t round)
{
    return pattern_word(rank, index) + round * PATTERN_STEP;
}

/* The widest word (8, 4, 2 or 1 bytes) that elements of this size consist of. */
size_t pattern_unit(size_t element_bytes);

/* Write the words of a box; a word's index is its distance from `base` in words, plus `first`. */
void pattern_fill(void *base, const box *where, size_t unit, uint64_t rank, uint64_t first,
                  uint64_t round);

/* From one round to a later one: adds the steps of `rounds` rounds to every word of the box. */
void pattern_advance(void *base, const box *where, size_t unit, uint64_t rounds);

/* How many words of `where` are not those of `origin`, a box of equal shape at rank `rank`. */
size_t pattern_wrong(const void *base, const box *where, const box *origin, size_t unit,
                     uint64_t rank, uint64_t round);

/* A box that is one run. */
static inline box box_dense(size_t start, size_t bytes)
{
    return (box){start, {1, 1}, {0, 0}, bytes};
}
static inline size_t box_bytes(const box *b)
{
    return b->count[0] * b->count[1] * b->run;
}

/* Copy a box to a box of equal shape, with plain loops over rows. */
void box_copy(void *to, const box *target, const void *from, const box *source);

/* The box of equal shape without gaps, at 0. */
box box_packed(const box *b);

#endif
