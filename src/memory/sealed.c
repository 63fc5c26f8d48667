/* Sealed memory: an anonymous file whose seals keep everybody from writing to it, so that whoever
 * maps it can trust that what was checked once stays so. Others reach it through /proc, and make
 * sure that they have found the file that was meant, that it is this user's, and that it is sealed.
 * It never goes back to the pool, since nobody may write to it again. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sys.h"
#include "base/trouble.h"
#include "ferry/memory.h"

#ifndef F_SEAL_FUTURE_WRITE
#  define F_SEAL_FUTURE_WRITE 0x0010
#endif

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL };

struct ferry_sealed {
    int fd; /* of the owner; -1 elsewhere */
    void *data;
    size_t bytes;
    bool closed;
};

static ferry_status refused(const char *what)
{
    return trouble(errno == ENOMEM || errno == ENOSPC ? FERRY_ERR_MEMORY : FERRY_ERR_SYSTEM,
                   "sealed memory: %s: %s", what, strerror(errno));
}

void ferry_sealed_free(ferry_sealed *sealed)
{
    if (!sealed)
        return;
    if (sealed->data)
        sys_unmap(sealed->data, sealed->bytes);
    if (sealed->fd >= 0)
        sys_close(sealed->fd);
    alloc_free(sealed);
}

static struct {
    pthread_once_t once;
    char id[64]; /* empty: not to be had */
} boot = {.once = PTHREAD_ONCE_INIT};

static void ask_boot(void)
{
    if (!sys_boot_id(boot.id))
        boot.id[0] = '\0';
}

/* Of this start of the machine, which does not change while the process lives; or NULL. */
static const char *boot_id(void)
{
    pthread_once(&boot.once, ask_boot);
    return boot.id[0] ? boot.id : NULL;
}

/* --- the owner --- */

/* The file with all its pages, mapped for writing. */
static ferry_status fill_in(ferry_sealed *s)
{
    if (s->bytes > sys_memory_free()) /* the kernel would rather end processes than say so */
        return trouble(FERRY_ERR_MEMORY,
                       "%zu bytes of sealed memory cannot be had, the machine has %llu left",
                       s->bytes, (unsigned long long)sys_memory_free());
    s->fd = sys_memfd("ferry-sealed");
    if (s->fd < 0)
        return refused("no anonymous file");
    if (s->bytes > sys_file_limit()) /* to pass it would be a signal that ends the process */
        return trouble(FERRY_ERR_MEMORY,
                       "sealed memory of %zu bytes would pass the limit of file sizes (ulimit -f)",
                       s->bytes);
    if (sys_truncate(s->fd, (int64_t)s->bytes) != 0 ||
        sys_fallocate(s->fd, 0, 0, (int64_t)s->bytes) != 0)
        return refused("no room");
    void *const data = sys_map_shared(NULL, s->bytes, s->fd);
    if (data == MAP_FAILED)
        return refused("cannot be mapped");
    s->data = data;
    return FERRY_OK;
}

ferry_status ferry_sealed_create(size_t bytes, ferry_sealed **sealed_out, void **data_out)
{
    ferry_sealed *fresh = NULL;

    if (!sealed_out || !data_out)
        return trouble(FERRY_ERR_ARG, "ferry_sealed_create: %s is NULL",
                       sealed_out ? "data_out" : "sealed_out");
    if (bytes == 0 || bytes > INT64_MAX)
        return trouble(FERRY_ERR_ARG, "ferry_sealed_create: bytes is %zu, expected 1 to 2^63 - 1",
                       bytes);
    ferry_status st = alloc_zero(1, sizeof *fresh, &fresh);
    if (st != FERRY_OK)
        return st;
    *fresh = (ferry_sealed){.fd = -1, .bytes = bytes};
    st = fill_in(fresh);
    if (st != FERRY_OK) {
        ferry_sealed_free(fresh);
        return st;
    }
    *sealed_out = fresh;
    *data_out = fresh->data;
    return FERRY_OK;
}

static ferry_status map_read(ferry_sealed *s, int fd)
{
    void *const data = sys_map_read(s->bytes, fd);

    if (data == MAP_FAILED)
        return refused("cannot be mapped for reading");
    s->data = data;
    return FERRY_OK;
}

ferry_status ferry_sealed_close(ferry_sealed *sealed, const void **data_out)
{
    if (!sealed || !data_out)
        return trouble(FERRY_ERR_ARG, "ferry_sealed_close: %s is NULL",
                       sealed ? "data_out" : "sealed");
    if (sealed->closed)
        return trouble(FERRY_ERR_STATE, "ferry_sealed_close: the memory is sealed already");
    sealed->closed = true;
    if (sealed->data)
        sys_unmap(sealed->data, sealed->bytes);
    sealed->data = NULL;
    if (sys_seal(sealed->fd, SEALS) != 0)
        return refused("the file cannot be sealed");
    const ferry_status st = map_read(sealed, sealed->fd);
    if (st == FERRY_OK)
        *data_out = sealed->data;
    return st;
}

ferry_status ferry_sealed_offer(const ferry_sealed *sealed, ferry_ticket *ticket_out)
{
    ferry_ticket ticket = {0};
    unsigned owner;

    if (!sealed || !ticket_out)
        return trouble(FERRY_ERR_ARG, "ferry_sealed_offer: %s is NULL",
                       sealed ? "ticket_out" : "sealed");
    if (!sealed->closed || !sealed->data || sealed->fd < 0)
        return trouble(FERRY_ERR_STATE, "ferry_sealed_offer: the memory is %s",
                       sealed->fd < 0 ? "another process's" : "not sealed");
    if (!sys_identity(sealed->fd, &ticket.device, &ticket.inode, &owner))
        return refused("the file cannot be identified");
    if (!boot_id())
        return trouble(FERRY_ERR_SYSTEM, "sealed memory: the machine cannot be identified");
    memcpy(ticket.machine, boot_id(), sizeof boot.id);
    ticket.bytes = sealed->bytes;
    ticket.process = sys_pid();
    ticket.file = sealed->fd;
    *ticket_out = ticket;
    return FERRY_OK;
}

/* --- others --- */

static ferry_status check_file(const ferry_ticket *ticket, int fd)
{
    uint64_t device = 0, inode = 0;
    unsigned owner = 0;
    sys_file file;

    if (!sys_identity(fd, &device, &inode, &owner) || !sys_describe(fd, &file))
        return refused("the file cannot be identified");
    if (device != ticket->device || inode != ticket->inode || file.bytes != ticket->bytes)
        return trouble(FERRY_ERR_SYSTEM,
                       "sealed memory: file %d of process %lld is not the one that was offered",
                       ticket->file, (long long)ticket->process);
    if (owner != geteuid())
        return trouble(FERRY_ERR_SYSTEM, "sealed memory: the file is another user's");
    const int seals = sys_seals(fd);
    if (seals < 0 || (seals & SEALS) != SEALS)
        return trouble(FERRY_ERR_SYSTEM, "sealed memory: the file is not sealed");
    return FERRY_OK;
}

/* Numbers of processes and files mean something on one start of one machine only. */
static ferry_status same_machine(const ferry_ticket *ticket)
{
    const char *const here = boot_id();

    if (here && strncmp(here, ticket->machine, sizeof boot.id) == 0)
        return FERRY_OK;
    return trouble(FERRY_ERR_SYSTEM, "sealed memory: it lies on another machine");
}

static ferry_status open_and_map(const ferry_ticket *ticket, ferry_sealed *s)
{
    char path[64];

    /* Whatever is there: nothing may block or become this process's terminal. */
    snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long)ticket->process, ticket->file);
    const int fd = sys_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return refused("the owner's file cannot be opened");
    ferry_status st = check_file(ticket, fd);
    if (st == FERRY_OK)
        st = map_read(s, fd);
    sys_close(fd);
    return st;
}

ferry_status ferry_sealed_open(const ferry_ticket *ticket, ferry_sealed **sealed_out,
                               const void **data_out)
{
    ferry_sealed *fresh = NULL;

    if (!ticket || !sealed_out || !data_out)
        return trouble(FERRY_ERR_ARG, "ferry_sealed_open: %s is NULL",
                       !ticket      ? "ticket"
                       : sealed_out ? "data_out"
                                    : "sealed_out");
    ferry_status st = same_machine(ticket);
    if (st == FERRY_OK)
        st = alloc_zero(1, sizeof *fresh, &fresh);
    if (st != FERRY_OK)
        return st;
    *fresh = (ferry_sealed){.fd = -1, .bytes = ticket->bytes, .closed = true};
    st = open_and_map(ticket, fresh);
    if (st != FERRY_OK) {
        ferry_sealed_free(fresh);
        return st;
    }
    *sealed_out = fresh;
    *data_out = fresh->data;
    return FERRY_OK;
}
