/* `ferry bench report bundle`: lines for people, three ways in turn. Rank 0 broadcasts its
 * matrices; rank 1 sends what it got back, and rank 0 compares that with what it has. All receivers
 * compare too: the difference is a sum over all ranks and both moves, of the last of a few rounds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/case_bundle.h"
#include "bench/columns.h"
#include "bench/stats.h"
#include "bench/tree.h"
#include "bench/world.h"
#include "bench/xml.h"
#include "ferry/bundle_move.h"

enum { ROUNDS = 5, TAG = 7 };
static const size_t piece = (size_t)1 << 30; /* bytes of one message: MPI counts with int */

/* Everything of one case on one rank. */
typedef struct talk {
    world *w;
    content shape;
    size_t bytes;
    double *truth; /* of rank 0; known by formula on all */
    double *got;   /* XML, plain bytes: what came last. Allocated by the way */
    ferry_bundle *sent, *came;
} talk;

/* One way to move. `bcast`: from `truth` of rank 0 to all others. `back`: rank 1 returns it to rank
 * 0. Both 0, or 1 with a text in the world's trouble. */
typedef struct way {
    const char *name;
    int (*bcast)(talk *t);
    int (*back)(talk *t);
    size_t (*count)(const talk *t); /* matrices that are there */
    double (*difference)(const talk *t);
    void (*drop)(talk *t);
} way;

/* --- plain bytes ------------------------------------------------------------------------------ */

static void bcast_bytes(const talk *t, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += piece)
        MPI_Bcast((char *)data + at, (int)(bytes - at < piece ? bytes - at : piece), MPI_BYTE, 0,
                  t->w->rivals);
}

/* From rank 1 to rank 0. */
static void return_bytes(const talk *t, void *data, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += piece) {
        const int count = (int)(bytes - at < piece ? bytes - at : piece);
        if (t->w->rank == 1)
            MPI_Send((char *)data + at, count, MPI_BYTE, 0, TAG, t->w->rivals);
        else if (t->w->rank == 0)
            MPI_Recv((char *)data + at, count, MPI_BYTE, 1, TAG, t->w->rivals, MPI_STATUS_IGNORE);
    }
}

static void *must_alloc(const talk *t, size_t bytes)
{
    void *const memory = malloc(bytes);

    if (!memory)
        world_give_up(t->w, "what arrives", bytes);
    return memory;
}

static int bcast_plain(talk *t)
{
    if (t->w->rank != 0)
        t->got = must_alloc(t, t->bytes);
    bcast_bytes(t, t->w->rank == 0 ? t->truth : t->got, t->bytes);
    return 0;
}

static int back_plain(talk *t)
{
    if (t->w->rank == 0)
        t->got = must_alloc(t, t->bytes);
    return_bytes(t, t->got, t->bytes);
    return 0;
}

static size_t count_plain(const talk *t)
{
    return t->got || t->w->rank == 0 ? t->shape.count : 0;
}

static double difference_plain(const talk *t)
{
    double sum = 0;

    if (!t->got)
        return INFINITY;
    for (size_t k = 0; k < content_doubles(&t->shape); ++k)
        sum += fabs(t->got[k] - t->truth[k]);
    return sum;
}

static void drop_plain(talk *t)
{
    free(t->got);
    t->got = NULL;
}

/* --- XML -------------------------------------------------------------------------------------- */

static xml_shape shape_of(const talk *t)
{
    return (xml_shape){t->shape.count, t->shape.rows, t->shape.columns};
}

/* A text of no bytes says that it could not be written. */
static int write_text(const talk *t, const double *data, char **text_out, size_t *bytes_out)
{
    const xml_shape shape = shape_of(t);

    *bytes_out = 0;
    return xml_write(data, &shape, text_out, bytes_out)
               ? world_fail(t->w, "rank %d: libxml2 could not write the matrices", t->w->rank)
               : 0;
}

static int read_text(talk *t, const char *text, size_t bytes)
{
    const xml_shape shape = shape_of(t);

    return xml_read(text, bytes, &shape, &t->got)
               ? world_fail(t->w, "rank %d: libxml2 could not read %zu bytes", t->w->rank, bytes)
               : 0;
}

static int bcast_xml(talk *t)
{
    char *text = NULL;
    size_t bytes = 0;
    int failed = t->w->rank == 0 ? write_text(t, t->truth, &text, &bytes) : 0;

    bcast_bytes(t, &bytes, sizeof bytes);
    if (t->w->rank != 0 && bytes > 0)
        text = must_alloc(t, bytes);
    bcast_bytes(t, text, bytes);
    if (t->w->rank != 0)
        failed = read_text(t, text, bytes);
    free(text);
    return failed;
}

static int back_xml(talk *t)
{
    char *text = NULL;
    size_t bytes = 0;
    int failed = t->w->rank == 1 ? write_text(t, t->got, &text, &bytes) : 0;

    return_bytes(t, &bytes, sizeof bytes);
    if (t->w->rank == 0 && bytes > 0)
        text = must_alloc(t, bytes);
    return_bytes(t, text, bytes);
    if (t->w->rank == 0)
        failed = read_text(t, text, bytes);
    free(text);
    return failed;
}

/* --- ferry ------------------------------------------------------------------------------------ */

static int bcast_ferry(talk *t)
{
    return world_ferry(t->w,
                       ferry_bundle_bcast(t->w->ctx, t->w->rank == 0 ? &t->sent : &t->came, 0),
                       "ferry_bundle_bcast");
}

static int back_ferry(talk *t)
{
    if (t->w->rank == 1)
        return world_ferry(t->w, ferry_bundle_send(t->w->ctx, t->came, 0, TAG),
                           "ferry_bundle_send");
    if (t->w->rank == 0)
        return world_ferry(t->w, ferry_bundle_recv(t->w->ctx, 1, TAG, &t->came, NULL),
                           "ferry_bundle_recv");
    return 0;
}

static size_t count_ferry(const talk *t)
{
    const ferry_bundle *const bundle = t->w->rank == 0 ? t->sent : t->came;

    return bundle ? ferry_bundle_count(bundle) : 0;
}

static double difference_ferry(const talk *t)
{
    return tree_difference(&t->shape, t->came, t->truth);
}

static void drop_ferry(talk *t)
{
    ferry_bundle_free(t->came);
    t->came = NULL;
}

static const way ways[] = {
    {"XML", bcast_xml, back_xml, count_plain, difference_plain, drop_plain},
    {"raw MPI", bcast_plain, back_plain, count_plain, difference_plain, drop_plain},
    {"ferry", bcast_ferry, back_ferry, count_ferry, difference_ferry, drop_ferry},
};

/* --- the talk --------------------------------------------------------------------------------- */

/* What is printed of one way. */
typedef struct account {
    samples bcast, back;
    double have, got, difference;
} account;

/* Run a step from a start in common; the time is kept. Collective. */
static int timed(talk *t, int (*step)(talk *), samples *times)
{
    double stamps[2];

    world_start(t->w);
    stamps[0] = world_now();
    int failed = step(t);
    stamps[1] = world_now();
    if (!t->w->one_node) { /* no common clock: the slowest rank */
        stamps[1] -= stamps[0];
        stamps[0] = 0;
    }
    failed = world_agree(t->w, failed);
    world_min(t->w, &stamps[0], 1);
    world_max(t->w, &stamps[1], 1);
    if (samples_add(times, stamps[1] - stamps[0]))
        failed = world_fail(t->w, "rank %d: no memory for the times", t->w->rank);
    return world_agree(t->w, failed);
}

static int one_round(talk *t, const way *how, account *a)
{
    if (timed(t, how->bcast, &a->bcast))
        return 1;
    a->have = (double)how->count(t);
    a->got = t->w->rank == 1 ? (double)how->count(t) : 0;
    if (timed(t, how->back, &a->back))
        return 1;
    a->difference = world_sum(t->w, how->difference(t));
    a->got = world_sum(t->w, a->got);
    how->drop(t);
    return 0;
}

/* Every difference counts, not the last one only. */
static int try_way(talk *t, const way *how, account *a)
{
    double worst = 0;
    int failed = 0;

    for (int round = 0; round < ROUNDS && !failed; ++round) {
        failed = one_round(t, how, a);
        worst = a->difference > worst ? a->difference : worst;
    }
    a->difference = worst;
    return failed;
}

static void print_account(const way *how, account *a)
{
    printf("%s\nhave %.0f matrices\nbcast time: %gs\ngot %.0f matrices\nsend/recv time: %gs\n"
           "diff_arrays gave %g\n",
           how->name, a->have, samples_median(&a->bcast), a->got, samples_median(&a->back),
           a->difference);
    fflush(stdout);
}

static int tell(talk *t, const way *how)
{
    account a = {.have = 0};
    int failed = try_way(t, how, &a);

    if (!failed && t->w->rank == 0)
        print_account(how, &a);
    if (!failed && a.difference != 0)
        failed =
            world_fail(t->w, "%s: the matrices differ by %g; expected 0", how->name, a.difference);
    samples_drop(&a.bcast);
    samples_drop(&a.back);
    return failed;
}

static int open_talk(talk *t)
{
    int failed = !(t->truth = world_alloc(t->w, t->bytes));

    if (!failed) {
        content_fill(&t->shape, t->truth, 0, 1);
        if (t->w->rank == 0)
            failed = world_ferry(t->w, tree_build(&t->shape, t->truth, &t->sent), "tree_build");
    }
    return world_agree(t->w, failed);
}

static int talk_of(world *w, const bench_case *c)
{
    talk t = {.w = w, .shape = case_bundle_content(c)};
    char text[CASE_TEXT_BYTES];

    t.bytes = content_bytes(&t.shape);
    int failed = open_talk(&t);
    case_print(c, text, sizeof text);
    if (!failed && w->rank == 0)
        printf("%s np=%d: medians of %d\n", text, w->size, ROUNDS);
    for (size_t k = 0; k < sizeof ways / sizeof *ways && !failed; ++k)
        if (ways[k].bcast != bcast_xml || case_bundle_xml_fits(&t.shape))
            failed = tell(&t, &ways[k]);
        else if (w->rank == 0)
            printf("XML\nnot available: the text would pass 2 GiB\n");
    free(t.got);
    ferry_bundle_free(t.came);
    ferry_bundle_free(t.sent);
    free(t.truth);
    return failed;
}

int bench_report(const bench_options *options, char *error, size_t bytes)
{
    world w;
    case_list list = {NULL, 0};
    char text[WORLD_TROUBLE_BYTES];
    int failed = world_open(&w);

    if (!failed) {
        failed = case_list_read(options, &list, text, sizeof text) ? world_fail(&w, "%s", text) : 0;
        failed = world_agree(&w, failed);
    }
    for (int k = 0; k < list.count && !failed; ++k)
        if (list.items[k].np == w.size)
            failed = list.items[k].kind == &case_vector ? columns_report(&w, &list.items[k])
                                                        : talk_of(&w, &list.items[k]);
    error[0] = '\0';
    if (failed)
        snprintf(error, bytes, "%s", w.trouble);
    case_list_drop(&list);
    world_close(&w);
    return failed != 0;
}
