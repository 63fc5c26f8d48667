/** @file
 * The FERRY_* settings: what they are, and where their values come from.
 */
#ifndef FERRY_SETTING_H
#define FERRY_SETTING_H

#include "ferry/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One setting and where its value comes from; filled by ferry_setting(). */
typedef struct ferry_setting_info {
    const char *name;   /**< such as "FERRY_ROUTE"; static */
    const char *value;  /**< in use; lends until the environment changes */
    const char *origin; /**< "environment" or "default"; static */
    const char *help;   /**< one line; static */
} ferry_setting_info;

/**
 * Describe one of the FERRY_* settings.
 *
 * @param index     0, 1, ... until ::FERRY_ERR_NOT_FOUND
 * @param info_out  filled
 * @retval FERRY_OK             filled
 * @retval FERRY_ERR_ARG        @p info_out is NULL
 * @retval FERRY_ERR_NOT_FOUND  there are fewer settings; nothing is filled
 *
 * Collective   no            Blocks   no            Memory  none
 * Threads      any thread    Cost     constant      Since   0.1
 */
FERRY_API ferry_status ferry_setting(int index, ferry_setting_info *info_out);

#ifdef __cplusplus
}
#endif
#endif /* FERRY_SETTING_H */
