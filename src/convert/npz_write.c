/* From a bundle to a .npz file: one .npy for each value, not compressed. Elements are written from
 * where they lie; libzip reads them when the archive is closed, so that headers, and copies of what
 * does not lie dense, are kept until then. */
#include "convert/npz.h"
#include "convert/place.h"
#include "ferry/convert.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

/* What is kept until the archive is closed. */
typedef struct kept {
    struct kept *next;
    ferry_bundle *holder; /* a dense copy */
    char *data;           /* of a string */
    char header[NPY_WRITTEN_MAX];
} kept;

typedef struct writer {
    zip_t *zip;
    kept *kept;
    buffer path; /* of the value that is being written */
    size_t entries;
} writer;

static ferry_status refuse(const writer *w, ferry_status status, const char *what)
{
    return ferry_status_fail(status, "npz, %.*s: %s",
                             (int)(w->path.bytes < 200 ? w->path.bytes : 200),
                             w->path.data ? w->path.data : "", what);
}

static ferry_status keep(writer *w, kept **kept_out)
{
    kept *const fresh = calloc(1, sizeof *fresh);

    if (!fresh)
        return refuse(w, FERRY_ERR_MEMORY, "out of memory");
    fresh->next = w->kept;
    w->kept = fresh;
    *kept_out = fresh;
    return FERRY_OK;
}

static void drop_kept(kept *k)
{
    while (k) {
        kept *const next = k->next;
        ferry_bundle_free(k->holder);
        free(k->data);
        free(k);
        k = next;
    }
}

/* The path with `tail` behind it, and a NUL; the path stays as it was. */
static const char *entry_name(writer *w, const char *tail)
{
    const size_t before = w->path.bytes;

    buffer_add(&w->path, tail, strlen(tail) + 1);
    w->path.bytes = before;
    return w->path.failed ? NULL : w->path.data;
}

static ferry_status zip_failed(const writer *w)
{
    const zip_error_t *const error = zip_get_error(w->zip);

    return refuse(w,
                  zip_error_code_zip(error) == ZIP_ER_MEMORY ? FERRY_ERR_MEMORY : FERRY_ERR_SYSTEM,
                  zip_strerror(w->zip));
}

static ferry_status add_folder(writer *w, const char *tail)
{
    const char *const name = entry_name(w, tail);

    w->entries++;
    if (!name)
        return refuse(w, FERRY_ERR_MEMORY, "out of memory");
    return zip_dir_add(w->zip, name, ZIP_FL_ENC_UTF_8) < 0 ? zip_failed(w) : FERRY_OK;
}

/* Add an entry of a header and data, both to be kept. */
static ferry_status add_entry(writer *w, char *header, size_t header_bytes, const void *data,
                              size_t bytes)
{
    /* libzip takes data that is not const, and only reads it. */
    zip_buffer_fragment_t parts[] = {
        {(zip_uint8_t *)header, header_bytes},
        {(zip_uint8_t *)(uintptr_t)data, bytes},
    };
    const char *const name = entry_name(w, ".npy");

    w->entries++;
    if (!name)
        return refuse(w, FERRY_ERR_MEMORY, "out of memory");
    zip_source_t *const source = zip_source_buffer_fragment(w->zip, parts, bytes > 0 ? 2 : 1, 0);
    if (!source)
        return zip_failed(w);
    const zip_int64_t at = zip_file_add(w->zip, name, source, ZIP_FL_ENC_UTF_8);
    if (at < 0) {
        zip_source_free(source);
        return zip_failed(w);
    }
    /* Equal bundles give equal files: no compression that differs by version, no time of day. */
    const bool plain = zip_set_file_compression(w->zip, (zip_uint64_t)at, ZIP_CM_STORE, 0) == 0 &&
                       zip_file_set_dostime(w->zip, (zip_uint64_t)at, 0, 1 << 5 | 1, 0) == 0;
    return plain ? FERRY_OK : zip_failed(w);
}

/* --- values --- */

static ferry_status write_scalar(writer *w, const ferry_item *item)
{
    kept *k = NULL;
    const size_t bytes = ferry_type_bytes(item->type);
    ferry_status st = keep(w, &k);

    if (st != FERRY_OK)
        return st;
    return add_entry(w, k->header, npy_write(npz_descr(item->type), false, 0, NULL, k->header),
                     item->data, bytes);
}

static ferry_status write_array(writer *w, const ferry_item *item)
{
    ferry_item dense;
    kept *k = NULL;
    ferry_status st = keep(w, &k);

    if (st == FERRY_OK)
        st = place_dense(item, &k->holder, &dense);
    if (st != FERRY_OK)
        return st;
    const size_t header =
        npy_write(npz_descr(dense.element), dense.column_major, dense.dims, dense.shape, k->header);
    return add_entry(w, k->header, header, dense.data,
                     dense.count * ferry_type_bytes(dense.element));
}

static ferry_status write_bytes(writer *w, const ferry_item *item)
{
    char descr[32];
    kept *k = NULL;
    ferry_status st = keep(w, &k);

    if (st != FERRY_OK)
        return st;
    if (item->count > INT32_MAX)
        return refuse(w, FERRY_ERR_LIMIT, "more than 2^31 - 1 bytes in one value");
    snprintf(descr, sizeof descr, "|V%zu", item->count);
    return add_entry(w, k->header, npy_write(descr, false, 0, NULL, k->header), item->data,
                     item->count);
}

/* --- strings: NumPy keeps each in a field of one width, filled up with NULs --- */

/* Code points of UTF-8 text to words of 32 bits; returns how many. `out` may be NULL. */
static size_t decode(const char *utf8, size_t bytes, char *out)
{
    size_t count = 0;

    for (size_t i = 0; i < bytes; count++) {
        const unsigned char lead = (unsigned char)utf8[i++];
        uint32_t code = lead < 0x80   ? lead
                        : lead < 0xe0 ? lead & 0x1fu
                        : lead < 0xf0 ? lead & 0xfu
                                      : lead & 7u;
        while (i < bytes && ((unsigned char)utf8[i] & 0xc0) == 0x80)
            code = code << 6 | ((unsigned char)utf8[i++] & 0x3f);
        if (out)
            memcpy(out + 4 * count, &code, sizeof code);
    }
    return count;
}

/* `count` strings, found by number. */
typedef struct strings {
    const ferry_item *item; /* a string, or an array of them */
    size_t count;
    bool utf8;
} strings;

static const char *string_at(const strings *s, size_t number, size_t *bytes_out)
{
    if (s->item->type == FERRY_TYPE_STRINGS)
        return ferry_item_string(s->item, number, bytes_out);
    *bytes_out = s->item->count;
    return s->item->data;
}

/* The width of the longest, at least 1, since NumPy has none of 0. */
static ferry_status measure(const writer *w, const strings *s, size_t *width_out)
{
    size_t width = 1;

    for (size_t i = 0; i < s->count; i++) {
        size_t bytes;
        const char *const one = string_at(s, i, &bytes);
        if (bytes > 0 && one[bytes - 1] == '\0')
            return refuse(w, FERRY_ERR_TYPE, "a string that ends in NUL, which .npz cannot hold");
        const size_t needed = s->utf8 ? decode(one, bytes, NULL) : bytes;
        width = needed > width ? needed : width;
    }
    if (width > INT32_MAX / 4)
        return refuse(w, FERRY_ERR_LIMIT, "a string of more than 2^29 - 1 characters");
    *width_out = width;
    return FERRY_OK;
}

static ferry_status write_strings(writer *w, const strings *s)
{
    const int dims = s->item->type == FERRY_TYPE_STRINGS;
    const int64_t count = (int64_t)s->count;
    const size_t unit = s->utf8 ? 4 : 1;
    size_t width = 0, total;
    char descr[32];
    kept *k = NULL;
    ferry_status st = measure(w, s, &width);

    if (st == FERRY_OK)
        st = keep(w, &k);
    if (st != FERRY_OK)
        return st;
    if (__builtin_mul_overflow(s->count, width * unit, &total))
        return refuse(w, FERRY_ERR_LIMIT, "strings of more than 2^64 bytes together");
    k->data = calloc(total + 1, 1);
    if (!k->data)
        return refuse(w, FERRY_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < s->count; i++) {
        size_t bytes;
        const char *const one = string_at(s, i, &bytes);
        if (s->utf8)
            decode(one, bytes, k->data + i * width * unit);
        else if (bytes > 0)
            memcpy(k->data + i * width, one, bytes);
    }
    snprintf(descr, sizeof descr, "%s%zu", s->utf8 ? "<U" : "|S", width);
    return add_entry(w, k->header, npy_write(descr, false, dims, &count, k->header), k->data,
                     total);
}

/* --- bundles and lists --- */

static ferry_status write_value(writer *w, const ferry_item *item);

/* Write the item behind one more step. */
static ferry_status write_step(writer *w, const ferry_item *item)
{
    const size_t before = w->path.bytes;

    if (before > 0)
        buffer_word(&w->path, "/");
    if (item->key)
        npz_add_key(&w->path, item->key);
    else
        npz_add_index(&w->path, item->index);
    const ferry_status st = write_value(w, item);
    w->path.bytes = before;
    return st;
}

static ferry_status write_branch(writer *w, branch b)
{
    const size_t count = branch_count(b);
    ferry_status st = FERRY_OK;

    if (count == 0 && b.list)
        return add_folder(w, "/[]/");
    if (count == 0)
        return w->path.bytes > 0 ? add_folder(w, "/") : FERRY_OK;
    for (size_t i = 0; i < count && st == FERRY_OK; i++) {
        ferry_item item;
        st = branch_item(b, i, &item);
        if (st == FERRY_OK)
            st = write_step(w, &item);
    }
    return st;
}

static ferry_status write_content(writer *w, const ferry_item *item)
{
    switch (item->type) {
    case FERRY_TYPE_NULL:
        return refuse(w, FERRY_ERR_TYPE, "null, which .npz cannot hold");
    case FERRY_TYPE_STRING:
        return write_strings(w, &(strings){item, 1, item->utf8});
    case FERRY_TYPE_STRINGS:
        return write_strings(w, &(strings){item, item->count, item->utf8});
    case FERRY_TYPE_BYTES:
        return write_bytes(w, item);
    case FERRY_TYPE_ARRAY:
        return write_array(w, item);
    case FERRY_TYPE_LIST:
        return write_branch(w, (branch){.list = item->list});
    case FERRY_TYPE_BUNDLE:
        return write_branch(w, (branch){.bundle = item->bundle});
    default:
        return write_scalar(w, item);
    }
}

static ferry_status write_value(writer *w, const ferry_item *item)
{
    const size_t before = w->path.bytes;
    ferry_status st = write_content(w, item);

    if (st != FERRY_OK || !item->attributes)
        return st;
    buffer_word(&w->path, "/@");
    st = write_branch(w, (branch){.bundle = item->attributes});
    w->path.bytes = before;
    return st;
}

/* --- the public call --- */

/* A zip file without entries, which libzip does not write. */
static ferry_status write_empty(const output *o)
{
    static const char end[22] = "PK\5\6";

    return output_write(o, end, sizeof end);
}

static ferry_status close_archive(writer *w, const output *o)
{
    if (w->entries == 0) {
        zip_discard(w->zip);
        return write_empty(o);
    }
    if (zip_close(w->zip) == 0)
        return FERRY_OK;
    const ferry_status st = ferry_status_fail(FERRY_ERR_SYSTEM, "%.300s: cannot be written: %s",
                                              o->name, zip_strerror(w->zip));
    zip_discard(w->zip);
    return st;
}

static ferry_status write_file(const ferry_bundle *bundle, const output *o)
{
    writer w = {0};
    int code;

    w.zip = zip_open(o->partial, ZIP_CREATE | ZIP_EXCL, &code);
    if (!w.zip) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        const ferry_status st = ferry_status_fail(FERRY_ERR_SYSTEM, "%.300s: cannot be written: %s",
                                                  o->name, zip_error_strerror(&error));
        zip_error_fini(&error);
        return st;
    }
    ferry_status st = write_branch(&w, (branch){.bundle = bundle});
    if (st == FERRY_OK)
        st = close_archive(&w, o);
    else
        zip_discard(w.zip);
    drop_kept(w.kept);
    buffer_drop(&w.path);
    return st;
}

ferry_status ferry_convert_save_npz(const ferry_bundle *bundle, const char *path)
{
    output o;

    if (!bundle)
        return ferry_status_fail(FERRY_ERR_ARG, "ferry_convert_save_npz: bundle is NULL");
    const ferry_status st = output_begin(path, &o);
    if (st != FERRY_OK)
        return st;
    return output_end(&o, write_file(bundle, &o));
}
