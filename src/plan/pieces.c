/* Lists of addresses as one sequence of bytes. */
#include "base/size.h"
#include "base/trouble.h"
#include "kernels/kernels.h"
#include "plan/stream.h"

ferry_status stream_check_pieces(const ferry_piece *pieces, size_t count, const char *call,
                                 int rank, size_t *bytes_out)
{
    size_t bytes = 0;

    if (!pieces && count)
        return trouble(FERRY_ERR_ARG, "%s: pieces is NULL and count is %zu on rank %d", call, count,
                       rank);
    for (size_t i = 0; i < count; i++) {
        if (!pieces[i].data && pieces[i].bytes)
            return trouble(FERRY_ERR_ARG,
                           "%s: pieces[%zu].data is NULL on rank %d, its bytes are %zu", call, i,
                           rank, pieces[i].bytes);
        if (!size_add(bytes, pieces[i].bytes, &bytes) || bytes > INT64_MAX)
            return trouble(FERRY_ERR_ARG,
                           "%s: the pieces on rank %d have more than 2^63 bytes together", call,
                           rank);
    }
    *bytes_out = bytes;
    return FERRY_OK;
}

/* What goes through slots is mostly written past the caches: lines that one core has just written
 * are the slowest for another to get. */
void stream_read(stream_reader *reader, char *dst, size_t bytes)
{
    stream_fill(reader, dst, bytes, true);
}

void stream_fill(stream_reader *reader, char *dst, size_t bytes, bool past)
{
    while (bytes) {
        const size_t part = size_min(bytes, reader->piece->bytes - reader->at);
        if (part)
            kernels_copy(dst, (const char *)reader->piece->data + reader->at, part, past);
        dst += part;
        bytes -= part;
        reader->at += part;
        if (reader->at < reader->piece->bytes || !reader->left)
            continue;
        reader->piece++;
        reader->left--;
        reader->at = 0;
    }
    kernels_fence();
}
