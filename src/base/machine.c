/* Facts about the machine: memory and cores, as the kernel and the control groups of this process
 * allow. A control group may be limited by any of its parents, so each fact is the least over the
 * path to the root. */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"
#include "base/sys.h"

enum { TEXT_BYTES = 16384, PATH_BYTES = 1024, MASK_BITS = 8192 };

/* The start of a small file as a text; false when it cannot be read. */
static bool read_text(const char *path, char *text_out, size_t room)
{
    size_t used = 0;
    const int fd = sys_open(path, O_RDONLY, 0);

    if (fd < 0)
        return false;
    while (used + 1 < room) {
        const int64_t got = sys_read(fd, text_out + used, room - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    sys_close(fd);
    text_out[used] = '\0';
    return used > 0;
}

/* The number behind `key` at the start of a line; `otherwise` when there is none. */
static uint64_t number_after(const char *text, const char *key, uint64_t otherwise)
{
    const size_t length = strlen(key);

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0)
            return strtoull(line + length, NULL, 10);
    }
    return otherwise;
}

static uint64_t meminfo(const char *key)
{
    char text[TEXT_BYTES];

    return read_text("/proc/meminfo", text, sizeof text) ? number_after(text, key, 0) * 1024 : 0;
}

/* One level of a hierarchy of control groups: its folder, and what was found so far. */
typedef struct level {
    char folder[PATH_BYTES];
    uint64_t least;
} level;

static bool read_in(const level *at, const char *file, char *text_out, size_t room)
{
    char path[PATH_BYTES + 64];

    snprintf(path, sizeof path, "%s/%s", at->folder, file);
    return read_text(path, text_out, room);
}

/* Versions 1 and 2 name their files differently; whichever are there are read. "max" is no number
 * and limits nothing. */
static uint64_t number_in(const level *at, const char *file)
{
    char text[64];

    if (!read_in(at, file, text, sizeof text) || text[0] < '0' || text[0] > '9')
        return UINT64_MAX;
    return strtoull(text, NULL, 10);
}

static void see_total(level *at)
{
    static const char *const files[] = {"memory.max", "memory.limit_in_bytes"};

    for (int i = 0; i < 2; i++) {
        const uint64_t limit = number_in(at, files[i]);
        if (limit < at->least)
            at->least = limit;
    }
}

static void see_free(level *at)
{
    static const struct {
        const char *limit, *usage, *reclaimable;
    } files[] = {
        {"memory.max", "memory.current", "inactive_file "},
        {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file "},
    };
    char stat[TEXT_BYTES];

    for (int i = 0; i < 2; i++) {
        const uint64_t limit = number_in(at, files[i].limit);
        const uint64_t usage = number_in(at, files[i].usage);
        if (limit == UINT64_MAX || usage == UINT64_MAX)
            continue;
        const bool known = read_in(at, "memory.stat", stat, sizeof stat);
        const uint64_t cached = known ? number_after(stat, files[i].reclaimable, 0) : 0;
        const uint64_t used = usage > cached ? usage - cached : 0;
        const uint64_t left = limit > used ? limit - used : 0;
        if (left < at->least)
            at->least = left;
    }
}

static void see_cores(level *at)
{
    char text[64];
    unsigned long long quota = 0, period = 0;

    if (read_in(at, "cpu.max", text, sizeof text)) {
        if (sscanf(text, "%llu %llu", &quota, &period) != 2)
            return;
    } else {
        quota = number_in(at, "cpu.cfs_quota_us"); /* -1, no number, without a limit */
        period = number_in(at, "cpu.cfs_period_us");
        if (quota == UINT64_MAX || period == UINT64_MAX)
            return;
    }
    if (period > 0 && quota / period < at->least)
        at->least = quota / period;
}

/* This process's path in the hierarchy of `controller` ("": version 2) from lines
 * "7:cpu,cpuacct:/path". */
static bool own_path(const char *controller, char path_out[PATH_BYTES])
{
    char text[TEXT_BYTES], *rest = text;

    if (!read_text("/proc/self/cgroup", text, sizeof text))
        return false;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        strsep(&line, ":");
        char *names = line ? strsep(&line, ":") : NULL;
        if (!names || !line)
            continue;
        bool found = *controller == '\0' && *names == '\0';
        for (char *name = strsep(&names, ","); name && *controller && !found;
             name = strsep(&names, ","))
            found = strcmp(name, controller) == 0;
        if (found)
            return snprintf(path_out, PATH_BYTES, "%s", line) < PATH_BYTES;
    }
    return false;
}

/* Look at every level from this process's group up to the root of the mounted hierarchy. */
static uint64_t least_of(const char *controller, uint64_t start, void (*see)(level *at))
{
    char path[PATH_BYTES];
    level at = {.least = start};

    if (!own_path(controller, path))
        return start;
    for (;;) {
        const char *const folder = *controller ? "/" : "";
        if (snprintf(at.folder, sizeof at.folder, "/sys/fs/cgroup%s%s%s", folder, controller,
                     path) < PATH_BYTES)
            see(&at);
        char *const slash = strrchr(path, '/');
        if (!slash || path[0] == '\0')
            return at.least;
        *slash = '\0';
    }
}

uint64_t sys_memory_total(void)
{
    const uint64_t total = meminfo("MemTotal:");

    return least_of("memory", least_of("", total, see_total), see_total);
}

uint64_t sys_memory_free(void)
{
    const uint64_t available = meminfo("MemAvailable:");

    return least_of("memory", least_of("", available, see_free), see_free);
}

int sys_affinity(uint64_t *mask_out, int words)
{
    unsigned long mask[MASK_BITS / (8 * sizeof(unsigned long))] = {0};
    int set = 0;

    if (sched_getaffinity(0, sizeof mask, (cpu_set_t *)mask) != 0)
        mask[0] = 1;
    for (int i = 0; i < (int)(sizeof mask / sizeof mask[0]); i++)
        set += __builtin_popcountl(mask[i]);
    memset(mask_out, 0, (size_t)words * sizeof *mask_out);
    memcpy(mask_out, mask, size_min(sizeof mask, (size_t)words * sizeof *mask_out));
    return set;
}

int sys_cores(void)
{
    uint64_t mask;
    const uint64_t allowed = (uint64_t)sys_affinity(&mask, 1);
    const uint64_t quota = least_of("cpu", least_of("", allowed, see_cores), see_cores);

    return quota < 1 ? 1 : (int)quota; /* whole cores: a rank with half of one must not spin */
}

void sys_cpu_name(char *text_out, size_t bytes)
{
    static const char *const keys[] = {"\nmodel name", "\nCPU part", "\ncpu"}; /* by architecture */
    char text[TEXT_BYTES];
    const char *name = NULL;

    snprintf(text_out, bytes, "unknown");
    if (!read_text("/proc/cpuinfo", text, sizeof text))
        return;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !name; i++)
        name = strstr(text, keys[i]);
    name = name ? strchr(name, ':') : NULL;
    if (!name)
        return;
    name += 1 + strspn(name + 1, " \t");
    snprintf(text_out, bytes, "%.*s", (int)strcspn(name, "\n"), name);
}

bool sys_boot_id(char text_out[64])
{
    char text[64];

    if (!read_text("/proc/sys/kernel/random/boot_id", text, sizeof text))
        return false;
    text[strcspn(text, "\n")] = '\0';
    memcpy(text_out, text, sizeof text);
    return true;
}
