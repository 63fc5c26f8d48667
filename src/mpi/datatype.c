/* Decoding of MPI datatypes: the contents of a type are the numbers of the call that made it. One
 * function for each of these calls; types that MPI 3.1 does not know are probed. */
#include "ferry/datatype.h"

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "mpi/typemap.h"

/* What MPI_Type_get_contents() gives. */
typedef struct contents {
    int combiner, int_count, address_count, type_count;
    int *ints;
    MPI_Aint *addresses;
    MPI_Datatype *types;
} contents;

/* A map of the type that others are made of, and its extent. */
typedef struct part {
    typemap map;
    int64_t extent;
} part;

static ferry_status decode_part(MPI_Datatype type, part *part_out)
{
    MPI_Aint lb = 0, extent = 0;
    const ferry_status st =
        pmpi_status(PMPI_Type_get_extent(type, &lb, &extent), "MPI_Type_get_extent");

    part_out->extent = extent;
    return st == FERRY_OK ? typemap_decode(type, &part_out->map) : st;
}

/* A basic type is one run; a pair with a gap is not. */
static ferry_status decode_basic(MPI_Datatype type, typemap *map)
{
    MPI_Count lb, extent, size;

    PMPI_Type_get_true_extent_x(type, &lb, &extent);
    PMPI_Type_size_x(type, &size);
    if (size > 0 && (lb != 0 || extent != size))
        return typemap_probe(type, map);
    map->element = (size_t)size;
    return typemap_add_run(map, 0, (size_t)size);
}

/* ---- One kind each: from the only part's map to the whole's ---- */

static ferry_status decode_contiguous(const contents *c, part *p, typemap *map)
{
    const ferry_status st = typemap_repeat(&p->map, c->ints[0], p->extent);

    return st == FERRY_OK ? typemap_add(map, &p->map, 0) : st;
}

static ferry_status decode_blocks(part *p, int count, int length, int64_t stride, typemap *map)
{
    ferry_status st = typemap_repeat(&p->map, length, p->extent);

    if (st == FERRY_OK)
        st = typemap_repeat(&p->map, count, stride);
    return st == FERRY_OK ? typemap_add(map, &p->map, 0) : st;
}

static ferry_status decode_vector(const contents *c, part *p, typemap *map)
{
    int64_t stride;

    if (!offset_mul(c->ints[2], p->extent, &stride))
        return trouble(FERRY_ERR_ARG, "ferry_layout_from_datatype: a stride passes 63 bits");
    return decode_blocks(p, c->ints[0], c->ints[1], stride, map);
}

static ferry_status decode_hvector(const contents *c, part *p, typemap *map)
{
    return decode_blocks(p, c->ints[0], c->ints[1], c->addresses[0], map);
}

/* Append `length` elements of the part at `at`. Blocks of one length are repeated once: `block` is
 * kept between calls. */
static ferry_status add_block(const part *p, int length, int64_t at, typemap *block, int *kept,
                              typemap *map)
{
    ferry_status st = FERRY_OK;

    if (length != *kept) {
        typemap_drop(block);
        st = typemap_add(block, &p->map, 0);
        if (st == FERRY_OK)
            st = typemap_repeat(block, length, p->extent);
        *kept = length;
    }
    return st == FERRY_OK ? typemap_add(map, block, at) : st;
}

/* Blocks of given lengths (or all of `lengths[0]`) at displacements in bytes or in extents. */
static ferry_status decode_list(const contents *c, const part *p, const int *lengths,
                                const int *extents, typemap *map)
{
    const bool alike =
        c->combiner == MPI_COMBINER_INDEXED_BLOCK || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    typemap block = {.count = 0};
    ferry_status st = FERRY_OK;
    int kept = -1;

    for (int i = 0; i < c->ints[0] && st == FERRY_OK; i++) {
        int64_t at = 0;
        if (extents && !offset_mul(extents[i], p->extent, &at))
            st =
                trouble(FERRY_ERR_ARG, "ferry_layout_from_datatype: a displacement passes 63 bits");
        if (!extents)
            at = c->addresses[i];
        if (st == FERRY_OK)
            st = add_block(p, lengths[alike ? 0 : i], at, &block, &kept, map);
    }
    typemap_drop(&block);
    map->element = size_divisor(map->element, p->map.element);
    map->count = layout_fold(map->nests, map->count);
    return st;
}

static ferry_status decode_indexed(const contents *c, part *p, typemap *map)
{
    return decode_list(c, p, c->ints + 1, c->ints + 1 + c->ints[0], map);
}

static ferry_status decode_hindexed(const contents *c, part *p, typemap *map)
{
    return decode_list(c, p, c->ints + 1, NULL, map);
}

static ferry_status decode_indexed_block(const contents *c, part *p, typemap *map)
{
    return decode_list(c, p, c->ints + 1, c->ints + 2, map);
}

static ferry_status decode_same(const contents *c, part *p, typemap *map)
{
    (void)c;
    return typemap_add(map, &p->map, 0);
}

/* Indices from `start` on, in steps of `step` (in elements of the dimension below). */
typedef struct dimension {
    int64_t size, start, count;
} dimension;

static ferry_status wrap_dimension(typemap *map, const dimension *d, int64_t *stride)
{
    typemap moved = {.count = 0};
    int64_t by;
    ferry_status st = typemap_repeat(map, d->count, *stride);

    if (st == FERRY_OK &&
        (!offset_mul(d->start, *stride, &by) || !offset_mul(*stride, d->size, stride)))
        st = trouble(FERRY_ERR_ARG, "ferry_layout_from_datatype: a subarray passes 63 bits");
    if (st == FERRY_OK)
        st = typemap_add(&moved, map, by);
    typemap_drop(map);
    *map = moved;
    return st;
}

static ferry_status decode_subarray(const contents *c, part *p, typemap *map)
{
    const int dims = c->ints[0], order = c->ints[3 * dims + 1];
    int64_t stride = p->extent;
    ferry_status st = FERRY_OK;

    for (int i = 0; i < dims && st == FERRY_OK; i++) { /* from the fastest on */
        const int k = order == MPI_ORDER_C ? dims - 1 - i : i;
        const dimension d = {c->ints[1 + k], c->ints[1 + 2 * dims + k], c->ints[1 + dims + k]};
        st = wrap_dimension(&p->map, &d, &stride);
    }
    return st == FERRY_OK ? typemap_add(map, &p->map, 0) : st;
}

/* ---- Distributed arrays ---- */

/* How one dimension is dealt out: blocks of `block` indices, to `places` places in turn. */
typedef struct dealing {
    int64_t size, block, places, place;
} dealing;

static dealing deal(const contents *c, int dims, int k, int place)
{
    const int *const at = c->ints + 3;
    const int size = at[k], how = at[dims + k], wanted = at[2 * dims + k],
              places = at[3 * dims + k];
    dealing d = {size, wanted, places, place};

    if (how == MPI_DISTRIBUTE_NONE)
        d = (dealing){size, size, 1, 0};
    else if (wanted == MPI_DISTRIBUTE_DFLT_DARG)
        d.block = how == MPI_DISTRIBUTE_BLOCK ? (size + places - 1) / places : 1;
    return d;
}

/* The map at all indices that are dealt to this place. */
static ferry_status wrap_dealt(typemap *map, const dealing *d, int64_t *stride)
{
    typemap all = {.element = map->element};
    ferry_status st = FERRY_OK;

    for (int64_t start = d->place * d->block; start < d->size && st == FERRY_OK;
         start += d->places * d->block) {
        typemap block = {.count = 0};
        const int64_t left = d->size - start;
        st = typemap_add(&block, map, 0);
        if (st == FERRY_OK)
            st = typemap_repeat(&block, left < d->block ? left : d->block, *stride);
        if (st == FERRY_OK)
            st = typemap_add(&all, &block, start * *stride);
        typemap_drop(&block);
    }
    all.count = layout_fold(all.nests, all.count);
    typemap_drop(map);
    *map = all;
    *stride *= d->size;
    return st;
}

/* The rank's place in each dimension: processes are counted with the last dimension fastest. */
static ferry_status decode_darray(const contents *c, part *p, typemap *map)
{
    const int dims = c->ints[2], order = c->ints[3 + 4 * dims];
    int places[FERRY_LAYOUT_MAX_DIMS], rest = c->ints[1];
    int64_t stride = p->extent;
    ferry_status st = FERRY_OK;

    if (dims > FERRY_LAYOUT_MAX_DIMS)
        return FERRY_ERR_LIMIT;
    for (int k = dims - 1; k >= 0; k--) {
        const int along = c->ints[3 + 3 * dims + k];
        places[k] = rest % along;
        rest /= along;
    }
    for (int i = 0; i < dims && st == FERRY_OK; i++) {
        const int k = order == MPI_ORDER_C ? dims - 1 - i : i;
        const dealing d = deal(c, dims, k, places[k]);
        st = wrap_dealt(&p->map, &d, &stride);
    }
    return st == FERRY_OK ? typemap_add(map, &p->map, 0) : st;
}

/* ---- Several parts ---- */

static ferry_status decode_struct(const contents *c, typemap *map)
{
    ferry_status st = FERRY_OK;

    for (int i = 0; i < c->ints[0] && st == FERRY_OK; i++) {
        part p = {.extent = 0};
        st = decode_part(c->types[i], &p);
        if (st == FERRY_OK)
            st = typemap_repeat(&p.map, c->ints[1 + i], p.extent);
        if (st == FERRY_OK)
            st = typemap_add(map, &p.map, c->addresses[i]);
        typemap_drop(&p.map);
    }
    return st;
}

/* ---- Which is which ---- */

static const struct kind {
    int combiner;
    ferry_status (*decode)(const contents *c, part *p, typemap *map);
} kinds[] = {
    {MPI_COMBINER_DUP, decode_same},
    {MPI_COMBINER_RESIZED, decode_same},
    {MPI_COMBINER_CONTIGUOUS, decode_contiguous},
    {MPI_COMBINER_VECTOR, decode_vector},
    {MPI_COMBINER_HVECTOR, decode_hvector},
    {MPI_COMBINER_INDEXED, decode_indexed},
    {MPI_COMBINER_HINDEXED, decode_hindexed},
    {MPI_COMBINER_INDEXED_BLOCK, decode_indexed_block},
    {MPI_COMBINER_HINDEXED_BLOCK, decode_hindexed},
    {MPI_COMBINER_SUBARRAY, decode_subarray},
    {MPI_COMBINER_DARRAY, decode_darray},
};

static ferry_status decode_kind(MPI_Datatype type, const contents *c, typemap *map)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        part p = {.extent = 0};
        if (kinds[i].combiner != c->combiner)
            continue;
        ferry_status st = decode_part(c->types[0], &p);
        if (st == FERRY_OK)
            st = kinds[i].decode(c, &p, map);
        typemap_drop(&p.map);
        return st;
    }
    return typemap_probe(type, map);
}

/* Types that MPI_Type_get_contents() made for us are freed; the predefined ones are not ours. */
static void free_types(const contents *c)
{
    for (int i = 0; i < c->type_count; i++) {
        int ints, addresses, types, combiner = MPI_COMBINER_NAMED;
        PMPI_Type_get_envelope(c->types[i], &ints, &addresses, &types, &combiner);
        if (combiner != MPI_COMBINER_NAMED && combiner != MPI_COMBINER_F90_REAL &&
            combiner != MPI_COMBINER_F90_COMPLEX && combiner != MPI_COMBINER_F90_INTEGER)
            PMPI_Type_free(&c->types[i]);
    }
}

static ferry_status read_contents(MPI_Datatype type, contents *c)
{
    ferry_status st = alloc_zero((size_t)c->int_count, sizeof *c->ints, &c->ints);

    if (st == FERRY_OK)
        st = alloc_zero((size_t)c->address_count, sizeof *c->addresses, &c->addresses);
    if (st == FERRY_OK)
        st = alloc_zero((size_t)c->type_count, sizeof *c->types, &c->types);
    if (st == FERRY_OK)
        st = pmpi_status(PMPI_Type_get_contents(type, c->int_count, c->address_count, c->type_count,
                                                c->ints, c->addresses, c->types),
                         "MPI_Type_get_contents");
    return st;
}

static ferry_status decode_derived(MPI_Datatype type, contents *c, typemap *map)
{
    ferry_status st = read_contents(type, c);

    if (st == FERRY_OK) {
        st = c->combiner == MPI_COMBINER_STRUCT ? decode_struct(c, map) : decode_kind(type, c, map);
        free_types(c);
    }
    alloc_free(c->ints);
    alloc_free(c->addresses);
    alloc_free(c->types);
    return st;
}

ferry_status typemap_decode(MPI_Datatype type, typemap *map)
{
    contents c = {.combiner = MPI_COMBINER_NAMED};
    const ferry_status st = pmpi_status(
        PMPI_Type_get_envelope(type, &c.int_count, &c.address_count, &c.type_count, &c.combiner),
        "MPI_Type_get_envelope");

    if (st != FERRY_OK)
        return st;
    switch (c.combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
        return decode_basic(type, map);
    default:
        return decode_derived(type, &c, map);
    }
}

/* ---- The public call ---- */

ferry_status ferry_layout_from_datatype(MPI_Datatype type, int64_t count, int64_t offset_bytes,
                                        ferry_layout **layout_out)
{
    static const char call[] = "ferry_layout_from_datatype";
    typemap whole = {.count = 0};
    part p = {.extent = 0};
    ferry_status st = pmpi_running();

    if (st != FERRY_OK)
        return st;
    if (!layout_out)
        return trouble(FERRY_ERR_ARG, "%s: layout_out is NULL", call);
    if (type == MPI_DATATYPE_NULL)
        return trouble(FERRY_ERR_ARG, "%s: type is MPI_DATATYPE_NULL", call);
    if (count < 0)
        return trouble(FERRY_ERR_ARG, "%s: count is %lld; expected 0 or more", call,
                       (long long)count);
    st = decode_part(type, &p);
    if (st == FERRY_OK)
        st = typemap_repeat(&p.map, count, p.extent);
    if (st == FERRY_OK)
        st = typemap_add(&whole, &p.map, offset_bytes);
    if (st == FERRY_OK)
        st = layout_of_nests(whole.element > 0 ? whole.element : 1, whole.nests, whole.count,
                             layout_out);
    typemap_drop(&whole);
    typemap_drop(&p.map);
    return st;
}
