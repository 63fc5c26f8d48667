/* Printing what `ferry info` has gathered for people: pairs aligned, keys ending in _bytes as
 * sizes. */
#include <stdio.h>
#include <string.h>

#include "cli/info.h"
#include "cli/say.h"

/* "memory_available_bytes" as "memory available". */
static void label(const char *key, char *text_out, size_t bytes)
{
    const char *end = strstr(key, "_bytes");
    char *at;

    snprintf(text_out, bytes, "%.*s", (int)(end ? (size_t)(end - key) : strlen(key)), key);
    for (at = text_out; *at; at++)
        if (*at == '_')
            *at = ' ';
}

static void print_pairs(const json_object *pairs)
{
    json_object_object_foreach(pairs, key, value)
    {
        const char *text = json_object_get_string(value);
        char name[48], size[SAY_SIZE_BYTES];
        if (!text[0])
            continue;
        label(key, name, sizeof name);
        printf("  %-20s  %s\n", name,
               strstr(key, "_bytes") ? say_bytes(json_object_get_uint64(value), size) : text);
    }
}

static const char *field(const json_object *object, const char *key)
{
    return json_object_get_string(json_object_object_get(object, key));
}

static void print_route(json_object *route)
{
    const bool usable = json_object_get_boolean(json_object_object_get(route, "usable"));
    const bool colour = say_coloured(1);
    const char *const begin = !colour ? "" : usable ? "\033[32m" : "\033[33m";

    printf("  %-20s  %s%s%s%s%s\n", field(route, "name"), begin, usable ? "works" : "off",
           colour ? "\033[0m" : "", field(route, "reason")[0] ? ": " : "", field(route, "reason"));
}

static void print_setting(json_object *setting)
{
    printf("  %-20s  %s (%s): %s\n", field(setting, "name"), field(setting, "value"),
           field(setting, "origin"), field(setting, "help"));
}

static void print_list(json_object *list, void (*print)(json_object *entry))
{
    for (size_t i = 0; i < json_object_array_length(list); i++)
        print(json_object_array_get_idx(list, i));
}

void info_print(json_object *facts)
{
    say_heading("ferry");
    print_pairs(json_object_object_get(facts, "ferry"));
    say_heading("machine");
    print_pairs(json_object_object_get(facts, "machine"));
    say_heading("job (as rank 0 sees it)");
    print_pairs(json_object_object_get(facts, "job"));
    say_heading("routes");
    print_list(json_object_object_get(facts, "routes"), print_route);
    say_heading("settings");
    print_list(json_object_object_get(facts, "settings"), print_setting);
}
