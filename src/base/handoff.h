/* Hand an open file to other processes of the same user through a socket. Everything ends within
 * the time given. */
#ifndef BASE_HANDOFF_H
#define BASE_HANDOFF_H

#include <stdint.h>

/* Listen under an abstract name; the socket, or -1. */
int handoff_listen(const char *name);

/* Give `fd` to `count` processes of this user, one after another; 0, or -1 when somebody did not
 * come in time. */
int handoff_give(int listener, int fd, int count, int64_t timeout_ns);

/* Fetch the file from the process that listens under `name`; a new descriptor, or -1. */
int handoff_take(const char *name, int64_t timeout_ns);

#endif
