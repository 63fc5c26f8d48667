/* The fixed texts of the statuses and the version of the library. */
#include "ferry/status.h"
#include "ferry/version.h"

static const struct {
    ferry_status status;
    const char *text;
} texts[] = {
#define TEXT_X(name, number, text) {FERRY_##name, text},
    FERRY_STATUS_LIST(TEXT_X)
#undef TEXT_X
};

const char *ferry_status_text(ferry_status status)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].status == status)
            return texts[i].text;
    return "a status that this library does not know";
}

int ferry_version(void)
{
    return FERRY_VERSION;
}
