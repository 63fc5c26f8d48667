/* The FERRY_* settings: the environment's word where there is one, else the default of the one
 * table. */
#define _GNU_SOURCE 1
#include "base/setting.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/size.h"
#include "base/text.h"
#include "base/trouble.h"
#include "ferry/setting.h"

static const struct {
    const char *name, *value, *help;
} settings[SETTING_COUNT] = {
#define SETTING_X(id, name, value, help) [SETTING_##id] = {name, value, help},
    SETTING_LIST(SETTING_X)
#undef SETTING_X
};

static const char prefix[] = "FERRY_";

const char *setting_text(setting which)
{
    return setting_from_environment(which) ? getenv(settings[which].name) : settings[which].value;
}

bool setting_from_environment(setting which)
{
    const char *const value = getenv(settings[which].name);

    return value && value[0] != '\0';
}

static int unit_shift(char letter)
{
    static const char letters[] = "KMGT";
    const char *const found = letter ? strchr(letters, toupper((unsigned char)letter)) : NULL;

    return found ? 10 * (int)(found - letters + 1) : 0;
}

bool setting_bytes(const char *text, size_t *bytes_out)
{
    size_t number = 0;

    if (!isdigit((unsigned char)*text))
        return false;
    for (; isdigit((unsigned char)*text); text++)
        if (!size_mul(number, 10, &number) || !size_add(number, (size_t)(*text - '0'), &number))
            return false;
    const int shift = unit_shift(*text);
    text += shift > 0;
    if (*text != '\0' || number > SIZE_MAX >> shift)
        return false;
    *bytes_out = number << shift;
    return true;
}

static bool is_known(const char *name)
{
    for (int i = 0; i < SETTING_COUNT; i++)
        if (strcmp(settings[i].name, name) == 0)
            return true;
    return false;
}

static const char *nearest(const char *name)
{
    size_t least = SIZE_MAX;
    const char *best = "";

    for (int i = 0; i < SETTING_COUNT; i++) {
        const size_t distance = text_distance(settings[i].name, name);
        if (distance >= least)
            continue;
        least = distance;
        best = settings[i].name;
    }
    return best;
}

static void warn_about(const char *variable)
{
    char name[256];
    const size_t length = size_min(strcspn(variable, "="), sizeof name - 1);

    memcpy(name, variable, length);
    name[length] = '\0';
    if (!is_known(name))
        log_line(LOG_WARN, "%s is not a setting of ferry; did you mean %s?", name, nearest(name));
}

void setting_warn_unknown(void)
{
    static atomic_flag done = ATOMIC_FLAG_INIT;

    if (atomic_flag_test_and_set(&done) || !environ)
        return;
    for (char **variable = environ; *variable; variable++)
        if (strncmp(*variable, prefix, sizeof prefix - 1) == 0)
            warn_about(*variable);
}

ferry_status ferry_setting(int index, ferry_setting_info *info_out)
{
    if (!info_out)
        return trouble(FERRY_ERR_ARG, "ferry_setting: info_out is NULL");
    if (index < 0 || index >= SETTING_COUNT)
        return trouble(FERRY_ERR_NOT_FOUND,
                       "ferry_setting: index is %d; there are %d settings, from 0", index,
                       (int)SETTING_COUNT);
    *info_out = (ferry_setting_info){
        .name = settings[index].name,
        .value = setting_text((setting)index),
        .origin = setting_from_environment((setting)index) ? "environment" : "default",
        .help = settings[index].help,
    };
    return FERRY_OK;
}
