/* `ferry info`: the facts, and how they are shown. */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include <json-c/json.h>

#include "cli/rank.h"

/* All that is known, as one object; `cores` are those of the job as a whole: "ferry", "machine",
 * "job" (of pairs), "routes" and "settings" (lists of objects). The caller puts it. NULL with a
 * complaint. */
json_object *info_gather(const rank *me, int cores);

/* Print it for people. */
void info_print(json_object *facts);

#endif
