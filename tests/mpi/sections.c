/* Blocks that are easily moved wrongly: backwards, sections of arrays strided in the inner dimension,
 * and displacements beyond 2^31 bytes. Each rank sends to the next one. */
#include <sys/mman.h>

#include "mpi/plan.h"

static ferry_layout *strided(int dims, const int64_t *counts, const int64_t *strides, int64_t element, int64_t offset)
{
    ferry_layout *layout = NULL;

    CHECK_OK(ferry_layout_strided(dims, counts, strides, element, offset, &layout));
    return layout;
}

/* 64 numbers from the last to the first, singly and in pairs that overlap none. */
static void backwards(ferry_context *ctx)
{
    const int64_t singly[] = {64}, one_back[] = {-4}, pairs[] = {21}, three_back[] = {-12};
    int32_t numbers[64], found[64] = {0};
    ferry_layout *const source = strided(1, singly, one_back, 4, 63 * 4), *const target = plan_dense(64, 4, 0);
    ferry_layout *const by_pairs = strided(1, pairs, three_back, 8, 62 * 4), *const dense = plan_dense(21, 8, 0);

    for (int i = 0; i < 64; i++)
        numbers[i] = i;
    plan_pass_on(ctx, source, target, numbers, found);
    for (int i = 0; i < 64; i++)
        CHECK_EQ_INT(found[i], 63 - i);
    plan_pass_on(ctx, by_pairs, dense, numbers, found);
    for (int i = 0; i < 42; i++)
        CHECK_EQ_INT(found[i], 62 - i / 2 * 3 + i % 2);
    ferry_layout_free(source);
    ferry_layout_free(target);
    ferry_layout_free(by_pairs);
    ferry_layout_free(dense);
}

/* Every second row of all columns of a Fortran array of 20 x 3, out into 30 numbers and back into such rows; then every
 * second column of these only. */
static void inner_strides(ferry_context *ctx)
{
    const int64_t counts[] = {3, 10}, strides[] = {80, 8}, fewer[] = {2, 10}, wider[] = {160, 8};
    int32_t array[3][20], dense[30] = {0}, back[3][20] = {{0}};
    ferry_layout *const section = strided(2, counts, strides, 4, 0), *const whole = plan_dense(30, 4, 0);
    ferry_layout *const nested = strided(2, fewer, wider, 4, 0), *const part = plan_dense(20, 4, 0);

    for (int i = 0; i < 60; i++)
        array[i / 20][i % 20] = 100 * (i / 20 + 1) + i % 20 + 1;
    plan_pass_on(ctx, section, whole, array, dense);
    for (int i = 0; i < 30; i++)
        CHECK_EQ_INT(dense[i], 100 * (i / 10 + 1) + 1 + i % 10 * 2);
    plan_pass_on(ctx, whole, section, dense, back);
    for (int i = 0; i < 60; i++)
        CHECK_EQ_INT(back[i / 20][i % 20], i % 2 ? 0 : array[i / 20][i % 20]);
    plan_pass_on(ctx, nested, part, array, dense);
    for (int i = 0; i < 20; i++)
        CHECK_EQ_INT(dense[i], 100 * (i / 10 * 2 + 1) + 1 + i % 10 * 2);
    ferry_layout_free(section);
    ferry_layout_free(whole);
    ferry_layout_free(nested);
    ferry_layout_free(part);
}

/* The last bytes of more than 2^31, read there and written there; the rest is address space only. */
static void far_away(ferry_context *ctx)
{
    enum { BYTES = 4096 };
    const int64_t far = INT64_C(1) << 31;
    unsigned char near[BYTES] = {0};
    unsigned char *const area = mmap(NULL, (size_t)far + BYTES, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ferry_layout *const last = plan_dense(BYTES, 1, far), *const first = plan_dense(BYTES, 1, 0);

    if (!CHECK(area != MAP_FAILED))
        return;
    for (int i = 0; i < BYTES; i++)
        area[far + i] = (unsigned char)(i % 251);
    plan_pass_on(ctx, last, first, area, near);
    for (int i = 0; i < BYTES; i++)
        CHECK_EQ_INT(near[i], i % 251);
    memset(area + far, 0, BYTES);
    plan_pass_on(ctx, first, last, near, area);
    for (int i = 0; i < BYTES; i++)
        CHECK_EQ_INT(area[far + i], i % 251);
    munmap(area, (size_t)far + BYTES);
    ferry_layout_free(last);
    ferry_layout_free(first);
}

void check_sections(ferry_context *ctx)
{
    backwards(ctx);
    inner_strides(ctx);
    far_away(ctx);
}
