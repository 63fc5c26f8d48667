/* What to do when the user ends the program: the ends are SIGINT, SIGTERM and SIGHUP. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <signal.h>

/* Hold the three signals back in this process until somebody reads them from a signalfd. */
void interrupt_hold(void);

/* The three signals, and those for a child of a process that holds them. */
void interrupt_set(sigset_t *set_out);
void interrupt_release(void);

/* From now on a signal removes the file `path` (NULL: none) and ends the process with 128 + its
 * number. */
void interrupt_removes(const char *path);

/* Do so now, with an exit status of CLI_FAILURE. Safe in any thread and handler. */
void interrupt_end(void) __attribute__((noreturn));

#endif
