/* Setup and teardown of tests that write files: each in an empty folder of its own. */
#ifndef TESTS_UNIT_FOLDER_H
#define TESTS_UNIT_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];

static inline int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/ferry-test.XXXXXX");
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static inline int leave(void **state)
{
    char command[96];
    (void)state;

    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

#endif
