/* A thread makes pages present where its policy says: by default on its own node. So the policy is
 * changed for as long as pages are made, for runs of pages that belong to one node. */
#include "memory/numa.h"

#include <stdbool.h>

#include "base/size.h"
#include "base/sys.h"
#include "memory/arena.h"
#include "memory/pages.h"

static bool several_nodes(void)
{
    sys_file folder;

    return sys_look("/sys/devices/system/node/node1", &folder);
}

/* Up to the end of the huge page at `at`. */
static size_t step(const char *at, size_t left)
{
    return size_min(left, HUGE_BYTES - (uintptr_t)at % HUGE_BYTES);
}

/* How many bytes from `at` on are on the same node as the first. */
static size_t run(const char *at, size_t left, int *node_out)
{
    size_t bytes = step(at, left);

    *node_out = sys_node_of(at);
    while (bytes < left && sys_node_of(at + bytes) == *node_out)
        bytes += step(at + bytes, left - bytes);
    return bytes;
}

ferry_status numa_commit(ferry_context *ctx, char *to, const char *like, size_t bytes)
{
    sys_policy before, there;
    ferry_status st = FERRY_OK;

    if (!several_nodes() || !sys_policy_get(&before))
        return memory_commit(ctx, to, bytes);
    for (size_t at = 0; at < bytes && st == FERRY_OK;) {
        int node;
        const size_t now = run(like + at, bytes - at, &node);
        if (sys_policy_node(node, &there))
            sys_policy_put(&there);
        else
            sys_policy_put(&before);
        st = memory_commit(ctx, to + at, now);
        at += now;
    }
    sys_policy_put(&before);
    return st;
}
