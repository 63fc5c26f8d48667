/* What a layout tells about itself, to programs and to people. */
#include "base/size.h"
#include "base/trouble.h"
#include "layout/layout.h"

size_t layout_nest_bytes(const layout_nest *nest)
{
    size_t bytes = nest->run;

    for (int k = 0; k < nest->dims; k++)
        bytes *= nest->loop[k].count;
    return bytes;
}

size_t layout_common_run(const layout_nest *nests, size_t count)
{
    size_t unit = 0;

    for (size_t i = 0; i < count; i++)
        unit = size_divisor(unit, nests[i].run);
    return unit > 0 ? unit : 1;
}

ferry_status ferry_layout_describe(const ferry_layout *layout, ferry_layout_info *info_out)
{
    if (!layout || !info_out)
        return trouble(FERRY_ERR_ARG, "ferry_layout_describe: %s is NULL",
                       layout ? "info_out" : "layout");
    *info_out = (ferry_layout_info){
        .elements = (int64_t)layout->elements,
        .element_bytes = (int64_t)layout->element,
        .bytes = (int64_t)layout->bytes,
        .lb = layout->lb,
        .ub = layout->ub,
        .run_bytes = layout->nest_count > 0 ? (int64_t)layout->nests[0].run : 0,
    };
    return FERRY_OK;
}

static void list_text(const layout_nest *nest, text_out *out)
{
    text_add(out, "%zu B x {", nest->run);
    for (size_t i = 0; i < nest->places->count; i++)
        text_add(out, "%s%lld", i > 0 ? ", " : "", (long long)nest->places->at[i]);
    text_add(out, "} at %lld", (long long)nest->offset);
}

static void nest_text(const layout_nest *nest, text_out *out)
{
    if (nest->places) {
        list_text(nest, out);
        return;
    }
    if (nest->dims == 0)
        text_add(out, "dense %zu B", nest->run);
    else
        text_add(out, "%zu B x [", nest->run);
    for (int k = 0; k < nest->dims; k++)
        text_add(out, "%s%zu by %lld", k > 0 ? ", " : "", nest->loop[k].count,
                 (long long)nest->loop[k].stride);
    text_add(out, "%s at %lld", nest->dims > 0 ? "]" : "", (long long)nest->offset);
}

static void layout_text(const ferry_layout *layout, text_out *out)
{
    if (layout->nest_count == 0)
        text_add(out, "empty");
    for (size_t i = 0; i < layout->nest_count; i++) {
        text_add(out, "%s", i > 0 ? "; " : "");
        nest_text(&layout->nests[i], out);
    }
    if (layout->element != layout_common_run(layout->nests, layout->nest_count))
        text_add(out, ", elements of %zu B", layout->element);
}

size_t ferry_layout_print(const ferry_layout *layout, char *text, size_t bytes)
{
    text_out out = {.at = text, .room = text ? bytes : 0};

    if (layout)
        layout_text(layout, &out);
    else
        text_add(&out, "none");
    return out.needed;
}
