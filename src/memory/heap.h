/* Who has which bytes of a range: first fit over extents in address order. Keeps books only;
 * touches no memory of the range. */
#ifndef MEMORY_HEAP_H
#define MEMORY_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#include "ferry/status.h"

typedef struct memory_heap memory_heap;

/* A heap over offsets 0 .. bytes. */
ferry_status heap_make(size_t bytes, memory_heap **heap_out);
void heap_drop(memory_heap *heap);

/* `bytes` (> 0) at a multiple of `align`, a power of two; false when there is no room, or no memory
 * for the books. */
bool heap_take(memory_heap *heap, size_t bytes, size_t align, size_t *offset_out);

/* Give back what starts at `offset`; returns its bytes, 0 when nothing taken starts there. */
size_t heap_give(memory_heap *heap, size_t offset);

#endif
