/* The domain and the place of every rank's block in it. All ranks get one small record of every
 * rank and look at each record a few times: that costs no more than to receive them, and nobody
 * needs a table of pairs. Comparing here, before the plan is compiled, lets texts name dimension
 * and side: the plan knows blocks of bytes only. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "halo/halo.h"

/* --- what is the same everywhere ---------------------------------------------------------- */

static void name_shape(int which, char *name, size_t bytes)
{
    static const char *const single[] = {"dims", "corners", "field_count", "blocks", "holes"};
    static const char *const list[] = {"grid", "periodic", "global"};
    const int k = which - SHAPE_GRID;

    if (k < 0)
        snprintf(name, bytes, "%s", single[which]);
    else
        snprintf(name, bytes, "%s[%d]", list[k / MAX_DIMS], k % MAX_DIMS);
}

static ferry_status compare_shapes(const ferry_halo *halo, const halo_record *first)
{
    const int64_t *mine = halo->record.shape;
    char name[32];

    for (int i = 0; i < SHAPE_NUMBERS; i++) {
        if (mine[i] == first->shape[i])
            continue;
        name_shape(i, name, sizeof name);
        return trouble(FERRY_ERR_ARG,
                       "ferry_halo_create: %s is %lld on rank %d but %lld on rank 0, expected the "
                       "same on all ranks",
                       name, (long long)mine[i], halo->rank, (long long)first->shape[i]);
    }
    return FERRY_OK;
}

/* --- grids -------------------------------------------------------------------------------- */

int halo_rank_at(const ferry_halo *halo, const int step[])
{
    int rank = 0;

    for (int d = 0; d < halo->dims; d++) {
        const int ranks = halo->grid[d];
        int place = halo->place[d] + step[d];
        if (halo->periodic[d])
            place = (place + ranks) % ranks;
        if (place < 0 || place >= ranks)
            return -1;
        rank = rank * ranks + place;
    }
    return rank;
}

/* Where all neighbours have equal extents across the face between them, all ranks of a layer have.
 */
static ferry_status compare_across(const ferry_halo *halo, const halo_record *records, int along,
                                   int side)
{
    int step[MAX_DIMS] = {0};

    step[along] = side ? 1 : -1;
    const int other = halo_rank_at(halo, step);
    for (int d = 0; other >= 0 && d < halo->dims; d++) {
        const int64_t mine = halo->block->extent[d], theirs = records[other].extent[d];
        if (d != along && mine != theirs)
            return trouble(FERRY_ERR_SHAPE,
                           "ferry_halo_create: extent[%d] is %lld on rank %d but %lld on rank %d, "
                           "its neighbour on the %s side of dimension %d; expected the same",
                           d, (long long)mine, halo->rank, (long long)theirs, other,
                           side ? "high" : "low", along);
    }
    return FERRY_OK;
}

/* Without ghosts nobody has to fit anywhere. */
static bool reaches_nowhere(const ferry_halo *halo, const halo_record *records)
{
    for (int r = 0; r < halo->size; r++)
        for (int d = 0; d < halo->dims; d++)
            if (records[r].reach[d][0] > 0 || records[r].reach[d][1] > 0)
                return false;
    return true;
}

static ferry_status compare_faces(const ferry_halo *halo, const halo_record *records)
{
    ferry_status st = FERRY_OK;

    if (halo->idle)
        return FERRY_OK;
    for (int d = 0; st == FERRY_OK && d < halo->dims; d++)
        for (int side = 0; st == FERRY_OK && side < 2; side++)
            st = compare_across(halo, records, d, side);
    return st;
}

/* `starts` has room for the blocks along d and one more. `ranks_behind` ranks have the same place
 * along d in a row. */
static ferry_status place_along(ferry_halo *halo, halo_record *records, int d, int ranks_behind,
                                int64_t *starts)
{
    const int blocks = halo->grid[d];

    for (int k = 0; k < blocks; k++) {
        starts[k + 1] = starts[k] + records[(size_t)k * (size_t)ranks_behind].extent[d];
        if (starts[k + 1] > (int64_t)1 << 60)
            return trouble(
                FERRY_ERR_ARG,
                "ferry_halo_create: the extents along dimension %d pass 2^60 at block %d", d, k);
    }
    for (int r = 0; r < halo->size; r++)
        records[r].origin[d] = starts[r / ranks_behind % blocks];
    halo->total[d] = starts[blocks];
    return FERRY_OK;
}

static ferry_status place_grid(ferry_halo *halo, halo_record *records)
{
    int ranks_behind = 1;
    int64_t *starts;
    ferry_status st = alloc_zero((size_t)halo->size + 1, sizeof *starts, &starts);

    if (st != FERRY_OK)
        return st;
    for (int d = halo->dims - 1; st == FERRY_OK && d >= 0; d--) {
        st = place_along(halo, records, d, ranks_behind, starts);
        ranks_behind *= halo->grid[d];
        halo->block->origin[d] = records[halo->rank].origin[d];
    }
    alloc_free(starts);
    return st;
}

/* --- boxes -------------------------------------------------------------------------------- */

static ferry_status overlap(const ferry_halo *halo, int other, const ferry_halo_box *common)
{
    char cells[32 * MAX_DIMS] = "";
    size_t used = 0;

    for (int d = 0; d < halo->dims && used < sizeof cells; d++)
        used += (size_t)snprintf(cells + used, sizeof cells - used, "%s%lld..%lld", d ? " x " : "",
                                 (long long)common->low[d], (long long)common->high[d] - 1);
    return trouble(FERRY_ERR_SHAPE,
                   "ferry_halo_create: the boxes of rank %d and rank %d overlap: both own cells %s "
                   "(dimensions 0..%d)",
                   halo->rank, other, cells, halo->dims - 1);
}

static ferry_status compare_boxes(const ferry_halo *halo, const halo_record *records)
{
    const ferry_halo_box mine = halo_record_box(&records[halo->rank], halo->dims, false);
    ferry_halo_box common;

    for (int r = 0; r < halo->size; r++) {
        const ferry_halo_box theirs = halo_record_box(&records[r], halo->dims, false);
        if (r != halo->rank && box_meet(halo->dims, &mine, &theirs, &common))
            return overlap(halo, r, &common);
    }
    return FERRY_OK;
}

/* --- how often around ---------------------------------------------------------------------- */

/* Each turn around a periodic domain is a piece for every owner; more than so many in all are a
 * mistake that would take all memory. */
enum { TURNS_MAX = 1 << 16 };

static double turns_along(const ferry_halo *halo, const halo_record *r, int d)
{
    const double cells = (double)r->extent[d] + (double)r->reach[d][0] + (double)r->reach[d][1];

    return halo->periodic[d] && halo->total[d] > 0 ? 1 + cells / (double)halo->total[d] : 1;
}

static ferry_status check_turns(const ferry_halo *halo, const halo_record *records)
{
    for (int r = 0; r < halo->size; r++) {
        double turns = 1, most = 0;
        int worst = 0;
        for (int d = 0; d < halo->dims; d++) {
            const double along = turns_along(halo, &records[r], d);
            turns *= along;
            worst = along > most ? d : worst;
            most = along > most ? along : most;
        }
        if (turns > TURNS_MAX)
            return trouble(FERRY_ERR_ARG,
                           "ferry_halo_create: the array of rank %d goes around the domain %.3g "
                           "times (dimension %d: %lld cells, ghosts %lld and %lld), expected at "
                           "most %d times",
                           r, turns, worst, (long long)halo->total[worst],
                           (long long)records[r].reach[worst][0],
                           (long long)records[r].reach[worst][1], TURNS_MAX);
    }
    return FERRY_OK;
}

/* --- all of it ---------------------------------------------------------------------------- */

static ferry_status place_blocks(ferry_halo *halo, halo_record *records)
{
    halo->idle = reaches_nowhere(halo, records);
    if (halo->blocks == FERRY_HALO_BOXES)
        return compare_boxes(halo, records);
    const ferry_status st = compare_faces(halo, records);
    return st == FERRY_OK ? place_grid(halo, records) : st;
}

static ferry_status place_all(ferry_halo *halo, halo_record *records)
{
    const ferry_status st = place_blocks(halo, records);

    return st == FERRY_OK ? check_turns(halo, records) : st;
}

ferry_status halo_gather(ferry_halo *halo, halo_record **records_out)
{
    halo_record *records = NULL;
    ferry_status st = alloc_zero((size_t)halo->size, sizeof *records, &records);

    st = ferry_context_agree(halo->ctx, st);
    if (st == FERRY_OK)
        st = ferry_context_gather(halo->ctx, &halo->record, sizeof halo->record, records);
    if (st == FERRY_OK)
        st = ferry_context_agree(halo->ctx, compare_shapes(halo, &records[0]));
    if (st == FERRY_OK)
        st = ferry_context_agree(halo->ctx, place_all(halo, records));
    if (st != FERRY_OK) {
        alloc_free(records);
        return st;
    }
    *records_out = records;
    return FERRY_OK;
}
