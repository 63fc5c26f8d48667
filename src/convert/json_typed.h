/* Reading of values behind a "$" word of json.h; each begins behind the colon. */
#ifndef CONVERT_JSON_TYPED_H
#define CONVERT_JSON_TYPED_H

#include "convert/json_text.h"
#include "convert/place.h"

/* A string or bytes, in base64. */
ferry_status json_read_text(json_text *r, const place *at, ferry_type type);
ferry_status json_read_scalar(json_text *r, const place *at, ferry_type type);
ferry_status json_read_strings(json_text *r, const place *at);
ferry_status json_read_array(json_text *r, const place *at);

#endif
