/* Bytes that are no image are refused without harm, and decoding is thrifty. Damage is tried twice: as it is, which
 * checksums find, and with the checksums made right again, which leaves the other checks alone. */
#include "unit/image.h"
#include "unit/sample.h"

#include "base/hash.h"
#include "bundle/image.h"
#include "ferry/bundle.h"
#include "ferry/memory.h"

/* --- counting what is allocated --- */

/* Bytes asked for since the last reset. Sanitizers bring their own allocator; then nothing is counted. */
static size_t asked;

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

void *malloc(size_t bytes)
{
    asked += bytes;
    return __libc_malloc(bytes);
}
void *calloc(size_t count, size_t bytes)
{
    asked += count * bytes;
    return __libc_calloc(count, bytes);
}
void *realloc(void *old, size_t bytes)
{
    asked += bytes;
    return __libc_realloc(old, bytes);
}
#endif

/* --- parts of images --- */

static image_header *header(const image *of)
{
    return (image_header *)of->data;
}

/* Make total and checksums right, as far as the lengths allow. */
static void reseal(image *of)
{
    image_header *const h = header(of);
    const unsigned char *const schema = of->data + sizeof *h;
    const size_t left = of->bytes - sizeof *h;

    h->total = of->bytes;
    h->crc = 0;
    if (h->schema > left || h->keys > left - h->schema)
        return;
    h->hash = image_hash(schema, h->schema, schema + h->schema, h->keys);
    h->crc = hash_crc32c(hash_crc32c(0, h, sizeof *h), schema, h->schema + h->keys);
}

/* Decode bytes that may be anything: either refused with an offset, or a bundle that can be used; never with more
 * memory than promised. */
static ferry_status try_bytes(const void *bytes, size_t count)
{
    ferry_bundle *b = NULL;

    asked = 0;
    const ferry_status st = ferry_bundle_decode(bytes, count, &b);
    assert_true(asked <= 4 * count + (1 << 20)); /* a pattern may be learnt */
    if (st == FERRY_OK) {
        assert_int_equal(ferry_bundle_equal(b, b), 1);
        assert_true(ferry_bundle_print(b, NULL, 0) > 0);
        ferry_bundle_free(b);
        return st;
    }
    assert_null(b);
    assert_int_equal(st, FERRY_ERR_FORMAT);
    if (!strstr(trouble_text(), "byte"))
        fail_msg("\"%s\" names no offset", trouble_text());
    return st;
}

/* --- damage --- */

/* A few of each kind of record, small enough that every bit can be tried. */
static ferry_bundle *small_sample(void)
{
    static const double large[40] = {1, 2, 3};
    const int64_t shape[] = {4, 10}, small_shape[] = {2, 1, 3};
    ferry_bundle *b = fresh(), *child = fresh();
    ferry_list *list = fresh_list();

    check_ok(ferry_bundle_set_int32(b, "i", 7));
    check_ok(ferry_bundle_set_bool(b, "yes", true));
    check_ok(ferry_bundle_set_string(b, "text", "žlutý", strlen("žlutý")));
    check_ok(ferry_bundle_set_array(b, "large", FERRY_TYPE_FLOAT64, 2, shape, NULL, large));
    check_ok(ferry_bundle_set_list(b, "list", list));
    check_ok(ferry_list_append_array(list, FERRY_TYPE_INT16, 3, small_shape, NULL, large));
    check_ok(ferry_list_append_complex128(list, (ferry_complex128){1, 2}));
    check_ok(ferry_list_append_bundle(list, child));
    check_ok(ferry_bundle_set_null(child, "n"));
    check_ok(ferry_bundle_set_bytes(child, "b", "\1\2\3", 3));
    return b;
}

/* As it is, and with the checksums made right. */
static void try_both(image *broken, bool is_sealed)
{
    const ferry_status st = try_bytes(broken->data, broken->bytes);

    if (is_sealed)
        assert_int_equal(st, FERRY_ERR_FORMAT);
    if (broken->bytes >= sizeof(image_header)) {
        reseal(broken);
        try_bytes(broken->data, broken->bytes);
    }
}

static void every_bit_flipped(void **state)
{
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        ferry_bundle *b = seed_bundle(seed);
        image of = encode(b), broken = encode(b);
        const size_t sealed = sizeof(image_header) + header(&of)->schema + header(&of)->keys;
        const size_t step = of.bytes > 4096 ? 7 : 1; /* of the deepest, not all */
        for (size_t bit = 0; bit < 8 * of.bytes; bit += step) {
            broken.data[bit / 8] ^= (unsigned char)(1 << bit % 8);
            try_both(&broken, bit / 8 < sealed);
            memcpy(broken.data, of.data, of.bytes);
        }
        assert_int_equal(try_bytes(broken.data, broken.bytes), FERRY_OK);
        ferry_bundle_free(b);
        free(of.data);
        free(broken.data);
    }
}

/* Cut after every byte. The bytes that are left end where the memory ends, so that a sanitizer sees a step too far. */
static void every_cut(void **state)
{
    (void)state;
    for (int seed = 0; seed < SEEDS; seed++) {
        ferry_bundle *b = seed_bundle(seed);
        image of = encode(b);
        for (size_t bytes = 0; bytes < of.bytes; bytes++) {
            image cut = {malloc(bytes + 1), bytes};
            assert_non_null(cut.data);
            memcpy(cut.data, of.data, bytes);
            try_both(&cut, true);
            if (bytes >= sizeof(image_header)) /* with checksums made right, still */
                assert_int_equal(try_bytes(cut.data, bytes), FERRY_ERR_FORMAT);
            free(cut.data);
        }
        ferry_bundle_free(b);
        free(of.data);
    }
}

/* Every word of header and schema becomes a number that is far too large; nobody allocates for it. */
static void absurd_numbers(void **state)
{
    static const uint64_t absurd[] = {INT64_MAX,         (uint64_t)1 << 31, UINT64_MAX,
                                      (uint64_t)1 << 62, (uint64_t)1 << 32, 1000};
    ferry_bundle *b = small_sample();
    image of = encode(b), broken = encode(b);
    const size_t end = sizeof(image_header) + header(&of)->schema;
    (void)state;

    for (size_t at = 0; at < end; at += 8)
        for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
            memcpy(broken.data + at, &absurd[i], sizeof absurd[i]);
            reseal(&broken);
            const ferry_status st = try_bytes(broken.data, broken.bytes);
            const bool repaired = at < 32; /* total, checksum and hash are made right again */
            if (!repaired && memcmp(broken.data + at, of.data + at, sizeof absurd[i]) != 0)
                assert_int_equal(st, FERRY_ERR_FORMAT);
            memcpy(broken.data, of.data, of.bytes);
        }
    ferry_bundle_free(b);
    free(of.data);
    free(broken.data);
}

static void random_bytes(void **state)
{
    ferry_bundle *b = small_sample();
    image of = encode(b), broken = encode(b);
    const size_t head = sizeof(image_header) + header(&of)->schema + header(&of)->keys;
    (void)state;

    check_seed(check_seed_from_environment("random_bytes"));
    for (int i = 0; i < 3000; i++) {
        for (int64_t k = check_between(1, 3); k > 0; k--)
            broken.data[check_between(0, (int64_t)head - 1)] = (unsigned char)(check_random() >> 20);
        reseal(&broken);
        try_bytes(broken.data, broken.bytes);
        memcpy(broken.data, of.data, head);
    }
    ferry_bundle_free(b);
    free(of.data);
    free(broken.data);
}

/* --- damage with a name --- */

/* Where some bytes stand in an image. */
static size_t find(const image *of, const char *bytes, size_t count)
{
    for (size_t at = 0; at + count <= of->bytes; at++)
        if (memcmp(of->data + at, bytes, count) == 0)
            return at;
    fail_msg("these bytes are not in the image");
    return 0;
}

/* Change some bytes of the image of a bundle, and see what is said. */
static void check_refused(const ferry_bundle *b, const char *bytes, const char *other, size_t count,
                          const char *words)
{
    image of = encode(b);
    ferry_bundle *back = NULL;
    const size_t at = find(&of, bytes, count);

    memcpy(of.data + at, other, count);
    reseal(&of);
    check_fails(ferry_bundle_decode(of.data, of.bytes, &back), FERRY_ERR_FORMAT, words);
    assert_non_null(strstr(trouble_text(), "byte "));
    assert_null(back);
    free(of.data);
}

static void keys_that_are_refused(void **state)
{
    ferry_bundle *b = fresh();
    char key[2] = "a";
    (void)state;

    check_ok(ferry_bundle_set_int8(b, "xab", 1));
    check_ok(ferry_bundle_set_int8(b, "xac", 2));
    check_refused(b, "xac", "xab", 3, "two equal keys");
    check_refused(b, "xac", "xa\xff", 3, "no UTF-8");
    check_refused(b, "xac", "x\0c", 3, "no UTF-8 text that ends in NUL");
    check_refused(b, "xac\0", "xacd", 4, "ends in NUL");
    for (; key[0] < 'j'; key[0]++)
        check_ok(ferry_bundle_set_int8(b, key, 1));
    check_refused(b, "xac", "xab", 3, "two equal keys"); /* found by the hash table as well */
    ferry_bundle_free(b);
}

static void values_that_are_refused(void **state)
{
    ferry_bundle *b = fresh();
    (void)state;

    check_ok(ferry_bundle_set_string(b, "s", "žlutý", strlen("žlutý")));
    check_refused(b, "ž", "\xc5x", 2, "flagged as UTF-8");
    check_refused(b, "ý\0", "ý?", 3, "no NUL behind a string");
    ferry_bundle_free(b);
    b = fresh();
    check_ok(ferry_bundle_set_uint64(b, "front", 0x1122334455667788));
    check_ok(ferry_bundle_set_bool(b, "t", true));
    check_refused(b, "\x88\x77\x66\x55\x44\x33\x22\x11\x01", "\x88\x77\x66\x55\x44\x33\x22\x11\x02", 9,
                  "neither 0 nor 1");
    ferry_bundle_free(b);
}

static void strings_that_are_refused(void **state)
{
    static const char *const texts[] = {"ab", "", "\xc5\xbe"};
    static const char ends[] = "\3\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\7";
    static const struct {
        char ends[sizeof ends];
        const char *words;
    } cases[] = {
        {"\2\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\7", "no string of an array ends there"},     /* no NUL before */
        {"\3\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\7", "no string of an array ends there"},     /* not behind */
        {"\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0\7", "no string of an array ends there"},
        {"\3\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\7", "no string of an array ends there"},   /* outside */
        {"\3\0\0\0\0\0\0\x80\4\0\0\0\0\0\0\0\7", "no string of an array ends there"},
    };
    ferry_bundle *b = fresh();
    (void)state;

    check_ok(ferry_bundle_set_strings(b, "s", 3, texts, NULL));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_refused(b, ends, cases[i].ends, sizeof ends, cases[i].words);
    check_refused(b, "\xc5\xbe", "\xc5x", 2, "flagged as UTF-8");
    check_refused(b, "\3\0\0\0\0\0\0\0\x1f", "\2\0\0\0\0\0\0\0\x1f", 9, "shorter than"); /* one string less */
    check_refused(b, "\3\0\0\0\0\0\0\0\x1f", "\4\0\0\0\0\0\0\0\x1f", 9, "more strings than");
    ferry_bundle_free(b);
}

static void attributes_that_are_refused(void **state)
{
    static const char own[] = "\x12\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\x08"; /* the record of attributes of one value */
    ferry_bundle *b = fresh(), *its = NULL;
    char other[sizeof own - 1];
    (void)state;

    check_ok(ferry_bundle_set_int8(b, "v", 3));
    check_ok(ferry_bundle_edit_attributes(b, "v", &its));
    check_ok(ferry_bundle_set_null(its, "u"));
    for (int i = 0; i < 3; i++) {
        memcpy(other, own, sizeof other);
        other[i == 2 ? 3 : i] = i == 0 ? 0x11 : i == 1 ? 1 : 4; /* a list; an element; attributes of attributes */
        if (i == 1)
            check_refused(b, own, other, sizeof other, "no type of value");
        else
            check_refused(b, own, other, sizeof other, "attributes are no plain bundle");
    }
    memcpy(other, own, sizeof other);
    other[4] = 1;
    check_refused(b, own, other, sizeof other, "attributes are no plain bundle");
    check_refused(b, "\2\0\0\4", "\2\0\0\0", 4, "wrong length"); /* a value that says it has none */
    ferry_bundle_free(b);
}

static void headers_that_are_refused(void **state)
{
    ferry_bundle *b = small_sample(), *back = NULL;
    image of = encode(b), longer = {calloc(1, of.bytes + 64), of.bytes + 64};
    (void)state;

    assert_non_null(longer.data);
    memcpy(longer.data, of.data, of.bytes);
    check_fails(ferry_bundle_decode(longer.data, longer.bytes, &back), FERRY_ERR_FORMAT, "total length at byte 16");
    reseal(&longer);
    check_fails(ferry_bundle_decode(longer.data, longer.bytes, &back), FERRY_ERR_FORMAT, "the values go on");
    of.data[8] = 2;
    reseal(&of);
    check_fails(ferry_bundle_decode(of.data, of.bytes, &back), FERRY_ERR_FORMAT, "unknown version at byte 8");
    of.data[0] = 'F';
    check_fails(ferry_bundle_decode(of.data, of.bytes, &back), FERRY_ERR_FORMAT, "no magic number at byte 0");
    check_fails(ferry_bundle_decode(of.data, 0, &back), FERRY_ERR_FORMAT, "0 bytes");
    check_fails(ferry_bundle_decode(NULL, 0, &back), FERRY_ERR_ARG, "image is NULL");
    check_fails(ferry_bundle_decode(of.data, of.bytes, NULL), FERRY_ERR_ARG, "bundle_out is NULL");
    check_fails(ferry_bundle_encode(NULL, (void **)&of.data, &of.bytes), FERRY_ERR_ARG, "bundle is NULL");
    check_fails(ferry_bundle_encode(b, NULL, &of.bytes), FERRY_ERR_ARG, "image_out is NULL");
    assert_null(back);
    ferry_bundle_free(b);
    free(of.data);
    free(longer.data);
}

/* An image of bundles in bundles, written by hand. */
static image by_hand(uint64_t depth)
{
    const size_t schema = depth * IMAGE_TREE_WORDS * IMAGE_WORD, keys = (depth - 1) * IMAGE_WORD;
    const size_t bytes = size_round(sizeof(image_header) + schema + keys, IMAGE_LINE);
    image of = {calloc(1, bytes), bytes};

    assert_non_null(of.data);
    *header(&of) = (image_header){.magic = IMAGE_MAGIC, .version = IMAGE_VERSION, .schema = schema, .keys = keys,
                                  .entries = depth - 1, .keyed = depth - 1, .containers = depth};
    uint64_t *const words = (uint64_t *)(of.data + sizeof(image_header));
    for (uint64_t i = 0; i < depth; i++) {
        const image_record record = {.type = FERRY_TYPE_BUNDLE, .key_bytes = i > 0};
        memcpy(&words[4 * i], &record, sizeof record);
        words[4 * i + 1] = i + 1 < depth;
        words[4 * i + 2] = 32 * (depth - 1 - i);
        if (i > 0)
            of.data[sizeof(image_header) + schema + 8 * (i - 1)] = 'k';
    }
    reseal(&of);
    return of;
}

static void depth_has_a_limit(void **state)
{
    image most = by_hand(FERRY_BUNDLE_MAX_DEPTH), more = by_hand(FERRY_BUNDLE_MAX_DEPTH + 1), far = by_hand(100000);
    ferry_bundle *b = NULL;
    (void)state;

    check_ok(ferry_bundle_decode(most.data, most.bytes, &b));
    image again = encode(b); /* the image written by hand is the one that the library writes */
    assert_int_equal(again.bytes, most.bytes);
    assert_memory_equal(again.data, most.data, most.bytes);
    free(again.data);
    ferry_bundle_free(b);
    b = NULL;
    check_fails(ferry_bundle_decode(more.data, more.bytes, &b), FERRY_ERR_FORMAT, "nested too deep");
    check_fails(ferry_bundle_decode(far.data, far.bytes, &b), FERRY_ERR_FORMAT, "nested too deep");
    assert_null(b);
    free(most.data);
    free(more.data);
    free(far.data);
}

/* --- memory --- */

/* Decoding takes at most three bytes for each byte of an image, besides the copy of it. */
static void check_memory(ferry_bundle *b)
{
    image of = encode(b);
    ferry_bundle *back = NULL;
    void *block;

    check_ok(ferry_memory_take(of.bytes, &block));
    memcpy(block, of.data, of.bytes);
    asked = 0;
    check_ok(image_decode(block, of.bytes, &back));
    assert_true(asked <= 3 * of.bytes + 256);
    ferry_bundle_free(back);
    ferry_bundle_free(b);
    free(of.data);
}

/* The records that need most memory for their bytes in an image. */
static void decoding_is_thrifty(void **state)
{
    enum { MANY = 20000 };
    ferry_list *nulls = fresh_list(), *bundles = fresh_list(), *attributed = fresh_list();
    ferry_bundle *its, *keys = fresh(), *b = fresh();
    char key[8];
    (void)state;

    for (int i = 0; i < MANY; i++) {
        check_ok(ferry_list_append_null(nulls));
        check_ok(ferry_list_append_bundle(bundles, fresh()));
        check_ok(ferry_list_append_null(attributed));
        check_ok(ferry_list_edit_attributes(attributed, (size_t)i, &its));
        snprintf(key, sizeof key, "%x", i);
        check_ok(ferry_bundle_set_null(keys, key));
    }
    check_memory(keys);
    check_ok(ferry_bundle_set_list(b, "nulls", nulls));
    check_memory(b);
    b = fresh();
    check_ok(ferry_bundle_set_list(b, "bundles", bundles));
    check_memory(b);
    b = fresh();
    check_ok(ferry_bundle_set_list(b, "attributed", attributed));
    check_memory(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_flipped),
        cmocka_unit_test(every_cut),
        cmocka_unit_test(absurd_numbers),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(keys_that_are_refused),
        cmocka_unit_test(values_that_are_refused),
        cmocka_unit_test(strings_that_are_refused),
        cmocka_unit_test(attributes_that_are_refused),
        cmocka_unit_test(headers_that_are_refused),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(decoding_is_thrifty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
