/** @file
 * Layouts: where the elements of a block lie, relative to a base address. Immutable once made.
 *
 * A layout is a sequence: its elements have an order, and two layouts that meet in an edge are matched element by
 * element in that order. A transposition is a layout whose order differs from the order of its addresses.
 */
#ifndef FERRY_LAYOUT_H
#define FERRY_LAYOUT_H

#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ferry_layout ferry_layout; /**< opaque, immutable, usable by any number of plans and threads */

enum { FERRY_LAYOUT_MAX_DIMS = 8 /**< loops of one layout */ };

/**
 * Elements one after another.
 *
 * @param count          elements, >= 0
 * @param element_bytes  bytes of one, >= 1
 * @param offset_bytes   of the first, from the base address
 * @param layout_out     filled; the caller frees it with ferry_layout_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a negative or overflowing size (the text names it), or NULL
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no            Blocks   no            Memory  under 1 KiB
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_layout_dense(int64_t count, int64_t element_bytes, int64_t offset_bytes, ferry_layout **layout_out);

/**
 * Nested loops over elements: for i0 < counts[0], for i1 < counts[1], ...: the element at
 * offset + i0 * strides[0] + i1 * strides[1] + ...
 *
 *     int64_t counts[] = {1024}, strides[] = {64 * 8};
 *     ferry_layout_strided(1, counts, strides, 8, 0, &column);    // a column of a matrix with 64 doubles a row
 *
 * @param dims           loops, 0..::FERRY_LAYOUT_MAX_DIMS; 0 is one element
 * @param counts         dims numbers, outermost first, each >= 0; borrowed during the call
 * @param strides_bytes  dims numbers, any sign; borrowed during the call
 * @param element_bytes  bytes of one element, >= 1
 * @param offset_bytes   of the element with all indices 0, from the base address
 * @param layout_out     filled; the caller frees it with ferry_layout_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a number out of its range or overflowing 63 bits (the text names it), or NULL
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no            Blocks   no            Memory  under 1 KiB
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_layout_strided(int dims, const int64_t *counts, const int64_t *strides_bytes, int64_t element_bytes,
                                            int64_t offset_bytes, ferry_layout **layout_out);

/**
 * A box of a dense array in C order (last index fastest): elements starts[k] <= i_k < starts[k] + counts[k] of an array
 * of sizes[0] x sizes[1] x ...
 *
 * @param dims           1..::FERRY_LAYOUT_MAX_DIMS
 * @param sizes          dims numbers: the whole array, each >= 0; borrowed during the call, like the next two
 * @param starts         dims numbers: first index taken, each >= 0
 * @param counts         dims numbers: indices taken, each >= 0, starts + counts <= sizes
 * @param element_bytes  bytes of one element, >= 1
 * @param layout_out     filled; the caller frees it with ferry_layout_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a box outside of the array, an overflow (the text names dimension and numbers), or NULL
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no            Blocks   no            Memory  under 1 KiB
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_layout_box(int dims, const int64_t *sizes, const int64_t *starts, const int64_t *counts,
                                        int64_t element_bytes, ferry_layout **layout_out);

/**
 * Runs of elements at given offsets, in the order given: an index list.
 *
 *     int64_t offsets[] = {8 * 17, 8 * 3, 8 * 4, 8 * 99};
 *     ferry_layout_indexed(4, offsets, NULL, 8, 0, &scattered);     // doubles number 17, 3, 4 and 99
 *
 * Runs that follow each other are joined, and regular lists become loops: a list that describes a column or a face is
 * as fast as ferry_layout_strided(). What is left costs 8 bytes a run.
 *
 * @param count          runs, >= 0
 * @param offsets_bytes  count numbers: first byte of each run, any sign; borrowed during the call
 * @param run_elements   count numbers: elements of each run, each >= 0; borrowed during the call; NULL: one element each
 * @param element_bytes  bytes of one element, >= 1
 * @param offset_bytes   added to every offset
 * @param layout_out     filled; the caller frees it with ferry_layout_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     a number out of its range or overflowing 63 bits (the text names it), or NULL
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no            Blocks   no            Memory  up to 8 bytes a run, or an element where runs differ in length
 * Threads      any thread    Cost     proportional to @p count      Since   0.1
 */
FERRY_API ferry_status ferry_layout_indexed(int64_t count, const int64_t *offsets_bytes, const int64_t *run_elements,
                                            int64_t element_bytes, int64_t offset_bytes, ferry_layout **layout_out);

/**
 * Several layouts, one after another, each moved by an offset: the fields of a structure, the blocks of several arrays.
 *
 * The element of the whole is the largest that divides the elements of all parts.
 *
 * @param count          layouts, >= 0
 * @param layouts        count layouts; borrowed during the call
 * @param offsets_bytes  count numbers: added to the offsets of each layout, any sign; borrowed during the call
 * @param layout_out     filled; the caller frees it with ferry_layout_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_ARG     an offset that passes 63 bits, a negative count (the text names it), or NULL
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no            Blocks   no            Memory  proportional to the parts; lists of places are shared
 * Threads      any thread    Cost     proportional to the parts      Since   0.1
 */
FERRY_API ferry_status ferry_layout_record(int64_t count, const ferry_layout *const *layouts,
                                           const int64_t *offsets_bytes, ferry_layout **layout_out);

/**
 * Free a layout. Plans made from it keep what they need. Does nothing for NULL.
 *
 * @param layout  owned by the caller; not valid afterwards
 *
 * Collective   no            Blocks   no            Memory  frees
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API void ferry_layout_free(ferry_layout *layout);

/** Size and extent of a layout; filled by ferry_layout_describe(). */
typedef struct ferry_layout_info {
    int64_t elements;      /**< number of elements */
    int64_t element_bytes; /**< of one element, as given */
    int64_t bytes;         /**< elements * element_bytes */
    int64_t lb;            /**< lowest byte touched, from the base address */
    int64_t ub;            /**< one past the highest byte touched; equals lb when there are no elements */
    int64_t run_bytes;     /**< bytes of one contiguous run in the normal form */
} ferry_layout_info;

/**
 * Tell size and extent of a layout.
 *
 * @param layout    layout
 * @param info_out  filled
 * @retval FERRY_OK       filled
 * @retval FERRY_ERR_ARG  a pointer is NULL
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_layout_describe(const ferry_layout *layout, ferry_layout_info *info_out);

/**
 * Print a layout in its normal form, such as "8 B x [1024 by 512] at 0": what it says reads back with
 * ferry_layout_parse().
 *
 * @param layout  layout; NULL prints "none"
 * @param text    filled with at most @p bytes - 1 characters and a NUL; may be NULL when @p bytes is 0
 * @param bytes   room
 * @return characters of the whole text, NUL not counted, as snprintf does
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     proportional to the text      Since   0.1
 */
FERRY_API size_t ferry_layout_print(const ferry_layout *layout, char *text, size_t bytes);

/**
 * Make a layout from a text as ferry_layout_print() writes it:
 *
 *     ferry_layout_parse("8 B x [1024 by 512] at 0", &column);              // 1024 runs of 8 bytes, 512 bytes apart
 *     ferry_layout_parse("dense 64 B at 128; 8 B x {0, 24, 8} at 0", &mixed);
 *
 * The element is told by ", elements of 4 B" at the end, else it is the longest that divides every run. Strides, places
 * and offsets may be negative.
 *
 * @param text        text; borrowed during the call
 * @param layout_out  filled; the caller frees it with ferry_layout_free()
 * @retval FERRY_OK          filled
 * @retval FERRY_ERR_FORMAT  it is no such text: the detail tells the position and what was expected
 * @retval FERRY_ERR_ARG     NULL, or numbers that pass 63 bits together
 * @retval FERRY_ERR_MEMORY  out of memory; nothing is filled after any failure
 *
 * Collective   no            Blocks   no            Memory  as the layout needs
 * Threads      any thread    Cost     proportional to the text      Since   0.1
 */
FERRY_API ferry_status ferry_layout_parse(const char *text, ferry_layout **layout_out);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_LAYOUT_H */
