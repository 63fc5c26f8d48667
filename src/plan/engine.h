/* What hangs on a context while it lives. */
#ifndef PLAN_ENGINE_H
#define PLAN_ENGINE_H

#include "context/context.h"

struct stream_state;
struct plan_mover;

/* Contexts alive form a list. */
typedef struct plan_link {
    ferry_context *ctx;
    struct plan_link *previous, *next;
} plan_link;

struct plan_engine {
    struct ferry_plan *active;    /* plans with a round under way */
    struct stream_state *streams; /* of stream.c */
    struct plan_mover *mover;     /* of mover.c; NULL: no thread */
    plan_link link;
    unsigned char channel_taken[CONTEXT_TAG_CHANNELS]; /* by plans alive, modulo their number */
};

#endif
