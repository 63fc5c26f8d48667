/* Texts that grow, and whole files in and out. Failures are kept in a text until it is finished, so
 * that writers need not ask after each word. */
#ifndef CONVERT_BUFFER_H
#define CONVERT_BUFFER_H

#include <limits.h>
#include <stdbool.h>

#include "ferry/status.h"

typedef struct buffer {
    char *data; /* no NUL behind it until buffer_finish() */
    size_t bytes, room;
    bool failed; /* out of memory */
} buffer;

void buffer_add(buffer *t, const char *bytes, size_t count);
void buffer_word(buffer *t, const char *word);
void buffer_format(buffer *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buffer_drop(buffer *t);

/* Room for `count` more bytes; false, and the text has failed, when there is no memory. */
bool buffer_grow(buffer *t, size_t count);

/* End with a NUL and hand over the block, which is freed with free(). */
ferry_status buffer_finish(buffer *t, char **text_out);

/* Base64 (RFC 4648, padded), both ways; reading fills `t` and is false for what is none. */
void buffer_base64(buffer *t, const void *data, size_t bytes);
bool buffer_from_base64(buffer *t, const char *word, size_t bytes);

/* Bytes before the first one that is not part of UTF-8 text; `bytes` when all are. */
size_t buffer_utf8(const char *data, size_t bytes);

/* A path leads to a regular file that may be read. */
ferry_status file_check(const char *path);

/* All of a regular file. The block is freed with free(). */
ferry_status file_read_all(const char *path, char **data_out, size_t *bytes_out);

/* An output that grows under a hidden name beside its own. */
typedef struct output {
    char name[PATH_MAX]; /* symbolic links followed */
    char partial[PATH_MAX];
    unsigned mode; /* of the file that is replaced; 0: none */
} output;

ferry_status output_begin(const char *path, output *output_out);

/* With `st` a failure, remove it and pass `st` on; else write it through and give it its name. */
ferry_status output_end(output *o, ferry_status st);

/* Write all of an output that has begun. */
ferry_status output_write(const output *o, const void *data, size_t bytes);

#endif
