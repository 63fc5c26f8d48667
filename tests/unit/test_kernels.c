/* Every kernel of every set that this CPU can run, against loops of single bytes. Destinations are
 * compared whole, with what must stay untouched around and between; sources end at pages that
 * cannot be read. FERRY_SEED repeats a run. */
#define _GNU_SOURCE 1
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "kernels/kernels.h"

enum { ARENA = 5 << 20, MARGIN = 256 };

/* Three areas of ARENA bytes between forbidden pages: source, destination, and the destination as
 * it should be. */
static char *source, *actual, *wanted;

static uint64_t draw(uint64_t below)
{
    return check_random() % below;
}

static char *fenced_area(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *const at = mmap(NULL, ARENA + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_true(at != MAP_FAILED);
    assert_int_equal(mprotect(at + page, ARENA, PROT_READ | PROT_WRITE), 0);
    return at + page;
}

static int make_areas(void **unused)
{
    (void)unused;
    check_seed(check_seed_from_environment("kernels"));
    source = fenced_area();
    actual = fenced_area();
    wanted = fenced_area();
    for (size_t i = 0; i < ARENA; i++)
        source[i] = (char)draw(256);
    return 0;
}

/* Room of `bytes` at the start of an area, at its very end, or somewhere inside. */
static size_t place(size_t bytes)
{
    const size_t room = ARENA - bytes, choice = draw(4);

    return choice == 0 ? 0 : choice == 1 ? room : draw(room < 4096 ? room + 1 : 4096);
}

/* ---- Runs
 * ------------------------------------------------------------------------------------------------- */

typedef struct runs_case {
    size_t run, count;
    ptrdiff_t dst_stride, src_stride;
} runs_case;

static size_t span_bytes(const runs_case *c, ptrdiff_t stride)
{
    return c->count ? (c->count - 1) * (size_t)labs(stride) + c->run : 0;
}

/* Where run 0 lies when the span begins at `start`. */
static size_t first_run(const runs_case *c, ptrdiff_t stride, size_t start)
{
    return stride < 0 && c->count ? start + (c->count - 1) * (size_t)-stride : start;
}

static void runs_by_bytes(char *dst, const char *src, const runs_case *c)
{
    for (size_t i = 0; i < c->count; i++)
        for (size_t b = 0; b < c->run; b++)
            dst[(ptrdiff_t)i * c->dst_stride + (ptrdiff_t)b] = src[(ptrdiff_t)i * c->src_stride + (ptrdiff_t)b];
}

static void check_runs(const runs_case *c)
{
    kernel_runs *const kernel =
        kernels_runs(c->run, c->src_stride == (ptrdiff_t)c->run, c->dst_stride == (ptrdiff_t)c->run);
    const size_t dst_bytes = span_bytes(c, c->dst_stride), src_bytes = span_bytes(c, c->src_stride);
    const size_t around = dst_bytes + 2 * MARGIN, start = draw(64);
    const size_t dst_at = first_run(c, c->dst_stride, start + MARGIN);
    const char *const src = source + first_run(c, c->src_stride, place(src_bytes));

    memset(actual + start, 0xA5, around);
    memset(wanted + start, 0xA5, around);
    kernel(actual + dst_at, c->dst_stride, src, c->src_stride, c->count, c->run);
    runs_by_bytes(wanted + dst_at, src, c);
    if (memcmp(actual + start, wanted + start, around))
        fail_msg("%s: run=%zu count=%zu dst_stride=%td src_stride=%td", kernels_name(), c->run, c->count,
                 c->dst_stride, c->src_stride);
}

/* A stride that keeps runs apart: next to each other, near, or lines away; up or down. */
static ptrdiff_t draw_stride(size_t run)
{
    static const size_t gaps[] = {1, 3, 16, 64, 200, 512};
    const size_t stride = run + draw(2) * gaps[draw(6)];

    return draw(2) ? (ptrdiff_t)stride : -(ptrdiff_t)stride;
}

static void check_shapes(size_t run, size_t count)
{
    const ptrdiff_t dense = (ptrdiff_t)run, a = draw_stride(run), b = draw_stride(run);

    check_runs(&(runs_case){run, count, dense, a});
    check_runs(&(runs_case){run, count, b, dense});
    check_runs(&(runs_case){run, count, a, b});
    check_runs(&(runs_case){run, count, dense, dense});
    check_runs(&(runs_case){run, count, b, 0}); /* one run, spread */
}

static void runs_of_every_size(void **unused)
{
    static const size_t big[] = {65, 96, 127, 128, 129, 255, 256, 1000, 4095, 4096};

    (void)unused;
    for (int set = 0; kernels_set(set); set++) {
        kernels_use(set);
        for (size_t run = 1; run <= 64; run++)
            for (size_t count = 0; count <= 200; count += count < 20 ? 1 : 1 + draw(20))
                check_shapes(run, count);
        for (size_t i = 0; i < sizeof big / sizeof big[0]; i++)
            for (size_t count = 0; count <= 200; count += 1 + draw(40))
                check_shapes(big[i], count);
    }
}

static void narrow_runs_of_every_count(void **unused)
{
    (void)unused;
    for (int set = 0; kernels_set(set); set++) {
        kernels_use(set);
        for (size_t run = 1; run <= 16; run *= 2)
            for (size_t count = 0; count <= 200; count++)
                check_shapes(run, count);
    }
}

static void strides_of_any_power(void **unused)
{
    (void)unused;
    for (int set = 0; kernels_set(set); set++) {
        kernels_use(set);
        for (size_t run = 1; run <= 64; run *= 2)
            for (ptrdiff_t stride = (ptrdiff_t)run; stride <= 8192; stride *= 2) {
                check_runs(&(runs_case){run, 37, (ptrdiff_t)run, -stride});
                check_runs(&(runs_case){run, 37, stride, (ptrdiff_t)run});
                check_runs(&(runs_case){run, 37, -stride, (ptrdiff_t)run});
                check_runs(&(runs_case){run, 37, stride, stride});
            }
    }
}

/* As many runs as no cache holds, where bodies may change the way they go: at the count that decides, and past it. */
static void narrow_runs_beyond_the_caches(void **unused)
{
    const size_t many = kernels_stream_bytes() / 64;

    (void)unused;
    for (int set = 0; kernels_set(set); set++) {
        kernels_use(set);
        for (size_t run = 1; run <= 16; run *= 2)
            for (int i = 0; i < 4; i++) {
                const ptrdiff_t stride = (draw(2) ? 1 : -1) * (ptrdiff_t)(31 + draw(6));
                check_runs(&(runs_case){run, many + (size_t)i, (ptrdiff_t)run, stride});
                check_runs(&(runs_case){run, many + draw(20), stride, (ptrdiff_t)run});
            }
    }
}

/* ---- Tiles
 * ------------------------------------------------------------------------------------------------ */

typedef struct tile_case {
    size_t element, rows, columns;
    size_t dst_at; /* past a 64-byte boundary */
    size_t gap;    /* between destination rows */
    int backwards, stream;
} tile_case;

enum { ROWS_MOST = 5000 };

/* Rows in a random order of a dense matrix, so that no two neighbours are a constant stride apart. */
static void point_rows(const char **rows, const tile_case *c)
{
    const size_t bytes = c->columns * c->element, start = place(c->rows * bytes);

    for (size_t r = 0; r < c->rows; r++)
        rows[r] = source + start + r * bytes;
    for (size_t r = c->rows; r > 1; r--) {
        const size_t other = draw(r);
        const char *const kept = rows[other];
        rows[other] = rows[r - 1];
        rows[r - 1] = kept;
    }
}

static void tile_by_bytes(char *dst, ptrdiff_t dst_stride, const char *const *rows, const tile_case *c)
{
    for (size_t r = 0; r < c->rows; r++)
        for (size_t col = 0; col < c->columns; col++)
            for (size_t b = 0; b < c->element; b++)
                dst[(ptrdiff_t)col * dst_stride + (ptrdiff_t)(r * c->element + b)] = rows[r][col * c->element + b];
}

static void check_tile(const tile_case *c)
{
    static const char *rows[ROWS_MOST];
    const size_t pitch = c->rows * c->element + c->gap, span = pitch * c->columns, around = span + 2 * MARGIN;
    const ptrdiff_t stride = c->backwards ? -(ptrdiff_t)pitch : (ptrdiff_t)pitch;
    const size_t at = MARGIN + c->dst_at + (c->backwards && c->columns ? pitch * (c->columns - 1) : 0);

    assert_true(c->rows <= ROWS_MOST && around + c->dst_at <= ARENA && c->rows * c->columns * c->element <= ARENA);
    point_rows(rows, c);
    memset(actual, 0x5A, around + c->dst_at);
    memset(wanted, 0x5A, around + c->dst_at);
    kernels_tile(c->element)(actual + at, stride, rows, c->rows, c->columns, c->element, c->stream);
    kernels_fence();
    tile_by_bytes(wanted + at, stride, rows, c);
    if (memcmp(actual, wanted, around + c->dst_at))
        fail_msg("%s: element=%zu rows=%zu columns=%zu dst_at=%zu gap=%zu backwards=%d stream=%d", kernels_name(),
                 c->element, c->rows, c->columns, c->dst_at, c->gap, c->backwards, c->stream);
}

/* Streamed and not, on lines and off, upwards and downwards. */
static void check_tile_ways(size_t element, size_t rows, size_t columns)
{
    const size_t to_line = (64 - rows * element % 64) % 64;

    for (int way = 0; way < 8; way++)
        check_tile(&(tile_case){element, rows, columns, way & 1 ? draw(64) : 0, way & 2 ? draw(70) : to_line,
                                way & 4, (int)draw(2)});
    check_tile(&(tile_case){element, rows, columns, 0, to_line, 0, 1});
    check_tile(&(tile_case){element, rows, columns, 1 + draw(63), draw(64), 0, 1});
}

static void tiles_of_every_element(void **unused)
{
    (void)unused;
    for (int set = 0; kernels_set(set); set++) {
        kernels_use(set);
        for (size_t element = 1; element <= 64; element++) {
            check_tile_ways(element, 1 + draw(20), 1 + draw(20));
            check_tile_ways(element, 1 + draw(200), 1 + draw(60));
            check_tile_ways(element, 1 + draw(20), 1 + draw(400));
        }
    }
}

static void tiles_of_big_elements(void **unused)
{
    static const size_t elements[] = {65, 96, 100, 128, 255, 1000, 4095, 4096};

    (void)unused;
    for (int set = 0; kernels_set(set); set++) {
        kernels_use(set);
        for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++)
            check_tile_ways(elements[i], 1 + draw(30), 1 + draw(30));
    }
}

/* Every remainder of rows and columns, and nothing at all. */
static void tiles_of_every_remainder(void **unused)
{
    (void)unused;
    for (int set = 0; kernels_set(set); set++) {
        kernels_use(set);
        for (size_t element = 1; element <= 16; element *= 2) {
            const size_t line = 64 / element, lane = 16 / element;
            for (size_t rows = 0; rows <= 2 * line + 1; rows++)
                check_tile_ways(element, rows, 1 + draw(3 * lane));
            for (size_t columns = 0; columns <= 5 * lane + 1; columns++)
                check_tile_ways(element, 1 + draw(2 * line), columns);
        }
    }
}

/* Longer than every block of the walks: many rows, and rows of more than two strips. */
static void tiles_beyond_blocks(void **unused)
{
    (void)unused;
    for (int set = 0; kernels_set(set); set++) {
        kernels_use(set);
        for (size_t element = 1; element <= 16; element *= 2) {
            check_tile_ways(element, 4100 + draw(100), 16 + draw(16));
            check_tile_ways(element, 65 + draw(30), (16384 + draw(2000)) / element);
        }
    }
}

/* ---- Dense copies
 * ----------------------------------------------------------------------------------------- */

static void check_copy(size_t bytes, int stream)
{
    const size_t at = MARGIN + draw(64), around = at + bytes + MARGIN;
    const char *const src = source + place(bytes);

    memset(actual, 0x3C, around);
    kernels_copy(actual + at, src, bytes, stream);
    kernels_fence();
    memset(wanted, 0x3C, around);
    memcpy(wanted + at, src, bytes);
    if (memcmp(actual, wanted, around))
        fail_msg("%s: bytes=%zu stream=%d", kernels_name(), bytes, stream);
}

static void dense_copies(void **unused)
{
    (void)unused;
    for (int set = 0; kernels_set(set); set++) {
        kernels_use(set);
        for (size_t bytes = 0; bytes < 300; bytes++)
            check_copy(bytes, (int)draw(2));
        for (int i = 0; i < 100; i++)
            check_copy(4000 + draw(9000), (int)draw(2));
        check_copy(3 << 20, 0);
        check_copy((3 << 20) + 17, 1);
    }
}

/* ---- The choice of a set
 * ---------------------------------------------------------------------------------- */

/* In a child, because a process chooses once. The exit status says whether the name is the wanted one. */
static int chosen_under(const char *word, const char *name)
{
    int status = -1;
    const pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        setenv("FERRY_CPU", word, 1);
        setenv("FERRY_LOG", "none", 1);
        _exit(strcmp(kernels_name(), name) != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Must run first: it needs a process that has not chosen. */
static void setting_masks_the_cpu(void **unused)
{
    const char *best = NULL;

    (void)unused;
    for (int set = 0; kernels_set(set); set++) {
        best = kernels_set(set);
        assert_true(chosen_under(best, best));
    }
    assert_string_equal(kernels_set(0), "scalar");
    assert_true(chosen_under("auto", best));
    assert_true(chosen_under("", best));
    assert_true(chosen_under("abacus", best));
}

static void every_set_can_be_used(void **unused)
{
    (void)unused;
    for (int set = 0; kernels_set(set); set++) {
        kernels_use(set);
        assert_string_equal(kernels_name(), kernels_set(set));
    }
}

static void stream_threshold_is_a_cache_share(void **unused)
{
    (void)unused;
    assert_in_range(kernels_stream_bytes(), 64 << 10, 1 << 30);
    assert_int_equal(kernels_stream_bytes(), kernels_stream_bytes());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(setting_masks_the_cpu),      cmocka_unit_test(every_set_can_be_used),
        cmocka_unit_test(runs_of_every_size),         cmocka_unit_test(narrow_runs_of_every_count),
        cmocka_unit_test(strides_of_any_power),       cmocka_unit_test(narrow_runs_beyond_the_caches),
        cmocka_unit_test(tiles_of_every_element),
        cmocka_unit_test(tiles_of_big_elements),      cmocka_unit_test(tiles_of_every_remainder),
        cmocka_unit_test(tiles_beyond_blocks),        cmocka_unit_test(dense_copies),
        cmocka_unit_test(stream_threshold_is_a_cache_share),
    };

    return cmocka_run_group_tests_name("kernels", tests, make_areas, NULL);
}
