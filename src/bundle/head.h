/* The head of an image, schema and keys, which a tree keeps from its last encoding: as long as only
 * values change, the next one has the same. */
#ifndef BUNDLE_HEAD_H
#define BUNDLE_HEAD_H

#include "bundle/image.h"

typedef struct image_head {
    image_header header;
    char *schema, *keys; /* pieces of the image: the first one begins with the header */
    size_t schema_bytes, keys_bytes;
    uint64_t loans; /* which borrowed strings were UTF-8 */
} image_head;

void head_drop(image_head *head);

/* Something changed that a schema tells of: no tree above keeps its head. */
void head_forget(tree *t);

/* Give a tree the head of its encoding. False when it is not kept, and stays the caller's: another
 * thread was faster, or it is large. Trees that are only read may be encoded by several threads. */
bool head_keep(const tree *t, const image_head *head);

static inline const image_head *head_of(const tree *t)
{
    return atomic_load_explicit(&((tree *)t)->head, memory_order_acquire);
}

#endif
