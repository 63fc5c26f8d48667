/* From a .npz file to a bundle. Sizes that the archive states are checked against the arrays' own
 * headers before anything is allocated for them. */
#include "convert/npz.h"
#include "convert/place.h"
#include "ferry/convert.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

typedef struct reader {
    const char *path; /* of the file */
    zip_t *zip;
    const char *name; /* of the entry under way */
} reader;

static ferry_status wrong(const reader *r, ferry_status status, const char *what)
{
    return ferry_status_fail(status, "%.200s: entry %.200s: %s", r->path, r->name, what);
}

/* Pass a failure on; what the bundle says gets the entry in front. */
static ferry_status named(const reader *r, ferry_status st)
{
    return st == FERRY_OK ? st : wrong(r, st, ferry_error_detail());
}

/* --- where an entry belongs --- */

typedef struct step {
    const char *at;
    size_t bytes;
} step;

static step first_step(const char *name, const char *end)
{
    const char *const slash = memchr(name, '/', (size_t)(end - name));

    return (step){name, (size_t)((slash ? slash : end) - name)};
}

static bool is_attributes(step s)
{
    return s.bytes == 1 && *s.at == '@';
}

/* The place of a step: its key, in `key`, or the end of a list. Tells whether a value is there. */
static ferry_status find_place(const reader *r, place *at, step s, buffer *key, bool *there_out)
{
    ferry_type type;
    size_t index;

    if (s.bytes == 0)
        return wrong(r, FERRY_ERR_FORMAT, "a name with an empty step");
    if (at->list) {
        const size_t count = ferry_list_count(at->list);
        if (!npz_read_index(s.at, s.bytes, &index) || index > count)
            return wrong(r, FERRY_ERR_FORMAT, "expected the next number of a list");
        *there_out = index < count;
        if (index + 1 < count)
            return wrong(r, FERRY_ERR_FORMAT, "belongs to an element that others follow");
        return FERRY_OK;
    }
    key->bytes = 0;
    npz_read_key(key, s.at, s.bytes);
    if (key->failed)
        return wrong(r, FERRY_ERR_MEMORY, "out of memory");
    at->key = key->data;
    *there_out = ferry_bundle_type(at->bundle, at->key, &type) == FERRY_OK;
    return FERRY_OK;
}

/* From the place of a step into the bundle or list that is there, or is put there. */
static ferry_status enter(const place *from, bool there, bool as_list, place *into_out)
{
    place into = {0};
    ferry_status st;

    if (as_list && there && from->list)
        st = ferry_list_edit_list(from->list, ferry_list_count(from->list) - 1, &into.list);
    else if (as_list && there)
        st = ferry_bundle_edit_list(from->bundle, from->key, &into.list);
    else if (as_list)
        st = place_list(from, &into.list);
    else if (there && from->list)
        st = ferry_list_edit_bundle(from->list, ferry_list_count(from->list) - 1, &into.bundle);
    else if (there)
        st = ferry_bundle_edit_bundle(from->bundle, from->key, &into.bundle);
    else
        st = place_bundle(from, &into.bundle);
    if (st == FERRY_OK)
        *into_out = into;
    return st;
}

/* Follow a name to the place of its value, making what is missing on the way. A folder's place has
 * no key and is no list's: *folder_out tells. */
static ferry_status follow(const reader *r, const char *end, place *at, buffer *key,
                           bool *folder_out)
{
    const char *name = r->name;
    bool there = false;

    for (;;) {
        const step here = first_step(name, end);
        ferry_status st = find_place(r, at, here, key, &there);
        if (st != FERRY_OK)
            return st;
        name = here.at + here.bytes;
        if (name == end) {
            *folder_out = false;
            return there ? wrong(r, FERRY_ERR_FORMAT, "a value for the second time") : FERRY_OK;
        }
        const step next = first_step(name + 1, end);
        if (is_attributes(next)) {
            if (!there)
                return wrong(r, FERRY_ERR_FORMAT,
                             "attributes of a value that does not come before");
            ferry_bundle *attributes;
            st = named(r, place_attributes(at, &attributes));
            *at = (place){.bundle = attributes};
            name = next.at + 1;
        } else {
            size_t index;
            place into;
            const bool as_list = npz_read_index(next.at, next.bytes, &index);
            st = named(r, enter(at, there, as_list, &into));
            if (st == FERRY_OK)
                *at = into;
            if (as_list && index == SIZE_MAX)
                name = next.at + next.bytes;
        }
        if (st != FERRY_OK)
            return st;
        *folder_out = true;
        if (name == end || name + 1 == end)
            return FERRY_OK;
        name++;
    }
}

/* --- elements --- */

/* Turn the bytes of each word around. */
static void swap_words(char *data, size_t count, size_t bytes)
{
    for (char *word = data; count > 0; count--, word += bytes)
        for (size_t i = 0; i < bytes / 2; i++) {
            const char low = word[i];
            word[i] = word[bytes - 1 - i];
            word[bytes - 1 - i] = low;
        }
}

static ferry_status put_numbers(const reader *r, const npy_header *h, char *data, const place *at)
{
    const ferry_type type = npz_type(h->descr);
    const size_t pairs = type == FERRY_TYPE_COMPLEX64 || type == FERRY_TYPE_COMPLEX128 ? 2 : 1,
                 word = (size_t)h->element_bytes / pairs;

    if (h->dims > FERRY_ARRAY_MAX_DIMS)
        return wrong(r, FERRY_ERR_LIMIT, "more than 8 dimensions");
    if (h->descr[0] == '>')
        swap_words(data, (size_t)h->data_bytes / word, word);
    for (int64_t i = 0; type == FERRY_TYPE_BOOL && i < h->data_bytes; i++)
        data[i] = data[i] != 0;
    if (h->dims == 0)
        return named(r, place_scalar(at, type, data));
    return named(r, place_array(at, type, h->dims, h->shape, h->fortran, data));
}

/* Strings of a field of one width, NULs at the end cut off; to UTF-8 when they are code points. */
static ferry_status read_string(const reader *r, const char *field, size_t width, bool is_unicode,
                                buffer *into)
{
    const size_t unit = is_unicode ? 4 : 1;

    while (width > 0 && memcmp(field + (width - 1) * unit, "\0\0\0", unit) == 0)
        width--;
    if (!is_unicode) {
        buffer_add(into, field, width);
        return FERRY_OK;
    }
    for (size_t i = 0; i < width; i++) {
        uint32_t code;
        memcpy(&code, field + 4 * i, sizeof code);
        if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return wrong(r, FERRY_ERR_FORMAT, "a string with a number that is no character");
        const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
        char bytes[4] = {(char)(leads[more] | code >> (6 * more))};
        for (int k = 1; k <= more; k++)
            bytes[k] = (char)(0x80 | (code >> (6 * (more - k)) & 0x3f));
        buffer_add(into, bytes, (size_t)more + 1);
    }
    return FERRY_OK;
}

/* One string, or an array of them, whose bytes lie one after another in `t`. */
static ferry_status put_split(const buffer *t, const size_t *ends, size_t count, int dims,
                              const place *at)
{
    if (dims == 0)
        return place_string(at, t->data, ends[0]);
    const char **const texts = malloc((count + 1) * sizeof *texts);
    size_t *const lengths = malloc((count + 1) * sizeof *lengths);
    ferry_status st =
        texts && lengths ? FERRY_OK : ferry_status_fail(FERRY_ERR_MEMORY, "out of memory");

    for (size_t i = 0; i < count && st == FERRY_OK; i++) {
        const size_t begin = i > 0 ? ends[i - 1] : 0;
        texts[i] = t->data ? t->data + begin : "";
        lengths[i] = ends[i] - begin;
    }
    if (st == FERRY_OK)
        st = place_strings(at, count, texts, lengths);
    free(texts);
    free(lengths);
    return st;
}

static ferry_status put_strings(const reader *r, const npy_header *h, char *data, const place *at)
{
    const bool is_unicode = h->descr[strspn(h->descr, "<>|=")] == 'U';
    const size_t width = (size_t)h->element_bytes / (is_unicode ? 4 : 1),
                 count = (size_t)h->data_bytes / (size_t)h->element_bytes;
    buffer t = {0};

    if (h->dims > 1)
        return wrong(r, FERRY_ERR_TYPE, "strings in more than one dimension");
    if (is_unicode && h->descr[0] == '>')
        swap_words(data, (size_t)h->data_bytes / 4, 4);
    size_t *const ends = malloc((count + 1) * sizeof *ends);
    ferry_status st = ends ? FERRY_OK : wrong(r, FERRY_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < count && st == FERRY_OK; i++) {
        st = read_string(r, data + i * (size_t)h->element_bytes, width, is_unicode, &t);
        ends[i] = t.bytes;
    }
    if (st == FERRY_OK && t.failed)
        st = wrong(r, FERRY_ERR_MEMORY, "out of memory");
    if (st == FERRY_OK)
        st = named(r, put_split(&t, ends, count, h->dims, at));
    free(ends);
    buffer_drop(&t);
    return st;
}

static ferry_status put_array(const reader *r, const npy_header *h, char *data, const place *at)
{
    const char kind = h->descr[strspn(h->descr, "<>|=")];
    char what[128];

    if (npz_type(h->descr) != FERRY_TYPE_NULL)
        return put_numbers(r, h, data, at);
    if (kind == 'U' || kind == 'S')
        return put_strings(r, h, data, at);
    if (kind == 'V' && h->dims == 0)
        return named(r, place_bytes(at, data, (size_t)h->data_bytes));
    snprintf(what, sizeof what, "dtype \"%s\"%s, which bundles have not", h->descr,
             kind == 'V' ? " in an array" : "");
    return wrong(r, FERRY_ERR_TYPE, what);
}

/* --- entries --- */

/* Exactly `bytes` bytes. */
static ferry_status read_bytes(const reader *r, zip_file_t *file, char *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        const zip_int64_t n = zip_fread(file, data + done, bytes - done);
        if (n < 0)
            return wrong(r, FERRY_ERR_FORMAT, zip_error_strerror(zip_file_get_error(file)));
        if (n == 0)
            return wrong(r, FERRY_ERR_FORMAT, "the data ends too early");
        done += (size_t)n;
    }
    return FERRY_OK;
}

/* The archive's end of an entry: its checksum is looked at there. */
static ferry_status read_end(const reader *r, zip_file_t *file)
{
    char more;
    const zip_int64_t n = zip_fread(file, &more, 1);

    if (n == 0)
        return FERRY_OK;
    return wrong(r, FERRY_ERR_FORMAT,
                 n < 0 ? zip_error_strerror(zip_file_get_error(file))
                       : "more data than the array has");
}

/* The magic and the length of the header first, then all of it. */
static ferry_status read_header(const reader *r, zip_file_t *file, uint64_t bytes,
                                npy_header *header_out)
{
    static const char magic[] = "\x93NUMPY";
    enum { START = 12 };
    char error[NPY_ERROR_BYTES], *text = NULL;
    unsigned char start[START] = {0};
    ferry_status st = bytes < START ? wrong(r, FERRY_ERR_FORMAT, "no array: too short for one")
                                    : read_bytes(r, file, (char *)start, START);

    if (st != FERRY_OK)
        return st;
    if (memcmp(start, magic, sizeof magic - 1) != 0)
        return wrong(r, FERRY_ERR_FORMAT, "no array: it does not begin as a .npy file does");
    const bool wide = start[6] > 1;
    const size_t length = start[8] | (size_t)start[9] << 8 | (wide ? (size_t)start[10] << 16 : 0) |
                          (wide ? (size_t)start[11] << 24 : 0),
                 whole = (wide ? 12 : 10) + length;
    if (length > NPY_HEADER_MAX || whole < START || whole > bytes)
        return wrong(r, FERRY_ERR_FORMAT, "no array: a header of an impossible length");
    text = malloc(whole);
    if (!text)
        return wrong(r, FERRY_ERR_MEMORY, "out of memory");
    memcpy(text, start, START);
    st = read_bytes(r, file, text + START, whole - START);
    if (st == FERRY_OK && !npy_understand(text, whole, header_out, error))
        st = wrong(r, strstr(error, "dtype") ? FERRY_ERR_TYPE : FERRY_ERR_FORMAT, error);
    free(text);
    return st;
}

static ferry_status read_array(const reader *r, zip_file_t *file, uint64_t bytes, const place *at)
{
    npy_header h;
    ferry_status st = read_header(r, file, bytes, &h);

    if (st != FERRY_OK)
        return st;
    if ((uint64_t)h.data_offset + (uint64_t)h.data_bytes != bytes)
        return wrong(r, FERRY_ERR_FORMAT, "its length is not what its shape needs");
    char *const data = malloc((size_t)h.data_bytes + 1);
    if (!data)
        return wrong(r, FERRY_ERR_MEMORY, "out of memory");
    st = read_bytes(r, file, data, (size_t)h.data_bytes);
    if (st == FERRY_OK)
        st = read_end(r, file);
    if (st == FERRY_OK)
        st = put_array(r, &h, data, at);
    free(data);
    return st;
}

/* Length of a name without ".npy"; a name without it stays whole. */
static size_t stem(const char *name)
{
    const size_t bytes = strlen(name);

    return bytes > 4 && strcmp(name + bytes - 4, ".npy") == 0 ? bytes - 4 : bytes;
}

static ferry_status read_entry(reader *r, uint64_t number, ferry_bundle *root)
{
    zip_stat_t facts;
    place at = {.bundle = root};
    buffer key = {0};
    bool folder = false;

    r->name = zip_get_name(r->zip, number, ZIP_FL_ENC_GUESS);
    if (!r->name || zip_stat_index(r->zip, number, 0, &facts) != 0 ||
        !(facts.valid & ZIP_STAT_SIZE))
        return ferry_status_fail(FERRY_ERR_FORMAT, "%.200s: entry %llu: %s", r->path,
                                 (unsigned long long)number, zip_strerror(r->zip));
    const size_t length = strlen(r->name);
    const bool is_folder = length > 0 && r->name[length - 1] == '/';
    ferry_status st = follow(r, r->name + (is_folder ? length : stem(r->name)), &at, &key, &folder);
    if (st == FERRY_OK && folder != is_folder)
        st = wrong(r, FERRY_ERR_FORMAT, "a name that leads to no value");
    if (st == FERRY_OK && !is_folder) {
        zip_file_t *const file = zip_fopen_index(r->zip, number, 0);
        st = file ? read_array(r, file, facts.size, &at)
                  : wrong(r, FERRY_ERR_FORMAT, zip_strerror(r->zip));
        if (file)
            zip_fclose(file);
    }
    buffer_drop(&key);
    return st;
}

static ferry_status read_archive(reader *r, ferry_bundle *root)
{
    const zip_int64_t count = zip_get_num_entries(r->zip, 0);
    ferry_status st = FERRY_OK;

    for (zip_int64_t i = 0; i < count && st == FERRY_OK; i++)
        st = read_entry(r, (uint64_t)i, root);
    return st;
}

/* --- the public call --- */

static ferry_status open_archive(const char *path, zip_t **zip_out)
{
    int code;
    zip_error_t error;

    *zip_out = zip_open(path, ZIP_RDONLY, &code);
    if (*zip_out)
        return FERRY_OK;
    zip_error_init_with_code(&error, code);
    const bool system = zip_error_system_type(&error) == ZIP_ET_SYS || code == ZIP_ER_NOENT;
    const ferry_status st = ferry_status_fail(code == ZIP_ER_MEMORY ? FERRY_ERR_MEMORY
                                              : system              ? FERRY_ERR_SYSTEM
                                                                    : FERRY_ERR_FORMAT,
                                              "%.300s: %s", path, zip_error_strerror(&error));
    zip_error_fini(&error);
    return st;
}

ferry_status ferry_convert_load_npz(const char *path, ferry_bundle **bundle_out)
{
    reader r = {.path = path};
    ferry_bundle *root;

    ferry_status st =
        bundle_out ? file_check(path) : ferry_status_fail(FERRY_ERR_ARG, "bundle_out is NULL");

    if (st == FERRY_OK)
        st = open_archive(path, &r.zip);
    if (st != FERRY_OK)
        return st;
    st = ferry_bundle_new(&root);
    if (st == FERRY_OK) {
        st = read_archive(&r, root);
        if (st == FERRY_OK)
            *bundle_out = root;
        else
            ferry_bundle_free(root);
    }
    zip_discard(r.zip);
    return st;
}
