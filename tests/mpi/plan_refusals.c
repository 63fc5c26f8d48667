/* What plans refuse: one rank is wrong, all ranks say the same, nothing is left, and the next plan works. */
#include "mpi/plan.h"

enum { BYTES = 64, EDGES = 5 };

/* Layouts that the cases are made of: name, and how they come to be. */
typedef struct pieces {
    ferry_layout *first, *second;          /* 4 ints at 0, 4 ints at 16 */
    ferry_layout *shifted;                 /* 4 ints at 8 */
    ferry_layout *three, *wide, *tangled;  /* 3 ints; 2 x 8 bytes; 4 ints that share bytes */
} pieces;

/* A good exchange: two blocks to the next rank, two from the one before. */
typedef struct offer {
    ferry_edge edges[EDGES];
    size_t count;
    const ferry_edge *list;
    ferry_edge *out, *in; /* the first of each kind; the same one when there is a single rank */
    const pieces *pieces;
    int rank, size;
} offer;

static pieces make_pieces(void)
{
    const int64_t four[] = {4}, close[] = {2};
    pieces p = {.first = plan_dense(4, 4, 0), .second = plan_dense(4, 4, 16), .shifted = plan_dense(4, 4, 8),
                .three = plan_dense(3, 4, 0), .wide = plan_dense(2, 8, 0)};

    CHECK_OK(ferry_layout_strided(1, four, close, 4, 0, &p.tangled));
    return p;
}

static void drop_pieces(const pieces *p)
{
    ferry_layout *const all[] = {p->first, p->second, p->shifted, p->three, p->wide, p->tangled};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ferry_layout_free(all[i]);
}

static void add(offer *o, int from, int to, int tag)
{
    ferry_edge *const e = &o->edges[o->count++];

    *e = (ferry_edge)FERRY_EDGE_INIT;
    e->from = from;
    e->to = to;
    e->tag = tag;
    e->source = from == o->rank ? (tag ? o->pieces->second : o->pieces->first) : NULL;
    e->target = to == o->rank ? (tag ? o->pieces->second : o->pieces->first) : NULL;
}

static offer good_offer(const ferry_context_info *info, const pieces *p)
{
    offer o = {.pieces = p, .rank = info->rank, .size = info->size};
    const int next = (o.rank + 1) % o.size, last = (o.rank + o.size - 1) % o.size;

    for (int tag = 0; tag < 2; tag++)
        add(&o, o.rank, next, tag);
    for (int tag = 0; tag < 2 && o.size > 1; tag++)
        add(&o, last, o.rank, tag);
    return o;
}

static void spoil_source(offer *o) { o->out->source = NULL; }
static void spoil_target(offer *o) { o->in->target = NULL; }
static void spoil_to_high(offer *o) { o->out->to = o->size; }
static void spoil_to_low(offer *o) { o->out->to = -1; }
static void spoil_from_high(offer *o) { o->in->from = o->size; }
static void spoil_from_low(offer *o) { o->in->from = -2; }
static void spoil_tag(offer *o) { o->out->tag = -3; }
static void spoil_strangers(offer *o) { o->out->from = o->out->to, o->out->to = (o->rank + 2) % o->size; }
static void spoil_buffer_low(offer *o) { o->out->buffer = -1; }
static void spoil_buffer_high(offer *o) { o->in->buffer = FERRY_PLAN_MAX_BUFFERS; }
static void spoil_tangled(offer *o) { o->in->target = o->pieces->tangled; }
static void spoil_shared(offer *o) { o->in->target = o->pieces->shifted; }
static void spoil_edge_size(offer *o) { o->in->size = 0; }
static void spoil_list(offer *o) { o->list = NULL; }
static void spoil_counts_out(offer *o) { o->out->source = o->pieces->three; }
static void spoil_counts_in(offer *o) { o->in->target = o->pieces->three; }
static void spoil_element(offer *o) { o->out->source = o->pieces->wide; }
static void spoil_all(offer *o) { o->count = 0; }
static void spoil_first_out(offer *o) { *o->out = o->edges[--o->count]; }
static void spoil_last_out(offer *o) { o->edges[1] = o->edges[--o->count]; }
static void spoil_first_in(offer *o) { *o->in = o->edges[--o->count]; }
static void spoil_last_in(offer *o) { o->count--; }
static void spoil_other_tag(offer *o) { o->out->tag = 2; }
static void spoil_more_out(offer *o) { add(o, o->rank, (o->rank + 1) % o->size, 0); }
static void spoil_more_in(offer *o)
{
    add(o, (o->rank + o->size - 1) % o->size, o->rank, 7);
    o->edges[o->count - 1].buffer = 1;
}

static const struct refusal {
    const char *words;
    ferry_status status;
    int ranks; /* fewest that it makes sense with */
    void (*spoil)(offer *o);
} refusals[] = {
    {"source is NULL", FERRY_ERR_ARG, 1, spoil_source},
    {"target is NULL", FERRY_ERR_ARG, 1, spoil_target},
    {"expected ranks 0 to", FERRY_ERR_ARG, 1, spoil_to_high},
    {"expected ranks 0 to", FERRY_ERR_ARG, 1, spoil_to_low},
    {"expected ranks 0 to", FERRY_ERR_ARG, 1, spoil_from_high},
    {"goes from rank -2", FERRY_ERR_ARG, 1, spoil_from_low},
    {"tag is -3", FERRY_ERR_ARG, 1, spoil_tag},
    {"but was given by rank", FERRY_ERR_ARG, 3, spoil_strangers},
    {"buffer is -1", FERRY_ERR_ARG, 1, spoil_buffer_low},
    {"buffer is 64", FERRY_ERR_ARG, 1, spoil_buffer_high},
    {"has elements that share bytes", FERRY_ERR_ARG, 1, spoil_tangled},
    {"share bytes on rank", FERRY_ERR_ARG, 1, spoil_shared},
    {"size is 0", FERRY_ERR_ARG, 1, spoil_edge_size},
    {"edges is NULL and count is", FERRY_ERR_ARG, 1, spoil_list},
    {"3 elements of 4 bytes", FERRY_ERR_SHAPE, 1, spoil_counts_out},
    {"takes 3 of 4 bytes", FERRY_ERR_SHAPE, 1, spoil_counts_in},
    {"2 elements of 8 bytes", FERRY_ERR_SHAPE, 1, spoil_element},
    {"named by rank", FERRY_ERR_SHAPE, 2, spoil_all},
    {"tag 0: named by rank 0, but not by rank", FERRY_ERR_SHAPE, 2, spoil_first_out},
    {"tag 1: named by rank 0, but not by rank", FERRY_ERR_SHAPE, 2, spoil_last_out},
    {"tag 0: named by rank", FERRY_ERR_SHAPE, 2, spoil_first_in},
    {"tag 1: named by rank", FERRY_ERR_SHAPE, 2, spoil_last_in},
    {"named by rank", FERRY_ERR_SHAPE, 2, spoil_other_tag},
    {"tag 0: named by rank", FERRY_ERR_SHAPE, 2, spoil_more_out},
    {"tag 7: named by rank", FERRY_ERR_SHAPE, 2, spoil_more_in},
};

/* The good exchange compiles and moves what it should. */
static void good_plan_works(ferry_context *ctx, const ferry_context_info *info, const pieces *p)
{
    offer o = good_offer(info, p);
    int src[8], dst[8] = {0};
    ferry_plan *plan = NULL;
    const int last = (info->rank + info->size - 1) % info->size;

    for (int i = 0; i < 8; i++)
        src[i] = 100 * info->rank + i;
    CHECK_OK(ferry_plan_compile(ctx, o.edges, o.count, &plan));
    CHECK_OK(ferry_plan_start(plan, src, dst));
    CHECK_OK(ferry_plan_wait(plan));
    for (int i = 0; i < 8; i++)
        CHECK_EQ_INT(dst[i], 100 * last + i);
    ferry_plan_free(plan);
}

/* Right on all ranks but the last; all say the same. */
static void refuse(ferry_context *ctx, const struct refusal *wrong, const ferry_context_info *info, const pieces *p)
{
    offer o = good_offer(info, p);
    ferry_plan *plan = NULL;

    o.list = o.edges;
    o.out = &o.edges[0];
    o.in = &o.edges[info->size > 1 ? 2 : 0];
    if (info->rank == info->size - 1)
        wrong->spoil(&o);
    CHECK_EQ_INT(ferry_plan_compile(ctx, o.list, o.count, &plan), wrong->status);
    CHECK(plan == NULL);
    CHECK_DETAIL(wrong->words);
    check_same_detail();
}

static void refuse_output(ferry_context *ctx, const ferry_context_info *info, const pieces *p)
{
    offer o = good_offer(info, p);
    ferry_plan *plan = NULL;

    ferry_plan **const output = info->rank == info->size - 1 ? NULL : &plan;
    CHECK_EQ_INT(ferry_plan_compile(ctx, o.edges, o.count, output), FERRY_ERR_ARG);
    CHECK(plan == NULL);
    CHECK_DETAIL("plan_out is NULL");
    check_same_detail();
    CHECK_EQ_INT(ferry_plan_compile(NULL, NULL, 0, &plan), FERRY_ERR_ARG);
}

/* Calls of a good plan with bad arguments, and at the wrong time. */
static void refuse_calls(ferry_context *ctx, const ferry_context_info *info, const pieces *p)
{
    offer o = good_offer(info, p);
    int src[8] = {7, 6, 5, 4, 3, 2, 1, 0}, dst[8] = {0}, done = -1;
    const void *const nothing[] = {NULL};
    ferry_plan *plan = NULL;
    ferry_range range;

    CHECK_OK(ferry_plan_compile(ctx, o.edges, o.count, &plan));
    CHECK_EQ_INT(ferry_plan_start(plan, NULL, dst), FERRY_ERR_ARG);
    CHECK_DETAIL("src is NULL");
    CHECK_EQ_INT(ferry_plan_start(plan, src, NULL), FERRY_ERR_ARG);
    CHECK_DETAIL("dst is NULL");
    CHECK_EQ_INT(ferry_plan_start_buffers(plan, 0, nothing, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_plan_start_buffers(plan, 1, NULL, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_plan_start(NULL, src, dst), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_plan_wait(NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_plan_test(plan, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_plan_test(NULL, &done), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_plan_bounds(plan, NULL, &range), FERRY_ERR_ARG);
    CHECK_EQ_INT(ferry_plan_describe(plan, NULL), FERRY_ERR_ARG);
    CHECK_EQ_INT(done, -1);
    CHECK_OK(ferry_plan_start(plan, src, dst));
    CHECK_EQ_INT(ferry_plan_start(plan, dst, src), FERRY_ERR_STATE);
    CHECK_DETAIL("was not waited for");
    CHECK_OK(ferry_plan_wait(plan));
    for (int i = 0; i < 8; i++)
        CHECK_EQ_INT(dst[i], 7 - i);
    ferry_plan_free(plan);
    ferry_plan_free(NULL);
}

/* Of several base addresses those that move bytes must be there, the others need not. */
static void refuse_buffers(ferry_context *ctx, const ferry_context_info *info, const pieces *p)
{
    offer o = good_offer(info, p);
    int src[8] = {1, 2, 3, 4, 5, 6, 7, 8}, dst[8] = {0};
    const void *srcs[] = {NULL, src, NULL, src};
    void *dsts[] = {NULL, dst, NULL, dst};
    ferry_plan *plan = NULL;

    for (size_t i = 0; i < o.count; i++)
        o.edges[i].buffer = o.edges[i].tag ? 3 : 1;
    CHECK_OK(ferry_plan_compile(ctx, o.edges, o.count, &plan));
    CHECK_EQ_INT(ferry_plan_start_buffers(plan, 3, srcs, dsts), FERRY_ERR_ARG);
    srcs[1] = NULL;
    CHECK_EQ_INT(ferry_plan_start_buffers(plan, 4, srcs, dsts), FERRY_ERR_ARG);
    srcs[1] = src;
    dsts[3] = NULL;
    CHECK_EQ_INT(ferry_plan_start_buffers(plan, 4, srcs, dsts), FERRY_ERR_ARG);
    dsts[3] = dst;
    CHECK_OK(ferry_plan_start_buffers(plan, 4, srcs, dsts));
    CHECK_OK(ferry_plan_wait(plan));
    for (int i = 0; i < 8; i++)
        CHECK_EQ_INT(dst[i], i + 1);
    ferry_plan_free(plan);
}

/* A text that does not fit is cut, and its whole length is told. */
static void explain(ferry_context *ctx, const ferry_context_info *info, const pieces *p)
{
    offer o = good_offer(info, p);
    char whole[4096], part[24];
    ferry_plan *plan = NULL;

    CHECK_OK(ferry_plan_compile(ctx, o.edges, o.count, &plan));
    const size_t length = ferry_plan_explain(plan, whole, sizeof whole);
    CHECK_EQ_INT(strlen(whole), length);
    CHECK_EQ_INT(ferry_plan_explain(plan, part, sizeof part), length);
    CHECK_EQ_INT(strncmp(part, whole, sizeof part - 1), 0);
    CHECK_EQ_INT(strlen(part), sizeof part - 1);
    CHECK_EQ_INT(ferry_plan_explain(plan, NULL, 0), length);
    CHECK(strstr(whole, info->size > 1 ? "2 edges out (32 B), 2 in (32 B)" : "2 edges out (32 B)") != NULL);
    ferry_plan_explain(NULL, part, sizeof part);
    CHECK_EQ_INT(strcmp(part, "none"), 0);
    ferry_plan_free(plan);
}

/* Where no route may leave a rank, a block for another one finds none. */
static void no_route(const ferry_context_info *info, const pieces *p)
{
    ferry_context_options options = FERRY_CONTEXT_OPTIONS_INIT;
    offer o = good_offer(info, p);
    ferry_context *ctx = NULL;
    ferry_plan *plan = NULL;

    options.routes = "self";
    CHECK_OK(ferry_context_create(MPI_COMM_WORLD, &options, &ctx));
    CHECK_EQ_INT(ferry_plan_compile(ctx, o.edges, o.count, &plan), FERRY_ERR_ROUTE);
    CHECK_DETAIL("none of the allowed routes (self)");
    check_same_detail();
    ferry_context_free(ctx);
}

/* A round whose other side never begins ends in time, says who is missing, and leaves a context that may only
 * be freed. */
static void time_runs_out(const ferry_context_info *info)
{
    ferry_context_options options = FERRY_CONTEXT_OPTIONS_INIT;
    const int last = info->size - 1;
    char words[32], data[16] = {0};
    ferry_context *ctx = NULL;
    ferry_plan *none = NULL;

    options.timeout_s = 0.3;
    CHECK_OK(ferry_context_create(MPI_COMM_WORLD, &options, &ctx));
    ferry_plan *plan = plan_one_edge(ctx, last, 0, sizeof data, 1);
    if (info->rank == 0) {
        const double began = MPI_Wtime();
        CHECK_OK(ferry_plan_start(plan, data, data));
        CHECK_EQ_INT(ferry_plan_wait(plan), FERRY_ERR_TIMEOUT);
        CHECK(MPI_Wtime() - began >= 0.29 && MPI_Wtime() - began < 5);
        snprintf(words, sizeof words, "rank %d (", last);
        CHECK_DETAIL(words);
        CHECK_EQ_INT(ferry_plan_wait(plan), FERRY_ERR_STATE);
        CHECK_EQ_INT(ferry_plan_start(plan, data, data), FERRY_ERR_STATE);
        CHECK_EQ_INT(ferry_plan_compile(ctx, NULL, 0, &none), FERRY_ERR_STATE);
        CHECK_EQ_INT(ferry_context_agree(ctx, FERRY_OK), FERRY_ERR_STATE);
    }
    ferry_plan_free(plan);
    ferry_context_free(ctx);
}

void plan_refusals(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);
    const pieces p = make_pieces();

    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (info.size >= refusals[i].ranks)
            refuse(ctx, &refusals[i], &info, &p);
    refuse_output(ctx, &info, &p);
    good_plan_works(ctx, &info, &p);
    refuse_calls(ctx, &info, &p);
    refuse_buffers(ctx, &info, &p);
    explain(ctx, &info, &p);
    if (info.size > 1) {
        no_route(&info, &p);
        time_runs_out(&info);
    }
    drop_pieces(&p);
}
