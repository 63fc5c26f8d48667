/* Copy lists: what a pair of layouts compiles to. Made once; running one chooses, allocates and
 * looks up nothing.
 *
 * copy_make() pairs the elements of two layouts in order and is then free to move them in any order
 * (loops are reordered jointly, a transposition becomes tiles). copy_pack() and copy_unpack() move
 * any byte range [from, to) of one layout's packed form, so that a block can pass through slots of
 * any size. */
#ifndef COPY_COPY_H
#define COPY_COPY_H

#include <stdbool.h>

#include "base/text.h"
#include "kernels/kernels.h"
#include "layout/layout.h"

typedef struct copy_list copy_list;

/* Both layouts hold the same number of bytes in elements of one size, else ERR_SHAPE. */
ferry_status copy_make(const ferry_layout *src, const ferry_layout *dst, copy_list **list_out);
void copy_drop(copy_list *list);
void copy_run(const copy_list *list, const char *src, char *dst);
size_t copy_bytes(const copy_list *list);  /* payload */
size_t copy_memory(const copy_list *list); /* held by the list */
void copy_text(const copy_list *list, text_out *out);

/* One side of an edge, compiled for moving pieces of its packed form. */
typedef struct copy_side copy_side;

ferry_status copy_side_make(const ferry_layout *layout, copy_side **side_out);
void copy_side_drop(copy_side *side);
/* Positions from <= to <= bytes. Packed bytes lie at `packed` .. packed + (to - from). */
void copy_pack(const copy_side *side, const char *base, size_t from, size_t to, char *packed);
void copy_unpack(const copy_side *side, char *base, size_t from, size_t to, const char *packed);
size_t copy_side_memory(const copy_side *side);

/* A pair that turns a matrix over: element (r, c), r < rows, c < columns, is at
 *     src + src_offset + r * src_stride + c * element   and at   dst + dst_offset + c * dst_stride
 * + r * element. False when the pair is no such thing; a single row or column is, a dense block is
 * not (it is better moved as one). Carriers join several into one table. */
typedef struct copy_turn {
    size_t element, rows, columns;
    int64_t src_offset, src_stride, dst_offset, dst_stride;
} copy_turn;
bool copy_is_turn(const copy_list *list, copy_turn *turn_out);

/* Run a turn over rows given by pointers (row_count of them, already advanced to the first column):
 * blocks them for the caches. */
void copy_turn_run(const char *const *rows, size_t row_count, size_t columns, size_t element,
                   char *dst, int64_t dst_stride);

#endif
