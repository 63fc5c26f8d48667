/* Exchanges of datatypes against MPI_Sendrecv itself. */
#include "ferry/exchange.h"
#include "mpi/support.h"

enum { BYTES = 200000, ROUNDS = 2, KINDS = 6 };

/* Pairs of types with one signature, `doubles` doubles in an element of the first: dense, a column, a list, a box, a
 * structure with a gap, the columns of a matrix. Counts are chosen so that both hold as many. */
static MPI_Datatype make_type(int kind, int *doubles_out)
{
    MPI_Datatype type, part;
    int blocks[40], places[40];

    switch (kind) {
    case 0:
        MPI_Type_contiguous(1, MPI_DOUBLE, &type);
        *doubles_out = 1;
        break;
    case 1:
        MPI_Type_vector(60, 1, 7, MPI_DOUBLE, &type);
        *doubles_out = 60;
        break;
    case 2:
        for (int i = 0; i < 40; i++) {
            blocks[i] = i % 2 + 1;
            places[i] = (i * 7) % 40 * 5;
        }
        MPI_Type_indexed(40, blocks, places, MPI_DOUBLE, &type);
        *doubles_out = 60;
        break;
    case 3:
        MPI_Type_create_subarray(3, (int[]){5, 6, 9}, (int[]){3, 4, 5}, (int[]){1, 2, 3}, MPI_ORDER_C, MPI_DOUBLE, &type);
        *doubles_out = 60;
        break;
    case 4:
        MPI_Type_create_resized(MPI_DOUBLE, -8, 24, &type);
        *doubles_out = 1;
        break;
    default:
        MPI_Type_vector(6, 1, 10, MPI_DOUBLE, &part);
        MPI_Type_create_resized(part, 0, 8, &type);
        MPI_Type_free(&part);
        *doubles_out = 6;
    }
    MPI_Type_commit(&type);
    return type;
}

static void fill(char *data, int seed)
{
    for (int i = 0; i < BYTES; i++)
        data[i] = (char)(i * 31 + seed * 17 + i / 251);
}

/* Every rank sends to the one `step` behind it. */
static void one_pair(ferry_context *ctx, int rank, int size, int step, const int kinds[2])
{
    int doubles[2];
    MPI_Datatype sent = make_type(kinds[0], &doubles[0]), received = make_type(kinds[1], &doubles[1]);
    ferry_exchange_spec spec = FERRY_EXCHANGE_SPEC_INIT;
    ferry_plan *plan = NULL;
    char *const src = malloc(BYTES), *const dst = malloc(BYTES), *const expected = malloc(BYTES);
    enum { MARGIN = 64 }; /* types may begin before their buffers */

    spec.to = (rank + step) % size;
    spec.from = (rank - step + size) % size;
    spec.send_count = 60 / doubles[0];
    spec.recv_count = 60 / doubles[1];
    spec.send_type = sent;
    spec.recv_type = received;
    spec.tag = step;
    CHECK_OK(ferry_exchange_create(ctx, &spec, &plan));
    for (int round = 0; round < ROUNDS && plan; round++) {
        fill(src, rank + 100 * round);
        fill(dst, 50);
        fill(expected, 50);
        MPI_Sendrecv(src + MARGIN, (int)spec.send_count, sent, spec.to, step, expected + MARGIN, (int)spec.recv_count, received,
                     spec.from, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_OK(ferry_plan_start(plan, src + MARGIN, dst + MARGIN));
        CHECK_OK(ferry_plan_wait(plan));
        CHECK(memcmp(dst, expected, BYTES) == 0);
    }
    MPI_Type_free(&sent);
    MPI_Type_free(&received);
    ferry_plan_free(plan);
    free(src);
    free(dst);
    free(expected);
}

/* A line of ranks: the first receives nothing, the last sends nothing. */
static void check_line(ferry_context *ctx, int rank, int size)
{
    ferry_exchange_spec spec = FERRY_EXCHANGE_SPEC_INIT;
    ferry_plan *plan = NULL;
    const int mine[2] = {rank, -rank};
    int got[2] = {77, 78};

    spec.to = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    spec.from = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    spec.send_count = spec.recv_count = 2;
    spec.send_type = spec.recv_type = MPI_INT;
    CHECK_OK(ferry_exchange_create(ctx, &spec, &plan));
    CHECK_OK(ferry_plan_start(plan, mine, got));
    CHECK_OK(ferry_plan_wait(plan));
    CHECK_EQ_INT(got[0], rank > 0 ? rank - 1 : 77);
    CHECK_EQ_INT(got[1], rank > 0 ? 1 - rank : 78);
    ferry_plan_free(plan);
}

static void refused(ferry_context *ctx, const ferry_exchange_spec *spec, ferry_status status, const char *words)
{
    ferry_plan *plan = NULL;

    CHECK_EQ_INT(ferry_exchange_create(ctx, spec, &plan), status);
    CHECK_DETAIL(words);
    check_same_detail();
    CHECK(plan == NULL);
}

static void check_refusals(ferry_context *ctx, int rank, int size)
{
    ferry_exchange_spec spec;
#define BAD(change, status, words)                                                                              \
    do {                                                                                                        \
        spec = (ferry_exchange_spec){sizeof spec, (rank + 1) % size, 3,       MPI_DOUBLE, (rank + size - 1) % size, \
                                     3,           MPI_DOUBLE,        5};                                        \
        if (rank == 0) {                                                                                        \
            change;                                                                                             \
        }                                                                                                       \
        refused(ctx, &spec, status, words);                                                                     \
    } while (0)
    BAD(spec.size = 1, FERRY_ERR_ARG, "ferry_exchange_create on rank 0: spec->size is 1");
    BAD(spec.to = size, FERRY_ERR_ARG, "to is");
    BAD(spec.from = -99, FERRY_ERR_ARG, "from is -99, expected 0..");
    BAD(spec.send_count = -1, FERRY_ERR_ARG, "send_count is -1, expected >= 0");
    BAD(spec.recv_type = MPI_DATATYPE_NULL, FERRY_ERR_ARG, "recv_type: ferry_layout_from_datatype: type is MPI_DATATYPE_NULL");
    BAD(spec.tag = -1, FERRY_ERR_ARG, "tag is -1");
    BAD(spec.recv_count = 4, FERRY_ERR_SHAPE, "3 elements of 8 bytes, rank 0 takes 4 of 8 bytes");
    BAD(spec.recv_type = MPI_FLOAT, FERRY_ERR_SHAPE, "3 elements of 8 bytes, rank 0 takes 3 of 4 bytes");
    if (size > 1) {
        BAD(spec.to = 0, FERRY_ERR_ARG, "what a rank sends to itself it receives from itself");
        BAD(spec.from = MPI_PROC_NULL, FERRY_ERR_SHAPE, "rank");
        BAD(spec.tag = 6, FERRY_ERR_SHAPE, "tag");
    }
#undef BAD
    refused(ctx, NULL, FERRY_ERR_ARG, "ferry_exchange_create: spec is NULL on rank 0");
    CHECK_EQ_INT(ferry_exchange_create(ctx, &spec, NULL), FERRY_ERR_ARG);
    CHECK_DETAIL("plan_out is NULL");
    CHECK_EQ_INT(ferry_exchange_create(NULL, &spec, NULL), FERRY_ERR_ARG);
}

void check_exchange(ferry_context *ctx)
{
    ferry_context_info info;

    CHECK_OK(ferry_context_describe(ctx, &info));
    for (int a = 0; a < KINDS; a++) { /* each as source and as target */
        one_pair(ctx, info.rank, info.size, a % info.size, (const int[]){a, (a + 1) % KINDS});
        one_pair(ctx, info.rank, info.size, 1 % info.size, (const int[]){a, (a + 4) % KINDS});
    }
    check_line(ctx, info.rank, info.size);
    check_refusals(ctx, info.rank, info.size);
}
