/* Bodies of one shape, compiled once per size. Needs PIECE (bytes, a constant) and NAME(x), which
 * adds the size to a name. Pieces have no type and no alignment: a memcpy of constant size is one
 * load and one store. */

static void NAME(strided)(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                          ptrdiff_t src_stride, size_t count, size_t run)
{
    (void)run;
    for (; count; count--, dst += dst_stride, src += src_stride)
        memcpy(dst, src, PIECE);
}

static void NAME(gather)(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                         ptrdiff_t src_stride, size_t count, size_t run)
{
    (void)dst_stride, (void)run;
    for (; count; count--, dst += PIECE, src += src_stride)
        memcpy(dst, src, PIECE);
}

static void NAME(scatter)(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                          ptrdiff_t src_stride, size_t count, size_t run)
{
    (void)src_stride, (void)run;
    for (; count; count--, dst += dst_stride, src += PIECE)
        memcpy(dst, src, PIECE);
}

#if PIECE > 1 && PIECE < 64
/* Runs of PIECE .. 2 * PIECE bytes: a piece at the front and one at the back, which may overlap. */
static void NAME(pair)(char *restrict dst, ptrdiff_t dst_stride, const char *restrict src,
                       ptrdiff_t src_stride, size_t count, size_t run)
{
    const size_t back = run - PIECE;

    for (; count; count--, dst += dst_stride, src += src_stride) {
        memcpy(dst, src, PIECE);
        memcpy(dst + back, src + back, PIECE);
    }
}
#endif

/* One block of a tile, small enough that the lines of both sides stay in the first cache. */
static inline void NAME(tile_block)(char *restrict dst, ptrdiff_t dst_stride,
                                    const char *const *rows, size_t row_count, size_t from,
                                    size_t to)
{
    for (size_t c = from; c < to; c++)
        for (size_t r = 0; r < row_count; r++)
            memcpy(dst + (ptrdiff_t)c * dst_stride + r * PIECE, rows[r] + c * PIECE, PIECE);
}

static void NAME(tile)(char *restrict dst, ptrdiff_t dst_stride, const char *const *rows,
                       size_t row_count, size_t columns, size_t element, int stream)
{
    (void)element, (void)stream;
    for (size_t r = 0; r < row_count; r += TILE_ROWS)
        for (size_t c = 0; c < columns; c += TILE_COLUMNS)
            NAME(tile_block)
            (dst + r * PIECE, dst_stride, rows + r, size_min(TILE_ROWS, row_count - r), c,
             size_min(c + TILE_COLUMNS, columns));
}

#undef PIECE
#undef NAME
