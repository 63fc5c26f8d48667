/* Type maps: see typemap.h. */
#include "mpi/typemap.h"

#include <limits.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"

void typemap_drop(typemap *map)
{
    alloc_free(map->nests);
    *map = (typemap){.count = 0};
}

static ferry_status make_room(typemap *map, size_t more)
{
    size_t wanted;

    if (!size_add(map->count, more, &wanted))
        return trouble(FERRY_ERR_MEMORY, "a datatype of more than 2^64 blocks");
    if (wanted <= map->room)
        return FERRY_OK;
    wanted = size_max(wanted, 2 * map->room);
    const ferry_status st = alloc_resize(wanted, sizeof *map->nests, &map->nests);
    if (st == FERRY_OK)
        map->room = wanted;
    return st;
}

static ferry_status too_far(void)
{
    return trouble(FERRY_ERR_ARG, "ferry_layout_from_datatype: the datatype passes 63 bits");
}

ferry_status typemap_add_run(typemap *map, int64_t at, size_t bytes)
{
    layout_nest *const last = map->count > 0 ? &map->nests[map->count - 1] : NULL;

    if (bytes == 0)
        return FERRY_OK;
    if (last && last->dims == 0 && last->offset + (int64_t)last->run == at) {
        last->run += bytes;
        return FERRY_OK;
    }
    const ferry_status st = make_room(map, 1);
    if (st == FERRY_OK)
        map->nests[map->count++] = (layout_nest){.offset = at, .run = bytes};
    return st;
}

ferry_status typemap_add(typemap *map, const typemap *other, int64_t by)
{
    ferry_status st = make_room(map, other->count);

    map->element = size_divisor(map->element, other->element);
    for (size_t i = 0; i < other->count && st == FERRY_OK; i++) {
        layout_nest nest = other->nests[i];
        if (!offset_add(nest.offset, by, &nest.offset))
            return too_far();
        if (nest.dims == 0)
            st = typemap_add_run(map, nest.offset, nest.run);
        else
            map->nests[map->count++] = nest;
    }
    return st;
}

/* One nest becomes one with a loop more. */
static void add_loop(layout_nest *nest, size_t count, int64_t stride)
{
    for (int k = nest->dims++; k > 0; k--)
        nest->loop[k] = nest->loop[k - 1];
    nest->loop[0].count = count;
    nest->loop[0].stride = stride;
    layout_normalise(nest);
}

/* Several nests are written out as often as they come. */
static ferry_status write_out(typemap *map, int64_t count, int64_t stride)
{
    const typemap once = *map;
    ferry_status st = FERRY_OK;
    int64_t by = 0;

    *map = (typemap){.element = once.element};
    for (int64_t i = 0; i < count && st == FERRY_OK; i++) {
        if (i > 0 && !offset_add(by, stride, &by))
            st = too_far();
        else
            st = typemap_add(map, &once, by);
    }
    alloc_free(once.nests);
    if (st == FERRY_OK)
        map->count = layout_fold(map->nests, map->count);
    return st;
}

ferry_status typemap_repeat(typemap *map, int64_t count, int64_t stride)
{
    if (count <= 0)
        map->count = 0;
    if (count <= 1 || map->count == 0)
        return FERRY_OK;
    if (map->count > 1 || map->nests[0].dims == FERRY_LAYOUT_MAX_DIMS)
        return write_out(map, count, stride);
    add_loop(&map->nests[0], (size_t)count, stride);
    return FERRY_OK;
}

/* ---- What only MPI_Pack() knows ---- */

/* Byte i of the type's memory holds digit `digit` of i to base 256. */
static void number_bytes(unsigned char *memory, size_t bytes, int digit)
{
    for (size_t i = 0; i < bytes; i++)
        memory[i] = (unsigned char)(i >> 8 * digit);
}

static ferry_status pack(MPI_Datatype type, const char *origin, unsigned char *packed, int room,
                         size_t expected)
{
    int position = 0;
    const ferry_status st =
        pmpi_status(PMPI_Pack(origin, 1, type, packed, room, &position, MPI_COMM_SELF), "MPI_Pack");

    if (st != FERRY_OK || (size_t)position == expected)
        return st;
    return trouble(FERRY_ERR_MPI, "MPI_Pack made %d bytes of a datatype of %zu", position,
                   expected);
}

/* Where each packed byte comes from, digit by digit. */
static ferry_status find_bytes(MPI_Datatype type, MPI_Count lb, size_t extent, size_t size,
                               size_t *from)
{
    unsigned char *memory = NULL, *packed = NULL;
    int room = 0;
    ferry_status st = pmpi_status(PMPI_Pack_size(1, type, MPI_COMM_SELF, &room), "MPI_Pack_size");

    if (st == FERRY_OK)
        st = alloc_zero(extent, 1, &memory);
    if (st == FERRY_OK)
        st = alloc_zero((size_t)room, 1, &packed);
    for (int digit = 0; st == FERRY_OK && digit < 4; digit++) {
        number_bytes(memory, extent, digit);
        st = pack(type, (char *)memory - lb, packed, room, size);
        for (size_t i = 0; i < size && st == FERRY_OK; i++)
            from[i] |= (size_t)packed[i] << 8 * digit;
    }
    alloc_free(memory);
    alloc_free(packed);
    return st;
}

ferry_status typemap_probe(MPI_Datatype type, typemap *map)
{
    MPI_Count lb, extent, size;
    size_t *from = NULL;

    PMPI_Type_get_true_extent_x(type, &lb, &extent);
    PMPI_Type_size_x(type, &size);
    if (size == 0)
        return FERRY_OK;
    if (size < 0 || size > INT_MAX || extent > INT_MAX)
        return trouble(FERRY_ERR_LIMIT,
                       "ferry_layout_from_datatype: a datatype that cannot be decoded spans %lld "
                       "bytes, expected fewer than 2^31",
                       (long long)extent);
    ferry_status st = alloc_zero((size_t)size, sizeof *from, &from);
    if (st == FERRY_OK)
        st = find_bytes(type, lb, (size_t)extent, (size_t)size, from);
    for (size_t i = 0; i < (size_t)size && st == FERRY_OK; i++)
        st = typemap_add_run(map, lb + (int64_t)from[i], 1);
    for (size_t i = 0; i < map->count; i++)
        map->element = size_divisor(map->element, map->nests[i].run);
    map->count = layout_fold(map->nests, map->count);
    alloc_free(from);
    return st;
}
