/* The tuning record: its text read back, every kind of wrong text refused as a whole, its file. */
#include "unit/check.h"

#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ferry/status.h"
#include "tune/file.h"
#include "unit/folder.h"

static const char machine[] = "Some CPU 7, mpich";

static size_t print(const tune_record *record, char text[TUNE_TEXT_BYTES])
{
    text_out out = {text, TUNE_TEXT_BYTES, 0};

    tune_print(record, machine, &out);
    assert_true(out.needed < TUNE_TEXT_BYTES);
    return out.needed;
}

/* A record whose numbers differ from the built-in ones and from each other. */
static tune_record odd_record(void)
{
    tune_record record;

    for (int i = 0; i < TUNE_COUNT; i++) {
        const tune_field *const f = &tune_fields[i];
        record.values[i] = strcmp(f->unit, "ns") == 0 ? tune_rounded(f->least + 0.017 * (i + 1)) : f->least;
        assert_true(tune_fits((tune_item)i, record.values[i]));
    }
    return record;
}

static void assert_same(const tune_record *a, const tune_record *b)
{
    for (int i = 0; i < TUNE_COUNT; i++)
        if (a->values[i] != b->values[i])
            fail_msg("%s is %.17g, expected %.17g", tune_fields[i].name, a->values[i], b->values[i]);
}

static void read_back(void **state)
{
    static const char *const locales[] = {"C", "de_DE.UTF-8", "fr_FR.UTF-8"}; /* comma, where installed */
    const tune_record odd = odd_record();
    tune_record builtin, found;
    char text[TUNE_TEXT_BYTES], why[200];
    (void)state;

    tune_builtin(&builtin);
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        setlocale(LC_ALL, locales[i]);
        assert_true(tune_parse(text, print(&odd, text), machine, &found, why, sizeof why));
        assert_same(&found, &odd);
        assert_true(tune_parse(text, print(&builtin, text), machine, &found, why, sizeof why));
        assert_same(&found, &builtin);
    }
    setlocale(LC_ALL, "C");
}

/* Refused, with a reason, and the record untouched. */
static void refused(const char *text, size_t bytes, const char *reason)
{
    const tune_record before = odd_record();
    tune_record record = before;
    char why[200] = "";

    if (tune_parse(text, bytes, machine, &record, why, sizeof why))
        fail_msg("taken: %.*s", (int)bytes, text);
    if (!strstr(why, reason))
        fail_msg("\"%s\" does not say \"%s\"", why, reason);
    assert_same(&record, &before);
}

static void cut_texts(void **state)
{
    const tune_record odd = odd_record();
    char text[TUNE_TEXT_BYTES];
    const size_t bytes = print(&odd, text);
    (void)state;

    for (size_t length = 0; length < bytes; length++)
        refused(text, length, "line ");
}

/* The text with its first `old` replaced. */
static size_t edit(const char *text, const char *old, const char *new, char *text_out)
{
    const char *const at = strstr(text, old);

    assert_non_null(at);
    return (size_t)sprintf(text_out, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
}

static void wrong_texts(void **state)
{
    static const struct {
        const char *old, *new, *reason;
    } edits[] = {
        {"version 1", "version 2", "line 1 "},
        {"ferry tuning", "ferry  tuning", "line 1 "},
        {"Some CPU 7", "Some CPU 8", "expected machine Some CPU 7, mpich"},
        {"mpich", "openmpi", "line 2 "},
        {"ring_start_ns", "ring_start", "line 3 is \"ring_start 250.000\", expected \"ring_start_ns\""},
        {"ring_start_ns ", "ring_start_ns  ", "line 3 "},
        {"ring_start_ns 250.000", "ring_start_ns nan", "line 3 "},
        {"ring_start_ns 250.000", "ring_start_ns inf", "line 3 "},
        {"ring_start_ns 250.000", "ring_start_ns 0x10.000", "line 3 "},
        {"ring_start_ns 250.000", "ring_start_ns -250.000", "line 3 "},
        {"ring_start_ns 250.000", "ring_start_ns +250.000", "line 3 "},
        {"ring_start_ns 250.000", "ring_start_ns 250", "line 3 "},
        {"ring_start_ns 250.000", "ring_start_ns 250,000", "line 3 "},
        {"ring_start_ns 250.000", "ring_start_ns 250.0000", "line 3 "},
        {"ring_start_ns 250.000", "ring_start_ns .250", "line 3 "},
        {"ring_start_ns 250.000", "ring_start_ns 2.5e2", "line 3 "},
        {"ring_start_ns 250.000", "ring_start_ns 250.000 ", "line 3 "},
        {"ring_start_ns 250.000", "ring_start_ns 0.999", "from 1 to 50000"},
        {"ring_start_ns 250.000", "ring_start_ns 50000.001", "from 1 to 50000"},
        {"ring_start_ns 250.000", "ring_start_ns 99999999999999999999.000", "line 3 "},
        {"ring_start_ns 250.000\n", "", "line 3 "},
        {"ring_start_ns 250.000\n", "ring_start_ns 250.000\nring_start_ns 250.000\n", "line 4 "},
        {"\nring_start_ns", "\n\nring_start_ns", "line 3 "},
        {"250.000\n", "250.000\r\n", "line 3 "},
        {"slot_bytes 32768.000", "slot_bytes 32769.000", "slot_bytes"},
        {"slot_bytes 32768.000", "slot_bytes 32768.500", "slot_bytes"},
        {"slot_count 4.000", "slot_count 4.500", "slot_count"},
        {"slot_count 4.000", "slot_count 1.000", "slot_count"},
        {"\nend\n", "\nend", "a whole line"},
        {"\nend\n", "\nend\n\n", "the end of the file"},
        {"\nend\n", "\nend\nmore", "the end of the file"},
        {"\nend\n", "\nfin\n", "expected end"},
    };
    char text[TUNE_TEXT_BYTES], wrong[TUNE_TEXT_BYTES + 200];
    tune_record builtin;
    (void)state;

    tune_builtin(&builtin);
    print(&builtin, text);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++)
        refused(wrong, edit(text, edits[i].old, edits[i].new, wrong), edits[i].reason);
    memset(wrong, 'x', sizeof wrong);
    refused(wrong, sizeof wrong, "line 1 ");
    refused("", 0, "line 1 ");
}

/* One byte of the text changed: refused, or another number within its bounds. Never a crash. */
static void changed_bytes(void **state)
{
    const tune_record odd = odd_record();
    char text[TUNE_TEXT_BYTES], why[200];
    const size_t bytes = print(&odd, text);
    tune_record found;
    (void)state;

    for (size_t i = 0; i < bytes; i++) {
        const char kept = text[i];
        for (int byte = 0; byte < 256; byte++) {
            text[i] = (char)byte;
            if (text[i] == kept || !tune_parse(text, bytes, machine, &found, why, sizeof why))
                continue;
            assert_in_range(byte, '0', '9');
            for (int k = 0; k < TUNE_COUNT; k++)
                assert_true(tune_fits((tune_item)k, found.values[k]));
        }
        text[i] = kept;
    }
}

/* ---- The file ---- */

static char path[TUNE_PATH_BYTES];

static int enter_cache(void **state)
{
    if (enter(state) != 0)
        return -1;
    setenv("XDG_CACHE_HOME", folder, 1);
    return tune_path(path) == FERRY_OK ? 0 : -1;
}

static void write_text(const char *text)
{
    FILE *const file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void names(void **state)
{
    char at[TUNE_PATH_BYTES], expected[TUNE_PATH_BYTES], long_name[3000];
    (void)state;

    snprintf(expected, sizeof expected, "%s/ferry/tune-", folder);
    assert_memory_equal(path, expected, strlen(expected));
    assert_null(strchr(path + strlen(expected), '/'));
    setenv("XDG_CACHE_HOME", "not/whole", 1); /* counts as none */
    setenv("HOME", "/home/of", 1);
    assert_int_equal(tune_path(at), FERRY_OK);
    assert_memory_equal(at, "/home/of/.cache/ferry/tune-", 27);
    unsetenv("HOME");
    assert_int_equal(tune_path(at), FERRY_ERR_SYSTEM);
    memset(long_name, 'x', sizeof long_name);
    long_name[0] = '/';
    long_name[sizeof long_name - 1] = '\0';
    setenv("XDG_CACHE_HOME", long_name, 1);
    assert_int_equal(tune_path(at), FERRY_ERR_SYSTEM);
}

static void save_and_load(void **state)
{
    const tune_record odd = odd_record();
    tune_record found, builtin;
    char why[400] = "";
    (void)state;

    assert_int_equal(tune_load(&found, why, sizeof why), TUNE_ABSENT);
    assert_int_equal(tune_save(&odd), FERRY_OK);
    assert_int_equal(tune_load(&found, why, sizeof why), TUNE_READ);
    assert_same(&found, &odd);
    tune_builtin(&builtin); /* a second time, over the first file; nothing else is left */
    assert_int_equal(tune_save(&builtin), FERRY_OK);
    assert_int_equal(tune_load(&found, why, sizeof why), TUNE_READ);
    assert_same(&found, &builtin);
    assert_int_equal(system("test $(ls -A ferry | wc -l) = 1"), 0);
}

static void bad_files(void **state)
{
    const tune_record odd = odd_record();
    char why[400], text[3 * TUNE_TEXT_BYTES];
    tune_record found;
    (void)state;

    assert_int_equal(tune_save(&odd), FERRY_OK);
    write_text("something else\n");
    assert_int_equal(tune_load(&found, why, sizeof why), TUNE_REFUSED);
    assert_non_null(strstr(why, path));
    assert_non_null(strstr(why, "line 1 is \"something else\""));
    memset(text, '\n', sizeof text);
    text[sizeof text - 1] = '\0';
    write_text(text);
    assert_int_equal(tune_load(&found, why, sizeof why), TUNE_REFUSED);
    assert_non_null(strstr(why, "too long"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(tune_load(&found, why, sizeof why), TUNE_REFUSED);
    assert_non_null(strstr(why, "no regular file"));
    assert_int_equal(tune_save(&odd), FERRY_ERR_SYSTEM); /* a folder is not replaced */
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* is not waited for */
    assert_int_equal(tune_load(&found, why, sizeof why), TUNE_REFUSED);
}

static void no_folder(void **state)
{
    const tune_record odd = odd_record();
    tune_record found;
    char why[400];
    (void)state;

    assert_int_equal(system("touch taken && rm -rf ferry && ln -s taken ferry"), 0);
    assert_int_equal(tune_save(&odd), FERRY_ERR_SYSTEM);
    assert_int_equal(tune_load(&found, why, sizeof why), TUNE_ABSENT);
    setenv("XDG_CACHE_HOME", "/proc/self", 1);
    assert_int_equal(tune_save(&odd), FERRY_ERR_SYSTEM);
    setenv("XDG_CACHE_HOME", folder, 1);
    assert_int_equal(system("rm ferry"), 0); /* folders that are missing are made */
    char deep[128];
    snprintf(deep, sizeof deep, "%s/a/b/c", folder);
    setenv("XDG_CACHE_HOME", deep, 1);
    assert_int_equal(tune_save(&odd), FERRY_OK);
    assert_int_equal(tune_load(&found, why, sizeof why), TUNE_READ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_back),
        cmocka_unit_test(cut_texts),
        cmocka_unit_test(wrong_texts),
        cmocka_unit_test(changed_bytes),
        cmocka_unit_test_setup_teardown(names, enter_cache, leave),
        cmocka_unit_test_setup_teardown(save_and_load, enter_cache, leave),
        cmocka_unit_test_setup_teardown(bad_files, enter_cache, leave),
        cmocka_unit_test_setup_teardown(no_folder, enter_cache, leave),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
