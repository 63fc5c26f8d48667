/** @file
 * Bundles in the formats of others: JSON, NumPy's .npz, and the XML that gretl writes. A library of its own,
 * `ferry-convert-<mpi>`, so that ferry needs no other library. docs/interchange.md tells how each value is written.
 *
 *     ferry_convert_load_npz("field.npz", &b);
 *     ferry_convert_save_json(b, "field.json");
 */
#ifndef FERRY_CONVERT_H
#define FERRY_CONVERT_H

#include "ferry/bundle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- JSON ------------------------------------------------------------------------------------------------- */

/**
 * Write a bundle as JSON text. ferry_convert_from_json() makes an equal bundle of it, bit for bit.
 *
 * @param bundle    to write; only read
 * @param text_out  filled with the text, which ends with a line feed and a NUL; the caller frees it with
 *                  ferry_convert_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a pointer is NULL
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  up to twice the text
 * Threads      any number that only read     Cost    the text     Since   0.1
 */
FERRY_API ferry_status ferry_convert_to_json(const ferry_bundle *bundle, char **text_out);

/**
 * Make a bundle of JSON text, which may come from anywhere: objects become bundles, arrays become lists, integers
 * int64 or, above 2^63 - 1, uint64, other numbers float64.
 *
 * @param text        UTF-8; need not end with a NUL
 * @param bytes       its length
 * @param bundle_out  filled; the caller frees it with ferry_bundle_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a pointer is NULL
 * @retval FERRY_ERR_FORMAT  no JSON, or none that a bundle can hold: a key twice in one object, an empty key, numbers
 *                           beyond 64 bits, the outermost value no object, text behind it (the text names line and
 *                           byte)
 * @retval FERRY_ERR_LIMIT   nested deeper than ::FERRY_BUNDLE_MAX_DEPTH
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  the bundle, and its largest value once more
 * Threads      any thread     Cost    the text     Since   0.1
 */
FERRY_API ferry_status ferry_convert_from_json(const char *text, size_t bytes, ferry_bundle **bundle_out);

/**
 * Free a text of ferry_convert_to_json(). Does nothing for NULL.
 *
 * @param text  not valid afterwards
 *
 * Collective   no             Blocks  no             Memory  frees
 * Threads      any thread     Cost    constant       Since   0.1
 */
FERRY_API void ferry_convert_free(char *text);

/**
 * Write a bundle to a file as JSON. The file takes its name when it is complete, as with ferry_bundle_save().
 *
 * @param bundle  to write; only read
 * @param path    a new name or a regular file, which is replaced
 * @retval FERRY_OK          the file is complete
 * @retval FERRY_ERR_ARG     a pointer is NULL, or @p path is no possible name or no regular file
 * @retval FERRY_ERR_MEMORY  out of memory
 * @retval FERRY_ERR_SYSTEM  the system refuses (the text names path and reason); what was at @p path is as it was after
 *                           any failure
 *
 * Collective   no             Blocks  until the disk has it     Memory  up to twice the text
 * Threads      any number that only read     Cost    the text     Since   0.1
 */
FERRY_API ferry_status ferry_convert_save_json(const ferry_bundle *bundle, const char *path);

/**
 * Make a bundle of a JSON file, as ferry_convert_from_json() does.
 *
 * @param path        regular file
 * @param bundle_out  filled; the caller frees it with ferry_bundle_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a pointer is NULL, or @p path is no regular file
 * @retval FERRY_ERR_FORMAT  as ferry_convert_from_json(); the text names the path too
 * @retval FERRY_ERR_LIMIT   likewise
 * @retval FERRY_ERR_MEMORY  out of memory
 * @retval FERRY_ERR_SYSTEM  the system refuses (the text names path and reason); nothing is filled after any failure
 *
 * Collective   no             Blocks  while the disk is read     Memory  the text and the bundle
 * Threads      any thread     Cost    the text     Since   0.1
 */
FERRY_API ferry_status ferry_convert_load_json(const char *path, ferry_bundle **bundle_out);

/* ---- NumPy ------------------------------------------------------------------------------------------------ */

/**
 * Write a bundle as a .npz file, which `numpy.load` reads: one array for each value, named by its path. The file takes
 * its name when it is complete.
 *
 * @param bundle  to write; only read
 * @param path    a new name or a regular file, which is replaced
 * @retval FERRY_OK          the file is complete
 * @retval FERRY_ERR_ARG     a pointer is NULL, or @p path is no possible name or no regular file
 * @retval FERRY_ERR_TYPE    a value that .npz cannot hold (the text names its path): null, strings that end in NUL
 * @retval FERRY_ERR_MEMORY  out of memory
 * @retval FERRY_ERR_SYSTEM  the system refuses (the text names path and reason); what was at @p path is as it was after
 *                           any failure
 *
 * Collective   no             Blocks  until the disk has it
 * Memory       a header for each value; arrays are written from where they lie, unless they have strides
 * Threads      any number that only read     Cost    one write of the bytes     Since   0.1
 */
FERRY_API ferry_status ferry_convert_save_npz(const ferry_bundle *bundle, const char *path);

/**
 * Make a bundle of a .npz file, such as `numpy.savez` and `numpy.savez_compressed` write.
 *
 * @param path        regular file
 * @param bundle_out  filled; the caller frees it with ferry_bundle_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a pointer is NULL, or @p path is no possible name
 * @retval FERRY_ERR_FORMAT  no zip file, or a damaged one; an entry that is no array, two with one name, names that do
 *                           not fit together (the text names path and entry)
 * @retval FERRY_ERR_TYPE    an array of Python objects, or of another type that bundles have not (likewise)
 * @retval FERRY_ERR_LIMIT   more than ::FERRY_ARRAY_MAX_DIMS dimensions, or nested deeper than ::FERRY_BUNDLE_MAX_DEPTH
 * @retval FERRY_ERR_MEMORY  out of memory
 * @retval FERRY_ERR_SYSTEM  the system refuses (the text names path and reason); nothing is filled after any failure
 *
 * Collective   no             Blocks  while the disk is read
 * Memory       the bundle, and its largest value once more
 * Threads      any thread     Cost    one read of the bytes     Since   0.1
 */
FERRY_API ferry_status ferry_convert_load_npz(const char *path, ferry_bundle **bundle_out);

/* ---- gretl ------------------------------------------------------------------------------------------------ */

/**
 * Make a bundle of an XML file that gretl's `bwrite` has written, compressed or not. Entities and everything outside
 * of the file are refused.
 *
 * @param path        regular file
 * @param bundle_out  filled; the caller frees it with ferry_bundle_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a pointer is NULL, or @p path is no possible name
 * @retval FERRY_ERR_FORMAT  no XML, or none of a bundle (the text names path and line)
 * @retval FERRY_ERR_TYPE    a value of a type that is not known
 * @retval FERRY_ERR_LIMIT   nested deeper than ::FERRY_BUNDLE_MAX_DEPTH
 * @retval FERRY_ERR_MEMORY  out of memory
 * @retval FERRY_ERR_SYSTEM  the system refuses (the text names path and reason); nothing is filled after any failure
 *
 * Collective   no             Blocks  while the disk is read     Memory  the text as a tree, and the bundle
 * Threads      any thread     Cost    the text     Since   0.1
 */
FERRY_API ferry_status ferry_convert_load_gretl(const char *path, ferry_bundle **bundle_out);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_CONVERT_H */
