/* Errors, sizes and colours of the program. Knows nothing of MPI nor of subcommands.
 *
 * A failure's text is kept until the end, because only then it is known who prints it: this
 * process, or, for ranks that `ferry` itself started, the parent. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"

static char kept[SAY_ERROR_BYTES];

typedef enum colour_mode { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER } colour_mode;
static colour_mode colours = COLOUR_AUTO;

int complain(int status, const char *format, ...)
{
    char text[SAY_ERROR_BYTES]; /* the arguments may point into `kept` */
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < 32 || *at == 127)
            *at = '?';
    memcpy(kept, text, sizeof kept);
    return status;
}

const char *complaint(void)
{
    return kept;
}

void say_error(const char *subcommand, const char *text)
{
    const bool colour = say_coloured(STDERR_FILENO);

    if (!text[0])
        return;
    fflush(stdout);
    fprintf(stderr, "%sferry:%s %s%s%s\n", colour ? "\033[1;31m" : "", colour ? "\033[0m" : "",
            subcommand ? subcommand : "", subcommand ? ": " : "", text);
}

bool say_colour(const char *when)
{
    static const char *const words[] = {
        [COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never"};

    for (int i = 0; i < 3; i++) {
        if (!strcmp(when, words[i])) {
            colours = (colour_mode)i;
            return true;
        }
    }
    return false;
}

bool say_coloured(int fd)
{
    const char *no = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    if (colours != COLOUR_AUTO)
        return colours == COLOUR_ALWAYS;
    if (no && no[0])
        return false;
    if (terminal && !strcmp(terminal, "dumb"))
        return false;
    return isatty(fd);
}

void say_heading(const char *text)
{
    const bool colour = say_coloured(STDOUT_FILENO);

    printf("%s%s%s\n", colour ? "\033[1m" : "", text, colour ? "\033[0m" : "");
}

const char *say_bytes(uint64_t bytes, char text_out[SAY_SIZE_BYTES])
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    int unit = 0;

    while (value >= 999.5 && unit < 6) {
        value /= 1000;
        unit++;
    }
    if (unit == 0 || value >= 99.95)
        snprintf(text_out, SAY_SIZE_BYTES, "%.0f %s", value, units[unit]);
    else
        snprintf(text_out, SAY_SIZE_BYTES, "%.*f %s", value >= 9.995 ? 1 : 2, value, units[unit]);
    return text_out;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Letters to change, add or leave out until `a` is `b`; words longer than 31 letters count as far
 * away. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 31 };
    const size_t n = strlen(a), m = strlen(b);
    size_t row[LONGEST + 1];

    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t above = row[j];
            row[j] = least(least(row[j - 1], above) + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[m];
}

const char *say_nearest(const char *word, const char *const *words)
{
    const char *best = NULL;
    size_t near = 1 + strlen(word) / 3;

    for (; *words; words++) {
        const size_t far = distance(word, *words);
        if (far <= near && (!best || far < near)) {
            best = *words;
            near = far;
        }
    }
    return best;
}
