/* Steps of paths as text; see step.h. */
#include "bundle/step.h"

#include <string.h>

static void add_key(text_out *out, const char *key)
{
    if (strcmp(key, STEP_ATTRIBUTES) == 0) {
        text_add(out, "%s", STEP_LIKE_ATTRIBUTES);
        return;
    }
    for (;;) { /* runs of plain characters, then one that is not */
        const size_t plain = strcspn(key, "~/");
        text_add(out, "%.*s", (int)plain, key);
        key += plain;
        if (!*key)
            return;
        text_add(out, "%s", *key++ == '~' ? "~0" : "~1");
    }
}

void step_add(text_out *out, const tree *t, size_t number)
{
    if (out->needed > 0)
        text_add(out, "/");
    if (!t)
        text_add(out, "%s", STEP_ATTRIBUTES);
    else if (t->is_list)
        text_add(out, "%zu", number);
    else
        add_key(out, t->keys[number]);
}

void way_add(text_out *out, const way *to)
{
    if (!to)
        return;
    way_add(out, to->before);
    step_add(out, to->tree, to->number);
}
