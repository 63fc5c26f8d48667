/* Bundles in files: saved, loaded and mapped; names that must be refused; files that are damaged. */
#include "unit/check.h"
#include "unit/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include "base/alloc.h"
#include "ferry/bundle_file.h"
#include "ferry/memory.h"

/* Files in the folder, hidden ones too. */
static int count_files(void)
{
    int count = 0;
    DIR *const here = opendir(".");

    assert_non_null(here);
    for (const struct dirent *entry; (entry = readdir(here));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(here);
    return count;
}

static ferry_bundle *sample(int64_t doubles)
{
    double *const numbers = calloc((size_t)doubles + 1, sizeof *numbers);
    ferry_bundle *b = NULL, *child = NULL;

    assert_non_null(numbers);
    for (int64_t i = 0; i < doubles; i++)
        numbers[i] = (double)i / 3;
    check_ok(ferry_bundle_new(&b));
    check_ok(ferry_bundle_new(&child));
    check_ok(ferry_bundle_set_int32(b, "n", 7));
    check_ok(ferry_bundle_set_array(b, "field", FERRY_TYPE_FLOAT64, 1, &doubles, NULL, numbers));
    check_ok(ferry_bundle_set_string(child, "text", "a\0b", 3));
    check_ok(ferry_bundle_set_bundle(b, "child", child));
    free(numbers);
    return b;
}

static void there_and_back(void **state)
{
    static const int64_t sizes[] = {0, 3, 32, 1000, 100000};
    (void)state;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        ferry_bundle *b = sample(sizes[i]), *loaded = NULL, *mapped = NULL;
        struct stat file;
        void *image;
        size_t bytes;
        check_ok(ferry_bundle_save(b, "x.ferry"));
        check_ok(ferry_bundle_load("x.ferry", &loaded));
        check_ok(ferry_bundle_map("x.ferry", &mapped));
        assert_true(ferry_bundle_equal(b, loaded));
        assert_true(ferry_bundle_equal(b, mapped));
        check_ok(ferry_bundle_encode(b, &image, &bytes));
        assert_int_equal(stat("x.ferry", &file), 0);
        assert_int_equal(file.st_size, bytes);
        assert_int_equal(count_files(), 1);
        ferry_memory_give(image);
        ferry_bundle_free(mapped);
        ferry_bundle_free(loaded);
        ferry_bundle_free(b);
    }
}

/* Small values of attributes stand between those of values, whose alignment depends on what comes before. */
static void attributes_between(void **state)
{
    const int64_t shape[] = {3};
    const int32_t numbers[] = {1, 2, 3};
    ferry_bundle *b = sample(3), *attributes, *loaded = NULL;
    (void)state;

    for (int i = 0; i < 4; i++) {
        char key[8];
        snprintf(key, sizeof key, "x%d", i);
        check_ok(ferry_bundle_set_float64(b, key, i));
        check_ok(ferry_bundle_edit_attributes(b, key, &attributes));
        check_ok(ferry_bundle_set_string(attributes, "note", "a note and more", (size_t)(5 * i)));
        snprintf(key, sizeof key, "a%d", i);
        check_ok(ferry_bundle_set_array(b, key, FERRY_TYPE_INT32, 1, shape, NULL, numbers));
        check_ok(ferry_bundle_save(b, "x.ferry"));
        check_ok(ferry_bundle_load("x.ferry", &loaded));
        assert_true(ferry_bundle_equal(b, loaded));
        ferry_bundle_free(loaded);
    }
    ferry_bundle_free(b);
}

/* More pieces than one writev() takes. */
static void many_large_values(void **state)
{
    ferry_bundle *b = sample(10), *loaded = NULL;
    char text[300], key[16];
    (void)state;

    for (int i = 0; i < 1000; i++) {
        memset(text, 'a' + i % 26, sizeof text);
        snprintf(key, sizeof key, "k%d", i);
        check_ok(ferry_bundle_set_bytes(b, key, text, sizeof text - (size_t)(i % 40)));
    }
    check_ok(ferry_bundle_save(b, "many.ferry"));
    check_ok(ferry_bundle_load("many.ferry", &loaded));
    assert_true(ferry_bundle_equal(b, loaded));
    ferry_bundle_free(loaded);
    ferry_bundle_free(b);
}

/* A mapped bundle: values lie in the file's pages, changes stay in memory, the file may go. */
static void mapped_life(void **state)
{
    ferry_bundle *b = sample(4096), *mapped = NULL, *again = NULL;
    ferry_array field;
    (void)state;

    check_ok(ferry_bundle_save(b, "m.ferry"));
    check_ok(ferry_bundle_map("m.ferry", &mapped));
    check_ok(ferry_bundle_get_array(mapped, "field", FERRY_TYPE_FLOAT64, &field));
    ((double *)field.data)[5] = 99; /* a private page; no way to the file */
    check_ok(ferry_bundle_set_int32(mapped, "n", 8));
    check_ok(ferry_bundle_remove(mapped, "child"));
    check_ok(ferry_bundle_load("m.ferry", &again));
    assert_true(ferry_bundle_equal(b, again));
    check_ok(ferry_bundle_save(mapped, "m.ferry")); /* onto the file it is mapped from */
    assert_int_equal(unlink("m.ferry"), 0);
    assert_true(((const double *)field.data)[4095] == 4095.0 / 3);
    ferry_bundle_free(again);
    ferry_bundle_free(mapped);
    ferry_bundle_free(b);
}

static void replaced(void **state)
{
    ferry_bundle *b = sample(100), *other = sample(50), *loaded = NULL;
    struct stat file;
    (void)state;

    check_ok(ferry_bundle_save(b, "a.ferry"));
    assert_int_equal(chmod("a.ferry", 0640), 0);
    assert_int_equal(symlink("a.ferry", "link"), 0);
    check_ok(ferry_bundle_save(other, "link"));
    assert_int_equal(lstat("link", &file), 0);
    assert_true(S_ISLNK(file.st_mode));
    assert_int_equal(stat("a.ferry", &file), 0);
    assert_int_equal(file.st_mode & 0777, 0640);
    check_ok(ferry_bundle_load("a.ferry", &loaded));
    assert_true(ferry_bundle_equal(other, loaded));
    assert_int_equal(count_files(), 2);
    ferry_bundle_free(loaded);
    ferry_bundle_free(other);
    ferry_bundle_free(b);
}

static void refused_names(void **state)
{
    ferry_bundle *b = sample(3), *out = (ferry_bundle *)state;
    ferry_bundle *const before = out;
    char longest[5000];

    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(mkfifo("pipe", 0666), 0);
    check_fails(ferry_bundle_save(NULL, "x"), FERRY_ERR_ARG, "bundle is NULL");
    check_fails(ferry_bundle_save(b, NULL), FERRY_ERR_ARG, "path is NULL");
    check_fails(ferry_bundle_save(b, ""), FERRY_ERR_ARG, "path is empty");
    check_fails(ferry_bundle_save(b, longest), FERRY_ERR_ARG, "path has 4999 bytes");
    check_fails(ferry_bundle_save(b, "folder"), FERRY_ERR_ARG, "folder: a folder, expected");
    check_fails(ferry_bundle_save(b, "pipe"), FERRY_ERR_ARG, "pipe: a pipe or device");
    check_fails(ferry_bundle_save(b, "none/x"), FERRY_ERR_SYSTEM,
                "none/x: cannot be written: No such file");
    check_fails(ferry_bundle_load("none", &out), FERRY_ERR_SYSTEM,
                "none: cannot be opened: No such file");
    check_fails(ferry_bundle_load("pipe", &out), FERRY_ERR_ARG, "pipe: a pipe or device");
    check_fails(ferry_bundle_map("folder", &out), FERRY_ERR_ARG, "folder: a folder");
    check_fails(ferry_bundle_map("", &out), FERRY_ERR_ARG, "path is empty");
    check_fails(ferry_bundle_load("none", NULL), FERRY_ERR_ARG, "bundle_out is NULL");
    assert_ptr_equal(out, before);
    assert_int_equal(count_files(), 2);
    ferry_bundle_free(b);
}

static void write_bytes(const char *name, const void *data, size_t bytes)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, bytes), bytes);
    close(fd);
}

static void damaged(void **state)
{
    ferry_bundle *b = sample(100), *out = NULL;
    unsigned char *image;
    size_t bytes;
    (void)state;

    check_ok(ferry_bundle_encode(b, (void **)&image, &bytes));
    write_bytes("x", image, 0);
    check_fails(ferry_bundle_load("x", &out), FERRY_ERR_FORMAT, "x: 0 bytes, expected an image");
    check_fails(ferry_bundle_map("x", &out), FERRY_ERR_FORMAT, "x: 0 bytes, expected an image");
    write_bytes("x", image, bytes - 1);
    check_fails(ferry_bundle_load("x", &out), FERRY_ERR_FORMAT, "x: image: another total length");
    check_fails(ferry_bundle_map("x", &out), FERRY_ERR_FORMAT, "at byte 16");
    image[90] ^= 4;
    write_bytes("x", image, bytes);
    check_fails(ferry_bundle_load("x", &out), FERRY_ERR_FORMAT, "x: image: the checksum");
    check_fails(ferry_bundle_map("x", &out), FERRY_ERR_FORMAT, "x: image: the checksum");
    image[0] = 'P';
    write_bytes("x", image, bytes);
    check_fails(ferry_bundle_load("x", &out), FERRY_ERR_FORMAT, "no magic number at byte 0");
    assert_null(out);
    ferry_memory_give(image);
    ferry_bundle_free(b);
}

/* A disk that is full, as far as this process is concerned: what was there stays, nothing else. */
static void no_room(void **state)
{
    ferry_bundle *small = sample(3), *large = sample(1000000), *loaded = NULL;
    struct rlimit before, now;
    (void)state;

    check_ok(ferry_bundle_save(small, "x"));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    now = before;
    now.rlim_cur = 4 << 20;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
    check_fails(ferry_bundle_save(large, "x"), FERRY_ERR_SYSTEM,
                "x: cannot be written: File too large");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(count_files(), 1);
    check_ok(ferry_bundle_load("x", &loaded));
    assert_true(ferry_bundle_equal(small, loaded));
    ferry_bundle_free(loaded);
    ferry_bundle_free(large);
    ferry_bundle_free(small);
}

/* Whichever allocation fails: an error, and the file as it was. */
static void no_memory(void **state)
{
    ferry_bundle *b = sample(100), *other = sample(7);
    int failures = 0;
    (void)state;

    check_ok(ferry_bundle_save(other, "x"));
    for (uint64_t n = 1;; n++) {
        ferry_bundle *out = NULL;
        alloc_fail_at(n);
        ferry_status st = ferry_bundle_save(b, "x");
        if (st == FERRY_OK)
            st = ferry_bundle_map("x", &out);
        alloc_fail_at(0);
        ferry_bundle_free(out);
        if (st == FERRY_OK)
            break;
        assert_int_equal(st, FERRY_ERR_MEMORY);
        failures++;
        assert_int_equal(count_files(), 1);
    }
    assert_true(failures >= 2);
    ferry_bundle_free(other);
    ferry_bundle_free(b);
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ALONE(there_and_back), ALONE(attributes_between), ALONE(many_large_values), ALONE(mapped_life), ALONE(replaced),
        ALONE(refused_names),  ALONE(damaged),           ALONE(no_room),     ALONE(no_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
