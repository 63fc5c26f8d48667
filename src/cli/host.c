/* Facts about the machine, read from the kernel's text files. What cannot be read is "unknown" or
 * unlimited. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/host.h"

/* The value after `key` at the start of a line of `path`, without what surrounds it; false when
 * there is none. */
static bool line_of(const char *path, const char *key, char *text_out, size_t bytes)
{
    FILE *file = fopen(path, "re");
    char line[512];
    bool found = false;

    while (file && !found && fgets(line, sizeof line, file))
        found = !strncmp(line, key, strlen(key));
    if (file)
        fclose(file);
    if (!found)
        return false;
    const char *value = line + strlen(key) + strspn(line + strlen(key), " \t:");
    snprintf(text_out, bytes, "%.*s", (int)strcspn(value, "\n"), value);
    return true;
}

/* The first number of `path` after `key`; `otherwise` without one ("max" in a cgroup's files). */
static uint64_t number_of(const char *path, const char *key, uint64_t otherwise)
{
    char text[64];
    uint64_t value;

    if (!line_of(path, key, text, sizeof text) || sscanf(text, "%" SCNu64, &value) != 1)
        return otherwise;
    return value;
}

/* A file of this process's cgroup (version 2). */
static void cgroup_file(const char *name, char *path_out, size_t bytes)
{
    char group[256];

    if (!line_of("/proc/self/cgroup", "0::", group, sizeof group))
        group[0] = '\0';
    snprintf(path_out, bytes, "/sys/fs/cgroup%s/%s", group, name);
}

static uint64_t cgroup_number(const char *name, const char *key, uint64_t otherwise)
{
    char path[512];

    cgroup_file(name, path, sizeof path);
    return number_of(path, key, otherwise);
}

static int cgroup_cores(void)
{
    char path[512], text[64];
    double quota, period;

    cgroup_file("cpu.max", path, sizeof path);
    if (!line_of(path, "", text, sizeof text) || sscanf(text, "%lf %lf", &quota, &period) != 2 ||
        period <= 0)
        return host_cores_online();
    const int cores = (int)(quota / period + 0.5);
    return cores < 1 ? 1 : cores;
}

int host_cores_online(void)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores < 1 ? 1 : (int)cores;
}

int host_cores(void)
{
    cpu_set_t set;
    const int quota = cgroup_cores();
    int cores = host_cores_online();

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        cores = CPU_COUNT(&set);
    return cores < quota ? cores : quota;
}

uint64_t host_memory(void)
{
    const uint64_t machine = 1024 * number_of("/proc/meminfo", "MemTotal", UINT64_MAX / 1024);
    const uint64_t group = cgroup_number("memory.max", "", UINT64_MAX);

    return machine < group ? machine : group;
}

/* In a cgroup, the page cache it holds can be had too. */
uint64_t host_memory_free(void)
{
    const uint64_t machine = 1024 * number_of("/proc/meminfo", "MemAvailable", UINT64_MAX / 1024);
    const uint64_t limit = cgroup_number("memory.max", "", UINT64_MAX);
    const uint64_t used = cgroup_number("memory.current", "", 0);
    const uint64_t cache = cgroup_number("memory.stat", "inactive_file", 0);
    const uint64_t held = used > cache ? used - cache : 0;

    if (limit == UINT64_MAX)
        return machine;
    const uint64_t group = limit > held ? limit - held : 0;
    return machine < group ? machine : group;
}

void host_cpu(char text_out[HOST_TEXT_BYTES])
{
    if (!line_of("/proc/cpuinfo", "model name", text_out, HOST_TEXT_BYTES))
        snprintf(text_out, HOST_TEXT_BYTES, "unknown");
}

const char *host_compiler(void)
{
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

void host_huge_pages(const char *name, char text_out[HOST_TEXT_BYTES])
{
    char path[160], line[HOST_TEXT_BYTES];

    snprintf(path, sizeof path, "/sys/kernel/mm/transparent_hugepage/%s", name);
    const char *word = line_of(path, "", line, sizeof line) ? strchr(line, '[') : NULL;
    if (word)
        snprintf(text_out, HOST_TEXT_BYTES, "%.*s", (int)strcspn(word + 1, "]"), word + 1);
    else
        snprintf(text_out, HOST_TEXT_BYTES, "unknown");
}
