/* The layout of a type read off MPI's own pack: bytes that tell where they lie are packed, once for
 * each digit of their places, base 256. For types that MPI does not take apart; slow, but right for
 * whatever MPI may make. */
#include "base/alloc.h"
#include "base/trouble.h"
#include "mpi/packed.h"

enum { DIGITS = sizeof(int32_t) };

/* A type between its true bounds: `span` bytes from `lb`, of which `bytes` are packed. */
typedef struct shape {
    MPI_Datatype type;
    int64_t lb, span;
    int bytes, room;
} shape;

static ferry_status measure(MPI_Datatype type, shape *shape_out)
{
    MPI_Count lb = 0, span = 0, bytes = 0;
    int room = 0;
    ferry_status st =
        pmpi_status(PMPI_Type_get_true_extent_x(type, &lb, &span), "MPI_Type_get_true_extent_x");

    if (st == FERRY_OK)
        st = pmpi_status(PMPI_Type_size_x(type, &bytes), "MPI_Type_size_x");
    if (st == FERRY_OK && (span > INT32_MAX || bytes > INT32_MAX))
        return trouble(FERRY_ERR_LIMIT,
                       "a datatype that MPI does not take apart spans %lld bytes; up to %d can be "
                       "read off what it packs",
                       (long long)span, INT32_MAX);
    if (st == FERRY_OK)
        st = pmpi_status(PMPI_Pack_size(1, type, MPI_COMM_SELF, &room), "MPI_Pack_size");
    *shape_out = (shape){type, lb, span, (int)bytes, room};
    return st;
}

/* One digit of the places of all packed bytes. */
static ferry_status read_digit(const shape *s, int digit, unsigned char *area,
                               unsigned char *packed, uint32_t *places)
{
    int end = 0;

    for (int64_t i = 0; i < s->span; i++)
        area[i] = (unsigned char)((uint64_t)i >> (8 * digit));
    const ferry_status st = pmpi_status(
        PMPI_Pack(area - s->lb, 1, s->type, packed, s->room, &end, MPI_COMM_SELF), "MPI_Pack");
    if (st != FERRY_OK)
        return st;
    if (end != s->bytes)
        return trouble(FERRY_ERR_LIMIT,
                       "MPI packs a datatype of %d bytes that it does not take apart into %d",
                       s->bytes, end);
    for (int i = 0; i < s->bytes; i++)
        places[i] |= (uint32_t)packed[i] << (8 * digit);
    return FERRY_OK;
}

static ferry_status runs_of(const shape *s, const uint32_t *places, ferry_layout **layout_out)
{
    layout_run *runs = NULL;
    const ferry_status st = alloc_zero((size_t)s->bytes, sizeof *runs, &runs);

    if (st != FERRY_OK)
        return st;
    for (int i = 0; i < s->bytes; i++)
        runs[i] = (layout_run){s->lb + (int64_t)places[i], 1};
    const ferry_status made = layout_of_runs(1, runs, (size_t)s->bytes, layout_out);
    alloc_free(runs);
    return made;
}

static ferry_status read_places(const shape *s, uint32_t *places)
{
    unsigned char *area = NULL, *packed = NULL;
    ferry_status st = alloc_zero((size_t)s->span, 1, &area);

    if (st == FERRY_OK)
        st = alloc_zero((size_t)s->room, 1, &packed);
    for (int digit = 0; digit < DIGITS && st == FERRY_OK; digit++)
        st = read_digit(s, digit, area, packed, places);
    alloc_free(area);
    alloc_free(packed);
    return st;
}

/* A type that others are made of need not be committed, and MPI packs none that is not. */
static ferry_status committed_twin(MPI_Datatype type, MPI_Datatype *twin_out)
{
    ferry_status st = pmpi_status(PMPI_Type_dup(type, twin_out), "MPI_Type_dup");

    if (st == FERRY_OK)
        st = pmpi_status(PMPI_Type_commit(twin_out), "MPI_Type_commit");
    return st;
}

ferry_status packed_layout(MPI_Datatype type, ferry_layout **layout_out)
{
    MPI_Datatype twin = MPI_DATATYPE_NULL;
    shape s = {.type = type};
    uint32_t *places = NULL;
    ferry_status st = committed_twin(type, &twin);

    if (st == FERRY_OK)
        st = measure(twin, &s);
    if (st == FERRY_OK)
        st = alloc_zero((size_t)s.bytes, sizeof *places, &places);
    if (st == FERRY_OK)
        st = read_places(&s, places);
    if (st == FERRY_OK)
        st = runs_of(&s, places, layout_out);
    alloc_free(places);
    if (twin != MPI_DATATYPE_NULL)
        PMPI_Type_free(&twin);
    return st;
}
