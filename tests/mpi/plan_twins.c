/* Twins: a random exchange on which all ranks agree, and the same with one end of one edge changed. The first compiles
 * and moves its bytes; the other is refused on all ranks, with one text that names what both ends say. */
#include "mpi/plan.h"

enum { MOST_EDGES = 12, MOST_COUNT = 40, TAGS = 3, AREA = 1 << 15 };

/* A block as all ranks draw it. */
typedef struct block {
    int from, to, tag;
    int64_t count, element;
    int64_t offset[2], gap[2]; /* at the two ends; gap: bytes between elements */
} block;

/* The first block has a tag of its own, and goes from rank to rank if there are two. One more block is drawn than all
 * ranks name. */
typedef struct exchange {
    block blocks[MOST_EDGES + 1];
    int count, rank, size;
} exchange;

/* How one end of the first block may be wrong. */
typedef enum fault { MORE, FEWER, HALVES, MISSING, EXTRA, TURNED, OTHER_TAG, FAULTS } fault;

static exchange draw(check_rng *rng, const ferry_context_info *info)
{
    exchange x = {.rank = info->rank, .size = info->size, .count = (int)check_between(rng, 1, MOST_EDGES)};
    int64_t used[2] = {0, AREA}; /* nothing lies where something else might, whichever way it goes */

    for (int i = 0; i <= x.count; i++) {
        block *const b = &x.blocks[i];
        const int own = i == 0 || i == x.count;
        b->from = (int)check_between(rng, 0, x.size - 1);
        b->to = own && x.size > 1 ? (b->from + 1) % x.size : (int)check_between(rng, 0, x.size - 1);
        b->tag = own ? TAGS + i : (int)check_between(rng, 0, TAGS - 1);
        b->count = check_between(rng, 2, MOST_COUNT);
        b->element = (int64_t)2 << check_between(rng, 0, 3);
        for (int end = 0; end < 2; end++) {
            b->gap[end] = b->element * check_between(rng, 0, 2);
            b->offset[end] = used[end];
            used[end] += (b->count + 1) * (b->element + b->gap[end]); /* room for one more */
        }
    }
    return x;
}

/* What the rank at one end says of the exchange when it is wrong about the first block. */
static exchange spoil(const exchange *x, fault wrong)
{
    exchange seen = *x;
    block *const b = &seen.blocks[0];

    if (wrong == MORE || wrong == FEWER)
        b->count += wrong == MORE ? 1 : -1;
    if (wrong == HALVES)
        *b = (block){b->from, b->to, b->tag, 2 * b->count, b->element / 2, {b->offset[0], b->offset[1]}, {0, 0}};
    if (wrong == MISSING)
        b->from = b->to = -1;
    if (wrong == EXTRA)
        seen.count++;
    if (wrong == TURNED)
        b->from = x->blocks[0].to, b->to = x->blocks[0].from;
    if (wrong == OTHER_TAG)
        b->tag += 2 * MOST_EDGES;
    return seen;
}

/* --- naming ------------------------------------------------------------------------------------------- */

static ferry_layout *layout_of(const block *b, int end)
{
    const int64_t stride = b->element + b->gap[end];
    ferry_layout *layout = NULL;

    CHECK_OK(ferry_layout_strided(1, &b->count, &stride, b->element, b->offset[end], &layout));
    return layout;
}

/* The edges of this rank, as the two ends see the exchange; a block of a rank to itself is one edge. */
static size_t name_edges(const exchange *x, const exchange *const seen[2], ferry_edge *edges)
{
    size_t count = 0;

    for (int i = 0; i <= x->count; i++)
        for (int end = 0; end < 2; end++) {
            const block *const agreed = &x->blocks[i], *const said = &seen[end]->blocks[i];
            if ((end ? agreed->to : agreed->from) != x->rank || i >= seen[end]->count || said->from < 0)
                continue;
            ferry_layout *const layout = layout_of(said, end);
            if (end && agreed->from == agreed->to)
                edges[count - 1].target = layout;
            else
                edges[count++] = (ferry_edge){.size = sizeof *edges, .from = said->from, .to = said->to,
                                              .tag = said->tag, .source = layout, .target = layout};
        }
    return count;
}

static void drop_edges(const ferry_edge *edges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (edges[i].target != edges[i].source)
            ferry_layout_free((ferry_layout *)edges[i].target);
        ferry_layout_free((ferry_layout *)edges[i].source);
    }
}

/* --- the twins ---------------------------------------------------------------------------------------- */

/* Writes the elements that leave here, or counts the bytes that are wrong of those that arrive. */
static long visit(const exchange *x, unsigned char *memory, int end)
{
    long wrong = 0;

    for (int i = 0; i < x->count; i++) {
        const block *const b = &x->blocks[i];
        for (int64_t k = 0; k < b->count && (end ? b->to : b->from) == x->rank; k++)
            for (int64_t byte = 0; byte < b->element; byte++) {
                unsigned char *const at = memory + b->offset[end] + k * (b->element + b->gap[end]) + byte;
                const unsigned char right = (unsigned char)(37 * i + 11 * k + byte + 1);
                wrong += end && *at != right;
                *at = right;
            }
    }
    return wrong;
}

static void right_twin(ferry_context *ctx, const exchange *x)
{
    static unsigned char src[2 * AREA], dst[2 * AREA];
    const exchange *const seen[2] = {x, x};
    ferry_edge edges[2 * MOST_EDGES + 2];
    const size_t count = name_edges(x, seen, edges);
    ferry_plan *plan = NULL;

    visit(x, src, 0);
    memset(dst, 0, sizeof dst);
    CHECK_OK(ferry_plan_compile(ctx, edges, count, &plan));
    CHECK_OK(ferry_plan_start(plan, src, dst));
    CHECK_OK(ferry_plan_wait(plan));
    CHECK_EQ_INT(visit(x, dst, 1), 0);
    ferry_plan_free(plan);
    drop_edges(edges, count);
}

/* What the two ends say, or who is alone. */
static void check_words(const exchange *seen[2], fault wrong)
{
    const block *const gives = &seen[0]->blocks[0], *const takes = &seen[1]->blocks[0];
    char words[160];

    if (wrong > HALVES) {
        CHECK(strstr(ferry_error_detail(), "but not by rank") || strstr(ferry_error_detail(), "names none with it"));
        return;
    }
    snprintf(words, sizeof words,
             "edge %d -> %d, tag %d: rank %d gives %lld elements of %lld bytes, rank %d takes %lld of %lld bytes",
             gives->from, gives->to, gives->tag, gives->from, (long long)gives->count, (long long)gives->element,
             takes->to, (long long)takes->count, (long long)takes->element);
    CHECK_DETAIL(words);
}

static void wrong_twin(ferry_context *ctx, const exchange *x, fault wrong, int end)
{
    const exchange spoiled = spoil(x, wrong);
    const exchange *seen[2] = {x, x};
    ferry_edge edges[2 * MOST_EDGES + 2];
    ferry_plan *plan = NULL;

    seen[end] = &spoiled;
    const size_t count = name_edges(x, seen, edges);
    CHECK_EQ_INT(ferry_plan_compile(ctx, edges, count, &plan), FERRY_ERR_SHAPE);
    CHECK(plan == NULL);
    check_same_detail();
    check_words(seen, wrong);
    drop_edges(edges, count);
}

void plan_twins(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);
    const fault most = info.size > 1 ? FAULTS : MISSING; /* a rank cannot name a block to itself in two ways */
    check_rng rng = check_common_rng("twins of plans");

    for (int again = 0; again < 3; again++)
        for (fault wrong = MORE; wrong < most; wrong++)
            for (int end = 0; end < 2; end++) {
                const exchange x = draw(&rng, &info);
                wrong_twin(ctx, &x, wrong, end);
                right_twin(ctx, &x);
            }
}
