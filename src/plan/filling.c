/* See filling.h. 16 MB to one reader: 1.2 ms past the caches against 0.8 through them at one time,
 * 0.8 to 1.1 against 5 to 17 at another on the same machine; to three readers on two cores 3.2
 * against 2.5: case bundle, AMD EPYC, 2026-11-30. */
#include "plan/filling.h"

#include "base/sys.h"
#include "route/trial.h"

enum {
    LONG_RINGS = 3, /* a message is timed when it is so much longer than the ring */
    PART_BYTES = 16 << 20,
    LEAST_PATIENCE = 8,
    MOST_PATIENCE = 256
};

/* The part at hand was so slow, compared with the last one of this way, that the machine must have
 * changed. */
static const double much_slower = 1.5;

static void choose(filling *f)
{
    const bool faster = f->pace[1] <= f->pace[0];

    if (f->pace[1] == 0)
        f->past = true;
    else if (f->pace[0] == 0)
        f->past = false;
    else if (f->left == 0)
        f->past = !faster;
    else
        f->past = faster;
}

static void start_part(filling *f)
{
    choose(f);
    f->began = sys_now_ns();
    f->bytes = 0;
}

/* Remember the pace, and when to look at the other way again. */
static void end_part(filling *f)
{
    const double before = f->pace[f->past],
                 pace = (double)(sys_now_ns() - f->began) / (double)f->bytes;
    const bool looked = f->left == 0;

    f->pace[f->past] = pace;
    if (looked) {
        const bool stays = f->pace[!f->past] <= pace;
        f->patience = !stays || f->patience == 0    ? LEAST_PATIENCE
                      : f->patience < MOST_PATIENCE ? 2 * f->patience
                                                    : MOST_PATIENCE;
        f->left = f->patience;
    } else if (before > 0 && pace > much_slower * before) {
        f->left = 0;
    } else {
        f->left--;
    }
}

void filling_begin(filling *f, size_t bytes, size_t ring)
{
    f->past = true;
    f->began = 0;
    if (bytes >= LONG_RINGS * ring && trial_allowed())
        start_part(f);
}

void filling_add(filling *f, size_t bytes)
{
    f->bytes += bytes;
    if (!f->began || f->bytes < PART_BYTES)
        return;
    end_part(f);
    start_part(f);
}

void filling_end(filling *f)
{
    if (f->began && f->bytes >= PART_BYTES / 2)
        end_part(f);
    f->began = 0;
}
