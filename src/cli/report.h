/* How a job that this program started ended: a small message from one of its ranks to the parent.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/say.h"

enum { REPORT_PLACE_BYTES = 128 };

typedef struct report {
    uint32_t given; /* 0: nothing was reported */
    int32_t status; /* exit status of the job */
    char text[SAY_ERROR_BYTES];
} report;

/* Parent: a place for a report; its descriptor, or -1, and the place where ranks reach it. */
int report_open(char place_out[REPORT_PLACE_BYTES]);

/* Parent: what was reported so far. */
bool report_read(int fd, report *report_out);

/* Parent: has a rank ended that said it was there? */
bool report_rank_ended(int fd);

/* Rank: tell the parent that this process is there. */
void report_attend(const char *place);

/* Rank: call `gone` in a thread when the parent ends before this process does. Launchers that are
 * ended while they start their ranks may leave them waiting for ever. */
void report_follow(const char *place, void (*gone)(void));

/* Rank: report; false when the parent cannot be reached, as on another machine. */
bool report_write(const char *place, int status, const char *text);

#endif
