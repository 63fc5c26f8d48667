/** @file
 * Paths into bundles: `"a/b/3"` is element 3 of the list `b` in the bundle `a`.
 *
 * A path is a sequence of steps with '/' between them. A step is a key in a bundle, and a number without leading zeros
 * in a list. In keys `~1` stands for '/' and `~0` for '~' (as in RFC 6901). The step `@` leads to the attributes of the
 * value before: `"field/@/unit"`; the key that is just "@" is written `~2`.
 *
 * Setters make the bundles and attributes that are missing on the way, never lists. In a list they replace an element;
 * the step `-` stands for the one behind the last. A failure names the path, the step, what was wanted and what was
 * found.
 */
#ifndef FERRY_BUNDLE_PATH_H
#define FERRY_BUNDLE_PATH_H

#include "ferry/bundle_item.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Getting ---------------------------------------------------------------------------------------------- */

/**
 * Get the type of a value; also the way to ask whether it is there.
 *
 * @param bundle     the outermost one
 * @param path       of the value
 * @param type_out   filled
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a step leads nowhere
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list
 * @retval FERRY_ERR_MEMORY     out of memory, for a path of 256 bytes or more only; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    the steps     Since   0.1
 */
FERRY_API ferry_status ferry_path_type(const ferry_bundle *bundle, const char *path, ferry_type *type_out);

/**
 * Get a value of any type.
 *
 * @param bundle     the outermost one
 * @param path       of the value
 * @param item_out   filled; what it points to is lent until the tree is changed or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a step leads nowhere
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list
 * @retval FERRY_ERR_MEMORY     out of memory, for a path of 256 bytes or more only; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    the steps     Since   0.1
 */
FERRY_API ferry_status ferry_path_item(const ferry_bundle *bundle, const char *path, ferry_item *item_out);

/**
 * Get a single value: ferry_path_get_bool(), _int8, _int16, _int32, _int64, _uint8, _uint16, _uint32, _uint64,
 * _float32, _float64, _complex64 and _complex128, each
 * `(const ferry_bundle *bundle, const char *path, TYPE *value_out)`. Nothing is converted.
 *
 * @param bundle     the outermost one
 * @param path       of the value
 * @param value_out  filled
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a step leads nowhere
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list, or the value has another type
 * @retval FERRY_ERR_MEMORY     out of memory, for a path of 256 bytes or more only; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    the steps     Since   0.1
 */
#define FERRY_PATH_GET(name, NAME, type) \
    FERRY_API ferry_status ferry_path_get_##name(const ferry_bundle *bundle, const char *path, type *value_out);
FERRY_SCALAR_LIST(FERRY_PATH_GET)
#undef FERRY_PATH_GET

/**
 * Get a string.
 *
 * @param bundle     the outermost one
 * @param path       of the value
 * @param text_out   lends the bytes until the value is replaced or freed
 * @param length_out filled with their number
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a step leads nowhere
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list, or the value has another type
 * @retval FERRY_ERR_MEMORY     out of memory, for a path of 256 bytes or more only; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    the steps     Since   0.1
 */
FERRY_API ferry_status ferry_path_get_string(const ferry_bundle *bundle, const char *path, const char **text_out,
                                             size_t *length_out);

/**
 * Get bytes.
 *
 * @param bundle     the outermost one
 * @param path       of the value
 * @param data_out   lends the bytes until the value is replaced or freed
 * @param length_out filled with their number
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a step leads nowhere
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list, or the value has another type
 * @retval FERRY_ERR_MEMORY     out of memory, for a path of 256 bytes or more only; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    the steps     Since   0.1
 */
FERRY_API ferry_status ferry_path_get_bytes(const ferry_bundle *bundle, const char *path, const void **data_out,
                                            size_t *length_out);

/**
 * Get an array where it lies; as ferry_bundle_get_array().
 *
 * @param bundle     the outermost one
 * @param path       of the value
 * @param element    type the elements must have; ::FERRY_TYPE_ARRAY: any
 * @param array_out  filled; its data are lent until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a step leads nowhere
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list, or the value has another type
 * @retval FERRY_ERR_STATE      borrowed with strides, so that its elements lie dense nowhere
 * @retval FERRY_ERR_MEMORY     out of memory, for a path of 256 bytes or more only; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    the steps     Since   0.1
 */
FERRY_API ferry_status ferry_path_get_array(const ferry_bundle *bundle, const char *path, ferry_type element,
                                            ferry_array *array_out);

/**
 * Get a bundle inside, or the attributes of a value.
 *
 * @param bundle     the outermost one
 * @param path       of the value
 * @param child_out  lends it until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a step leads nowhere
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list, or the value has another type
 * @retval FERRY_ERR_MEMORY     out of memory, for a path of 256 bytes or more only; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    the steps     Since   0.1
 */
FERRY_API ferry_status ferry_path_get_bundle(const ferry_bundle *bundle, const char *path,
    const ferry_bundle **child_out);

/**
 * Get a list inside.
 *
 * @param bundle     the outermost one
 * @param path       of the value
 * @param child_out  lends it until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a step leads nowhere
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list, or the value has another type
 * @retval FERRY_ERR_MEMORY     out of memory, for a path of 256 bytes or more only; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    the steps     Since   0.1
 */
FERRY_API ferry_status ferry_path_get_list(const ferry_bundle *bundle, const char *path,
    const ferry_list **child_out);

/* ---- Setting ---------------------------------------------------------------------------------------------- */

/**
 * Set a value without content.
 *
 * @param bundle  the outermost one, to change
 * @param path    of the value
 * @retval FERRY_OK             the value is in place
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a list has no such element, or a value that would have attributes is missing
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list
 * @retval FERRY_ERR_LIMIT      deeper than ::FERRY_BUNDLE_MAX_DEPTH
 * @retval FERRY_ERR_MEMORY     out of memory; nothing changed after any failure
 *
 * Collective   no             Blocks  no             Memory  the value, and bundles on the way
 * Threads      one at a time per tree     Cost    the steps, and the value     Since   0.1
 */
FERRY_API ferry_status ferry_path_set_null(ferry_bundle *bundle, const char *path);

/**
 * Set a single value: ferry_path_set_bool(), _int8, _int16, _int32, _int64, _uint8, _uint16, _uint32, _uint64,
 * _float32, _float64, _complex64 and _complex128, each `(ferry_bundle *bundle, const char *path, TYPE value)`.
 *
 * @param bundle  the outermost one, to change
 * @param path    of the value
 * @param value   the value
 * @retval FERRY_OK             the value is in place
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a list has no such element, or a value that would have attributes is missing
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list
 * @retval FERRY_ERR_LIMIT      deeper than ::FERRY_BUNDLE_MAX_DEPTH
 * @retval FERRY_ERR_MEMORY     out of memory; nothing changed after any failure
 *
 * Collective   no             Blocks  no             Memory  the value, and bundles on the way
 * Threads      one at a time per tree     Cost    the steps, and the value     Since   0.1
 */
#define FERRY_PATH_SET(name, NAME, type) \
    FERRY_API ferry_status ferry_path_set_##name(ferry_bundle *bundle, const char *path, type value);
FERRY_SCALAR_LIST(FERRY_PATH_SET)
#undef FERRY_PATH_SET

/**
 * Set a string of any bytes.
 *
 * @param bundle  the outermost one, to change
 * @param path    of the value
 * @param text    copied; may be NULL when @p length is 0
 * @param length  in bytes; 0 is allowed
 * @retval FERRY_OK             the value is in place
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a list has no such element, or a value that would have attributes is missing
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list
 * @retval FERRY_ERR_LIMIT      deeper than ::FERRY_BUNDLE_MAX_DEPTH
 * @retval FERRY_ERR_MEMORY     out of memory; nothing changed after any failure
 *
 * Collective   no             Blocks  no             Memory  the value, and bundles on the way
 * Threads      one at a time per tree     Cost    the steps, and the value     Since   0.1
 */
FERRY_API ferry_status ferry_path_set_string(ferry_bundle *bundle, const char *path, const char *text, size_t length);

/**
 * Set bytes without a meaning.
 *
 * @param bundle  the outermost one, to change
 * @param path    of the value
 * @param data    copied; may be NULL when @p length is 0
 * @param length  in bytes; 0 is allowed
 * @retval FERRY_OK             the value is in place
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a list has no such element, or a value that would have attributes is missing
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list
 * @retval FERRY_ERR_LIMIT      deeper than ::FERRY_BUNDLE_MAX_DEPTH
 * @retval FERRY_ERR_MEMORY     out of memory; nothing changed after any failure
 *
 * Collective   no             Blocks  no             Memory  the value, and bundles on the way
 * Threads      one at a time per tree     Cost    the steps, and the value     Since   0.1
 */
FERRY_API ferry_status ferry_path_set_bytes(ferry_bundle *bundle, const char *path, const void *data, size_t length);

/**
 * Set an array of strings.
 *
 * @param bundle  the outermost one, to change
 * @param path    of the value
 * @param count   of strings; 0 is allowed
 * @param texts   count pointers to bytes, which are copied; may be NULL when @p count is 0
 * @param lengths count numbers of bytes; NULL: each string ends at its NUL
 * @retval FERRY_OK             the value is in place
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a list has no such element, or a value that would have attributes is missing
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list
 * @retval FERRY_ERR_LIMIT      deeper than ::FERRY_BUNDLE_MAX_DEPTH
 * @retval FERRY_ERR_MEMORY     out of memory; nothing changed after any failure
 *
 * Collective   no             Blocks  no             Memory  the value, and bundles on the way
 * Threads      one at a time per tree     Cost    the steps, and the value     Since   0.1
 */
FERRY_API ferry_status ferry_path_set_strings(ferry_bundle *bundle, const char *path, size_t count,
                                              const char *const *texts, const size_t *lengths);

/**
 * Set an array; as ferry_bundle_set_array().
 *
 * @param bundle  the outermost one, to change
 * @param path    of the value
 * @param element type of the elements, ::FERRY_TYPE_BOOL .. ::FERRY_TYPE_COMPLEX128
 * @param dims    1..::FERRY_ARRAY_MAX_DIMS
 * @param shape   dims numbers >= 0; copied
 * @param strides_bytes dims numbers of any sign; copied. NULL: dense, last index fastest
 * @param data    the element with all indices 0; copied; may be NULL when there are no elements
 * @retval FERRY_OK             the value is in place
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed, or a number is out of its range
 * @retval FERRY_ERR_NOT_FOUND  a list has no such element, or a value that would have attributes is missing
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list
 * @retval FERRY_ERR_LIMIT      deeper than ::FERRY_BUNDLE_MAX_DEPTH
 * @retval FERRY_ERR_MEMORY     out of memory; nothing changed after any failure
 *
 * Collective   no             Blocks  no             Memory  the value, and bundles on the way
 * Threads      one at a time per tree     Cost    the steps, and the value     Since   0.1
 */
FERRY_API ferry_status ferry_path_set_array(ferry_bundle *bundle, const char *path, ferry_type element, int dims,
    const int64_t *shape, const int64_t *strides_bytes, const void *data);

/**
 * Set a bundle as value.
 *
 * @param bundle  the outermost one, to change
 * @param path    of the value
 * @param child   owned after success; the pointer stays valid for changes until the value is replaced or freed
 * @retval FERRY_OK             the value is in place, the child handed over
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed, or @p child is part
 *                              of a tree already or the root of this one
 * @retval FERRY_ERR_NOT_FOUND  a list has no such element, or a value that would have attributes is missing
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list
 * @retval FERRY_ERR_LIMIT      deeper than ::FERRY_BUNDLE_MAX_DEPTH
 * @retval FERRY_ERR_MEMORY     out of memory; nothing changed after any failure
 *
 * Collective   no             Blocks  no             Memory  the value, and bundles on the way
 * Threads      one at a time per tree     Cost    the steps, and the value     Since   0.1
 */
FERRY_API ferry_status ferry_path_set_bundle(ferry_bundle *bundle, const char *path, ferry_bundle *child);

/**
 * Set a list as value.
 *
 * @param bundle  the outermost one, to change
 * @param path    of the value
 * @param child   owned after success; the pointer stays valid for changes until the value is replaced or freed
 * @retval FERRY_OK             the value is in place, the child handed over
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed, or @p child is part
 *                              of a tree already or the root of this one
 * @retval FERRY_ERR_NOT_FOUND  a list has no such element, or a value that would have attributes is missing
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list
 * @retval FERRY_ERR_LIMIT      deeper than ::FERRY_BUNDLE_MAX_DEPTH
 * @retval FERRY_ERR_MEMORY     out of memory; nothing changed after any failure
 *
 * Collective   no             Blocks  no             Memory  the value, and bundles on the way
 * Threads      one at a time per tree     Cost    the steps, and the value     Since   0.1
 */
FERRY_API ferry_status ferry_path_set_list(ferry_bundle *bundle, const char *path, ferry_list *child);

/**
 * Remove a value and free what it owned; with `@` as last step, the attributes of the value before.
 *
 * @param bundle  the outermost one, to change
 * @param path    of the value
 * @retval FERRY_OK             it is gone
 * @retval FERRY_ERR_ARG        a pointer is NULL, or the path is malformed
 * @retval FERRY_ERR_NOT_FOUND  a step leads nowhere
 * @retval FERRY_ERR_TYPE       a step leads into a value that is no bundle or list
 * @retval FERRY_ERR_MEMORY     out of memory, for a path of 256 bytes or more only; nothing changed after any failure
 *
 * Collective   no             Blocks  no             Memory  frees
 * Threads      one at a time per tree     Cost    the steps, and the values behind it     Since   0.1
 */
FERRY_API ferry_status ferry_path_remove(ferry_bundle *bundle, const char *path);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_BUNDLE_PATH_H */
