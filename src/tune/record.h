/* The tuning record: what routes need to know of a machine to choose, as a table of named numbers
 * with built-in values. Its text form is strict, so that a file that is cut, edited wrongly or of
 * another machine is refused as a whole. Knows nothing of files, ranks or what the numbers mean. */
#ifndef TUNE_RECORD_H
#define TUNE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* X(id, name, built-in, least, most, unit, help). Where a cost has three values they are for blocks
 * that touch at most TUNE_NEAR_BYTES, at most TUNE_FAR_BYTES, and more, in this order.
 *
 * The built-in costs are of two cores of an AMD EPYC (a virtual machine, 2026-12-01), between what
 * was seen while the cores shared a cache and while they did not: one copy of wide rows took 3 to
 * 11 ns a line in the first state and 30 in the second, the ring 8 in both. */
#define TUNE_LIST(X)                                                                               \
  X(RING_START, "ring_start_ns", 250, 1, 50000, "ns", "a block through the ring")                  \
  X(RING_NARROW, "ring_narrow_near_ns", 2.3, 0.01, 500, "ns", "each row shorter than a line")      \
  X(RING_NARROW_FAR, "ring_narrow_far_ns", 3, 0.01, 500, "ns", "the same, in shared caches")       \
  X(RING_NARROW_MEMORY, "ring_narrow_memory_ns", 11, 0.01, 2000, "ns", "the same, in memory")      \
  X(RING_WIDE, "ring_wide_near_ns", 8, 0.01, 500, "ns", "each line of wider rows")                 \
  X(RING_WIDE_FAR, "ring_wide_far_ns", 9, 0.01, 500, "ns", "the same, in shared caches")           \
  X(RING_WIDE_MEMORY, "ring_wide_memory_ns", 22, 0.01, 2000, "ns", "the same, in memory")          \
  X(DIRECT_START, "direct_start_ns", 350, 1, 50000, "ns", "a block that the peer reads itself")    \
  X(DIRECT_NARROW, "direct_narrow_near_ns", 12, 0.01, 500, "ns", "each row shorter than a line")   \
  X(DIRECT_NARROW_FAR, "direct_narrow_far_ns", 6, 0.01, 500, "ns", "the same, in shared caches")   \
  X(DIRECT_NARROW_MEMORY, "direct_narrow_memory_ns", 15, 0.01, 2000, "ns", "the same, in memory")  \
  X(DIRECT_WIDE, "direct_wide_near_ns", 9, 0.01, 500, "ns", "each line of wider rows")             \
  X(DIRECT_WIDE_FAR, "direct_wide_far_ns", 4, 0.01, 500, "ns", "the same, in shared caches")       \
  X(DIRECT_WIDE_MEMORY, "direct_wide_memory_ns", 16, 0.01, 2000, "ns", "the same, in memory")      \
  X(WIRE_START, "wire_start_ns", 20000, 1, 10000000, "ns", "a message between nodes")              \
  X(WIRE_BYTE, "wire_byte_ns", 1, 0.001, 1000, "ns", "each byte of it")                            \
  X(SLOT_BYTES, "slot_bytes", 32768, 4096, 1048576, "bytes", "a slot of the ring")                 \
  X(SLOT_COUNT, "slot_count", 4, 2, 16, "slots", "slots of a ring that one does not suffice")      \
  X(PAST_BYTES, "past_bytes", 4096, 2048, 1048576, "bytes",                                        \
    "longer slots are written past the caches, unless trials say otherwise")

typedef enum tune_item {
#define TUNE_X(id, name, value, least, most, unit, help) TUNE_##id,
    TUNE_LIST(TUNE_X)
#undef TUNE_X
        TUNE_COUNT
} tune_item;

enum { TUNE_NEAR_BYTES = 256 << 10, TUNE_FAR_BYTES = 4 << 20, TUNE_TEXT_BYTES = 4096 };

typedef struct tune_record {
    double values[TUNE_COUNT];
} tune_record;

typedef struct tune_field {
    const char *name, *unit, *help;
    double value, least, most; /* built-in, and the bounds of others */
} tune_field;

extern const tune_field tune_fields[TUNE_COUNT];

void tune_builtin(tune_record *record_out);

/* Is the number one that the field may have? Sizes and counts are whole; a slot is whole pages. */
bool tune_fits(tune_item item, double value);

/* The value that is left of one when it is written and read again: thousandths. */
double tune_rounded(double value);

/* The text of a record, for the machine that is named in one line without control characters. */
void tune_print(const tune_record *record, const char *machine, text_out *out);

/* Read a text of `bytes` characters; false when anything in it is not as tune_print() writes it
 * for this machine, with the reason. `record_out` is filled only on success. */
bool tune_parse(const char *text, size_t bytes, const char *machine, tune_record *record_out,
                char *why, size_t why_bytes);

#endif
