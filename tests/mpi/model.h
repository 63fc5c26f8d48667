/* Random exchanges that all ranks draw alike, and what they must give. The model walks over elements one by
 * one and knows nothing of how the library describes or moves them. */
#ifndef TESTS_MPI_MODEL_H
#define TESTS_MPI_MODEL_H

#include "ferry/plan.h"
#include "mpi/support.h"

enum { MODEL_DIMS = 3, MODEL_BUFFERS = 3, MODEL_EDGES = 24, MODEL_RANKS = 16, MODEL_BYTES = 512 << 10 };

typedef enum model_kind { MODEL_DENSE, MODEL_STRIDED, MODEL_BOX, MODEL_INDEXED, MODEL_KINDS } model_kind;

/* Where the elements of an edge lie at one end. */
typedef struct model_side {
    model_kind kind;
    int dims, buffer;
    int64_t counts[MODEL_DIMS], strides[MODEL_DIMS];
    int64_t sizes[MODEL_DIMS], starts[MODEL_DIMS]; /* of a box */
    int64_t offset;
    int64_t factor, elements; /* of an index list: element i is where i * factor modulo elements would be */
} model_side;

typedef struct model_edge {
    int from, to, tag;
    int64_t element, elements;
    model_side source, target;
} model_edge;

/* One exchange; the same on all ranks. */
typedef struct model {
    int rank, size, count;
    model_edge edges[MODEL_EDGES];
    int64_t read[MODEL_BUFFERS];                  /* bytes from the base that this rank's sources may touch */
    int64_t used[MODEL_RANKS][MODEL_BUFFERS];     /* bytes taken by targets so far */
} model;

/* Draw an exchange of up to `most` edges. */
void model_draw(model *m, check_rng *rng, int rank, int size, int most);

/* Compile this rank's part. */
ferry_plan *model_compile(const model *m, ferry_context *ctx);

/* The content of a source buffer in a round, and of a target buffer after it. Bytes that nothing may touch
 * hold a pattern. */
void model_fill_source(const model *m, int buffer, unsigned round, char *data);
void model_fill_target(const model *m, int buffer, char *data);
bool model_source_is_whole(const model *m, int buffer, unsigned round, const char *data);
bool model_target_is_right(const model *m, int buffer, unsigned round, const char *data, char *scratch);

#endif
