/* Pairs two nests and orders the loops of the pair. Knows nothing of kernels: what is best for the
 * caches is told by strides. */
#include "copy/joint.h"

#include "base/size.h"

/* One side, read from the inside outwards: level 0 is the bytes of a run, level k the k-th loop
 * from the inside. */
typedef struct side {
    const layout_nest *nest;
    int level;
    size_t left; /* iterations of the level not yet paired: a multiple of what was paired is one
                    iteration */
    int64_t stride;
} side;

static bool at_end(const side *from)
{
    return from->level > from->nest->dims;
}

static void next_level(side *from)
{
    from->level++;
    if (at_end(from))
        return;
    const int loop = from->nest->dims - from->level;
    from->left = from->nest->loop[loop].count;
    from->stride = from->nest->loop[loop].stride;
}

static void consume(side *from, size_t count)
{
    from->left /= count;
    from->stride = (int64_t)((uint64_t)from->stride *
                             count); /* past the last iteration it may wrap, and is not used */
    if (from->left == 1)
        next_level(from);
}

bool joint_pair(const layout_nest *src, const layout_nest *dst, joint_nest *joint_out)
{
    side a = {src, 0, src->run, 1}, b = {dst, 0, dst->run, 1};
    joint_loop levels[JOINT_DIMS] = {{1, 1, 1}}; /* innermost first; level 0 is the run */
    int count = 0;

    while (!at_end(&a) && !at_end(&b)) {
        const size_t common = size_divisor(a.left, b.left);
        if (common == 1 && a.left > 1 && b.left > 1)
            return false;
        levels[count++] = (joint_loop){common, a.stride, b.stride};
        consume(&a, common);
        consume(&b, common);
    }
    *joint_out = (joint_nest){.src = src->offset, .dst = dst->offset, .run = levels[0].count};
    for (int k = count - 1; k > 0; k--)
        joint_out->loop[joint_out->dims++] = levels[k];
    return true;
}

static void remove_loop(joint_nest *nest, int which)
{
    for (int k = which; k + 1 < nest->dims; k++)
        nest->loop[k] = nest->loop[k + 1];
    nest->dims--;
}

/* Walk the destination upwards: a loop that goes down on both sides goes up on both. */
static void make_upward(joint_nest *nest)
{
    for (int k = 0; k < nest->dims; k++) {
        joint_loop *const loop = &nest->loop[k];
        if (loop->dst >= 0)
            continue;
        nest->src += (int64_t)(loop->count - 1) * loop->src;
        nest->dst += (int64_t)(loop->count - 1) * loop->dst;
        loop->src = -loop->src;
        loop->dst = -loop->dst;
    }
}

/* Is one iteration of `outer` what follows all iterations of `inner`, on both sides? */
static bool continues(const joint_loop *outer, const joint_loop *inner)
{
    int64_t src, dst;

    return offset_mul(inner->src, (int64_t)inner->count, &src) &&
           offset_mul(inner->dst, (int64_t)inner->count, &dst) && outer->src == src &&
           outer->dst == dst;
}

/* One loop becomes part of the run, or of another loop; false when none can. */
static bool merge_one(joint_nest *nest)
{
    for (int k = 0; k < nest->dims; k++) {
        const joint_loop outer = nest->loop[k];
        if (outer.count == 1 ||
            (outer.src == (int64_t)nest->run && outer.dst == (int64_t)nest->run)) {
            nest->run *= outer.count;
            remove_loop(nest, k);
            return true;
        }
        for (int j = 0; j < nest->dims; j++) {
            if (j == k || !continues(&outer, &nest->loop[j]))
                continue;
            nest->loop[j].count *= outer.count;
            remove_loop(nest, k);
            return true;
        }
    }
    return false;
}

static uint64_t magnitude(int64_t stride)
{
    return stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
}

/* Far jumps belong outside. Writing to far places costs about twice what reading does: a line is
 * fetched and written back. */
static bool belongs_outside(const joint_loop *a, const joint_loop *b)
{
    const uint64_t x = magnitude(a->src) / 4 + magnitude(a->dst) / 2,
                   y = magnitude(b->src) / 4 + magnitude(b->dst) / 2;

    return x > y;
}

void joint_reorder(joint_nest *nest)
{
    make_upward(nest);
    while (merge_one(nest))
        continue;
    for (int i = 1; i < nest->dims; i++) {
        int to = i;
        while (to > 0 && belongs_outside(&nest->loop[i], &nest->loop[to - 1]))
            to--;
        joint_move(nest, i, to);
    }
}

void joint_move(joint_nest *nest, int from, int to)
{
    const joint_loop moved = nest->loop[from];
    const int step = from < to ? 1 : -1;

    for (int k = from; k != to; k += step)
        nest->loop[k] = nest->loop[k + step];
    nest->loop[to] = moved;
}

bool joint_turn(const joint_nest *nest, int *row_out, int *column_out)
{
    int row = -1, column = -1;

    for (int k = 0; k < nest->dims; k++) {
        if (nest->loop[k].dst == (int64_t)nest->run)
            row = k;
        else if (nest->loop[k].src == (int64_t)nest->run)
            column = k;
    }
    if (row < 0 || column < 0)
        return false;
    *row_out = row;
    *column_out = column;
    return true;
}

size_t joint_piece(const layout_nest *nest, size_t from, size_t most, layout_nest *piece_out)
{
    layout_nest piece = {.offset = nest->offset};
    size_t inside = layout_nest_bytes(nest); /* bytes of one iteration of the loops passed so far */
    int k = 0;

    for (; k < nest->dims;
         k++) { /* the outermost loop of which whole iterations begin at `from` and fit */
        inside /= nest->loop[k].count;
        if (from % inside == 0 && most >= inside)
            break;
        piece.offset += (int64_t)(from / inside) * nest->loop[k].stride;
        from %= inside;
    }
    if (k == nest->dims) {
        piece.offset += (int64_t)from;
        piece.run = size_min(nest->run - from, most);
        *piece_out = piece;
        return piece.run;
    }
    const size_t first = from / inside,
                 count = size_min(nest->loop[k].count - first, most / inside);
    piece.offset += (int64_t)first * nest->loop[k].stride;
    piece.run = nest->run;
    for (int j = k; j < nest->dims; j++, piece.dims++) {
        piece.loop[piece.dims].count = j == k ? count : nest->loop[j].count;
        piece.loop[piece.dims].stride = nest->loop[j].stride;
    }
    *piece_out = piece;
    return count * inside;
}
