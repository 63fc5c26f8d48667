/* Starting ranks and watching them: the parent stays, passes on what they print, and ends when the
 * launcher has ended.
 *
 * How the job ended is known from the report of its rank 0 (report.h); ranks that reported leave
 * with 0, so that no launcher adds words of its own. A launcher that ends without a report stands
 * for a job that broke. The job runs in a process group of its own: a terminal's Ctrl-C reaches
 * this process only, which ends the job with SIGTERM, to which both launchers say nothing. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/launch.h"
#include "cli/report.h"
#include "cli/say.h"
#include "ferry/version.h"

#ifndef FERRY_MPIEXEC
#  define FERRY_MPIEXEC "mpiexec." FERRY_MPI_NAME
#endif

enum { WORDS_MAX = 16, GRACE_MS = 1000, REMINDERS = 6, CLOSED = -1, NOT_STARTED = 127 };

/* Seconds that a launcher gets to end a job of which a rank has ended before the work was done. */
enum { LOST_TICKS = 5 };

/* Variables that a launcher gives to ranks. */
static const char *const rank_variables[] = {
    "PMI_RANK", "PMI_FD", "PMI_PORT", "PMIX_RANK", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_RANK",
};
static const char *const size_variables[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

/* Words between the launcher and the number of ranks: any user, any number of ranks, nothing said.
 */
static const char *const openmpi_words[] = {
    "--quiet",
    "--allow-run-as-root",
    "--oversubscribe",
    "--mca",
    "btl_base_warn_component_unused",
    "0",
    NULL,
};

/* A job under way. */
typedef struct job {
    pid_t launcher;
    int stream[2]; /* read ends of the launcher's stdout and stderr; CLOSED at their end */
    int signals;   /* signalfd: ends, and SIGCHLD */
    int report;
    int signal;    /* that ends the job; 0: none so far */
    int reminders; /* given since */
    int lost;      /* ticks since a rank was found to have ended */
    int limit_s;   /* seconds that it may take; 0: any number */
    time_t begun;  /* of the monotonic clock */
    bool late;     /* it took longer, and is being ended */
    bool ended;
    int status; /* of waitpid */
} job;

bool launch_inside(void)
{
    for (size_t i = 0; i < sizeof rank_variables / sizeof rank_variables[0]; i++)
        if (getenv(rank_variables[i]))
            return true;
    return false;
}

int launch_ranks_expected(void)
{
    for (size_t i = 0; i < sizeof size_variables / sizeof size_variables[0]; i++) {
        const char *text = getenv(size_variables[i]);
        if (text)
            return atoi(text);
    }
    return 0;
}

static bool in_path(const char *name, char path_out[PATH_MAX])
{
    const char *at = getenv("PATH");

    for (; at && *at; at += strspn(at, ":")) {
        const int length = (int)strcspn(at, ":");
        snprintf(path_out, PATH_MAX, "%.*s/%s", length, at, name);
        if (access(path_out, X_OK) == 0)
            return true;
        at += length;
    }
    return false;
}

const char *launch_program(void)
{
    static char path[PATH_MAX];

    if (FERRY_MPIEXEC[0] == '/' && access(FERRY_MPIEXEC, X_OK) == 0)
        return FERRY_MPIEXEC;
    if (in_path("mpiexec." FERRY_MPI_NAME, path))
        return path;
    complain(CLI_FAILURE,
             "no launcher: neither %s nor mpiexec.%s in PATH can be run; is %s installed?",
             FERRY_MPIEXEC, FERRY_MPI_NAME, FERRY_MPI_NAME);
    return NULL;
}

/* The command line of the job. Ranks get the same words, told where to report and whether there are
 * colours. */
static char **compose(const cli *cli, int np, const char *const *extra, const char *report)
{
    static char self[PATH_MAX], number[16], report_to[REPORT_PLACE_BYTES + 16];
    const bool openmpi = !strcmp(FERRY_MPI_NAME, "openmpi");
    const char **words = calloc((size_t)cli->argc + LAUNCH_EXTRA + WORDS_MAX, sizeof *words);
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    int n = 0;

    if (!words || length < 0) {
        free(words);
        return NULL;
    }
    self[length] = '\0';
    snprintf(number, sizeof number, "%d", np);
    snprintf(report_to, sizeof report_to, "--report-to=%s", report);
    words[n++] = launch_program();
    for (const char *const *word = openmpi_words; openmpi && *word; word++)
        words[n++] = *word;
    words[n++] = "-n";
    words[n++] = number;
    words[n++] = self;
    words[n++] = report_to;
    words[n++] = say_coloured(STDOUT_FILENO) ? "--color=always" : "--color=never";
    words[n++] = cli->subcommand;
    for (; *extra; extra++)
        words[n++] = *extra;
    for (int i = 1; i < cli->argc; i++)
        words[n++] = cli->argv[i];
    return (char **)words;
}

/* The launcher reads nothing, ends when this process is killed, and starts with no signal held
 * back. */
static void become(char *const *words, const int stream[2])
{
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    sigset_t none;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(nothing, STDIN_FILENO);
    dup2(stream[0], STDOUT_FILENO);
    dup2(stream[1], STDERR_FILENO);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv(words[0], words);
    _exit(NOT_STARTED);
}

static bool start(job *job, char *const *words)
{
    int out[2], err[2];

    /* When this fails the process ends soon: nothing to close. */
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
        return false;
    job->launcher = fork();
    if (job->launcher == 0)
        become(words, (const int[2]){out[1], err[1]});
    if (job->launcher > 0)
        setpgid(job->launcher, job->launcher); /* also here: whoever comes first */
    close(out[1]);
    close(err[1]);
    job->stream[0] = out[0];
    job->stream[1] = err[0];
    return job->launcher > 0;
}

static void write_all(int fd, const char *bytes, ssize_t count)
{
    while (count > 0) {
        const ssize_t n = write(fd, bytes, (size_t)count);
        if (n < 0 && errno != EINTR)
            return;
        bytes += n > 0 ? n : 0;
        count -= n > 0 ? n : 0;
    }
}

/* Pass on what the job prints, until it has failed or is being ended: then one line of ours says it
 * all. */
static void pass_on(job *job, int which)
{
    char bytes[4096];
    report said;
    const ssize_t n = read(job->stream[which], bytes, sizeof bytes);

    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        close(job->stream[which]);
        job->stream[which] = CLOSED;
        return;
    }
    if (!job->signal && !(report_read(job->report, &said) && said.status != CLI_OK))
        write_all(which == 0 ? STDOUT_FILENO : STDERR_FILENO, bytes, n);
}

static void take_signal(job *job)
{
    struct signalfd_siginfo info;

    if (read(job->signals, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (info.ssi_signo == SIGCHLD) {
        job->ended = job->ended || waitpid(job->launcher, &job->status, WNOHANG) == job->launcher;
        return;
    }
    if (job->signal) {
        kill(-job->launcher, SIGKILL); /* asked twice */
        return;
    }
    job->signal = (int)info.ssi_signo;
    kill(job->launcher, SIGTERM);
}

static bool open_streams(const job *job)
{
    return job->stream[0] != CLOSED || job->stream[1] != CLOSED;
}

/* The launcher takes its time, or has not heard: one that is still starting its ranks may not. */
static void insist(job *job)
{
    job->reminders++;
    kill(-job->launcher, job->reminders < REMINDERS ? SIGTERM : SIGKILL);
}

/* A launcher may overlook the end of a rank; the others would wait for it for ever. */
static bool overlooked(job *job)
{
    report said;

    if (!report_read(job->report, &said) && report_rank_ended(job->report))
        job->lost++;
    return job->lost > LOST_TICKS;
}

/* Nothing has happened for a while. */
static void tick(job *job)
{
    if (job->signal || job->late || overlooked(job))
        insist(job);
}

static time_t now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

static void look_at_clock(job *job)
{
    if (job->limit_s == 0 || job->late || job->ended || now_s() - job->begun < job->limit_s)
        return;
    job->late = true;
    kill(job->launcher, SIGTERM);
}

/* Until the launcher has ended and all that the job printed has been read. A launcher that does not
 * end in time, or that leaves its streams to somebody, is not waited for. */
static void watch(job *job)
{
    while (!job->ended || open_streams(job)) {
        struct pollfd ready[3] = {{.fd = job->stream[0], .events = POLLIN},
                                  {.fd = job->stream[1], .events = POLLIN},
                                  {.fd = job->signals, .events = POLLIN}};
        const int n = poll(ready, 3, GRACE_MS);

        if (n == 0 && job->ended)
            break;
        if (n == 0)
            tick(job);
        look_at_clock(job);
        for (int i = 0; i < 2; i++)
            if (n > 0 && ready[i].revents)
                pass_on(job, i);
        if (n > 0 && ready[2].revents)
            take_signal(job);
    }
    for (int i = 0; i < 2; i++)
        if (job->stream[i] != CLOSED)
            close(job->stream[i]);
}

/* Is the process of this folder of /proc a child of ours? */
static bool is_child(const char *name)
{
    char path[64], text[512];
    int parent = 0;

    snprintf(path, sizeof path, "/proc/%.20s/stat", name);
    FILE *file = fopen(path, "re");
    const size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[n] = '\0';
    const char *after = strrchr(text, ')'); /* the program's name may hold anything */
    return after && sscanf(after, ") %*c %d", &parent) == 1 && parent == getpid();
}

/* Kill all children; false when there are none. */
static bool kill_children(void)
{
    DIR *folder = opendir("/proc");
    bool any = false;

    if (!folder)
        return false;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (!isdigit((unsigned char)entry->d_name[0]) || !is_child(entry->d_name))
            continue;
        kill(atoi(entry->d_name), SIGKILL);
        any = true;
    }
    closedir(folder);
    return any;
}

/* End what a launcher has left: its helpers and ranks came to this process as children when it
 * ended, and theirs come when they end. Each that is waited for was killed before. */
static void sweep(void)
{
    while (kill_children() && waitpid(-1, NULL, 0) > 0)
        continue;
}

static const char *ending(int status, char text_out[64])
{
    if (WIFSIGNALED(status))
        snprintf(text_out, 64, "signal %d", WTERMSIG(status));
    else
        snprintf(text_out, 64, "status %d", WEXITSTATUS(status));
    return text_out;
}

static int outcome(const job *job, const char *launcher)
{
    char how[64];
    report said;
    const bool reported = report_read(job->report, &said);

    if (job->signal)
        return complain(CLI_SIGNALLED + job->signal, "interrupted by signal %d (%s)", job->signal,
                        strsignal(job->signal));
    if (job->late)
        return complain(CLI_FAILURE, "took longer than %d s and was ended", job->limit_s);
    if (reported && said.status != CLI_OK)
        return complain(said.status, "%s", said.text);
    if (WIFEXITED(job->status) && WEXITSTATUS(job->status) == NOT_STARTED && !reported)
        return complain(CLI_FAILURE, "the launcher %s cannot be started", launcher);
    if (!reported)
        return complain(CLI_FAILURE, "a rank broke off: %s ended with %s before the job was done",
                        launcher, ending(job->status, how));
    if (job->status != 0)
        return complain(CLI_FAILURE, "a rank broke off after the work was done: %s ended with %s",
                        launcher, ending(job->status, how));
    return CLI_OK;
}

static void show(char *const *words)
{
    fprintf(stderr, "ferry: starting");
    for (; *words; words++)
        fprintf(stderr, " %s", *words);
    fputc('\n', stderr);
}

static int run(job *job, char *const *words)
{
    sigset_t set;

    interrupt_set(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    job->signals = signalfd(-1, &set, SFD_CLOEXEC);
    if (job->signals < 0 || !start(job, words))
        return complain(CLI_FAILURE, "%s cannot be started: %s", words[0], strerror(errno));
    watch(job);
    close(job->signals);
    if (job->signal || job->late || job->status != 0)
        sweep();
    return outcome(job, words[0]);
}

int launch_job(const cli *cli, int np, const char *const *extra)
{
    return launch_job_within(cli, np, extra, 0);
}

int launch_job_within(const cli *cli, int np, const char *const *extra, int limit_s)
{
    char place[REPORT_PLACE_BYTES];
    job job = {.stream = {CLOSED, CLOSED}, .limit_s = limit_s, .begun = now_s()};
    int status = CLI_FAILURE;

    if (!launch_program())
        return status;
    interrupt_hold();
    fflush(stdout);
    job.report = report_open(place);
    char **words = compose(cli, np, extra, place);
    if (job.report < 0 || !words) {
        complain(CLI_FAILURE, "no memory to start %d ranks", np);
    } else {
        if (cli->verbose)
            show(words);
        status = run(&job, words);
    }
    free(words);
    if (job.report >= 0)
        close(job.report);
    return status;
}
