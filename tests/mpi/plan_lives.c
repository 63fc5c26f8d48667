/* The lives of plans: one that is freed while its bytes are still under way, thousands one after another,
 * hundreds at once, each round with values of its own, and a program beside them that has a receive for any message
 * from anybody. */
#include <time.h>

#include "ferry/halo.h"
#include "mpi/plan.h"

/* The sender is through when its bytes lie in shared memory, and may forget the plan; the receiver comes later. */
static void freed_before_it_arrives(ferry_context *ctx)
{
    enum { BYTES = 50000 };
    const ferry_context_info info = plan_info_of(ctx);
    char *const data = malloc(2 * BYTES);
    long wrong = 0;

    for (int round = 0; round < 3; round++) {
        ferry_plan *plan = plan_one_edge(ctx, 0, info.size - 1, BYTES, 1);
        memset(data, info.rank == 0 ? 11 + round : 99, BYTES);
        if (info.rank == info.size - 1 && info.rank > 0)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        CHECK_OK(ferry_plan_start(plan, data, data + BYTES));
        CHECK_OK(ferry_plan_wait(plan));
        ferry_plan_free(plan);
        for (int i = 0; i < BYTES && info.rank == info.size - 1; i++)
            wrong += data[BYTES + i] != 11 + round;
    }
    CHECK_EQ_INT(wrong, 0);
    free(data);
}

typedef struct holding {
    long maps, files, kib;
} holding;

static long lines_of(const char *path)
{
    FILE *const file = fopen(path, "r");
    long lines = 0;

    for (int c = 0; file && (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    if (file)
        fclose(file);
    return lines;
}

static long number_of(const char *path, const char *key)
{
    FILE *const file = fopen(path, "r");
    char line[256];
    long number = -1;

    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            number = strtol(line + strlen(key), NULL, 10);
    if (file)
        fclose(file);
    return number;
}

static holding held_now(void)
{
    return (holding){lines_of("/proc/self/maps"), check_entries("/proc/self/fd"),
                     number_of("/proc/self/status", "VmRSS:")};
}

static void use_once(ferry_plan *plan, char *src, char *dst, char value)
{
    memset(src, value, 3000);
    dst[2999] = (char)(value + 1);
    CHECK_OK(ferry_plan_start(plan, src, dst));
    CHECK_OK(ferry_plan_wait(plan));
}

/* Nothing grows with plans that are made, used and freed. */
static void one_after_another(ferry_context *ctx, int cycles)
{
    const ferry_context_info info = plan_info_of(ctx);
    static char src[3000], dst[3000];
    holding before = {0, 0, 0};

    for (int i = 0; i < cycles; i++) {
        ferry_plan *plan = plan_one_edge(ctx, i % info.size, (i + 1) % info.size, 3000, 1);
        if (i == cycles / 2)
            before = held_now();
        use_once(plan, src, dst, (char)i);
        if (info.rank == (i + 1) % info.size)
            CHECK_EQ_INT(dst[2999], (char)i);
        ferry_plan_free(plan);
    }
    const holding after = held_now();
    CHECK(after.maps <= before.maps + 2);
    CHECK_EQ_INT(after.files, before.files);
#if !defined(__SANITIZE_ADDRESS__) /* which keeps what was freed */
    CHECK(after.kib - before.kib < 1024);
#endif
}

/* Many at once, used in the opposite order, each with rounds of its own. */
static void many_at_once(ferry_context *ctx, int count)
{
    enum { PLANS = 300 };
    const ferry_context_info info = plan_info_of(ctx);
    static char src[3000], dst[3000];
    ferry_plan *plans[PLANS];

    for (int i = 0; i < count; i++)
        plans[i] = plan_one_edge(ctx, i % info.size, (i + 1) % info.size, 3000, 1);
    for (int i = count - 1; i >= 0; i--) {
        use_once(plans[i], src, dst, (char)i);
        if (info.rank == (i + 1) % info.size)
            CHECK_EQ_INT(dst[2999], (char)i);
    }
    for (int i = 0; i < count; i++)
        ferry_plan_free(plans[i]);
}

/* Ghosts of a ring of ranks, filled ten times. */
static void ten_halos(ferry_context *ctx, const ferry_context_info *info)
{
    const int last = (info->rank + info->size - 1) % info->size, next = (info->rank + 1) % info->size;
    ferry_halo_field field = FERRY_HALO_FIELD_INIT;
    ferry_halo_spec spec = FERRY_HALO_SPEC_INIT;
    ferry_halo *halo = NULL;
    int cells[6];

    field.element_bytes = sizeof *cells;
    spec.dims = 1;
    spec.extent[0] = 4;
    spec.ghost[0][0] = spec.ghost[0][1] = spec.periodic[0] = 1;
    spec.grid[0] = info->size;
    spec.field_count = 1;
    spec.fields = &field;
    CHECK_OK(ferry_halo_create(ctx, &spec, &halo));
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 6; i++)
            cells[i] = 1000 * round + 10 * info->rank + i;
        CHECK_OK(ferry_halo_exchange(halo, (void *[]){cells}));
        CHECK_EQ_INT(cells[0], 1000 * round + 10 * last + 4);
        CHECK_EQ_INT(cells[5], 1000 * round + 10 * next + 1);
    }
    ferry_halo_free(halo);
}

/* The program waits for any message from anybody: none of ferry's may come to it. */
static void beside_a_wildcard(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);
    static char src[3000], dst[3000];
    int word = -1, answer = 4711, flag = 0;
    MPI_Request request;
    MPI_Status status;

    MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
    for (int i = 0; i < info.size; i++) {
        ferry_plan *plan = plan_one_edge(ctx, i, (i + 1) % info.size, 3000, 1);
        use_once(plan, src, dst, (char)i);
        ferry_plan_free(plan);
    }
    ten_halos(ctx, &info);
    MPI_Test(&request, &flag, &status);
    CHECK_EQ_INT(flag, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&answer, 1, MPI_INT, (info.rank + 1) % info.size, 5, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    CHECK_EQ_INT(word, 4711);
    CHECK_EQ_INT(status.MPI_SOURCE, (info.rank + info.size - 1) % info.size);
    CHECK_EQ_INT(status.MPI_TAG, 5);
}

/* A column from each rank to the next, compiled while the source holds -2. Each round brings what the source holds when
 * it starts, and the source may be overwritten as soon as the round has ended here. */
static void values_of_each_round(ferry_context *ctx, bool shared)
{
    enum { ROWS = 300, ROW = 5, LAST = 50 };
    const ferry_context_info info = plan_info_of(ctx);
    const int next = (info.rank + 1) % info.size, before = (info.rank + info.size - 1) % info.size;
    const int64_t counts[] = {ROWS}, strides[] = {ROW * sizeof(int)};
    int *src = NULL, dst[ROWS][ROW], wrong = 0;
    ferry_layout *column = NULL;
    ferry_plan *plan = NULL;

    if (shared)
        CHECK_OK(ferry_memory_alloc(ctx, sizeof dst, (void **)&src));
    else
        src = malloc(sizeof dst);
    for (int i = 0; i < ROWS * ROW; i++)
        src[i] = -2;
    CHECK_OK(ferry_layout_strided(1, counts, strides, sizeof(int), 0, &column));
    const ferry_edge edges[] = {
        {.size = sizeof *edges, .from = info.rank, .to = next, .source = column, .target = column},
        {.size = sizeof *edges, .from = before, .to = info.rank, .source = column, .target = column},
    };
    CHECK_OK(ferry_plan_compile(ctx, edges, info.size > 1 ? 2 : 1, &plan));
    for (int k = 1; k <= LAST; k++) {
        for (int i = 0; i < ROWS; i++)
            src[i * ROW] = k;
        CHECK_OK(ferry_plan_start(plan, src, dst));
        CHECK_OK(ferry_plan_wait(plan));
        for (int i = 0; i < ROWS; i++)
            src[i * ROW] = -k;
        for (int i = 0; i < ROWS; i++)
            wrong += dst[i][0] != k;
    }
    CHECK_EQ_INT(wrong, 0);
    ferry_plan_free(plan);
    ferry_layout_free(column);
    if (shared)
        ferry_memory_free(ctx, src);
    else
        free(src);
}

void plan_lives(ferry_context *ctx)
{
    freed_before_it_arrives(ctx);
    beside_a_wildcard(ctx);
    values_of_each_round(ctx, false);
    values_of_each_round(ctx, true);
    many_at_once(ctx, plan_first_way() ? 300 : 50);
    one_after_another(ctx, (plan_first_way() || plan_wire_way() ? 1600 : 200) / plan_info_of(ctx).size);
}
