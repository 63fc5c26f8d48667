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

/* Where the runs of a list lie. Never changes; shared by all nests that were copied from one. */
typedef struct layout_places {
    _Atomic size_t users;
    size_t count;
    int64_t at[];
} layout_places;

/* Loops, outermost first, over runs of `run` contiguous bytes. dims == 0: a single run. With
 * `places` it is a list: one loop, and run i lies at offset + places->at[i]. */
typedef struct layout_nest {
    int64_t offset; /* of the first run, from the base address */
    size_t run;     /* bytes of one run */
    int dims;
    struct {
        size_t count;
        int64_t stride; /* bytes */
    } loop[FERRY_LAYOUT_MAX_DIMS];
    layout_places *places; /* NULL: the loops have strides */
} layout_nest;

/* A stretch of bytes, from the base address. */
typedef struct layout_run {
    int64_t at;
    size_t bytes;
} layout_run;

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

/* A copy that the caller frees with ferry_layout_free(). */
ferry_status layout_copy(const ferry_layout *layout, ferry_layout **layout_out);

/* The layout of runs in the order given, none of them empty: regular ones become loops, the rest a
 * list. `element` divides every run. */
ferry_status layout_of_runs(size_t element, const layout_run *runs, size_t count,
                            ferry_layout **layout_out);

/* `count` times the elements of a layout, the first time moved by `at`, then each `stride` bytes
 * after the time before. */
typedef struct layout_part {
    const ferry_layout *base;
    int64_t count, stride, at;
} layout_part;

/* The layout of parts one after another: loops where they are regular, else the smaller of loops
 * and a list. Its element is the largest that divides those of all parts that have any. ERR_ARG
 * when 63 bits are passed. */
ferry_status layout_compose(const layout_part *parts, size_t count, ferry_layout **layout_out);

/* A nest with one more loop around it; it has fewer than the most. */
layout_nest layout_looped(const layout_nest *nest, size_t count, int64_t stride);

/* Join nests that follow each other at one stride into loops; returns how many are left. Order
 * stays. */
size_t layout_fold(layout_nest *nests, size_t count);

/* Places are counted by their users: each nest that is kept holds one, each copy takes another. */
ferry_status layout_places_take(size_t count, layout_places **places_out);
void layout_hold(const layout_nest *nest);
void layout_release(const layout_nest *nest);

/* Does any nest hold a list? */
bool layout_has_places(const ferry_layout *layout);

/* Bytes of one nest. */
size_t layout_nest_bytes(const layout_nest *nest);

/* The longest element that divides all runs, which is what a text means that names none. */
size_t layout_common_run(const layout_nest *nests, size_t count);

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

#endif
