/* Exact counts of what rounds do: messages, bytes copied per payload byte, allocations, system calls, staging. They
 * are compared with a table, all ranks together, so that a round that becomes dearer is seen without a clock. Waiting
 * (futex, naps) is not counted.
 * usage: counts TABLE.csv [print]; print shows the lines found instead. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ferry/bundle.h"
#include "ferry/bundle_move.h"
#include "ferry/context.h"
#include "ferry/experimental.h"
#include "ferry/memory.h"
#include "ferry/plan.h"

enum { WARM_UP = 5, ROUNDS = 100, MIB = 1 << 20, ROWS = 512, ROW_BYTES = 1024, SIDE = 512, CAST_BYTES = 16 * MIB, SEND_BYTES = 4 * MIB };

static int rank, size;

static void must(ferry_status st, const char *what)
{
    if (st == FERRY_OK)
        return;
    fprintf(stderr, "rank %d: %s: %s (%s)\n", rank, what, ferry_status_text(st), ferry_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

#define MUST(call) must((call), #call)

/* ---- Calls of the C library's heap, whoever makes them ---- */

static volatile int watching;
static long heap_calls;

#ifndef __SANITIZE_ADDRESS__
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

void *malloc(size_t bytes)
{
    heap_calls += watching;
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    heap_calls += watching;
    return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    heap_calls += watching;
    return __libc_realloc(old, bytes);
}
#endif

/* ---- What is counted ---- */

/* What a case works with. */
typedef struct room {
    ferry_context *ctx;
    ferry_plan *plan;
    ferry_bundle *bundle;
    char *src, *dst; /* src from ferry_memory_alloc() */
    size_t payload;  /* bytes that arrive at this rank in a round */
} room;

static ferry_plan *compile(const room *r, const ferry_edge *edges, size_t count)
{
    ferry_plan *plan = NULL;

    MUST(ferry_plan_compile(r->ctx, edges, count, &plan));
    return plan;
}

/* The same layout to and from the neighbour rank ^ 1. */
static void make_pair(room *r, ferry_layout *layout)
{
    ferry_edge edges[2] = {FERRY_EDGE_INIT, FERRY_EDGE_INIT};

    edges[0].from = edges[1].to = rank;
    edges[0].to = edges[1].from = rank ^ 1;
    edges[0].source = edges[1].target = layout;
    r->plan = compile(r, edges, 2);
    ferry_layout_free(layout);
}

static void make_column(room *r)
{
    const int64_t count = ROWS, stride = ROW_BYTES;
    ferry_layout *layout = NULL;

    MUST(ferry_layout_strided(1, &count, &stride, 8, 0, &layout));
    make_pair(r, layout);
}

static void make_rows(room *r)
{
    ferry_layout *layout = NULL;

    MUST(ferry_layout_dense(MIB / 8, 8, 0, &layout));
    make_pair(r, layout);
}

/* SIDE x SIDE doubles in blocks of rows, turned over. */
static void make_turn(room *r)
{
    const int64_t part = SIDE / size, counts[] = {part, part}, forth[] = {SIDE * 8, 8}, turned[] = {8, SIDE * 8};
    ferry_edge edges[16];
    ferry_layout *layouts[16];
    size_t count = 0;

    for (int peer = 0; peer < size; peer++) {
        ferry_layout **const pair = &layouts[2 * peer];
        MUST(ferry_layout_strided(2, counts, forth, 8, peer * part * 8, &pair[0]));
        MUST(ferry_layout_strided(2, counts, turned, 8, peer * part * 8, &pair[1]));
        edges[count++] = (ferry_edge){sizeof(ferry_edge), rank, peer, 0, 0, pair[0], pair[1], FERRY_OP_REPLACE, FERRY_TYPE_NULL};
        if (peer != rank)
            edges[count++] = (ferry_edge){sizeof(ferry_edge), peer, rank, 0, 0, pair[0], pair[1], FERRY_OP_REPLACE, FERRY_TYPE_NULL};
    }
    r->plan = compile(r, edges, count);
    for (int i = 0; i < 2 * size; i++)
        ferry_layout_free(layouts[i]);
}

static void run_plan(room *r)
{
    MUST(ferry_plan_start(r->plan, r->src, r->dst));
    MUST(ferry_plan_wait(r->plan));
}

static ferry_status place(void *user, size_t bytes, void **data_out)
{
    (void)bytes;
    *data_out = ((room *)user)->dst;
    return FERRY_OK;
}

static void make_cast(room *r)
{
    r->payload = rank ? CAST_BYTES : 0;
}

static void run_cast(room *r)
{
    const ferry_piece piece = {r->src, CAST_BYTES};
    const ferry_stream_cast cast = {.pieces = &piece, .count = 1, .place = place, .user = r};

    MUST(ferry_stream_bcast(r->ctx, &cast));
}

/* Even ranks send to the odd ones. */
static void make_send(room *r)
{
    r->payload = rank % 2 ? SEND_BYTES : 0;
}

static void run_send(room *r)
{
    const ferry_piece pieces[] = {{r->src, SEND_BYTES / 4}, {r->src, 3 * SEND_BYTES / 4}};

    if (rank % 2)
        MUST(ferry_stream_recv(r->ctx, rank - 1, 1, place, r, NULL));
    else
        MUST(ferry_stream_send(r->ctx, pieces, 2, rank + 1, 1));
}

/* Even ranks send a bundle of arrays, of which most are large. */
static void make_bundle(room *r)
{
    enum { ARRAYS = 20 };
    const int64_t shape[] = {SEND_BYTES / ARRAYS / 8};
    char key[16];

    MUST(ferry_bundle_new(&r->bundle));
    for (int i = 0; i < ARRAYS; i++) {
        snprintf(key, sizeof key, "array %d", i);
        MUST(ferry_bundle_borrow_array(r->bundle, key, FERRY_TYPE_FLOAT64, 1, shape, NULL, r->src));
    }
    r->payload = rank % 2 ? SEND_BYTES : 0;
}

static void run_bundle(room *r)
{
    if (rank % 2)
        MUST(ferry_bundle_recv(r->ctx, rank - 1, 1, &r->bundle, NULL));
    else
        MUST(ferry_bundle_send(r->ctx, r->bundle, rank + 1, 1));
}

static const struct count_case {
    const char *name, *routes;
    const char *expected; /* route that the plan's explanation names */
    void (*make)(room *r);
    void (*run)(room *r);
    int rounds;
    int receives; /* messages, which may come early */
} cases[] = {
    {"narrow_column", "all", "node_ring: to", make_column, run_plan, ROUNDS, 0},
    {"wide_rows", "all", "node_direct: to", make_rows, run_plan, ROUNDS, 0},
    {"turn_node", "all", "turned over in one pass", make_turn, run_plan, ROUNDS, 0},
    {"turn_wire", "wire_pack", "wire_pack: to", make_turn, run_plan, ROUNDS, 0},
    {"column_wire", "wire_pack", "wire_pack: to", make_column, run_plan, ROUNDS, 0},
    {"cast_node", "all", NULL, make_cast, run_cast, ROUNDS / 10, 0},
    {"cast_wire", "wire_pack", NULL, make_cast, run_cast, ROUNDS / 10, 0},
    {"send_node", "all", NULL, make_send, run_send, ROUNDS / 10, 1},
    {"send_wire", "wire_pack", NULL, make_send, run_send, ROUNDS / 10, 1},
    {"bundle_node", "all", NULL, make_bundle, run_bundle, ROUNDS / 10, 1},
    {"bundle_wire", "wire_pack", NULL, make_bundle, run_bundle, ROUNDS / 10, 1},
};

/* ---- Counting ---- */

/* Of all ranks together. */
enum { MESSAGES, COPIED, ALLOCATIONS, CALLS, HEAP, STAGING, PAYLOAD, NUMBERS };

static void read_now(const room *r, long long *numbers)
{
    ferry_counters c;

    MUST(ferry_context_counters(r->ctx, &c));
    numbers[MESSAGES] = (long long)c.messages;
    numbers[COPIED] = (long long)c.copied_bytes;
    numbers[ALLOCATIONS] = (long long)c.allocations;
    numbers[CALLS] = (long long)c.system_calls;
    numbers[HEAP] = heap_calls;
}

static void describe(room *r, long long *numbers)
{
    ferry_plan_info info = {0};

    if (r->plan)
        MUST(ferry_plan_describe(r->plan, &info));
    numbers[STAGING] = (long long)info.staging_bytes;
    numbers[PAYLOAD] = (long long)(r->plan ? info.recv_bytes : r->payload);
}

static void count_rounds(const struct count_case *c, room *r, long long *numbers)
{
    long long before[NUMBERS] = {0}, after[NUMBERS] = {0};

    for (int i = 0; i < WARM_UP; i++)
        c->run(r);
    MPI_Barrier(MPI_COMM_WORLD);
    read_now(r, before);
    watching = 1;
    for (int i = 0; i < c->rounds; i++)
        c->run(r);
    watching = 0;
    read_now(r, after);
    for (int i = 0; i < NUMBERS; i++)
        after[i] -= before[i];
    describe(r, after);
    MPI_Allreduce(after, numbers, NUMBERS, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
}

static int route_is_right(const struct count_case *c, const room *r)
{
    char text[8192];

    if (!c->expected)
        return 1;
    ferry_plan_explain(r->plan, text, sizeof text);
    if (strstr(text, c->expected))
        return 1;
    fprintf(stderr, "rank %d, %s: expected \"%s\" in\n%s", rank, c->name, c->expected, text);
    return 0;
}

/* ---- Comparing ---- */

static void print_line(char *line, size_t room, const struct count_case *c, const long long *n)
{
    /* an MPI that moves bytes may use the heap as it likes */
    const long long heap = strcmp(c->routes, "all") == 0 && !c->receives ? n[HEAP] : 0;
    const long long allocations = c->receives ? 0 : n[ALLOCATIONS]; /* of what comes early: by chance */

    snprintf(line, room, "%s,%d,%lld,%lld,%lld,%lld,%lld,%lld", c->name, size, n[MESSAGES] / c->rounds,
             n[COPIED] * 100 / (n[PAYLOAD] * c->rounds), allocations, n[CALLS], heap, n[STAGING]);
}

/* The table must hold the very line. */
static int is_listed(const char *path, const char *wanted)
{
    FILE *const file = fopen(path, "r");
    const char *const ranks = strchr(wanted, ',') + 1;
    const size_t key = (size_t)(ranks - wanted) + strcspn(ranks, ",") + 1; /* length of "case,ranks," */
    char line[256];
    int found = 0;

    while (file && !found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        found = strcmp(line, wanted) == 0;
        if (!found && strncmp(line, wanted, key) == 0)
            fprintf(stderr, "expected %s\n", line);
    }
    if (file)
        fclose(file);
    if (!found)
        fprintf(stderr, "found    %s\n", wanted);
    return found;
}

static int run_case(const struct count_case *c, const char *table, int print)
{
    ferry_context_options options = FERRY_CONTEXT_OPTIONS_INIT;
    room r = {NULL};
    void *shared = NULL;
    long long numbers[NUMBERS];
    char line[256];

    options.routes = c->routes;
    MUST(ferry_context_create(MPI_COMM_WORLD, &options, &r.ctx));
    MUST(ferry_memory_alloc(r.ctx, CAST_BYTES, &shared));
    r.src = shared;
    r.dst = calloc(1, CAST_BYTES);
    c->make(&r);
    count_rounds(c, &r, numbers);
    int right = route_is_right(c, &r);
    print_line(line, sizeof line, c, numbers);
    if (rank == 0 && print)
        printf("%s\n", line);
    else if (rank == 0)
        right &= is_listed(table, line);
    ferry_plan_free(r.plan);
    ferry_bundle_free(r.bundle);
    ferry_memory_free(r.ctx, shared);
    free(r.dst);
    ferry_context_free(r.ctx);
    return right;
}

/* The counts belong to one node and its own routes. */
static int can_count(void)
{
    ferry_context *ctx = NULL;
    ferry_context_info info;

    MUST(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
    MUST(ferry_context_describe(ctx, &info));
    if (rank == 0 && info.node_size < size)
        printf("skipped: no shared memory (%s)\n", info.shared_reason);
    ferry_context_free(ctx);
    return info.node_size == size && size % 2 == 0;
}

int main(int argc, char **argv)
{
    int right = 1, all = 0;

    setenv("FERRY_TUNE", "off", 1); /* a trial would take the other way in some rounds */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2 || !can_count()) {
        MPI_Finalize();
        return argc < 2 ? 2 : 77;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        right &= run_case(&cases[i], argv[1], argc > 2);
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    MPI_Finalize();
    return !all;
}
