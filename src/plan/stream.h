/* Streams of a context: messages of any length from lists of addresses, without a plan. */
#ifndef PLAN_STREAM_H
#define PLAN_STREAM_H

#include "ferry/experimental.h"
#include "plan/plan.h"
#include "plan/slots.h"

enum {
    STREAM_EAGER = 32 << 10, /* up to here a message is taken along at once */
    STREAM_TAGS = 16384
};

/* A message that came before anybody asked for it. */
typedef struct early_message {
    struct early_message *next;
    int from, tag;
    bool granted_later; /* only its announcement has come; `bytes` will follow when granted */
    size_t bytes;
    _Alignas(8) char data[];
} early_message;

/* A receiver's answer to a long message that came by MPI. */
typedef struct post_answer {
    int32_t status;
    char text[200];
} post_answer;

struct stream_state {
    slots *to, *from;     /* per rank of the node: rings of pairs */
    slots cast_to;        /* my broadcasts */
    slots *cast_from;     /* per rank of the node: its broadcasts */
    uint64_t casts;       /* broadcasts of the context so far */
    post_answer answer;   /* on its way, or expected */
    early_message *first; /* in the order of arrival */
    early_message **last;
};

ferry_status stream_make(ferry_context *ctx);
void stream_drop(ferry_context *ctx);

/* ---- The bytes of a list of pieces, one after another ---- */

typedef struct stream_reader {
    const ferry_piece *piece;
    size_t left; /* pieces, the one at hand included */
    size_t at;   /* position in the piece at hand */
} stream_reader;

ferry_status stream_check_pieces(const ferry_piece *pieces, size_t count, const char *call,
                                 int rank, size_t *bytes_out);
void stream_read(stream_reader *reader, char *dst, size_t bytes);

/* ---- Within the node: pair.c ---- */

bool stream_on_node(const ferry_context *ctx, int rank);
ferry_status pair_send(ferry_context *ctx, const ferry_piece *pieces, size_t count, size_t bytes,
                       int to, int tag);
/* Take one message that has come from the rank of the node into the list of early ones; false when
 * there is none. */
ferry_status pair_poll(ferry_context *ctx, int node_rank, bool *came_out);
/* The payload of a message whose announcement came; `dst` NULL refuses it with `status`. */
ferry_status pair_fetch(ferry_context *ctx, int from, char *dst, size_t bytes, ferry_status status);

/* ---- Anywhere: post.c, the same three ---- */

ferry_status post_send(ferry_context *ctx, const ferry_piece *pieces, size_t count, size_t bytes,
                       int to, int tag);
ferry_status post_poll(ferry_context *ctx, int from, int tag, bool *came_out);
ferry_status post_fetch(ferry_context *ctx, int from, char *dst, size_t bytes, ferry_status status);

/* Wait for one request. */
ferry_status post_wait(ferry_context *ctx, MPI_Request *request, int peer, const char *what);

/* ---- Early messages: stream.c ---- */

/* Memory for a message that carries `carried` bytes; then, when they are in it, its place in the
 * list. */
ferry_status early_make(size_t carried, early_message **message_out);
void early_add(ferry_context *ctx, early_message *message);

/* Take in what has come, a few messages of each rank, so that two ranks that send to each other do
 * not stop each other. Without memory they stay where they are. */
ferry_status early_collect(ferry_context *ctx);

#endif
