/* What a rank says of its cells and ghosts, checked before anybody hears of it. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "halo/mesh.h"

static ferry_status negative(const char *list, int64_t i, int64_t found)
{
    return trouble(FERRY_ERR_ARG, "%s[%lld] is %lld, expected >= 0", list, (long long)i,
                   (long long)found);
}

static ferry_status check_counts(const ferry_mesh_spec *spec)
{
    if (spec->size != sizeof *spec)
        return trouble(FERRY_ERR_ARG,
                       "spec->size is %zu, expected %zu: start from FERRY_MESH_SPEC_INIT",
                       spec->size, sizeof *spec);
    if (spec->cells < 0 || spec->ghosts < 0 || spec->cells > INT64_MAX / 16 ||
        spec->ghosts > INT64_MAX / 16 - spec->cells)
        return trouble(FERRY_ERR_ARG, "cells is %lld and ghosts is %lld, expected >= 0, below 2^59",
                       (long long)spec->cells, (long long)spec->ghosts);
    if (spec->field_count < 1 || spec->field_count > FERRY_PLAN_MAX_BUFFERS)
        return trouble(FERRY_ERR_ARG, "field_count is %d, expected 1..%d", spec->field_count,
                       FERRY_PLAN_MAX_BUFFERS);
    if (!spec->element_bytes)
        return trouble(FERRY_ERR_ARG, "element_bytes is NULL, expected %d numbers",
                       spec->field_count);
    int64_t bytes;
    for (int f = 0; f < spec->field_count; f++) {
        if (spec->element_bytes[f] < 1)
            return trouble(FERRY_ERR_ARG, "element_bytes[%d] is %lld, expected >= 1", f,
                           (long long)spec->element_bytes[f]);
        if (!offset_mul(spec->cells, spec->element_bytes[f], &bytes))
            return trouble(FERRY_ERR_ARG, "%lld cells of %lld bytes pass 2^63",
                           (long long)spec->cells, (long long)spec->element_bytes[f]);
    }
    return FERRY_OK;
}

static ferry_status check_names(const ferry_mesh_spec *spec)
{
    if (spec->ghosts == 0)
        return FERRY_OK;
    if (spec->ghost_numbers && (spec->ghost_ranks || spec->ghost_indices))
        return trouble(FERRY_ERR_ARG,
                       "ghosts are named twice: give ghost_numbers, or ghost_ranks and "
                       "ghost_indices, and NULL for the others");
    if (!spec->ghost_numbers && (!spec->ghost_ranks || !spec->ghost_indices))
        return trouble(FERRY_ERR_ARG, "%s is NULL, expected a list of %lld ghosts",
                       spec->ghost_ranks     ? "ghost_indices"
                       : spec->ghost_indices ? "ghost_ranks"
                                             : "ghost_numbers",
                       (long long)spec->ghosts);
    return FERRY_OK;
}

static ferry_status check_numbers(const ferry_mesh_spec *spec)
{
    for (int64_t i = 0; spec->numbers && i < spec->cells; i++)
        if (spec->numbers[i] < 0)
            return negative("numbers", i, spec->numbers[i]);
    for (int64_t i = 0; spec->ghost_numbers && i < spec->ghosts; i++)
        if (spec->ghost_numbers[i] < 0)
            return negative("ghost_numbers", i, spec->ghost_numbers[i]);
    return FERRY_OK;
}

/* No byte offset passes 63 bits. */
static ferry_status check_place(const ferry_mesh *mesh, int64_t place, int64_t i)
{
    int64_t end;

    if (place < mesh->cells)
        return trouble(FERRY_ERR_ARG,
                       "ghost_places[%lld] is %lld, expected >= %lld, the number of cells",
                       (long long)i, (long long)place, (long long)mesh->cells);
    for (int f = 0; f < mesh->field_count; f++)
        if (place == INT64_MAX || !offset_mul(place + 1, mesh->element_bytes[f], &end))
            return trouble(FERRY_ERR_ARG,
                           "ghost_places[%lld] is %lld: elements of %lld bytes pass 2^63",
                           (long long)i, (long long)place, (long long)mesh->element_bytes[f]);
    return FERRY_OK;
}

static ferry_status read_ghost(const ferry_mesh_spec *spec, const ferry_mesh *mesh, int64_t i,
                               mesh_ghost *ghost)
{
    *ghost = (mesh_ghost){.rank = -1,
                          .index = -1,
                          .ordinal = i,
                          .place = spec->ghost_places ? spec->ghost_places[i] : spec->cells + i};
    const ferry_status st = check_place(mesh, ghost->place, i);
    if (st != FERRY_OK || spec->ghost_numbers)
        return st;
    ghost->rank = spec->ghost_ranks[i];
    ghost->index = spec->ghost_indices[i];
    if (ghost->rank < 0 || ghost->rank >= mesh->size)
        return trouble(FERRY_ERR_ARG, "ghost_ranks[%lld] is %d, expected 0..%d", (long long)i,
                       ghost->rank, mesh->size - 1);
    return FERRY_OK; /* the index is checked by the owner */
}

static int by_place(const void *a, const void *b)
{
    const mesh_ghost *const x = a, *const y = b;

    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

/* Two ghosts at one place would both be written. Sorting is undone by mesh_make_links(); numbers
 * are found by ordinal. */
static ferry_status check_places(const ferry_mesh *mesh, mesh_ghost *ghosts)
{
    if (mesh->ghosts)
        qsort(ghosts, (size_t)mesh->ghosts, sizeof *ghosts, by_place);
    for (int64_t i = 1; i < mesh->ghosts; i++)
        if (ghosts[i].place == ghosts[i - 1].place)
            return trouble(FERRY_ERR_ARG, "ghost_places[%lld] and ghost_places[%lld] are both %lld",
                           (long long)ghosts[i - 1].ordinal, (long long)ghosts[i].ordinal,
                           (long long)ghosts[i].place);
    return FERRY_OK;
}

ferry_status mesh_read_spec(const ferry_mesh_spec *spec, ferry_mesh *mesh, mesh_ghost **ghosts_out)
{
    mesh_ghost *ghosts = NULL;
    ferry_status st = check_counts(spec);

    if (st == FERRY_OK)
        st = check_names(spec);
    if (st == FERRY_OK)
        st = check_numbers(spec);
    if (st != FERRY_OK)
        return st;
    mesh->cells = spec->cells;
    mesh->ghosts = spec->ghosts;
    mesh->field_count = spec->field_count;
    for (int f = 0; f < spec->field_count; f++)
        mesh->element_bytes[f] = spec->element_bytes[f];
    st = alloc_zero((size_t)spec->ghosts, sizeof *ghosts, &ghosts);
    for (int64_t i = 0; i < spec->ghosts && st == FERRY_OK; i++)
        st = read_ghost(spec, mesh, i, &ghosts[i]);
    if (st == FERRY_OK && spec->ghost_places)
        st = check_places(mesh, ghosts);
    if (st == FERRY_OK)
        *ghosts_out = ghosts;
    else
        alloc_free(ghosts);
    return st;
}
