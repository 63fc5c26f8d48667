/* Who shares pieces with this rank. A rank whose array, as far as its widest field reaches, touches
 * my block or the other way round is a partner, and I am one of its partners: both come to the same
 * result from the same records. The blocks of partners, with all their fields, are then fetched and
 * compared. */
#include "base/alloc.h"
#include "base/trouble.h"
#include "halo/halo.h"

/* Does `array` touch `block`, moved by some periods? */
static bool touches(const ferry_halo *halo, const ferry_halo_box *array,
                    const ferry_halo_box *block)
{
    for (int d = 0; d < halo->dims; d++) {
        int64_t first, last;
        if (block->low[d] >= block->high[d])
            return false;
        halo_images(halo, d, array, block, &first, &last);
        if (first > last)
            return false;
        if (!halo->periodic[d] &&
            (array->low[d] >= block->high[d] || block->low[d] >= array->high[d]))
            return false;
    }
    return true;
}

/* The last face of a domain is owned beyond the last cell. */
static ferry_halo_box widest_box(const ferry_halo *halo, const halo_record *r)
{
    ferry_halo_box b = halo_record_box(r, halo->dims, false);

    for (int d = 0; d < halo->dims; d++)
        if (!halo->periodic[d] && r->extent[d] > 0 && b.high[d] == halo->total[d])
            b.high[d]++;
    return b;
}

static bool reaches(const ferry_halo *halo, const halo_record *to, const halo_record *from)
{
    const ferry_halo_box array = halo_record_box(to, halo->dims, true),
                         block = widest_box(halo, from);

    return touches(halo, &array, &block);
}

static bool is_partner(const ferry_halo *halo, const halo_record *records, int r)
{
    const halo_record *mine = &records[halo->rank];

    return !halo->idle && r != halo->rank &&
           (reaches(halo, mine, &records[r]) || reaches(halo, &records[r], mine));
}

static ferry_status list_partners(const ferry_halo *halo, const halo_record *records,
                                  halo_partners *partners)
{
    const size_t bytes = halo_block_bytes(halo);
    size_t count = 1;

    for (int r = 0; r < halo->size; r++)
        count += is_partner(halo, records, r);
    ferry_status st = alloc_zero(count, sizeof *partners->list, &partners->list);
    if (st == FERRY_OK)
        st = alloc_zero(count - 1, bytes, &partners->blocks);
    if (st != FERRY_OK)
        return st;
    partners->list[0] = (halo_partner){halo->rank, halo->block};
    partners->count = 1;
    for (int r = 0; r < halo->size; r++)
        if (is_partner(halo, records, r)) {
            const void *block = (char *)partners->blocks + (partners->count - 1) * bytes;
            partners->list[partners->count++] = (halo_partner){r, block};
        }
    return FERRY_OK;
}

/* --- fetch their blocks ------------------------------------------------------------------- */

static void free_targets(const ferry_edge *edges, size_t count)
{
    for (size_t i = 0; edges && i < count; i++)
        ferry_layout_free((ferry_layout *)edges[i].target);
}

/* Two edges with each partner: my block there, its block here. */
static ferry_status make_edges(const ferry_halo *halo, const halo_partners *partners,
                               const ferry_layout *mine, ferry_edge *edges)
{
    const int64_t bytes = (int64_t)halo_block_bytes(halo);
    ferry_status st = FERRY_OK;

    for (size_t i = 1; st == FERRY_OK && i < partners->count; i++) {
        ferry_edge *pair = &edges[2 * (i - 1)];
        ferry_layout *theirs = NULL;
        st = ferry_layout_dense(bytes, 1, (int64_t)(i - 1) * bytes, &theirs);
        pair[0] = pair[1] = (ferry_edge)FERRY_EDGE_INIT;
        pair[0].from = pair[1].to = partners->list[i].rank;
        pair[0].to = pair[1].from = halo->rank;
        pair[0].target = theirs;
        pair[1].source = mine;
    }
    return st;
}

static ferry_status run_once(const ferry_halo *halo, const ferry_edge *edges, size_t count,
                             void *blocks)
{
    ferry_plan *plan = NULL;
    ferry_status st = ferry_plan_compile(halo->ctx, edges, count, &plan);

    if (st != FERRY_OK)
        return st;
    if (count > 0)
        st = ferry_plan_start(plan, halo->block, blocks);
    if (st == FERRY_OK)
        st = ferry_plan_wait(plan);
    st = ferry_context_agree(halo->ctx, st);
    ferry_plan_free(plan);
    return st;
}

static ferry_status fetch_blocks(const ferry_halo *halo, const halo_partners *partners,
                                 ferry_status st)
{
    const size_t count = st == FERRY_OK ? 2 * (partners->count - 1) : 0;
    ferry_layout *mine = NULL;
    ferry_edge *edges = NULL;

    if (st == FERRY_OK)
        st = alloc_zero(count, sizeof *edges, &edges);
    if (st == FERRY_OK)
        st = ferry_layout_dense((int64_t)halo_block_bytes(halo), 1, 0, &mine);
    if (st == FERRY_OK)
        st = make_edges(halo, partners, mine, edges);
    st = ferry_context_agree(halo->ctx, st); /* every rank passes here, also one without memory */
    if (st == FERRY_OK)
        st = run_once(halo, edges, count, partners->blocks);
    free_targets(edges, count);
    alloc_free(edges);
    ferry_layout_free(mine);
    return st;
}

/* --- compare ------------------------------------------------------------------------------ */

static ferry_status compare_field(const ferry_halo *halo, const halo_partner *p, int f)
{
    const halo_field *mine = &halo->block->fields[f], *theirs = &p->block->fields[f];

    if (mine->element_bytes != theirs->element_bytes)
        return trouble(FERRY_ERR_ARG,
                       "ferry_halo_create: element_bytes of field %d is %lld on rank %d but %lld "
                       "on rank %d, expected the same",
                       f, (long long)mine->element_bytes, halo->rank,
                       (long long)theirs->element_bytes, p->rank);
    for (int d = 0; d < halo->dims; d++)
        if (mine->stagger[d] != theirs->stagger[d])
            return trouble(FERRY_ERR_ARG,
                           "ferry_halo_create: stagger[%d] of field %d is %lld on rank %d but %lld "
                           "on rank %d, expected the same",
                           d, f, (long long)mine->stagger[d], halo->rank,
                           (long long)theirs->stagger[d], p->rank);
    return FERRY_OK;
}

static ferry_status compare_fields(const ferry_halo *halo, const halo_partners *partners)
{
    ferry_status st = FERRY_OK;

    for (size_t i = 1; st == FERRY_OK && i < partners->count; i++)
        for (int f = 0; st == FERRY_OK && f < halo->field_count; f++)
            st = compare_field(halo, &partners->list[i], f);
    return st;
}

static void set_origins(const ferry_halo *halo, const halo_record *records, halo_partners *partners)
{
    for (size_t i = 1; i < partners->count; i++) {
        halo_block *block =
            (halo_block *)((char *)partners->blocks + (i - 1) * halo_block_bytes(halo));
        for (int d = 0; d < halo->dims; d++)
            block->origin[d] = records[partners->list[i].rank].origin[d];
    }
}

ferry_status halo_find_partners(ferry_halo *halo, const halo_record *records,
                                halo_partners *partners_out)
{
    halo_partners partners = {0};
    ferry_status st = list_partners(halo, records, &partners);

    st = fetch_blocks(halo, &partners, st);
    if (st == FERRY_OK)
        st = compare_fields(halo, &partners);
    if (st != FERRY_OK) {
        halo_drop_partners(&partners);
        return st;
    }
    set_origins(halo, records, &partners);
    *partners_out = partners;
    return FERRY_OK;
}

void halo_drop_partners(halo_partners *partners)
{
    alloc_free(partners->list);
    alloc_free(partners->blocks);
    *partners = (halo_partners){0};
}
