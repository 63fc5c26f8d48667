/* How a job that this program started ended: a small message from one of its ranks to the parent.
 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/say.h"

enum { REPORT_PATH_BYTES = 64 };

typedef struct report {
    uint32_t given; /* 0: nothing was reported */
    int32_t status; /* exit status of the job */
    char text[SAY_ERROR_BYTES];
} report;

/* Parent: a place for a report; its descriptor, or -1, and the path under which ranks reach it. */
int report_open(char path_out[REPORT_PATH_BYTES]);

/* Parent: what was reported so far. */
bool report_read(int fd, report *report_out);

/* Rank: report; false when the parent cannot be reached, as on another machine. */
bool report_write(const char *path, int status, const char *text);

#endif
