/* Places: where a reader puts the next value, under a key of a bundle or at the end of a list. */
#ifndef CONVERT_PLACE_H
#define CONVERT_PLACE_H

#include "ferry/bundle.h"
#include "ferry/bundle_item.h"

typedef struct place {
    ferry_bundle *bundle; /* NULL: in the list */
    const char *key;
    ferry_list *list;
} place;

ferry_status place_null(const place *at);
ferry_status place_scalar(const place *at, ferry_type type, const void *bits);
ferry_status place_string(const place *at, const char *text, size_t bytes);
ferry_status place_bytes(const place *at, const void *data, size_t bytes);
ferry_status place_strings(const place *at, size_t count, const char *const *texts,
                           const size_t *lengths);

/* The elements lie dense. */
ferry_status place_array(const place *at, ferry_type element, int dims, const int64_t *shape,
                         bool column_major, const void *data);

/* Put an empty bundle or list there, and lend it. */
ferry_status place_bundle(const place *at, ferry_bundle **child_out);
ferry_status place_list(const place *at, ferry_list **child_out);

/* The attributes of the value put there last. */
ferry_status place_attributes(const place *at, ferry_bundle **attributes_out);

/* Values in the bundle or list: one more after a value was put, unless its key was there before. */
size_t place_count(const place *at);

/* One value after another of a bundle, or of a list when `bundle` is NULL. */
typedef struct branch {
    const ferry_bundle *bundle;
    const ferry_list *list;
} branch;
size_t branch_count(branch b);
ferry_status branch_item(branch b, size_t index, ferry_item *item_out);

/* An array's elements one after another: `item` itself, or a copy that `holder_out` keeps, to be
 * freed by the caller; it is NULL else. */
ferry_status place_dense(const ferry_item *item, ferry_bundle **holder_out, ferry_item *dense_out);

#endif
