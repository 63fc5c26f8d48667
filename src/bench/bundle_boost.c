/* The rivals of case bundle that move Boost's maps: a map that is new at its receivers, and
 * contents between maps of one shape. What knows of C++ is loaded from a library of its own, see
 * boost.h. */
#include <stdio.h>

#include "bench/bundle_job.h"

static int boost_failed(const bundle_job *job, const boost_side *side, int failed)
{
    return failed ? world_fail(job->w, "rank %d: Boost.MPI: %.200s", job->w->rank,
                               job->boost->text(side))
                  : 0;
}

/* The maps are made when their turn comes. */
static int open_side(const bundle_job *job, boost_side **side_inout)
{
    if (!*side_inout)
        *side_inout = job->boost->open(&job->shape, job->w->rivals);
    return *side_inout ? 0 : world_fail(job->w, "rank %d: no memory for Boost's map", job->w->rank);
}

int bundle_boost_load_map(contender *c)
{
    bundle_job *const job = c->job;

    if (open_side(job, &job->map))
        return 1;
    return job->sender ? boost_failed(job, job->map, job->boost->load(job->map, job->source)) : 0;
}

/* Receivers need the shape before contents can come: any values will do. */
int bundle_boost_load_typed(contender *c)
{
    bundle_job *const job = c->job;
    int failed = open_side(job, &job->typed);

    if (failed || !(job->sender || (job->receiver && !job->shaped)))
        return failed;
    job->shaped = true;
    return boost_failed(job, job->typed, job->boost->load(job->typed, job->source));
}

/* The other ranks are in the midst of messages: there is no way back. */
static void must(const bundle_job *job, const boost_side *side, int failed)
{
    if (!failed)
        return;
    fprintf(stderr, "ferry: bench: Boost.MPI: %s\n", job->boost->text(side));
    world_give_up(job->w, "Boost.MPI", job->bytes);
}

int bundle_boost_round(contender *c)
{
    const bundle_job *const job = c->job;

    if (job->bcast)
        must(job, job->map, job->boost->bcast(job->map, 0));
    else if (job->sender)
        must(job, job->map, job->boost->send(job->map, 1, BUNDLE_TAG));
    else if (job->receiver)
        must(job, job->map, job->boost->recv(job->map, 0, BUNDLE_TAG));
    return 0;
}

int bundle_boost_round_contents(contender *c)
{
    const bundle_job *const job = c->job;

    if (job->bcast)
        must(job, job->typed, job->boost->bcast_content(job->typed, 0));
    else if (job->sender)
        must(job, job->typed, job->boost->send_content(job->typed, 1, BUNDLE_CONTENT_TAG));
    else if (job->receiver)
        must(job, job->typed, job->boost->recv_content(job->typed, 0, BUNDLE_CONTENT_TAG));
    return 0;
}

int bundle_boost_clear(contender *c)
{
    const bundle_job *const job = c->job;

    if (job->receiver)
        job->boost->clear(job->map);
    return 0;
}

static size_t wrong_side(const bundle_job *job, const boost_side *side)
{
    if (!job->receiver)
        return 0;
    return job->boost->unload(side, job->used) ? content_values(&job->shape)
                                               : bundle_wrong_in(job, job->used);
}

size_t bundle_boost_wrong_map(contender *c)
{
    return wrong_side(c->job, ((const bundle_job *)c->job)->map);
}

size_t bundle_boost_wrong_typed(contender *c)
{
    return wrong_side(c->job, ((const bundle_job *)c->job)->typed);
}
