/** @file
 * What a call reports: a status number, its fixed text, and a sentence of detail about the last failure.
 */
#ifndef FERRY_STATUS_H
#define FERRY_STATUS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#  define FERRY_API __attribute__((visibility("default")))
#else
#  define FERRY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* One line per status: name, number, text. Numbers are never reused; new ones go at the end. */
#define FERRY_STATUS_LIST(X)                                                            \
    X(OK,             0, "success")                                                     \
    X(ERR_ARG,       -1, "an argument is not valid")                                    \
    X(ERR_MEMORY,    -2, "memory could not be obtained")                                \
    X(ERR_SHAPE,     -3, "the two sides do not describe the same elements")             \
    X(ERR_STATE,     -4, "the call is not allowed in the object's present state")       \
    X(ERR_MPI,       -5, "an MPI call failed")                                          \
    X(ERR_SYSTEM,    -6, "an operating system call failed")                             \
    X(ERR_FORMAT,    -7, "the bytes are not what their format requires")                \
    X(ERR_TYPE,      -8, "the value has another type")                                  \
    X(ERR_NOT_FOUND, -9, "there is no such name or element")                            \
    X(ERR_LIMIT,    -10, "a documented limit would be passed")                          \
    X(ERR_ROUTE,    -11, "no route can carry this block")                               \
    X(ERR_PEER_GONE,-12, "another rank has ended")                                      \
    X(ERR_TIMEOUT,  -13, "the time set for waiting has passed")                         \
    X(ERR_DELIVERY, -14, "what arrived is not what was sent in this round")             \
    X(ERR_BUSY,     -15, "the object is in use by a round under way")

/** Result of a call. ::FERRY_OK is zero, every failure is negative. */
typedef enum ferry_status {
#define FERRY_X(name, number, text) FERRY_##name = number,
    FERRY_STATUS_LIST(FERRY_X)
#undef FERRY_X
} ferry_status;

/**
 * The text of a status.
 *
 * @param status  any number, also one that this library does not know
 * @return a static text, never NULL
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API const char *ferry_status_text(ferry_status status);

/**
 * The detail of the last failure on the calling thread: which argument or edge, which rank, what was expected and
 * what was found. Setup calls that agree leave the text of the first failing rank on all ranks.
 *
 *     if (ferry_plan_compile(ctx, edges, n, &plan) != FERRY_OK)
 *         fprintf(stderr, "%s\n", ferry_error_detail());
 *
 * @return lends a text, never NULL, valid until the next ferry call of this thread that fails; "" before any failure
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API const char *ferry_error_detail(void);

#if defined(__GNUC__)
#  define FERRY_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#  define FERRY_PRINTF(text, first)
#endif

/**
 * Record a failure, for libraries built on ferry: ferry_error_detail() then gives this text.
 *
 *     return ferry_status_fail(FERRY_ERR_ARG, "rows is %d, expected at least 1", rows);
 *
 * @param status  what the caller is about to return; with ::FERRY_OK nothing is recorded
 * @param format  as of printf, for the arguments that follow; the text is cut at 511 bytes. ferry_error_detail() may be
 *                among the arguments. NULL: nothing is recorded
 * @return @p status
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API FERRY_PRINTF(2, 3) ferry_status ferry_status_fail(ferry_status status, const char *format, ...);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_STATUS_H */
