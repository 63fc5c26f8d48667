/* One layout against its packed form, in pieces [from, to) that may begin and end anywhere: the
 * rest of a run, whole runs row by row, the start of a run. The same walk packs and unpacks; what
 * differs is the mover. Rows whose runs lie side by side, run by run (a matrix read by its
 * columns), are moved several at a time as a turn, so that a line is touched once for all of them.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "copy/copy.h"
#include "copy/turn.h"

enum {
    ELEMENT_MAX = 4096, /* of the tile kernels */
    ROWS_LEAST = 4      /* side by side, that a turn moves faster than row by row */
};

typedef struct side_nest {
    layout_nest nest;
    size_t start; /* position of the first byte */
    size_t bytes;
    kernel_runs *gather, *scatter;
    kernel_tile *tile;                   /* for rows side by side; else NULL */
    kernel_listed_gather *gather_listed; /* for lists; else NULL */
    kernel_listed_scatter *scatter_listed;
} side_nest;

struct copy_side {
    size_t bytes, nest_count;
    side_nest nests[];
};

/* Where the walk is: the indices of the outer loops, and the present row's rest. A row is the
 * innermost loop. */
typedef struct spot {
    size_t index[FERRY_LAYOUT_MAX_DIMS]; /* of the loops outside of the row */
    int64_t row;                         /* offset of the present row's first run */
    size_t first;                        /* run of the row where the walk is */
} spot;

/* Moves between packed bytes and bytes of the layout, in one of the two directions. `base` is where
 * the first run is. */
typedef struct mover {
    void (*bytes)(char *base, char *packed, size_t bytes);
    void (*row)(const side_nest *of, char *base, char *packed, size_t runs);
    void (*rows)(const side_nest *of, char *base, char *packed,
                 size_t rows); /* whole ones, side by side */
    void (*listed)(const side_nest *of, char *base, char *packed, size_t first, size_t runs);
} mover;

static void pack_bytes(char *base, char *packed, size_t bytes)
{
    memcpy(packed, base, bytes);
}

static void unpack_bytes(char *base, char *packed, size_t bytes)
{
    memcpy(base, packed, bytes);
}

static void pack_row(const side_nest *of, char *base, char *packed, size_t runs)
{
    const layout_nest *const nest = &of->nest;

    of->gather(packed, (ptrdiff_t)nest->run, base, nest->loop[nest->dims - 1].stride, runs,
               nest->run);
}

static void unpack_row(const side_nest *of, char *base, char *packed, size_t runs)
{
    const layout_nest *const nest = &of->nest;

    of->scatter(base, nest->loop[nest->dims - 1].stride, packed, (ptrdiff_t)nest->run, runs,
                nest->run);
}

static void pack_rows(const side_nest *of, char *base, char *packed, size_t rows)
{
    const layout_nest *const nest = &of->nest;
    const size_t runs = nest->loop[nest->dims - 1].count;
    const turn_shape shape = {
        .rows = runs, .columns = rows, .element = nest->run, .tile = of->tile};

    turn_run(&shape, (turn_rows){.first = base, .stride = nest->loop[nest->dims - 1].stride},
             packed, (ptrdiff_t)(runs * nest->run));
}

static void unpack_rows(const side_nest *of, char *base, char *packed, size_t rows)
{
    const layout_nest *const nest = &of->nest;
    const size_t runs = nest->loop[nest->dims - 1].count;
    const turn_shape shape = {
        .rows = rows, .columns = runs, .element = nest->run, .tile = of->tile};

    turn_run(&shape, (turn_rows){.first = packed, .stride = (ptrdiff_t)(runs * nest->run)}, base,
             nest->loop[nest->dims - 1].stride);
}

static void pack_listed(const side_nest *of, char *base, char *packed, size_t first, size_t runs)
{
    of->gather_listed(packed, base, of->nest.places->at + first, runs, of->nest.run);
}

static void unpack_listed(const side_nest *of, char *base, char *packed, size_t first, size_t runs)
{
    of->scatter_listed(base, of->nest.places->at + first, packed, runs, of->nest.run);
}

static const mover packing = {pack_bytes, pack_row, pack_rows, pack_listed};
static const mover unpacking = {unpack_bytes, unpack_row, unpack_rows, unpack_listed};

/* The spot of run number `run` of a nest with loops. */
static spot find_run(const layout_nest *nest, size_t run)
{
    const int inner = nest->dims - 1;
    spot at = {.row = nest->offset, .first = run % nest->loop[inner].count};

    run /= nest->loop[inner].count;
    for (int k = inner - 1; k >= 0; k--) {
        at.index[k] = run % nest->loop[k].count;
        run /= nest->loop[k].count;
        at.row += (int64_t)at.index[k] * nest->loop[k].stride;
    }
    return at;
}

/* To the start of a later row; the rows between are of the same innermost outer loop. */
static inline void pass_rows(const layout_nest *nest, spot *at, size_t rows)
{
    at->first = 0;
    for (int k = nest->dims - 2; k >= 0; k--, rows = 1) {
        at->row += (int64_t)rows * nest->loop[k].stride;
        at->index[k] += rows;
        if (at->index[k] < nest->loop[k].count)
            return;
        at->row -= (int64_t)nest->loop[k].count * nest->loop[k].stride;
        at->index[k] = 0;
    }
}

static inline int64_t offset_of(const layout_nest *nest, const spot *at)
{
    return at->row + (int64_t)at->first * nest->loop[nest->dims - 1].stride;
}

static inline void pass(const layout_nest *nest, spot *at, size_t runs)
{
    at->first += runs;
    if (at->first == nest->loop[nest->dims - 1].count)
        pass_rows(nest, at, 1);
}

/* Whole rows side by side from here on, `runs` runs at most. */
static inline size_t rows_here(const side_nest *of, const spot *at, size_t runs)
{
    const layout_nest *const nest = &of->nest;
    const int inner = nest->dims - 1;

    if (!of->tile || at->first > 0)
        return 0;
    return size_min(runs / nest->loop[inner].count,
                    nest->loop[inner - 1].count - at->index[inner - 1]);
}

/* `bytes` bytes of a nest with loops, from byte `from` of it on. */
static void move_runs(const side_nest *of, const mover *how, char *base, size_t from, size_t bytes,
                      char *packed)
{
    const layout_nest *const nest = &of->nest;
    const size_t run = nest->run, row = nest->loop[nest->dims - 1].count;
    const size_t skip = from % run, head = skip > 0 ? size_min(run - skip, bytes) : 0;
    spot at = find_run(nest, from / run);

    if (head > 0) {
        how->bytes(base + offset_of(nest, &at) + skip, packed, head);
        packed += head;
        pass(nest, &at, 1);
    }
    const size_t tail = (bytes - head) % run;
    for (size_t left = (bytes - head) / run, runs; left > 0; left -= runs, packed += runs * run) {
        const size_t rows = rows_here(of, &at, left);
        if (rows >= ROWS_LEAST) {
            runs = rows * row;
            how->rows(of, base + at.row, packed, rows);
            pass_rows(nest, &at, rows);
            continue;
        }
        runs = size_min(row - at.first, left);
        how->row(of, base + offset_of(nest, &at), packed, runs);
        pass(nest, &at, runs);
    }
    if (tail > 0)
        how->bytes(base + offset_of(nest, &at), packed, tail);
}

/* `bytes` bytes of a list, from byte `from` of it on. */
static void move_listed(const side_nest *of, const mover *how, char *base, size_t from,
                        size_t bytes, char *packed)
{
    const layout_nest *const nest = &of->nest;
    const size_t run = nest->run, skip = from % run;
    const size_t head = skip > 0 ? size_min(run - skip, bytes) : 0;
    const size_t runs = (bytes - head) / run, tail = (bytes - head) % run;
    size_t first = from / run;

    base += nest->offset;
    if (head > 0)
        how->bytes(base + nest->places->at[first++] + skip, packed, head);
    how->listed(of, base, packed + head, first, runs);
    if (tail > 0)
        how->bytes(base + nest->places->at[first + runs], packed + head + runs * run, tail);
}

/* The nest that holds a position. */
static const side_nest *find_nest(const copy_side *side, size_t position)
{
    size_t low = 0, high = side->nest_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (side->nests[middle].start <= position)
            low = middle;
        else
            high = middle;
    }
    return &side->nests[low];
}

static void move(const copy_side *side, const mover *how, char *base, size_t from, size_t to,
                 char *packed)
{
    if (from == to)
        return;
    for (const side_nest *of = find_nest(side, from); from < to; of++) {
        const size_t first = from - of->start, bytes = size_min(of->bytes - first, to - from);
        if (of->nest.dims == 0)
            how->bytes(base + of->nest.offset + first, packed, bytes);
        else if (of->nest.places)
            move_listed(of, how, base, first, bytes, packed);
        else
            move_runs(of, how, base, first, bytes, packed);
        from += bytes;
        packed += bytes;
    }
}

void copy_pack(const copy_side *side, const char *base, size_t from, size_t to, char *packed)
{
    move(side, &packing, (char *)base, from, to, packed); /* packing only reads the base */
}

void copy_unpack(const copy_side *side, char *base, size_t from, size_t to, const char *packed)
{
    move(side, &unpacking, base, from, to, (char *)packed);
}

/* The tile kernel when rows lie side by side. */
static kernel_tile *tile_for(const layout_nest *nest)
{
    const bool aside = nest->dims >= 2 && nest->loop[nest->dims - 2].stride == (int64_t)nest->run;

    return aside && nest->run <= ELEMENT_MAX ? kernels_tile(nest->run) : NULL;
}

ferry_status copy_side_make(const ferry_layout *layout, copy_side **side_out)
{
    copy_side *side = NULL;
    size_t start = 0;

    const ferry_status st =
        alloc_zero(1, sizeof *side + layout->nest_count * sizeof side->nests[0], &side);
    if (st != FERRY_OK)
        return st;
    side->bytes = layout->bytes;
    side->nest_count = layout->nest_count;
    for (size_t i = 0; i < layout->nest_count; i++) {
        const layout_nest *const nest = &layout->nests[i];
        side->nests[i] = (side_nest){
            .nest = *nest,
            .start = start,
            .bytes = layout_nest_bytes(nest),
            .gather = kernels_runs(nest->run, 0, 1),
            .scatter = kernels_runs(nest->run, 1, 0),
            .tile = tile_for(nest),
            .gather_listed = kernels_listed_gather(nest->run),
            .scatter_listed = kernels_listed_scatter(nest->run),
        };
        layout_hold(nest);
        start += side->nests[i].bytes;
    }
    *side_out = side;
    return FERRY_OK;
}

void copy_side_drop(copy_side *side)
{
    for (size_t i = 0; side && i < side->nest_count; i++)
        layout_release(&side->nests[i].nest);
    alloc_free(side);
}

size_t copy_side_memory(const copy_side *side)
{
    return sizeof *side + side->nest_count * sizeof side->nests[0];
}
