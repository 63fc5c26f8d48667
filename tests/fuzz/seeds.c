/* The images of the seeds, in tests/fuzz/corpus: what the fuzzer begins with, and what the format was when they were
 * written.
 *
 * usage: seeds write FOLDER    writes them
 *        seeds check FOLDER    fails unless they are what the library writes, and can be read */
#include "unit/sample.h"

static char path[4096];

static const char *name_file(const char *folder, int seed)
{
    snprintf(path, sizeof path, "%s/seed%02d", folder, seed);
    return path;
}

static bool write_seed(const char *folder, int seed, const void *image, size_t bytes)
{
    FILE *const file = fopen(name_file(folder, seed), "wb");
    const bool good = file && fwrite(image, 1, bytes, file) == bytes;

    return file && fclose(file) == 0 && good;
}

/* The file holds these bytes, no more and no less, and they are the bundle. */
static bool check_seed_file(const char *folder, int seed, const void *image, size_t bytes, const ferry_bundle *b)
{
    FILE *const file = fopen(name_file(folder, seed), "rb");
    unsigned char *const found = malloc(bytes + 1);
    const size_t count = file && found ? fread(found, 1, bytes + 1, file) : 0;
    ferry_bundle *back = NULL;
    const bool good = count == bytes && memcmp(found, image, bytes) == 0 &&
                      ferry_bundle_decode(found, count, &back) == FERRY_OK && ferry_bundle_equal(b, back);

    if (file)
        fclose(file);
    free(found);
    ferry_bundle_free(back);
    return good;
}

static bool handle(const char *verb, const char *folder, int seed)
{
    ferry_bundle *const b = seed_bundle(seed);
    void *image = NULL;
    size_t bytes = 0;
    bool good = ferry_bundle_encode(b, &image, &bytes) == FERRY_OK;

    if (good)
        good = strcmp(verb, "write") == 0 ? write_seed(folder, seed, image, bytes)
                                          : check_seed_file(folder, seed, image, bytes, b);
    printf("%s %s (%zu bytes)\n", good ? "good" : "BAD ", name_file(folder, seed), bytes);
    ferry_memory_give(image);
    ferry_bundle_free(b);
    return good;
}

int main(int argc, char **argv)
{
    bool good = true;

    if (argc != 3 || (strcmp(argv[1], "write") != 0 && strcmp(argv[1], "check") != 0)) {
        fprintf(stderr, "usage: seeds write|check FOLDER\n");
        return 2;
    }
    for (int seed = 0; seed < SEEDS; seed++)
        good = handle(argv[1], argv[2], seed) && good;
    return good ? 0 : 1;
}
