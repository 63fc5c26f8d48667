/* Thousands of plans: made, used and freed one after another, and alive all at once. Open files and mappings do not change, and memory
 * does not grow. usage: plans CYCLES ALIVE */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ferry/ferry.h"

enum { BYTES = 3000 };

static int rank, size, failures;

static void expect(int right, const char *what, long found, long before)
{
    if (right)
        return;
    failures++;
    fprintf(stderr, "rank %d: %s: %ld, before %ld: %s\n", rank, what, found, before, ferry_error_detail());
}

typedef struct holding {
    long maps, files, kib;
} holding;

static holding held_now(void)
{
    holding held = {0, 0, 0};
    FILE *file = fopen("/proc/self/maps", "r");
    DIR *const folder = opendir("/proc/self/fd");
    char line[256];

    for (int c; file && (c = fgetc(file)) != EOF;)
        held.maps += c == '\n';
    if (file)
        fclose(file);
    file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0)
            held.kib = atol(line + 6);
    if (file)
        fclose(file);
    while (folder && readdir(folder))
        held.files++;
    if (folder)
        closedir(folder);
    return held;
}

/* From rank i to the next. */
static ferry_plan *plan_of(ferry_context *ctx, const ferry_layout *layout, int i)
{
    ferry_edge edge = FERRY_EDGE_INIT;
    ferry_plan *plan = NULL;

    edge.from = i % size;
    edge.to = (i + 1) % size;
    edge.source = edge.target = layout;
    const ferry_status st = ferry_plan_compile(ctx, &edge, rank == edge.from || rank == edge.to, &plan);
    expect(st == FERRY_OK, "plan", st, i);
    if (st != FERRY_OK)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return plan;
}

static void use(ferry_plan *plan, int i)
{
    static unsigned char source[BYTES], target[BYTES];

    memset(source, i % 251, BYTES);
    memset(target, 255, BYTES);
    const ferry_status started = ferry_plan_start(plan, source, target);
    const ferry_status ended = ferry_plan_wait(plan);
    expect(started == FERRY_OK && ended == FERRY_OK, "round", ended, i);
    if (rank == (i + 1) % size)
        expect(target[0] == i % 251 && target[BYTES - 1] == i % 251, "content", target[0], i % 251);
}

static void cycles(ferry_context *ctx, const ferry_layout *layout, int count)
{
    holding before = {0, 0, 0};

    for (int i = 0; i < count; i++) {
        ferry_plan *const plan = plan_of(ctx, layout, i);
        use(plan, i);
        ferry_plan_free(plan);
        if (i == count / 20)
            before = held_now();
    }
    const holding after = held_now();
    expect(after.files == before.files, "open files after many plans", after.files, before.files);
    expect(after.maps <= before.maps + 2, "mappings after many plans", after.maps, before.maps);
    expect(after.kib - before.kib < 1024, "KiB after many plans", after.kib, before.kib);
}

static void alive(ferry_context *ctx, const ferry_layout *layout, int count)
{
    ferry_plan **const plans = calloc((size_t)count, sizeof *plans);
    const holding before = held_now();

    for (int i = 0; i < count; i++)
        plans[i] = plan_of(ctx, layout, i);
    const holding with = held_now();
    for (int i = count - 1; i >= 0; i--)
        use(plans[i], i);
    expect(with.files == before.files, "open files with many plans", with.files, before.files);
    expect(with.maps <= before.maps + 3, "mappings with many plans", with.maps, before.maps); /* the C library's, as its heap grows */
    for (int i = 0; i < count; i++)
        ferry_plan_free(plans[i]);
    free(plans);
}

int main(int argc, char **argv)
{
    ferry_context *ctx = NULL;
    ferry_layout *layout = NULL;
    int all = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3 || ferry_context_create(MPI_COMM_WORLD, NULL, &ctx) != FERRY_OK || ferry_layout_dense(BYTES, 1, 0, &layout) != FERRY_OK)
        MPI_Abort(MPI_COMM_WORLD, 2);
    cycles(ctx, layout, atoi(argv[1]));
    alive(ctx, layout, atoi(argv[2]));
    ferry_layout_free(layout);
    ferry_context_free(ctx);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return all != 0;
}
