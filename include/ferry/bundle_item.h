/** @file
 * Items: the values of bundles and lists in one record, for code that treats values of all types alike (writers of
 * files, viewers), and a walk over all of them.
 *
 *     ferry_item item;
 *     for (size_t i = 0; ferry_bundle_item(bundle, i, &item) == FERRY_OK; i++)
 *         printf("%s: %s\n", item.key, ferry_type_name(item.type));
 */
#ifndef FERRY_BUNDLE_ITEM_H
#define FERRY_BUNDLE_ITEM_H

#include "ferry/bundle.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A value as it is lent. What a type does not use is 0 or NULL. */
typedef struct ferry_item {
    const char *key;       /**< NULL in lists */
    size_t index;          /**< place in the bundle or list */
    ferry_type type;       /**< of the value */
    ferry_type element;    /**< arrays: type of the elements */
    int dims;              /**< arrays: dimensions */
    int column_major;      /**< arrays: 1 when the first index runs fastest */
    int utf8;              /**< strings and arrays of strings: 1 when all bytes are UTF-8 */
    size_t count;          /**< arrays: elements; string, bytes: bytes; arrays of strings, lists, bundles: values;
                                null: 0; else 1 */
    const int64_t *shape;  /**< arrays: dims extents */
    const int64_t *strides_bytes; /**< arrays borrowed with strides: dims strides; NULL: the elements lie dense */
    const void *data;      /**< single values and arrays: the first element; string, bytes: the bytes (a NUL follows
                                strings unless borrowed) */
    const ferry_bundle *bundle;     /**< bundles: the one inside */
    const ferry_list *list;         /**< lists: the one inside */
    const ferry_bundle *attributes; /**< NULL when there are none */
    const uint64_t *ends;  /**< arrays of strings: see ferry_item_string() */
} ferry_item;

/**
 * Look at the value at a place of a bundle.
 *
 * @param bundle    bundle
 * @param index     0 .. count - 1
 * @param item_out  filled; what it points to is lent until the bundle is changed or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there are fewer values; nothing is filled
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant, or the length of a borrowed string     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_item(const ferry_bundle *bundle, size_t index, ferry_item *item_out);

/**
 * Look at a value of a list.
 *
 * @param list      list
 * @param index     0 .. count - 1
 * @param item_out  filled; what it points to is lent until the list is changed or freed
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        a pointer is NULL
 * @retval FERRY_ERR_NOT_FOUND  there are fewer values; nothing is filled
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant, or the length of a borrowed string     Since   0.1
 */
FERRY_API ferry_status ferry_list_item(const ferry_list *list, size_t index, ferry_item *item_out);

/**
 * Get one string of an item that is an array of strings.
 *
 * @param item        of type ::FERRY_TYPE_STRINGS
 * @param number      0 .. count - 1
 * @param length_out  filled with its bytes; may be NULL
 * @return lends the string, which a NUL follows; NULL when the item is none or has fewer strings
 *
 * Collective   no             Blocks  no             Memory  none
 * Threads      any number that only read     Cost    constant     Since   0.1
 */
FERRY_API const char *ferry_item_string(const ferry_item *item, size_t number, size_t *length_out);

/**
 * What ferry_bundle_walk() calls for each value.
 *
 * @param user  as given
 * @param path  of the value, as ferry/bundle_path.h writes it; lent during the call
 * @param item  the value; likewise
 * @return FERRY_OK to go on; anything else ends the walk
 *
 * Collective   no             Blocks  no             Memory  its own
 * Threads      any number that only read     Cost    its own     Since   0.1
 */
typedef ferry_status ferry_item_visit(void *user, const char *path, const ferry_item *item);

/**
 * Visit all values of a bundle, depth first: a value, then its attributes, then what is inside.
 *
 * @param bundle  to walk; not to be changed during the walk
 * @param visit   called for each value
 * @param user    handed on to it
 * @retval FERRY_OK          all were visited
 * @retval FERRY_ERR_ARG     a pointer is NULL
 * @retval FERRY_ERR_MEMORY  out of memory; the walk ended early
 * @retval others            what @p visit returned
 *
 * Collective   no             Blocks  no             Memory  the longest path, freed again
 * Threads      any number that only read     Cost    the values     Since   0.1
 */
FERRY_API ferry_status ferry_bundle_walk(const ferry_bundle *bundle, ferry_item_visit *visit, void *user);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_BUNDLE_ITEM_H */
