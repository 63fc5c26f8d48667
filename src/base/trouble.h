/* The detail text of the last failure on this thread. Who finds an error records it; everybody
 * above passes the status on. */
#ifndef BASE_TROUBLE_H
#define BASE_TROUBLE_H

#include "ferry/status.h"

enum { TROUBLE_BYTES = 512 };

/* Record a failure: keeps the text, returns `status`, so that callers write `return
 * trouble(FERRY_ERR_ARG, "...")`. */
ferry_status trouble(ferry_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The text kept, never NULL. */
const char *trouble_text(void);

/* Copy the text kept into a buffer, cut at bytes - 1. */
void trouble_copy(char *text_out, size_t bytes);

/* Keep a text that came from another rank; cut at TROUBLE_BYTES - 1. */
void trouble_keep(const char *text);

#endif
