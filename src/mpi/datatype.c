/* Layouts from MPI datatypes. MPI tells how a type was made and from which types; each way of
 * making one is a list of parts, a type below repeated at some place, and parts are what layouts
 * are composed of. The numbers that MPI tells lie in one list, in the standard's order: integers,
 * addresses, large counts. So a way with addresses, its Fortran form, and its form with large
 * counts read alike. A type that MPI does not take apart is packed by MPI (mpi/packed.c). */
#include "mpi/packed.h"

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "ferry/datatype.h"

enum { DEPTH_MOST = 100 /* types below types; what lies deeper is packed */ };

/* What a type is made of. */
typedef struct recipe {
    int combiner;
    size_t numbers_count, types_count, large; /* large: how many numbers are large counts */
    int64_t *numbers;
    MPI_Datatype *types;
} recipe;

/* A type below, as far as the parts need it. */
typedef struct below {
    ferry_layout *layout;
    int64_t extent;
} below;

/* --- Asking MPI --- */

static ferry_status take_room(recipe *r, const MPI_Count counts[4])
{
    r->numbers_count = (size_t)(counts[0] + counts[1] + counts[2]);
    r->types_count = (size_t)counts[3];
    r->large = (size_t)counts[2];
    const ferry_status st = alloc_zero(r->numbers_count, sizeof *r->numbers, &r->numbers);
    return st == FERRY_OK ? alloc_zero(r->types_count, sizeof(MPI_Datatype), &r->types) : st;
}

static void keep_numbers(recipe *r, const int *ints, const MPI_Count counts[4])
{
    for (MPI_Count i = 0; i < counts[0]; i++)
        r->numbers[i] = ints[i];
}

#if MPI_VERSION >= 4
static ferry_status read_envelope(MPI_Datatype type, MPI_Count counts[4], int *combiner)
{
    return pmpi_status(
        PMPI_Type_get_envelope_c(type, &counts[0], &counts[1], &counts[2], &counts[3], combiner),
        "MPI_Type_get_envelope_c");
}

static ferry_status read_lists(MPI_Datatype type, recipe *r, const MPI_Count counts[4], int *ints,
                               MPI_Aint *addresses)
{
    MPI_Count *large = NULL;
    ferry_status st = alloc_zero((size_t)counts[2], sizeof *large, &large);

    if (st == FERRY_OK)
        st = pmpi_status(PMPI_Type_get_contents_c(type, counts[0], counts[1], counts[2], counts[3],
                                                  ints, addresses, large, r->types),
                         "MPI_Type_get_contents_c");
    for (MPI_Count i = 0; i < counts[2] && st == FERRY_OK; i++)
        r->numbers[counts[0] + counts[1] + i] = large[i];
    alloc_free(large);
    return st;
}
#else
static ferry_status read_envelope(MPI_Datatype type, MPI_Count counts[4], int *combiner)
{
    int ints = 0, addresses = 0, types = 0;
    const ferry_status st = pmpi_status(
        PMPI_Type_get_envelope(type, &ints, &addresses, &types, combiner), "MPI_Type_get_envelope");

    counts[0] = ints, counts[1] = addresses, counts[2] = 0, counts[3] = types;
    return st;
}

static ferry_status read_lists(MPI_Datatype type, recipe *r, const MPI_Count counts[4], int *ints,
                               MPI_Aint *addresses)
{
    return pmpi_status(PMPI_Type_get_contents(type, (int)counts[0], (int)counts[1], (int)counts[3],
                                              ints, addresses, r->types),
                       "MPI_Type_get_contents");
}
#endif

/* Fills the lists; r->combiner is known. */
static ferry_status read_contents(MPI_Datatype type, const MPI_Count counts[4], recipe *r)
{
    int *ints = NULL;
    MPI_Aint *addresses = NULL;
    ferry_status st = take_room(r, counts);

    if (st == FERRY_OK)
        st = alloc_zero((size_t)counts[0], sizeof *ints, &ints);
    if (st == FERRY_OK)
        st = alloc_zero((size_t)counts[1], sizeof *addresses, &addresses);
    if (st == FERRY_OK)
        st = read_lists(type, r, counts, ints, addresses);
    if (st == FERRY_OK)
        keep_numbers(r, ints, counts);
    else
        r->types_count = 0; /* none was handed over */
    for (MPI_Count i = 0; i < counts[1] && st == FERRY_OK; i++)
        r->numbers[counts[0] + i] = addresses[i];
    alloc_free(ints);
    alloc_free(addresses);
    return st;
}

/* Types that belong to MPI, though not all of them are named. */
static bool is_basic(int combiner)
{
    return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* Each derived type that get_contents names is a handle of ours. */
static void drop_recipe(recipe *r)
{
    for (size_t i = 0; i < r->types_count; i++) {
        MPI_Count counts[4];
        int combiner = MPI_COMBINER_NAMED;
        if (read_envelope(r->types[i], counts, &combiner) == FERRY_OK && !is_basic(combiner))
            PMPI_Type_free(&r->types[i]);
    }
    alloc_free(r->numbers);
    alloc_free(r->types);
}

static ferry_status extent_of(MPI_Datatype type, int64_t *extent_out)
{
    MPI_Count lb = 0, extent = 0;
    const ferry_status st =
        pmpi_status(PMPI_Type_get_extent_x(type, &lb, &extent), "MPI_Type_get_extent_x");

    *extent_out = extent;
    return st;
}

/* --- Basic types --- */

/* Pairs of a number and its place; all others are as long as they are wide. */
static ferry_status basic(MPI_Datatype type, ferry_layout **layout_out)
{
    static const struct {
        MPI_Datatype type;
        size_t value, at; /* bytes of the number, and where the int lies */
    } pairs[] = {
#define PAIR(type, c)                                                                              \
  {type, sizeof(c),                                                                                \
   offsetof(                                                                                       \
       struct {                                                                                    \
       c value;                                                                                    \
       int at;                                                                                     \
       },                                                                                          \
       at)}
        PAIR(MPI_FLOAT_INT, float), PAIR(MPI_DOUBLE_INT, double),
        PAIR(MPI_LONG_INT, long),   PAIR(MPI_SHORT_INT, short),
        PAIR(MPI_2INT, int),        PAIR(MPI_LONG_DOUBLE_INT, long double),
#undef PAIR
    };
    int64_t extent;
    int bytes = 0;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].type == type) {
            const layout_nest nests[] = {
                {.run = pairs[i].value},
                {.offset = (int64_t)pairs[i].at, .run = sizeof(int)},
            };
            return layout_make(size_divisor(pairs[i].value, sizeof(int)), nests, 2, layout_out);
        }
    ferry_status st = pmpi_status(PMPI_Type_size(type, &bytes), "MPI_Type_size");
    if (st == FERRY_OK)
        st = extent_of(type, &extent);
    if (st != FERRY_OK)
        return st;
    if (bytes > 0 && extent != bytes)
        return packed_layout(type, layout_out);
    const layout_nest nest = {.run = (size_t)bytes};
    return layout_make(bytes > 0 ? (size_t)bytes : 1, &nest, 1, layout_out);
}

/* --- Ways of making a type: each composes a layout from the numbers and the types below --- */

typedef ferry_status compose(const recipe *r, const below *b, ferry_layout **layout_out);

static ferry_status compose_one(const below *b, int64_t count, int64_t stride, int64_t at,
                                ferry_layout **layout_out)
{
    return layout_compose(&(layout_part){b->layout, count, stride, at}, 1, layout_out);
}

static ferry_status same(const recipe *r, const below *b, ferry_layout **layout_out)
{
    (void)r;
    return layout_copy(b->layout, layout_out);
}

static ferry_status contiguous(const recipe *r, const below *b, ferry_layout **layout_out)
{
    return compose_one(b, r->numbers[0], b->extent, 0, layout_out);
}

/* numbers: count, elements of a block, stride in units */
static ferry_status blocks_at_stride(const recipe *r, const below *b, int64_t unit,
                                     ferry_layout **layout_out)
{
    below block = {.extent = 0};
    ferry_status st = compose_one(b, r->numbers[1], b->extent, 0, &block.layout);

    if (st == FERRY_OK && !offset_mul(r->numbers[2], unit, &block.extent))
        st = trouble(FERRY_ERR_ARG, "the datatype passes 63 bits");
    if (st == FERRY_OK)
        st = compose_one(&block, r->numbers[0], block.extent, 0, layout_out);
    ferry_layout_free(block.layout);
    return st;
}

static ferry_status vector(const recipe *r, const below *b, ferry_layout **layout_out)
{
    return blocks_at_stride(r, b, b->extent, layout_out);
}

static ferry_status hvector(const recipe *r, const below *b, ferry_layout **layout_out)
{
    return blocks_at_stride(r, b, 1, layout_out);
}

/* Blocks of lengths[i * step] elements of type b[i * kinds], displaced by places[i] units. */
typedef struct block_list {
    const int64_t *lengths, *places;
    size_t step, kinds;
    int64_t unit;
} block_list;

static ferry_status blocks_at_places(const recipe *r, const below *b, const block_list *from,
                                     ferry_layout **layout_out)
{
    const size_t count = (size_t)r->numbers[0];
    layout_part *parts = NULL;
    ferry_status st = alloc_zero(count, sizeof *parts, &parts);

    for (size_t i = 0; i < count && st == FERRY_OK; i++) {
        const below *const kind = &b[i * from->kinds];
        parts[i] = (layout_part){kind->layout, from->lengths[i * from->step], kind->extent, 0};
        if (!offset_mul(from->places[i], from->unit, &parts[i].at))
            st = trouble(FERRY_ERR_ARG, "the datatype passes 63 bits");
    }
    if (st == FERRY_OK)
        st = layout_compose(parts, count, layout_out);
    alloc_free(parts);
    return st;
}

/* numbers: count, count lengths, count places */
static block_list lists(const recipe *r, size_t kinds, int64_t unit)
{
    const int64_t *const lengths = r->numbers + 1;

    return (block_list){lengths, lengths + r->numbers[0], 1, kinds, unit};
}

static ferry_status indexed(const recipe *r, const below *b, ferry_layout **layout_out)
{
    const block_list list = lists(r, 0, b->extent);

    return r->numbers[0] > 0 ? blocks_at_places(r, b, &list, layout_out)
                             : layout_make(1, NULL, 0, layout_out);
}

static ferry_status hindexed(const recipe *r, const below *b, ferry_layout **layout_out)
{
    const block_list list = lists(r, 0, 1);

    return blocks_at_places(r, b, &list, layout_out);
}

static ferry_status structure(const recipe *r, const below *b, ferry_layout **layout_out)
{
    const block_list list = lists(r, 1, 1);

    return blocks_at_places(r, b, &list, layout_out);
}

/* numbers: count, one length, count places */
static ferry_status indexed_block(const recipe *r, const below *b, ferry_layout **layout_out)
{
    const block_list list = {r->numbers + 1, r->numbers + 2, 0, 0, b->extent};

    return blocks_at_places(r, b, &list, layout_out);
}

static ferry_status hindexed_block(const recipe *r, const below *b, ferry_layout **layout_out)
{
    const block_list list = {r->numbers + 1, r->numbers + 2, 0, 0, 1};

    return blocks_at_places(r, b, &list, layout_out);
}

/* --- Arrays --- */

/* What is taken of one dimension: blocks of `block` indices, the first at `start`, each `step`
 * after the one before, cut off at `end`. */
typedef struct slice {
    int64_t size, start, block, step, end;
} slice;

/* Wrap one more dimension around a layout; `lead` is the bytes from one index to the next. */
static ferry_status wrap(ferry_layout **layout, const slice *s, int64_t lead)
{
    const int64_t room = s->end > s->start ? s->end - s->start : 0;
    const int64_t whole = s->block > 0 ? (room - s->block + s->step) / s->step : 0;
    const int64_t full = room >= s->block ? whole : 0;
    const int64_t rest = room - full * s->step;
    below unit = {*layout, lead}, block = {NULL, s->step * lead};
    ferry_layout *wrapped = NULL;
    ferry_status st = compose_one(&unit, s->block, lead, 0, &block.layout);

    if (st == FERRY_OK) {
        const layout_part parts[] = {
            {block.layout, full, block.extent, s->start * lead},
            {unit.layout, rest > 0 ? rest : 0, lead, (s->start + full * s->step) * lead},
        };
        st = layout_compose(parts, 2, &wrapped);
    }
    ferry_layout_free(block.layout);
    if (st == FERRY_OK) {
        ferry_layout_free(*layout);
        *layout = wrapped;
    }
    return st;
}

/* All dimensions, the fastest first. */
static ferry_status wrap_all(const below *b, const slice *slices, int64_t dims, bool c_order,
                             ferry_layout **layout_out)
{
    ferry_layout *layout = NULL;
    int64_t lead = b->extent, reach;
    ferry_status st = layout_copy(b->layout, &layout);

    for (int64_t k = 0; k < dims && st == FERRY_OK; k++) {
        const slice *const s = &slices[c_order ? dims - 1 - k : k];
        if (!offset_mul(s->size, lead, &reach))
            st = trouble(FERRY_ERR_ARG, "the datatype's array passes 63 bits");
        if (st == FERRY_OK)
            st = wrap(&layout, s, lead);
        lead = reach;
    }
    if (st == FERRY_OK)
        *layout_out = layout;
    else
        ferry_layout_free(layout);
    return st;
}

/* numbers: dims, dims sizes, counts and starts each, order; with large counts dims, order, and the
 * others */
static ferry_status subarray(const recipe *r, const below *b, ferry_layout **layout_out)
{
    const int64_t dims = r->numbers[0], *const lists = r->numbers + (r->large > 0 ? 2 : 1);
    const int64_t order = r->numbers[r->large > 0 ? 1 : 3 * dims + 1];
    slice *slices = NULL;
    ferry_status st = alloc_zero((size_t)dims, sizeof *slices, &slices);

    for (int64_t k = 0; k < dims && st == FERRY_OK; k++) {
        const int64_t count = lists[dims + k], start = lists[2 * dims + k];
        slices[k] = (slice){lists[k], start, count, count, start + count};
    }
    if (st == FERRY_OK)
        st = wrap_all(b, slices, dims, order == MPI_ORDER_C, layout_out);
    alloc_free(slices);
    return st;
}

/* One dimension of a distributed array: the share of process `place` of `places`. */
static slice share(int64_t size, int64_t kind, int64_t block, int64_t places, int64_t place)
{
    if (kind == MPI_DISTRIBUTE_NONE)
        return (slice){size, 0, size, size > 0 ? size : 1, size};
    if (block == MPI_DISTRIBUTE_DFLT_DARG)
        block = kind == MPI_DISTRIBUTE_BLOCK ? (size + places - 1) / places : 1;
    if (kind == MPI_DISTRIBUTE_BLOCK)
        return (slice){size, place * block, block, block,
                       (place + 1) * block < size ? (place + 1) * block : size};
    return (slice){size, place * block, block, block * places, size};
}

/* numbers: ranks, rank, dims, dims sizes, kinds, blocks and places each, order; with large counts
 * the sizes come last */
static ferry_status darray(const recipe *r, const below *b, ferry_layout **layout_out)
{
    const int64_t dims = r->numbers[2], *const n = r->numbers + 3;
    const int64_t *const sizes = r->large > 0 ? n + 3 * dims + 1 : n;
    const int64_t *const kinds = r->large > 0 ? n : n + dims;
    const int64_t *const blocks = kinds + dims, *const places = kinds + 2 * dims;
    slice *slices = NULL;
    int64_t rank = r->numbers[1];
    ferry_status st = alloc_zero((size_t)dims, sizeof *slices, &slices);

    for (int64_t k = dims - 1; k >= 0 && st == FERRY_OK; k--) { /* the last place varies fastest */
        slices[k] = share(sizes[k], kinds[k], blocks[k], places[k], rank % places[k]);
        rank /= places[k];
    }
    if (st == FERRY_OK)
        st = wrap_all(b, slices, dims, kinds[3 * dims] == MPI_ORDER_C, layout_out);
    alloc_free(slices);
    return st;
}

/* --- All of them --- */

static const struct {
    int combiner;
    compose *compose;
} ways[] = {
    {MPI_COMBINER_DUP, same},
    {MPI_COMBINER_RESIZED, same},
    {MPI_COMBINER_CONTIGUOUS, contiguous},
    {MPI_COMBINER_VECTOR, vector},
    {MPI_COMBINER_HVECTOR, hvector},
    {MPI_COMBINER_INDEXED, indexed},
    {MPI_COMBINER_HINDEXED, hindexed},
    {MPI_COMBINER_INDEXED_BLOCK, indexed_block},
    {MPI_COMBINER_HINDEXED_BLOCK, hindexed_block},
    {MPI_COMBINER_STRUCT, structure},
    {MPI_COMBINER_SUBARRAY, subarray},
    {MPI_COMBINER_DARRAY, darray},
#ifndef MPI_COMBINER_HVECTOR_INTEGER /* a macro where it has been removed: there are no such types \
                                      */
    {MPI_COMBINER_HVECTOR_INTEGER, hvector},
    {MPI_COMBINER_HINDEXED_INTEGER, hindexed},
    {MPI_COMBINER_STRUCT_INTEGER, structure},
#endif
};

static compose *way_of(int combiner)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].combiner == combiner)
            return ways[i].compose;
    return NULL;
}

static ferry_status layout_of(MPI_Datatype type, int depth, ferry_layout **layout_out);

/* The types below. One that stands again right after itself is looked at once. */
static ferry_status look_below(const recipe *r, int depth, below *b)
{
    ferry_status st = FERRY_OK;

    for (size_t i = 0; i < r->types_count && st == FERRY_OK; i++) {
        const bool again = i > 0 && r->types[i] == r->types[i - 1];
        b[i].extent = again ? b[i - 1].extent : 0;
        st = again ? layout_copy(b[i - 1].layout, &b[i].layout)
                   : layout_of(r->types[i], depth + 1, &b[i].layout);
        if (st == FERRY_OK && !again)
            st = extent_of(r->types[i], &b[i].extent);
    }
    return st;
}

static ferry_status take_apart(const recipe *r, compose *way, int depth, ferry_layout **layout_out)
{
    below *b = NULL;
    ferry_status st = alloc_zero(r->types_count, sizeof *b, &b);

    if (st != FERRY_OK)
        return st;
    st = look_below(r, depth, b);
    if (st == FERRY_OK)
        st = way(r, b, layout_out);
    for (size_t i = 0; i < r->types_count; i++)
        ferry_layout_free(b[i].layout);
    alloc_free(b);
    return st;
}

static ferry_status layout_of(MPI_Datatype type, int depth, ferry_layout **layout_out)
{
    recipe r = {.combiner = MPI_COMBINER_NAMED};
    MPI_Count counts[4];
    ferry_status st = read_envelope(type, counts, &r.combiner);

    if (st != FERRY_OK)
        return st;
    if (is_basic(r.combiner))
        return basic(type, layout_out);
    compose *const way = depth < DEPTH_MOST ? way_of(r.combiner) : NULL;
    if (!way)
        return packed_layout(type, layout_out);
    st = read_contents(type, counts, &r);
    if (st == FERRY_OK)
        st = take_apart(&r, way, depth, layout_out);
    drop_recipe(&r);
    return st;
}

static ferry_status check(MPI_Datatype type, int64_t count, ferry_layout *const *layout_out)
{
    static const char call[] = "ferry_layout_from_datatype";
    const ferry_status st = pmpi_running();

    if (st != FERRY_OK)
        return st;
    if (!layout_out)
        return trouble(FERRY_ERR_ARG, "%s: layout_out is NULL", call);
    if (type == MPI_DATATYPE_NULL)
        return trouble(FERRY_ERR_ARG, "%s: type is MPI_DATATYPE_NULL", call);
    if (count < 0)
        return trouble(FERRY_ERR_ARG, "%s: count is %lld; expected 0 or more", call,
                       (long long)count);
    return FERRY_OK;
}

ferry_status ferry_layout_from_datatype(MPI_Datatype type, int64_t count, int64_t offset_bytes,
                                        ferry_layout **layout_out)
{
    below one = {.layout = NULL};
    ferry_status st = check(type, count, layout_out);

    if (st != FERRY_OK)
        return st;
    st = layout_of(type, 0, &one.layout);
    if (st == FERRY_OK)
        st = extent_of(type, &one.extent);
    if (st == FERRY_OK)
        st = compose_one(&one, count, one.extent, offset_bytes, layout_out);
    ferry_layout_free(one.layout);
    if (st == FERRY_ERR_ARG)
        st = trouble(st,
                     "ferry_layout_from_datatype: count %lld, extent %lld bytes, offset_bytes %lld: "
                     "%s",
                     (long long)count, (long long)one.extent, (long long)offset_bytes,
                     trouble_text());
    return st;
}
