/* What writing and reading of JSON share: the words that stand for what JSON has not. An object
 * whose first key is one of them is such a value; docs/interchange.md describes all. */
#ifndef CONVERT_JSON_H
#define CONVERT_JSON_H

#include <stdbool.h>
#include <string.h>

#include "ferry/bundle.h"

/* The type that a word such as "$int8" stands for; "$value" stands for FERRY_TYPE_NULL. False for
 * other words. */
bool json_word(const char *key, ferry_type *type_out);

/* Keys that look like words are written with one more '$' in front. How many '$' a key begins with,
 * if a word follows the last of them; else 0. */
int json_escape(const char *key);

#endif
