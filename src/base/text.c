/* Texts built in a caller's buffer, and the distance of two words. */
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/size.h"

void text_add(text_out *out, const char *format, ...)
{
    const size_t used = size_min(out->needed, out->room);
    va_list args;

    va_start(args, format);
    const int added =
        vsnprintf(out->room > used ? out->at + used : NULL, out->room - used, format, args);
    va_end(args);
    if (added > 0)
        out->needed += (size_t)added;
}

void text_bytes(text_out *out, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;

    while (unit + 1 < sizeof units / sizeof units[0] && bytes >> (10 * (unit + 1)))
        unit++;
    const uint64_t one = (uint64_t)1 << (10 * unit);
    if (bytes % one == 0)
        text_add(out, "%llu %s", (unsigned long long)(bytes / one), units[unit]);
    else
        text_add(out, "%.1f %s", (double)bytes / (double)one, units[unit]);
}

size_t text_distance(const char *a, const char *b)
{
    enum {
        LONGEST = 128
    }; /* no name of ours is near that; longer words count as wholly different */
    size_t row[LONGEST];
    const size_t length_a = strlen(a), length_b = strlen(b);

    if (length_b >= LONGEST)
        return size_max(length_a, length_b);
    for (size_t j = 0; j <= length_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = size_min(replaced, size_min(row[j], row[j - 1]) + 1);
        }
    }
    return row[length_b];
}
