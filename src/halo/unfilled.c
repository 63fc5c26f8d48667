/* Look for ghosts inside of the domain that nobody fills. Pieces never overlap and never leave what
 * is wanted, so that counting is enough while all is well; only where numbers differ the place is
 * looked for. */
#include "base/trouble.h"
#include "halo/halo.h"

/* The ghosts of a field in one direction, at most `steps` dimensions away; code is -1, 0, 1 per
 * dimension to base 3. */
typedef struct region {
    ferry_halo_box box;
    int step[MAX_DIMS];
    int steps;
} region;

static region take_region(const ferry_halo *halo, int f, int code)
{
    const ferry_halo_box array = halo_array_box(halo->block, f, halo->dims, true);
    const ferry_halo_box interior = halo_array_box(halo->block, f, halo->dims, false);
    region r = {0};

    for (int d = 0; d < halo->dims; d++, code /= 3) {
        r.step[d] = code % 3 - 1;
        r.steps += r.step[d] != 0;
        r.box.low[d] = r.step[d] < 0   ? array.low[d]
                       : r.step[d] > 0 ? interior.high[d]
                                       : interior.low[d];
        r.box.high[d] = r.step[d] < 0   ? interior.low[d]
                        : r.step[d] > 0 ? array.high[d]
                                        : interior.high[d];
    }
    return r;
}

static ferry_halo_box target_box(const ferry_halo *halo, const halo_piece *piece)
{
    ferry_halo_box b = halo_array_box(halo->block, piece->field, halo->dims, true);

    for (int d = 0; d < halo->dims; d++) {
        b.low[d] += piece->target[d];
        b.high[d] = b.low[d] + piece->count[d];
    }
    return b;
}

static int64_t filled(const ferry_halo *halo, int f, const ferry_halo_box *box)
{
    const ferry_halo_box owned = halo_owned_box(halo, halo->block, f);
    ferry_halo_box common;
    int64_t volume =
        box_meet(halo->dims, box, &owned, &common) ? box_volume(halo->dims, &common) : 0;

    for (size_t i = 0; i < halo->pieces.count; i++) {
        const halo_piece *piece = &halo->pieces.list[i];
        if (piece->field != f || piece->to != halo->rank)
            continue;
        const ferry_halo_box target = target_box(halo, piece);
        if (box_meet(halo->dims, box, &target, &common))
            volume += box_volume(halo->dims, &common);
    }
    return volume;
}

static ferry_status unfilled(const ferry_halo *halo, int f, const region *r, int64_t want,
                             int64_t have)
{
    const int64_t *stagger = halo->block->fields[f].stagger;
    int d = 0;

    /* Without a step it is the shared value of a staggered field. */
    while (d < halo->dims - 1 && (r->steps ? r->step[d] : stagger[d]) == 0)
        d++;
    return trouble(
        FERRY_ERR_SHAPE,
        "ferry_halo_create: field %d on rank %d has %lld ghost cells inside of the domain on the "
        "%s side of dimension %d, but %lld of them are cells that no rank owns",
        f, halo->rank, (long long)want, r->step[d] < 0 ? "low" : "high", d,
        (long long)(want - have));
}

/* The part of a region that must have owners; false when there is none. */
static bool wanted(const ferry_halo *halo, int f, const region *r, ferry_halo_box *inside_out)
{
    const ferry_halo_box domain = halo_domain_box(halo, f);

    return r->steps <= halo_most_steps(halo) && box_meet(halo->dims, &r->box, &domain, inside_out);
}

static int directions(const ferry_halo *halo)
{
    int codes = 1;

    for (int d = 0; d < halo->dims; d++)
        codes *= 3;
    return codes;
}

static bool counts_match(const ferry_halo *halo, int f)
{
    const ferry_halo_box owned = halo_owned_box(halo, halo->block, f);
    int64_t missing = -box_volume(halo->dims, &owned);

    for (int code = 0; code < directions(halo); code++) {
        const region r = take_region(halo, f, code);
        ferry_halo_box inside;
        if (wanted(halo, f, &r, &inside))
            missing += box_volume(halo->dims, &inside);
    }
    for (size_t i = 0; i < halo->pieces.count; i++) {
        const halo_piece *piece = &halo->pieces.list[i];
        const ferry_halo_box target = target_box(halo, piece);
        if (piece->field == f && piece->to == halo->rank)
            missing -= box_volume(halo->dims, &target);
    }
    return missing == 0;
}

static ferry_status check_region(const ferry_halo *halo, int f, int code)
{
    const region r = take_region(halo, f, code);
    ferry_halo_box inside;

    if (!wanted(halo, f, &r, &inside))
        return FERRY_OK;
    const int64_t want = box_volume(halo->dims, &inside), have = filled(halo, f, &inside);
    return want == have ? FERRY_OK : unfilled(halo, f, &r, want, have);
}

ferry_status halo_check_filled(const ferry_halo *halo)
{
    ferry_status st = FERRY_OK;

    for (int f = 0; st == FERRY_OK && !halo->holes && f < halo->field_count; f++) {
        if (counts_match(halo, f))
            continue;
        for (int code = 0; st == FERRY_OK && code < directions(halo); code++)
            st = check_region(halo, f, code);
    }
    return st;
}
