/* The file of the tuning record: see file.h. A record must never stop a program, so that whatever
 * is wrong with a file ends in a reason, not in an error. */
#include "tune/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/sys.h"
#include "base/trouble.h"

enum { NAME_BYTES = 64 };

void tune_machine(char text_out[TUNE_MACHINE_BYTES])
{
    char cpu[TUNE_MACHINE_BYTES - 40];

    sys_cpu_name(cpu, sizeof cpu);
    snprintf(text_out, TUNE_MACHINE_BYTES, "%s, %s", cpu, FERRY_MPI_NAME);
}

/* "AMD EPYC 7763, mpich" as "amd-epyc-7763-mpich". */
static void file_name(char name_out[NAME_BYTES])
{
    char machine[TUNE_MACHINE_BYTES];
    size_t used = 0;

    tune_machine(machine);
    for (const char *at = machine; *at && used < NAME_BYTES - 1; at++) {
        if (isalnum((unsigned char)*at))
            name_out[used++] = (char)tolower((unsigned char)*at);
        else if (used > 0 && name_out[used - 1] != '-')
            name_out[used++] = '-';
    }
    name_out[used] = '\0';
}

/* The folder above ferry's own; a relative $XDG_CACHE_HOME counts as none, as its definition says.
 */
static bool cache_folder(char folder_out[TUNE_PATH_BYTES])
{
    const char *const cache = getenv("XDG_CACHE_HOME"), *const home = getenv("HOME");
    const bool own = cache && cache[0] == '/';

    if (!own && (!home || home[0] != '/'))
        return false;
    return snprintf(folder_out, TUNE_PATH_BYTES, "%s%s", own ? cache : home, own ? "" : "/.cache") <
           TUNE_PATH_BYTES - 2 * NAME_BYTES;
}

static ferry_status no_folder(void)
{
    return trouble(FERRY_ERR_SYSTEM, "there is no folder for the tuning record: neither "
                                     "XDG_CACHE_HOME nor HOME is a full path of usual length");
}

ferry_status tune_path(char path_out[TUNE_PATH_BYTES])
{
    char folder[TUNE_PATH_BYTES], name[NAME_BYTES];

    if (!cache_folder(folder))
        return no_folder();
    file_name(name);
    snprintf(path_out, TUNE_PATH_BYTES, "%.*s/ferry/tune-%s.txt", TUNE_PATH_BYTES - 2 * NAME_BYTES,
             folder, name);
    return FERRY_OK;
}

/* ---- Reading ---- */

/* The whole of a regular file that is short enough for a record; -1 otherwise, with the reason. */
static int64_t read_all(int fd, char text_out[TUNE_TEXT_BYTES + 1], const char **why_out)
{
    sys_file file;
    int64_t used = 0, got = 1;

    if (!sys_describe(fd, &file) || !file.regular) {
        *why_out = "it is no regular file";
        return -1;
    }
    while (got > 0 && used <= TUNE_TEXT_BYTES) {
        got = sys_read(fd, text_out + used, (size_t)(TUNE_TEXT_BYTES + 1 - used));
        if (got < 0) {
            *why_out = strerror(errno);
            return -1;
        }
        used += got;
    }
    *why_out = "it is too long";
    return used <= TUNE_TEXT_BYTES ? used : -1;
}

/* O_NONBLOCK: a pipe of this name must not be waited for. */
tune_found tune_load(tune_record *record_out, char *why, size_t why_bytes)
{
    char path[TUNE_PATH_BYTES], machine[TUNE_MACHINE_BYTES], text[TUNE_TEXT_BYTES + 1];
    const char *reason = "";

    if (tune_path(path) != FERRY_OK)
        return TUNE_ABSENT;
    const int fd = sys_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return TUNE_ABSENT;
    if (fd < 0) {
        snprintf(why, why_bytes, "%.200s: %s", path, strerror(errno));
        return TUNE_REFUSED;
    }
    const int64_t bytes = read_all(fd, text, &reason);
    sys_close(fd);
    tune_machine(machine);
    char detail[320];
    if (bytes >= 0 && tune_parse(text, (size_t)bytes, machine, record_out, detail, sizeof detail))
        return TUNE_READ;
    snprintf(why, why_bytes, "%.200s: %s", path, bytes < 0 ? reason : detail);
    return TUNE_REFUSED;
}

/* ---- Writing ---- */

static ferry_status refused(const char *path, const char *what)
{
    return trouble(FERRY_ERR_SYSTEM, "%.300s: %s: %s", path, what, strerror(errno));
}

/* The folders of a file, from the first one down. The cache folder is a private one by its
 * definition. */
static ferry_status make_folders(const char *path)
{
    char folder[TUNE_PATH_BYTES];

    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
        if (sys_make_folder(folder, 0700) != 0 && errno != EEXIST) {
            sys_file there; /* some file systems say EROFS or EACCES first */
            const int failed = errno;
            if (sys_look(folder, &there) && there.folder)
                continue;
            errno = failed;
            return refused(folder, "the folder cannot be made");
        }
    }
    return FERRY_OK;
}

static ferry_status write_all(int fd, const char *path, char *text, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const struct iovec part = {text + done, bytes - done};
        const int64_t written = sys_write_parts(fd, &part, 1);
        if (written < 0 && errno != EINTR)
            return refused(path, "cannot be written");
        done += written > 0 ? (size_t)written : 0;
    }
    return sys_sync(fd) == 0 ? FERRY_OK : refused(path, "cannot be written through to the disk");
}

static ferry_status replace(const char *path, char *text, size_t bytes)
{
    char partial[TUNE_PATH_BYTES + 32];

    snprintf(partial, sizeof partial, "%s.%016llx", path, (unsigned long long)sys_random());
    const int fd = sys_open(partial, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (fd < 0)
        return refused(path, "cannot be written");
    ferry_status st = write_all(fd, path, text, bytes);
    if (sys_close(fd) != 0 && st == FERRY_OK)
        st = refused(path, "cannot be written");
    if (st == FERRY_OK && sys_rename(partial, path) != 0)
        st = refused(path, "the new record cannot take its name");
    if (st != FERRY_OK)
        sys_unlink(partial);
    return st;
}

ferry_status tune_save(const tune_record *record)
{
    char path[TUNE_PATH_BYTES], machine[TUNE_MACHINE_BYTES], text[TUNE_TEXT_BYTES];
    text_out out = {text, sizeof text, 0};
    ferry_status st = tune_path(path);

    if (st == FERRY_OK)
        st = make_folders(path);
    if (st != FERRY_OK)
        return st;
    tune_machine(machine);
    tune_print(record, machine, &out);
    return replace(path, text, out.needed);
}
