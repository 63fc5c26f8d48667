/* JSON text as a reader steps through it; json_read.c and json_typed.c make a bundle of it. */
#ifndef CONVERT_JSON_TEXT_H
#define CONVERT_JSON_TEXT_H

#include <stdbool.h>

#include "convert/buffer.h"
#include "ferry/bundle.h"

typedef struct json_text {
    const char *begin, *at, *end; /* a copy of the record is a place to come back to */
} json_text;

/* ---- Failures ---- */

/* Record a failure with the line and byte of `where`; json_wrong(): ERR_FORMAT. */
ferry_status json_fail(const json_text *r, const char *where, ferry_status status,
                       const char *what);
ferry_status json_wrong(const json_text *r, const char *where, const char *what);
/* Pass a failure on; what the bundle says gets the position in front. */
ferry_status json_located(const json_text *r, const char *where, ferry_status st);

/* ---- Words ---- */

/* Step over white space; the character that follows, or NUL at the end. */
char json_peek(json_text *r);
/* Step over white space and the wanted character, if it is there. */
bool json_take(json_text *r, char wanted);
/* Step over a word, if it begins right here. */
bool json_take_word(json_text *r, const char *word);
ferry_status json_expect(json_text *r, char wanted, const char *what);

/* Append a string to `into`. */
ferry_status json_read_string(json_text *r, buffer *into);
/* Step over a number; it began at `*begin_out`. */
ferry_status json_scan_number(json_text *r, const char **begin_out, bool *real_out);

#endif
