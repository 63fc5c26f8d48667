/* Names in .npz files. Knows nothing of zip. */
#include "convert/npz.h"

#include <stdint.h>
#include <string.h>

static const struct {
    ferry_type type;
    const char *descr;
} types[] = {
    {FERRY_TYPE_BOOL, "|b1"},        {FERRY_TYPE_INT8, "|i1"},    {FERRY_TYPE_INT16, "<i2"},
    {FERRY_TYPE_INT32, "<i4"},       {FERRY_TYPE_INT64, "<i8"},   {FERRY_TYPE_UINT8, "|u1"},
    {FERRY_TYPE_UINT16, "<u2"},      {FERRY_TYPE_UINT32, "<u4"},  {FERRY_TYPE_UINT64, "<u8"},
    {FERRY_TYPE_FLOAT32, "<f4"},     {FERRY_TYPE_FLOAT64, "<f8"}, {FERRY_TYPE_COMPLEX64, "<c8"},
    {FERRY_TYPE_COMPLEX128, "<c16"},
};
enum { TYPES = sizeof types / sizeof types[0] };

const char *npz_descr(ferry_type type)
{
    for (int i = 0; i < TYPES; i++)
        if (types[i].type == type)
            return types[i].descr;
    return NULL;
}

ferry_type npz_type(const char *descr)
{
    const char *const name = descr + strspn(descr, "<>|=");

    for (int i = 0; i < TYPES; i++)
        if (strcmp(types[i].descr + 1, name) == 0)
            return types[i].type;
    return FERRY_TYPE_NULL;
}

void npz_add_key(buffer *path, const char *key)
{
    if (strcmp(key, "@") == 0) {
        buffer_word(path, "~2");
        return;
    }
    if (*key == '[') {
        buffer_word(path, "~3");
        key++;
    }
    for (; *key; key++) {
        if (*key == '~')
            buffer_word(path, "~0");
        else if (*key == '/')
            buffer_word(path, "~1");
        else
            buffer_add(path, key, 1);
    }
}

void npz_add_index(buffer *path, size_t index)
{
    buffer_format(path, "[%zu]", index);
}

void npz_read_key(buffer *key, const char *step, size_t bytes)
{
    static const char meant[] = "~/@[";

    for (size_t i = 0; i < bytes; i++) {
        const bool escape =
            step[i] == '~' && i + 1 < bytes && step[i + 1] >= '0' && step[i + 1] <= '3';
        buffer_add(key, escape ? meant + (step[i + 1] - '0') : step + i, 1);
        i += escape;
    }
    buffer_add(key, "", 1);
}

bool npz_read_index(const char *step, size_t bytes, size_t *index_out)
{
    size_t index = 0;

    if (bytes < 2 || step[0] != '[' || step[bytes - 1] != ']')
        return false;
    for (size_t i = 1; i < bytes - 1; i++) {
        if (step[i] < '0' || step[i] > '9' || index > SIZE_MAX / 16)
            return false;
        index = 10 * index + (size_t)(step[i] - '0');
    }
    *index_out = bytes == 2 ? SIZE_MAX : index;
    return true;
}
