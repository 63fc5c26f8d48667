/* UTF-8: valid means no overlong form, no surrogate, nothing above U+10FFFF. */
#ifndef BUNDLE_UTF8_H
#define BUNDLE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

bool utf8_valid(const char *text, size_t bytes);

#endif
