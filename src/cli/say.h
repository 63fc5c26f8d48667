/* What the program says: one-line errors, sizes for people, colours where they are wanted. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SAY_ERROR_BYTES = 640, SAY_SIZE_BYTES = 24 };

/* The text of the failure under way. Who finds an error writes `return complain(CLI_FAILURE,
 * "...")`, everybody above passes the exit status on, and the text is printed once, at the end.
 * Control characters become '?': one line. */
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The text kept; "" when there is none. */
const char *complaint(void);

/* Print "ferry: <subcommand>: <text>" on stderr; nothing for an empty text. */
void say_error(const char *subcommand, const char *text);

/* "auto", "always" or "never" for this program's colours; false for another word. Without a call it
 * is auto. */
bool say_colour(const char *when);

/* Whether stdout (1) or stderr (2) gets colours. */
bool say_coloured(int fd);

/* Print a heading on stdout, bold where colours are on. */
void say_heading(const char *text);

/* "17 B", "406 MB", "1.5 GB": decimal, three digits. */
const char *say_bytes(uint64_t bytes, char text_out[SAY_SIZE_BYTES]);

/* The one of `words` nearest to `word`, or NULL when none is near enough to be meant. Ends at a
 * NULL. */
const char *say_nearest(const char *word, const char *const *words);

#endif
