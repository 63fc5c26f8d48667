/* Tiles with vectors, compiled once per element size and set.
 *
 * A micro-tile is 16 bytes from each of 64 / PIECE rows; it becomes 16 / PIECE destination lines of
 * 64 bytes. Row r goes to lane r / (16 / PIECE) of a vector, so that a transposition inside each
 * 16-byte lane finishes the job: pairing vector i with vector i + half in log2(16 / PIECE) rounds
 * of unpack is that transposition.
 *
 * Lines that fall on cache lines of the destination are streamed as they come (direct). Others, and
 * the rows left over at the end, pass through a small buffer (carry): there each column's bytes
 * queue up until a cache line is full, so that only the first and the last line of a column are
 * written in part.
 *
 * Needs PIECE and BITS (8 * PIECE), NAME(x), and of the set: VECTOR (target attribute), vec,
 * VEC_BYTES, vec_rows(rows, step, at) (16 bytes of every step-th row), vec_low(bits),
 * vec_high(bits) (unpack), vec_put(at, v, stream), line_stream(to, from). */

enum {
    NAME(line_rows) = TURN_LINE / PIECE,
    NAME(columns) = TURN_LANE / PIECE, /* of a micro-tile: vectors in, lines out */
    NAME(half) = NAME(columns) / 2,
    NAME(vec_row_count) = VEC_BYTES / PIECE,
    NAME(carry_rows) = CARRY_BYTES / PIECE
};

#if PIECE < 16
static ALWAYS_INLINE VECTOR void NAME(round)(vec v[NAME(columns)])
{
    vec w[NAME(columns)];

    UNROLL for (int i = 0; i < NAME(half); i++)
    {
        w[2 * i] = vec_low(BITS)(v[i], v[i + NAME(half)]);
        w[2 * i + 1] = vec_high(BITS)(v[i], v[i + NAME(half)]);
    }
    UNROLL for (int i = 0; i < NAME(columns); i++) v[i] = w[i];
}
#endif

/* Bytes [at, at + 16) of the rows to one line per column, the first at `line`. */
static ALWAYS_INLINE VECTOR void NAME(turn)(const char *const *rows, size_t at, char *line,
                                            ptrdiff_t stride, int stream)
{
    UNROLL for (int part = 0; part < TURN_LINE / VEC_BYTES; part++)
    {
        vec v[NAME(columns)];

        UNROLL for (int i = 0; i < NAME(columns); i++) v[i] =
            vec_rows(rows + part * NAME(vec_row_count) + i, NAME(columns), at);
#if PIECE < 16
        NAME(round)(v);
#endif
#if PIECE < 8
        NAME(round)(v);
#endif
#if PIECE < 4
        NAME(round)(v);
#endif
#if PIECE < 2
        NAME(round)(v);
#endif
        UNROLL for (int i = 0; i < NAME(columns); i++)
            vec_put(line + i * stride + part * VEC_BYTES, v[i], stream);
    }
}

/* Bytes [from, to) of the rows of one line; `line` belongs to the column at `from`. The last
 * micro-tile moves back until it ends at `to` and writes again what the one before it wrote: `to`
 * is at least 16. */
static ALWAYS_INLINE VECTOR void NAME(turn_bytes)(const char *const *rows, size_t from, size_t to,
                                                  char *line, ptrdiff_t stride, int stream)
{
    for (size_t at = from; at < to; at += TURN_LANE) {
        const size_t x = size_min(at, to - TURN_LANE);
        NAME(turn)
        (rows, x, line + ((ptrdiff_t)x - (ptrdiff_t)from) / PIECE * stride, stride, stream);
    }
}

static ALWAYS_INLINE VECTOR void NAME(fetch)(const char *const *rows, size_t at)
{
    for (int i = 0; i < NAME(line_rows); i++)
        __builtin_prefetch(rows[i] + at, 0, 2);
}

/* Rows [row, end) of bytes [from, to), line by line of the sources. */
static ALWAYS_INLINE VECTOR void NAME(direct_block)(const turn *t, size_t row, size_t end,
                                                    size_t from, size_t to, int stream)
{
    for (size_t at = from; at < to; at += TURN_LINE) {
        char *const column = t->dst + (ptrdiff_t)(at / PIECE) * t->dst_stride;
        for (size_t r = row; r < end; r += NAME(line_rows)) {
            if (stream)
                NAME(fetch)(t->rows + r, at + TURN_AHEAD);
            NAME(turn_bytes)
            (t->rows + r, at, size_min(at + TURN_LINE, to), column + r * PIECE, t->dst_stride,
             stream);
        }
    }
}

/* The first `row_count` rows, a multiple of line_rows. */
static ALWAYS_INLINE VECTOR void NAME(direct)(const turn *t, size_t row_count, int stream)
{
    for (size_t from = 0; from < t->bytes; from += TURN_STRIP)
        for (size_t row = 0; row < row_count; row += TURN_ROWS)
            NAME(direct_block)
            (t, row, size_min(row + TURN_ROWS, row_count), from,
             size_min(from + TURN_STRIP, t->bytes), stream);
}

/* Queue rows [row, end) of bytes [from, to). Missing rows of the last line are stood in for by its
 * first row. */
static VECTOR void NAME(carry_fill)(const turn *t, size_t row, size_t end, size_t from, size_t to,
                                    carry_column *columns)
{
    for (size_t r = row; r < end; r += NAME(line_rows)) {
        const char *spare[NAME(line_rows)];
        const char *const *rows = t->rows + r;
        if (end - r < NAME(line_rows)) {
            for (size_t i = 0; i < NAME(line_rows); i++)
                spare[i] = rows[i < end - r ? i : 0];
            rows = spare;
        }
        for (size_t at = from; at < to && r + CARRY_AHEAD + NAME(line_rows) <= t->row_count;
             at += TURN_LINE)
            NAME(fetch)(t->rows + r + CARRY_AHEAD, at);
        NAME(turn_bytes)
        (rows, from, to, columns[0] + TURN_LINE + (r - row) * PIECE, sizeof columns[0], 0);
    }
}

/* Write what is queued and belongs at `to`, `bytes` long, and keep the line that is not full. */
static VECTOR void NAME(carry_flush)(char *column, char *to, size_t bytes, bool first, bool last)
{
    const size_t phase = (uintptr_t)to % TURN_LINE, end = phase + bytes;
    char *const line = to - phase, *const from = column + TURN_LINE - phase;
    size_t at = 0;

    if (first && phase) {
        memcpy(to, column + TURN_LINE, size_min(TURN_LINE - phase, bytes));
        at = TURN_LINE;
    }
    for (; at + TURN_LINE <= end; at += TURN_LINE)
        line_stream(line + at, from + at);
    if (!last)
        memcpy(column, column + bytes, TURN_LINE);
    else if (at < end)
        memcpy(line + at, from + at, end - at);
}

/* Rows [row, end) of bytes [from, to), down the columns. */
static VECTOR void NAME(carry_strip)(const turn *t, size_t row, size_t end, size_t from, size_t to)
{
    carry_column columns[CARRY_COLUMNS] __attribute__((aligned(TURN_LINE)));
    char *const dst = t->dst + (ptrdiff_t)(from / PIECE) * t->dst_stride;

    for (size_t r = row; r < end; r += NAME(carry_rows)) {
        const size_t stop = size_min(r + NAME(carry_rows), end);
        NAME(carry_fill)(t, r, stop, from, to, columns);
        for (size_t c = 0; c < (to - from) / PIECE; c++)
            NAME(carry_flush)
            (columns[c], dst + (ptrdiff_t)c * t->dst_stride + r * PIECE, (stop - r) * PIECE,
             r == row, stop == end);
    }
}

/* The rows from `first` on, any number. */
static VECTOR void NAME(carry)(const turn *t, size_t first)
{
    const size_t width = CARRY_COLUMNS * PIECE;

    for (size_t row = first; row < t->row_count; row += CARRY_ROWS)
        for (size_t at = 0; at < t->bytes; at += width) {
            const size_t to = size_min(at + width, t->bytes);
            NAME(carry_strip)
            (t, row, size_min(row + CARRY_ROWS, t->row_count), size_min(at, to - TURN_LANE), to);
        }
}

static VECTOR void NAME(tile)(char *restrict dst, ptrdiff_t dst_stride, const char *const *rows,
                              size_t row_count, size_t columns, size_t element, int stream)
{
    const turn t = {dst, dst_stride, rows, row_count, columns * PIECE};
    const bool on_lines = ((uintptr_t)dst | (uintptr_t)dst_stride) % TURN_LINE == 0;
    const bool direct = t.bytes >= TURN_LANE && (on_lines || !stream);
    const size_t whole = direct ? row_count - row_count % NAME(line_rows) : 0,
                 rest = row_count - whole;

    if (stream)
        NAME(direct)(&t, whole, 1);
    else
        NAME(direct)(&t, whole, 0);
    if (t.bytes < TURN_LANE || 2 * rest <= NAME(line_rows))
        kernels_scalar_tile(element)(dst + whole * PIECE, dst_stride, rows + whole, rest, columns,
                                     element, 0);
    else
        NAME(carry)(&t, whole);
}

#undef PIECE
#undef BITS
#undef NAME
