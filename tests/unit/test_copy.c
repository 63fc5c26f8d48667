/* Copy lists and sides against a reference that knows only what callers say: loops over elements.
 * Every byte of the memory around is compared too, so that a stray write anywhere fails. Once per
 * set of kernels. */
#include "check.h"

#include "base/alloc.h"
#include "copy/copy.h"

enum { PARTS = 3, AREA = 1 << 18, GUARD = 256, PAIRS = 8000, ELEMENTS_MAX = 1500 };

/* What a caller says of a layout: one or more nests of loops over elements. */
typedef struct said {
    int64_t element;
    int parts;
    struct {
        int dims;
        int64_t counts[FERRY_LAYOUT_MAX_DIMS], strides[FERRY_LAYOUT_MAX_DIMS], offset;
        int64_t factor; /* element i lies where i * factor modulo the number of elements would; 0:
                           no list */
    } part[PARTS];
} said;

static unsigned char source[AREA + 2 * GUARD], target[AREA + 2 * GUARD], expected[AREA + 2 * GUARD];
static unsigned char packed[AREA + 2 * GUARD], packed_expected[AREA + 2 * GUARD];

static const int64_t element_sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 10, 12, 16, 16, 24, 31, 32, 40, 48, 63, 64, 100};

/* --- The reference --- */

static int64_t count_of(const said *layout, int part)
{
    int64_t count = 1;

    for (int k = 0; k < layout->part[part].dims; k++)
        count *= layout->part[part].counts[k];
    return count;
}

/* Offsets of all elements of a part in order; returns how many. */
static size_t offsets_of_part(const said *layout, int p, int64_t *offsets)
{
    size_t made = 0;

    for (int64_t i = 0; i < count_of(layout, p); i++) {
        const int64_t factor = layout->part[p].factor;
        int64_t rest = factor > 0 ? i * factor % count_of(layout, p) : i, at = layout->part[p].offset;
        for (int k = layout->part[p].dims - 1; k >= 0; k--) {
            at += rest % layout->part[p].counts[k] * layout->part[p].strides[k];
            rest /= layout->part[p].counts[k];
        }
        offsets[made++] = at;
    }
    return made;
}

static size_t offsets_of(const said *layout, int64_t *offsets)
{
    size_t made = 0;

    for (int p = 0; p < layout->parts; p++)
        made += offsets_of_part(layout, p, offsets + made);
    return made;
}

/* --- Random descriptions --- */

/* Write `total` as a product of at most 6 counts, with ones here and there. */
static int split_count(int64_t total, int64_t *counts)
{
    int dims = 0;

    while (total > 1 && dims < 5) {
        int64_t count = check_between(1, 12);
        while (total % count != 0)
            count--;
        if (count == 1 && check_between(0, 2) > 0)
            continue;
        counts[dims++] = count;
        total /= count;
    }
    if (total > 1 || dims == 0)
        counts[dims++] = total;
    return dims;
}

/* Strides such that no two elements share a byte: the loops in any order, each beyond all that the
 * ones before reach. Returns the bytes from the lowest to the highest, `lowest_out` is where the
 * lowest lies from the first. */
static int64_t choose_strides(said *layout, int part, int64_t *lowest_out)
{
    const int dims = layout->part[part].dims;
    int64_t extent = layout->element, lowest = 0;
    int order[FERRY_LAYOUT_MAX_DIMS];
    const int dense = check_between(0, 2) == 0, upward = check_between(0, 1), natural = check_between(0, 1);

    for (int k = 0; k < dims; k++)
        order[k] = dims - 1 - k;
    for (int k = dims - 1; k > 0 && !natural; k--) {
        const int other = (int)check_between(0, k), kept = order[k];
        order[k] = order[other];
        order[other] = kept;
    }
    for (int i = 0; i < dims; i++) {
        const int k = order[i];
        const int64_t gap = dense || check_between(0, 1) ? 0 : check_between(0, 2 * layout->element);
        const int64_t stride = (extent + gap) * (upward || check_between(0, 1) ? 1 : -1);
        const int64_t reach = (layout->part[part].counts[k] - 1) * stride;
        layout->part[part].strides[k] = stride;
        lowest += reach < 0 ? reach : 0;
        extent += reach < 0 ? -reach : reach;
    }
    *lowest_out = lowest;
    return extent;
}

/* Elements of the parts: sums to total. */
static void share(int64_t total, int parts, int64_t *shares)
{
    for (int p = 0; p < parts; p++) {
        shares[p] = p + 1 == parts ? total : check_between(0, total);
        total -= shares[p];
    }
}

/* Some parts are lists, of which some are shuffled: by a number without a divisor in common with
 * theirs. */
static int64_t random_factor(int64_t elements)
{
    const int64_t factor = check_between(0, 3) == 0 ? check_between(1, 1000) : check_between(0, 1);

    for (int64_t a = factor, b = elements, rest; b > 0 && factor > 0; a = b, b = rest) {
        rest = a % b;
        if (rest == 0 && b > 1)
            return 1;
    }
    return factor;
}

/* False when it does not fit the area. */
static bool random_said(said *layout, int64_t element, int64_t total, int parts)
{
    int64_t shares[PARTS], from = check_between(-AREA / 2, -AREA / 2 + 64), lowest;

    *layout = (said){.element = element, .parts = parts};
    share(total, parts, shares);
    for (int p = 0; p < parts; p++) {
        layout->part[p].dims = split_count(shares[p], layout->part[p].counts);
        if (shares[p] == 0)
            layout->part[p].counts[0] = 0;
        layout->part[p].factor = random_factor(shares[p]);
        const int64_t extent = choose_strides(layout, p, &lowest);
        layout->part[p].offset = from - lowest;
        from += extent + (check_between(0, 1) ? 0 : check_between(0, 100));
        if (from > AREA / 2)
            return false;
    }
    return true;
}

static ferry_layout *make_part(const said *layout, int p)
{
    static int64_t offsets[ELEMENTS_MAX];
    ferry_layout *part = NULL;

    if (layout->part[p].factor == 0) {
        check_ok(ferry_layout_strided(layout->part[p].dims, layout->part[p].counts, layout->part[p].strides,
                                      layout->element, layout->part[p].offset, &part));
        return part;
    }
    const size_t count = offsets_of_part(layout, p, offsets);
    check_ok(ferry_layout_indexed((int64_t)count, offsets, NULL, layout->element, 0, &part));
    return part;
}

static ferry_layout *make(const said *layout)
{
    static const int64_t nowhere[PARTS];
    ferry_layout *parts[PARTS], *whole = NULL;

    for (int p = 0; p < layout->parts; p++)
        parts[p] = make_part(layout, p);
    check_ok(ferry_layout_record(layout->parts, (const ferry_layout *const *)parts, nowhere, &whole));
    for (int p = 0; p < layout->parts; p++)
        ferry_layout_free(parts[p]);
    return whole;
}

static void fill(unsigned char *area, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t word = check_random();
        memcpy(area + i, &word, 8);
    }
}

static void fail_with(const char *what, const ferry_layout *src, const ferry_layout *dst, size_t at)
{
    char a[512], b[512] = "";

    ferry_layout_print(src, a, sizeof a);
    if (dst)
        ferry_layout_print(dst, b, sizeof b);
    fail_msg("%s (%s): byte %zu differs: %s -> %s", what, kernels_name(), at, a, b);
}

static void compare(const char *what, const unsigned char *found, const unsigned char *wanted, size_t bytes,
                    const ferry_layout *src, const ferry_layout *dst)
{
    if (memcmp(found, wanted, bytes) == 0)
        return;
    for (size_t i = 0; i < bytes; i++)
        if (found[i] != wanted[i])
            fail_with(what, src, dst, i);
}

/* --- Random pairs --- */

static void check_pair(const said *src_said, const said *dst_said)
{
    static int64_t from[ELEMENTS_MAX], to[ELEMENTS_MAX];
    ferry_layout *const src = make(src_said), *const dst = make(dst_said);
    const unsigned char *const base = source + GUARD + AREA / 2;
    copy_list *list = NULL;
    const size_t elements = offsets_of(src_said, from);

    assert_int_equal(offsets_of(dst_said, to), elements);
    memcpy(target, expected, sizeof target); /* whatever was there */
    for (size_t i = 0; i < elements; i++)
        memcpy(expected + GUARD + AREA / 2 + to[i], base + from[i], (size_t)src_said->element);
    check_ok(copy_make(src, dst, &list));
    assert_int_equal(copy_bytes(list), elements * (size_t)src_said->element);
    copy_run(list, (const char *)base, (char *)target + GUARD + AREA / 2);
    compare("copy", target, expected, sizeof target, src, dst);
    copy_drop(list);
    ferry_layout_free(src);
    ferry_layout_free(dst);
}

static void random_pairs(void **state)
{
    (void)state;
    fill(source, sizeof source);
    fill(expected, sizeof expected);
    for (int i = 0; i < PAIRS;) {
        const int64_t element = element_sizes[check_random() % (sizeof element_sizes / sizeof element_sizes[0])];
        const int64_t total = check_between(0, 3) ? check_between(0, 150) * check_between(1, 10) : check_between(0, 60);
        const int parts = check_between(0, 3) == 0 ? PARTS : 1;
        said src, dst;
        if (!random_said(&src, element, total, parts > 1 ? (int)check_between(1, parts) : 1) ||
            !random_said(&dst, element, total, parts))
            continue;
        if (check_between(0, 1) && src.parts == 1 && dst.parts == 1) { /* same loops, other strides */
            int64_t lowest;
            dst.part[0].dims = src.part[0].dims;
            memcpy(dst.part[0].counts, src.part[0].counts, sizeof src.part[0].counts);
            if (choose_strides(&dst, 0, &lowest) > AREA / 2)
                continue;
            dst.part[0].offset = -AREA / 2 - lowest;
        }
        check_pair(&src, &dst);
        i++;
    }
}

/* --- Packing in pieces --- */

static void check_pieces(const said *layout_said)
{
    static int64_t offsets[ELEMENTS_MAX];
    ferry_layout *const layout = make(layout_said);
    const size_t element = (size_t)layout_said->element, bytes = offsets_of(layout_said, offsets) * element;
    char *const base = (char *)target + GUARD + AREA / 2;
    copy_side *side = NULL;

    check_ok(copy_side_make(layout, &side));
    memcpy(packed, packed_expected, sizeof packed);
    for (size_t i = 0; i < bytes; i += element)
        memcpy(packed_expected + GUARD + i, source + GUARD + AREA / 2 + offsets[i / element], element);
    memcpy(target, expected, sizeof target);
    for (size_t i = 0; i < bytes; i += element)
        memcpy(expected + GUARD + AREA / 2 + offsets[i / element], packed_expected + GUARD + i, element);
    const int64_t piece = check_between(0, 3) ? check_between(1, 300) : AREA;
    for (size_t at = 0, end; at < bytes; at = end) {
        end = at + (size_t)check_between(0, piece);
        end = end < bytes ? end : bytes;
        copy_pack(side, (char *)source + GUARD + AREA / 2, at, end, (char *)packed + GUARD + at);
        copy_unpack(side, base, at, end, (char *)packed_expected + GUARD + at);
    }
    compare("pack", packed, packed_expected, sizeof packed, layout, NULL);
    compare("unpack", target, expected, sizeof target, layout, NULL);
    copy_side_drop(side);
    ferry_layout_free(layout);
}

static void random_pieces(void **state)
{
    (void)state;
    fill(source, sizeof source);
    fill(expected, sizeof expected);
    fill(packed_expected, sizeof packed_expected);
    for (int i = 0; i < PAIRS / 2;) {
        const int64_t element = element_sizes[check_random() % (sizeof element_sizes / sizeof element_sizes[0])];
        said layout;
        if (!random_said(&layout, element, check_between(0, 150) * check_between(1, 10), (int)check_between(1, PARTS)))
            continue;
        check_pieces(&layout);
        i++;
    }
}

/* --- Turns --- */

typedef struct matrix {
    int64_t rows, columns, element, src_stride, dst_stride;
} matrix;

static copy_list *turn_list(const matrix *m)
{
    ferry_layout *src = NULL, *dst = NULL;
    copy_list *list = NULL;

    check_ok(ferry_layout_strided(2, (int64_t[]){m->rows, m->columns}, (int64_t[]){m->src_stride, m->element},
                                  m->element, 0, &src));
    check_ok(ferry_layout_strided(2, (int64_t[]){m->rows, m->columns}, (int64_t[]){m->element, m->dst_stride},
                                  m->element, 0, &dst));
    check_ok(copy_make(src, dst, &list));
    ferry_layout_free(src);
    ferry_layout_free(dst);
    return list;
}

static void check_turn(const matrix *m, size_t shift)
{
    const size_t src_bytes = (size_t)(m->rows * m->src_stride),
                 dst_bytes = (size_t)(m->columns * m->dst_stride) + 2 * GUARD;
    unsigned char *const src = malloc(src_bytes + 1), *const dst = malloc(dst_bytes + 64),
                         *const wanted = malloc(dst_bytes + 64);
    const char **const rows = malloc((size_t)m->rows * sizeof *rows);
    copy_list *const list = turn_list(m);
    copy_turn turn;

    for (size_t i = 0; i < src_bytes; i++)
        src[i] = (unsigned char)(i * 7 + i / 251);
    memset(dst, 0xa5, dst_bytes + 64);
    memset(wanted, 0xa5, dst_bytes + 64);
    for (int64_t r = 0; r < m->rows; r++) {
        rows[r] = (char *)src + r * m->src_stride;
        for (int64_t c = 0; c < m->columns; c++)
            memcpy(wanted + GUARD + shift + c * m->dst_stride + r * m->element,
                   src + r * m->src_stride + c * m->element, (size_t)m->element);
    }
    copy_run(list, (char *)src, (char *)dst + GUARD + shift);
    if (memcmp(dst, wanted, dst_bytes + 64) != 0)
        fail_msg("turn %lldx%lld of %lld B (%s) is wrong", (long long)m->rows, (long long)m->columns,
                 (long long)m->element, kernels_name());
    memset(dst, 0xa5, dst_bytes + 64);
    if (m->rows > 1 && m->columns > 1)
        assert_true(copy_is_turn(list, &turn));
    if (copy_is_turn(list, &turn)) {
        assert_int_equal(turn.rows * turn.columns * turn.element, m->rows * m->columns * m->element);
        copy_turn_run(rows, turn.rows, turn.columns, turn.element, (char *)dst + GUARD + shift, turn.dst_stride);
        assert_memory_equal(dst, wanted, dst_bytes + 64);
    }
    copy_drop(list);
    free(src);
    free(dst);
    free(wanted);
    free(rows);
}

static void turns(void **state)
{
    static const int64_t large[] = {128, 256, 1000, 4096, 5000};

    (void)state;
    for (int64_t element = 1; element <= 64; element++)
        for (int i = 0; i < 12; i++) {
            matrix m = {.rows = check_between(1, i < 8 ? 70 : 300),
                        .columns = check_between(1, i < 8 ? 70 : 200),
                        .element = element};
            m.src_stride = (m.columns + (i % 2 ? check_between(0, 9) : 0)) * element;
            m.dst_stride = (m.rows + (i % 3 ? check_between(0, 9) : 0)) * element;
            m.dst_stride = i % 4 ? m.dst_stride : (m.dst_stride + 63) / 64 * 64;
            check_turn(&m, i % 4 ? (size_t)check_between(0, 63) : 0);
        }
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        const matrix m = {
            .rows = 20, .columns = 30, .element = large[i], .src_stride = 30 * large[i], .dst_stride = 20 * large[i]};
        check_turn(&m, i);
    }
}

/* Larger than the caches: written past them. */
static void large_blocks(void **state)
{
    int64_t side = 256;

    (void)state;
    while ((size_t)(2 * side * side) < kernels_stream_bytes())
        side += 256;
    const matrix turned = {
        .rows = side, .columns = side + 7, .element = 2, .src_stride = 2 * (side + 7), .dst_stride = 2 * side};
    const size_t bytes = kernels_stream_bytes() + 4099;
    char *const src = malloc(bytes), *const dst = calloc(1, bytes + 1);
    ferry_layout *dense = NULL;
    copy_list *list = NULL;

    check_turn(&turned, 0);
    for (size_t i = 0; i < bytes; i++)
        src[i] = (char)(i % 253);
    check_ok(ferry_layout_dense((int64_t)bytes, 1, 0, &dense));
    check_ok(copy_make(dense, dense, &list));
    copy_run(list, src, dst);
    assert_memory_equal(src, dst, bytes);
    assert_int_equal(dst[bytes], 0);
    copy_drop(list);
    ferry_layout_free(dense);
    free(src);
    free(dst);
}

/* --- What lists are made of --- */

#define L(...) ((const int64_t[]){__VA_ARGS__})

static ferry_layout *strided(int dims, const int64_t *counts, const int64_t *strides, int64_t element)
{
    ferry_layout *layout = NULL;

    check_ok(ferry_layout_strided(dims, counts, strides, element, 0, &layout));
    return layout;
}

/* Frees both layouts. */
static void expect_list(ferry_layout *src, ferry_layout *dst, const char *text)
{
    char found[256] = "";
    text_out out = {.at = found, .room = sizeof found};
    copy_list *list = NULL;

    check_ok(copy_make(src, dst, &list));
    copy_text(list, &out);
    assert_string_equal(found, text);
    copy_drop(list);
    ferry_layout_free(src);
    ferry_layout_free(dst);
}

static void lists(void **state)
{
    (void)state;
    expect_list(strided(1, L(100), L(8), 8), strided(2, L(10, 10), L(80, 8), 8), "blocks 800 B");
    expect_list(strided(1, L(0), L(8), 8), strided(1, L(0), L(8), 8), "nothing");
    expect_list(strided(1, L(100), L(-8), 8), strided(1, L(100), L(-8), 8), "blocks 800 B");
    expect_list(strided(1, L(100), L(24), 8), strided(1, L(100), L(8), 8), "runs 8 B x [100 by 24 to 8]");
    expect_list(strided(1, L(100), L(8), 8), strided(2, L(5, 20), L(1000, 16), 8),
                "runs 8 B x [5 by 160 to 1000, 20 by 8 to 16]");
    /* loops of 6 x 4 and of 3 x 8 have 3 x 2 x 4 in common */
    expect_list(strided(2, L(6, 4), L(100, 8), 8), strided(2, L(3, 8), L(200, 16), 8),
                "runs 8 B x [3 by 200 to 200, 2 by 100 to 64, 4 by 8 to 16]");
    /* columns first on both sides: reordered to long runs */
    expect_list(strided(2, L(50, 40), L(8, 512), 8), strided(2, L(50, 40), L(8, 1024), 8),
                "runs 400 B x [40 by 512 to 1024]");
    expect_list(strided(2, L(30, 40), L(320, 8), 8), strided(2, L(30, 40), L(8, 240), 8),
                "turn 8 B x [30 by 320 to 8, 40 by 8 to 240]");
    /* an axis permutation keeps its contiguous axis and turns nothing over */
    expect_list(strided(3, L(4, 5, 6), L(240, 48, 8), 8), strided(3, L(4, 5, 6), L(48, 192, 8), 8),
                "runs 48 B x [5 by 48 to 192, 4 by 240 to 48]");
    expect_list(strided(2, L(4, 6), L(100, 8), 8), strided(2, L(6, 4), L(100, 8), 8), "walk 192 B");
}

static void what_is_a_turn(void **state)
{
    const matrix row = {.rows = 1, .columns = 9, .element = 8, .src_stride = 72, .dst_stride = 40};
    const matrix column = {.rows = 9, .columns = 1, .element = 8, .src_stride = 40, .dst_stride = 72};
    const matrix element = {.rows = 1, .columns = 1, .element = 8, .src_stride = 40, .dst_stride = 72};
    const matrix dense = {.rows = 1, .columns = 9, .element = 8, .src_stride = 72, .dst_stride = 8};
    static const struct {
        size_t rows, columns;
        bool is;
    } wanted[] = {{1, 9, true}, {9, 1, true}, {1, 1, true}, {0, 0, false}};
    const matrix *const all[] = {&row, &column, &element, &dense};

    (void)state;
    for (int i = 0; i < 4; i++) {
        copy_list *const list = turn_list(all[i]);
        copy_turn turn = {0};
        assert_int_equal(copy_is_turn(list, &turn), wanted[i].is);
        assert_int_equal(turn.rows, wanted[i].rows);
        assert_int_equal(turn.columns, wanted[i].columns);
        copy_drop(list);
    }
}

static void sides_that_differ(void **state)
{
    ferry_layout *const a = strided(1, L(10), L(8), 8), *const b = strided(1, L(20), L(4), 4),
                        *const c = strided(1, L(9), L(8), 8);
    copy_list *list = NULL;

    (void)state;
    check_fails(copy_make(a, b, &list), FERRY_ERR_SHAPE, "10 elements of 8 bytes, the destination 20 of 4");
    check_fails(copy_make(a, c, &list), FERRY_ERR_SHAPE, "10 elements of 8 bytes, the destination 9 of 8");
    assert_null(list);
    ferry_layout_free(a);
    ferry_layout_free(b);
    ferry_layout_free(c);
}

/* A layout of `count` single elements with gaps that grow. */
static ferry_layout *scattered(size_t count)
{
    layout_nest *const nests = calloc(count, sizeof *nests);
    ferry_layout *layout = NULL;

    for (size_t i = 0; i < count; i++)
        nests[i] = (layout_nest){.offset = (int64_t)(i * 12 + i % 3), .run = 4};
    check_ok(layout_make(4, nests, count, &layout));
    free(nests);
    return layout;
}

static void lists_of_many_pieces(void **state)
{
    static const size_t counts[] = {1000, 3000};

    (void)state;
    for (int i = 0; i < 2; i++) {
        const size_t count = counts[i];
        ferry_layout *const many = scattered(count), *const plain = strided(1, L((int64_t)count), L(4), 4);
        char *const src = malloc(count * 12), *const dst = malloc(count * 4);
        char text[4096] = "";
        text_out out = {.at = text, .room = sizeof text};
        copy_list *list = NULL;
        check_ok(copy_make(many, plain, &list));
        copy_text(list, &out);
        assert_int_equal(strncmp(text, "walk", 4) == 0, count > 1024);
        for (size_t k = 0; k < count * 12; k++)
            src[k] = (char)check_random();
        copy_run(list, src, dst);
        for (size_t k = 0; k < count; k++)
            assert_memory_equal(dst + 4 * k, src + k * 12 + k % 3, 4);
        assert_true(copy_memory(list) < 2 << 20);
        copy_drop(list);
        ferry_layout_free(many);
        ferry_layout_free(plain);
        free(src);
        free(dst);
    }
}

/* Each allocation in turn fails: reported, nothing left behind (the leak check sees to that),
 * nothing filled. */
static void out_of_memory(void **state)
{
    ferry_layout *const many = scattered(100), *const other = strided(2, L(10, 10), L(100, 8), 4);
    copy_list *list = NULL;
    copy_side *side = NULL;
    uint64_t failures = 0;

    (void)state;
    for (;; failures++) {
        alloc_fail_at(failures + 1);
        const ferry_status st = copy_make(many, other, &list);
        if (st == FERRY_OK)
            break;
        assert_int_equal(st, FERRY_ERR_MEMORY);
        assert_null(list);
    }
    assert_in_range(failures, 3, 50);
    alloc_fail_at(1);
    assert_int_equal(copy_side_make(many, &side), FERRY_ERR_MEMORY);
    assert_null(side);
    copy_drop(list);
    copy_drop(NULL);
    copy_side_drop(NULL);
    ferry_layout_free(many);
    ferry_layout_free(other);
}

static void running_allocates_nothing(void **state)
{
    ferry_layout *const many = scattered(500), *const other = strided(2, L(50, 10), L(100, 8), 4);
    copy_list *list = NULL;
    copy_side *side = NULL;

    (void)state;
    check_ok(copy_make(many, other, &list));
    check_ok(copy_side_make(many, &side));
    assert_true(copy_side_memory(side) >= 500 * sizeof(layout_nest));
    const uint64_t before = alloc_count();
    copy_run(list, (char *)source, (char *)target);
    copy_pack(side, (char *)source, 3, 1999, (char *)packed);
    copy_unpack(side, (char *)target, 3, 1999, (char *)packed);
    assert_int_equal(alloc_count(), before);
    copy_drop(list);
    copy_side_drop(side);
    ferry_layout_free(many);
    ferry_layout_free(other);
}

int main(void)
{
    const struct CMUnitTest once[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(what_is_a_turn),
        cmocka_unit_test(sides_that_differ),
        cmocka_unit_test(lists_of_many_pieces),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(running_allocates_nothing),
    };
    const struct CMUnitTest per_set[] = {
        cmocka_unit_test(random_pairs),
        cmocka_unit_test(random_pieces),
        cmocka_unit_test(turns),
        cmocka_unit_test(large_blocks),
    };
    int failed = cmocka_run_group_tests_name("lists", once, NULL, NULL);

    check_seed(check_seed_from_environment("copy"));
    for (int i = 0; kernels_set(i); i++) {
        kernels_use(i);
        failed += cmocka_run_group_tests_name(kernels_set(i), per_set, NULL, NULL);
    }
    return failed != 0;
}
