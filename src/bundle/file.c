/* Images in files. What is written is the encoding that messages have, piece by piece from where
 * the values lie; what is read or mapped goes to the decoder, which trusts nothing. Knows nothing
 * of the format beyond its first bytes.
 *
 * A file grows under a hidden name of its own and is renamed at the end, so that nobody sees half
 * of one. */
#include "ferry/bundle_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "base/sys.h"
#include "base/trouble.h"
#include "bundle/image.h"
#include "ferry/memory.h"

enum {
    PIECE = 1 << 30, /* one read moves less than 2 GiB */
    PARTS = 64,      /* of one write */
    NAME_ROOM = 40   /* that the hidden name adds */
};

/* An output that is being made. */
typedef struct output {
    char name[PATH_MAX]; /* final, symbolic links followed */
    char partial[PATH_MAX];
    unsigned mode; /* of the file that is replaced; 0: none */
    int fd;
} output;

static ferry_status refused(const char *path, const char *what)
{
    return trouble(errno == ENOMEM ? FERRY_ERR_MEMORY : FERRY_ERR_SYSTEM, "%.300s: %s: %s", path,
                   what, strerror(errno));
}

static ferry_status check_path(const char *path)
{
    if (!path || !*path)
        return trouble(FERRY_ERR_ARG, "path is %s, expected a file's name",
                       path ? "empty" : "NULL");
    if (strlen(path) >= PATH_MAX - NAME_ROOM)
        return trouble(FERRY_ERR_ARG, "path has %zu bytes, expected fewer than %d", strlen(path),
                       PATH_MAX - NAME_ROOM);
    return FERRY_OK;
}

static ferry_status not_regular(const char *path, const sys_file *file)
{
    return trouble(FERRY_ERR_ARG, "%.300s: %s, expected a regular file", path,
                   file->folder ? "a folder" : "a pipe or device");
}

/* --- writing --- */

/* Where a file at `path` really is, and what it is. */
static ferry_status look_at_target(const char *path, output *o)
{
    sys_file file;

    memcpy(o->name, path, strlen(path) + 1);
    if (!sys_look(path, &file)) /* a name in a folder that is missing is refused when it is made */
        return FERRY_OK;
    if (!file.regular)
        return not_regular(path, &file);
    if (!sys_resolve(path, o->name) || strlen(o->name) >= PATH_MAX - NAME_ROOM)
        return refused(path, "its place cannot be found");
    o->mode = file.mode;
    return FERRY_OK;
}

/* Bytes of the folder's name, with the slash. */
static size_t folder_bytes(const char *name)
{
    const char *const slash = strrchr(name, '/');

    return slash ? (size_t)(slash + 1 - name) : 0;
}

/* ".<name>.<number>.partial" in the same folder; a long name is cut. */
static ferry_status open_partial(output *o)
{
    const size_t folder = folder_bytes(o->name);

    snprintf(o->partial, sizeof o->partial, "%.*s.%.200s.%016llx.partial", (int)folder, o->name,
             o->name + folder, (unsigned long long)sys_random());
    o->fd = sys_open(o->partial, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (o->fd < 0)
        return refused(o->name, "cannot be written");
    if (o->mode != 0 && sys_set_mode(o->fd, o->mode) != 0)
        return refused(o->name, "its permissions cannot be set");
    return FERRY_OK;
}

/* Up to PARTS pieces from the place where writing stopped; returns how many. */
static int list_parts(const encoding *e, size_t piece, size_t done, struct iovec parts[PARTS])
{
    int count = 0;

    for (; piece < e->count && count < PARTS; piece++, count++) {
        const char *const data = e->pieces[piece].data;
        parts[count].iov_base = (char *)data + done; /* writev() only reads */
        parts[count].iov_len = e->pieces[piece].bytes - done;
        done = 0;
    }
    return count;
}

static ferry_status write_pieces(const output *o, const encoding *e)
{
    size_t piece = 0, done = 0; /* pieces that are written, and bytes of the next one */

    while (piece < e->count) {
        struct iovec parts[PARTS];
        const int count = list_parts(e, piece, done, parts);
        const int64_t written = sys_write_parts(o->fd, parts, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return refused(o->name, "cannot be written");
        done += (size_t)written;
        for (; piece < e->count && done >= e->pieces[piece].bytes; piece++)
            done -= e->pieces[piece].bytes;
    }
    return FERRY_OK;
}

/* A new name lasts when its folder is on the disk too. Where folders cannot be synchronised the
 * system does it in its own time. */
static void sync_folder(const output *o)
{
    char folder[PATH_MAX];
    const size_t bytes = folder_bytes(o->name);

    snprintf(folder, sizeof folder, "%.*s", bytes ? (int)bytes : 1, bytes ? o->name : ".");
    const int fd = sys_open(folder, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0)
        return;
    sys_sync(fd);
    sys_close(fd);
}

static ferry_status finish_output(output *o, ferry_status st)
{
    if (o->fd < 0)
        return st;
    if (st == FERRY_OK && sys_sync(o->fd) != 0)
        st = refused(o->name, "cannot be written through to the disk");
    if (sys_close(o->fd) != 0 && st == FERRY_OK)
        st = refused(o->name, "cannot be written");
    if (st == FERRY_OK && sys_rename(o->partial, o->name) != 0)
        st = refused(o->name, "the finished file cannot take its name");
    if (st == FERRY_OK)
        sync_folder(o);
    else
        sys_unlink(o->partial);
    return st;
}

static ferry_status write_file(const char *path, const encoding *e)
{
    output o = {.fd = -1};
    ferry_status st = look_at_target(path, &o);

    if (st == FERRY_OK)
        st = open_partial(&o);
    if (st == FERRY_OK)
        st = write_pieces(&o, e);
    return finish_output(&o, st);
}

ferry_status ferry_bundle_save(const ferry_bundle *bundle, const char *path)
{
    encoding e = {0};
    ferry_status st =
        bundle ? check_path(path) : trouble(FERRY_ERR_ARG, "ferry_bundle_save: bundle is NULL");

    if (st == FERRY_OK)
        st = encoding_make(&bundle->tree, &e);
    if (st != FERRY_OK)
        return st;
    st = write_file(path, &e);
    encoding_drop(&e);
    return st;
}

/* --- reading --- */

/* An input, its length known. */
typedef struct input {
    const char *path;
    int fd;
    size_t bytes;
} input;

static ferry_status read_all(const input *in, void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const int64_t n = sys_read(in->fd, (char *)data + done, size_min(bytes - done, PIECE));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return refused(in->path, "cannot be read");
        if (n == 0)
            return trouble(FERRY_ERR_FORMAT, "%.300s: ends at byte %zu, expected %zu", in->path,
                           done, bytes);
        done += (size_t)n;
    }
    return FERRY_OK;
}

static ferry_status check_input(input *in)
{
    sys_file file;

    if (!sys_describe(in->fd, &file))
        return refused(in->path, "cannot be looked at");
    if (!file.regular)
        return not_regular(in->path, &file);
    in->bytes = file.bytes;
    if (in->bytes >= sizeof(image_header))
        return FERRY_OK;
    return trouble(FERRY_ERR_FORMAT, "%.300s: %zu bytes, expected an image of at least %zu",
                   in->path, in->bytes, sizeof(image_header));
}

static ferry_status open_input(const char *path, const void *bundle_out, input *in)
{
    ferry_status st = check_path(path);

    if (st == FERRY_OK && !bundle_out)
        st = trouble(FERRY_ERR_ARG, "%.300s: bundle_out is NULL", path);
    if (st != FERRY_OK)
        return st;
    in->path = path;
    in->fd = sys_open(path, O_RDONLY | O_NONBLOCK, 0); /* a pipe is refused, not waited for */
    if (in->fd < 0)
        return refused(path, "cannot be opened");
    st = check_input(in);
    if (st != FERRY_OK)
        sys_close(in->fd);
    return st;
}

/* Decode; what the decoder says gets the path in front. */
static ferry_status decode(const input *in, void *block, ferry_bundle **bundle_out)
{
    const ferry_status st = image_decode(block, in->bytes, bundle_out);

    return st == FERRY_OK ? st : trouble(st, "%.300s: %s", in->path, trouble_text());
}

static ferry_status load(const input *in, ferry_bundle **bundle_out)
{
    static const char magic[] = IMAGE_MAGIC;
    char *block = NULL;
    ferry_status st = ferry_memory_take(in->bytes, (void **)&block);

    if (st != FERRY_OK)
        return trouble(st, "%.300s: %zu bytes: %s", in->path, in->bytes, trouble_text());
    /* The first bytes alone: a large file that is no image need not be read whole. */
    st = read_all(in, block, sizeof(image_header));
    if (st == FERRY_OK && memcmp(block, magic, sizeof magic - 1) != 0)
        st = trouble(FERRY_ERR_FORMAT, "%.300s: image: no magic number at byte 0", in->path);
    if (st == FERRY_OK)
        st = read_all(in, block + sizeof(image_header), in->bytes - sizeof(image_header));
    if (st == FERRY_OK)
        st = decode(in, block, bundle_out);
    if (st != FERRY_OK)
        ferry_memory_give(block);
    return st;
}

/* Give a mapped file back; `user` is its length. */
static void unmap(void *user, void *block)
{
    sys_unmap(block, (size_t)user);
}

static ferry_status map(const input *in, ferry_bundle **bundle_out)
{
    void *const block = sys_map_file(in->bytes, in->fd);

    if (block == MAP_FAILED)
        return refused(in->path, "cannot be mapped");
    ferry_bundle *fresh;
    const ferry_status st = decode(in, block, &fresh);
    if (st != FERRY_OK) {
        sys_unmap(block, in->bytes);
        return st;
    }
    arena *const held = fresh->tree.arena;
    held->give = unmap;
    held->user = (void *)in->bytes;
    *bundle_out = fresh;
    return FERRY_OK;
}

ferry_status ferry_bundle_load(const char *path, ferry_bundle **bundle_out)
{
    input in;
    ferry_status st = open_input(path, bundle_out, &in);

    if (st != FERRY_OK)
        return st;
    st = load(&in, bundle_out);
    sys_close(in.fd);
    return st;
}

ferry_status ferry_bundle_map(const char *path, ferry_bundle **bundle_out)
{
    input in;
    ferry_status st = open_input(path, bundle_out, &in);

    if (st != FERRY_OK)
        return st;
    st = map(&in, bundle_out);
    sys_close(in.fd);
    return st;
}
