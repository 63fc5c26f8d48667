/* See head.h. */
#include "bundle/head.h"

#include "base/alloc.h"

enum { MOST_KEPT = 1 << 20 /* bytes of schema and keys */ };

void head_drop(image_head *head)
{
    if (!head)
        return;
    alloc_free(head->schema);
    alloc_free(head->keys);
    alloc_free(head);
}

void head_forget(tree *t)
{
    for (; t; t = t->parent)
        if (atomic_load_explicit(&t->head, memory_order_relaxed))
            head_drop(atomic_exchange_explicit(&t->head, NULL, memory_order_relaxed));
}

bool head_keep(const tree *t, const image_head *head)
{
    image_head *kept = NULL, *none = NULL;

    if (head->schema_bytes + head->keys_bytes > MOST_KEPT ||
        alloc_resize(1, sizeof *kept, &kept) != FERRY_OK)
        return false;
    *kept = *head;
    if (atomic_compare_exchange_strong_explicit(&((tree *)t)->head, &none, kept,
                                                memory_order_acq_rel, memory_order_acquire))
        return true;
    alloc_free(kept);
    return false;
}
