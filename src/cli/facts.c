/* Gathering what `ferry info` shows, as rank 0 sees it, into one JSON object; both outputs are made
 * from that. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "cli/host.h"
#include "cli/info.h"
#include "cli/launch.h"
#include "cli/say.h"
#include "ferry/context.h"
#include "ferry/setting.h"
#include "ferry/version.h"

static void add_text(json_object *to, const char *key, const char *text)
{
    json_object_object_add(to, key, json_object_new_string(text));
}

static void add_number(json_object *to, const char *key, uint64_t number)
{
    json_object_object_add(to, key, json_object_new_uint64(number));
}

/* The first line of what MPI says of itself. */
static void add_library(json_object *to)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, version, subversion;
    char standard[24];

    MPI_Get_library_version(text, &length);
    text[strcspn(text, "\n")] = '\0';
    for (char *tab = text; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
    add_text(to, "mpi_library", text);
    MPI_Get_version(&version, &subversion);
    snprintf(standard, sizeof standard, "%d.%d", version, subversion);
    add_text(to, "mpi_standard", standard);
}

static json_object *build(void)
{
    json_object *facts = json_object_new_object();
    const int number = ferry_version();
    const char *launcher = launch_program();
    char version[48];

    snprintf(version, sizeof version, "%d.%d.%d", number / 10000, number / 100 % 100, number % 100);
    add_text(facts, "version", version);
    add_text(facts, "mpi", ferry_version_mpi());
    add_library(facts);
    add_text(facts, "compiler", host_compiler());
    add_text(facts, "launcher", launcher ? launcher : "none found");
    return facts;
}

static json_object *machine(int cores)
{
    json_object *facts = json_object_new_object();
    char text[HOST_TEXT_BYTES];

    host_cpu(text);
    add_text(facts, "cpu", text);
    add_text(facts, "kernels", ferry_version_kernels());
    add_number(facts, "cores", (uint64_t)cores);
    add_number(facts, "cores_online", (uint64_t)host_cores_online());
    add_number(facts, "memory_bytes", host_memory());
    add_number(facts, "memory_available_bytes", host_memory_free());
    host_huge_pages("enabled", text);
    add_text(facts, "huge_pages", text);
    host_huge_pages("shmem_enabled", text);
    add_text(facts, "huge_pages_shared", text);
    host_huge_pages("defrag", text);
    add_text(facts, "huge_pages_defrag", text);
    return facts;
}

static json_object *job(const ferry_context *ctx)
{
    json_object *facts = json_object_new_object();
    ferry_context_info info;
    ferry_counters counters;

    if (ferry_context_describe(ctx, &info) == FERRY_OK) {
        add_number(facts, "ranks", (uint64_t)info.size);
        add_number(facts, "nodes", (uint64_t)info.node_count);
        add_number(facts, "ranks_on_node", (uint64_t)info.node_size);
        add_text(facts, "shared_memory", info.shared_memory);
        add_text(facts, "shared_memory_reason", info.shared_reason);
        add_text(facts, "waits", info.spins ? "spin" : "sleep");
        add_text(facts, "tuning", info.tuning);
        add_text(facts, "tuning_reason", info.tuning_reason);
        json_object_object_add(facts, "timeout_s", json_object_new_double(info.timeout_s));
    }
    if (ferry_context_counters(ctx, &counters) == FERRY_OK) {
        add_number(facts, "pool_bytes", counters.pool_bytes);
        add_number(facts, "pool_bound_bytes", counters.pool_bound);
    }
    return facts;
}

static json_object *routes(const ferry_context *ctx)
{
    json_object *list = json_object_new_array();
    ferry_route_info info;

    for (int i = 0; ferry_context_route(ctx, i, &info) == FERRY_OK; i++) {
        json_object *route = json_object_new_object();
        add_text(route, "name", info.name);
        json_object_object_add(route, "usable", json_object_new_boolean(info.usable));
        add_text(route, "reason", info.reason);
        json_object_array_add(list, route);
    }
    return list;
}

static json_object *settings(void)
{
    json_object *list = json_object_new_array();
    ferry_setting_info info;

    for (int i = 0; ferry_setting(i, &info) == FERRY_OK; i++) {
        json_object *setting = json_object_new_object();
        add_text(setting, "name", info.name);
        add_text(setting, "value", info.value);
        add_text(setting, "origin", info.origin);
        add_text(setting, "help", info.help);
        json_object_array_add(list, setting);
    }
    return list;
}

json_object *info_gather(const rank *me, int cores)
{
    json_object *facts = json_object_new_object();

    if (!facts) {
        complain(CLI_FAILURE, "no memory");
        return NULL;
    }
    json_object_object_add(facts, "ferry", build());
    json_object_object_add(facts, "machine", machine(cores));
    json_object_object_add(facts, "job", job(me->ctx));
    json_object_object_add(facts, "routes", routes(me->ctx));
    json_object_object_add(facts, "settings", settings());
    return facts;
}
