/* Try a halo in memory of its own. What belongs into each cell is found the slow way, cell by cell
 * from the boxes of all ranks, so that a mistake in the pieces shows. Then every byte is compared,
 * also those that nobody may touch. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/trouble.h"
#include "halo/halo.h"

enum { GUARD = 64, UNTOUCHED = 0xa5, CELL_TEXT = 24 * MAX_DIMS };

typedef struct trial {
    const ferry_halo *halo;
    halo_record *records;
    void *fields[FERRY_PLAN_MAX_BUFFERS]; /* after the first guard */
    char *expected;                       /* likewise; as large as the largest field */
    int last_owner; /* of the last cell: neighbours in memory mostly have the same */
} trial;

/* One cell of an array. */
typedef struct cell {
    int field;
    int64_t index[MAX_DIMS]; /* in the array, ghosts included */
    int64_t place[MAX_DIMS]; /* in the domain */
    int owner;               /* -1: nobody, or not to be filled */
} cell;

static bool owns(const trial *t, int rank, const cell *c)
{
    const halo_record *r = &t->records[rank];

    for (int d = 0; d < t->halo->dims; d++) {
        const int64_t end = r->origin[d] + r->extent[d];
        const bool last = !t->halo->periodic[d] && end == t->halo->total[d] && r->extent[d] > 0;
        const int64_t faces = last ? t->halo->block->fields[c->field].stagger[d] : 0;
        if (c->place[d] < r->origin[d] || c->place[d] >= end + faces || r->extent[d] == 0)
            return false;
    }
    return true;
}

static int find_owner(trial *t, const cell *c)
{
    if (owns(t, t->last_owner, c))
        return t->last_owner;
    for (int r = 0; r < t->halo->size; r++)
        if (owns(t, r, c))
            return t->last_owner = r;
    return -1;
}

/* The place of a cell in the domain; tells along how many dimensions it lies outside of the
 * interior. */
static int place_cell(const trial *t, cell *c)
{
    const halo_field *field = &t->halo->block->fields[c->field];
    int steps = 0;

    for (int d = 0; d < t->halo->dims; d++) {
        const int64_t i = c->index[d] - field->ghost[d][0], total = t->halo->total[d];
        const int64_t extent = t->halo->block->extent[d];
        steps += i < 0 || i >= extent + field->stagger[d];
        c->place[d] = t->halo->block->origin[d] + i;
        if (t->halo->periodic[d] && total > 0)
            c->place[d] = ((c->place[d] % total) + total) % total;
    }
    return steps;
}

/* Is it one of this rank's own, and not a copy of one? */
static bool is_source(const trial *t, const cell *c)
{
    const halo_field *field = &t->halo->block->fields[c->field];

    for (int d = 0; d < t->halo->dims; d++)
        if (c->place[d] != t->halo->block->origin[d] + c->index[d] - field->ghost[d][0])
            return false;
    return owns(t, t->halo->rank, c);
}

static void find_cell(trial *t, cell *c)
{
    const int steps = place_cell(t, c);
    const bool filled = !t->halo->idle && steps <= halo_most_steps(t->halo);

    c->owner = filled ? find_owner(t, c) : -1;
}

static int64_t cell_offset(const trial *t, const cell *c)
{
    int64_t offset = 0;

    for (int d = 0; d < t->halo->dims; d++)
        offset += c->index[d] * t->halo->block->fields[c->field].stride[d];
    return offset;
}

static bool next_cell(const trial *t, cell *c)
{
    for (int d = 0; d < t->halo->dims; d++) {
        if (++c->index[d] < halo_cells(t->halo->block, c->field, d))
            return true;
        c->index[d] = 0;
    }
    return false;
}

/* The number of a value: of its owner, field and place. */
static void write_code(const trial *t, const cell *c, char *at)
{
    const int64_t bytes = t->halo->block->fields[c->field].element_bytes;
    uint64_t code = (uint64_t)c->owner * FERRY_PLAN_MAX_BUFFERS + (uint64_t)c->field + 1;

    for (int d = 0; d < t->halo->dims; d++)
        code = (code ^ (code >> 29) ^ (uint64_t)c->place[d]) * 0x9e3779b97f4a7c15u;
    for (int64_t b = 0; b < bytes; b++) {
        if (b % 4 == 0)
            code = (code ^ (code >> 31)) * 0xbf58476d1ce4e5b9u;
        at[b] = (char)(code >> (32 + 8 * (b % 4)));
    }
}

/* Fill a field as it is before an exchange, or as it must be afterwards. */
static void paint(trial *t, int f, bool after, char *array)
{
    const int64_t bytes = halo_field_size(t->halo->block, f, t->halo->dims);
    cell c = {.field = f};

    memset(array - GUARD, UNTOUCHED, (size_t)bytes + 2 * GUARD);
    if (bytes == 0)
        return;
    do {
        find_cell(t, &c);
        if (c.owner >= 0 && (after || is_source(t, &c)))
            write_code(t, &c, array + cell_offset(t, &c));
    } while (next_cell(t, &c));
}

/* --- what is wrong ------------------------------------------------------------------------ */

static void print_cell(const trial *t, const cell *c, char text[CELL_TEXT])
{
    size_t used = 0;

    for (int d = 0; d < t->halo->dims && used < CELL_TEXT; d++)
        used += (size_t)snprintf(
            text + used, CELL_TEXT - used, "%s%lld", d ? ", " : "",
            (long long)(c->index[d] - t->halo->block->fields[c->field].ghost[d][0]));
}

static void print_side(const trial *t, const cell *c, char *text, size_t bytes)
{
    const halo_block *block = t->halo->block;

    snprintf(text, bytes, "in the interior");
    for (int d = t->halo->dims - 1; d >= 0; d--) {
        const int64_t i = c->index[d] - block->fields[c->field].ghost[d][0];
        if (i < 0 || i >= block->extent[d])
            snprintf(text, bytes, "on the %s side of dimension %d", i < 0 ? "low" : "high", d);
    }
}

static ferry_status wrong_cell(const trial *t, const cell *c, int64_t byte, const char *array)
{
    const int64_t at = cell_offset(t, c) + byte;
    char place[CELL_TEXT] = "", side[48], owner[48] = "what was there before";

    print_cell(t, c, place);
    print_side(t, c, side, sizeof side);
    if (c->owner >= 0)
        snprintf(owner, sizeof owner, "from rank %d", c->owner);
    return trouble(
        FERRY_ERR_DELIVERY,
        "ferry_halo_check: field %d, cell (%s) %s of rank %d: byte %lld is %02x, expected %02x, %s",
        c->field, place, side, t->halo->rank, (long long)byte, (unsigned char)array[at],
        (unsigned char)t->expected[at], owner);
}

static ferry_status wrong_byte(trial *t, int f, int64_t at, const char *array)
{
    const int64_t element = t->halo->block->fields[f].element_bytes;
    cell c = {.field = f};

    if (at >= 0 && at < halo_field_size(t->halo->block, f, t->halo->dims))
        do {
            const int64_t offset = cell_offset(t, &c);
            if (at < offset || at >= offset + element)
                continue;
            find_cell(t, &c);
            return wrong_cell(t, &c, at - offset, array);
        } while (next_cell(t, &c));
    return trouble(FERRY_ERR_DELIVERY,
                   "ferry_halo_check: field %d of rank %d: byte %lld of its array belongs to no "
                   "cell, but was written",
                   f, t->halo->rank, (long long)at);
}

static ferry_status verify_field(trial *t, int f)
{
    const int64_t bytes = halo_field_size(t->halo->block, f, t->halo->dims);
    const char *array = t->fields[f];

    paint(t, f, true, t->expected);
    if (memcmp(array - GUARD, t->expected - GUARD, (size_t)bytes + 2 * GUARD) == 0)
        return FERRY_OK;
    int64_t at = -GUARD;
    while (array[at] == t->expected[at])
        at++;
    return wrong_byte(t, f, at, array);
}

/* --- all of it ---------------------------------------------------------------------------- */

static ferry_status take(int64_t bytes, void *pointer_out)
{
    char *memory = NULL;
    const ferry_status st = alloc_zero((size_t)bytes + 2 * GUARD, 1, &memory);

    if (st == FERRY_OK)
        *(char **)pointer_out = memory + GUARD;
    return st;
}

static void give(void *array)
{
    if (array)
        alloc_free((char *)array - GUARD);
}

static ferry_status take_arrays(trial *t)
{
    int64_t most = 0;
    ferry_status st = FERRY_OK;

    for (int f = 0; st == FERRY_OK && f < t->halo->field_count; f++) {
        const int64_t bytes = halo_field_size(t->halo->block, f, t->halo->dims);
        most = bytes > most ? bytes : most;
        st = take(bytes, &t->fields[f]);
    }
    return st == FERRY_OK ? take(most, &t->expected) : st;
}

static ferry_status exchange(ferry_halo *halo, trial *t)
{
    ferry_status st = FERRY_OK;

    for (int f = 0; f < halo->field_count; f++)
        paint(t, f, false, t->fields[f]);
    st = ferry_halo_exchange(halo, t->fields);
    for (int f = 0; st == FERRY_OK && f < halo->field_count; f++)
        st = verify_field(t, f);
    return st;
}

static ferry_status check_idle(ferry_halo *halo)
{
    int done = 0;
    const ferry_status st = ferry_plan_test(halo->plan, &done);

    if (st == FERRY_OK && !done)
        return trouble(FERRY_ERR_STATE, "ferry_halo_check: a round is under way on rank %d",
                       halo->rank);
    return st;
}

ferry_status ferry_halo_check(ferry_halo *halo)
{
    trial t = {.halo = halo};

    if (!halo)
        return trouble(FERRY_ERR_ARG, "ferry_halo_check: halo is NULL");
    ferry_status st = ferry_context_agree(halo->ctx, check_idle(halo));
    if (st == FERRY_OK)
        st = halo_gather(halo, &t.records);
    if (st != FERRY_OK)
        return st;
    t.last_owner = halo->rank;
    st = ferry_context_agree(halo->ctx, take_arrays(&t));
    if (st == FERRY_OK)
        st = ferry_context_agree(halo->ctx, exchange(halo, &t));
    for (int f = 0; f < halo->field_count; f++)
        give(t.fields[f]);
    give(t.expected);
    alloc_free(t.records);
    return st;
}
