/* Inside of a transpose: the shares of this rank, and the plan that it was compiled to. */
#ifndef REDISTRIBUTE_TRANSPOSE_H
#define REDISTRIBUTE_TRANSPOSE_H

#include "ferry/context.h"
#include "ferry/redistribute.h"

/* What a rank says of a transpose; gathered from all. */
typedef struct transpose_record {
    int64_t rows, columns, element_bytes; /* of the whole: the same on all ranks */
    int64_t local_rows, local_columns;    /* resolved: never -1 */
} transpose_record;

struct ferry_transpose {
    ferry_plan *plan;
    transpose_record spec;
    int rank, size;
    int64_t first_row, first_column;
    int64_t src_bytes, dst_bytes; /* of this rank's dense arrays */
};

/* spec.c: check a spec and fill the transpose with it; not collective. */
ferry_status transpose_read_spec(const ferry_context *ctx, const ferry_transpose_spec *spec,
                                 ferry_transpose *transpose);

/* spec.c: do the specs of all ranks fit together? Finds the first row and column of this rank. */
ferry_status transpose_check_all(ferry_transpose *transpose, const transpose_record *all);

/* edges.c: compile the plan from the specs of all ranks; collective, agreed. */
ferry_status transpose_compile(ferry_context *ctx, ferry_transpose *transpose,
                               const transpose_record *all);

#endif
