/* Contexts: what they tell, what they refuse, how ranks agree, and their lives beside one another. */

#include "mpi/plan.h"

/* A ring of one int per rank: the smallest exchange that shows that a context works. */
static void works(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);
    const int last = (info.rank + info.size - 1) % info.size;
    ferry_layout *layout = plan_dense(1, sizeof(int), 0);
    ferry_edge edges[2] = {FERRY_EDGE_INIT, FERRY_EDGE_INIT};
    ferry_plan *plan = NULL;
    int mine = 1000 + info.rank, got = -1;

    edges[0].from = info.rank;
    edges[0].to = (info.rank + 1) % info.size;
    edges[1].from = last;
    edges[1].to = info.rank;
    for (int i = 0; i < 2; i++)
        edges[i].source = edges[i].target = layout;
    CHECK_OK(ferry_plan_compile(ctx, edges, info.size > 1 ? 2 : 1, &plan));
    CHECK_OK(ferry_plan_start(plan, &mine, &got));
    CHECK_OK(ferry_plan_wait(plan));
    CHECK_EQ_INT(got, 1000 + last);
    ferry_plan_free(plan);
    ferry_layout_free(layout);
}

static ferry_context *create(MPI_Comm comm)
{
    ferry_context *ctx = NULL;

    CHECK_OK(ferry_context_create(comm, NULL, &ctx));
    return ctx;
}

/* ---- What a context tells ---- */

/* The node of a rank, and the ranks of a node, as the setting wants them on one machine. */
static int node_of(const char *nodes, int rank)
{
    return strcmp(nodes, "mpi") == 0 ? rank : strcmp(nodes, "block:2") == 0 ? rank / 2 : 0;
}

static void describe(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);
    const char *const nodes = getenv("FERRY_NODES");
    int rank, size, mine = 0, before = 0;
    ferry_context_info untouched = {.rank = -9};

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < size; i++) {
        mine += node_of(nodes, i) == node_of(nodes, rank);
        before += node_of(nodes, i) == node_of(nodes, rank) && i < rank;
    }
    CHECK_EQ_INT(info.rank, rank);
    CHECK_EQ_INT(info.size, size);
    CHECK_EQ_INT(info.node, node_of(nodes, rank));
    CHECK_EQ_INT(info.node_count, node_of(nodes, size - 1) + 1);
    CHECK_EQ_INT(info.node_rank, before);
    CHECK_EQ_INT(info.node_size, mine);
    CHECK_EQ_INT(strcmp(info.shared_memory, "none") == 0, mine == 1);
    CHECK_EQ_INT(info.shared_reason[0] != '\0', mine == 1);
    CHECK(info.timeout_s == 0);
    CHECK_EQ_INT(ferry_context_describe(NULL, &untouched), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_context_describe(ctx, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(untouched.rank, -9);
}

/* Which routes can be used follows from the list of allowed ones and from who shares the node. */
static void routes(ferry_context *ctx)
{
    static const struct {
        const char *name;
        bool node;
    } expected[] = {{"self", false}, {"node_direct", true}, {"node_ring", true}, {"wire_pack", false}};
    enum { ROUTES = sizeof expected / sizeof *expected };
    const ferry_context_info info = plan_info_of(ctx);
    const char *const allowed = getenv("FERRY_ROUTE");
    ferry_route_info route;

    for (int i = 0; i < ROUTES; i++) {
        const bool listed = i == 0 || strcmp(allowed, "all") == 0 || strstr(allowed, expected[i].name);
        const bool reaches = i == 0 || (expected[i].node ? info.node_size > 1 : info.size > 1);
        CHECK_OK(ferry_context_route(ctx, i, &route));
        CHECK_EQ_INT(strcmp(route.name, expected[i].name), 0);
        CHECK_EQ_INT(route.usable, listed && reaches);
        CHECK(route.reason[0] != '\0');
        CHECK(listed || strstr(route.reason, "FERRY_ROUTE") != NULL);
    }
    CHECK_EQ_INT(ferry_context_route(ctx, ROUTES, &route), FERRY_ERR_NOT_FOUND);
    CHECK_EQ_INT(ferry_context_route(ctx, -1, &route), FERRY_ERR_NOT_FOUND);
    CHECK_EQ_INT(ferry_context_route(ctx, 0, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_context_route(NULL, 0, &route), FERRY_ERR_ARG);
}

static void cartesian(ferry_context *world)
{
    const int size = plan_info_of(world).size;
    int grid[2] = {size % 2 ? 1 : 2, size % 2 ? size : size / 2}, periodic[2] = {1, 0};
    int dims = -1, found_grid[3] = {-1, -1, -1}, found_periodic[3] = {-1, -1, -1};
    MPI_Comm comm;

    CHECK_EQ_INT(ferry_context_cartesian(world, 3, &dims, found_grid, found_periodic), FERRY_ERR_NOT_FOUND);
    MPI_Cart_create(MPI_COMM_WORLD, 2, grid, periodic, 0, &comm);
    ferry_context *ctx = create(comm);
    MPI_Comm_free(&comm);
    CHECK_EQ_INT(ferry_context_cartesian(ctx, 1, &dims, found_grid, found_periodic), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_context_cartesian(ctx, 3, NULL, found_grid, found_periodic), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_context_cartesian(ctx, 3, &dims, NULL, found_periodic), FERRY_ERR_ARG);
    CHECK_EQ_INT(dims, -1);
    CHECK_OK(ferry_context_cartesian(ctx, 3, &dims, found_grid, found_periodic));
    CHECK_EQ_INT(dims, 2);
    for (int d = 0; d < 2; d++) {
        CHECK_EQ_INT(found_grid[d], grid[d]);
        CHECK_EQ_INT(found_periodic[d], periodic[d]);
    }
    CHECK_EQ_INT(found_grid[2], -1);
    ferry_context_free(ctx);
}

/* The communicator behind a context may be a part of all ranks, in an order of its own. */
static void part_of_the_ranks(ferry_context *world)
{
    const ferry_context_info all = plan_info_of(world);
    MPI_Comm comm;
    int rank, size;

    MPI_Comm_split(MPI_COMM_WORLD, all.rank % 2, -all.rank, &comm);
    ferry_context *ctx = create(comm);
    const ferry_context_info info = plan_info_of(ctx);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    CHECK_EQ_INT(info.rank, rank);
    CHECK_EQ_INT(info.size, size);
    MPI_Comm_free(&comm);
    works(ctx);
    ferry_context_free(ctx);
}

/* "0,1,0,1,...": nodes whose ranks do not follow one another. */
static void nodes_as_a_list(ferry_context *world)
{
    const ferry_context_info all = plan_info_of(world);
    ferry_context_options options = FERRY_CONTEXT_OPTIONS_INIT;
    char list[256] = "";
    ferry_context *ctx = NULL;

    for (int i = 0; i < all.size; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", i ? "," : "", i % 2);
    options.nodes = list;
    CHECK_OK(ferry_context_create(MPI_COMM_WORLD, &options, &ctx));
    const ferry_context_info info = plan_info_of(ctx);
    CHECK_EQ_INT(info.node_size, (all.size + 1 - all.rank % 2) / 2);
    CHECK_EQ_INT(info.node_rank, info.node_size > 1 ? all.rank / 2 : 0);
    works(ctx);
    ferry_context_free(ctx);
}

/* ---- Agreement ---- */

static void agree(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);
    const int last = info.size - 1;
    ferry_layout *none = NULL;

    CHECK_OK(ferry_context_agree(ctx, FERRY_OK));
    for (int lowest = 0; lowest < info.size; lowest++) {
        const bool fails = info.rank == lowest || info.rank == last;
        if (fails) /* leaves a text with the number of the rank */
            ferry_layout_dense(-1 - info.rank, 8, 0, &none);
        const ferry_status verdict = info.rank == lowest ? FERRY_ERR_ARG : fails ? FERRY_ERR_MEMORY : FERRY_OK;
        CHECK_EQ_INT(ferry_context_agree(ctx, verdict), FERRY_ERR_ARG);
        char words[32];
        snprintf(words, sizeof words, "%d", -1 - lowest);
        CHECK_DETAIL(words);
        check_same_detail();
    }
    CHECK_EQ_INT(ferry_context_agree(NULL, FERRY_OK), FERRY_ERR_ARG);
}

static void gather(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);
    const int last = info.size - 1;
    struct {
        double a;
        char b[5];
    } mine = {info.rank + 0.5, "rank"}, *all = calloc((size_t)info.size, sizeof *all);
    char *const large = calloc((size_t)info.size + 1, 4096);

    mine.b[4] = (char)info.rank;
    CHECK_OK(ferry_context_gather(ctx, &mine, sizeof mine, all));
    for (int i = 0; i < info.size; i++) {
        CHECK(all[i].a == i + 0.5);
        CHECK_EQ_INT(all[i].b[4], i);
    }
    memset(large + 4096 * info.size, info.rank + 1, 4096);
    CHECK_OK(ferry_context_gather(ctx, large + 4096 * info.size, 4096, large));
    for (int i = 0; i < info.size; i++)
        CHECK(large[4096 * i] == i + 1 && large[4096 * i + 4095] == i + 1);
    CHECK_EQ_INT(ferry_context_gather(ctx, large, info.rank == last ? 4097 : 4, large), FERRY_ERR_ARG);
    CHECK_DETAIL("expected 1 to 4096");
    CHECK_EQ_INT(ferry_context_gather(ctx, large, info.rank == last ? 0 : 4, large), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_context_gather(ctx, info.rank == last ? NULL : large, 4, large), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_context_gather(ctx, large, 4, info.rank == last ? NULL : large), FERRY_ERR_ARG);
    check_same_detail();
    if (last > 0) {
        CHECK_EQ_INT(ferry_context_gather(ctx, large, info.rank == last ? 8 : 4, large), FERRY_ERR_ARG);
        CHECK_DETAIL("bytes is 4 on some ranks, 8 on others");
    }
    free(all);
    free(large);
}

/* A rank may wait for the end of a round before it joins a collective call, and another one after: the call
 * moves the round on. */
static void rounds_move_on_meanwhile(ferry_context *ctx)
{
    enum { BYTES = 3000000 };
    const ferry_context_info info = plan_info_of(ctx);
    char *const src = calloc(BYTES, 1), *const dst = calloc(BYTES, 1);
    int *const all = calloc((size_t)info.size, sizeof *all);
    ferry_plan *plan = plan_one_edge(ctx, 0, info.size - 1, BYTES, 1), *other = NULL;
    const bool early = info.rank > 0;

    for (int i = 0; i < 3; i++) {
        src[BYTES - 1] = (char)(i + 1);
        CHECK_OK(ferry_plan_start(plan, src, dst));
        if (early)
            CHECK_OK(ferry_plan_wait(plan));
        if (i == 0)
            CHECK_OK(ferry_context_agree(ctx, FERRY_OK));
        else if (i == 1)
            CHECK_OK(ferry_context_gather(ctx, &info.rank, sizeof info.rank, all));
        else
            CHECK_OK(ferry_plan_compile(ctx, NULL, 0, &other));
        CHECK_OK(ferry_plan_wait(plan));
        if (info.rank == info.size - 1)
            CHECK_EQ_INT(dst[BYTES - 1], i + 1);
    }
    ferry_plan_free(other);
    ferry_plan_free(plan);
    free(src);
    free(dst);
    free(all);
}

/* ---- Refusals ---- */

static void spoil_size(ferry_context_options *o) { o->size = 3; }
static void spoil_version(ferry_context_options *o) { o->version += 100; }
static void spoil_routes(ferry_context_options *o) { o->routes = "node_ring,pigeon"; }
static void spoil_empty_route(ferry_context_options *o) { o->routes = "node_ring,,self"; }
static void spoil_nodes(ferry_context_options *o) { o->nodes = "0,zero"; }
static void spoil_block(ferry_context_options *o) { o->nodes = "block:0"; }
static void differ_routes(ferry_context_options *o) { o->routes = "self"; }
static void differ_nodes(ferry_context_options *o) { o->nodes = "block:7"; }
static void differ_timeout(ferry_context_options *o) { o->timeout_s = 12; }
static void differ_version(ferry_context_options *o) { o->version += 1; }

static const struct refusal {
    const char *words;
    int ranks; /* fewest that it makes sense with */
    bool everywhere; /* else only the last rank is wrong */
    void (*spoil)(ferry_context_options *o);
} refusals[] = {
    {"options->size is 3", 1, false, spoil_size},
    {"compile and run with the same one", 1, false, spoil_version},
    {"\"pigeon\"", 1, true, spoil_routes},
    {"name \"\"", 1, true, spoil_empty_route},
    {"expected auto, mpi, block:N or", 1, true, spoil_nodes},
    {"N >= 1", 1, true, spoil_block},
    {"routes (FERRY_ROUTE) are \"self\" on rank", 2, false, differ_routes},
    {"nodes (FERRY_NODES) are \"block:7\" on rank", 2, false, differ_nodes},
    {"the timeout (FERRY_TIMEOUT) is 12 s on rank", 2, false, differ_timeout},
    {"version", 2, false, differ_version},
};

static void refuse_options(const ferry_context_info *info)
{
    const int last = info->size - 1;

    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        ferry_context_options options = FERRY_CONTEXT_OPTIONS_INIT;
        ferry_context *ctx = NULL;
        if (info->size < refusals[i].ranks)
            continue;
        if (refusals[i].everywhere || info->rank == last)
            refusals[i].spoil(&options);
        CHECK_EQ_INT(ferry_context_create(MPI_COMM_WORLD, &options, &ctx), FERRY_ERR_ARG);
        CHECK(ctx == NULL);
        CHECK_DETAIL(refusals[i].words);
        check_same_detail();
    }
}

/* A setting that the last rank has wrong, all others not at all or as they had it. */
static void refuse_settings(const ferry_context_info *info)
{
    static const struct {
        const char *name, *value, *words;
    } wrong[] = {
        {"FERRY_NODES", "some", "FERRY_NODES"},      {"FERRY_ROUTE", "somehow", "FERRY_ROUTE"},
        {"FERRY_TIMEOUT", "soon", "FERRY_TIMEOUT"},  {"FERRY_TIMEOUT", "-1", "FERRY_TIMEOUT"},
        {"FERRY_SHM", "floppy", "FERRY_SHM"},        {"FERRY_POOL", "deep", "FERRY_POOL"},
        {"FERRY_WAIT", "tables", "FERRY_WAIT"},      {"FERRY_TUNE", "loudly", "FERRY_TUNE"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *const before = getenv(wrong[i].name) ? strdup(getenv(wrong[i].name)) : NULL;
        ferry_context *ctx = NULL;
        if (info->rank == info->size - 1)
            setenv(wrong[i].name, wrong[i].value, 1);
        CHECK_EQ_INT(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx), FERRY_ERR_ARG);
        CHECK(ctx == NULL);
        CHECK_DETAIL(wrong[i].words);
        check_same_detail();
        if (before)
            setenv(wrong[i].name, before, 1);
        else
            unsetenv(wrong[i].name);
        free(before);
    }
}

static void refuse_communicators(const ferry_context_info *info)
{
    ferry_context *ctx = NULL;
    MPI_Comm half, between;

    CHECK_EQ_INT(ferry_context_create(MPI_COMM_NULL, NULL, &ctx), FERRY_ERR_ARG);
    ferry_context **const output = info->rank == info->size - 1 ? NULL : &ctx;
    CHECK_EQ_INT(ferry_context_create(MPI_COMM_WORLD, NULL, output), FERRY_ERR_ARG);
    CHECK_DETAIL("ctx_out is NULL");
    check_same_detail();
    CHECK(ctx == NULL);
    ferry_context_free(NULL);
    if (info->size == 1)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, info->rank == 0, info->rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, info->rank == 0, 3, &between);
    CHECK_EQ_INT(ferry_context_create(between, NULL, &ctx), FERRY_ERR_ARG);
    CHECK_DETAIL("intercommunicator");
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* ---- Lives ---- */

/* Freed in another order than made; each works until its end. */
static void beside_each_other(void)
{
    ferry_context *ctx[4];

    for (int i = 0; i < 4; i++) {
        ctx[i] = create(i == 2 ? MPI_COMM_SELF : MPI_COMM_WORLD);
        works(ctx[i]);
    }
    ferry_context_free(ctx[1]);
    works(ctx[0]);
    ferry_context_free(ctx[3]);
    works(ctx[2]);
    ferry_context_free(ctx[0]);
    works(ctx[2]);
    ferry_context_free(ctx[2]);
}

/* No file stays open, and no communicator is left: an MPI has 2048 or so. */
static void one_after_another(MPI_Comm comm, int count)
{
    const long before = check_entries("/proc/self/fd");

    for (int i = 0; i < count; i++)
        ferry_context_free(create(comm));
    CHECK_EQ_INT(check_entries("/proc/self/fd"), before);
}

/* Each way to share memory, and none. */
static void ways_to_share(void)
{
    static const char *const ways[] = {"memfd", "socket", "named", "none"};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        setenv("FERRY_SHM", ways[i], 1);
        ferry_context *ctx = create(MPI_COMM_WORLD);
        const ferry_context_info info = plan_info_of(ctx);
        if (i < 3 && info.size > 1) {
            CHECK_EQ_INT(strcmp(info.shared_memory, ways[i]), 0);
            CHECK_EQ_INT(info.node_size, info.size);
        } else {
            CHECK_EQ_INT(strcmp(info.shared_memory, "none"), 0);
            CHECK_EQ_INT(info.node_size, 1);
            CHECK(info.shared_reason[0] != '\0');
        }
        works(ctx);
        ferry_context_free(ctx);
        unsetenv("FERRY_SHM");
    }
}

/* Zeroed and aligned, again also where it was used before. */
static void memory(ferry_context *ctx)
{
    static const size_t sizes[] = {0, 1, 128, 4096, 5000, (2 << 20) - 1, 2 << 20, (5 << 20) + 3};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    void *data[SIZES] = {NULL}, *none = NULL;

    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < SIZES; i++) {
            long wrong = 0;
            CHECK_OK(ferry_memory_alloc(ctx, sizes[i], &data[i]));
            CHECK_EQ_INT((uintptr_t)data[i] % (sizes[i] >= 2 << 20 ? 2 << 20 : 128), 0);
            for (size_t k = 0; k < sizes[i]; k++)
                wrong += ((char *)data[i])[k] != 0;
            CHECK_EQ_INT(wrong, 0);
            memset(data[i], 0xff, sizes[i]);
        }
        for (int i = SIZES - 1; i >= 0; i -= 2)
            ferry_memory_free(ctx, data[i]);
        for (int i = SIZES - 2; i >= 0; i -= 2)
            ferry_memory_free(ctx, data[i]);
    }
    CHECK_EQ_INT(ferry_memory_alloc(ctx, (size_t)1 << 50, &none), FERRY_ERR_MEMORY);
    CHECK_DETAIL("1125899906842624 bytes");
    CHECK_EQ_INT(ferry_memory_alloc(ctx, SIZE_MAX, &none), FERRY_ERR_MEMORY);
    CHECK(none == NULL);
    CHECK_EQ_INT(ferry_memory_alloc(ctx, 1, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_memory_alloc(NULL, 1, &none), FERRY_ERR_ARG);
    ferry_memory_free(ctx, NULL);
}

/* The totals move by what was moved. */
static void counters(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);
    ferry_counters before, after;

    CHECK_OK(ferry_context_counters(ctx, &before));
    works(ctx);
    CHECK_OK(ferry_context_counters(ctx, &after));
    CHECK_EQ_INT(after.rounds - before.rounds, 1);
    CHECK(after.allocations > before.allocations); /* by compiling */
    CHECK(after.copied_bytes - before.copied_bytes >= sizeof(int));
    if (info.node_count == 1)
        CHECK_EQ_INT(after.messages > before.messages, info.size > 1 && plan_wire_way());
    else if (info.node_size == 1)
        CHECK_EQ_INT(after.messages - before.messages, 1);
    CHECK_EQ_INT(ferry_context_counters(NULL, &after), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_context_counters(ctx, NULL), FERRY_ERR_ARG);
}

void check_context(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);

    works(ctx);
    describe(ctx);
    routes(ctx);
    cartesian(ctx);
    part_of_the_ranks(ctx);
    agree(ctx);
    gather(ctx);
    memory(ctx);
    rounds_move_on_meanwhile(ctx);
    beside_each_other();
    counters(ctx);
    if (!plan_first_way())
        return;
    nodes_as_a_list(ctx);
    refuse_options(&info);
    refuse_settings(&info);
    refuse_communicators(&info);
    ways_to_share();
    one_after_another(MPI_COMM_SELF, info.size <= 2 ? 2100 : 50);
    one_after_another(MPI_COMM_WORLD, 20);
}
