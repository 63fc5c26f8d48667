/* Values in one record for all types. */
#ifndef BUNDLE_ITEM_H
#define BUNDLE_ITEM_H

#include "bundle/attribute.h"
#include "bundle/value.h"
#include "ferry/bundle_item.h"

void item_fill(const tree *t, size_t number, ferry_item *item_out);

#endif
