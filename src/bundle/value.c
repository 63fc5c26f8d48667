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
static ferry_status copy_array(const array_spec *spec, const array_form *form, value *v)
{
    const size_t numbers = (size_t)spec->dims * sizeof(int64_t),
                 head = size_round(numbers, ALIGNMENT);
    const bool apart = form->bytes >= POOL_BYTES;
    int64_t strides[FERRY_ARRAY_MAX_DIMS];
    char *block = NULL, *data;
    ferry_status st = alloc_resize(apart ? numbers : head + form->bytes, 1, &block);

    if (st != FERRY_OK)
        return st;
    data = block + head;
    if (apart)
        st = take(form->bytes, &data);
    if (st != FERRY_OK) {
        alloc_free(block);
        return st;
    }
    memcpy(block, spec->shape, numbers);
    array_strides(spec, form->column_major, strides);
    array_copy(spec, data, strides);
    v->array.shape = (const int64_t *)block;
    v->array.data = data;
    return FERRY_OK;
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
    const size_t bytes = value_array_bytes(v);

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
        give(v->text.data, v->text.bytes + 1);
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

size_t value_array_bytes(const value *v)
{
    size_t bytes = 0;

    array_bytes(v->element, v->dims, v->array.shape, &bytes);
    return bytes;
}
