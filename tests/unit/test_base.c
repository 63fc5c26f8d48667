/* base: texts, sizes, allocation, checksums, settings, system calls. */
#define _GNU_SOURCE 1
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/setting.h"
#include "base/size.h"
#include "base/sys.h"
#include "base/text.h"
#include "ferry/setting.h"
#include "ferry/version.h"

static void status_texts(void **state)
{
    (void)state;
    assert_string_equal(ferry_status_text(FERRY_OK), "success");
    assert_string_equal(ferry_status_text(FERRY_ERR_BUSY), "the object is in use by a round under way");
    assert_string_equal(ferry_status_text((ferry_status)-999), "a status that this library does not know");
    assert_int_equal(ferry_version(), FERRY_VERSION);
}

static void *other_thread(void *text_out)
{
    assert_string_equal(ferry_error_detail(), "");
    trouble(FERRY_ERR_ARG, "of the other thread");
    *(const char **)text_out = NULL;
    return NULL;
}

static void failures_of_libraries_above(void **state)
{
    (void)state;

    assert_int_equal(ferry_status_fail(FERRY_ERR_ARG, "rows is %d", -3), FERRY_ERR_ARG);
    assert_string_equal(ferry_error_detail(), "rows is -3");
    assert_int_equal(ferry_status_fail(FERRY_ERR_TYPE, "outer: %s", ferry_error_detail()), FERRY_ERR_TYPE);
    assert_string_equal(ferry_error_detail(), "outer: rows is -3");
    assert_int_equal(ferry_status_fail(FERRY_OK, "nothing"), FERRY_OK);
    assert_int_equal(ferry_status_fail(FERRY_ERR_ARG, NULL), FERRY_ERR_ARG);
    assert_string_equal(ferry_error_detail(), "outer: rows is -3");
}

static void trouble_is_kept_per_thread(void **state)
{
    char long_text[2 * TROUBLE_BYTES];
    pthread_t thread;
    const char *text = "";

    (void)state;
    assert_int_equal(trouble(FERRY_ERR_LIMIT, "count is %d", 7), FERRY_ERR_LIMIT);
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &text), 0);
    pthread_join(thread, NULL);
    assert_null(text);
    assert_string_equal(ferry_error_detail(), "count is 7");
    trouble(FERRY_ERR_ARG, "outer: %s", trouble_text()); /* the text kept may be an argument */
    assert_string_equal(trouble_text(), "outer: count is 7");
    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    trouble_keep(long_text);
    assert_int_equal(strlen(trouble_text()), TROUBLE_BYTES - 1);
}

static void sizes_that_overflow(void **state)
{
    size_t size = 0;
    int64_t offset = 0;

    (void)state;
    assert_true(size_add(SIZE_MAX - 1, 1, &size));
    assert_true(size == SIZE_MAX);
    assert_false(size_add(SIZE_MAX, 1, &size));
    assert_true(size_mul((size_t)1 << 32, ((size_t)1 << 32) - 1, &size));
    assert_false(size_mul((size_t)1 << 32, (size_t)1 << 32, &size));
    assert_true(offset_add(INT64_MAX, INT64_MIN, &offset));
    assert_int_equal(offset, -1);
    assert_false(offset_add(INT64_MIN, -1, &offset));
    assert_false(offset_mul(INT64_MIN, -1, &offset));
    assert_int_equal(size_round(65, 64), 128);
    assert_int_equal(size_round(64, 64), 64);
}

static void allocation_is_counted(void **state)
{
    const uint64_t before = alloc_count();
    int *numbers = NULL, *none = NULL;

    (void)state;
    check_ok(alloc_zero(100, sizeof *numbers, &numbers));
    for (int i = 0; i < 100; i++)
        assert_int_equal(numbers[i], 0);
    numbers[99] = 42;
    check_ok(alloc_resize(1000, sizeof *numbers, &numbers));
    assert_int_equal(numbers[99], 42);
    check_ok(alloc_zero(0, 8, &none));
    assert_int_equal(alloc_count(), before + 3);
    alloc_free(none);
    alloc_free(numbers);
    alloc_free(NULL);
}

static void allocation_that_fails(void **state)
{
    int *numbers = NULL;

    (void)state;
    check_fails(alloc_zero(SIZE_MAX, 2, &numbers), FERRY_ERR_MEMORY, "18446744073709551615 objects of 2 bytes");
    assert_null(numbers);
    alloc_fail_at(2);
    check_ok(alloc_zero(1, sizeof *numbers, &numbers));
    int *const first = numbers;
    assert_int_equal(alloc_resize(2, sizeof *numbers, &numbers), FERRY_ERR_MEMORY);
    assert_ptr_equal(numbers, first);
    check_ok(alloc_resize(2, sizeof *numbers, &numbers)); /* only once */
    alloc_free(numbers);
}

static void texts_are_cut_and_counted(void **state)
{
    char text[8] = "";
    text_out out = {.at = text, .room = sizeof text}, none = {0};

    (void)state;
    text_add(&out, "%s", "12345");
    text_add(&out, "%d", 6789);
    text_add(&out, "end");
    assert_string_equal(text, "1234567");
    assert_int_equal(out.needed, 12);
    text_add(&none, "%s", "12345");
    assert_int_equal(none.needed, 5);
}

static void expect_bytes(uint64_t bytes, const char *expected)
{
    char text[32];
    text_out out = {.at = text, .room = sizeof text};

    text_bytes(&out, bytes);
    assert_string_equal(text, expected);
}

static void byte_texts(void **state)
{
    (void)state;
    expect_bytes(0, "0 B");
    expect_bytes(17, "17 B");
    expect_bytes(1023, "1023 B");
    expect_bytes(64 << 10, "64 KiB");
    expect_bytes(3ull << 29, "1.5 GiB");
    expect_bytes(1000000, "976.6 KiB");
    expect_bytes(UINT64_MAX, "16.0 EiB");
}

static void distances(void **state)
{
    char long_word[300];

    (void)state;
    memset(long_word, 'x', sizeof long_word);
    long_word[sizeof long_word - 1] = '\0';
    assert_int_equal(text_distance("", ""), 0);
    assert_int_equal(text_distance("", "abc"), 3);
    assert_int_equal(text_distance("abc", ""), 3);
    assert_int_equal(text_distance("kitten", "sitting"), 3);
    assert_int_equal(text_distance("FERRY_ROUTE", "FERRY_RUTE"), 1);
    assert_int_equal(text_distance("a", long_word), 299);
    assert_int_equal(text_distance(long_word, "x"), 298);
}

static void checksums(void **state)
{
    static const struct {
        const char *text;
        uint32_t crc;
    } known[] = {{"", 0}, {"123456789", 0xe3069283}, {"a", 0xc1d04330}, {"abc", 0x364b3fb7}};
    unsigned char bytes[32];

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_int_equal(hash_crc32c(0, known[i].text, strlen(known[i].text)), known[i].crc);
        assert_int_equal(hash_crc32c_portable(0, known[i].text, strlen(known[i].text)), known[i].crc);
    }
    memset(bytes, 0, sizeof bytes); /* the four vectors of RFC 3720, B.4 */
    assert_int_equal(hash_crc32c(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(hash_crc32c(0, bytes, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (unsigned char)i;
    assert_int_equal(hash_crc32c(0, bytes, 32), 0x46dd794e);
    for (int i = 0; i < 32; i++)
        bytes[i] = (unsigned char)(31 - i);
    assert_int_equal(hash_crc32c(0, bytes, 32), 0x113fdb5c);
}

/* Both ways agree for every length, alignment and cut. */
static void checksums_continue(void **state)
{
    unsigned char bytes[200];

    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + 11);
    for (size_t from = 0; from < 9; from++)
        for (size_t to = from; to <= sizeof bytes; to++) {
            const size_t middle = from + (to - from) / 3;
            const uint32_t whole = hash_crc32c(0, bytes + from, to - from);
            assert_int_equal(hash_crc32c_portable(0, bytes + from, to - from), whole);
            assert_int_equal(hash_crc32c(hash_crc32c(0, bytes + from, middle - from), bytes + middle, to - middle),
                             whole);
        }
}

static void hashes_differ(void **state)
{
    char text[64] = "abcdefgh";
    const uint64_t before = hash_bytes(HASH_START, text, sizeof text);

    (void)state;
    assert_true(before == hash_bytes(HASH_START, text, sizeof text));
    for (size_t i = 0; i < sizeof text; i++) {
        text[i] ^= 1;
        assert_true(before != hash_bytes(HASH_START, text, sizeof text));
        text[i] ^= 1;
    }
    assert_true(hash_bytes(HASH_START, text, 63) != before);
    assert_true(hash_bytes(HASH_START, "", 0) != HASH_START);
}

static void settings_come_from_the_environment(void **state)
{
    ferry_setting_info info;
    int count = 0;

    (void)state;
    unsetenv("FERRY_ROUTE");
    assert_string_equal(setting_text(SETTING_ROUTE), "all");
    assert_false(setting_from_environment(SETTING_ROUTE));
    setenv("FERRY_ROUTE", "", 1);
    assert_string_equal(setting_text(SETTING_ROUTE), "all");
    setenv("FERRY_ROUTE", "self", 1);
    check_ok(ferry_setting(SETTING_ROUTE, &info));
    assert_string_equal(info.name, "FERRY_ROUTE");
    assert_string_equal(info.value, "self");
    assert_string_equal(info.origin, "environment");
    unsetenv("FERRY_ROUTE");
    check_ok(ferry_setting(SETTING_ROUTE, &info));
    assert_string_equal(info.origin, "default");
    while (ferry_setting(count, &info) == FERRY_OK)
        count++;
    assert_int_equal(count, SETTING_COUNT);
    check_fails(ferry_setting(-1, &info), FERRY_ERR_NOT_FOUND, "index is -1");
    check_fails(ferry_setting(0, NULL), FERRY_ERR_ARG, "info_out is NULL");
}

static void byte_settings(void **state)
{
    static const struct {
        const char *text;
        size_t bytes;
    } good[] = {{"0", 0}, {"17", 17}, {"64K", 65536}, {"3m", 3u << 20}, {"2G", 2ul << 30}, {"1T", 1ul << 40},
                {"18446744073709551615", SIZE_MAX}};
    static const char *const bad[] = {"", "K", "-1", "+1", " 1", "1 ", "1KB", "1.5G", "0x10", "18446744073709551616",
                                      "18014398509481984K", "auto"};
    size_t bytes;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(setting_bytes(good[i].text, &bytes));
        assert_true(bytes == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (setting_bytes(bad[i], &bytes))
            fail_msg("\"%s\" was accepted", bad[i]);
}

/* What `speak` writes to stderr. */
static void listen(void (*speak)(void), char *text_out, size_t room)
{
    const int kept = dup(STDERR_FILENO);
    FILE *const file = tmpfile();

    fflush(stderr);
    dup2(fileno(file), STDERR_FILENO);
    speak();
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    text_out[fread(text_out, 1, room - 1, file)] = '\0';
    fclose(file);
}

static void speak_of_unknown(void)
{
    setting_warn_unknown();
    setting_warn_unknown(); /* once a process */
}

static void unknown_settings_are_warned_about(void **state)
{
    char text[1024];

    (void)state;
    unsetenv("FERRY_LOG");
    setenv("FERRY_TIMEOUTS", "3", 1);
    setenv("FERRYMAN", "3", 1);
    listen(speak_of_unknown, text, sizeof text);
    assert_string_equal(text,
                        "ferry: warning: FERRY_TIMEOUTS is not a setting of ferry; did you mean FERRY_TIMEOUT?\n");
}

static void speak_on_all_levels(void)
{
    log_line(LOG_WARN, "one %d", 1);
    log_line(LOG_INFO, "two");
}

static void log_levels(void **state)
{
    char text[1024];

    (void)state;
    setenv("FERRY_LOG", "info", 1);
    listen(speak_on_all_levels, text, sizeof text);
    assert_string_equal(text, "ferry: warning: one 1\nferry: two\n");
    setenv("FERRY_LOG", "none", 1);
    listen(speak_on_all_levels, text, sizeof text);
    assert_string_equal(text, "");
    unsetenv("FERRY_LOG");
    listen(speak_on_all_levels, text, sizeof text);
    assert_string_equal(text, "ferry: warning: one 1\n");
}

static void shared_memory_and_waking(void **state)
{
    const int fd = sys_memfd("ferry-test");
    const uint64_t calls = sys_call_count(), waits = sys_wait_count();
    int status = 0;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    assert_int_equal(sys_fallocate(fd, 0, 0, 8192), 0);
    assert_int_equal(sys_seal(fd, F_SEAL_SHRINK), 0);
    assert_int_equal(sys_truncate(fd, 4096), -1);
    char *const space = sys_reserve(16384);
    assert_true(space != MAP_FAILED);
    uint32_t *const word = sys_map_shared(space + 4096, 8192, fd);
    assert_ptr_equal(word, space + 4096);
    assert_ptr_equal(sys_map_private(space, 4096), space);
    space[0] = 1;
    const pid_t child = fork();
    if (child == 0) {
        sys_nap(20000000);
        __atomic_store_n(word, 7, __ATOMIC_SEQ_CST);
        sys_wake(word);
        _exit(0);
    }
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == 0)
        sys_sleep_on(word, 0, -1);
    assert_int_equal(*word, 7);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    const int64_t before = sys_now_ns();
    sys_sleep_on(word, 6, 60000000000); /* the word differs already */
    assert_true(sys_now_ns() - before < 30000000000);
    sys_sleep_on(word, 7, 2000000);
    assert_true(sys_now_ns() - before >= 2000000);
    assert_int_equal(sys_advise(word, 8192, MADV_NORMAL), 0);
    assert_int_equal(sys_unmap(space, 16384), 0);
    assert_int_equal(sys_close(fd), 0);
    assert_int_equal(sys_call_count() - calls, 9);
    assert_true(sys_wait_count() - waits >= 3);
}

static void facts_of_the_machine(void **state)
{
    uint64_t mask[128];
    char boot[64], again[64];

    (void)state;
    assert_true(sys_memory_total() >= (uint64_t)64 << 20);
    assert_true(sys_memory_free() <= sys_memory_total());
    assert_true(sys_memory_free() > 0);
    const int allowed = sys_affinity(mask, 128);
    int bits = 0;
    for (int i = 0; i < 128; i++)
        bits += __builtin_popcountll(mask[i]);
    assert_int_equal(bits, allowed);
    assert_in_range(sys_cores(), 1, allowed);
    assert_true(sys_boot_id(boot) && sys_boot_id(again));
    assert_int_equal(strlen(boot), 36);
    assert_string_equal(boot, again);
    assert_true(sys_random() != sys_random());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_texts),
        cmocka_unit_test(trouble_is_kept_per_thread),
        cmocka_unit_test(failures_of_libraries_above),
        cmocka_unit_test(sizes_that_overflow),
        cmocka_unit_test(allocation_is_counted),
        cmocka_unit_test(allocation_that_fails),
        cmocka_unit_test(texts_are_cut_and_counted),
        cmocka_unit_test(byte_texts),
        cmocka_unit_test(distances),
        cmocka_unit_test(checksums),
        cmocka_unit_test(checksums_continue),
        cmocka_unit_test(hashes_differ),
        cmocka_unit_test(settings_come_from_the_environment),
        cmocka_unit_test(byte_settings),
        cmocka_unit_test(unknown_settings_are_warned_about),
        cmocka_unit_test(log_levels),
        cmocka_unit_test(shared_memory_and_waking),
        cmocka_unit_test(facts_of_the_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
