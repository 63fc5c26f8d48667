/* What others know of the case bundle: its content and where it goes. */
#ifndef BENCH_CASE_BUNDLE_H
#define BENCH_CASE_BUNDLE_H

#include <stdbool.h>

#include "bench/cases.h"
#include "bench/content.h"

/* After a successful check. */
content case_bundle_content(const bench_case *c);
bool case_bundle_is_bcast(const bench_case *c); /* else from rank 0 to rank 1 */

/* libxml2 reads up to 2 GiB of text. */
bool case_bundle_xml_fits(const content *shape);

#endif
