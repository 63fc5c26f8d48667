/* Transpositions that share an output: the blocks that several peers send into one matrix, each
 * turned over, are one matrix of rows that lie at many places. Reading them together, whole lines
 * of the output are written at once. */
#ifndef ROUTE_TURNS_H
#define ROUTE_TURNS_H

#include "copy/copy.h"
#include "ferry/status.h"

/* One block of a table. */
typedef struct turn_part {
    size_t index; /* of the edge it comes from, whatever the caller counts */
    copy_turn turn;
    size_t first_row; /* of the table */
} turn_part;

/* Rows of one output, in order. */
typedef struct turn_table {
    size_t part_count, row_count;
    turn_part *parts;
    const char **rows; /* filled anew for each round */
    int buffer;        /* of the output */
} turn_table;

/* Make tables out of candidates (all for the same buffer): parts that follow one another in the
 * output join. Sorts the candidates. */
ferry_status turns_make(turn_part *candidates, size_t count, int buffer, turn_table **tables_out,
                        size_t *count_out);
void turns_drop(turn_table *tables, size_t count);

/* Point the rows of one part at a base address; then run when all parts are pointed. */
void turns_point(turn_table *table, const turn_part *part, const char *base);
void turns_run(const turn_table *table, char *dst);

#endif
