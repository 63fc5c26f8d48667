/* Shares of blocks. */
#include "base/trouble.h"
#include "ferry/redistribute.h"

ferry_status ferry_block_share(int64_t total, int parts, int part, int64_t *first_out,
                               int64_t *count_out)
{
    if (!first_out || !count_out)
        return trouble(FERRY_ERR_ARG, "ferry_block_share: %s is NULL",
                       first_out ? "count_out" : "first_out");
    if (total < 0)
        return trouble(FERRY_ERR_ARG, "ferry_block_share: total is %lld, expected 0 or more",
                       (long long)total);
    if (parts < 1)
        return trouble(FERRY_ERR_ARG, "ferry_block_share: parts is %d, expected 1 or more", parts);
    if (part < 0 || part >= parts)
        return trouble(FERRY_ERR_ARG, "ferry_block_share: part is %d, expected 0..%d", part,
                       parts - 1);
    const int64_t each = total / parts, rest = total % parts;
    *first_out = part * each + (part < rest ? part : rest);
    *count_out = each + (part < rest);
    return FERRY_OK;
}
