/* Who gets what: the part of one rank's values, moved by all periods that make it touch, that lies
 * in another's array. Where not all corners are wanted, such a box is split at the bounds of the
 * receiver's interior, and parts that lie outside along too many dimensions are left out. Giver and
 * receiver walk through the same boxes in the same order, which is how their edges meet. */
#include <string.h>

#include "base/alloc.h"
#include "base/trouble.h"
#include "halo/halo.h"

/* The way from one rank to another for one field; `part` and `shift` are the place that has been
 * come to. */
typedef struct walk {
    const ferry_halo *halo;
    const halo_partner *to, *from;
    int field;
    ferry_halo_box array, interior; /* of the receiver */
    ferry_halo_box owned;           /* of the giver */
    ferry_halo_box part;            /* in the receiver's place */
    int64_t shift[MAX_DIMS];        /* from the giver's place to the receiver's */
    halo_pieces *pieces;
} walk;

int halo_most_steps(const ferry_halo *halo)
{
    static const int steps[] = {
        [FERRY_HALO_FACES] = 1,
        [FERRY_HALO_EDGES] = 2,
        [FERRY_HALO_ALL] = MAX_DIMS,
    };
    return steps[halo->corners];
}

/* Loops in the order of the giver's memory, the largest stride outermost. */
static void fill_order(const walk *w, halo_piece *piece)
{
    const int64_t *stride = w->from->block->fields[w->field].stride;

    for (int d = 0; d < w->halo->dims; d++) {
        int k = d;
        for (; k > 0 && stride[piece->order[k - 1]] <= stride[d]; k--)
            piece->order[k] = piece->order[k - 1];
        piece->order[k] = (uint8_t)d;
    }
}

static ferry_status grow(halo_pieces *pieces)
{
    const size_t room = pieces->room ? 2 * pieces->room : 16;
    const ferry_status st = alloc_resize(room, sizeof *pieces->list, &pieces->list);

    if (st == FERRY_OK)
        pieces->room = room;
    return st;
}

static bool stands_still(const walk *w)
{
    for (int d = 0; d < w->halo->dims; d++)
        if (w->shift[d] != 0)
            return false;
    return w->from->rank == w->to->rank;
}

static ferry_status add_piece(walk *w)
{
    const ferry_halo_box giver = halo_array_box(w->from->block, w->field, w->halo->dims, true);
    halo_piece piece = {.from = w->from->rank, .to = w->to->rank, .field = w->field};

    if (stands_still(w)) /* what a rank owns needs nobody to fill it */
        return FERRY_OK;
    if (w->pieces->count == w->pieces->room) {
        const ferry_status st = grow(w->pieces);
        if (st != FERRY_OK)
            return st;
    }
    for (int d = 0; d < w->halo->dims; d++) {
        piece.target[d] = w->part.low[d] - w->array.low[d];
        piece.source[d] = w->part.low[d] - w->shift[d] - giver.low[d];
        piece.count[d] = w->part.high[d] - w->part.low[d];
    }
    fill_order(w, &piece);
    w->pieces->list[w->pieces->count++] = piece;
    return FERRY_OK;
}

static ferry_status walk_along(walk *w, int d, int steps);

/* The parts of low .. high below, in, and above the receiver's interior. */
static ferry_status split_along(walk *w, int d, int steps, int64_t low, int64_t high)
{
    const int64_t bounds[4] = {low, w->interior.low[d], w->interior.high[d], high};
    ferry_status st = FERRY_OK;

    for (int k = 0; st == FERRY_OK && k < 3; k++) {
        const int64_t from = k == 0 || bounds[k] < low ? low : bounds[k];
        const int64_t to = k == 2 || bounds[k + 1] > high ? high : bounds[k + 1];
        if (from >= to || steps + (k != 1) > halo_most_steps(w->halo))
            continue;
        w->part.low[d] = from;
        w->part.high[d] = to;
        st = walk_along(w, d + 1, steps + (k != 1));
    }
    return st;
}

static ferry_status walk_image(walk *w, int d, int steps, int64_t periods)
{
    const int64_t shift = periods * w->halo->total[d];
    const int64_t low = w->owned.low[d] + shift, high = w->owned.high[d] + shift;

    w->shift[d] = shift;
    w->part.low[d] = low > w->array.low[d] ? low : w->array.low[d];
    w->part.high[d] = high < w->array.high[d] ? high : w->array.high[d];
    if (w->part.low[d] >= w->part.high[d])
        return FERRY_OK;
    if (w->halo->corners == FERRY_HALO_ALL)
        return walk_along(w, d + 1, steps);
    return split_along(w, d, steps, w->part.low[d], w->part.high[d]);
}

static ferry_status walk_along(walk *w, int d, int steps)
{
    int64_t first, last;
    ferry_status st = FERRY_OK;

    if (d == w->halo->dims)
        return add_piece(w);
    halo_images(w->halo, d, &w->array, &w->owned, &first, &last);
    for (int64_t k = first; st == FERRY_OK && k <= last; k++)
        st = walk_image(w, d, steps, k);
    return st;
}

static ferry_status walk_between(ferry_halo *halo, const halo_partner *to, const halo_partner *from)
{
    ferry_status st = FERRY_OK;

    for (int f = 0; st == FERRY_OK && f < halo->field_count; f++) {
        walk w = {.halo = halo, .to = to, .from = from, .field = f, .pieces = &halo->pieces};
        w.array = halo_array_box(to->block, f, halo->dims, true);
        w.interior = halo_array_box(to->block, f, halo->dims, false);
        w.owned = halo_owned_box(halo, from->block, f);
        if (box_volume(halo->dims, &w.owned) > 0)
            st = walk_along(&w, 0, 0);
    }
    return st;
}

ferry_status halo_find_pieces(ferry_halo *halo, const halo_partners *partners)
{
    const halo_partner *me = &partners->list[0];

    if (halo->idle)
        return FERRY_OK;
    ferry_status st = walk_between(halo, me, me);
    for (size_t i = 1; st == FERRY_OK && i < partners->count; i++) {
        st = walk_between(halo, me, &partners->list[i]);
        if (st == FERRY_OK)
            st = walk_between(halo, &partners->list[i], me);
    }
    for (size_t i = 0; i < halo->pieces.count; i++)
        halo->moves |= (uint64_t)1 << halo->pieces.list[i].field;
    return st == FERRY_OK ? halo_check_filled(halo) : st;
}
