/* Fuzzing the decoder of images: bytes as they come, and the same with lengths and checksums made right, so that what
 * is behind these checks is reached. What decodes must be usable, and be the same after another turn through an image. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "bundle/image.h"
#include "ferry/bundle_item.h"
#include "ferry/memory.h"

/* The pool, without what it keeps: sanitizers see a step beyond a block, and a block that is never given back. */
ferry_status ferry_memory_take(size_t bytes, void **data_out)
{
    void *const data = malloc(bytes > 0 ? bytes : 1);

    if (!data)
        return FERRY_ERR_MEMORY;
    *data_out = data;
    return FERRY_OK;
}

void ferry_memory_give(void *data)
{
    free(data);
}

static ferry_status visit(void *user, const char *path, const ferry_item *item)
{
    *(size_t *)user += strlen(path) + item->count;
    return FERRY_OK;
}

static void require(int holds)
{
    if (!holds)
        abort();
}

static void use(const ferry_bundle *b)
{
    ferry_bundle *copy = NULL, *merged = NULL;
    char text[256];
    size_t sum = 0;

    require(ferry_bundle_print(b, text, sizeof text) > 0);
    require(ferry_bundle_walk(b, visit, &sum) == FERRY_OK);
    require(ferry_bundle_copy(b, &copy) == FERRY_OK);
    require(ferry_bundle_compare(b, copy, text, sizeof text) == 1);
    require(ferry_bundle_new(&merged) == FERRY_OK);
    require(ferry_bundle_merge(merged, copy, FERRY_MERGE_REFUSE) == FERRY_OK);
    require(ferry_bundle_equal(b, merged) == 1);
    ferry_bundle_free(copy);
    ferry_bundle_free(merged);
}

static void try_bytes(const void *image, size_t bytes)
{
    ferry_bundle *b = NULL;

    if (ferry_bundle_decode(image, bytes, &b) != FERRY_OK)
        return;
    use(b);
    ferry_bundle_free(b);
}

/* Make total length and checksums right, as far as the other lengths allow. */
static void reseal(unsigned char *image, size_t bytes)
{
    image_header h;

    memcpy(&h, image, sizeof h);
    memcpy(h.magic, IMAGE_MAGIC, sizeof h.magic);
    h.version = IMAGE_VERSION;
    h.total = bytes;
    h.crc = 0;
    if (h.schema <= bytes - sizeof h && h.keys <= bytes - sizeof h - h.schema)
        h.crc = hash_crc32c(hash_crc32c(0, &h, sizeof h), image + sizeof h, h.schema + h.keys);
    memcpy(image, &h, sizeof h);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
    unsigned char *copy;

    try_bytes(data, bytes);
    if (bytes < sizeof(image_header))
        return 0;
    copy = malloc(bytes);
    require(copy != NULL);
    memcpy(copy, data, bytes);
    reseal(copy, bytes);
    try_bytes(copy, bytes);
    free(copy);
    return 0;
}
