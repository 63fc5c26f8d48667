/* Files. An output grows under a hidden name of its own beside its final place, so that the final
 * name shows all or nothing: renaming within a folder is atomic. Knows nothing of MPI. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/file.h"
#include "cli/say.h"

enum { PIECE = 1 << 30 }; /* one call moves less than 2 GiB */

int file_open(const char *name, int *fd_out)
{
    /* A pipe without writers is refused later, not waited for. */
    const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return complain(CLI_FAILURE, "%s: cannot be opened: %s", name, strerror(errno));
    *fd_out = fd;
    return CLI_OK;
}

static size_t piece(int64_t left)
{
    return left < PIECE ? (size_t)left : PIECE;
}

int file_read(const char *name, int fd, void *data, int64_t bytes, int64_t offset)
{
    for (int64_t done = 0; done < bytes;) {
        const ssize_t n = pread(fd, (char *)data + done, piece(bytes - done), offset + done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return complain(CLI_FAILURE, "%s: cannot be read at byte %" PRId64 ": %s", name,
                            offset + done, strerror(errno));
        if (n == 0)
            return complain(CLI_FAILURE,
                            "%s: the data is cut off at byte %" PRId64 ", expected %" PRId64, name,
                            offset + done, offset + bytes);
        done += n;
    }
    return CLI_OK;
}

int file_write(const char *name, int fd, const void *data, int64_t bytes, int64_t offset)
{
    for (int64_t done = 0; done < bytes;) {
        const ssize_t n = pwrite(fd, (const char *)data + done, piece(bytes - done), offset + done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return complain(CLI_FAILURE, "%s: cannot be written at byte %" PRId64 ": %s", name,
                            offset + done, strerror(n < 0 ? errno : ENOSPC));
        done += n;
    }
    return CLI_OK;
}

int output_check(const char *name, bool force, output *output_out)
{
    struct stat file;

    output_out->partial[0] = '\0';
    if (strlen(name) + 32 > sizeof output_out->name)
        return complain(CLI_FAILURE, "%.40s...: the name has %zu bytes, expected fewer than %zu",
                        name, strlen(name), sizeof output_out->name - 32);
    snprintf(output_out->name, sizeof output_out->name, "%s", name);
    if (stat(name, &file) != 0) {
        if (errno != ENOENT)
            return complain(CLI_FAILURE, "%s: cannot be written: %s", name, strerror(errno));
        if (lstat(name, &file) == 0)
            return complain(CLI_FAILURE,
                            "%s: a symbolic link to nothing, expected a file or a new name", name);
        return CLI_OK;
    }
    if (!S_ISREG(file.st_mode))
        return complain(CLI_FAILURE, "%s: %s, expected a regular file or a new name", name,
                        S_ISDIR(file.st_mode) ? "a directory" : "a pipe or device");
    if (!force)
        return complain(CLI_FAILURE, "%s: exists already, expected a new name or --force", name);
    char real[PATH_MAX];
    if (!realpath(name, real) || strlen(real) + 32 > sizeof real)
        return complain(CLI_FAILURE, "%s: its place cannot be found", name);
    memcpy(output_out->name, real, sizeof real);
    return CLI_OK;
}

/* "<folder>/.<name>.XXXXXX.partial", where a long name is cut. */
static void name_partial(output *output)
{
    char folder[PATH_MAX], last[PATH_MAX];

    memcpy(folder, output->name, sizeof folder);
    memcpy(last, output->name, sizeof last);
    const int folder_bytes =
        snprintf(output->partial, sizeof output->partial, "%s", dirname(folder));
    snprintf(output->partial + folder_bytes, sizeof output->partial - (size_t)folder_bytes,
             "/.%.200s.XXXXXX.partial", basename(last));
}

static mode_t mode_of(const char *name)
{
    struct stat file;
    const mode_t mask = umask(0);

    umask(mask);
    return stat(name, &file) == 0 ? file.st_mode & 0777 : 0666 & ~mask;
}

/* All room is taken now: a full disk is found before anything is moved. Some file systems cannot;
 * they find it later. */
static int take_room(const output *output, int fd, int64_t bytes)
{
    struct statvfs room;

    if (bytes == 0 || fallocate(fd, 0, 0, bytes) == 0)
        return CLI_OK;
    if ((errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) && ftruncate(fd, bytes) == 0)
        return CLI_OK;
    if (errno != ENOSPC || fstatvfs(fd, &room) != 0)
        return complain(CLI_FAILURE, "%s: no room for %" PRId64 " bytes: %s", output->name, bytes,
                        strerror(errno));
    return complain(CLI_FAILURE,
                    "%s: needs %" PRId64 " bytes, but its file system has %" PRIu64 " free",
                    output->name, bytes, (uint64_t)room.f_bavail * room.f_frsize);
}

int output_make(output *output, int64_t bytes)
{
    name_partial(output);
    const int fd = mkostemps(output->partial, sizeof ".partial" - 1, O_CLOEXEC);
    if (fd < 0) {
        output->partial[0] = '\0';
        return complain(CLI_FAILURE, "%s: cannot be written: %s", output->name, strerror(errno));
    }
    int status = take_room(output, fd, bytes);
    if (status == CLI_OK && fchmod(fd, mode_of(output->name)) != 0)
        status =
            complain(CLI_FAILURE, "%s: its mode cannot be set: %s", output->name, strerror(errno));
    close(fd);
    if (status != CLI_OK)
        output_drop(output);
    return status;
}

int output_finish(output *output, bool force)
{
    int failed =
        renameat2(AT_FDCWD, output->partial, AT_FDCWD, output->name, force ? 0 : RENAME_NOREPLACE);

    if (failed && errno == EINVAL) /* a file system that can only replace */
        failed = rename(output->partial, output->name);
    if (failed)
        return complain(CLI_FAILURE, "%s: cannot take its place: %s", output->name,
                        strerror(errno));
    output->partial[0] = '\0';
    return CLI_OK;
}

void output_drop(output *output)
{
    if (output->partial[0])
        unlink(output->partial);
    output->partial[0] = '\0';
}
