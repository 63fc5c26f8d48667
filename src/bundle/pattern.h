/* The pattern of trees: what the last image made whose schema and keys came twice. An image with
 * the very same ones need not be read record by record again; its trees are copied from the
 * pattern, and only the values are looked at. One per process. */
#ifndef BUNDLE_PATTERN_H
#define BUNDLE_PATTERN_H

#include "bundle/image.h"

/* Make the trees of an image by the pattern. False when it is not of that pattern, or something is
 * wrong with it: then it must be read. */
bool pattern_apply(image_store *store, ferry_bundle **bundle_out);

/* Make a whole image, in a block of ferry_memory_take(), of one that came without its head. False
 * when the pattern is another one, or there is no memory. */
bool pattern_expand(const void *message, size_t bytes, void **block_out, size_t *bytes_out);

/* An image has been read that no pattern fitted: learn it when it is the second of its kind. */
void pattern_offer(const image_store *store);

/* Read a sound image into `room`, but leave scalars out: where each lies in the image stands in
 * their place. False when its trees are not fit for a pattern. In decode.c. */
bool image_learn(const image_store *store, void *room);

#endif
