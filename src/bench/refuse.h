/* How a part of the bench says that it cannot go on: a text in the caller's buffer, and 1. */
#ifndef BENCH_REFUSE_H
#define BENCH_REFUSE_H

#include <stddef.h>

int refuse(char *error, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
