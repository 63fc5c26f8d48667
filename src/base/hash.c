/* CRC-32C by the CPU's instruction or by eight tables, and a plain 64-bit mix. */
#include "base/hash.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#  include <nmmintrin.h>
#endif

enum { SLICES = 8 };

static uint32_t table[SLICES][256];

/* table[k][b]: what byte b does to the remainder when k more zero bytes follow it. */
static void fill_table(void)
{
    const uint32_t polynomial = 0x82f63b78; /* Castagnoli, lowest bit first */

    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t rest = byte;
        for (int bit = 0; bit < 8; bit++)
            rest = rest >> 1 ^ (rest & 1 ? polynomial : 0);
        table[0][byte] = rest;
    }
    for (int slice = 1; slice < SLICES; slice++)
        for (int byte = 0; byte < 256; byte++) {
            const uint32_t before = table[slice - 1][byte];
            table[slice][byte] = before >> 8 ^ table[0][before & 255];
        }
}

static uint32_t step_table(uint32_t rest, const unsigned char *at)
{
    uint32_t next = 0;

    for (int i = 0; i < 4; i++)
        next ^= table[7 - i][(rest >> 8 * i ^ at[i]) & 255] ^ table[3 - i][at[4 + i]];
    return next;
}

static uint32_t crc_by_table(uint32_t rest, const unsigned char *at, size_t bytes)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, fill_table);
    for (; bytes >= 8; bytes -= 8, at += 8)
        rest = step_table(rest, at);
    for (; bytes > 0; bytes--, at++)
        rest = rest >> 8 ^ table[0][(rest ^ *at) & 255];
    return rest;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t
crc_by_instruction(uint32_t rest, const unsigned char *at, size_t bytes)
{
    uint64_t wide = rest, word;

    for (; bytes >= 8; bytes -= 8, at += 8) {
        memcpy(&word, at, sizeof word);
        wide = _mm_crc32_u64(wide, word);
    }
    rest = (uint32_t)wide;
    for (; bytes > 0; bytes--, at++)
        rest = _mm_crc32_u8(rest, *at);
    return rest;
}
#endif

uint32_t hash_crc32c(uint32_t crc, const void *data, size_t bytes)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~crc_by_instruction(~crc, data, bytes);
#endif
    return ~crc_by_table(~crc, data, bytes);
}

uint32_t hash_crc32c_portable(uint32_t crc, const void *data, size_t bytes)
{
    return ~crc_by_table(~crc, data, bytes);
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

enum { LANES = 4 };

/* As long as there are so many words: one chain of multiplications would wait for itself. Leaves
 * the rest. */
static uint64_t hash_lanes(uint64_t hash, const unsigned char **at, size_t *bytes)
{
    uint64_t lane[LANES] = {hash, ~hash, hash >> 32 | hash << 32, hash ^ LANES}, word[LANES];

    for (; *bytes >= sizeof word; *bytes -= sizeof word, *at += sizeof word) {
        memcpy(word, *at, sizeof word);
        for (int i = 0; i < LANES; i++)
            lane[i] = mix(lane[i], word[i]);
    }
    for (int i = 0; i < LANES; i++)
        hash = mix(hash, lane[i]);
    return hash;
}

uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t word;

    hash = mix(hash, bytes);
    if (bytes >= LANES * sizeof word)
        hash = hash_lanes(hash, &at, &bytes);
    for (; bytes >= sizeof word; bytes -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    if (bytes > 0)
        memcpy(&word, at, bytes);
    return mix(hash, word);
}
