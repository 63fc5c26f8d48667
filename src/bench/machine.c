/* Facts about the machine and the MPI, read from the kernel's files and from MPI's own tool
 * interface. Knows nothing of cases. A fact that cannot be read is told as unknown, never guessed.
 */
#define _GNU_SOURCE 1
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine.h"
#include "ferry/version.h"

enum { TEXT_BYTES = 4096 };

/* The start of a file as a text; "" when it cannot be read. */
static void read_text(const char *path, char *text, size_t bytes)
{
    FILE *file = fopen(path, "re");
    size_t got = 0;

    if (file) {
        got = fread(text, 1, bytes - 1, file);
        fclose(file);
    }
    text[got] = '\0';
}

static uint64_t memory_available(void)
{
    char text[TEXT_BYTES];

    read_text("/proc/meminfo", text, sizeof text);
    const char *line = strstr(text, "MemAvailable:");
    return line ? strtoull(line + strlen("MemAvailable:"), NULL, 10) * 1024 : UINT64_MAX;
}

/* The folder of this process's control group (version 2), and one file in it. */
static void group_text(const char *file, char *text, size_t bytes)
{
    char groups[TEXT_BYTES], path[TEXT_BYTES + 64];

    read_text("/proc/self/cgroup", groups, sizeof groups);
    const char *line = strstr(groups, "0::");
    if (!line) {
        text[0] = '\0';
        return;
    }
    snprintf(path, sizeof path, "/sys/fs/cgroup%.*s/%s", (int)strcspn(line + 3, "\n"), line + 3,
             file);
    read_text(path, text, bytes);
}

static uint64_t memory_of_group(void)
{
    char limit[64], used[64];

    group_text("memory.max", limit, sizeof limit);
    group_text("memory.current", used, sizeof used);
    if (limit[0] < '0' || limit[0] > '9')
        return UINT64_MAX;
    const uint64_t max = strtoull(limit, NULL, 10), now = strtoull(used, NULL, 10);
    return max > now ? max - now : 0;
}

uint64_t machine_memory_free(void)
{
    const uint64_t machine = memory_available(), group = memory_of_group();

    return machine < group ? machine : group;
}

void machine_mask(uint64_t mask_out[MACHINE_MASK_WORDS])
{
    cpu_set_t set;

    memset(mask_out, 0, MACHINE_MASK_WORDS * sizeof *mask_out);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int core = 0; core < MACHINE_MASK_WORDS * 64 && core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set))
            mask_out[core / 64] |= UINT64_C(1) << core % 64;
}

int machine_cores(const uint64_t mask[MACHINE_MASK_WORDS])
{
    char quota[64];
    int cores = 0;

    for (int word = 0; word < MACHINE_MASK_WORDS; ++word)
        cores += __builtin_popcountll(mask[word]);
    group_text("cpu.max", quota, sizeof quota); /* "200000 100000" or "max 100000" */
    char *rest = NULL;
    const long allowed = strtol(quota, &rest, 10), period = rest ? strtol(rest, NULL, 10) : 0;
    if (allowed > 0 && period > 0 && (allowed + period - 1) / period < cores)
        cores = (int)((allowed + period - 1) / period);
    return cores > 0 ? cores : 1;
}

void machine_mpi_version(char *text, size_t bytes)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;

    MPI_Get_library_version(library, &length);
    const char *at = strpbrk(library, "0123456789");
    snprintf(text, bytes, "%.*s", at ? (int)strspn(at, "0123456789.abcrc") : 7,
             at ? at : "unknown");
}

/* The word in brackets of a kernel file such as "always [madvise] never". */
static void chosen_word(const char *path, char *text, size_t bytes)
{
    char line[256];

    read_text(path, line, sizeof line);
    const char *from = strchr(line, '['), *to = from ? strchr(from, ']') : NULL;
    snprintf(text, bytes, "%.*s", to ? (int)(to - from - 1) : 7, to ? from + 1 : "unknown");
}

/* The name that an enumeration of MPI's tool interface gives to a value. */
static int enum_name(MPI_T_enum names, int wanted, char *text, size_t bytes)
{
    char name[64];
    int items = 0, length = sizeof name, value = 0;

    if (names == MPI_T_ENUM_NULL ||
        MPI_T_enum_get_info(names, &items, name, &length) != MPI_SUCCESS)
        return -1;
    for (int item = 0; item < items; ++item) {
        length = (int)bytes;
        if (MPI_T_enum_get_item(names, item, &value, text, &length) == MPI_SUCCESS &&
            value == wanted)
            return 0;
    }
    return -1;
}

static int read_setting(const char *name, char *text, size_t bytes)
{
    int index = 0, count = 0, value = 0, verbosity = 0, bind = 0, scope = 0, found = -1;
    MPI_T_cvar_handle handle;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum names = MPI_T_ENUM_NULL;

    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_cvar_get_info(index, NULL, NULL, &verbosity, &type, &names, NULL, NULL, &bind,
                            &scope) != MPI_SUCCESS ||
        type != MPI_INT || MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return -1;
    if (count == 1 && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS)
        found = enum_name(names, value, text, bytes);
    MPI_T_cvar_handle_free(&handle);
    return found;
}

/* Open MPI's setting for copies between processes, as its tool interface tells it; -1 when it does
 * not. */
static int vader_mechanism(char *text, size_t bytes)
{
    int level = 0;

    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &level) != MPI_SUCCESS)
        return -1;
    const int found = read_setting("btl_vader_single_copy_mechanism", text, bytes);
    MPI_T_finalize();
    return found;
}

/* How this MPI copies from process to process. */
static void single_copy(char *text, size_t bytes)
{
    char scope[64], vader[64] = "unknown";
    const char *const ucx = getenv("UCX_TLS");

    read_text("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope);
    const char *const yama = scope[0] > '0' ? " (ptrace_scope may forbid it)" : "";
    if (strcmp(ferry_version_mpi(), "openmpi") == 0) {
        if (vader_mechanism(vader, sizeof vader) != 0)
            snprintf(vader, sizeof vader, "unknown");
        snprintf(text, bytes, "vader single copy %s%s", vader, yama);
    } else {
        snprintf(text, bytes, "UCX_TLS %s%s", ucx ? ucx : "not set", yama);
    }
}

void machine_settings(char *text, size_t bytes)
{
    char anonymous[32], shared[32], copy[128];

    chosen_word("/sys/kernel/mm/transparent_hugepage/enabled", anonymous, sizeof anonymous);
    chosen_word("/sys/kernel/mm/transparent_hugepage/shmem_enabled", shared, sizeof shared);
    single_copy(copy, sizeof copy);
    snprintf(text, bytes, "%s; huge pages %s, shared %s", copy, anonymous, shared);
}

void machine_bytes(char *text, size_t bytes, double amount)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    size_t unit = 0;

    for (; amount >= 999.5 && unit + 1 < sizeof units / sizeof *units; ++unit)
        amount /= 1000;
    snprintf(text, bytes, unit == 0 || amount >= 99.95 ? "%.0f %s" : "%.1f %s", amount,
             units[unit]);
}
