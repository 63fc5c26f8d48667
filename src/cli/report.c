/* The message lies in memory of the parent (a memfd) that ranks open through /proc: nothing is left
 * behind however the job ends, and no launcher has to hand on descriptors or variables. Behind it
 * ranks append their process numbers as they come. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/report.h"

#define MEMORY_NAME "ferry-report"

enum { HERE_BYTES = 64 };

/* What processes that see the same /proc have in common: the machine's boot, the pid namespace. */
static void here(char text_out[HERE_BYTES])
{
    char boot[16] = "", space[32] = "";
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && read(fd, boot, sizeof boot - 1) < 0)
        boot[0] = '\0';
    if (fd >= 0)
        close(fd);
    if (readlink("/proc/self/ns/pid", space, sizeof space - 1) < 0)
        space[0] = '\0';
    snprintf(text_out, HERE_BYTES, "%s,%s,", boot, space);
}

/* The part of a report's place that can be opened, or NULL on another machine. */
static const char *reachable(const char *place)
{
    char mine[HERE_BYTES];

    here(mine);
    return strncmp(place, mine, strlen(mine)) == 0 ? place + strlen(mine) : NULL;
}

int report_open(char place_out[REPORT_PLACE_BYTES])
{
    const int fd = memfd_create(MEMORY_NAME, MFD_CLOEXEC);
    char mine[HERE_BYTES];

    here(mine);
    snprintf(place_out, REPORT_PLACE_BYTES, "%s/proc/%ld/fd/%d", mine, (long)getpid(), fd);
    if (fd >= 0 && ftruncate(fd, sizeof(report)) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

bool report_read(int fd, report *report_out)
{
    return pread(fd, report_out, sizeof *report_out, 0) == (ssize_t)sizeof *report_out &&
           report_out->given;
}

/* A process that its parent has not buried yet has ended as well. */
static bool has_ended(int32_t process)
{
    char path[32], text[256];

    snprintf(path, sizeof path, "/proc/%d/stat", process);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    const char *state = strrchr(text, ')');
    return !state || !strncmp(state, ") Z", 3) || !strncmp(state, ") X", 3);
}

bool report_rank_ended(int fd)
{
    int32_t process;
    off_t at = sizeof(report);

    for (; pread(fd, &process, sizeof process, at) == (ssize_t)sizeof process; at += sizeof process)
        if (has_ended(process))
            return true;
    return false;
}

void report_attend(const char *place)
{
    const int32_t process = getpid();
    const char *path = reachable(place);
    const int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

    if (fd < 0)
        return;
    if (write(fd, &process, sizeof process) < 0)
        perror("ferry: report"); /* the parent waits for the launcher only */
    close(fd);
}

/* What the thread below knows; one per process. */
static struct {
    int fd;
    void (*gone)(void);
} follower;

static void *follow(void *unused)
{
    struct pollfd end = {.fd = follower.fd, .events = POLLIN};

    while (poll(&end, 1, -1) < 1)
        continue;
    follower.gone();
    return unused;
}

/* The parent's memory is still there; its process number may be another process's by now. */
static bool is_parent(const char *path)
{
    static const char mark[] = "/memfd:" MEMORY_NAME;
    char target[64] = "";

    return readlink(path, target, sizeof target - 1) > 0 && !strncmp(target, mark, sizeof mark - 1);
}

static void start_following(void)
{
    sigset_t all, before;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    if (pthread_create(&thread, NULL, follow, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void report_follow(const char *place, void (*gone)(void))
{
    const char *path = reachable(place);
    int parent;

    if (!path || sscanf(path, "/proc/%d/", &parent) != 1)
        return; /* another machine: only the launcher ends us */
    follower.gone = gone;
    follower.fd = (int)syscall(SYS_pidfd_open, parent, 0);
    if (!is_parent(path))
        gone();
    else if (follower.fd >= 0) /* a kernel from 5.3 on */
        start_following();
}

bool report_write(const char *place, int status, const char *text)
{
    report message = {.given = 1, .status = status};
    const char *path = reachable(place);
    const int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;

    if (fd < 0)
        return false;
    snprintf(message.text, sizeof message.text, "%s", text);
    const bool written = pwrite(fd, &message, sizeof message, 0) == (ssize_t)sizeof message;
    close(fd);
    return written;
}
