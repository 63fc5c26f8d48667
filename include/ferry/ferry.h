/** @file
 * All of ferry's stable public interface. Headers can be included one by one too.
 */
#ifndef FERRY_FERRY_H
#define FERRY_FERRY_H

#include "ferry/bundle.h"
#include "ferry/bundle_file.h"
#include "ferry/bundle_item.h"
#include "ferry/bundle_move.h"
#include "ferry/bundle_path.h"
#include "ferry/context.h"
#include "ferry/datatype.h"
#include "ferry/element.h"
#include "ferry/exchange.h"
#include "ferry/halo.h"
#include "ferry/halo_unstructured.h"
#include "ferry/layout.h"
#include "ferry/memory.h"
#include "ferry/plan.h"
#include "ferry/redistribute.h"
#include "ferry/setting.h"
#include "ferry/status.h"
#include "ferry/version.h"

#endif /* FERRY_FERRY_H */
