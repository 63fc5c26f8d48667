/* Explain a halo to people. */
#include "base/size.h"
#include "base/text.h"
#include "halo/halo.h"

static void explain_side(const ferry_halo *halo, int d, int side, text_out *out)
{
    int step[MAX_DIMS] = {0};

    step[d] = side ? 1 : -1;
    const int rank = halo_rank_at(halo, step);
    text_add(out, ", %s neighbour ", side ? "high" : "low");
    if (rank < 0)
        text_add(out, "none");
    else
        text_add(out, "rank %d", rank);
}

static void explain_dimension(const ferry_halo *halo, int d, text_out *out)
{
    const int64_t first = halo->block->origin[d];

    text_add(out, "  dimension %d: %lld cells, from %lld of %lld%s", d,
             (long long)halo->block->extent[d], (long long)first, (long long)halo->total[d],
             halo->periodic[d] ? " (periodic)" : "");
    if (halo->blocks == FERRY_HALO_GRID) {
        text_add(out, ", block %d of %d", halo->place[d], halo->grid[d]);
        explain_side(halo, d, 0, out);
        explain_side(halo, d, 1, out);
    }
    text_add(out, "\n");
}

static void explain_pieces(const ferry_halo *halo, text_out *out)
{
    size_t got = 0, given = 0;

    for (size_t i = 0; i < halo->pieces.count; i++) {
        got += halo->pieces.list[i].to == halo->rank;
        given += halo->pieces.list[i].from == halo->rank;
    }
    text_add(out, "  pieces: %zu arrive, %zu are given\n", got, given);
}

static void explain_field(const ferry_halo *halo, int f, text_out *out)
{
    const halo_field *field = &halo->block->fields[f];

    text_add(out, "  field %d: %lld B a cell, ghosts", f, (long long)field->element_bytes);
    for (int d = 0; d < halo->dims; d++)
        text_add(out, " %lld/%lld%s", (long long)field->ghost[d][0], (long long)field->ghost[d][1],
                 field->stagger[d] ? " (faces)" : "");
    text_add(out, ", array ");
    text_bytes(out, (uint64_t)halo_field_size(halo->block, f, halo->dims));
    text_add(out, "\n");
}

size_t ferry_halo_explain(const ferry_halo *halo, char *text, size_t bytes)
{
    static const char *const corners[] = {"faces", "faces and edges", "faces, edges and corners"};
    text_out out = {.at = text, .room = bytes};

    if (!halo) {
        text_add(&out, "none");
        return out.needed;
    }
    text_add(&out, "halo of rank %d: %s%s\n", halo->rank, corners[halo->corners],
             halo->blocks == FERRY_HALO_BOXES ? ", explicit boxes" : "");
    for (int d = 0; d < halo->dims; d++)
        explain_dimension(halo, d, &out);
    for (int f = 0; f < halo->field_count; f++)
        explain_field(halo, f, &out);
    explain_pieces(halo, &out);
    halo_explain_plan(halo->plan, &out);
    if (halo->reverse.plan) {
        text_add(&out, "reverse:\n");
        halo_explain_plan(halo->reverse.plan, &out);
    }
    return out.needed;
}
