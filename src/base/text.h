/* Build a text in a caller's buffer, counting the characters that the whole text needs, as snprintf
 * does. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct text_out {
    char *at;      /* start of the buffer; may be NULL when room is 0 */
    size_t room;   /* bytes of the buffer */
    size_t needed; /* characters so far, NUL not counted; may pass room */
} text_out;

void text_add(text_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "17 B", "64 KiB", "1.5 GiB": short and exact enough for people. */
void text_bytes(text_out *out, uint64_t bytes);

/* Edit distance of two words, for "did you mean". */
size_t text_distance(const char *a, const char *b);

#endif
