/* Three ways to share a file: an anonymous one opened through /proc, the same handed over by a
 * socket, and a named one that is unlinked as soon as everybody has it. What was opened is compared
 * with what was offered before it is used. */
#define _GNU_SOURCE
#include "memory/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/handoff.h"
#include "base/sys.h"
#include "base/trouble.h"

enum { HANDOFF_NS = 2000000000 };

/* What the lowest rank of the node tells the others. */
typedef struct offer {
    int pid, fd;
    int listener; /* means nothing to the others */
    uint64_t device, inode;
    char name[64];
} offer;

typedef struct segment_kind {
    const char *name;
    int (*create)(offer *made);            /* lowest rank: a new file; its descriptor, or -1 */
    int (*serve)(offer *made, int others); /* lowest rank, while the others open */
    int (*open)(const offer *got);         /* the others: its descriptor, or -1 */
    void (*hide)(offer *made);             /* lowest rank, when all have it or have failed */
} segment_kind;

static void random_name(offer *made)
{
    snprintf(made->name, sizeof made->name, "/ferry-%016llx%016llx",
             (unsigned long long)sys_random(), (unsigned long long)sys_random());
}

static int create_memfd(offer *made)
{
    made->fd = sys_memfd("ferry");
    return made->fd;
}
static int open_memfd(const offer *got)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", got->pid, got->fd);
    return sys_open(path, O_RDWR, 0);
}

static int create_socket(offer *made)
{
    random_name(made);
    made->listener = handoff_listen(made->name + 1);
    return made->listener < 0 ? -1 : create_memfd(made);
}
static int serve_socket(offer *made, int others)
{
    return handoff_give(made->listener, made->fd, others, HANDOFF_NS);
}
static int open_socket(const offer *got)
{
    return handoff_take(got->name + 1, HANDOFF_NS);
}
static void hide_socket(offer *made)
{
    if (made->listener >= 0)
        sys_close(made->listener);
}

static int create_named(offer *made)
{
    random_name(made);
    made->fd = sys_open_shared(made->name, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (made->fd < 0)
        made->name[0] = '\0';
    return made->fd;
}
static int open_named(const offer *got)
{
    return sys_open_shared(got->name, O_RDWR, 0);
}
static void hide_named(offer *made)
{
    if (made->name[0])
        sys_unlink_shared(made->name);
}

static int serve_nothing(offer *made, int others)
{
    (void)made, (void)others;
    return 0;
}
static void hide_nothing(offer *made)
{
    (void)made;
}

static const segment_kind kinds[] = {
    {"memfd", create_memfd, serve_nothing, open_memfd, hide_nothing},
    {"socket", create_socket, serve_socket, open_socket, hide_socket},
    {"named", create_named, serve_nothing, open_named, hide_named},
};

const char *segment_way(int index)
{
    return index >= 0 && index < (int)(sizeof kinds / sizeof *kinds) ? kinds[index].name : NULL;
}

static const segment_kind *find_kind(const char *way)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, way) == 0)
            return &kinds[i];
    return NULL;
}

static ferry_status create(const segment_kind *kind, size_t bytes, offer *made)
{
    unsigned owner = 0;

    memset(made, 0, sizeof *made);
    made->pid = sys_pid();
    made->listener = -1;
    made->fd = -1;
    if (kind->create(made) < 0)
        return trouble(FERRY_ERR_SYSTEM, "no shared file by way %s: %s", kind->name,
                       strerror(errno));
    if (bytes > sys_file_limit()) /* to pass it would be a signal that ends the process */
        return trouble(FERRY_ERR_SYSTEM,
                       "a shared file of %zu bytes would pass the limit of file sizes (ulimit -f)",
                       bytes);
    if (sys_truncate(made->fd, (int64_t)bytes) != 0)
        return trouble(FERRY_ERR_SYSTEM, "a shared file cannot have %zu bytes: %s", bytes,
                       strerror(errno));
    sys_seal(made->fd,
             F_SEAL_SHRINK |
                 F_SEAL_GROW); /* a named file has no seals; its name is random and soon gone */
    if (!sys_identity(made->fd, &made->device, &made->inode, &owner))
        return trouble(FERRY_ERR_SYSTEM, "a shared file cannot be identified: %s", strerror(errno));
    return FERRY_OK;
}

static ferry_status reach(const segment_kind *kind, const offer *got, int *fd_out)
{
    uint64_t device = 0, inode = 0;
    unsigned owner = 0;

    *fd_out = kind->open(got);
    if (*fd_out < 0)
        return trouble(FERRY_ERR_SYSTEM,
                       "the shared file of process %d cannot be opened by way %s: %s", got->pid,
                       kind->name, strerror(errno));
    if (!sys_identity(*fd_out, &device, &inode, &owner) || device != got->device ||
        inode != got->inode || owner != geteuid())
        return trouble(FERRY_ERR_SYSTEM,
                       "the file opened by way %s is not the one that process %d offers",
                       kind->name, got->pid);
    return FERRY_OK;
}

ferry_status segment_open(ferry_context *ctx, const char *way, size_t bytes, int *fd_out)
{
    const segment_kind *const kind = find_kind(way);
    const bool first = ctx->node_rank == 0;
    offer made = {.listener = -1, .fd = -1};
    int fd = -1;
    ferry_status st = first ? create(kind, bytes, &made) : FERRY_OK;

    if (first)
        fd = made.fd;
    st = context_agree_node(ctx, st);
    if (st != FERRY_OK)
        goto out;
    offer got = made;
    st = pmpi_status(PMPI_Bcast(&got, sizeof got, MPI_BYTE, 0, ctx->node_comm), "MPI_Bcast");
    if (st != FERRY_OK)
        goto out;
    if (!first)
        st = reach(kind, &got, &fd);
    else if (kind->serve(&made, ctx->node_size - 1) != 0)
        st = trouble(FERRY_ERR_SYSTEM,
                     "not all ranks of the node fetched the shared file by way %s", kind->name);
    st = context_agree_node(ctx, st);
out:
    if (first)
        kind->hide(&made);
    if (st == FERRY_OK)
        *fd_out = fd;
    else if (fd >= 0)
        sys_close(fd);
    return st;
}
