/* Bundles that tests of moves share; see samples.h. */
#include "mpi/samples.h"

#include "odd.h"

ferry_bundle *sample_empty(void)
{
    ferry_bundle *b = NULL;

    CHECK_OK(ferry_bundle_new(&b));
    return b;
}

/* --- bundles to move --- */

void sample_add_odd(ferry_bundle *b)
{
    CHECK_OK(odd_add_numbers(b));
}

void sample_add_nothing(ferry_bundle *b)
{
    static const int64_t shapes[][2] = {{0, 5}, {5, 0}};
    ferry_list *list = NULL;
    char key[32];

    for (int element = FERRY_TYPE_BOOL; element <= FERRY_TYPE_COMPLEX128; element++)
        for (int i = 0; i < 2; i++) {
            snprintf(key, sizeof key, "no %s %d", ferry_type_name(element), i);
            CHECK_OK(ferry_bundle_set_array(b, key, element, 2, shapes[i], NULL, NULL));
        }
    CHECK_OK(ferry_bundle_set_bytes(b, "no bytes", NULL, 0));
    CHECK_OK(ferry_bundle_set_bundle(b, "no values", sample_empty()));
    CHECK_OK(ferry_list_new(&list));
    CHECK_OK(ferry_bundle_set_list(b, "no elements", list));
}

/* Values that tell who made the bundle. */
static void add_own_values(ferry_bundle *b, int owner, int64_t rows)
{
    const int64_t shape[] = {rows, 650}, columns[] = {8, 8 * rows};
    double *const matrix = malloc((size_t)(rows * 650) * sizeof *matrix);
    ferry_list *list = NULL;

    CHECK(matrix != NULL);
    for (int64_t i = 0; i < rows * 650; i++)
        matrix[i] = (double)(1000000 * owner + i);
    CHECK_OK(ferry_bundle_set_int32(b, "owner", owner));
    CHECK_OK(ferry_bundle_set_array(b, "rows", FERRY_TYPE_FLOAT64, 2, shape, NULL, matrix));
    CHECK_OK(ferry_bundle_set_array(b, "columns", FERRY_TYPE_FLOAT64, 2, shape, columns, matrix));
    CHECK_OK(ferry_list_new(&list));
    CHECK_OK(ferry_bundle_set_list(b, "mixed", list));
    CHECK_OK(ferry_list_append_int32(list, owner));
    CHECK_OK(ferry_list_append_string(list, "text", 4));
    CHECK_OK(ferry_list_append_complex128(list, (ferry_complex128){1, -owner}));
    CHECK_OK(ferry_list_append_array(list, FERRY_TYPE_FLOAT64, 2, shape, NULL, matrix));
    free(matrix);
}

ferry_bundle *sample_of(int owner, int64_t rows)
{
    ferry_bundle *const b = sample_empty(), *const inner = sample_empty();

    add_own_values(b, owner, rows);
    sample_add_odd(b);
    CHECK_OK(ferry_bundle_set_bundle(b, "inner", inner));
    CHECK_OK(odd_add_strings(inner));
    sample_add_nothing(inner);
    return b;
}

/* What a receiver may hold before: other keys, and the same with other types. */
ferry_bundle *sample_old(void)
{
    ferry_bundle *const b = sample_empty(), *const inner = sample_empty();
    const int32_t x[7] = {0};
    const int64_t shape[] = {7};

    CHECK_OK(ferry_bundle_set_array(b, "owner", FERRY_TYPE_INT32, 1, shape, NULL, x));
    CHECK_OK(ferry_bundle_set_bundle(b, "y", inner));
    CHECK_OK(ferry_bundle_set_string(inner, "z", "alt", 3));
    return b;
}

/* Equal to what it should be, which is freed. */
void sample_check(const ferry_bundle *b, ferry_bundle *expected)
{
    CHECK(ferry_bundle_equal(b, expected));
    ferry_bundle_free(expected);
}

/* Number k of a sender, of growing size. */
ferry_bundle *sample_numbered(int from, int k)
{
    static const char bytes[200000];
    ferry_bundle *const b = sample_empty();

    CHECK_OK(ferry_bundle_set_int32(b, "from", from));
    CHECK_OK(ferry_bundle_set_int32(b, "k", k));
    CHECK_OK(ferry_bundle_borrow_bytes(b, "bytes", bytes, (size_t)(from * 10 + k * k * 1300)));
    return b;
}
