/* Tables of rows over several blocks: see turns.h. */
#include "route/turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static int by_output(const void *a, const void *b)
{
    const turn_part *const x = a, *const y = b;

    return (x->turn.dst_offset > y->turn.dst_offset) - (x->turn.dst_offset < y->turn.dst_offset);
}

/* Does `next` continue the rows of the output where `last` ends? */
static bool continues(const copy_turn *last, const copy_turn *next)
{
    return last->element == next->element && last->columns == next->columns &&
           last->dst_stride == next->dst_stride &&
           next->dst_offset == last->dst_offset + (int64_t)(last->rows * last->element);
}

static ferry_status fill(turn_table *table, const turn_part *parts, size_t count, int buffer)
{
    ferry_status st = alloc_zero(count, sizeof *table->parts, &table->parts);

    table->buffer = buffer;
    if (st != FERRY_OK)
        return st;
    memcpy(table->parts, parts, count * sizeof *parts);
    table->part_count = count;
    for (size_t i = 0; i < count; i++) {
        table->parts[i].first_row = table->row_count;
        table->row_count += parts[i].turn.rows;
    }
    return alloc_zero(table->row_count, sizeof *table->rows, &table->rows);
}

ferry_status turns_make(turn_part *candidates, size_t count, int buffer, turn_table **tables_out,
                        size_t *count_out)
{
    turn_table *tables = NULL;
    size_t made = 0;
    ferry_status st = alloc_zero(count, sizeof *tables, &tables);

    if (count)
        qsort(candidates, count, sizeof *candidates, by_output);
    for (size_t first = 0, next; first < count && st == FERRY_OK; first = next) {
        for (next = first + 1;
             next < count && continues(&candidates[next - 1].turn, &candidates[next].turn); next++)
            ;
        st = fill(&tables[made++], candidates + first, next - first, buffer);
    }
    if (st != FERRY_OK) {
        turns_drop(tables, made);
        return st;
    }
    *tables_out = tables;
    *count_out = made;
    return FERRY_OK;
}

void turns_drop(turn_table *tables, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        alloc_free(tables[i].parts);
        alloc_free(tables[i].rows);
    }
    alloc_free(tables);
}

void turns_point(turn_table *table, const turn_part *part, const char *base)
{
    const char *at = base + part->turn.src_offset;

    for (size_t r = 0; r < part->turn.rows; r++, at += part->turn.src_stride)
        table->rows[part->first_row + r] = at;
}

void turns_run(const turn_table *table, char *dst)
{
    const copy_turn *const first = &table->parts[0].turn;

    copy_turn_run(table->rows, table->row_count, first->columns, first->element,
                  dst + first->dst_offset, first->dst_stride);
}
