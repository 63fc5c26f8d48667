/* bench: the harness tells wrong, impossible and slower contenders; patterns, XML and the usual transpose
 * are right. MPI runs with this process alone. */
#include "check.h"

#include <mpi.h>

#include "bench/content.h"
#include "bench/harness.h"
#include "bench/pattern.h"
#include "bench/programs.h"
#include "bench/stats.h"
#include "bench/tree.h"
#include "bench/turn.h"
#include "bench/world.h"
#include "bench/xml.h"

enum { CELLS = 4096 };

static world alone;

/* --- the harness ------------------------------------------------------------------------------ */

/* A job that copies `source` to `target`. */
typedef struct job {
    uint64_t source[CELLS], target[CELLS];
    uint64_t round;
} job;

static int patience; /* rounds that copy_until_tired() still does well */

static int rewrite(contender *c)
{
    job *const j = c->job;

    ++j->round;
    for (size_t k = 0; k < CELLS; ++k)
        j->source[k] = k * 7 + j->round;
    return 0;
}

static int copy(contender *c)
{
    job *const j = c->job;

    memcpy(j->target, j->source, sizeof j->target);
    return 0;
}

static int copy_slowly(contender *c)
{
    for (int k = 0; k < 64; ++k)
        copy(c);
    return 0;
}

/* Leaves the last cell as it was. */
static int copy_short(contender *c)
{
    job *const j = c->job;

    memcpy(j->target, j->source, sizeof j->target - sizeof *j->target);
    return 0;
}

/* Right at first, wrong later: seen by the check after timing. */
static int copy_until_tired(contender *c)
{
    return patience-- > 0 ? copy(c) : copy_short(c);
}

static int nothing(contender *c)
{
    (void)c;
    return 0;
}

static int fail_at_once(contender *c)
{
    (void)c;
    return world_fail(&alone, "no luck today");
}

static size_t wrong(contender *c)
{
    const job *const j = c->job;
    size_t bad = 0;

    for (size_t k = 0; k < CELLS; ++k)
        bad += j->target[k] != k * 7 + j->round;
    return bad;
}

static contender *add(measurement *m, const char *name, contender_kind kind, job *j, contender_step *round)
{
    contender *const c = measurement_add(m, name, kind, j);

    c->rewrite = rewrite;
    c->round = round;
    c->wrong = wrong;
    return c;
}

static measurement *measured(bool streaming)
{
    measurement *const m = calloc(1, sizeof *m);

    assert_non_null(m);
    m->streaming = streaming;
    m->bytes = m->alone_bytes = CELLS * sizeof(uint64_t);
    return m;
}

static const result *find(const measurement *m, const char *name)
{
    for (int k = 0; k < m->result_count; ++k)
        if (strcmp(m->results[k].name, name) == 0)
            return &m->results[k];
    return NULL;
}

static void times_have_an_order(void **state)
{
    measurement *const m = measured(*state != NULL);
    job *const j = calloc(1, sizeof *j);

    add(m, "ferry", CONTENDER_FERRY, j, copy);
    add(m, "rival", CONTENDER_RIVAL, j, copy_slowly);
    add(m, "away", CONTENDER_RIVAL, j, copy)->missing = "not here";
    add(m, "limit", CONTENDER_LIMIT, j, copy_slowly)->note[0] = 's';
    add(m, "limit", CONTENDER_LIMIT, j, copy)->note[0] = 'f';
    assert_int_equal(harness_run(&alone, m, NULL, NULL), 0);
    assert_int_equal(m->result_count, 4);
    for (int k = 0; k < m->result_count; ++k) {
        const result *const r = &m->results[k];
        if (r->missing)
            continue;
        assert_true(r->min_s > 0 && r->min_s <= r->median_s && r->median_s <= r->max_s);
        assert_in_range(r->rounds, 9, 1 << 28);
        assert_false(r->refused);
    }
    assert_true(find(m, "rival")->min_s > find(m, "ferry")->min_s);
    assert_string_equal(find(m, "limit")->note, "f"); /* the faster of the two */
    assert_string_equal(find(m, "away")->missing, "not here");
    assert_false(m->refused);
    free(j);
    free(m);
}

/* One contender that should not get away with it. */
static void caught(contender_step *round, bool streaming, const char *words)
{
    measurement *const m = measured(streaming);
    job *const j = calloc(1, sizeof *j);

    add(m, "ferry", CONTENDER_FERRY, j, copy);
    add(m, "rival", CONTENDER_RIVAL, j, round);
    patience = 3;
    assert_int_equal(harness_run(&alone, m, NULL, NULL), 1);
    if (!strstr(alone.trouble, words))
        fail_msg("\"%s\" does not say \"%s\"", alone.trouble, words);
    free(j);
    free(m);
}

static void wrong_contenders_are_caught(void **state)
{
    (void)state;
    for (int streaming = 0; streaming < 2; ++streaming) {
        caught(copy_short, streaming, "rival: 1 elements are wrong before the timing");
        caught(nothing, streaming, "rival: 4096 elements are wrong before");
        caught(copy_until_tired, streaming, "rival: 1 elements are wrong after the timing");
        caught(fail_at_once, streaming, "no luck today");
    }
}

static void impossible_rates_are_refused(void **state)
{
    measurement *const m = measured(false);
    job *const j = calloc(1, sizeof *j);

    (void)state;
    add(m, "ferry", CONTENDER_FERRY, j, copy);
    add(m, "rival", CONTENDER_RIVAL, j, nothing)->wrong = NULL;
    contender *const mapped = add(m, "mapped", CONTENDER_FERRY, j, nothing);
    mapped->wrong = NULL;
    mapped->mapped = true; /* nothing is copied: no rate is impossible */
    add(m, "alone", CONTENDER_ALONE, j, copy_slowly)->wrong = NULL;
    assert_int_equal(harness_run(&alone, m, NULL, NULL), 0);
    assert_true(find(m, "rival")->refused);
    assert_false(find(m, "mapped")->refused);
    assert_true(m->refused);
    free(j);
    free(m);
}

static void baselines_are_taken_off(void **state)
{
    measurement *const m = measured(true);
    job *const j = calloc(1, sizeof *j);

    (void)state;
    add(m, "none", CONTENDER_BASELINE, j, nothing)->wrong = NULL;
    add(m, "ferry", CONTENDER_FERRY, j, copy);
    add(m, "idle", CONTENDER_RIVAL, j, nothing)->wrong = NULL;
    assert_int_equal(harness_run(&alone, m, NULL, NULL), 0);
    assert_true(find(m, "none")->median_s > 0);
    assert_true(find(m, "idle")->min_s < find(m, "none")->min_s);
    free(j);
    free(m);
}

/* --- what it stands on ------------------------------------------------------------------------ */

static void medians(void **state)
{
    samples s = {0};

    (void)state;
    assert_true(samples_median(&s) == 0 && samples_min(&s) == 0 && samples_max(&s) == 0);
    for (int k = 0; k < 101; ++k)
        assert_int_equal(samples_add(&s, (k * 37) % 101 - 50), 0);
    assert_true(samples_min(&s) == -50 && samples_max(&s) == 50);
    assert_true(samples_median(&s) == 0);
    samples_add(&s, 1000);
    assert_true(samples_median(&s) == 0.5);
    samples_drop(&s);
}

static void patterns(void **state)
{
    static const size_t elements[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
    unsigned char field[4096];

    (void)state;
    for (size_t k = 0; k < sizeof elements / sizeof *elements; ++k) {
        const size_t e = elements[k], unit = pattern_unit(e);
        const box from = {2 * e, {2, 3}, {40 * e, 8 * e}, 2 * e}, to = {5 * e, {2, 3}, {40 * e, 8 * e}, 2 * e};
        memset(field, 0xee, sizeof field);
        pattern_fill(field, &from, unit, 3, 0, 5);
        assert_int_equal(pattern_wrong(field, &from, &from, unit, 3, 5), 0);
        assert_int_equal(pattern_wrong(field, &to, &from, unit, 3, 5), box_bytes(&to) / unit);
        box_copy(field, &to, field, &from);
        assert_int_equal(pattern_wrong(field, &to, &from, unit, 3, 5), 0);
        pattern_advance(field, &from, unit, 2);
        assert_int_equal(pattern_wrong(field, &from, &from, unit, 3, 7), 0);
        assert_int_equal(pattern_wrong(field, &to, &from, unit, 3, 7), box_bytes(&to) / unit);
        assert_true(pattern_wrong(field, &from, &from, unit, 4, 7) > 0);
        field[from.start + from.stride[0] + 1 % e] ^= 1;
        assert_int_equal(pattern_wrong(field, &from, &from, unit, 3, 7), 1);
        assert_int_equal(field[0], 0xee);
    }
}

static void xml_keeps_every_bit(void **state)
{
    const xml_shape shape = {3, 2, 5}, other = {3, 5, 2}, more = {4, 2, 5};
    double data[30], *read = NULL;
    char *text = NULL;
    size_t bytes = 0;

    (void)state;
    for (size_t k = 0; k < 30; ++k)
        data[k] = (k % 2 ? -1 : 1) * (double)(pattern_word(1, k) >> 11) * (k % 3 ? 0x1p-60 : 0x1p+40);
    assert_int_equal(xml_write(data, &shape, &text, &bytes), 0);
    assert_int_equal(xml_read(text, bytes, &shape, &read), 0);
    assert_memory_equal(data, read, sizeof data);
    free(read);
    assert_int_equal(xml_read(text, bytes, &other, &read), 1);
    assert_int_equal(xml_read(text, bytes, &more, &read), 1);
    assert_int_equal(xml_read(text, bytes / 2, &shape, &read), 1);
    free(text);
}

/* Every value of a payload is somewhere in its tree, and each that changes is noticed. */
static void trees_hold_the_payload(const content *c)
{
    unsigned char *const payload = malloc(content_bytes(c));
    ferry_bundle *bundle = NULL, *copy = NULL;

    assert_non_null(payload);
    content_fill(c, payload, 2, 3);
    assert_int_equal(content_wrong(c, payload, 2, 3), 0);
    assert_int_equal(content_wrong(c, payload, 2, 4), content_values(c));
    assert_int_equal(content_wrong(c, payload, 1, 3), content_values(c));
    assert_int_equal(tree_build(c, payload, &bundle), FERRY_OK);
    assert_int_equal(tree_wrong(c, bundle, 2, 3), 0);
    assert_int_equal(tree_wrong(c, NULL, 2, 3), content_values(c));
    assert_int_equal(ferry_bundle_copy(bundle, &copy), FERRY_OK);
    content_fill(c, payload, 2, 4);
    assert_int_equal(tree_update(c, payload, bundle), FERRY_OK);
    assert_int_equal(tree_wrong(c, bundle, 2, 4), 0);
    assert_int_equal(tree_wrong(c, copy, 2, 4), content_values(c));
    for (size_t k = 0; k < content_bytes(c); k += 7) {
        payload[k] ^= 1;
        assert_int_equal(tree_update(c, payload, bundle), FERRY_OK);
        assert_int_equal(tree_wrong(c, bundle, 2, 4), 1);
        assert_int_equal(content_wrong(c, payload, 2, 4), 1);
        payload[k] ^= 1;
    }
    ferry_bundle_free(copy);
    ferry_bundle_free(bundle);
    free(payload);
}

static void contents(void **state)
{
    const content small = {.small = 428}, few = {.small = 4}, matrices = {.count = 3, .rows = 4, .columns = 5};

    (void)state;
    assert_int_equal(content_bytes(&small), 214 * 8 + 107 * 20 + 107 * 72);
    assert_int_equal(content_values(&small), 214 + 107 + 107 * 9);
    trees_hold_the_payload(&small);
    trees_hold_the_payload(&few);
    trees_hold_the_payload(&matrices);
}

/* What the lines of a report call the difference. */
static void differences(void **state)
{
    const content c = {.count = 2, .rows = 3, .columns = 4}, other = {.count = 2, .rows = 4, .columns = 3};
    double payload[24], changed[24];
    ferry_bundle *bundle = NULL;

    (void)state;
    content_fill(&c, payload, 0, 1);
    memcpy(changed, payload, sizeof changed);
    assert_int_equal(tree_build(&c, payload, &bundle), FERRY_OK);
    assert_true(tree_difference(&c, bundle, payload) == 0);
    changed[5] = payload[5] + 0.25;
    changed[23] = payload[23] - 0.5;
    assert_true(tree_difference(&c, bundle, changed) > 0.74 && tree_difference(&c, bundle, changed) < 0.76);
    assert_true(tree_difference(&other, bundle, payload) > 1e300);
    assert_true(tree_difference(&c, NULL, payload) > 1e300);
    ferry_bundle_free(bundle);
}

/* A timed script is the other without what verifies. */
static void scripts_are_cut(void **state)
{
    const program *const gretl = program_find("gretl");
    char *whole = NULL, *cut = NULL;
    size_t whole_bytes = 0, cut_bytes = 0;

    (void)state;
    assert_non_null(gretl);
    assert_null(program_find("gretel"));
    FILE *file = open_memstream(&whole, &whole_bytes);
    assert_int_equal(program_write(gretl, false, file), 0);
    fclose(file);
    file = open_memstream(&cut, &cut_bytes);
    assert_int_equal(program_write(gretl, true, file), 0);
    fclose(file);
    assert_string_equal(whole, script_gretl);
    assert_non_null(strstr(whole, "gretl verified\\n"));
    assert_null(strstr(cut, "gretl verified\\n"));
    assert_non_null(strstr(cut, "mpibcast(&b, 0)"));
    assert_non_null(strstr(cut, "\nendloop\n"));
    free(whole);
    free(cut);
}

static void the_usual_transpose(void **state)
{
    enum { ROWS = 37, COLUMNS = 21, MOST = 24 };
    char source[ROWS * COLUMNS * MOST], send[sizeof source], recv[sizeof source], target[sizeof source];

    (void)state;
    for (size_t e = 1; e <= MOST; ++e) {
        turn *t = NULL;
        for (size_t k = 0; k < sizeof source; ++k)
            source[k] = (char)pattern_word(e, k);
        memset(target, 0, sizeof target);
        assert_int_equal(turn_make(&alone, ROWS, COLUMNS, e, &t), 0);
        turn_run(t, source, send, recv, target);
        for (size_t row = 0; row < ROWS; ++row)
            for (size_t column = 0; column < COLUMNS; ++column)
                assert_memory_equal(target + (column * ROWS + row) * e, source + (row * COLUMNS + column) * e, e);
        turn_drop(t);
    }
}

static int begin(void **state)
{
    (void)state;
    return MPI_Init(NULL, NULL) != MPI_SUCCESS || world_open(&alone);
}

static int end(void **state)
{
    (void)state;
    world_close(&alone);
    return MPI_Finalize() != MPI_SUCCESS;
}

int main(void)
{
    static int streaming;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(medians),
        cmocka_unit_test(patterns),
        cmocka_unit_test(the_usual_transpose),
        cmocka_unit_test(contents),
        cmocka_unit_test(differences),
        cmocka_unit_test(scripts_are_cut),
        {"times_have_an_order, paced", times_have_an_order, NULL, NULL, NULL},
        {"times_have_an_order, streaming", times_have_an_order, NULL, NULL, &streaming},
        cmocka_unit_test(wrong_contenders_are_caught),
        cmocka_unit_test(impossible_rates_are_refused),
        cmocka_unit_test(baselines_are_taken_off),
        cmocka_unit_test(xml_keeps_every_bit),
    };

    return cmocka_run_group_tests(tests, begin, end);
}
