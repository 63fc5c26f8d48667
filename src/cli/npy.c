/* .npy files for the subcommands: reading the header of an open file. Headers themselves are the
 * business of npy/npy.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/npy.h"
#include "cli/say.h"

int npy_parse(const char *name, const void *bytes, size_t count, npy_header *header_out)
{
    char error[NPY_ERROR_BYTES];
    npy_header header;

    if (!npy_understand(bytes, count, &header, error))
        return complain(CLI_FAILURE, "%s: %s", name, error);
    if (header.element_bytes == 0)
        return complain(CLI_FAILURE,
                        "%s: dtype \"%s\" has a size that is not possible, expected 1 to %d", name,
                        header.descr, INT32_MAX);
    *header_out = header;
    return CLI_OK;
}

/* As many bytes of the beginning as there are, at most `room`; -1 on an error. */
static ssize_t beginning(int fd, char *bytes, size_t room)
{
    size_t count = 0;

    while (count < room) {
        const ssize_t n = pread(fd, bytes + count, room - count, (off_t)count);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        count += (size_t)n;
    }
    return (ssize_t)count;
}

int npy_read(const char *name, int fd, npy_header *header_out)
{
    static char bytes[NPY_HEADER_MAX + 12];
    struct stat file;
    npy_header header;

    if (fstat(fd, &file) != 0)
        return complain(CLI_FAILURE, "%s: %s", name, strerror(errno));
    if (!S_ISREG(file.st_mode))
        return complain(CLI_FAILURE, "%s: %s, expected a regular file", name,
                        S_ISDIR(file.st_mode) ? "a directory" : "a pipe or device");
    const ssize_t count = beginning(fd, bytes, sizeof bytes);
    if (count < 0)
        return complain(CLI_FAILURE, "%s: cannot be read: %s", name, strerror(errno));
    const int status = npy_parse(name, bytes, (size_t)count, &header);
    if (status != CLI_OK)
        return status;
    if (file.st_size - header.data_offset < header.data_bytes)
        return complain(CLI_FAILURE,
                        "%s: the data is cut off: %" PRId64 " bytes, expected %" PRId64, name,
                        (int64_t)file.st_size - header.data_offset, header.data_bytes);
    *header_out = header;
    return CLI_OK;
}

size_t npy_compose(const char *descr, int64_t rows, int64_t columns, char text_out[NPY_WRITTEN_MAX])
{
    const int64_t shape[] = {rows, columns};

    return npy_write(descr, false, 2, shape, text_out);
}
