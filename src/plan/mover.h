/* An optional thread that moves rounds on while the user computes. */
#ifndef PLAN_MOVER_H
#define PLAN_MOVER_H

#include "plan/plan.h"

/* Start the thread when the context's options ask for it. */
ferry_status mover_make(ferry_context *ctx);

/* End it and wait for its end; rounds move on in calls again. Nothing without a thread. */
void mover_stop(ferry_context *ctx);

/* The user's calls and the thread exclude each other; calls may nest. Without a thread these ask
 * for one pointer. */
void mover_enter(const ferry_context *ctx);
void mover_leave(const ferry_context *ctx);

/* A round has begun. */
void mover_wake(const ferry_context *ctx);

/* What broke the context while the thread was at work, once: the status and text that the call at
 * hand would have had. FERRY_OK when nothing did. */
ferry_status mover_failure(ferry_context *ctx);

#endif
