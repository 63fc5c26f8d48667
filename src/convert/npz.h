/* What writing and reading of .npz files share: the names of entries and of types.
 *
 * An entry is named by the path of its value: steps with '/' between them, ".npy" behind the last.
 * A step is a key, "[3]" in a list, or "@" for the attributes of the value before. In keys "~0" is
 * '~', "~1" is '/', "~2" the key "@", "~3" a '[' at the beginning. A bundle without values is the
 * folder "path/", a list without values the folder "path/[]/". */
#ifndef CONVERT_NPZ_H
#define CONVERT_NPZ_H

#include "convert/buffer.h"
#include "ferry/bundle.h"
#include "npy/npy.h"

/* NumPy's name of a type from bool to complex128, such as "<f8". */
const char *npz_descr(ferry_type type);

/* The type of a NumPy name, whatever its byte order; FERRY_TYPE_NULL when bundles have none. */
ferry_type npz_type(const char *descr);

void npz_add_key(buffer *path, const char *key);
void npz_add_index(buffer *path, size_t index);

/* A step to a key; the text ends with a NUL. */
void npz_read_key(buffer *key, const char *step, size_t bytes);

/* "[3]"; false for other steps. "[]" gives SIZE_MAX. */
bool npz_read_index(const char *step, size_t bytes, size_t *index_out);

#endif
