/* Encoding and decoding again: what a tree keeps of its last encoding, and the pattern of images that came before, never
 * show in the result. */
#include "unit/sample.h"

#include "ferry/bundle.h"
#include "ferry/memory.h"

enum { STEPS = 4000, WORDS = 6 };

/* --- trees that change between encodings --- */

typedef struct garden {
    ferry_bundle *root, *branch; /* branch lies in root */
    ferry_list *list;            /* in branch */
    char borrowed[16];
} garden;

static garden plant(void)
{
    garden g = {NULL};
    ferry_bundle *twig;

    check_ok(ferry_bundle_new(&g.root));
    check_ok(ferry_bundle_new(&g.branch));
    check_ok(ferry_bundle_new(&twig));
    check_ok(ferry_list_new(&g.list));
    check_ok(ferry_bundle_set_bundle(g.root, "branch", g.branch));
    check_ok(ferry_bundle_set_list(g.branch, "list", g.list));
    check_ok(ferry_bundle_set_bundle(g.branch, "twig", twig));
    check_ok(ferry_list_append_int32(g.list, 1));
    check_ok(ferry_list_append_float64(g.list, 2));
    strcpy(g.borrowed, "fifteen letters");
    return g;
}

static void put_something(ferry_bundle *b, const char *key, uint64_t dice, garden *g)
{
    static const double numbers[24];
    const int64_t shapes[][2] = {{2, 3}, {3, 2}, {1, 6}}, *shape = shapes[dice / 8 % 3];
    const int64_t turned[] = {8, 8 * shape[0]};

    switch (dice % 8) {
    case 0:
        check_ok(ferry_bundle_set_float64(b, key, (double)dice));
        break;
    case 1:
        check_ok(ferry_bundle_set_int64(b, key, (int64_t)dice));
        break;
    case 2:
        check_ok(ferry_bundle_set_string(b, key, "some text \xc3\x9f", dice / 8 % 13));
        break;
    case 3:
        check_ok(ferry_bundle_set_array(b, key, FERRY_TYPE_FLOAT64, 2, shape, dice & 64 ? turned : NULL, numbers));
        break;
    case 4:
        check_ok(ferry_bundle_borrow_string(b, key, g->borrowed, 10));
        break;
    case 5:
        check_ok(ferry_bundle_set_bytes(b, key, numbers, dice / 8 % 3 * 90));
        break;
    case 6:
        check_ok(ferry_bundle_borrow_array(b, key, FERRY_TYPE_FLOAT64, 2, shape, NULL, numbers));
        break;
    default:
        check_ok(ferry_bundle_set_null(b, key));
    }
}

static void change_list(ferry_list *list, uint64_t dice)
{
    const size_t count = ferry_list_count(list);
    ferry_bundle *notes;

    switch (dice % 4) {
    case 0:
        check_ok(ferry_list_append_int32(list, (int32_t)dice));
        break;
    case 1:
        if (count > 2)
            check_ok(ferry_list_remove(list, dice / 4 % count));
        break;
    case 2:
        check_ok(ferry_list_move(list, dice / 4 % count, dice / 64 % count));
        break;
    default:
        check_ok(ferry_list_edit_attributes(list, dice / 4 % count, &notes));
        check_ok(ferry_bundle_set_int32(notes, "note", 1));
    }
}

static void change(garden *g, uint64_t dice)
{
    static const char *const words[WORDS] = {"a", "b", "c", "some longer key", "e", "f"};
    const char *const key = words[dice / 16 % WORDS];
    ferry_bundle *const b = dice & 1024 ? g->root : g->branch;
    ferry_bundle *notes;

    if (dice % 16 < 9)
        put_something(b, key, dice >> 20, g);
    else if (dice % 16 < 11)
        ferry_bundle_remove(b, key);
    else if (dice % 16 < 13)
        change_list(g->list, dice >> 20);
    else if (dice % 16 == 13)
        g->borrowed[4] = (char)(dice & 2048 ? '\xff' : 'x');
    else if (ferry_bundle_edit_attributes(b, key, &notes) == FERRY_OK && dice & 4096)
        check_ok(ferry_bundle_set_float64(notes, "unit", (double)dice));
    else
        ferry_bundle_remove_attributes(b, key);
}

/* The image of a tree that was never encoded, value by value the same. */
static void check_image(const ferry_bundle *b)
{
    ferry_bundle *fresh, *back;
    void *image, *expected;
    size_t bytes, expected_bytes;

    check_ok(ferry_bundle_new(&fresh));
    check_ok(ferry_bundle_merge(fresh, b, FERRY_MERGE_REPLACE));
    check_ok(ferry_bundle_encode(b, &image, &bytes));
    check_ok(ferry_bundle_encode(fresh, &expected, &expected_bytes));
    assert_int_equal(bytes, expected_bytes);
    assert_memory_equal(image, expected, bytes);
    check_ok(ferry_bundle_decode(image, bytes, &back));
    assert_true(ferry_bundle_equal(b, back));
    ferry_bundle_free(back);
    ferry_bundle_free(fresh);
    ferry_memory_give(image);
    ferry_memory_give(expected);
}

static void changes_show(void **state)
{
    garden g = plant();
    (void)state;

    check_seed(check_seed_from_environment("changes_show"));
    for (int i = 0; i < STEPS; i++) {
        change(&g, check_random());
        check_image(g.root);
        if (i % 5 == 0)
            check_image(g.branch); /* keeps a head of its own */
    }
    ferry_bundle_free(g.root);
}

/* --- images of one pattern --- */

enum { ROUNDS = 5 };

static ferry_bundle *make_like(int round)
{
    ferry_bundle *b, *inner, *notes;
    ferry_list *list;
    double numbers[40] = {round, -round};
    const int64_t small[] = {2}, large[] = {5, 8};

    check_ok(ferry_bundle_new(&b));
    check_ok(ferry_bundle_new(&inner));
    check_ok(ferry_list_new(&list));
    check_ok(ferry_bundle_set_bool(b, "bool", round % 2));
    check_ok(ferry_bundle_set_int16(b, "int16", (int16_t)(round * 300)));
    check_ok(ferry_bundle_set_float32(b, "float32", (float)round));
    check_ok(ferry_bundle_set_complex128(b, "complex", (ferry_complex128){round, -round}));
    check_ok(ferry_bundle_set_string(b, "text", "0123456789" + round, 3));
    check_ok(ferry_bundle_set_bundle(b, "inner", inner));
    check_ok(ferry_bundle_set_array(inner, "small", FERRY_TYPE_FLOAT64, 1, small, NULL, numbers));
    check_ok(ferry_bundle_set_array(inner, "large", FERRY_TYPE_FLOAT64, 2, large, NULL, numbers));
    check_ok(ferry_bundle_set_list(inner, "list", list));
    for (int i = 0; i < 12; i++)
        check_ok(ferry_list_append_uint8(list, (uint8_t)(round + i)));
    check_ok(ferry_list_append_bytes(list, numbers, 300));
    check_ok(ferry_bundle_edit_attributes(inner, "small", &notes));
    check_ok(ferry_bundle_set_int32(notes, "round", round));
    return b;
}

static void values_differ(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        ferry_bundle *const b = make_like(round);
        ferry_bundle *back;
        void *image;
        size_t bytes;
        double x = 5;
        check_ok(ferry_bundle_encode(b, &image, &bytes));
        check_ok(ferry_bundle_decode(image, bytes, &back));
        memset(image, 0xee, bytes); /* nothing points there */
        ferry_memory_give(image);
        assert_true(ferry_bundle_equal(b, back));
        check_ok(ferry_bundle_set_float64(back, "more", x)); /* it may be changed like any other */
        check_ok(ferry_bundle_get_float64(back, "more", &x));
        check_ok(ferry_bundle_remove(back, "bool"));
        assert_false(ferry_bundle_equal(b, back));
        ferry_bundle_free(back);
        ferry_bundle_free(b);
    }
}

/* A damaged value is found whether or not the image fits the pattern. */
static void damage_is_found(void **state)
{
    ferry_bundle *const b = make_like(1), *back = NULL;
    unsigned char *image;
    size_t bytes, at = 0;
    (void)state;

    for (int round = 0; round < ROUNDS; round++) {
        check_ok(ferry_bundle_encode(b, (void **)&image, &bytes));
        for (at = 0; memcmp(&image[at], "123", 4) != 0; at++) /* the text with its NUL */
            ;
        image[at + 3] = 'x';
        check_fails(ferry_bundle_decode(image, bytes, &back), FERRY_ERR_FORMAT, "no NUL behind a string");
        image[at + 3] = 0;
        image[at] = 0xff;
        check_fails(ferry_bundle_decode(image, bytes, &back), FERRY_ERR_FORMAT, "flagged as UTF-8");
        image[at] = '1';
        check_ok(ferry_bundle_decode(image, bytes, &back));
        ferry_bundle_free(back);
        ferry_memory_give(image);
    }
    ferry_bundle_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(changes_show), cmocka_unit_test(values_differ),
                                       cmocka_unit_test(damage_is_found)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
