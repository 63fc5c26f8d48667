/* Results as a picture: a line for each contender, the limit dashed, time over the bytes that
 * arrive on a rank, both axes logarithmic. gnuplot reads its script from a pipe and writes a draft,
 * which becomes the file when it is complete. Knows the results' JSON and nothing of MPI. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/plot.h"
#include "bench/refuse.h"

enum { PATH_BYTES = 4096, SERIES_MAX = 32 };
extern char **environ;

/* gnuplot's words for the format that the name of a file asks for; NULL: none. */
static const char *terminal_of(const char *path)
{
    static const struct {
        const char *suffix, *words;
    } formats[] = {
        {".svg", "set terminal svg size 960,640 noenhanced background 'white'\n"},
        {".png", "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) "
                 "set terminal pngcairo size 960,640 noenhanced; "
                 "else set terminal png size 960,640 noenhanced\n"},
    };
    const size_t length = strlen(path);

    for (size_t k = 0; k < sizeof formats / sizeof *formats; ++k)
        if (length > 4 && strcmp(path + length - 4, formats[k].suffix) == 0)
            return formats[k].words;
    return NULL;
}

static bool is_installed(void)
{
    char path[PATH_BYTES];
    const char *at = getenv("PATH");

    for (; at && *at; at += strspn(at, ":")) {
        const int length = (int)strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/gnuplot", length, at);
        if (access(path, X_OK) == 0)
            return true;
        at += length;
    }
    return false;
}

int plot_check(const char *path, char *error, size_t bytes)
{
    if (!terminal_of(path))
        return refuse(error, bytes, "--plot %.200s: expected a name that ends with .svg or .png",
                      path);
    if (!is_installed())
        return refuse(error, bytes,
                      "--plot: gnuplot is not in PATH; expected it installed, or "
                      "--csv FILE instead");
    return 0;
}

/* --- lines ------------------------------------------------------------------------------------ */

typedef struct point {
    double bytes, seconds;
} point;

/* The points of one contender. */
typedef struct series {
    const char *name;
    point *points;
    size_t count;
} series;

typedef struct picture {
    series lines[SERIES_MAX];
    int count;
} picture;

static json_object *member(const json_object *object, const char *key)
{
    return json_object_object_get(object, key);
}

static series *line_of(picture *p, const char *name)
{
    for (int k = 0; k < p->count; ++k)
        if (strcmp(p->lines[k].name, name) == 0)
            return &p->lines[k];
    if (p->count == SERIES_MAX)
        return NULL;
    p->lines[p->count] = (series){.name = name};
    return &p->lines[p->count++];
}

/* Times too short to tell have no place on a logarithmic axis. */
static int add_row(picture *p, const json_object *row, double ranks)
{
    const double bytes = json_object_get_double(member(row, "bytes")) / ranks;
    const double seconds = json_object_get_double(member(row, "median_s"));
    series *const line = line_of(p, json_object_get_string(member(row, "name")));

    if (!line || bytes <= 0 || seconds <= 0)
        return 0;
    point *const points = realloc(line->points, (line->count + 1) * sizeof *points);
    if (!points)
        return 1;
    line->points = points;
    points[line->count++] = (point){bytes, seconds};
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    const double x = ((const point *)a)->bytes, y = ((const point *)b)->bytes;

    return (x > y) - (x < y);
}

static int collect(picture *p, const json_object *list)
{
    int bad = 0;

    for (size_t k = 0; k < json_object_array_length(list) && !bad; ++k) {
        const json_object *const result = json_object_array_get_idx(list, k);
        json_object *const rows = member(result, "results");
        const double ranks = json_object_get_double(member(result, "np"));
        for (size_t j = 0; j < json_object_array_length(rows) && !bad; ++j)
            bad = add_row(p, json_object_array_get_idx(rows, j), ranks);
    }
    for (int k = 0; k < p->count; ++k)
        if (p->lines[k].count > 1)
            qsort(p->lines[k].points, p->lines[k].count, sizeof(point), by_bytes);
    return bad;
}

/* --- the script ------------------------------------------------------------------------------- */

/* In gnuplot's single quotes nothing but the quote itself is special. */
static void print_quoted(FILE *to, const char *text)
{
    fputc('\'', to);
    for (; *text; ++text) {
        if (*text == '\'')
            fputc('\'', to);
        fputc(*text, to);
    }
    fputc('\'', to);
}

static void print_lines(const picture *p, FILE *to)
{
    const char *before = "plot";

    for (int k = 0; k < p->count; ++k) {
        const series *const line = &p->lines[k];
        if (line->count == 0)
            continue;
        fprintf(to, "%s $line%d with linespoints linewidth 2%s title ", before, k,
                strcmp(line->name, "limit") == 0 ? " dashtype 2" : "");
        print_quoted(to, line->name);
        before = ",";
    }
    fputc('\n', to);
}

static void print_script(const picture *p, const char *title, const char *path, const char *draft,
                         FILE *to)
{
    fputs(terminal_of(path), to);
    fputs("set output ", to);
    print_quoted(to, draft);
    fputs("\nset title ", to);
    print_quoted(to, title);
    fputs("\nset logscale xy\nset grid\nset key left top\n"
          "set format x '%.0b %BB'\nset format y '%.0s %cs'\n"
          "set xlabel 'bytes that arrive on a rank'\nset ylabel 'time of a round'\n",
          to);
    for (int k = 0; k < p->count; ++k) {
        fprintf(to, "$line%d << END\n", k);
        for (size_t j = 0; j < p->lines[k].count; ++j)
            fprintf(to, "%.9g %.9g\n", p->lines[k].points[j].bytes, p->lines[k].points[j].seconds);
        fputs("END\n", to);
    }
    print_lines(p, to);
}

/* Start gnuplot; *to_out is its standard input. 0, or an errno. */
static int start(pid_t *child_out, FILE **to_out)
{
    static char *words[] = {"gnuplot", "-", NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int problem = posix_spawnp(child_out, words[0], &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    *to_out = problem ? NULL : fdopen(ends[1], "w");
    if (!*to_out)
        close(ends[1]);
    return problem;
}

/* What gnuplot says of bad numbers is not shown: that it failed, and how, is. */
static int draw(const picture *p, const char *title, const char *path, const char *draft,
                char *error, size_t bytes)
{
    FILE *to = NULL;
    pid_t child = 0;
    int status = 0;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    struct stat drawn;

    const int problem = start(&child, &to);
    if (problem)
        return refuse(error, bytes, "--plot: gnuplot cannot be started: %s", strerror(problem));
    sigaction(SIGPIPE, &ignore, &before);
    if (to) {
        print_script(p, title, path, draft, to);
        fclose(to);
    }
    sigaction(SIGPIPE, &before, NULL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    if (!to || status != 0 || stat(draft, &drawn) != 0 || drawn.st_size == 0)
        return refuse(error, bytes, "--plot: gnuplot drew nothing; it ended with status %d",
                      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}

static bool is_empty(const picture *p)
{
    for (int k = 0; k < p->count; ++k)
        if (p->lines[k].count > 0)
            return false;
    return true;
}

int plot_write(const json_object *list, const char *path, char *error, size_t bytes)
{
    picture *const p = calloc(1, sizeof *p);
    char draft[PATH_BYTES], title[256];
    int bad = !p || collect(p, list);

    if (bad)
        refuse(error, bytes, "--plot: no memory for the picture");
    else if (is_empty(p))
        bad = refuse(error, bytes, "--plot: no time is long enough to be drawn");
    snprintf(draft, sizeof draft, "%s.%ld.partial", path, (long)getpid());
    if (!bad) {
        const json_object *const first = json_object_array_get_idx(list, 0);
        snprintf(
            title, sizeof title, "%s%s, %s, np=%d", json_object_get_string(member(first, "case")),
            json_object_array_length(list) > 1 ? " and more" : "",
            json_object_get_string(member(first, "mpi")), json_object_get_int(member(first, "np")));
        bad = draw(p, title, path, draft, error, bytes);
    }
    if (!bad && rename(draft, path) != 0)
        bad = refuse(error, bytes, "output %.200s cannot be written: %s", path, strerror(errno));
    if (bad)
        unlink(draft);
    for (int k = 0; p && k < p->count; ++k)
        free(p->lines[k].points);
    free(p);
    return bad;
}
