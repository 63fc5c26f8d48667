/* Growing texts, base64, UTF-8, and files that appear under their name when they are complete.
 * Knows nothing of bundles. */
#define _GNU_SOURCE
#include "convert/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST_ROOM = 4096, WORD_ROOM = 128, PIECE = 1 << 30, NAME_ROOM = 48 };

/* --- texts --- */

bool buffer_grow(buffer *t, size_t count)
{
    size_t room = t->room < FIRST_ROOM ? FIRST_ROOM : t->room;

    if (t->failed)
        return false;
    if (t->room - t->bytes >= count)
        return true;
    while (room - t->bytes < count && room <= SIZE_MAX / 4)
        room *= 2;
    char *const data = room - t->bytes < count ? NULL : realloc(t->data, room);
    if (!data) {
        t->failed = true;
        return false;
    }
    t->data = data;
    t->room = room;
    return true;
}

void buffer_add(buffer *t, const char *bytes, size_t count)
{
    if (count == 0 || !buffer_grow(t, count))
        return;
    memcpy(t->data + t->bytes, bytes, count);
    t->bytes += count;
}

void buffer_word(buffer *t, const char *word)
{
    buffer_add(t, word, strlen(word));
}

void buffer_format(buffer *t, const char *format, ...)
{
    char word[WORD_ROOM]; /* formats are for numbers */
    va_list args;

    va_start(args, format);
    const int length = vsnprintf(word, sizeof word, format, args);
    va_end(args);
    buffer_add(t, word, length < WORD_ROOM ? (size_t)length : WORD_ROOM - 1);
}

void buffer_drop(buffer *t)
{
    free(t->data);
    *t = (buffer){0};
}

ferry_status buffer_finish(buffer *t, char **text_out)
{
    buffer_add(t, "", 1);
    if (t->failed) {
        const size_t bytes = t->bytes;
        buffer_drop(t);
        return ferry_status_fail(FERRY_ERR_MEMORY,
                                 "out of memory for a text of more than %zu bytes", bytes);
    }
    *text_out = t->data;
    *t = (buffer){0};
    return FERRY_OK;
}

/* --- base64 --- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void buffer_base64(buffer *t, const void *data, size_t bytes)
{
    const unsigned char *const at = data;

    for (size_t i = 0; i < bytes; i += 3) {
        const size_t left = bytes - i;
        const uint32_t group = (uint32_t)at[i] << 16 | (left > 1 ? (uint32_t)at[i + 1] << 8 : 0) |
                               (left > 2 ? at[i + 2] : 0);
        const char word[4] = {
            digits[group >> 18],
            digits[group >> 12 & 63],
            left > 1 ? digits[group >> 6 & 63] : '=',
            left > 2 ? digits[group & 63] : '=',
        };
        buffer_add(t, word, sizeof word);
    }
}

/* Three bytes of four digits, of which the last `padding` are '='. */
static bool read_group(const char *word, int padding, char bytes_out[3])
{
    uint32_t group = 0;

    for (int k = 0; k < 4; k++) {
        const char *const digit =
            k < 4 - padding ? memchr(digits, word[k], sizeof digits - 1) : digits;
        if (!digit)
            return false;
        group = group << 6 | (uint32_t)(digit - digits);
    }
    bytes_out[0] = (char)(group >> 16);
    bytes_out[1] = (char)(group >> 8);
    bytes_out[2] = (char)group;
    /* What the padding cuts off is zero, so that there is one way to write some bytes. */
    return padding == 0 || (group & (padding == 1 ? 0xff : 0xffff)) == 0;
}

bool buffer_from_base64(buffer *t, const char *word, size_t bytes)
{
    if (bytes % 4 != 0)
        return false;
    for (size_t i = 0; i < bytes; i += 4) {
        const bool last = i + 4 == bytes;
        const int padding = !last ? 0 : word[i + 3] != '=' ? 0 : word[i + 2] != '=' ? 1 : 2;
        char group[3];
        if (!read_group(word + i, padding, group))
            return false;
        buffer_add(t, group, (size_t)(3 - padding));
    }
    return true;
}

/* --- UTF-8 --- */

/* Bytes of the character that begins here, 0 when none does. */
static size_t character(const unsigned char *at, size_t left)
{
    const size_t bytes = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    const uint32_t first[] = {0, 0, 0x80, 0x800, 0x10000}; /* that need so many bytes */
    uint32_t code = at[0] & (bytes == 1 ? 0x7f : 0x7f >> bytes);

    if (bytes == 1)
        return 1;
    if (at[0] < 0xc0 || at[0] > 0xf4 || bytes > left)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    return code < first[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : bytes;
}

size_t buffer_utf8(const char *data, size_t bytes)
{
    const unsigned char *const at = (const unsigned char *)data;
    size_t i = 0;

    while (i < bytes) {
        const size_t step = at[i] < 0x80 ? 1 : character(at + i, bytes - i);
        if (step == 0)
            return i;
        i += step;
    }
    return bytes;
}

/* --- files --- */

static ferry_status refused(const char *path, const char *what)
{
    return ferry_status_fail(FERRY_ERR_SYSTEM, "%.300s: %s: %s", path, what, strerror(errno));
}

static ferry_status check_path(const char *path)
{
    if (!path || !*path)
        return ferry_status_fail(FERRY_ERR_ARG, "path is %s, expected a file's name",
                                 path ? "empty" : "NULL");
    if (strlen(path) >= PATH_MAX - NAME_ROOM)
        return ferry_status_fail(FERRY_ERR_ARG, "path has %zu bytes, expected fewer than %d",
                                 strlen(path), PATH_MAX - NAME_ROOM);
    return FERRY_OK;
}

static ferry_status check_regular(const char *path, const struct stat *file)
{
    if (S_ISREG(file->st_mode))
        return FERRY_OK;
    return ferry_status_fail(FERRY_ERR_ARG, "%.300s: %s, expected a regular file", path,
                             S_ISDIR(file->st_mode) ? "a folder" : "a pipe or device");
}

static ferry_status read_open(const char *path, int fd, char **data_out, size_t *bytes_out)
{
    struct stat file;

    if (fstat(fd, &file) != 0)
        return refused(path, "cannot be looked at");
    const ferry_status st = check_regular(path, &file);
    if (st != FERRY_OK)
        return st;
    const size_t bytes = (size_t)file.st_size;
    char *const data = malloc(bytes + 1);
    if (!data)
        return ferry_status_fail(FERRY_ERR_MEMORY, "%.300s: out of memory for %zu bytes", path,
                                 bytes);
    size_t done = 0;
    while (done < bytes) {
        const ssize_t n = read(fd, data + done, bytes - done < PIECE ? bytes - done : PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            free(data);
            return refused(path, "cannot be read");
        }
        if (n == 0)
            break; /* it has become shorter: what is there counts */
        done += (size_t)n;
    }
    *data_out = data;
    *bytes_out = done;
    return FERRY_OK;
}

ferry_status file_read_all(const char *path, char **data_out, size_t *bytes_out)
{
    ferry_status st = check_path(path);

    if (st != FERRY_OK)
        return st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is not waited for */
    if (fd < 0)
        return refused(path, "cannot be opened");
    st = read_open(path, fd, data_out, bytes_out);
    close(fd);
    return st;
}

ferry_status file_check(const char *path)
{
    struct stat file;
    const ferry_status st = check_path(path);

    if (st != FERRY_OK)
        return st;
    if (access(path, R_OK) != 0 || stat(path, &file) != 0)
        return refused(path, "cannot be opened");
    return check_regular(path, &file);
}

/* ".<name>.<number>.partial" in the same folder; a long name is cut. */
static void name_partial(output *o)
{
    const char *const slash = strrchr(o->name, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - o->name) : 0;
    uint64_t number = (uint64_t)getpid();

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) < 0)
        number ^= (uint64_t)(uintptr_t)o;
    snprintf(o->partial, sizeof o->partial, "%.*s.%.200s.%016llx.partial", (int)folder, o->name,
             o->name + folder, (unsigned long long)number);
}

ferry_status output_begin(const char *path, output *output_out)
{
    struct stat file;
    ferry_status st = check_path(path);

    if (st != FERRY_OK)
        return st;
    output_out->mode = 0;
    snprintf(output_out->name, sizeof output_out->name, "%s", path);
    if (stat(path, &file) == 0) {
        st = check_regular(path, &file);
        if (st != FERRY_OK)
            return st;
        if (!realpath(path, output_out->name) || strlen(output_out->name) >= PATH_MAX - NAME_ROOM)
            return refused(path, "its place cannot be found");
        output_out->mode = file.st_mode & 0777;
    }
    name_partial(output_out);
    return FERRY_OK;
}

static ferry_status settle(const output *o)
{
    const int fd = open(o->partial, O_RDONLY | O_CLOEXEC);
    ferry_status st = FERRY_OK;

    if (fd < 0)
        return refused(o->name, "cannot be written");
    if (o->mode != 0 && fchmod(fd, o->mode) != 0)
        st = refused(o->name, "its permissions cannot be set");
    if (st == FERRY_OK && fsync(fd) != 0)
        st = refused(o->name, "cannot be written through to the disk");
    close(fd);
    if (st == FERRY_OK && rename(o->partial, o->name) != 0)
        st = refused(o->name, "the finished file cannot take its name");
    return st;
}

ferry_status output_end(output *o, ferry_status st)
{
    if (st == FERRY_OK)
        st = settle(o);
    if (st != FERRY_OK)
        unlink(o->partial);
    return st;
}

ferry_status output_write(const output *o, const void *data, size_t bytes)
{
    const int fd = open(o->partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0)
        return refused(o->name, "cannot be written");
    for (size_t done = 0; done < bytes;) {
        const ssize_t n =
            write(fd, (const char *)data + done, bytes - done < PIECE ? bytes - done : PIECE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            const ferry_status st = refused(o->name, "cannot be written");
            close(fd);
            return st;
        }
        done += (size_t)n;
    }
    return close(fd) == 0 ? FERRY_OK : refused(o->name, "cannot be written");
}
