/* Private pages: mapped for one owner, on huge pages where that pays. */
#ifndef MEMORY_PAGES_H
#define MEMORY_PAGES_H

#include <stdbool.h>

#include "ferry/status.h"

enum { PAGE_BYTES = 4096, HUGE_BYTES = 2 << 20 };

/* Map `bytes`, rounded up to pages; from 2 MiB on aligned to huge pages and advised for them.
 * `bytes_out`: what pages_unmap() wants. */
ferry_status pages_map(size_t bytes, void **data_out, size_t *bytes_out);
void pages_unmap(void *data, size_t bytes);

/* Touch all pages of fresh memory now, so that later use neither waits nor fails. */
ferry_status pages_populate(void *data, size_t bytes);

/* The same for pages that hold something; false where the kernel cannot (before 5.14). */
bool pages_present(void *data, size_t bytes);

#endif
