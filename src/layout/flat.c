/* Layouts as flat 64-bit words, for messages between ranks of one build. What comes in is not
 * trusted. Words: element, nests; then for each nest: offset, run, dims, and count and stride of
 * each loop. A list has LIST for dims, then the number of places and the places. */
#include <string.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/trouble.h"
#include "layout/layout.h"

enum { HEAD_WORDS = 2, NEST_WORDS = 3, LOOP_WORDS = 2, LIST = -1 };

static size_t nest_words(const layout_nest *nest)
{
    return NEST_WORDS + (nest->places ? 1 + nest->places->count : LOOP_WORDS * (size_t)nest->dims);
}

size_t layout_flat_bytes(const ferry_layout *layout)
{
    size_t words = HEAD_WORDS;

    for (size_t i = 0; i < layout->nest_count; i++)
        words += nest_words(&layout->nests[i]);
    return words * sizeof(int64_t);
}

static char *put(char *at, int64_t word)
{
    memcpy(at, &word, sizeof word);
    return at + sizeof word;
}

static char *put_list(char *at, const layout_places *places)
{
    at = put(at, (int64_t)places->count);
    memcpy(at, places->at, places->count * sizeof places->at[0]);
    return at + places->count * sizeof places->at[0];
}

void layout_flatten(const ferry_layout *layout, void *flat_out)
{
    char *at = put(put(flat_out, (int64_t)layout->element), (int64_t)layout->nest_count);

    for (size_t i = 0; i < layout->nest_count; i++) {
        const layout_nest *const nest = &layout->nests[i];
        at = put(put(put(at, nest->offset), (int64_t)nest->run), nest->places ? LIST : nest->dims);
        if (nest->places)
            at = put_list(at, nest->places);
        for (int k = 0; k < nest->dims && !nest->places; k++)
            at = put(put(at, (int64_t)nest->loop[k].count), nest->loop[k].stride);
    }
}

/* The words not yet read. Reading past the end gives zeros and is remembered. */
typedef struct reader {
    const char *at;
    size_t words;
    bool short_of;
} reader;

static int64_t next_word(reader *from)
{
    int64_t word = 0;

    if (from->words == 0) {
        from->short_of = true;
        return 0;
    }
    memcpy(&word, from->at, sizeof word);
    from->at += sizeof word;
    from->words--;
    return word;
}

/* Returns NULL, or what is wrong. */
static const char *read_list(reader *from, layout_nest *nest)
{
    const int64_t count = next_word(from);

    if (count < 1 || (uint64_t)count > from->words)
        return "ends too early";
    if (layout_places_take((size_t)count, &nest->places) != FERRY_OK)
        return "has no memory for its places";
    memcpy(nest->places->at, from->at, (size_t)count * sizeof(int64_t));
    from->at += (size_t)count * sizeof(int64_t);
    from->words -= (size_t)count;
    nest->dims = 1;
    nest->loop[0].count = (size_t)count;
    return NULL;
}

/* Returns NULL, or what is wrong. */
static const char *read_nest(reader *from, size_t element, layout_nest *nest_out)
{
    layout_nest nest = {.offset = next_word(from), .run = 0};
    const int64_t run = next_word(from), dims = next_word(from);

    if (from->short_of)
        return "ends too early";
    if (run < 1 || run % (int64_t)element != 0)
        return "has a run that is no multiple of the element";
    nest.run = (size_t)run;
    if (dims == LIST) {
        const char *const wrong = read_list(from, &nest);
        *nest_out = nest;
        return wrong;
    }
    if (dims < 0 || dims > FERRY_LAYOUT_MAX_DIMS)
        return "has too many loops";
    nest.dims = (int)dims;
    for (int k = 0; k < nest.dims; k++) {
        const int64_t count = next_word(from);
        if (count < 1)
            return from->short_of ? "ends too early" : "has a loop without iterations";
        nest.loop[k].count = (size_t)count;
        nest.loop[k].stride = next_word(from);
    }
    *nest_out = nest;
    return from->short_of ? "ends too early" : NULL;
}

static const char *read_nests(reader *from, size_t element, layout_nest *nests, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *const wrong = read_nest(from, element, &nests[i]);
        if (wrong)
            return wrong;
    }
    return from->words > 0 ? "is longer than its nests" : NULL;
}

static ferry_status refuse(const char *what)
{
    return trouble(FERRY_ERR_FORMAT, "a flat layout %s", what);
}

ferry_status layout_unflatten(const void *flat, size_t bytes, ferry_layout **layout_out)
{
    reader from = {.at = flat, .words = bytes / sizeof(int64_t)};
    const int64_t element = next_word(&from), count = next_word(&from);
    layout_nest *nests = NULL;

    if (from.short_of || bytes % sizeof(int64_t) != 0)
        return refuse("has a wrong length");
    if (element < 1)
        return refuse("has elements without bytes");
    if (count < 0 || (uint64_t)count > from.words / NEST_WORDS)
        return refuse("ends too early");
    ferry_status st = alloc_zero((size_t)count, sizeof *nests, &nests);
    if (st != FERRY_OK)
        return st;
    const char *const wrong = read_nests(&from, (size_t)element, nests, (size_t)count);
    st = wrong ? refuse(wrong) : layout_make((size_t)element, nests, (size_t)count, layout_out);
    for (size_t i = 0; i < (size_t)count; i++)
        layout_release(&nests[i]);
    alloc_free(nests);
    return st == FERRY_ERR_ARG ? refuse("passes 63 bits") : st;
}
