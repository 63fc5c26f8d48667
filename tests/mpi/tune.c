/* The tuning record among ranks: all ranks of a node have that of its first one, whatever the files are; plans choose
 * by it, and tell why. */
#include <unistd.h>

#include "ferry/experimental.h"
#include "mpi/plan.h"

static double value_of(const ferry_context *ctx, const char *name)
{
    ferry_tune_info info;

    for (int i = 0; ferry_tune_value(ctx, i, &info) == FERRY_OK; i++)
        if (strcmp(info.name, name) == 0)
            return info.value;
    CHECK(!name);
    return -1;
}

static void values(ferry_context *ctx)
{
    ferry_tune_info info;
    int count = 0;

    for (; ferry_tune_value(ctx, count, &info) == FERRY_OK; count++) {
        CHECK(info.name[0] && info.unit[0] && info.help[0]);
        CHECK(info.least <= info.value && info.value <= info.most);
        CHECK(info.least <= info.builtin && info.builtin <= info.most);
    }
    CHECK(count > 4);
    CHECK_EQ_INT(ferry_tune_value(ctx, count, &info), FERRY_ERR_NOT_FOUND);
    CHECK_EQ_INT(ferry_tune_value(ctx, -1, &info), FERRY_ERR_NOT_FOUND);
    CHECK_EQ_INT(ferry_tune_value(NULL, 0, &info), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_tune_value(ctx, 0, NULL), FERRY_ERR_ARG);
}

/* A call that the last rank makes differently fails on all, and changes nothing. */
static void refuse_set(ferry_context *ctx, const ferry_context_info *info)
{
    static const struct {
        const char *name;
        double value;
        int ranks; /* fewest */
        const char *words;
    } wrong[] = {
        {NULL, 100, 1, "name is NULL"},
        {"ring_begin_ns", 100, 1, "\"ring_begin_ns\""},
        {"ring_start_ns", 0, 1, "from 1 to"},
        {"ring_start_ns", -1, 1, "from 1 to"},
        {"ring_start_ns", 1e300, 1, "from 1 to"},
        {"ring_start_ns", 0.0 / 0.0, 1, "from 1 to"},
        {"slot_count", 2.5, 1, "whole number"},
        {"slot_bytes", 5000, 1, "whole pages"},
        {"ring_start_ns", 101, 2, "different"},
        {"direct_start_ns", 100, 2, "different"},
    };
    const double before = value_of(ctx, "ring_start_ns");

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const bool mine = info->rank == info->size - 1;
        if (info->size < wrong[i].ranks)
            continue;
        CHECK_EQ_INT(ferry_tune_set(ctx, mine ? wrong[i].name : "ring_start_ns", mine ? wrong[i].value : 100), FERRY_ERR_ARG);
        CHECK_DETAIL(wrong[i].words);
        CHECK(value_of(ctx, "ring_start_ns") == before);
    }
    CHECK_EQ_INT(ferry_tune_set(NULL, "ring_start_ns", 100), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_tune_save(NULL), FERRY_ERR_ARG);
}

/* ---- Choosing, and telling why ---- */

/* `rows` narrow rows each way between a rank and its partner. */
static ferry_plan *compile(ferry_context *ctx, const ferry_context_info *info, int64_t rows)
{
    ferry_edge edges[2] = {FERRY_EDGE_INIT, FERRY_EDGE_INIT};
    const int partner = info->rank ^ 1;
    const int64_t stride = 512;
    ferry_layout *row = NULL;
    ferry_plan *plan = NULL;

    if (rows == 1)
        CHECK_OK(ferry_layout_dense(4, 8, 0, &row));
    else
        CHECK_OK(ferry_layout_strided(1, &rows, &stride, 8, 0, &row));
    edges[0].from = edges[1].to = info->rank;
    edges[0].to = edges[1].from = partner;
    edges[0].source = edges[1].target = row;
    CHECK_OK(ferry_plan_compile(ctx, edges, partner < info->size ? 2 : 0, &plan));
    ferry_layout_free(row);
    return plan;
}

static void round_trip(const ferry_context_info *info, ferry_plan *plan)
{
    const int64_t sent[4] = {info->rank, 1, 2, 3};
    int64_t got[4] = {-1, -1, -1, -1};

    CHECK_OK(ferry_plan_start(plan, sent, got));
    CHECK_OK(ferry_plan_wait(plan));
    CHECK_EQ_INT(got[0], (info->rank ^ 1) < info->size ? info->rank ^ 1 : -1);
}

static bool usable(const ferry_context *ctx, const char *route)
{
    ferry_route_info info;

    for (int i = 0; ferry_context_route(ctx, i, &info) == FERRY_OK; i++)
        if (strcmp(info.name, route) == 0)
            return info.usable;
    return false;
}

/* The line of a plan's text for the edge to `to`, or NULL. */
static const char *line_to(const char *text, int to)
{
    char words[64];

    snprintf(words, sizeof words, "  why: the edge to rank %d by ", to);
    const char *const at = strstr(text, words);
    return at ? at + strlen(words) : NULL;
}

static bool begins(const char *text, const char *with)
{
    return text && strncmp(text, with, strlen(with)) == 0;
}

/* With the record changed so that `cheap` costs less than `dear`, it is taken. */
static void choose(ferry_context *ctx, const ferry_context_info *info, const char *cheap, const char *dear, bool both)
{
    char name[32], text[4096], expected[96];
    ferry_plan_info described;

    snprintf(name, sizeof name, "%s_start_ns", dear);
    CHECK_OK(ferry_tune_set(ctx, name, 40000));
    snprintf(name, sizeof name, "%s_start_ns", cheap);
    CHECK_OK(ferry_tune_set(ctx, name, 50));
    ferry_plan *const plan = compile(ctx, info, 1);
    ferry_plan_explain(plan, text, sizeof text);
    CHECK_OK(ferry_plan_describe(plan, &described));
    if ((info->rank ^ 1) < info->size) {
        CHECK(line_to(text, info->rank ^ 1) != NULL);
        CHECK(described.expected_ns > 0);
    }
    if (both && (info->rank ^ 1) < info->size) {
        snprintf(expected, sizeof expected, "node_%s, about ", cheap);
        CHECK(begins(line_to(text, info->rank ^ 1), expected));
        snprintf(expected, sizeof expected, "; node_%s 40", dear); /* 40.0xx us */
        CHECK(strstr(text, expected) != NULL);
        CHECK(described.expected_ns >= 50 && described.expected_ns < 40000);
    }
    round_trip(info, plan);
    ferry_plan_free(plan);
}

/* Packing costs by the wire as well: a column of any length stays within the node. */
static void stay_near(ferry_context *ctx, const ferry_context_info *info)
{
    char text[4096];

    for (int64_t rows = 16; rows <= 1 << 22; rows *= 16) {
        ferry_plan *const plan = compile(ctx, info, rows);
        ferry_plan_explain(plan, text, sizeof text);
        CHECK((info->rank ^ 1) >= info->size || begins(line_to(text, info->rank ^ 1), "node_"));
        ferry_plan_free(plan);
    }
}

static void choices(ferry_context *ctx, const ferry_context_info *info)
{
    int near = info->node_size, all_near = 0;

    MPI_Allreduce(&near, &all_near, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    const bool both = usable(ctx, "node_ring") && usable(ctx, "node_direct") && all_near == info->size && info->size > 1;
    if (both)
        stay_near(ctx, info);
    choose(ctx, info, "ring", "direct", both);
    choose(ctx, info, "direct", "ring", both);
}

/* What is not allowed is said, and so is the time of the one that is left. */
static void exclusions(void)
{
    ferry_context_options options = FERRY_CONTEXT_OPTIONS_INIT;
    ferry_context *ctx = NULL;
    ferry_context_info info;
    char text[4096];

    options.routes = "wire_pack";
    options.nodes = "auto";
    CHECK_OK(ferry_context_create(MPI_COMM_WORLD, &options, &ctx));
    CHECK_OK(ferry_context_describe(ctx, &info));
    ferry_plan *const plan = compile(ctx, &info, 1);
    ferry_plan_explain(plan, text, sizeof text);
    if ((info.rank ^ 1) < info.size) {
        CHECK(begins(line_to(text, info.rank ^ 1), "wire_pack, about "));
        CHECK(strstr(text, "node_ring is not allowed (FERRY_ROUTE)") != NULL);
        CHECK(strstr(text, "node_direct is not allowed (FERRY_ROUTE)") != NULL);
    }
    ferry_plan_free(plan);
    ferry_context_free(ctx);
}

/* ---- Files ---- */

enum { NAME = 200, MOST = 64 };

/* A folder of each rank's own below one of all, as its cache. */
static void make_cache(const ferry_context_info *info, char shared[NAME])
{
    char own[NAME + 16];

    snprintf(shared, NAME, "/tmp/ferry-test.XXXXXX");
    if (info->rank == 0)
        CHECK(mkdtemp(shared) != NULL);
    MPI_Bcast(shared, NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(own, sizeof own, "%s/%d", shared, info->rank);
    setenv("XDG_CACHE_HOME", own, 1);
}

static void drop_cache(const ferry_context_info *info, const char *shared, const char *before)
{
    char command[NAME + 16];

    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(command, sizeof command, "rm -rf %s", shared);
    if (info->rank == 0)
        CHECK_EQ_INT(system(command), 0);
    if (before)
        setenv("XDG_CACHE_HOME", before, 1);
    else
        unsetenv("XDG_CACHE_HOME");
}

/* Each rank's file has a number of its own. */
static void save_all(ferry_context *ctx, const ferry_context_info *info)
{
    for (int r = 0; r < info->size; r++) {
        CHECK_OK(ferry_tune_set(ctx, "ring_start_ns", 1000 + r));
        if (r == info->rank)
            CHECK_OK(ferry_tune_save(ctx));
    }
}

/* All ranks of a node have the number of its first rank, or the built-in one. */
static void check_shared(const char *way, bool from_file)
{
    struct {
        int node;
        double value;
    } mine = {0}, all[MOST] = {{0}};
    ferry_context *ctx = NULL;
    ferry_context_info info;
    ferry_tune_info first;
    int rank;

    setenv("FERRY_TUNE", way, 1);
    CHECK_OK(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx));
    CHECK_OK(ferry_context_describe(ctx, &info));
    CHECK_OK(ferry_tune_value(ctx, 0, &first));
    CHECK_EQ_INT(strcmp(info.tuning, from_file ? "file" : "built-in"), 0);
    CHECK(info.tuning_reason[0] != '\0');
    mine.node = info.node;
    mine.value = value_of(ctx, "ring_start_ns");
    CHECK_OK(ferry_context_gather(ctx, &mine, sizeof mine, all));
    for (rank = 0; all[rank].node != info.node; rank++)
        ;
    CHECK(mine.value == (from_file ? 1000 + rank : first.builtin));
    ferry_plan *const plan = compile(ctx, &info, 1);
    round_trip(&info, plan);
    ferry_plan_free(plan);
    ferry_context_free(ctx);
}

static void spoil_file(void)
{
    char path[1024];

    CHECK(ferry_tune_path(NULL, 0) == ferry_tune_path(path, sizeof path));
    FILE *const file = fopen(path, "a");
    if (!CHECK(file != NULL))
        return;
    fputs("one line too many\n", file);
    fclose(file);
}

static void files(ferry_context *ctx, const ferry_context_info *info)
{
    static const char *const settings[] = {"XDG_CACHE_HOME", "FERRY_TUNE", "FERRY_LOG"};
    char shared[NAME], *before[3];

    for (int i = 0; i < 3; i++)
        before[i] = getenv(settings[i]) ? strdup(getenv(settings[i])) : NULL;
    make_cache(info, shared);
    save_all(ctx, info);
    check_shared("file", true);
    check_shared("trial", true);
    check_shared("off", false);
    setenv("FERRY_LOG", "none", 1);
    spoil_file();
    check_shared("file", false);
    for (int i = 1; i < 3; i++)
        before[i] ? setenv(settings[i], before[i], 1) : unsetenv(settings[i]);
    drop_cache(info, shared, before[0]);
    for (int i = 0; i < 3; i++)
        free(before[i]);
}

void check_tune(ferry_context *own)
{
    ferry_context *ctx = NULL;
    ferry_context_info info;

    CHECK_OK(ferry_context_describe(own, &info));
    if (info.size > 2 && !plan_first_way()) /* many plans are compiled, nothing new is seen */
        return;
    CHECK_OK(ferry_context_create(MPI_COMM_WORLD, NULL, &ctx)); /* `own` is not changed for others */
    values(ctx);
    refuse_set(ctx, &info);
    choices(ctx, &info);
    exclusions();
    if (info.size <= MOST)
        files(ctx, &info);
    ferry_context_free(ctx);
}
