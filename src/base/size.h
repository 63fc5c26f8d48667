/* Arithmetic on sizes that tells when 64 bits are not enough. Each returns false, and fills
 * nothing, on overflow. */
#ifndef BASE_SIZE_H
#define BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool size_add(size_t a, size_t b, size_t *sum_out)
{
    return !__builtin_add_overflow(a, b, sum_out);
}
static inline bool size_mul(size_t a, size_t b, size_t *product_out)
{
    return !__builtin_mul_overflow(a, b, product_out);
}
static inline bool offset_add(int64_t a, int64_t b, int64_t *sum_out)
{
    return !__builtin_add_overflow(a, b, sum_out);
}
static inline bool offset_sub(int64_t a, int64_t b, int64_t *difference_out)
{
    return !__builtin_sub_overflow(a, b, difference_out);
}
static inline bool offset_mul(int64_t a, int64_t b, int64_t *product_out)
{
    return !__builtin_mul_overflow(a, b, product_out);
}

/* Round up to a multiple of `unit`, a power of two; the caller knows that it fits. */
static inline size_t size_round(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) & ~(unit - 1);
}
static inline size_t size_min(size_t a, size_t b)
{
    return a < b ? a : b;
}
static inline size_t size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Greatest common divisor; of 0 and b it is b. */
static inline size_t size_divisor(size_t a, size_t b)
{
    while (b > 0) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
