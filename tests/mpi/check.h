/* Checks of tests that run on several ranks. A failed check prints file, line, rank and both values, is counted, and the test goes on, so
 * that all ranks reach the next collective call. */
#ifndef TESTS_MPI_CHECK_H
#define TESTS_MPI_CHECK_H

#include <stdbool.h>

#include "ferry/context.h"

/* Count and report; returns `holds`. */
bool check_report(bool holds, const char *file, int line, const char *text);
bool check_report_int(long long found, long long expected, const char *file, int line, const char *text);

#define CHECK(condition) check_report((condition), __FILE__, __LINE__, #condition)
#define CHECK_EQ_INT(found, expected) \
    check_report_int((long long)(found), (long long)(expected), __FILE__, __LINE__, #found " == " #expected)

/* Groups of tests, one a file. `ctx` is over all ranks, made under the routes and nodes now being tried. */
#define CHECK_GROUPS(X) \
    X(context)          \
    X(plan)             \
    X(plan_random)      \
    X(stream)           \
    X(stream_requests)  \
    X(bundle)           \
    X(bundle_scatter)   \
    X(bundle_request)   \
    X(bundle_reduce)    \
    X(bundle_memory)    \
    X(bundle_sealed)    \
    X(bundle_again)     \
    X(bundle_into)      \
    X(datatype)         \
    X(datatype_ways)    \
    X(sections)         \
    X(halo)             \
    X(halo_boxes)       \
    X(halo_random)      \
    X(halo_reverse)     \
    X(mesh)             \
    X(exchange)         \
    X(transpose)        \
    X(memory)           \
    X(tune)
#define CHECK_X(name) void check_##name(ferry_context *ctx);
CHECK_GROUPS(CHECK_X)
#undef CHECK_X

#endif
