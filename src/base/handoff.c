/* SCM_RIGHTS over an abstract Unix socket. Such a name is open to every user of the machine: both
 * sides check who is there. */
#define _GNU_SOURCE
#include "base/handoff.h"

#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/sys.h"

static socklen_t name_address(const char *name, struct sockaddr_un *address)
{
    const size_t length = strnlen(name, sizeof address->sun_path - 2);

    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path + 1, name, length);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

static int same_user(int socket)
{
    struct ucred peer;
    socklen_t bytes = sizeof peer;

    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == geteuid();
}

static int ready(int socket, int64_t deadline_ns)
{
    struct pollfd wanted = {.fd = socket, .events = POLLIN};
    const int64_t left = deadline_ns - sys_now_ns();

    return left > 0 && poll(&wanted, 1, (int)(left / 1000000) + 1) == 1;
}

/* One byte of text, since a message must have one, and the descriptor beside it. */
typedef union control_space {
    struct cmsghdr header;
    char room[CMSG_SPACE(sizeof(int))];
} control_space;

static int send_file(int socket, int fd)
{
    char byte = 0;
    control_space control;
    struct iovec text = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};

    memset(&control, 0, sizeof control);
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

static int receive_file(int socket)
{
    char byte = 0;
    int fd = -1;
    control_space control;
    struct iovec text = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof control};

    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
        return -1;
    const struct cmsghdr *const header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof fd))
        return -1;
    memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

int handoff_listen(const char *name)
{
    struct sockaddr_un address;
    const socklen_t bytes = name_address(name, &address);
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (listener < 0)
        return -1;
    if (bind(listener, (const struct sockaddr *)&address, bytes) == 0 &&
        listen(listener, SOMAXCONN) == 0)
        return listener;
    sys_close(listener);
    return -1;
}

int handoff_give(int listener, int fd, int count, int64_t timeout_ns)
{
    const int64_t deadline = sys_now_ns() + timeout_ns;

    for (int given = 0; given < count;) {
        if (!ready(listener, deadline))
            return -1;
        const int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (peer < 0)
            return -1;
        if (same_user(peer) && send_file(peer, fd) == 0)
            given++;
        sys_close(peer);
    }
    return 0;
}

int handoff_take(const char *name, int64_t timeout_ns)
{
    struct sockaddr_un address;
    const socklen_t bytes = name_address(name, &address);
    const int socket_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = -1;

    if (socket_fd < 0)
        return -1;
    if (connect(socket_fd, (const struct sockaddr *)&address, bytes) == 0 && same_user(socket_fd) &&
        ready(socket_fd, sys_now_ns() + timeout_ns))
        fd = receive_file(socket_fd);
    sys_close(socket_fd);
    return fd;
}
