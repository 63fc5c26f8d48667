/* /proc/self/smaps and /proc/self/maps, read in pieces without any allocation: the next malloc
 * could change what they say. */
#include "memory/smaps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/sys.h"
#include "base/trouble.h"

enum { LINE_BYTES = 512, BUFFER_BYTES = 8192 };

/* Lines of a file; what is longer is cut. */
typedef struct lines {
    int fd;
    size_t at, used;
    char buffer[BUFFER_BYTES];
} lines;

static bool next_byte(lines *in, char *byte_out)
{
    if (in->at == in->used) {
        const int64_t got = sys_read(in->fd, in->buffer, sizeof in->buffer);
        if (got <= 0)
            return false;
        in->at = 0;
        in->used = (size_t)got;
    }
    *byte_out = in->buffer[in->at++];
    return true;
}

static bool next_line(lines *in, char line_out[LINE_BYTES])
{
    size_t length = 0;
    char byte;

    if (!next_byte(in, &byte))
        return false;
    while (byte != '\n') {
        if (length + 1 < LINE_BYTES)
            line_out[length++] = byte;
        if (!next_byte(in, &byte))
            break;
    }
    line_out[length] = '\0';
    return true;
}

/* One mapping of this process. */
typedef struct area {
    unsigned long start, end, offset, inode;
    char rights[5]; /* such as "rw-p" */
    char name[LINE_BYTES];
} area;

static bool read_area(const char *line, area *area_out)
{
    int name = 0;

    if (sscanf(line, "%lx-%lx %4s %lx %*x:%*x %lu %n", &area_out->start, &area_out->end,
               area_out->rights, &area_out->offset, &area_out->inode, &name) < 5)
        return false;
    snprintf(area_out->name, sizeof area_out->name, "%s", line + name);
    return true;
}

static ferry_status refuse(const area *area, const char *what, const char *detail)
{
    return trouble(FERRY_ERR_ARG,
                   "ferry_memory_adopt: the memory at 0x%lx to 0x%lx cannot be adopted: it is "
                   "%s%.100s",
                   area->start, area->end, what, detail);
}

static ferry_status check_area(const area *a)
{
    if (strcmp(a->name, "[stack]") == 0)
        return refuse(a, "a stack", "");
    if (a->rights[3] == 's')
        return refuse(a, "shared already, a mapping of ", a->name);
    if (a->inode != 0 || a->name[0] == '/')
        return refuse(a, "a mapping of the file ", a->name);
    if (a->rights[0] != 'r' || a->rights[1] != 'w')
        return refuse(a, "not readable and writable, its rights are ", a->rights);
    if (a->rights[2] == 'x')
        return refuse(a, "executable", "");
    if (a->name[0] && strcmp(a->name, "[heap]") != 0 && strncmp(a->name, "[anon", 5) != 0)
        return refuse(a, "a special mapping: ", a->name);
    return FERRY_OK;
}

/* Words of the line VmFlags. */
static const struct {
    const char *word, *what;
} obstacles[] = {
    {"lo", "locked (mlock)"},
    {"dc", "not passed on by fork (MADV_DONTFORK)"},
    {"ht", "on pages of hugetlbfs"},
    {"gd", "a stack"},
    {"io", "memory of a device"},
    {"pf", "memory of a device"},
    {"wf", "emptied by fork (MADV_WIPEONFORK)"},
    {"um", "watched by userfaultfd"},
    {"uw", "watched by userfaultfd"},
    {"ui", "watched by userfaultfd"},
    {"ss", "a shadow stack"},
    {"sl", "sealed (mseal)"},
};

static const struct {
    const char *word;
    unsigned bit;
} advices[] = {{"hg", SMAPS_HUGE}, {"nh", SMAPS_NO_HUGE}, {"dd", SMAPS_NO_DUMP}};

/* `flags` is "VmFlags: rd wr mr ... "; each word is followed by a blank. */
static bool has(const char *flags, const char *word)
{
    const char wanted[] = {' ', word[0], word[1], ' ', '\0'};

    return strstr(flags, wanted) != NULL;
}

static ferry_status check_flags(const area *a, const char *line, unsigned *advice)
{
    char flags[LINE_BYTES + 2];
    unsigned found = 0;

    snprintf(flags, sizeof flags, "%s ", line); /* the last word may end the line */
    for (size_t i = 0; i < sizeof obstacles / sizeof *obstacles; i++)
        if (has(flags, obstacles[i].word))
            return refuse(a, obstacles[i].what, "");
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
        if (has(flags, advices[i].word))
            found |= advices[i].bit;
    *advice &= found;
    return FERRY_OK;
}

/* How far a range has been looked through. */
typedef struct search {
    uintptr_t next, end; /* all before `next` is known to be right */
    area now;
    bool inside; /* `now` is part of the range, and its flags have not come yet */
    unsigned advice;
} search;

static ferry_status unmapped(uintptr_t at)
{
    return trouble(FERRY_ERR_ARG, "ferry_memory_adopt: nothing is mapped at 0x%lx",
                   (unsigned long)at);
}

static ferry_status no_flags(void)
{
    return trouble(FERRY_ERR_SYSTEM, "ferry_memory_adopt: /proc/self/smaps has no flags, so what "
                                     "the memory is cannot be found out");
}

/* One more line of smaps. */
static ferry_status see(search *s, const char *line)
{
    if (read_area(line, &s->now)) {
        if (s->inside)
            return no_flags();
        if (s->now.end <= s->next)
            return FERRY_OK;
        if (s->now.start > s->next)
            return unmapped(s->next);
        s->inside = true;
        return check_area(&s->now);
    }
    if (!s->inside || strncmp(line, "VmFlags:", 8) != 0)
        return FERRY_OK;
    s->inside = false;
    s->next = s->now.end;
    return check_flags(&s->now, line, &s->advice);
}

ferry_status smaps_check(uintptr_t start, uintptr_t end, unsigned *advice_out)
{
    lines in = {.fd = sys_open("/proc/self/smaps", O_RDONLY, 0)};
    search s = {.next = start, .end = end, .advice = ~0u};
    char line[LINE_BYTES];
    ferry_status st = FERRY_OK;

    if (in.fd < 0)
        return trouble(FERRY_ERR_SYSTEM,
                       "ferry_memory_adopt: what the memory is cannot be found out: "
                       "/proc/self/smaps: %s",
                       strerror(errno));
    while (st == FERRY_OK && s.next < s.end && next_line(&in, line))
        st = see(&s, line);
    sys_close(in.fd);
    if (st == FERRY_OK && s.next < s.end)
        st = s.inside ? no_flags() : unmapped(s.next);
    if (st == FERRY_OK)
        *advice_out = s.advice;
    return st;
}

bool smaps_is_file(uintptr_t start, uintptr_t end, uint64_t inode, uint64_t offset)
{
    lines in = {.fd = sys_open("/proc/self/maps", O_RDONLY, 0)};
    uintptr_t next = start;
    char line[LINE_BYTES];
    area a;

    if (in.fd < 0)
        return false;
    while (next < end && next_line(&in, line)) {
        if (!read_area(line, &a) || a.end <= next)
            continue;
        if (a.start > next || a.rights[3] != 's' || a.inode != inode ||
            a.offset + (next - a.start) != offset + (next - start))
            break;
        next = a.end;
    }
    sys_close(in.fd);
    return next >= end;
}
