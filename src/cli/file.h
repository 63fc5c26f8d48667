/* Files for the subcommands: whole reads and writes at a place, and an output that appears under
 * its name only when it is complete. All return an exit status, with a complaint that begins with
 * the file's name. */
#ifndef CLI_FILE_H
#define CLI_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* Open to read. */
int file_open(const char *name, int *fd_out);

/* Exactly `bytes` bytes from or to `offset`. */
int file_read(const char *name, int fd, void *data, int64_t bytes, int64_t offset);
int file_write(const char *name, int fd, const void *data, int64_t bytes, int64_t offset);

/* An output file that is being made. */
typedef struct output {
    char name[PATH_MAX];    /* final, symbolic links followed */
    char partial[PATH_MAX]; /* in the same folder; "" when there is none */
} output;

/* May `name` be written? It must not exist, unless `force`; then it has to be a regular file. Fills
 * name only. */
int output_check(const char *name, bool force, output *output_out);

/* Make the partial file with room for `bytes` bytes, and its mode that of the file it will replace,
 * if any. */
int output_make(output *output, int64_t bytes);

/* Give the partial file its final name; with `force` in place of what is there. */
int output_finish(output *output, bool force);

/* Remove the partial file, if any. */
void output_drop(output *output);

#endif
