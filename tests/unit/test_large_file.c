/* Files beyond 2^31 and 2^32 bytes: images saved, loaded and mapped, .npz written and read. Slow; skipped where
 * there is no room. The arrays are pages of zeros, with marks around the places where 32-bit numbers end. */
#include "unit/check.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "ferry/bundle_file.h"
#include "ferry/convert.h"

#define LARGE ((size_t)1 << 32)
enum { MORE = 12345, SKIPPED = 77 };

static char folder[64];

static const size_t marks[] = {0, ((size_t)1 << 31) - 1, (size_t)1 << 31, LARGE - 1, LARGE, LARGE + MORE - 1};
enum { MARKS = sizeof marks / sizeof marks[0] };

static unsigned char *bytes;

static ferry_bundle *make(void)
{
    const int64_t shape[] = {LARGE + MORE};
    ferry_bundle *b = NULL;

    check_ok(ferry_bundle_new(&b));
    check_ok(ferry_bundle_borrow_array(b, "large", FERRY_TYPE_UINT8, 1, shape, NULL, bytes));
    check_ok(ferry_bundle_set_int32(b, "behind", 7));
    check_ok(ferry_bundle_set_array(b, "also", FERRY_TYPE_UINT8, 1, (int64_t[]){1000}, NULL, bytes));
    return b;
}

static void check_all(const ferry_bundle *b)
{
    ferry_array large;
    int32_t behind;

    check_ok(ferry_bundle_get_array(b, "large", FERRY_TYPE_UINT8, &large));
    assert_true(large.shape[0] == LARGE + MORE);
    for (int i = 0; i < MARKS; i++)
        assert_int_equal(((const unsigned char *)large.data)[marks[i]], i + 1);
    assert_int_equal(((const unsigned char *)large.data)[LARGE + 1], 0);
    check_ok(ferry_bundle_get_int32(b, "behind", &behind));
    assert_int_equal(behind, 7);
    check_ok(ferry_bundle_get_array(b, "also", FERRY_TYPE_UINT8, &large));
    assert_int_equal(((const unsigned char *)large.data)[0], 1);
}

static void images(void **state)
{
    ferry_bundle *b = make(), *back = NULL;
    struct stat file;
    (void)state;

    check_ok(ferry_bundle_save(b, "x.ferry"));
    assert_int_equal(stat("x.ferry", &file), 0);
    assert_true((size_t)file.st_size > LARGE + MORE);
    check_ok(ferry_bundle_map("x.ferry", &back));
    check_all(back);
    ferry_bundle_free(back);
    check_ok(ferry_bundle_load("x.ferry", &back));
    check_all(back);
    ferry_bundle_free(back);
    ferry_bundle_free(b);
    unlink("x.ferry");
}

static void archives(void **state)
{
    ferry_bundle *b = make(), *back = NULL;
    (void)state;

    check_ok(ferry_convert_save_npz(b, "x.npz"));
    ferry_bundle_free(b);
    check_ok(ferry_convert_load_npz("x.npz", &back));
    check_all(back);
    ferry_bundle_free(back);
    unlink("x.npz");
}

static bool room(void)
{
    struct statvfs disk;
    const uint64_t pages = (uint64_t)sysconf(_SC_AVPHYS_PAGES), page = (uint64_t)sysconf(_SC_PAGESIZE);

    return statvfs(".", &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize > 2 * LARGE &&
           pages * page > 3 * LARGE;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(images), cmocka_unit_test(archives)};
    const char *const parent = getenv("TMPDIR");
    char command[96];

    snprintf(folder, sizeof folder, "%.30s/ferry-test-large.XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    int status = SKIPPED;
    if (room()) {
        bytes = mmap(NULL, LARGE + MORE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        for (int i = 0; bytes != MAP_FAILED && i < MARKS; i++)
            bytes[marks[i]] = (unsigned char)(i + 1);
        status = bytes == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
    } else {
        puts("skipped: no 8 GiB of disk and 12 GiB of memory for large files");
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") == 0 && system(command) == 0 ? status : 1;
}
