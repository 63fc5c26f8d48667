/* Values as text, for people. */
#ifndef BUNDLE_PRINT_H
#define BUNDLE_PRINT_H

#include "base/text.h"
#include "bundle/value.h"

/* "float64 [2 x 3] column-major", "int32", "list" */
void print_kind(text_out *out, const value *v);

/* "2 x 3" */
void print_shape(text_out *out, int dims, const int64_t *shape);

/* One value or array element. */
void print_scalar(text_out *out, ferry_type type, const void *bits);

/* Its first bytes in quotes. */
void print_text(text_out *out, text_view view, bool utf8);

#endif
