/* The way back of halos. Who is whose ghost is found by the way there, with numbers that tell owner and place; then each
 * owner adds up what all ranks' ghosts hold. Sums of floating point numbers depend on their order: they must be the same
 * in every repetition and on every route. */
#include "ferry/halo.h"
#include "mpi/support.h"

enum { DIMS = 3, TRIALS = 6, MOST_VALUES = 20000, FIELDS = 2, PER_RANK = 1 << 20 };

typedef struct trial {
    int rank, size;
    ferry_halo_spec spec;
    ferry_halo_field fields[FIELDS];
    ferry_halo *halo;
    int64_t values; /* of one array; both fields have the same shape */
    int64_t *ids, *integers, *before;
    double *reals;
} trial;

/* A grid of ranks with uneven blocks, some of them thin, so that ghosts reach further. */
static void draw(trial *t, check_rng *rng)
{
    int rest = t->size, place = t->rank, stride = t->size;

    t->spec = (ferry_halo_spec)FERRY_HALO_SPEC_INIT;
    t->spec.dims = (int)check_between(rng, 1, DIMS);
    t->spec.corners = (ferry_halo_corners)check_between(rng, 0, 2);
    t->spec.field_count = FIELDS;
    t->spec.fields = t->fields;
    for (int f = 0; f < FIELDS; f++) {
        t->fields[f] = (ferry_halo_field)FERRY_HALO_FIELD_INIT;
        t->fields[f].element_bytes = 8;
    }
    for (int d = 0; d < t->spec.dims; d++) {
        int ranks = rest;
        while (d < t->spec.dims - 1 && (rest % ranks != 0 || check_between(rng, 0, 1)))
            ranks = ranks > 1 ? ranks - 1 : rest;
        rest /= ranks;
        stride /= ranks;
        t->spec.grid[d] = ranks;
        t->spec.periodic[d] = (int)check_between(rng, 0, 1);
        t->spec.ghost[d][0] = check_between(rng, 0, 3);
        t->spec.ghost[d][1] = check_between(rng, 0, 3);
        const int stagger = check_between(rng, 0, 3) == 0;
        for (int f = 0; f < FIELDS; f++)
            t->fields[f].stagger[d] = stagger;
        for (int k = 0; k < ranks; k++) {
            const int64_t extent = check_between(rng, 1, 6);
            if (k == place / stride)
                t->spec.extent[d] = extent;
        }
        place %= stride;
    }
}

/* Mark what this rank owns with rank and place, everything else with -1. */
static void mark(const trial *t)
{
    int64_t offset, strides[DIMS], index[DIMS] = {0};
    ferry_halo_box box;

    for (int64_t i = 0; i < t->values; i++)
        t->ids[i] = -1;
    CHECK_OK(ferry_halo_interior(t->halo, 0, &offset, strides));
    CHECK_OK(ferry_halo_owned(t->halo, 0, &box));
    for (int d = 0; d < t->spec.dims; d++) {
        index[d] = box.low[d];
        if (box.low[d] == box.high[d])
            return;
    }
    for (int d = 0; d < t->spec.dims;) {
        int64_t at = offset;
        for (int k = 0; k < t->spec.dims; k++)
            at += index[k] * strides[k];
        t->ids[at / 8] = (int64_t)t->rank * PER_RANK + at / 8;
        for (d = 0; d < t->spec.dims && ++index[d] == box.high[d]; d++)
            index[d] = box.low[d];
    }
}

static void fill(const trial *t)
{
    check_rng rng = {(uint64_t)t->rank + 17};

    for (int64_t i = 0; i < t->values; i++) {
        t->before[i] = t->integers[i] = check_between(&rng, -1000000, 1000000);
        t->reals[i] = (double)check_between(&rng, -1000000, 1000000) / 3.0;
    }
}

typedef struct copy {
    int64_t id, value;
} copy;

/* All copies that are no owners themselves, of all ranks. */
static copy *gather(const trial *t, int *count_out)
{
    copy *const mine = malloc((size_t)(t->values + 1) * sizeof *mine), *all;
    int count = 0, total = 0, counts[64], starts[64];

    for (int64_t i = 0; i < t->values; i++)
        if (t->ids[i] >= 0 && t->ids[i] != (int64_t)t->rank * PER_RANK + i)
            mine[count++] = (copy){t->ids[i], t->before[i]};
    count *= (int)sizeof *mine;
    MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < t->size; r++) {
        starts[r] = total;
        total += counts[r];
    }
    all = malloc((size_t)total + 1);
    MPI_Allgatherv(mine, count, MPI_BYTE, all, counts, starts, MPI_BYTE, MPI_COMM_WORLD);
    free(mine);
    *count_out = total / (int)sizeof *all;
    return all;
}

static void check_integers(const trial *t, ferry_op op, const copy *copies, int count)
{
    int64_t *const expected = malloc((size_t)t->values * sizeof *expected);

    memcpy(expected, t->before, (size_t)t->values * sizeof *expected);
    for (int i = 0; i < count; i++) {
        int64_t *const at = &expected[copies[i].id % PER_RANK];
        if (copies[i].id / PER_RANK != t->rank)
            continue;
        if (op == FERRY_OP_SUM)
            *at += copies[i].value;
        else if ((op == FERRY_OP_MIN) == (copies[i].value < *at))
            *at = copies[i].value;
    }
    CHECK(memcmp(expected, t->integers, (size_t)t->values * sizeof *expected) == 0);
    free(expected);
}

/* The last one is one of them. */
static void check_last(const trial *t, const copy *copies, int count)
{
    size_t wrong = 0;

    for (int64_t i = 0; i < t->values; i++) {
        int any = 0, found = 0;
        for (int k = 0; k < count && t->ids[i] == (int64_t)t->rank * PER_RANK + i; k++)
            if (copies[k].id == t->ids[i]) {
                any = 1;
                found |= copies[k].value == t->integers[i];
            }
        wrong += any ? !found : t->integers[i] != t->before[i];
    }
    CHECK_EQ_INT(wrong, 0);
}

static uint64_t digest(const trial *t)
{
    uint64_t hash = 0xcbf29ce484222325u, all = 0;

    for (int64_t i = 0; i < t->values; i++) {
        uint64_t bits;
        memcpy(&bits, &t->reals[i], sizeof bits);
        hash = (hash ^ bits ^ (uint64_t)t->integers[i]) * 0x100000001b3u;
    }
    hash *= (uint64_t)(t->rank + 1);
    MPI_Allreduce(&hash, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void one_op(const trial *t, ferry_op op, uint64_t *seen)
{
    static const ferry_type types[FIELDS] = {FERRY_TYPE_INT64, FERRY_TYPE_FLOAT64};
    void *const fields[FIELDS] = {t->integers, t->reals};
    int count;
    copy *const copies = gather(t, &count);

    CHECK_OK(ferry_halo_reverse_prepare(t->halo, op, types));
    for (int repeat = 0; repeat < 2; repeat++) {
        fill(t);
        CHECK_OK(ferry_halo_reverse_exchange(t->halo, fields));
        if (op == FERRY_OP_REPLACE)
            check_last(t, copies, count);
        else
            check_integers(t, op, copies, count);
        const uint64_t now = digest(t);
        if (*seen)
            CHECK(now == *seen);
        *seen = now;
    }
    free(copies);
}

static void one_trial(ferry_context *ctx, trial *t, uint64_t seen[3])
{
    int64_t bytes = 0;

    CHECK_OK(ferry_halo_create(ctx, &t->spec, &t->halo));
    CHECK_OK(ferry_halo_field_bytes(t->halo, 0, &bytes));
    t->values = bytes / 8;
    if (!CHECK(t->values <= MOST_VALUES))
        t->values = MOST_VALUES;
    void *const marks[FIELDS] = {t->ids, t->integers};
    mark(t);
    CHECK_OK(ferry_halo_exchange(t->halo, marks));
    fill(t);
    one_op(t, FERRY_OP_SUM, &seen[0]);
    one_op(t, FERRY_OP_MIN, &seen[1]);
    one_op(t, FERRY_OP_REPLACE, &seen[2]);
    ferry_halo_free(t->halo);
}

/* Orders of calls that do not fit; a round under way goes on unharmed. */
static void check_calls(ferry_context *ctx, int rank, int size)
{
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo = NULL;
    const ferry_type type = FERRY_TYPE_FLOAT64, wrong = FERRY_TYPE_STRING;
    double cells[5] = {10, 1, 2, 3, 20};
    void *const fields[] = {cells};
    char text[4096];
    int done = 0;

    field.element_bytes = 8;
    spec.dims = 1;
    spec.extent[0] = 3;
    spec.ghost[0][0] = spec.ghost[0][1] = 1;
    spec.grid[0] = size;
    spec.periodic[0] = 1;
    spec.field_count = 1;
    spec.fields = &field;
    CHECK_OK(ferry_halo_create(ctx, &spec, &halo));
    CHECK_EQ_INT(ferry_halo_reverse_start(halo, fields), FERRY_ERR_STATE);
    CHECK_DETAIL("ferry_halo_reverse_start: the reverse is not prepared: call ferry_halo_reverse_prepare first");
    CHECK_OK(ferry_halo_reverse_wait(halo));
    CHECK_EQ_INT(ferry_halo_reverse_prepare(halo, FERRY_OP_SUM, rank ? &type : NULL), FERRY_ERR_ARG);
    CHECK_DETAIL("types is NULL on rank 0, expected 1 types");
    CHECK_EQ_INT(ferry_halo_reverse_prepare(halo, FERRY_OP_SUM, &wrong), FERRY_ERR_ARG);
    CHECK_DETAIL("ferry_halo_reverse_prepare: edges[");
    CHECK_EQ_INT(ferry_halo_reverse_prepare(NULL, FERRY_OP_SUM, &type), FERRY_ERR_ARG);
    CHECK_OK(ferry_halo_reverse_prepare(halo, FERRY_OP_SUM, &type));
    CHECK_OK(ferry_halo_reverse_start(halo, fields));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(ferry_halo_reverse_wait(halo));
    CHECK(cells[1] == 21 && cells[2] == 2 && cells[3] == 13 && cells[0] == 10 && cells[4] == 20);
    CHECK_OK(ferry_halo_reverse_test(halo, &done));
    CHECK_EQ_INT(done, 1);
    CHECK_OK(ferry_halo_exchange(halo, fields));
    CHECK(cells[0] == 13 && cells[4] == 21);
    CHECK(ferry_halo_explain(halo, text, sizeof text) < sizeof text);
    CHECK(strstr(text, "reverse:") != NULL);
    CHECK(strstr(text, "sum of float64 from rank") != NULL);
    if (size > 1) { /* rank 0 is alone with its round until the barrier */
        if (rank > 0)
            MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(ferry_halo_start(halo, fields));
        if (rank == 0) {
            CHECK_EQ_INT(ferry_halo_reverse_start(halo, fields), FERRY_ERR_STATE);
            CHECK_DETAIL("ferry_halo_reverse_start: a round of the other way has not ended on rank 0: wait for it first");
            MPI_Barrier(MPI_COMM_WORLD);
        }
        CHECK_OK(ferry_halo_wait(halo));
        CHECK(cells[0] == 13 && cells[4] == 21);
    }
    ferry_halo_free(halo);
}

void check_halo_reverse(ferry_context *ctx)
{
    static uint64_t seen[TRIALS][3]; /* by the way tried first */
    check_rng rng = {20};            /* the same in every way */
    ferry_context_info info;
    trial t = {0};

    CHECK_OK(ferry_context_describe(ctx, &info));
    t.rank = info.rank;
    t.size = info.size;
    t.ids = malloc(MOST_VALUES * 8);
    t.integers = malloc(MOST_VALUES * 8);
    t.before = malloc(MOST_VALUES * 8);
    t.reals = malloc(MOST_VALUES * 8);
    for (int i = 0; i < (info.size > 4 ? TRIALS / 2 : TRIALS); i++) {
        draw(&t, &rng);
        one_trial(ctx, &t, seen[i]);
    }
    free(t.ids);
    free(t.integers);
    free(t.before);
    free(t.reals);
    check_calls(ctx, info.rank, info.size);
}
