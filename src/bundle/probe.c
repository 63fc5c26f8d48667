/* Looking at bundles that have come, without receiving them. */
#include "bundle/arrival.h"

static ferry_status look(ferry_context *ctx, int from, int tag, int *there_out,
                         ferry_message *message_out)
{
    ferry_stream_info met;
    int there = 1;
    ferry_status st = move_check_tag(tag, true);

    if (st == FERRY_OK)
        st = ferry_stream_probe(ctx, from, tag, there_out ? &there : NULL, &met);
    if (st != FERRY_OK)
        return st;
    if (there && message_out)
        *message_out = move_message(&met);
    if (there_out)
        *there_out = there;
    return FERRY_OK;
}

ferry_status ferry_bundle_probe(ferry_context *ctx, int from, int tag, ferry_message *message_out)
{
    if (!message_out)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_probe: message_out is NULL");
    return look(ctx, from, tag, NULL, message_out);
}

ferry_status ferry_bundle_iprobe(ferry_context *ctx, int from, int tag, int *there_out,
                                 ferry_message *message_out)
{
    if (!there_out)
        return trouble(FERRY_ERR_ARG, "ferry_bundle_iprobe: there_out is NULL");
    return look(ctx, from, tag, there_out, message_out);
}
