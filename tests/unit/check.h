/* What the unit tests share: cmocka with the headers it wants, seeded random numbers, and pinned settings. */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/trouble.h"
#include "ferry/status.h"

/* The call succeeds; else its text is part of the failure. */
#define check_ok(call)                                                                    \
    do {                                                                                  \
        const ferry_status check_status = (call);                                         \
        if (check_status != FERRY_OK)                                                     \
            fail_msg("%s: %s (%s)", #call, ferry_status_text(check_status), trouble_text()); \
    } while (0)

/* The call fails with this status, and its text holds these words. */
#define check_fails(call, status, words)                                                  \
    do {                                                                                  \
        assert_int_equal((call), (status));                                               \
        if (!strstr(trouble_text(), (words)))                                             \
            fail_msg("%s: \"%s\" does not say \"%s\"", #call, trouble_text(), (words));   \
    } while (0)

/* A random number generator (xorshift64*), so that a seed means the same everywhere. */
static uint64_t check_state = 1;

static inline void check_seed(uint64_t seed)
{
    check_state = seed * 2 + 1;
}

static inline uint64_t check_random(void)
{
    check_state ^= check_state >> 12;
    check_state ^= check_state << 25;
    check_state ^= check_state >> 27;
    return check_state * 0x2545f4914f6cdd1du;
}

/* low .. high, both included */
static inline int64_t check_between(int64_t low, int64_t high)
{
    return low + (int64_t)(check_random() % (uint64_t)(high - low + 1));
}

/* FERRY_SEED, else the time; printed, so that a failure can be repeated. */
static inline uint64_t check_seed_from_environment(const char *what)
{
    const char *const wanted = getenv("FERRY_SEED");
    const int given = wanted && wanted[0] >= '0' && wanted[0] <= '9';
    const uint64_t seed = given ? strtoull(wanted, NULL, 10) : (uint64_t)time(NULL);

    printf("%s: FERRY_SEED=%llu\n", what, (unsigned long long)seed);
    return seed;
}

#endif
