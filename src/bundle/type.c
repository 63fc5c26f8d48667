/* The table of types. */
#include "ferry/bundle.h"

static const struct {
    const char *name;
    size_t bytes;
} types[] = {
    [FERRY_TYPE_NULL] = {"null", 0},
    [FERRY_TYPE_STRING] = {"string", 0},
    [FERRY_TYPE_BYTES] = {"bytes", 0},
    [FERRY_TYPE_ARRAY] = {"array", 0},
    [FERRY_TYPE_LIST] = {"list", 0},
    [FERRY_TYPE_BUNDLE] = {"bundle", 0},
    [FERRY_TYPE_STRINGS] = {"strings", 0},
#define SCALAR(word, WORD, type) [FERRY_TYPE_##WORD] = {#word, sizeof(type)},
    FERRY_SCALAR_LIST(SCALAR)
#undef SCALAR
};

static int known(ferry_type type)
{
    return (unsigned)type < sizeof types / sizeof types[0];
}

const char *ferry_type_name(ferry_type type)
{
    return known(type) ? types[type].name : "unknown";
}

size_t ferry_type_bytes(ferry_type type)
{
    return known(type) ? types[type].bytes : 0;
}
