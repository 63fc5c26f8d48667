/* Samples of one contender, and their order statistics. */
#include <stdlib.h>

#include "bench/stats.h"

int samples_add(samples *s, double value)
{
    if (s->count == s->room) {
        const size_t room = s->room ? 2 * s->room : 64;
        double *const values = realloc(s->values, room * sizeof *values);
        if (!values)
            return 1;
        s->values = values;
        s->room = room;
    }
    s->values[s->count++] = value;
    return 0;
}

void samples_drop(samples *s)
{
    free(s->values);
    *s = (samples){NULL, 0, 0};
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double samples_median(samples *s)
{
    if (s->count == 0)
        return 0;
    qsort(s->values, s->count, sizeof *s->values, ascending);
    const size_t half = s->count / 2;
    return s->count % 2 ? s->values[half] : (s->values[half - 1] + s->values[half]) / 2;
}

double samples_min(const samples *s)
{
    double least = s->count ? s->values[0] : 0;

    for (size_t k = 1; k < s->count; ++k)
        least = s->values[k] < least ? s->values[k] : least;
    return least;
}

double samples_max(const samples *s)
{
    double most = s->count ? s->values[0] : 0;

    for (size_t k = 1; k < s->count; ++k)
        most = s->values[k] > most ? s->values[k] : most;
    return most;
}
