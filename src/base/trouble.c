/* The last failure of this thread, as a sentence. Knows nothing of who failed; the finder writes
 * the sentence. */
#include "base/trouble.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char kept[TROUBLE_BYTES];

static void keep_formatted(const char *format, va_list args)
{
    char text[TROUBLE_BYTES]; /* an argument may be the text kept so far */

    vsnprintf(text, sizeof text, format, args);
    trouble_keep(text);
}

ferry_status trouble(ferry_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    keep_formatted(format, args);
    va_end(args);
    return status;
}

ferry_status ferry_status_fail(ferry_status status, const char *format, ...)
{
    va_list args;

    if (status == FERRY_OK || !format)
        return status;
    va_start(args, format);
    keep_formatted(format, args);
    va_end(args);
    return status;
}

const char *trouble_text(void)
{
    return kept;
}

void trouble_keep(const char *text)
{
    const size_t length = strnlen(text, sizeof kept - 1);

    memmove(kept, text, length);
    kept[length] = '\0';
}

const char *ferry_error_detail(void)
{
    return kept;
}

void trouble_copy(char *text_out, size_t bytes)
{
    snprintf(text_out, bytes, "%s", trouble_text());
}
