/* Trials of two ways in running rounds. Which is faster depends on whether two cores share a cache,
 * which nobody tells and a virtual machine changes at will. So a sender that may choose takes each
 * way for a few rounds now and then, and the faster one until the next trial. What counts is the
 * time from one start to the next: memory that a peer has read is slower to write again, and that
 * is part of the price. With another FERRY_TUNE than trial it is always the first way. */
#ifndef ROUTE_TRIAL_H
#define ROUTE_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct trial {
    bool second;      /* the way of the last round */
    unsigned rounds;  /* since the trial began */
    int64_t started;  /* the last round, ns; 0: it had no choice */
    int64_t least[2]; /* ns from start to start */
} trial;

/* Are trials allowed? Looked up when a carrier is made. */
bool trial_allowed(void);

/* The way of the round that starts now: false for the first, true for the second. */
bool trial_start(trial *t);

/* A round starts that has no choice. */
static inline void trial_skip(trial *t)
{
    t->started = 0;
}

#endif
