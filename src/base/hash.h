/* CRC-32C (Castagnoli, as in iSCSI, RFC 3720) and a 64-bit hash for comparing structures. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Continue a CRC-32C; start with crc = 0. Uses the CPU's instruction where there is one. */
uint32_t hash_crc32c(uint32_t crc, const void *data, size_t bytes);

/* The same without the instruction; for the tests of it. */
uint32_t hash_crc32c_portable(uint32_t crc, const void *data, size_t bytes);

/* Continue a 64-bit hash; start with HASH_START. Not for hostile input. */
#define HASH_START 0x9e3779b97f4a7c15u
uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes);

#endif
