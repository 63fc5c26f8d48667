/* Streams of a context: messages of any length from lists of addresses, without a plan. A request
 * is a message or a broadcast under way; everything that moves one on looks once and never waits,
 * so that any number of them, and the rounds of plans, go on side by side. Within a node messages
 * meet in the receiver's inbox (inbox.c) and flow pair by pair (pair.c); elsewhere MPI carries them
 * (post.c). */
#ifndef PLAN_STREAM_H
#define PLAN_STREAM_H

#include "base/trouble.h"
#include "ferry/experimental.h"
#include "plan/inbox.h"
#include "plan/landing.h"
#include "plan/plan.h"
#include "plan/slots.h"

enum {
    STREAM_EAGER = 64 << 10, /* up to here a message is taken along at once */
    STREAM_TAGS = CONTEXT_TAG_REPLIES
};

typedef enum stream_kind { STREAM_SEND, STREAM_RECEIVE, STREAM_CAST } stream_kind;

/* The bytes of a list of pieces, one after another. */
typedef struct stream_reader {
    const ferry_piece *piece;
    size_t left; /* pieces, the one at hand included */
    size_t at;   /* position in the piece at hand */
} stream_reader;

/* A receiver's answer to a long message that came by MPI. */
typedef struct post_answer {
    int32_t status;
    char text[200];
} post_answer;

/* What a request needs while MPI works for it. */
typedef struct post_flight {
    MPI_Request payload, reply;
    post_answer answer;
    void *packed; /* of a sender whose pieces were too small to be sent where they lie */
} post_flight;

struct ferry_stream_request {
    ferry_context *ctx;
    ferry_stream_request *next; /* in the queue it waits in */
    stream_kind kind;
    bool ended;
    ferry_status status;
    ferry_stream_info info; /* peer (wildcards until met), tag and length */
    uint64_t number;        /* of a send: what the receiver calls it in its answer */
    stream_reader source;   /* of a sender */
    ferry_stream_place *place;
    ferry_stream_check *check; /* of a broadcast; NULL: none */
    void *user;
    char *data; /* of a receiver */
    landing landing;
    size_t done; /* bytes that have moved */
    post_flight flight;
    char text[TROUBLE_BYTES]; /* of a failure */
};

/* Requests in order. */
typedef struct stream_queue {
    ferry_stream_request *first, **last;
} stream_queue;

/* A message that has come: where its bytes are, or who will bring them. */
typedef struct stream_arrival {
    enum { ARRIVED_HERE, ARRIVED_ANNOUNCED, ARRIVED_SELF, ARRIVED_WIRE } how;
    ferry_stream_info info;
    const char *data;           /* ARRIVED_HERE */
    uint64_t number;            /* ARRIVED_ANNOUNCED: of the sender's request */
    ferry_stream_request *self; /* ARRIVED_SELF: the send */
    MPI_Message message;        /* ARRIVED_WIRE */
} stream_arrival;

/* One that no receive has met; its bytes follow it when they are here. */
typedef struct early_message {
    struct early_message *next;
    stream_arrival what;
    _Alignas(8) char data[];
} early_message;

/* All that goes on with one other rank of the node. */
typedef struct pair {
    stream_queue sends;     /* not in the peer's inbox yet */
    stream_queue announced; /* there, and waiting for the answer */
    stream_queue flowing;   /* answered: their bytes go through `to`, in the order of the answers */
    stream_queue answers;   /* receives whose answer is not in the peer's inbox yet */
    stream_queue arriving;  /* answered: their bytes come through `from` in this order */
    slots to, from;
} pair;

struct cast;

struct stream_state {
    inbox own;           /* what others of the node have for this rank */
    inbox *peers;        /* per rank of the node: the inboxes of the others */
    outbox blocks;       /* short messages on their way */
    pair *pairs;         /* per rank of the node */
    size_t busy;         /* requests in the queues of all pairs, announced ones not counted */
    stream_queue posted; /* receives that no message has met */
    stream_queue posts;  /* requests that MPI works for */
    stream_queue casts;  /* broadcasts in order; the first one is under way */
    struct cast *cast;   /* its state */
    slots cast_to;       /* my broadcasts */
    slots *cast_from;    /* per rank of the node: its broadcasts */
    uint64_t cast_count; /* broadcasts of the context so far */
    uint64_t sent;       /* messages so far: their numbers */
    early_message *early, **early_last;  /* in the order of arrival */
    early_message *spare;                /* for the next message whose bytes stay away */
    ferry_stream_request *free_requests; /* ended ones, for reuse */
    ferry_stream_request *reserve;       /* for a call that waits, when memory is out */
    bool looks_at_wire;                  /* somebody probes */
};

ferry_status stream_make(ferry_context *ctx);
void stream_drop(ferry_context *ctx);

/* One look at everything under way. */
ferry_status stream_progress(ferry_context *ctx);

/* Mailboxes of a rank of the node, behind those for the rings of its pairs. */
static inline int stream_mail_cast(const ferry_context *ctx)
{
    return ctx->node_size;
}
static inline int stream_mail_inbox(const ferry_context *ctx)
{
    return ctx->node_size + 1;
}

/* ---- Pieces: pieces.c ---- */

ferry_status stream_check_pieces(const ferry_piece *pieces, size_t count, const char *call,
                                 int rank, size_t *bytes_out);
void stream_read(stream_reader *reader, char *dst, size_t bytes);
void stream_fill(stream_reader *reader, char *dst, size_t bytes, bool past);

/* ---- Requests: request.c ---- */

/* At the end; at the front. */
void queue_add(stream_queue *queue, ferry_stream_request *request);
void queue_push(stream_queue *queue, ferry_stream_request *request);
/* Unlink the request that `link` points to. */
ferry_stream_request *queue_take(stream_queue *queue, ferry_stream_request **link);

/* Whether the call that starts a request waits for it. Of these there is one at a time, and it
 * always gets its request: others may be waiting for this rank in the same broadcast. */
typedef enum request_use { REQUEST_STAYS, REQUEST_WAITED } request_use;
ferry_status request_make(ferry_context *ctx, stream_kind kind, request_use use,
                          ferry_stream_request **request_out);
void request_drop(ferry_stream_request *request);
/* It ends here, with the text of the last trouble when `status` is a failure. */
void request_end(ferry_stream_request *request, ferry_status status);
/* Wait until it has ended. */
ferry_status request_wait(ferry_stream_request *request);
/* "for a message from rank 3 with tag 1"; -1: any. */
void request_wanted(text_out *out, int from, int tag);
/* Ask for the place of its bytes; the failure to find one is the answer to the sender. */
ferry_status request_place(ferry_stream_request *request);

/* ---- Messages and receives that look for each other: meet.c ---- */

/* Find the receive for a message that has come, or keep it. False when there is no memory to keep
 * it: it must stay where it is. */
bool stream_arrived(ferry_context *ctx, const stream_arrival *arrival);
ferry_status stream_arrived_by_wire(ferry_context *ctx, stream_arrival *arrival);
/* Memory to keep one more is at hand, so that the next message that MPI has found is not lost. */
bool stream_has_spare(struct stream_state *s);
/* Find the message for a receive that has been started, or post it. */
void stream_post(ferry_stream_request *receive);
/* The first message that fits and that no receive has met, or NULL. */
const early_message *stream_find_early(const struct stream_state *s, int from, int tag);
/* Forget a message of this rank to itself; false when it has been met. */
bool stream_forget_self(struct stream_state *s, const ferry_stream_request *send);

/* ---- Within the node: pair.c ---- */

bool stream_on_node(const ferry_context *ctx, int rank);
/* ERR_MEMORY when nothing has been sent. */
ferry_status pair_send(ferry_stream_request *send);
void pair_met(ferry_stream_request *receive, uint64_t number);
void pair_progress(ferry_context *ctx);

/* ---- Anywhere: post.c ---- */

ferry_status post_send(ferry_stream_request *send);
ferry_status post_met(ferry_stream_request *receive, MPI_Message message);
ferry_status post_progress(ferry_context *ctx);
/* Receive a short message that has been matched. */
ferry_status post_take(MPI_Message message, char *data, size_t bytes);
/* Drop one that nobody received, when the context ends. */
void post_discard(stream_arrival *arrival);
/* Some ranks are reached by MPI only. */
bool post_is_used(const ferry_context *ctx);

/* ---- Broadcasts: cast.c ---- */

/* `checked`: whether this rank's arguments are right; it takes part even if they are not. */
void cast_start(ferry_stream_request *request, ferry_status checked);
ferry_status cast_progress(ferry_context *ctx);
/* Say what a wait for it lacks: within one node, also the first rank that has not come. */
void cast_missing(const ferry_stream_request *request, text_out *out);
ferry_status cast_make(ferry_context *ctx);

#endif
