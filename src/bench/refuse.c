/* See refuse.h. */
#include "bench/refuse.h"

#include <stdarg.h>
#include <stdio.h>

int refuse(char *error, size_t bytes, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error, bytes, format, arguments);
    va_end(arguments);
    return 1;
}
