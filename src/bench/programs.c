/* Programs of others. Each is found where it is installed; whether it was built for the MPI of this
 * program is asked, not assumed: the launcher of one MPI starts lone processes of another. */
#define _GNU_SOURCE 1
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/programs.h"
#include "ferry/version.h"

enum { TEXT_BYTES = 256, NAMES_MAX = 4, WORDS_MAX = 4, ROUNDS_LEAST = 3, ROUNDS_MOST = 100 };
static const double moved_bytes = 256e6; /* by the rounds of one job, about */

/* The interpreter of the system: others seldom have mpi4py, or one that was built for another MPI.
 */
static const char python[] = "/usr/bin/python3";

static bool is_openmpi(void)
{
    return strcmp(ferry_version_mpi(), "openmpi") == 0;
}

/* --- settings --------------------------------------------------------------------------------- */

/* No copies from process to process. */
static const setting nocma_openmpi[] = {{"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                                        {NULL, NULL}};
static const setting nocma_mpich[] = {{"UCX_TLS", "posix,sysv,self"}, {NULL, NULL}};

/* The same, and malloc keeps freed memory instead of giving its pages back. */
static const setting tuned[] = {
    {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
    {"MALLOC_MMAP_MAX_", "0"},
    {"MALLOC_TRIM_THRESHOLD_", "17179869184"},
    {"MALLOC_TOP_PAD_", "67108864"},
    {NULL, NULL},
};

static const setting *settings_of(const program *p)
{
    return p->settings == nocma_openmpi && !is_openmpi() ? nocma_mpich : p->settings;
}

void program_settings(const program *p, char *text, size_t bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (const setting *s = settings_of(p); s && s->name && used < bytes; ++s)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s=%s", used ? " " : "", s->name,
                                 s->value);
}

void program_set(const program *p)
{
    for (const setting *s = settings_of(p); s && s->name; ++s)
        setenv(s->name, s->value, 1);
}

static void tell_number(const char *name, size_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%zu", value);
    setenv(name, text, 1);
}

static size_t rounds_for(const content *c)
{
    const double fit = moved_bytes / (double)content_bytes(c);

    return fit < ROUNDS_LEAST ? ROUNDS_LEAST : fit > ROUNDS_MOST ? ROUNDS_MOST : (size_t)fit;
}

void program_tell(const content *c, bool is_bcast, bool timed)
{
    tell_number("BENCH_COUNT", c->count);
    tell_number("BENCH_ROWS", c->rows);
    tell_number("BENCH_COLUMNS", c->columns);
    tell_number("BENCH_SMALL", c->small);
    tell_number("BENCH_ROUNDS", timed ? rounds_for(c) : 0);
    setenv("BENCH_OP", is_bcast ? "bcast" : "sendrecv", 1);
}

int program_write(const program *p, bool timed, FILE *to)
{
    static const char begin[] = "\n#verify\n", end[] = "\n#end\n";
    const char *at = p->script;
    int bad = 0;

    for (const char *cut; timed && (cut = strstr(at, begin)) != NULL;) {
        const size_t length = (size_t)(cut + 1 - at);
        bad |= fwrite(at, 1, length, to) != length;
        at = strstr(cut, end);
        at += strlen(end);
    }
    return bad | (fputs(at, to) < 0);
}

/* --- whether they are there ------------------------------------------------------------------- */

/* UCX is what copies from process to process in MPICH; other devices have other settings. */
static const char *nocma_missing(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;

    if (is_openmpi())
        return NULL;
    MPI_Get_library_version(library, &length); /* allowed before MPI_Init */
    if (!strstr(library, "ucx"))
        return "this MPICH is built without UCX, whose setting it would be";
    return getenv("UCX_TLS") ? "UCX_TLS is set already" : NULL;
}

/* The vendor of mpi4py's MPI, "" without mpi4py and numpy. */
static void ask_python(char vendor[TEXT_BYTES])
{
    char command[TEXT_BYTES];

    snprintf(command, sizeof command,
             "%s -I -c 'import numpy, mpi4py; mpi4py.rc.initialize = False; "
             "from mpi4py import MPI; from mpi4py.util import pkl5; "
             "print(MPI.get_vendor()[0])' 2>/dev/null",
             python);
    FILE *const answer = popen(command, "re");
    if (!answer || !fgets(vendor, TEXT_BYTES, answer))
        vendor[0] = '\0';
    vendor[strcspn(vendor, "\n")] = '\0';
    if (answer)
        pclose(answer);
}

static const char *python_missing(void)
{
    static char vendor[TEXT_BYTES], text[2 * TEXT_BYTES];
    static bool asked;

    if (!asked)
        ask_python(vendor);
    asked = true;
    if (!vendor[0])
        snprintf(text, sizeof text, "%s has no mpi4py with mpi4py.util.pkl5, or no numpy", python);
    else if (strcmp(vendor, is_openmpi() ? "Open MPI" : "MPICH") != 0)
        snprintf(text, sizeof text, "the mpi4py of %s is built for %s", python, vendor);
    return text[0] ? text : NULL;
}

static const char *find_python(void)
{
    return python;
}

static const char *find_gretl(void)
{
    static char path[PATH_MAX];
    const char *at = getenv("PATH");

    for (; at && *at; at += strspn(at, ":")) {
        const int length = (int)strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/gretlmpi", length, at);
        if (access(path, X_OK) == 0)
            return path;
        at += length;
    }
    return NULL;
}

/* Whether a file names something, such as the library that a program needs. */
static bool file_names(const char *path, const char *name)
{
    FILE *const file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    bool found = false;
    ssize_t length = 0;

    /* Names end in a NUL: each is a "line". */
    while (file && !found && (length = getdelim(&text, &room, '\0', file)) > 0)
        found = strncmp(text, name, strlen(name)) == 0;
    free(text);
    if (file)
        fclose(file);
    return found;
}

static const char *gretl_missing(void)
{
    const char *const path = find_gretl();

    if (!path)
        return "there is no gretlmpi in PATH";
    if (file_names(path, is_openmpi() ? "libmpi.so" : "libmpich.so"))
        return NULL;
    return is_openmpi() ? "gretlmpi is built for another MPI than Open MPI"
                        : "gretlmpi is built for another MPI than MPICH";
}

/* --- running them ----------------------------------------------------------------------------- */

static const char *const python_words[] = {"-I", NULL};
static const char *const gretl_words[] = {"-q", "-e", NULL};

static const program programs[] = {
    {"nocma", NULL, NULL, nocma_openmpi, nocma_missing, NULL, NULL},
    {"python", script_python, ".py", NULL, python_missing, find_python, python_words},
    {"gretl", script_gretl, ".inp", NULL, gretl_missing, find_gretl, gretl_words},
    {"gretl-tuned", script_gretl, ".inp", tuned, gretl_missing, find_gretl, gretl_words},
};

void program_run(const program *p, const char *path, const char *script, const char *const *names)
{
    const char *words[WORDS_MAX + NAMES_MAX + 3] = {path};
    int count = 1;

    for (int k = 0; k < WORDS_MAX && p->words[k]; ++k)
        words[count++] = p->words[k];
    words[count++] = script;
    for (int k = 0; k < NAMES_MAX && names[k]; ++k)
        words[count++] = names[k];
    execv(path, (char *const *)words);
}

const program *program_find(const char *word)
{
    for (size_t k = 0; k < sizeof programs / sizeof *programs; ++k)
        if (strcmp(programs[k].word, word) == 0)
            return &programs[k];
    return NULL;
}
