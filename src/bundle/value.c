/* Values; see value.h. Large data are kept in memory of the pool, which is on huge pages and stays
 * present. */
#include "bundle/value.h"

#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "bundle/utf8.h"
#include "ferry/memory.h"

enum { POOL_BYTES = 256 * 1024, ALIGNMENT = 16 };

static const char nothing[ALIGNMENT]; /* what empty values point to */

static ferry_status take(size_t bytes, char **data_out)
{
    void *data = NULL;
    const ferry_status st =
        bytes >= POOL_BYTES ? ferry_memory_take(bytes, &data) : alloc_resize(bytes, 1, &data);

    if (st == FERRY_OK)
        *data_out = data;
    return st;
}

static void give(const char *data, size_t bytes)
{
    if (bytes >= POOL_BYTES)
        ferry_memory_give((void *)data);
    else
        alloc_free((void *)data);
}

value value_scalar(ferry_type type, const void *bits)
{
    value v = {.type = (uint8_t)type};

    if (bits)
        memcpy(v.scalar, bits, ferry_type_bytes(type));
    return v;
}

value value_tree(tree *child)
{
    return (value){.type = child->is_list ? FERRY_TYPE_LIST : FERRY_TYPE_BUNDLE, .child = child};
}

ferry_status value_text(ferry_type type, const void *data, size_t bytes, bool borrow,
                        value *value_out)
{
    value v = {
        .type = (uint8_t)type, .flags = VALUE_BORROWED, .text = {data ? data : nothing, bytes}};
    char *copy;

    if (!data && bytes > 0)
        return trouble(FERRY_ERR_ARG, "the data of a %s are NULL, expected %zu bytes",
                       ferry_type_name(type), bytes);
    if (bytes > INT64_MAX - 1)
        return trouble(FERRY_ERR_ARG, "length is %zu, expected less than 2^63", bytes);
    if (!borrow) {
        const ferry_status st = take(bytes + 1, &copy);
        if (st != FERRY_OK)
            return st;
        memcpy(copy, v.text.data, bytes);
        copy[bytes] = '\0';
        v.text.data = copy;
        v.flags = VALUE_OWNED;
        if (type == FERRY_TYPE_STRING && utf8_valid(copy, bytes))
            v.flags |= VALUE_UTF8;
    }
    *value_out = v;
    return FERRY_OK;
}

/* Bytes of an array of strings: an end for each, and a NUL. */
static ferry_status measure_strings(size_t count, const char *const *texts, const size_t *lengths,
                                    size_t *bytes_out)
{
    size_t bytes;

    if (!texts && count > 0)
        return trouble(FERRY_ERR_ARG, "texts is NULL, expected %zu strings", count);
    bool fits = size_mul(count, sizeof(uint64_t) + 1, &bytes);
    for (size_t i = 0; i < count && fits; i++) {
        if (!texts[i] && (!lengths || lengths[i] > 0))
            return trouble(FERRY_ERR_ARG, "texts[%zu] is NULL, expected a string", i);
        fits = size_add(bytes, lengths ? lengths[i] : strlen(texts[i]), &bytes);
    }
    if (!fits || bytes > INT64_MAX)
        return trouble(FERRY_ERR_ARG, "%zu strings have more bytes than 63 bits can count", count);
    *bytes_out = bytes;
    return FERRY_OK;
}

ferry_status value_strings(size_t count, const char *const *texts, const size_t *lengths,
                           value *value_out)
{
    size_t bytes = 0;
    char *block;
    ferry_status st = measure_strings(count, texts, lengths, &bytes);

    if (st == FERRY_OK)
        st = take(bytes, &block);
    if (st != FERRY_OK)
        return st;
    uint64_t *const ends = (uint64_t *)block;
    char *const text = (char *)(ends + count), *at = text;
    bool utf8 = true;
    for (size_t i = 0; i < count; i++) {
        const size_t length = lengths ? lengths[i] : strlen(texts[i]);
        if (length > 0)
            memcpy(at, texts[i], length);
        at[length] = '\0';
        utf8 = utf8 && utf8_valid(at, length);
        at += length + 1;
        ends[i] = (uint64_t)(at - text);
    }
    *value_out = (value){.type = FERRY_TYPE_STRINGS,
                         .flags = (uint8_t)(VALUE_OWNED | (utf8 ? VALUE_UTF8 : 0)),
                         .strings = {ends, count}};
    return FERRY_OK;
}

/* One block: the shape, then the strides unless dense. */
static ferry_status borrow_array(const array_spec *spec, const array_form *form, value *v)
{
    const size_t numbers = (size_t)spec->dims * sizeof(int64_t);
    char *block = NULL;
    const ferry_status st = alloc_resize(2, numbers, &block);

    if (st != FERRY_OK)
        return st;
    memcpy(block, spec->shape, numbers);
    if (!form->dense) {
        memcpy(block + numbers, spec->strides, numbers);
        v->flags |= VALUE_STRIDED;
    }
    v->flags |= VALUE_BORROWED;
    v->array.shape = (const int64_t *)block;
    v->array.data = spec->data ? spec->data : nothing;
    return FERRY_OK;
}

/* One block: the shape, then the elements; large elements stand apart. */
static ferry_status make_array(const array_spec *spec, size_t bytes, value *v)
{
    const size_t numbers = (size_t)spec->dims * sizeof(int64_t),
                 head = size_round(numbers, ALIGNMENT);
    const bool apart = bytes >= POOL_BYTES;
    char *block = NULL, *data;
    ferry_status st = alloc_resize(apart ? numbers : head + bytes, 1, &block);

    if (st != FERRY_OK)
        return st;
    data = block + head;
    if (apart)
        st = take(bytes, &data);
    if (st != FERRY_OK) {
        alloc_free(block);
        return st;
    }
    memcpy(block, spec->shape, numbers);
    v->array.shape = (const int64_t *)block;
    v->array.data = data;
    return FERRY_OK;
}

static ferry_status copy_array(const array_spec *spec, const array_form *form, value *v)
{
    int64_t strides[FERRY_ARRAY_MAX_DIMS];
    const ferry_status st = make_array(spec, form->bytes, v);

    if (st != FERRY_OK)
        return st;
    array_strides(spec, form->column_major, strides);
    array_copy(spec, (void *)v->array.data, strides);
    return FERRY_OK;
}

ferry_status value_blank(int element, int dims, const int64_t *shape, bool column_major,
                         value *value_out)
{
    const array_spec spec = {(ferry_type)element, dims, shape, NULL, NULL};
    value v = {.type = FERRY_TYPE_ARRAY,
               .element = (uint8_t)element,
               .dims = (uint8_t)dims,
               .flags = (uint8_t)(VALUE_OWNED | (column_major ? VALUE_COLUMN : 0))};
    size_t bytes;

    if (!array_bytes(spec.element, dims, shape, &bytes))
        return trouble(FERRY_ERR_LIMIT, "an array of more bytes than 63 bits can count");
    const ferry_status st = make_array(&spec, bytes, &v);
    if (st == FERRY_OK)
        *value_out = v;
    return st;
}

ferry_status value_array(const array_spec *spec, bool borrow, value *value_out)
{
    array_form form;
    ferry_status st = array_check(spec, &form);

    if (st != FERRY_OK)
        return st;
    value v = {.type = FERRY_TYPE_ARRAY,
               .element = (uint8_t)spec->element,
               .dims = (uint8_t)spec->dims,
               .flags = VALUE_OWNED};
    if (form.column_major)
        v.flags |= VALUE_COLUMN;
    st = borrow ? borrow_array(spec, &form, &v) : copy_array(spec, &form, &v);
    if (st == FERRY_OK)
        *value_out = v;
    return st;
}

static void drop_array(const value *v)
{
    const size_t bytes = value_bytes(v);

    if (!(v->flags & VALUE_BORROWED) && bytes >= POOL_BYTES)
        give(v->array.data, bytes);
    alloc_free((void *)v->array.shape);
}

void value_drop(value *v)
{
    if (value_is_tree(v))
        tree_drop(v->child);
    if (!(v->flags & VALUE_OWNED))
        return;
    if (v->type == FERRY_TYPE_ARRAY)
        drop_array(v);
    else
        give(value_data(v), value_bytes(v) + (v->type != FERRY_TYPE_STRINGS));
}

static ferry_status copy_tree(const value *v, value *copy_out)
{
    tree *child;
    const ferry_status st = tree_copy(v->child, &child);

    if (st == FERRY_OK)
        *copy_out = value_tree(child);
    return st;
}

/* The memory order is that of the value, also where strides cannot tell it. */
static ferry_status copy_of_array(const value *v, const array_spec *spec, value *copy_out)
{
    const array_form form = {.bytes = value_bytes(v),
                             .column_major = (v->flags & VALUE_COLUMN) != 0};
    value copy = {.type = v->type,
                  .element = v->element,
                  .dims = v->dims,
                  .flags = (uint8_t)(VALUE_OWNED | (v->flags & VALUE_COLUMN))};
    const ferry_status st = copy_array(spec, &form, &copy);

    if (st == FERRY_OK)
        *copy_out = copy;
    return st;
}

static ferry_status copy_strings(const value *v, value *copy_out)
{
    const size_t bytes = value_bytes(v);
    char *block;
    const ferry_status st = take(bytes, &block);

    if (st != FERRY_OK)
        return st;
    memcpy(block, v->strings.ends, bytes);
    *copy_out = *v;
    copy_out->flags = (uint8_t)((v->flags & VALUE_UTF8) | VALUE_OWNED);
    copy_out->strings.ends = (const uint64_t *)block;
    return FERRY_OK;
}

ferry_status value_copy(const value *v, value *copy_out)
{
    int64_t strides[FERRY_ARRAY_MAX_DIMS];
    array_spec spec;

    switch (v->type) {
    case FERRY_TYPE_ARRAY:
        spec = value_spec(v, strides);
        return copy_of_array(v, &spec, copy_out);
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        return value_text(v->type, v->text.data, v->text.bytes, false, copy_out);
    case FERRY_TYPE_STRINGS:
        return copy_strings(v, copy_out);
    case FERRY_TYPE_LIST:
    case FERRY_TYPE_BUNDLE:
        return copy_tree(v, copy_out);
    default:
        *copy_out = value_scalar(v->type, v->scalar);
        return FERRY_OK;
    }
}

bool value_utf8(const value *v)
{
    if (v->flags & VALUE_BORROWED)
        return utf8_valid(v->text.data, v->text.bytes);
    return v->flags & VALUE_UTF8;
}

array_spec value_spec(const value *v, int64_t strides[FERRY_ARRAY_MAX_DIMS])
{
    array_spec spec = {v->element, v->dims, v->array.shape, strides, v->array.data};

    if (v->flags & VALUE_STRIDED)
        spec.strides = v->array.shape + v->dims;
    else
        array_strides(&spec, v->flags & VALUE_COLUMN, strides);
    return spec;
}

text_view strings_view(const value *v, size_t number)
{
    const uint64_t begin = number > 0 ? v->strings.ends[number - 1] : 0;

    return (text_view){strings_text(v) + begin, v->strings.ends[number] - begin - 1};
}

const void *value_data(const value *v)
{
    switch (v->type) {
    case FERRY_TYPE_ARRAY:
        return v->array.data;
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        return v->text.data;
    case FERRY_TYPE_STRINGS:
        return v->strings.ends;
    default:
        return ferry_type_bytes(v->type) > 0 ? v->scalar : NULL;
    }
}

size_t value_bytes(const value *v)
{
    const size_t count = v->strings.count;
    size_t bytes = 0;

    switch (v->type) {
    case FERRY_TYPE_ARRAY:
        array_bytes(v->element, v->dims, v->array.shape, &bytes);
        return bytes;
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        return v->text.bytes;
    case FERRY_TYPE_STRINGS:
        return count > 0 ? count * sizeof(uint64_t) + v->strings.ends[count - 1] : 0;
    default:
        return ferry_type_bytes(v->type);
    }
}

bool value_alike(const value *a, const value *b)
{
    const unsigned strings = a->type == FERRY_TYPE_STRING ? VALUE_BORROWED : 0,
                   seen = VALUE_UTF8 | VALUE_COLUMN | strings;

    if (a->type != b->type || a->element != b->element || a->dims != b->dims ||
        (a->flags & seen) != (b->flags & seen))
        return false;
    switch (a->type) {
    case FERRY_TYPE_STRING:
    case FERRY_TYPE_BYTES:
        return a->text.bytes == b->text.bytes;
    case FERRY_TYPE_ARRAY:
        return memcmp(a->array.shape, b->array.shape, a->dims * sizeof *a->array.shape) == 0;
    default:
        return ferry_type_bytes(a->type) > 0 || a->type == FERRY_TYPE_NULL;
    }
}
