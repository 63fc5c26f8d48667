/* Who is where on the grid. Ranks are placed as MPI_Cart_create() does without reordering: last
 * dimension fastest. */
#include "base/alloc.h"
#include "halo/halo.h"

int halo_codes(const ferry_halo *halo)
{
    int codes = 1;

    for (int d = 0; d < halo->dims; d++)
        codes *= 3;
    return codes;
}

void halo_find_place(ferry_halo *halo)
{
    int rest = halo->rank;

    for (int d = halo->dims - 1; d >= 0; d--) {
        halo->place[d] = rest % halo->grid[d];
        rest /= halo->grid[d];
    }
}

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

/* Fills the steps of a code; returns how many dimensions they go along. */
static int read_code(const ferry_halo *halo, int code, int step_out[])
{
    int along = 0;

    for (int d = 0; d < halo->dims; d++) {
        step_out[d] = code % 3 - 1;
        code /= 3;
        along += step_out[d] != 0;
    }
    return along;
}

static int most_steps(const ferry_halo *halo)
{
    static const int steps[] = {
        [FERRY_HALO_FACES] = 1,
        [FERRY_HALO_EDGES] = 2,
        [FERRY_HALO_ALL] = MAX_DIMS,
    };
    return steps[halo->corners];
}

ferry_status halo_find_neighbours(const ferry_halo *halo, halo_ring *ring_out)
{
    const int codes = halo_codes(halo);
    halo_ring ring = {0};
    ferry_status st = alloc_zero((size_t)codes, sizeof *ring.list, &ring.list);

    if (st != FERRY_OK)
        return st;
    for (int code = 0; code < codes; code++) {
        halo_neighbour *next = &ring.list[ring.count];
        const int along = read_code(halo, code, next->step);
        next->rank = halo_rank_at(halo, next->step);
        next->code = code;
        if (along > 0 && along <= most_steps(halo) && next->rank >= 0)
            ring.count++;
    }
    st = alloc_zero(ring.count, halo_block_bytes(halo), &ring.blocks);
    if (st != FERRY_OK) {
        halo_drop_neighbours(&ring);
        return st;
    }
    for (size_t i = 0; i < ring.count; i++)
        ring.list[i].block = (const halo_block *)((char *)ring.blocks + i * halo_block_bytes(halo));
    *ring_out = ring;
    return FERRY_OK;
}

void halo_drop_neighbours(halo_ring *ring)
{
    alloc_free(ring->list);
    alloc_free(ring->blocks);
    *ring = (halo_ring){0};
}
