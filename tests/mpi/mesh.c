/* Unstructured halos against a walk over all cells: random ownership and ghosts that all ranks draw alike, so that each
 * knows what the others hold. */
#include "ferry/halo_unstructured.h"
#include "mpi/support.h"

enum { MOST_CELLS = 400, MOST_GHOSTS = 150, MOST_RANKS = 16, FIELDS = 3, MOST_PLACES = MOST_CELLS + 2 * MOST_GHOSTS };

static const int64_t element_bytes[FIELDS] = {8, 4, 24};
static const int64_t unit_bytes[FIELDS] = {8, 4, 8};
static const ferry_type types[FIELDS] = {FERRY_TYPE_FLOAT64, FERRY_TYPE_INT32, FERRY_TYPE_FLOAT64};

/* One rank's ghosts: cells by their place in the list of all, and where the copies lie. */
typedef struct side {
    int cells, ghosts;
    bool by_number, placed;
    int of_cell[MOST_CELLS]; /* by local index: the cell */
    int of_ghost[MOST_GHOSTS];
    int64_t places[MOST_GHOSTS];
} side;

typedef struct world {
    int rank, size, cells;
    int owner[MOST_CELLS], index[MOST_CELLS];
    int64_t number[MOST_CELLS];
    side sides[MOST_RANKS];
} world;

static void draw_ghosts(world *w, int rank, check_rng *rng)
{
    side *const s = &w->sides[rank];
    int64_t place = s->cells;

    s->ghosts = w->cells ? (int)check_between(rng, 0, MOST_GHOSTS) : 0;
    s->by_number = check_between(rng, 0, 1);
    s->placed = check_between(rng, 0, 1);
    for (int i = 0; i < s->ghosts; i++) {
        const bool next = i > 0 && check_between(rng, 0, 2); /* runs */
        s->of_ghost[i] = next ? (s->of_ghost[i - 1] + 1) % w->cells : (int)check_between(rng, 0, w->cells - 1);
        s->places[i] = place;
        place += s->placed ? check_between(rng, 1, 2) : 1;
    }
    for (int i = 0; s->placed && i < s->ghosts; i++) {
        const int other = (int)check_between(rng, 0, i);
        const int64_t swapped = s->places[i];
        if (check_between(rng, 0, 1)) {
            s->places[i] = s->places[other];
            s->places[other] = swapped;
        }
    }
}

static void draw(world *w, check_rng *rng)
{
    const bool blocks = check_between(rng, 0, 1);

    w->cells = (int)check_between(rng, 0, MOST_CELLS);
    for (int r = 0; r < w->size; r++)
        w->sides[r].cells = 0;
    for (int c = 0; c < w->cells; c++) {
        const int owner = blocks ? c * w->size / w->cells : (int)check_between(rng, 0, w->size - 1);
        w->owner[c] = owner;
        w->index[c] = w->sides[owner].cells;
        w->sides[owner].of_cell[w->sides[owner].cells++] = c;
        w->number[c] = (int64_t)c * 7919 + (check_between(rng, 0, 1) ? 1 : 5); /* with holes */
    }
    for (int r = 0; r < w->size; r++)
        draw_ghosts(w, r, rng);
}

static ferry_mesh *create(ferry_context *ctx, const world *w)
{
    const side *const s = &w->sides[w->rank];
    int64_t numbers[MOST_CELLS], ghost_numbers[MOST_GHOSTS], indices[MOST_GHOSTS];
    int ranks[MOST_GHOSTS];
    ferry_mesh_spec spec = FERRY_MESH_SPEC_INIT;
    ferry_mesh *mesh = NULL;

    for (int i = 0; i < s->cells; i++)
        numbers[i] = w->number[s->of_cell[i]];
    for (int i = 0; i < s->ghosts; i++) {
        ghost_numbers[i] = w->number[s->of_ghost[i]];
        ranks[i] = w->owner[s->of_ghost[i]];
        indices[i] = w->index[s->of_ghost[i]];
    }
    spec.cells = s->cells;
    spec.ghosts = s->ghosts;
    spec.numbers = numbers;
    if (s->by_number)
        spec.ghost_numbers = ghost_numbers;
    spec.ghost_ranks = s->by_number ? NULL : ranks;
    spec.ghost_indices = s->by_number ? NULL : indices;
    spec.ghost_places = s->placed ? s->places : NULL;
    spec.field_count = FIELDS;
    spec.element_bytes = element_bytes;
    CHECK_OK(ferry_mesh_create(ctx, &spec, &mesh));
    return mesh;
}

/* A value of its own for every rank, place, field and component; integers as floats where they must be exact. */
static void put(int f, int64_t code, char *at)
{
    const double real = (double)(code % 9973) / 3.0 + (double)(code % 7) * 1e9;
    const int32_t integer = (int32_t)(code * 2654435761);

    memcpy(at, f == 1 ? (const void *)&integer : &real, (size_t)unit_bytes[f]);
}

static void fill(int rank, int f, char *data)
{
    for (int64_t place = 0; place < MOST_PLACES; place++)
        for (int64_t k = 0; k < element_bytes[f] / unit_bytes[f]; k++)
            put(f, ((int64_t)rank * MOST_PLACES + place) * 8 + f * 2 + k * 3 + 1, data + place * element_bytes[f] + k * unit_bytes[f]);
}

static void fill_all(const world *w, char *const all[MOST_RANKS][FIELDS])
{
    for (int r = 0; r < w->size; r++)
        for (int f = 0; f < FIELDS; f++)
            fill(r, f, all[r][f]);
}

static void compare(const world *w, char *const fields[FIELDS], char *const all[MOST_RANKS][FIELDS])
{
    for (int f = 0; f < FIELDS; f++)
        CHECK(memcmp(fields[f], all[w->rank][f], (size_t)(MOST_PLACES * element_bytes[f])) == 0);
}

/* What ghosts of all ranks must hold. */
static void expect_ghosts(const world *w, char *const all[MOST_RANKS][FIELDS])
{
    for (int r = 0; r < w->size; r++)
        for (int i = 0; i < w->sides[r].ghosts; i++)
            for (int f = 0; f < FIELDS; f++) {
                const int c = w->sides[r].of_ghost[i];
                memcpy(all[r][f] + w->sides[r].places[i] * element_bytes[f],
                       all[w->owner[c]][f] + w->index[c] * element_bytes[f], (size_t)element_bytes[f]);
            }
}

static void combine(ferry_op op, int f, char *there, const char *arriving)
{
    double a, b;
    int32_t i, k;

    if (op == FERRY_OP_REPLACE) {
        memcpy(there, arriving, (size_t)unit_bytes[f]);
    } else if (f == 1) {
        memcpy(&i, there, sizeof i);
        memcpy(&k, arriving, sizeof k);
        i = op == FERRY_OP_SUM ? (int32_t)((uint32_t)i + (uint32_t)k) : (i < k) == (op == FERRY_OP_MAX) ? k : i;
        memcpy(there, &i, sizeof i);
    } else {
        memcpy(&a, there, sizeof a);
        memcpy(&b, arriving, sizeof b);
        a = op == FERRY_OP_SUM ? a + b : (a < b) == (op == FERRY_OP_MAX) ? b : a;
        memcpy(there, &a, sizeof a);
    }
}

/* What this rank's cells must hold after the way back: ranks in their order, each in the order of its list. */
static void expect_cells(const world *w, ferry_op op, char *const all[MOST_RANKS][FIELDS])
{
    for (int r = 0; r < w->size; r++)
        for (int i = 0; i < w->sides[r].ghosts; i++) {
            const int c = w->sides[r].of_ghost[i];
            for (int f = 0; f < FIELDS && w->owner[c] == w->rank; f++)
                for (int64_t at = 0; at < element_bytes[f]; at += unit_bytes[f])
                    combine(op, f, all[w->rank][f] + w->index[c] * element_bytes[f] + at,
                            all[r][f] + w->sides[r].places[i] * element_bytes[f] + at);
        }
}

static void try_one(ferry_context *ctx, const world *w, char *const fields[FIELDS], char *const all[MOST_RANKS][FIELDS])
{
    static const ferry_op ops[] = {FERRY_OP_SUM, FERRY_OP_MAX, FERRY_OP_REPLACE, FERRY_OP_MIN, FERRY_OP_SUM};
    ferry_mesh *const mesh = create(ctx, w);
    int done = 0;

    if (!mesh)
        return;
    fill_all(w, all);
    for (int f = 0; f < FIELDS; f++)
        fill(w->rank, f, fields[f]);
    expect_ghosts(w, all);
    CHECK_OK(ferry_mesh_exchange(mesh, (void *const *)fields));
    compare(w, fields, all);
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        fill_all(w, all);
        for (int f = 0; f < FIELDS; f++)
            fill(w->rank, f, fields[f]);
        expect_cells(w, ops[k], all);
        CHECK_OK(ferry_mesh_reverse_prepare(mesh, ops[k], ops[k] == FERRY_OP_REPLACE ? NULL : types));
        CHECK_OK(ferry_mesh_reverse_prepare(mesh, ops[k], types)); /* once more does nothing */
        CHECK_OK(ferry_mesh_reverse_start(mesh, (void *const *)fields));
        if (k % 2)
            CHECK_OK(ferry_mesh_reverse_wait(mesh));
        for (done = k % 2; !done;)
            CHECK_OK(ferry_mesh_reverse_test(mesh, &done));
        compare(w, fields, all);
    }
    ferry_mesh_free(mesh);
}

static void check_random(ferry_context *ctx, world *w)
{
    check_rng rng = check_common_rng("mesh");
    char *fields[FIELDS], *all[MOST_RANKS][FIELDS];

    for (int f = 0; f < FIELDS; f++) {
        fields[f] = malloc((size_t)(MOST_PLACES * element_bytes[f]));
        for (int r = 0; r < w->size; r++)
            all[r][f] = malloc((size_t)(MOST_PLACES * element_bytes[f]));
    }
    for (int i = 0; i < 1 + check_repeats(w->size) / 4; i++) {
        draw(w, &rng);
        try_one(ctx, w, fields, all);
    }
    for (int f = 0; f < FIELDS; f++) {
        free(fields[f]);
        for (int r = 0; r < w->size; r++)
            free(all[r][f]);
    }
}

/* Assembly: triangles over random nodes add to their three nodes; each rank adds its own triangles, then nodes and their
 * copies must hold what a single rank would have added up. */
static void check_assembly(ferry_context *ctx, int rank, int size)
{
    enum { NODES = 120, TRIANGLES = 300 };
    check_rng rng = check_common_rng("mesh assembly");
    int64_t mine[NODES], ghosts[NODES], local[NODES];
    double whole[NODES] = {0}, sums[NODES] = {0};
    int owner[NODES], cells = 0, ghost_count = 0;
    const int64_t bytes = sizeof(double);
    const ferry_type type = FERRY_TYPE_FLOAT64;
    ferry_mesh_spec spec = FERRY_MESH_SPEC_INIT;
    ferry_mesh *mesh = NULL;
    int nodes[TRIANGLES][3], of[TRIANGLES];

    for (int n = 0; n < NODES; n++) {
        owner[n] = (int)check_between(&rng, 0, size - 1);
        local[n] = owner[n] == rank ? cells : -1;
        if (owner[n] == rank)
            mine[cells++] = n;
    }
    for (int t = 0; t < TRIANGLES; t++) {
        of[t] = (int)check_between(&rng, 0, size - 1);
        for (int k = 0; k < 3; k++) {
            const int n = nodes[t][k] = (int)check_between(&rng, 0, NODES - 1);
            whole[n] += t + k;
            if (of[t] != rank || local[n] >= 0)
                continue;
            local[n] = cells + ghost_count;
            ghosts[ghost_count++] = n;
        }
    }
    for (int t = 0; t < TRIANGLES; t++)
        for (int k = 0; k < 3 && of[t] == rank; k++)
            sums[local[nodes[t][k]]] += t + k;
    spec.cells = cells;
    spec.numbers = mine;
    spec.ghosts = ghost_count;
    spec.ghost_numbers = ghosts;
    spec.field_count = 1;
    spec.element_bytes = &bytes;
    CHECK_OK(ferry_mesh_create(ctx, &spec, &mesh));
    CHECK_OK(ferry_mesh_reverse_prepare(mesh, FERRY_OP_SUM, &type));
    void *const fields[] = {sums};
    CHECK_OK(ferry_mesh_reverse_exchange(mesh, fields));
    CHECK_OK(ferry_mesh_exchange(mesh, fields));
    for (int n = 0; n < NODES; n++)
        if (local[n] >= 0)
            CHECK(sums[local[n]] == whole[n]);
    ferry_mesh_free(mesh);
}

/* --- what is refused --- */

typedef struct small {
    int64_t numbers[4], ghost_numbers[2], indices[2], places[2], bytes[2];
    int ranks[2];
    ferry_mesh_spec spec;
} small;

/* Four cells on each rank, numbered one rank after another; two ghosts of the next rank. */
static void make_small(small *s, int rank, int size)
{
    const int next = (rank + 1) % size;

    *s = (small){.indices = {3, 0}, .places = {4, 5}, .bytes = {8, 4}, .ranks = {next, next}, .spec = FERRY_MESH_SPEC_INIT};
    for (int i = 0; i < 4; i++)
        s->numbers[i] = 4 * rank + i;
    s->ghost_numbers[0] = 4 * next + 3;
    s->ghost_numbers[1] = 4 * next;
    s->spec.cells = 4;
    s->spec.numbers = s->numbers;
    s->spec.ghosts = 2;
    s->spec.ghost_ranks = s->ranks;
    s->spec.ghost_indices = s->indices;
    s->spec.ghost_places = s->places;
    s->spec.field_count = 2;
    s->spec.element_bytes = s->bytes;
}

static void by_number(small *s)
{
    s->spec.ghost_numbers = s->ghost_numbers;
    s->spec.ghost_ranks = NULL;
    s->spec.ghost_indices = NULL;
}

static void refused(ferry_context *ctx, const ferry_mesh_spec *spec, ferry_status status, const char *words)
{
    ferry_mesh *mesh = NULL;

    CHECK_EQ_INT(ferry_mesh_create(ctx, spec, &mesh), status);
    CHECK_DETAIL(words);
    check_same_detail();
    CHECK(mesh == NULL);
}

static void check_bad_spec(ferry_context *ctx, int rank, int size)
{
    small s;
#define BAD(change, status, words)          \
    do {                                    \
        make_small(&s, rank, size);         \
        if (rank == 0) {                    \
            change;                         \
        }                                   \
        refused(ctx, &s.spec, status, words); \
    } while (0)
    BAD(s.spec.size = 3, FERRY_ERR_ARG, "ferry_mesh_create on rank 0: spec->size is 3");
    BAD(s.spec.cells = -1, FERRY_ERR_ARG, "cells is -1 and ghosts is 2");
    BAD(s.spec.ghosts = INT64_MAX, FERRY_ERR_ARG, "ghosts is 9223372036854775807");
    BAD(s.spec.field_count = 65, FERRY_ERR_ARG, "field_count is 65, expected 1..64");
    BAD(s.spec.element_bytes = NULL, FERRY_ERR_ARG, "element_bytes is NULL, expected 2 numbers");
    BAD(s.bytes[1] = 0, FERRY_ERR_ARG, "element_bytes[1] is 0");
    BAD(s.bytes[1] = INT64_MAX, FERRY_ERR_ARG, "pass 2^63");
    BAD(s.spec.ghost_numbers = s.ghost_numbers, FERRY_ERR_ARG, "ghosts are named twice");
    BAD(s.spec.ghost_indices = NULL, FERRY_ERR_ARG, "ghost_indices is NULL, expected a list of 2 ghosts");
    BAD(s.numbers[2] = -7, FERRY_ERR_ARG, "numbers[2] is -7, expected >= 0");
    BAD(s.ranks[1] = size, FERRY_ERR_ARG, "ghost_ranks[1] is");
    BAD(s.places[1] = 3, FERRY_ERR_ARG, "ghost_places[1] is 3, expected >= 4, the number of cells");
    BAD(s.places[1] = 4, FERRY_ERR_ARG, "ghost_places[0] and ghost_places[1] are both 4");
    BAD(s.places[1] = INT64_MAX / 8, FERRY_ERR_ARG, "elements of 8 bytes pass 2^63");
    BAD(s.numbers[2] = 1, FERRY_ERR_ARG, "the cell of number 1 is owned by rank 0 (numbers[1]) and by rank 0 (numbers[2])");
    BAD((by_number(&s), s.ghost_numbers[1] = 4711), FERRY_ERR_NOT_FOUND,
        "ghost 1 of rank 0 is the cell of number 4711, which no rank owns");
    BAD(s.indices[1] = 4, FERRY_ERR_ARG, "ghost 1 of rank 0 is cell 4 of rank");
    BAD(s.indices[1] = -1, FERRY_ERR_ARG, "which has 4 cells, counted from 0");
    if (size > 1) {
        BAD(s.numbers[0] = 5, FERRY_ERR_ARG, "the cell of number 5 is owned by rank 0 (numbers[0]) and by rank 1 (numbers[1])");
        BAD(s.bytes[1] = 2, FERRY_ERR_ARG, "element_bytes[1] is");
        BAD(s.spec.field_count = 1, FERRY_ERR_ARG, "field_count is");
    }
#undef BAD
    refused(ctx, NULL, FERRY_ERR_ARG, "ferry_mesh_create: spec is NULL on rank 0");
    make_small(&s, rank, size);
    CHECK_EQ_INT(ferry_mesh_create(ctx, &s.spec, NULL), FERRY_ERR_ARG);
    CHECK_DETAIL("mesh_out is NULL");
    CHECK_EQ_INT(ferry_mesh_create(NULL, &s.spec, NULL), FERRY_ERR_ARG);
}

/* Calls in a wrong order, and ways back that do not fit; everything works afterwards. */
static void check_calls(ferry_context *ctx, int rank, int size)
{
    double a[6] = {1, 2, 3, 4, 0, 0};
    int32_t b[6] = {1, 2, 3, 4, 0, 0};
    void *const fields[] = {a, b};
    const ferry_type good[] = {FERRY_TYPE_FLOAT64, FERRY_TYPE_INT32}, bad[] = {FERRY_TYPE_FLOAT64, FERRY_TYPE_INT64};
    char text[4096];
    ferry_plan_info before, after;
    ferry_mesh *mesh = NULL;
    small s;
    int done = 0;

    make_small(&s, rank, size);
    CHECK_OK(ferry_mesh_create(ctx, &s.spec, &mesh));
    CHECK_OK(ferry_mesh_describe(mesh, &before));
    CHECK_EQ_INT(before.recv_bytes, 2 * 12);
    CHECK_EQ_INT(ferry_mesh_reverse_start(mesh, fields), FERRY_ERR_STATE);
    CHECK_DETAIL("call ferry_mesh_reverse_prepare first");
    CHECK_OK(ferry_mesh_reverse_wait(mesh));
    CHECK_OK(ferry_mesh_reverse_test(mesh, &done));
    CHECK_EQ_INT(done, 1);
    CHECK_EQ_INT(ferry_mesh_reverse_prepare(mesh, FERRY_OP_SUM, NULL), FERRY_ERR_ARG);
    CHECK_DETAIL("types is NULL");
    CHECK_EQ_INT(ferry_mesh_reverse_prepare(mesh, (ferry_op)9, good), FERRY_ERR_ARG);
    CHECK_DETAIL("op is 9 on rank 0, expected 0..5");
    CHECK_EQ_INT(ferry_mesh_reverse_prepare(mesh, FERRY_OP_SUM, bad), FERRY_ERR_ARG);
    CHECK_DETAIL("ferry_mesh_reverse_prepare: edges[");
    CHECK_DETAIL("4 bytes");
    if (size > 1) {
        CHECK_EQ_INT(ferry_mesh_reverse_prepare(mesh, rank ? FERRY_OP_SUM : FERRY_OP_MIN, good), FERRY_ERR_ARG);
        CHECK_DETAIL("expected the same on all ranks");
        check_same_detail();
    }
    CHECK_OK(ferry_mesh_reverse_prepare(mesh, FERRY_OP_SUM, good));
    CHECK_OK(ferry_mesh_describe(mesh, &after));
    CHECK(after.private_bytes > before.private_bytes);
    CHECK_EQ_INT(ferry_mesh_start(mesh, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_mesh_reverse_start(mesh, (void *const[]){a, NULL}), FERRY_ERR_ARG);
    CHECK_DETAIL("ferry_mesh_reverse_start: fields[1] is NULL on rank");
    CHECK_OK(ferry_mesh_exchange(mesh, fields));
    CHECK(a[4] == 4 && a[5] == 1 && b[4] == 4 && b[5] == 1);
    CHECK_OK(ferry_mesh_reverse_exchange(mesh, fields));
    CHECK(a[0] == 2 && a[1] == 2 && a[2] == 3 && a[3] == 8 && b[0] == 2 && b[3] == 8 && a[4] == 4);
    CHECK(ferry_mesh_explain(mesh, text, sizeof text) < sizeof text);
    CHECK(strstr(text, "4 cells, 2 ghosts, 2 fields of 8 4 bytes") != NULL);
    CHECK(strstr(text, "2 cells in 2 runs") != NULL || (size == 1 && strstr(text, "of 2 runs") != NULL));
    CHECK(strstr(text, "sum of int32") != NULL);
    CHECK_EQ_INT(ferry_mesh_explain(NULL, NULL, 0), 4);
    ferry_mesh_free(mesh);
    ferry_mesh_free(NULL);
}

/* --- parcels --- */

static void check_swap(ferry_context *ctx, int rank, int size)
{
    enum { WORDS = 40000 };
    ferry_parcel sent[MOST_RANKS] = {{0}}, *got = NULL;
    int *const words = malloc(WORDS * sizeof *words);
    size_t count = 0, came = 99;

    /* Rank r sends r + to numbers (many to itself) to every third rank from itself on; counted from 0. */
    for (int i = 0; i < WORDS; i++)
        words[i] = rank * WORDS + i;
    for (int to = 0; to < size; to++)
        if ((to - rank + 3 * size) % 3 == 0)
            sent[count++] = (ferry_parcel){to, (to == rank ? WORDS : (size_t)(rank + to)) * sizeof *words, words};
    CHECK_OK(ferry_context_swap(ctx, sent, count, &got, &came));
    CHECK_EQ_INT(came, count); /* the same ranks send to this one */
    for (size_t i = 0; i < came && i < count; i++) {
        const int *const data = got[i].data;
        const size_t numbers = got[i].rank == rank ? WORDS : (size_t)(rank + got[i].rank);
        CHECK_EQ_INT(got[i].rank, sent[i].rank);
        CHECK_EQ_INT(got[i].bytes, numbers * sizeof *words);
        CHECK_EQ_INT((uintptr_t)data % 16, 0);
        for (size_t k = 0; k < numbers; k++)
            if (!CHECK_EQ_INT(data[k], got[i].rank * WORDS + (int)k))
                break;
    }
    ferry_parcels_free(got);
    got = NULL;
    CHECK_OK(ferry_context_swap(ctx, NULL, 0, &got, &came));
    CHECK_EQ_INT(came, 0);
    ferry_parcels_free(got);
    sent[0] = (ferry_parcel){rank ? 0 : size, 0, NULL};
    CHECK_EQ_INT(ferry_context_swap(ctx, sent, 1, &got, &came), FERRY_ERR_ARG);
    CHECK_DETAIL("on rank 0, expected 0..");
    check_same_detail();
    sent[0] = (ferry_parcel){0, 4, rank ? words : NULL};
    CHECK_EQ_INT(ferry_context_swap(ctx, sent, 1, &got, &came), FERRY_ERR_ARG);
    CHECK_DETAIL("parcels[0].data is NULL on rank 0, expected 4 bytes");
    CHECK_EQ_INT(ferry_context_swap(ctx, sent, 0, rank ? &got : NULL, &came), FERRY_ERR_ARG);
    CHECK_DETAIL("got_out is NULL on rank 0");
    free(words);
}

void check_mesh(ferry_context *ctx)
{
    static world w; /* large */
    ferry_context_info info;

    CHECK_OK(ferry_context_describe(ctx, &info));
    w.rank = info.rank;
    w.size = info.size;
    check_swap(ctx, info.rank, info.size);
    check_random(ctx, &w);
    check_assembly(ctx, info.rank, info.size);
    check_bad_spec(ctx, info.rank, info.size);
    check_calls(ctx, info.rank, info.size);
}
