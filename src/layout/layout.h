/* Layouts: a sequence of loop nests over contiguous runs, in normal form. Knows nothing of MPI or
 * of other layouts.
 *
 * The packed form of a layout is its elements one after another in order. A position is a byte of
 * the packed form. */
#ifndef LAYOUT_LAYOUT_H
#define LAYOUT_LAYOUT_H

#include <stdbool.h>

#include "base/text.h"
#include "ferry/layout.h"

/* Loops, outermost first, over runs of `run` contiguous bytes. dims == 0: a single run. */
typedef struct layout_nest {
    int64_t offset; /* of the first run, from the base address */
    size_t run;     /* bytes of one run */
    int dims;
    struct {
        size_t count;
        int64_t stride; /* bytes */
    } loop[FERRY_LAYOUT_MAX_DIMS];
} layout_nest;

/* Normal form: no loop of count 1, no run that two loops could express as one, adjacent loops
 * folded where stride[k] == stride[k+1] * count[k+1], the innermost loop folded into the run where
 * its stride equals the run. Loops are never reordered. A layout without elements has no nests. */
struct ferry_layout {
    size_t element; /* bytes of one element as given */
    size_t elements;
    size_t bytes;   /* elements * element */
    int64_t lb, ub; /* bytes touched, from the base address */
    size_t nest_count;
    layout_nest nests[]; /* in order */
};

/* A layout of nests in any form (loops without iterations allowed): brings them into normal form
 * and measures them. `element` divides every run. ERR_ARG when 63 bits are passed. */
ferry_status layout_make(size_t element, const layout_nest *nests, size_t nest_count,
                         ferry_layout **layout_out);

/* The elements of the parts, one part after another. ERR_SHAPE when their elements differ in size.
 */
ferry_status layout_join(const ferry_layout *const *parts, size_t count, ferry_layout **layout_out);

/* A copy that the caller frees with ferry_layout_free(). */
ferry_status layout_copy(const ferry_layout *layout, ferry_layout **layout_out);

/* Bytes of one nest. */
size_t layout_nest_bytes(const layout_nest *nest);

/* True when two runs of the layout share a byte. Never true when none do; exact for loops that do
 * not interleave and up to 65536 runs, else it may say false. */
bool layout_overlaps_itself(const ferry_layout *layout);

/* True when the two layouts, relative to the same base address, share a byte; may say true only
 * when they do. Exact for boxes of one array; conservative (false) where it cannot be decided
 * cheaply. */
bool layout_overlaps(const ferry_layout *a, const ferry_layout *b);

/* Flat bytes for messages between ranks of one build: no pointers. */
size_t layout_flat_bytes(const ferry_layout *layout);
void layout_flatten(const ferry_layout *layout, void *flat_out);
ferry_status layout_unflatten(const void *flat, size_t bytes,
                              ferry_layout **layout_out); /* checks every number */

void layout_text(const ferry_layout *layout, text_out *out);

#endif
