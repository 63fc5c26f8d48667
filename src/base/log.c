/* Messages on stderr. Each is one write, so that lines of several ranks do not mix. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/setting.h"

static log_level allowed(void)
{
    static const struct {
        const char *word;
        log_level level;
    } words[] = {{"none", LOG_NONE}, {"warn", LOG_WARN}, {"info", LOG_INFO}};
    const char *const wanted = setting_text(SETTING_LOG);

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].word, wanted) == 0)
            return words[i].level;
    return LOG_WARN;
}

void log_line(log_level level, const char *format, ...)
{
    char text[1024];
    va_list args;

    if (level == LOG_NONE || level > allowed())
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "ferry: %s%s\n", level == LOG_WARN ? "warning: " : "", text);
}
