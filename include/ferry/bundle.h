/** @file
 * Bundles: ordered trees of named values that move between ranks bit for bit.
 *
 * A bundle holds values under keys, a list holds values in order; both may hold further bundles and lists, up to
 * ::FERRY_BUNDLE_MAX_DEPTH levels. A key is any UTF-8 text that is not empty and has no NUL; keys keep their order.
 * `set` calls copy, `borrow` calls keep a pointer to the caller's memory, `get` calls lend and never convert. Setting a
 * key that is there replaces its value, a new key goes to the end. Any value may carry attributes (names of rows,
 * units, dates), which are a bundle of their own; they go with the value when it is replaced or removed.
 *
 *     ferry_bundle *b;
 *     ferry_bundle_new(&b);
 *     ferry_bundle_set_float64(b, "dt", 0.5);
 *     ferry_bundle_set_array(b, "field", FERRY_TYPE_FLOAT64, 2, shape, NULL, field);
 *     ferry_bundle_bcast(ctx, &b, 0);
 *
 * How bundles move between ranks: ferry/bundle_move.h.
 */
#ifndef FERRY_BUNDLE_H
#define FERRY_BUNDLE_H

#include <stdbool.h>

#include "ferry/element.h"
#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_bundle ferry_bundle; /**< opaque; see ferry_bundle_new() */
typedef struct ferry_list ferry_list;     /**< opaque; see ferry_list_new() */

/** The types of single values and of array elements: X(word in function names, word in ::ferry_type, C type). */
#define FERRY_SCALAR_LIST(X)                     \
    X(bool,       BOOL,       bool)              \
    X(int8,       INT8,       int8_t)            \
    X(int16,      INT16,      int16_t)           \
    X(int32,      INT32,      int32_t)           \
    X(int64,      INT64,      int64_t)           \
    X(uint8,      UINT8,      uint8_t)           \
    X(uint16,     UINT16,     uint16_t)          \
    X(uint32,     UINT32,     uint32_t)          \
    X(uint64,     UINT64,     uint64_t)          \
    X(float32,    FLOAT32,    float)             \
    X(float64,    FLOAT64,    double)            \
    X(complex64,  COMPLEX64,  ferry_complex64)   \
    X(complex128, COMPLEX128, ferry_complex128)

enum {
    FERRY_ARRAY_MAX_DIMS = 8,    /**< dimensions of an array */
    FERRY_BUNDLE_MAX_DEPTH = 128 /**< bundles and lists on the way to a value, the outermost one counted */
};

/** An array as it is lent: its elements lie one after another. */
typedef struct ferry_array {
    ferry_type element;                  /**< type of the elements */
    int dims;                            /**< dimensions, 1..::FERRY_ARRAY_MAX_DIMS */
    int64_t shape[FERRY_ARRAY_MAX_DIMS]; /**< elements along each dimension; the rest is 0 */
    int column_major;                    /**< 1: the first index runs fastest (Fortran), 0: the last one does (C) */
    const void *data;                    /**< the elements; not NULL, also for an array without any */
} ferry_array;

/* ---- Bundles: making, changing, freeing ------------------------------------------------------------------- */

/**
 * Make an empty bundle.
 *
 * @param bundle_out  filled; the caller frees it with ferry_bundle_free(), or hands it over
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     @p bundle_out is NULL
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled
 *
 * Collective   no             Blocks  no             Memory  under 128 B
 * Threads      any thread     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_new(ferry_bundle **bundle_out);

/**
 * Free a bundle and all that it owns. A bundle inside another one is freed with that one, never by itself. Does
 * nothing for NULL.
 *
 * @param bundle  owned by the caller; not valid afterwards
 *
 * Collective   no             Blocks  no             Memory  frees
 * Threads      one at a time per tree     Cost    proportional to its values     Since   0.1
 */
FERRY_API void ferry_bundle_free(ferry_bundle *bundle);

/**
 * Make a deep copy that borrows nothing; elements that lay with strides lie dense in it.
 *
 * @param bundle    to copy
 * @param copy_out  filled; the caller frees it with ferry_bundle_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a pointer is NULL
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled
 *
 * Collective   no             Blocks  no             Memory  two blocks
 * Threads      any number that only read     Cost    each byte is copied once     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_copy(const ferry_bundle *bundle, ferry_bundle **copy_out);

/** What ferry_bundle_merge() does with keys that both bundles have, unless both values are bundles. */
typedef enum ferry_merge {
    FERRY_MERGE_REPLACE = 0, /**< the value of the source replaces the one of the target */
    FERRY_MERGE_KEEP = 1,    /**< the value of the target stays */
    FERRY_MERGE_REFUSE = 2   /**< the merge fails */
} ferry_merge;

/**
 * Copy the values of a bundle into another one. Bundles under the same key are merged likewise, and so are the
 * attributes of such bundles; any other value comes with its attributes. New keys go to the end. All or nothing.
 *
 * @param target  to change
 * @param source  copied from; borrows nothing afterwards
 * @param how     what happens to keys that both have
 * @retval FERRY_OK          done
 * @retval FERRY_ERR_ARG     a pointer is NULL, @p how is no such value, or it is ::FERRY_MERGE_REFUSE and both have a
 *                           key (the text names its path)
 * @retval FERRY_ERR_LIMIT   deeper than ::FERRY_BUNDLE_MAX_DEPTH
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed after any failure
 *
 * Collective   no             Blocks  no             Memory  what is copied
 * Threads      one at a time per tree     Cost    values of the source and of bundles merged     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_merge(ferry_bundle *target, const ferry_bundle *source, ferry_merge how);

/**
 * Set a value without content.
 *
 * @param bundle  to change
 * @param key     non-empty UTF-8; copied when it is new
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL or the key is no valid key; nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  the key, when new
 * Threads      one at a time per tree     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_set_null(ferry_bundle *bundle, const char *key);

/**
 * Set a single value: ferry_bundle_set_bool(), _int8, _int16, _int32, _int64, _uint8, _uint16, _uint32, _uint64,
 * _float32, _float64, _complex64 and _complex128, each `(ferry_bundle *bundle, const char *key, TYPE value)`. Every bit
 * is kept, of NaNs and zeros too.
 *
 * @param bundle  to change
 * @param key     non-empty UTF-8; copied when it is new
 * @param value   the value
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL or the key is no valid key; nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no            Blocks   no            Memory  the key, when new
 * Threads      one at a time per tree    Cost   constant    Since   0.1
 */
#define FERRY_BUNDLE_SET(name, NAME, type) \
    FERRY_API ferry_status ferry_bundle_set_##name(ferry_bundle *bundle, const char *key, type value);
FERRY_SCALAR_LIST(FERRY_BUNDLE_SET)
#undef FERRY_BUNDLE_SET

/**
 * Set a string: any bytes, NUL included. Whether they are UTF-8 is found out and kept as a flag.
 *
 * @param bundle  to change
 * @param key     non-empty UTF-8; copied when it is new
 * @param text    copied; may be NULL when @p length is 0
 * @param length  in bytes; 0 is allowed
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL or the key is no valid key; nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  @p length
 * Threads      one at a time per tree     Cost    @p length      Since   0.1
 */
FERRY_API ferry_status ferry_bundle_set_string(ferry_bundle *bundle, const char *key, const char *text,
                                               size_t length);

/**
 * Set bytes without a meaning.
 *
 * @param bundle  to change
 * @param key     non-empty UTF-8; copied when it is new
 * @param data    copied; may be NULL when @p length is 0
 * @param length  in bytes; 0 is allowed
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL or the key is no valid key; nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  @p length
 * Threads      one at a time per tree     Cost    @p length      Since   0.1
 */
FERRY_API ferry_status ferry_bundle_set_bytes(ferry_bundle *bundle, const char *key, const void *data,
                                              size_t length);

/**
 * Set an array of strings: any bytes in each, NUL included. Whether all are UTF-8 is kept as a flag.
 *
 * @param bundle   to change
 * @param key      non-empty UTF-8; copied when it is new
 * @param count    of strings; 0 is allowed
 * @param texts    count pointers to bytes, which are copied; may be NULL when @p count is 0
 * @param lengths  count numbers of bytes; NULL: each string ends at its NUL
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL, the key is no valid key, or the lengths overflow; nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  the strings, 9 B each besides
 * Threads      one at a time per tree     Cost    the strings     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_set_strings(ferry_bundle *bundle, const char *key, size_t count,
                                                const char *const *texts, const size_t *lengths);

/**
 * Set an array. Shapes without elements, such as 0 x 5, are kept. Column-major strides stay column-major, other
 * strides become dense in C order.
 *
 * @param bundle         to change
 * @param key            non-empty UTF-8; copied when it is new
 * @param element        type of the elements, ::FERRY_TYPE_BOOL .. ::FERRY_TYPE_COMPLEX128
 * @param dims           1..::FERRY_ARRAY_MAX_DIMS
 * @param shape          dims numbers >= 0; copied
 * @param strides_bytes  dims numbers of any sign: the element (i, j, ...) lies at data + i * strides_bytes[0] + j *
 *                       strides_bytes[1] + ...; copied. NULL: dense, last index fastest
 * @param data           the element with all indices 0; copied; may be NULL when there are no elements
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL, the key is no valid key, a number is out of its range or overflows 63
 *                           bits (the text names it); nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  the elements
 * Threads      one at a time per tree     Cost    the elements     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_set_array(ferry_bundle *bundle, const char *key, ferry_type element, int dims,
    const int64_t *shape, const int64_t *strides_bytes, const void *data);

/**
 * Set a string that stays in the caller's memory.
 *
 * @param bundle  to change
 * @param key     non-empty UTF-8; copied when it is new
 * @param text    borrowed until the value is replaced or freed: keep it alive and unchanged
 * @param length  in bytes; 0 is allowed
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL or the key is no valid key; nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  the key, when new
 * Threads      one at a time per tree     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_borrow_string(ferry_bundle *bundle, const char *key, const char *text,
                                                  size_t length);

/**
 * Set bytes that stay in the caller's memory.
 *
 * @param bundle  to change
 * @param key     non-empty UTF-8; copied when it is new
 * @param data    borrowed until the value is replaced or freed: keep it alive
 * @param length  in bytes; 0 is allowed
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL or the key is no valid key; nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  the key, when new
 * Threads      one at a time per tree     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_borrow_bytes(ferry_bundle *bundle, const char *key, const void *data,
                                                 size_t length);

/**
 * Set an array that stays in the caller's memory; what it holds when the bundle is moved is what moves. Dense
 * elements are sent from where they lie.
 *
 * @param bundle         to change
 * @param key            non-empty UTF-8; copied when it is new
 * @param element        type of the elements, ::FERRY_TYPE_BOOL .. ::FERRY_TYPE_COMPLEX128
 * @param dims           1..::FERRY_ARRAY_MAX_DIMS
 * @param shape          dims numbers >= 0; copied
 * @param strides_bytes  dims numbers of any sign: the element (i, j, ...) lies at data + i * strides_bytes[0] + j *
 *                       strides_bytes[1] + ...; copied. NULL: dense, last index fastest
 * @param data           borrowed until the value is replaced or freed: keep it alive
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL, the key is no valid key, a number is out of its range or overflows 63
 *                           bits (the text names it); nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  under 256 B
 * Threads      one at a time per tree     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_borrow_array(ferry_bundle *bundle, const char *key, ferry_type element,
    int dims, const int64_t *shape, const int64_t *strides_bytes, const void *data);

/**
 * Set a bundle as value.
 *
 * @param bundle  to change
 * @param key     non-empty UTF-8; copied when it is new
 * @param child   owned afterwards; the pointer stays valid for changes until the value is replaced or freed
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL, the key is no valid key, or @p child is part of a tree already or the
 *                           root of this one; nothing changed, the caller still owns @p child
 * @retval FERRY_ERR_LIMIT   deeper than ::FERRY_BUNDLE_MAX_DEPTH; nothing changed, likewise
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed, likewise
 *
 * Collective   no             Blocks  no             Memory  the key, when new
 * Threads      one at a time per tree     Since   0.1
 * Cost         constant, or the bundles and lists inside of the child
 */
FERRY_API ferry_status ferry_bundle_set_bundle(ferry_bundle *bundle, const char *key, ferry_bundle *child);

/**
 * Set a list as value.
 *
 * @param bundle  to change
 * @param key     non-empty UTF-8; copied when it is new
 * @param child   owned afterwards; the pointer stays valid for changes until the value is replaced or freed
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL, the key is no valid key, or @p child is part of a tree already or the
 *                           root of this one; nothing changed, the caller still owns @p child
 * @retval FERRY_ERR_LIMIT   deeper than ::FERRY_BUNDLE_MAX_DEPTH; nothing changed, likewise
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed, likewise
 *
 * Collective   no             Blocks  no             Memory  the key, when new
 * Threads      one at a time per tree     Since   0.1
 * Cost         constant, or the bundles and lists inside of the child
 */
FERRY_API ferry_status ferry_bundle_set_list(ferry_bundle *bundle, const char *key, ferry_list *child);

/**
 * Remove a value and free what it owned. The keys behind it move up.
 *
 * @param bundle  to change
 * @param key     of the value
 * @retval FERRY_OK             the key is gone
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key; nothing changed
 *
 * Collective   no             Blocks  no             Memory  frees
 * Threads      one at a time per tree     Cost    proportional to the number of keys     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_remove(ferry_bundle *bundle, const char *key);

/**
 * Get the attributes of a value for changing; makes an empty bundle of them when there is none.
 *
 * @param bundle         to change
 * @param key            of the value
 * @param attributes_out lends them until the value is replaced or removed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key
 * @retval FERRY_ERR_LIMIT      deeper than ::FERRY_BUNDLE_MAX_DEPTH; attributes count as a level
 * @retval FERRY_ERR_MEMORY     out of memory; nothing changed and nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  a bundle, when new
 * Threads      one at a time per tree     Cost    logarithm of the values with attributes     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_edit_attributes(ferry_bundle *bundle, const char *key,
    ferry_bundle **attributes_out);

/**
 * Get the attributes of a value for reading.
 *
 * @param bundle         bundle
 * @param key            of the value
 * @param attributes_out lends them until the value is replaced or removed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key, or it has no attributes; nothing is filled
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    logarithm of the values with attributes     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_get_attributes(const ferry_bundle *bundle, const char *key,
    const ferry_bundle **attributes_out);

/**
 * Remove the attributes of a value, and free them.
 *
 * @param bundle    to change
 * @param key       of the value
 * @retval FERRY_OK             they are gone
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key, or it has no attributes; nothing changed
 *
 * Collective   no             Blocks  no             Memory  frees
 * Threads      one at a time per tree     Cost    the values with attributes     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_remove_attributes(ferry_bundle *bundle, const char *key);

/* ---- Bundles: looking inside ------------------------------------------------------------------------------ */

/**
 * The number of values of a bundle, those of bundles inside not counted.
 *
 * @param bundle  bundle; NULL has none
 * @return the number
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API size_t ferry_bundle_count(const ferry_bundle *bundle);

/**
 * The key at a place in the order.
 *
 * @param bundle  bundle
 * @param index   0 .. count - 1
 * @return lends the key until it is removed; NULL when there are fewer
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API const char *ferry_bundle_key(const ferry_bundle *bundle, size_t index);

/**
 * Tell the type of a value; also the way to ask whether a key is there.
 *
 * @param bundle    bundle
 * @param key       of the value
 * @param type_out  filled
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key; nothing is filled
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_type(const ferry_bundle *bundle, const char *key, ferry_type *type_out);

/**
 * Get a single value: ferry_bundle_get_bool(), _int8, _int16, _int32, _int64, _uint8, _uint16, _uint32, _uint64,
 * _float32, _float64, _complex64 and _complex128, each
 * `(const ferry_bundle *bundle, const char *key, TYPE *value_out)`. Nothing is converted: an int32 is got as
 * int32 only.
 *
 * @param bundle     bundle
 * @param key        of the value
 * @param value_out  filled
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
#define FERRY_BUNDLE_GET(name, NAME, type) \
    FERRY_API ferry_status ferry_bundle_get_##name(const ferry_bundle *bundle, const char *key, type *value_out);
FERRY_SCALAR_LIST(FERRY_BUNDLE_GET)
#undef FERRY_BUNDLE_GET

/**
 * Get a string. A NUL follows it unless it is borrowed.
 *
 * @param bundle      bundle
 * @param key         of the value
 * @param text_out    lends the bytes until the value is replaced or freed
 * @param length_out  filled with their number
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_get_string(const ferry_bundle *bundle, const char *key, const char **text_out,
                                               size_t *length_out);

/**
 * Tell whether a string, or each string of an array of strings, is UTF-8.
 *
 * @param bundle    bundle
 * @param key       of the value
 * @param utf8_out  filled with 1 or 0
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant, or the length of a borrowed string     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_get_utf8(const ferry_bundle *bundle, const char *key, int *utf8_out);

/**
 * Get bytes.
 *
 * @param bundle      bundle
 * @param key         of the value
 * @param data_out    lends the bytes until the value is replaced or freed
 * @param length_out  filled with their number
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_get_bytes(const ferry_bundle *bundle, const char *key, const void **data_out,
                                              size_t *length_out);

/**
 * Tell how many strings an array of strings has.
 *
 * @param bundle    bundle
 * @param key       of the value
 * @param count_out filled
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_get_strings(const ferry_bundle *bundle, const char *key, size_t *count_out);

/**
 * Get one string of an array of strings. A NUL follows it.
 *
 * @param bundle     bundle
 * @param key        of the value
 * @param number     of the string, 0 .. count - 1
 * @param text_out   lends the bytes until the value is replaced or freed
 * @param length_out filled with their number
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key, or it has fewer strings
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_get_string_at(const ferry_bundle *bundle, const char *key, size_t number,
    const char **text_out, size_t *length_out);

/**
 * Get an array where it lies.
 *
 * @param bundle     bundle
 * @param key        of the value
 * @param element    type the elements must have; ::FERRY_TYPE_ARRAY: any
 * @param array_out  filled; its data are lent until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key
 * @retval FERRY_ERR_TYPE       no array, or of other elements (the text names both)
 * @retval FERRY_ERR_STATE      borrowed with strides, so that its elements lie dense nowhere:
 *                              ferry_bundle_read_array() reads it; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_get_array(const ferry_bundle *bundle, const char *key, ferry_type element,
                                              ferry_array *array_out);

/**
 * Copy an array into the caller's memory, in any order: the element (i, j, ...) goes to data + i * strides_bytes[0]
 * + j * strides_bytes[1] + ...
 *
 * @param bundle         bundle
 * @param key            of the value
 * @param element        type the elements must have
 * @param dims           dimensions it must have
 * @param shape          dims numbers that it must have; borrowed during the call
 * @param strides_bytes  dims numbers of any sign; borrowed during the call. NULL: dense, last index fastest
 * @param data           filled; where the element with all indices 0 goes
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL or a number is out of its range
 * @retval FERRY_ERR_NOT_FOUND  there is no such key
 * @retval FERRY_ERR_TYPE       no array, or of other elements (the text names both)
 * @retval FERRY_ERR_SHAPE      another shape (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    the elements     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_read_array(const ferry_bundle *bundle, const char *key, ferry_type element,
    int dims, const int64_t *shape, const int64_t *strides_bytes, void *data);

/**
 * Get a bundle inside, for reading.
 *
 * @param bundle     bundle
 * @param key        of the value
 * @param child_out  lends it until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_get_bundle(const ferry_bundle *bundle, const char *key,
                                               const ferry_bundle **child_out);

/**
 * Get a bundle inside, for changing.
 *
 * @param bundle     bundle
 * @param key        of the value
 * @param child_out  lends it until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per tree     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_edit_bundle(ferry_bundle *bundle, const char *key, ferry_bundle **child_out);

/**
 * Get a list inside, for reading.
 *
 * @param bundle     bundle
 * @param key        of the value
 * @param child_out  lends it until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_get_list(const ferry_bundle *bundle, const char *key,
                                             const ferry_list **child_out);

/**
 * Get a list inside, for changing.
 *
 * @param bundle     bundle
 * @param key        of the value
 * @param child_out  lends it until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such key
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per tree     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_bundle_edit_list(ferry_bundle *bundle, const char *key, ferry_list **child_out);

/**
 * Tell whether two bundles hold the same keys in the same order with the same types and values, bit for bit: a NaN
 * equals itself only with the same payload, -0 is not 0, and shape and memory order of arrays count, and so do
 * attributes. Who owns the memory does not.
 *
 * @param a  bundle; NULL equals only NULL
 * @param b  likewise
 * @return 1 when equal, else 0
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    reads both     Since   0.1
 */
FERRY_API int ferry_bundle_equal(const ferry_bundle *a, const ferry_bundle *b);

/**
 * Compare two bundles as ferry_bundle_equal() does, and say where they differ first: the path (as
 * ferry/bundle_path.h writes it) and what each has there.
 *
 * @param a      the first; NULL equals only NULL
 * @param b      the second
 * @param text   filled with at most @p bytes - 1 characters and a NUL, nothing else when equal; may be NULL when
 *               @p bytes is 0
 * @param bytes  room
 * @return 1 when equal, else 0
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    reads both     Since   0.1
 */
FERRY_API int ferry_bundle_compare(const ferry_bundle *a, const ferry_bundle *b, char *text, size_t bytes);

/**
 * Print a bundle, one value a line, attributes (marked @) below; long strings and arrays are cut short.
 *
 * @param bundle  bundle; NULL prints "none"
 * @param text    filled with at most @p bytes - 1 characters and a NUL; may be NULL when @p bytes is 0
 * @param bytes   room
 * @return characters of the whole text, NUL not counted, as snprintf does
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    proportional to the text     Since   0.1
 */
FERRY_API size_t ferry_bundle_print(const ferry_bundle *bundle, char *text, size_t bytes);

/**
 * The name of a type, such as "float64".
 *
 * @param type  any number
 * @return a static text; "unknown" for no type
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any thread     Cost    constant       Since   0.1
 */
FERRY_API const char *ferry_type_name(ferry_type type);

/**
 * The bytes of one value or array element of a type.
 *
 * @param type  any number
 * @return 1..16 for bool .. complex128, else 0
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any thread     Cost    constant       Since   0.1
 */
FERRY_API size_t ferry_type_bytes(ferry_type type);

/* ---- Lists ------------------------------------------------------------------------------------------------ */

/**
 * Make an empty list.
 *
 * @param list_out  filled; the caller frees it with ferry_list_free(), or hands it over
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     @p list_out is NULL
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled
 *
 * Collective   no             Blocks  no             Memory  under 128 B
 * Threads      any thread     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_new(ferry_list **list_out);

/**
 * Free a list that nobody was given, and all that it owns. Does nothing for NULL.
 *
 * @param list  owned by the caller; not valid afterwards
 *
 * Collective   no             Blocks  no             Memory  frees
 * Threads      one at a time per tree     Cost    proportional to its values     Since   0.1
 */
FERRY_API void ferry_list_free(ferry_list *list);

/**
 * Append a value without content.
 *
 * @param list  to change
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     @p list is NULL
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per tree     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_append_null(ferry_list *list);

/**
 * Append a single value: ferry_list_append_bool(), _int8, _int16, _int32, _int64, _uint8, _uint16, _uint32, _uint64,
 * _float32, _float64, _complex64 and _complex128, each `(ferry_list *list, TYPE value)`.
 *
 * @param list   to change
 * @param value  the value
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     @p list is NULL
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      one at a time per tree    Cost   constant    Since   0.1
 */
#define FERRY_LIST_APPEND(name, NAME, type) \
    FERRY_API ferry_status ferry_list_append_##name(ferry_list *list, type value);
FERRY_SCALAR_LIST(FERRY_LIST_APPEND)
#undef FERRY_LIST_APPEND

/**
 * Append a string: any bytes, NUL included. Whether they are UTF-8 is found out and kept as a flag.
 *
 * @param list    to change
 * @param text    copied; may be NULL when @p length is 0
 * @param length  in bytes; 0 is allowed
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL; nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  @p length
 * Threads      one at a time per tree     Cost    @p length      Since   0.1
 */
FERRY_API ferry_status ferry_list_append_string(ferry_list *list, const char *text, size_t length);

/**
 * Append bytes without a meaning.
 *
 * @param list    to change
 * @param data    copied; may be NULL when @p length is 0
 * @param length  in bytes; 0 is allowed
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL; nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  @p length
 * Threads      one at a time per tree     Cost    @p length      Since   0.1
 */
FERRY_API ferry_status ferry_list_append_bytes(ferry_list *list, const void *data, size_t length);

/**
 * Append an array of strings: any bytes in each, NUL included. Whether all are UTF-8 is kept as a flag.
 *
 * @param list     to change
 * @param count    of strings; 0 is allowed
 * @param texts    count pointers to bytes, which are copied; may be NULL when @p count is 0
 * @param lengths  count numbers of bytes; NULL: each string ends at its NUL
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL or the sum of the lengths overflows; nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  the strings, 9 B each besides
 * Threads      one at a time per tree     Cost    the strings     Since   0.1
 */
FERRY_API ferry_status ferry_list_append_strings(ferry_list *list, size_t count,
                                                 const char *const *texts, const size_t *lengths);

/**
 * Append an array. Shapes without elements, such as 0 x 5, are kept. Column-major strides stay column-major, other
 * strides become dense in C order.
 *
 * @param list           to change
 * @param element        type of the elements, ::FERRY_TYPE_BOOL .. ::FERRY_TYPE_COMPLEX128
 * @param dims           1..::FERRY_ARRAY_MAX_DIMS
 * @param shape          dims numbers >= 0; copied
 * @param strides_bytes  dims numbers of any sign: the element (i, j, ...) lies at data + i * strides_bytes[0] + j *
 *                       strides_bytes[1] + ...; copied. NULL: dense, last index fastest
 * @param data           the element with all indices 0; copied; may be NULL when there are no elements
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL, a number is out of its range or overflows 63 bits (the text names
 *                           it); nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  the elements
 * Threads      one at a time per tree     Cost    the elements     Since   0.1
 */
FERRY_API ferry_status ferry_list_append_array(ferry_list *list, ferry_type element, int dims,
    const int64_t *shape, const int64_t *strides_bytes, const void *data);

/**
 * Append a string that stays in the caller's memory.
 *
 * @param list    to change
 * @param text    borrowed until the value is replaced or freed: keep it alive and unchanged
 * @param length  in bytes; 0 is allowed
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL; nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per tree     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_borrow_string(ferry_list *list, const char *text, size_t length);

/**
 * Append bytes that stay in the caller's memory.
 *
 * @param list    to change
 * @param data    borrowed until the value is replaced or freed: keep it alive
 * @param length  in bytes; 0 is allowed
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL; nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per tree     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_borrow_bytes(ferry_list *list, const void *data, size_t length);

/**
 * Append an array that stays in the caller's memory; what it holds when the bundle is moved is what moves. Dense
 * elements are sent from where they lie.
 *
 * @param list           to change
 * @param element        type of the elements, ::FERRY_TYPE_BOOL .. ::FERRY_TYPE_COMPLEX128
 * @param dims           1..::FERRY_ARRAY_MAX_DIMS
 * @param shape          dims numbers >= 0; copied
 * @param strides_bytes  dims numbers of any sign: the element (i, j, ...) lies at data + i * strides_bytes[0] + j *
 *                       strides_bytes[1] + ...; copied. NULL: dense, last index fastest
 * @param data           borrowed until the value is replaced or freed: keep it alive
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL, a number is out of its range or overflows 63 bits (the text names
 *                           it); nothing changed
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed
 *
 * Collective   no             Blocks  no             Memory  under 256 B
 * Threads      one at a time per tree     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_borrow_array(ferry_list *list, ferry_type element, int dims,
    const int64_t *shape, const int64_t *strides_bytes, const void *data);

/**
 * Append a bundle as value.
 *
 * @param list   to change
 * @param child  owned afterwards; the pointer stays valid for changes until the value is replaced or freed
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL, or @p child is part of a tree already or the root of this one;
 *                           nothing changed, the caller still owns @p child
 * @retval FERRY_ERR_LIMIT   deeper than ::FERRY_BUNDLE_MAX_DEPTH; nothing changed, likewise
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed, likewise
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per tree     Since   0.1
 * Cost         constant, or the bundles and lists inside of the child
 */
FERRY_API ferry_status ferry_list_append_bundle(ferry_list *list, ferry_bundle *child);

/**
 * Append a list as value.
 *
 * @param list   to change
 * @param child  owned afterwards; the pointer stays valid for changes until the value is replaced or freed
 * @retval FERRY_OK          the value is in place
 * @retval FERRY_ERR_ARG     a pointer is NULL, or @p child is part of a tree already or the root of this one;
 *                           nothing changed, the caller still owns @p child
 * @retval FERRY_ERR_LIMIT   deeper than ::FERRY_BUNDLE_MAX_DEPTH; nothing changed, likewise
 * @retval FERRY_ERR_MEMORY  out of memory; nothing changed, likewise
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per tree     Since   0.1
 * Cost         constant, or the bundles and lists inside of the child
 */
FERRY_API ferry_status ferry_list_append_list(ferry_list *list, ferry_list *child);

/**
 * Remove a value and free what it owned. The values behind it move up.
 *
 * @param list   to change
 * @param index  0 .. count - 1
 * @retval FERRY_OK             the value is gone
 * @retval FERRY_ERR_ARG        @p list is NULL
 * @retval FERRY_ERR_NOT_FOUND  there are fewer values; nothing changed
 *
 * Collective   no             Blocks  no             Memory  frees
 * Threads      one at a time per tree     Cost    the values behind it     Since   0.1
 */
FERRY_API ferry_status ferry_list_remove(ferry_list *list, size_t index);

/**
 * Move a value, with its attributes, to another place; those between move by one. Appending and moving inserts.
 *
 * @param list  to change
 * @param from  where it is, 0 .. count - 1
 * @param to    where it goes, 0 .. count - 1
 * @retval FERRY_OK             done
 * @retval FERRY_ERR_ARG        @p list is NULL
 * @retval FERRY_ERR_NOT_FOUND  there are fewer values; nothing changed
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per tree     Cost    the values between     Since   0.1
 */
FERRY_API ferry_status ferry_list_move(ferry_list *list, size_t from, size_t to);

/**
 * The number of values of a list.
 *
 * @param list  list; NULL has none
 * @return the number
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API size_t ferry_list_count(const ferry_list *list);

/**
 * Tell the type of a value.
 *
 * @param list      list
 * @param index     0 .. count - 1
 * @param type_out  filled
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there are fewer values; nothing is filled
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_type(const ferry_list *list, size_t index, ferry_type *type_out);

/**
 * Get a single value: ferry_list_get_bool(), _int8, _int16, _int32, _int64, _uint8, _uint16, _uint32, _uint64,
 * _float32, _float64, _complex64 and _complex128, each
 * `(const ferry_list *list, size_t index, TYPE *value_out)`. Nothing is converted: an int32 is got as
 * int32 only.
 *
 * @param list       list
 * @param index      0 .. count - 1
 * @param value_out  filled
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
#define FERRY_LIST_GET(name, NAME, type) \
    FERRY_API ferry_status ferry_list_get_##name(const ferry_list *list, size_t index, type *value_out);
FERRY_SCALAR_LIST(FERRY_LIST_GET)
#undef FERRY_LIST_GET

/**
 * Get a string. A NUL follows it unless it is borrowed.
 *
 * @param list        list
 * @param index       0 .. count - 1
 * @param text_out    lends the bytes until the value is replaced or freed
 * @param length_out  filled with their number
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_get_string(const ferry_list *list, size_t index, const char **text_out,
                                             size_t *length_out);

/**
 * Tell whether a string, or each string of an array of strings, is UTF-8.
 *
 * @param list      list
 * @param index     0 .. count - 1
 * @param utf8_out  filled with 1 or 0
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant, or the length of a borrowed string     Since   0.1
 */
FERRY_API ferry_status ferry_list_get_utf8(const ferry_list *list, size_t index, int *utf8_out);

/**
 * Get bytes.
 *
 * @param list        list
 * @param index       0 .. count - 1
 * @param data_out    lends the bytes until the value is replaced or freed
 * @param length_out  filled with their number
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_get_bytes(const ferry_list *list, size_t index, const void **data_out,
                                            size_t *length_out);

/**
 * Tell how many strings an array of strings has.
 *
 * @param list      list
 * @param index     0 .. count - 1
 * @param count_out filled
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant     Since   0.1
 */
FERRY_API ferry_status ferry_list_get_strings(const ferry_list *list, size_t index, size_t *count_out);

/**
 * Get one string of an array of strings. A NUL follows it.
 *
 * @param list       list
 * @param index      0 .. count - 1
 * @param number     of the string, 0 .. count - 1
 * @param text_out   lends the bytes until the value is replaced or freed
 * @param length_out filled with their number
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element, or it has fewer strings
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant     Since   0.1
 */
FERRY_API ferry_status ferry_list_get_string_at(const ferry_list *list, size_t index, size_t number,
    const char **text_out, size_t *length_out);

/**
 * Get an array where it lies.
 *
 * @param list       list
 * @param index      0 .. count - 1
 * @param element    type the elements must have; ::FERRY_TYPE_ARRAY: any
 * @param array_out  filled; its data are lent until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element
 * @retval FERRY_ERR_TYPE       no array, or of other elements (the text names both)
 * @retval FERRY_ERR_STATE      borrowed with strides, so that its elements lie dense nowhere:
 *                              ferry_list_read_array() reads it; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_get_array(const ferry_list *list, size_t index, ferry_type element,
                                            ferry_array *array_out);

/**
 * Copy an array into the caller's memory, in any order: the element (i, j, ...) goes to data + i * strides_bytes[0]
 * + j * strides_bytes[1] + ...
 *
 * @param list           list
 * @param index          0 .. count - 1
 * @param element        type the elements must have
 * @param dims           dimensions it must have
 * @param shape          dims numbers that it must have; borrowed during the call
 * @param strides_bytes  dims numbers of any sign; borrowed during the call. NULL: dense, last index fastest
 * @param data           filled; where the element with all indices 0 goes
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL or a number is out of its range
 * @retval FERRY_ERR_NOT_FOUND  there is no such element
 * @retval FERRY_ERR_TYPE       no array, or of other elements (the text names both)
 * @retval FERRY_ERR_SHAPE      another shape (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    the elements     Since   0.1
 */
FERRY_API ferry_status ferry_list_read_array(const ferry_list *list, size_t index, ferry_type element, int dims,
                                             const int64_t *shape, const int64_t *strides_bytes, void *data);

/**
 * Get a bundle inside, for reading.
 *
 * @param list       list
 * @param index      0 .. count - 1
 * @param child_out  lends it until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_get_bundle(const ferry_list *list, size_t index, const ferry_bundle **child_out);

/**
 * Get a bundle inside, for changing.
 *
 * @param list       list
 * @param index      0 .. count - 1
 * @param child_out  lends it until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per tree     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_edit_bundle(ferry_list *list, size_t index, ferry_bundle **child_out);

/**
 * Get a list inside, for reading.
 *
 * @param list       list
 * @param index      0 .. count - 1
 * @param child_out  lends it until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_get_list(const ferry_list *list, size_t index, const ferry_list **child_out);

/**
 * Get a list inside, for changing.
 *
 * @param list       list
 * @param index      0 .. count - 1
 * @param child_out  lends it until the value is replaced or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element
 * @retval FERRY_ERR_TYPE       the value has another type (the text names both); nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      one at a time per tree     Cost    constant       Since   0.1
 */
FERRY_API ferry_status ferry_list_edit_list(ferry_list *list, size_t index, ferry_list **child_out);

/**
 * Get the attributes of a value for changing; makes an empty bundle of them when there is none.
 *
 * @param list           to change
 * @param index          0 .. count - 1
 * @param attributes_out lends them until the value is replaced or removed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element
 * @retval FERRY_ERR_LIMIT      deeper than ::FERRY_BUNDLE_MAX_DEPTH; attributes count as a level
 * @retval FERRY_ERR_MEMORY     out of memory; nothing changed and nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  a bundle, when new
 * Threads      one at a time per tree     Cost    logarithm of the values with attributes     Since   0.1
 */
FERRY_API ferry_status ferry_list_edit_attributes(ferry_list *list, size_t index,
    ferry_bundle **attributes_out);

/**
 * Get the attributes of a value for reading.
 *
 * @param list           list
 * @param index          0 .. count - 1
 * @param attributes_out lends them until the value is replaced or removed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element, or it has no attributes; nothing is filled
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    logarithm of the values with attributes     Since   0.1
 */
FERRY_API ferry_status ferry_list_get_attributes(const ferry_list *list, size_t index,
    const ferry_bundle **attributes_out);

/**
 * Remove the attributes of a value, and free them.
 *
 * @param list      to change
 * @param index     0 .. count - 1
 * @retval FERRY_OK             they are gone
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there is no such element, or it has no attributes; nothing changed
 *
 * Collective   no             Blocks  no             Memory  frees
 * Threads      one at a time per tree     Cost    the values with attributes     Since   0.1
 */
FERRY_API ferry_status ferry_list_remove_attributes(ferry_list *list, size_t index);

/* ---- Images ----------------------------------------------------------------------------------------------- */

/**
 * Write a bundle as an image: the bytes that messages and files carry, the same on every machine.
 *
 * @param bundle     to write
 * @param image_out  filled with a block that the caller gives back with ferry_memory_give()
 * @param bytes_out  filled with its length
 * @retval FERRY_OK          both are filled
 * @retval FERRY_ERR_ARG     a pointer is NULL
 * @retval FERRY_ERR_LIMIT   the image would be longer than 2^62 bytes
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  the image
 * Threads      any number that only read     Cost    each byte is copied once     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_encode(const ferry_bundle *bundle, void **image_out, size_t *bytes_out);

/**
 * Make a bundle from an image. Every number in it is checked before it is used; the bytes may come from anywhere.
 *
 * @param image       copies; any alignment
 * @param bytes       its length
 * @param bundle_out  filled; the caller frees it with ferry_bundle_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a pointer is NULL
 * @retval FERRY_ERR_FORMAT  no image of a version this library knows, or a damaged one (the text names the offset)
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no             Blocks  no             Memory  at most 4 times @p bytes + 1 MiB
 * Threads      any thread     Cost    copies the bytes, then reads all but the large values     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_decode(const void *image, size_t bytes, ferry_bundle **bundle_out);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_BUNDLE_H */
