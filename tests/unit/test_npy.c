/* cli/npy: headers that numpy writes, headers that nobody should, and random damage. */
#include "check.h"

#include <inttypes.h>

#include "cli/cli.h"
#include "cli/npy.h"
#include "cli/say.h"

enum { ROOM = 4096 };

#define ONES_11 "1,1,1,1,1,1,1,1,1,1,1,"
#define ONES_33 ONES_11 ONES_11 ONES_11

/* A file's beginning from a header text; returns its bytes. */
static size_t file_of(int version, const char *text, unsigned char out[ROOM])
{
    const size_t start = version == 1 ? 10 : 12, length = strlen(text);

    memcpy(out, "\x93NUMPY", 6);
    out[6] = (unsigned char)version;
    out[7] = 0;
    out[8] = length & 255;
    out[9] = (unsigned char)(length >> 8);
    if (start == 12)
        out[10] = out[11] = 0;
    memcpy(out + start, text, length);
    return start + length;
}

static int parse(const char *text, npy_header *header)
{
    unsigned char bytes[ROOM];
    const size_t count = file_of(1, text, bytes);

    return npy_parse("x.npy", bytes, count, header);
}

static void accepted_types(void **state)
{
    static const struct {
        const char *descr;
        int bytes;
    } cases[] = {
        {"|u1", 1},   {"|b1", 1},     {"<i2", 2},      {">i2", 2},   {"<f4", 4},
        {"<f8", 8},   {"<c16", 16},   {"<f16", 16},    {"|S64", 64}, {"<U5", 20},
        {"|V17", 17}, {"<M8[ns]", 8}, {"<m8[25s]", 8}, {"=f8", 8},   {"f8", 8},
    };
    char text[256];
    npy_header header;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (3, 5), }\n",
                 cases[i].descr);
        if (parse(text, &header) != CLI_OK)
            fail_msg("%s: %s", text, complaint());
        assert_string_equal(header.descr, cases[i].descr);
        assert_int_equal(header.element_bytes, cases[i].bytes);
        assert_int_equal(header.data_bytes, 15 * cases[i].bytes);
    }
}

static void accepted_forms(void **state)
{
    static const char *const texts[] = {
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }        \n",
        "{'shape':(3,4),'fortran_order':False,'descr':'<f8'}",
        "\t{ \"shape\" : ( 3L , 4L , ) ,\n \"descr\"\t: \"<f8\" , 'fortran_order' : False }\r\n",
    };
    unsigned char bytes[ROOM];
    npy_header header;

    (void)state;
    for (int version = 1; version <= 3; version++) {
        for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
            const size_t count = file_of(version, texts[i], bytes);
            if (npy_parse("x.npy", bytes, count, &header) != CLI_OK)
                fail_msg("version %d, \"%s\": %s", version, texts[i], complaint());
            assert_int_equal(header.dims, 2);
            assert_int_equal(header.shape[0], 3);
            assert_int_equal(header.shape[1], 4);
            assert_false(header.fortran);
            assert_int_equal(header.data_offset, count);
            assert_int_equal(header.data_bytes, 96);
        }
    }
    assert_int_equal(parse("{'descr': '<f8', 'fortran_order': True, 'shape': (), }", &header),
                     CLI_OK);
    assert_true(header.fortran);
    assert_int_equal(header.dims, 0);
    assert_int_equal(header.data_bytes, 8);
}

static void refused(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "ends early"},
        {"{", "ends early"},
        {"{}", "no key 'descr'"},
        {"[]", "expected '{'"},
        {"{'descr' '<f8'}", "expected ':'"},
        {"{'descr': '<f8' 'shape': (1,)}", "expected ',' or '}'"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': 3}", "expected a shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (,)}", "expected a number"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4", "ends early"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1.5, 4)}", "expected ',' or ')'"},
        {"{'descr': '<f8', 'fortran_order': 0, 'shape': (3, 4)}", "expected True or False"},
        {"{'descr': '<f\\x38', 'fortran_order': False, 'shape': (3, 4)}", "expected a dtype"},
        {"{'descr': '|O8', 'fortran_order': False, 'shape': (3, 4)}", "objects"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (3, 4)}", "objects"},
        {"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3, 4)}", "fields"},
        {"{'descr': '', 'fortran_order': False, 'shape': (3, 4)}", "not known"},
        {"{'descr': '<', 'fortran_order': False, 'shape': (3, 4)}", "not known"},
        {"{'descr': '<<f8', 'fortran_order': False, 'shape': (3, 4)}", "not known"},
        {"{'descr': '<f-8', 'fortran_order': False, 'shape': (3, 4)}", "not known"},
        {"{'descr': '<f8[ns]', 'fortran_order': False, 'shape': (3, 4)}", "not known"},
        {"{'descr': '<M8[ns', 'fortran_order': False, 'shape': (3, 4)}", "not known"},
        {"{'descr': '<V0', 'fortran_order': False, 'shape': (3, 4)}", "not possible"},
        {"{'descr': '<V2147483648', 'fortran_order': False, 'shape': (3, 4)}", "not possible"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 4)}", "is -1"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (- 0, 4)}", "is -0"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808, 0)}",
         "is 9223372036854775808"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (9223372036854775807,)}", "2^63"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (3037000500, 3037000500)}", "2^63"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (" ONES_33 ")}",
         "more than 32 dimensions"},
    };
    npy_header header;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(&header, 0x5a, sizeof header);
        if (parse(cases[i].text, &header) != CLI_FAILURE || !strstr(complaint(), cases[i].words))
            fail_msg("\"%s\": \"%s\", expected \"%s\"", cases[i].text, complaint(), cases[i].words);
        assert_int_equal(header.dims, 0x5a5a5a5a); /* nothing is filled */
    }
}

/* Empty arrays are empty, however large the other extents. */
static void empty_arrays(void **state)
{
    npy_header header;

    (void)state;
    assert_int_equal(
        parse("{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 0), }",
              &header),
        CLI_OK);
    assert_int_equal(header.data_bytes, 0);
    assert_int_equal(
        parse("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807, 7), }",
              &header),
        CLI_OK);
    assert_int_equal(header.data_bytes, 0);
}

static void what_is_written_is_read(void **state)
{
    static const int64_t extents[] = {0, 1, 9, 10, 12345678, 3037000499};
    char text[NPY_WRITTEN_MAX];
    npy_header header;

    (void)state;
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            const size_t bytes = npy_compose("|u1", extents[i], extents[k], text);
            assert_int_equal(bytes % 64, 0);
            assert_int_equal(text[bytes - 1], '\n');
            if (npy_parse("x.npy", text, bytes, &header) != CLI_OK)
                fail_msg("%" PRId64 " x %" PRId64 ": %s", extents[i], extents[k], complaint());
            assert_int_equal(header.shape[0], extents[i]);
            assert_int_equal(header.shape[1], extents[k]);
            assert_int_equal(header.data_offset, bytes);
            assert_false(header.fortran);
        }
    }
}

static void shapes_as_text(void **state)
{
    npy_header header = {.dims = 3, .shape = {1, 22, 333}};
    char text[32], small[6];

    (void)state;
    assert_string_equal(npy_shape(&header, text, sizeof text), "(1, 22, 333)");
    assert_string_equal(npy_shape(&header, small, sizeof small), "(1, 2");
    header.dims = 1;
    assert_string_equal(npy_shape(&header, text, sizeof text), "(1,)");
    header.dims = 0;
    assert_string_equal(npy_shape(&header, text, sizeof text), "()");
}

/* Every cut of a header is refused; damaged ones give a status and, accepted or not, consistent
 * numbers. The bytes lie at the end of their block, so that sanitizers see one that is read too
 * far. */
static void cut_and_damaged(void **state)
{
    enum { ROUNDS = 20000 };
    unsigned char whole[ROOM];
    const size_t count =
        file_of(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }", whole);
    npy_header header;

    (void)state;
    check_seed(check_seed_from_environment("damaged headers"));
    for (size_t n = 0; n < count; n++) {
        unsigned char *bytes = malloc(n + 1);
        memcpy(bytes + 1, whole, n);
        assert_int_equal(npy_parse("x.npy", bytes + 1, n, &header), CLI_FAILURE);
        free(bytes);
    }
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char *bytes = malloc(count);
        memcpy(bytes, whole, count);
        for (int64_t k = check_between(1, 4); k > 0; k--)
            bytes[check_between(6, (int64_t)count - 1)] = (unsigned char)check_random();
        if (npy_parse("x.npy", bytes, count, &header) == CLI_OK) {
            assert_in_range(header.dims, 0, NPY_DIMS_MAX);
            assert_in_range(header.data_offset, 10, count);
            assert_true(header.element_bytes >= 1 && header.data_bytes >= 0);
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted_types),
        cmocka_unit_test(accepted_forms),
        cmocka_unit_test(refused),
        cmocka_unit_test(empty_arrays),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(shapes_as_text),
        cmocka_unit_test(cut_and_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
