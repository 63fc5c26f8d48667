/* Signals. A parent reads them from a signalfd (launch.c); a rank only has a file to remove. Knows
 * nothing of MPI. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/interrupt.h"

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDS = sizeof ends / sizeof ends[0] };

static char remove_path[PATH_MAX]; /* read by the handler */

void interrupt_set(sigset_t *set_out)
{
    sigemptyset(set_out);
    for (int i = 0; i < ENDS; i++)
        sigaddset(set_out, ends[i]);
}

/* Also a shell that starts us in the background, with SIGINT ignored, wants to be heard: the
 * launchers do so too. */
void interrupt_hold(void)
{
    sigset_t set;

    interrupt_set(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < ENDS; i++)
        signal(ends[i], SIG_DFL);
}

void interrupt_release(void)
{
    sigset_t set;

    interrupt_set(&set);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void remove_and_exit(int status)
{
    if (remove_path[0])
        unlink(remove_path);
    _exit(status);
}

static void end(int signal)
{
    remove_and_exit(CLI_SIGNALLED + signal);
}

void interrupt_end(void)
{
    remove_and_exit(CLI_FAILURE);
    __builtin_unreachable();
}

void interrupt_removes(const char *path)
{
    struct sigaction action = {.sa_handler = end};
    sigset_t before;

    interrupt_set(&action.sa_mask);
    sigprocmask(SIG_BLOCK, &action.sa_mask, &before);
    snprintf(remove_path, sizeof remove_path, "%s", path ? path : "");
    for (int i = 0; i < ENDS; i++)
        sigaction(ends[i], &action, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
}
