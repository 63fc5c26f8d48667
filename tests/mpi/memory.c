/* Memory that peers read: of ferry_memory_alloc(), and the program's own, adopted where it is. What may be adopted, that
 * nothing of it or beside it is lost whatever fails, and what a child process gets of it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "mpi/plan.h"

enum { PAGE = 4096, HUGE = 2 << 20 };

static void fill(unsigned char *data, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(i * 31 + (i >> 9) + seed);
}

static size_t wrong(const unsigned char *data, size_t bytes, unsigned seed)
{
    size_t count = 0;

    for (size_t i = 0; i < bytes; i++)
        count += data[i] != (unsigned char)(i * 31 + (i >> 9) + seed);
    return count;
}

/* Rows of 128 bytes every 192, from a third of the way into the page: to the next rank. */
static ferry_plan *ring_of_rows(ferry_context *ctx, int64_t rows)
{
    const ferry_context_info info = plan_info_of(ctx);
    ferry_edge edges[2] = {FERRY_EDGE_INIT, FERRY_EDGE_INIT};
    const int64_t stride = 192;
    ferry_layout *layout = NULL;
    ferry_plan *plan = NULL;

    CHECK_OK(ferry_layout_strided(1, &rows, &stride, 128, 1000, &layout));
    for (int i = 0; i < 2; i++) {
        edges[i].from = i == 0 ? info.rank : (info.rank + info.size - 1) % info.size;
        edges[i].to = i == 0 ? (info.rank + 1) % info.size : info.rank;
        edges[i].source = edges[i].target = layout;
    }
    CHECK_OK(ferry_plan_compile(ctx, edges, info.size == 1 ? 1 : 2, &plan));
    ferry_layout_free(layout);
    return plan;
}

static size_t wrong_rows(const unsigned char *data, int64_t rows, unsigned seed)
{
    size_t count = 0;

    for (size_t i = 0; i < (size_t)rows; i++)
        for (size_t k = 1000 + i * 192; k < 1000 + i * 192 + 128; k++)
            count += data[k] != (unsigned char)(k * 31 + (k >> 9) + seed);
    return count;
}

/* One round out of `data`; returns the bytes that were copied for it. */
static uint64_t round_of(ferry_context *ctx, ferry_plan *plan, int64_t rows, unsigned char *data, size_t bytes, unsigned seed)
{
    const ferry_context_info info = plan_info_of(ctx);
    unsigned char *const target = calloc(1, bytes);
    ferry_counters before, after;

    fill(data, bytes, seed + (unsigned)info.rank);
    CHECK_OK(ferry_context_counters(ctx, &before));
    CHECK_OK(ferry_plan_start(plan, data, target));
    CHECK_OK(ferry_plan_wait(plan));
    CHECK_OK(ferry_context_counters(ctx, &after));
    CHECK_EQ_INT(wrong_rows(target, rows, seed + (unsigned)((info.rank + info.size - 1) % info.size)), 0);
    CHECK_EQ_INT(target[999], 0);
    CHECK_EQ_INT(wrong(data, bytes, seed + (unsigned)info.rank), 0);
    MPI_Barrier(MPI_COMM_WORLD);
    free(target);
    return after.copied_bytes - before.copied_bytes;
}

/* Rounds before, with and after adoption are right, and with it each byte is copied once where node_direct carries. */
static void rounds_out_of_it(ferry_context *ctx)
{
    enum { ROWS = 4000 };
    const ferry_context_info info = plan_info_of(ctx);
    const bool direct = strcmp(getenv("FERRY_ROUTE"), "node_direct") == 0 && info.size > 1;
    const size_t bytes = 1000 + ROWS * 192 + 777;
    unsigned char *const data = malloc(bytes);

    setenv("FERRY_TUNE", "off", 1); /* no trial of other ways */
    ferry_plan *const plan = ring_of_rows(ctx, ROWS);
    for (unsigned cycle = 0; cycle < 3; cycle++) {
        round_of(ctx, plan, ROWS, data, bytes, 10 + cycle);
        CHECK_OK(ferry_memory_adopt(ctx, data, bytes));
        CHECK_EQ_INT(wrong(data, bytes, 10 + cycle + (unsigned)info.rank), 0);
        uint64_t copied = 0;
        for (unsigned i = 0; i < 3; i++)
            copied = round_of(ctx, plan, ROWS, data, bytes, 20 + i);
        if (direct && !strcmp(info.shared_memory, "memfd"))
            CHECK_EQ_INT(copied, ROWS * 128);
        fill(data, bytes, 77);
        CHECK_OK(ferry_memory_release(ctx, data));
        CHECK_EQ_INT(wrong(data, bytes, 77), 0);
    }
    round_of(ctx, plan, ROWS, data, bytes, 40);
    ferry_plan_free(plan);
    free(data);
    unsetenv("FERRY_TUNE");
}

/* ---- What cannot be adopted ---- */

static unsigned char *map(size_t pages, int rights, int flags, int fd)
{
    unsigned char *const data = mmap(NULL, pages * PAGE, rights, flags, fd, 0);

    CHECK(data != MAP_FAILED);
    return data;
}

static void refuse(ferry_context *ctx, void *data, size_t bytes, const char *words)
{
    if (CHECK_EQ_INT(ferry_memory_adopt(ctx, data, bytes), FERRY_ERR_ARG))
        CHECK_DETAIL(words);
    else
        fprintf(stderr, "  expected: %s\n", words);
}

static void refuse_pages(ferry_context *ctx, unsigned char *data, const char *words)
{
    refuse(ctx, data, 4 * PAGE, words);
    munmap(data, 4 * PAGE);
}

static void refuse_kinds(ferry_context *ctx)
{
    enum { RW = PROT_READ | PROT_WRITE, ANON = MAP_PRIVATE | MAP_ANONYMOUS };
    const int file = memfd_create("file", 0);
    unsigned char *data;

    CHECK_EQ_INT(ftruncate(file, 4 * PAGE), 0);
    refuse_pages(ctx, map(4, RW, MAP_SHARED | MAP_ANONYMOUS, -1), "it is shared already");
    refuse_pages(ctx, map(4, RW, MAP_SHARED, file), "it is shared already, a mapping of /memfd:file");
    refuse_pages(ctx, map(4, RW, MAP_PRIVATE, file), "it is a mapping of the file /memfd:file");
    refuse_pages(ctx, map(4, PROT_READ, ANON, -1), "its rights are r--p");
    refuse_pages(ctx, map(4, PROT_NONE, ANON, -1), "its rights are ---p");
    data = mmap(NULL, 4 * PAGE, RW | PROT_EXEC, ANON, -1, 0);
    if (data != MAP_FAILED) /* some systems have no such memory */
        refuse_pages(ctx, data, "it is executable");
    data = map(4, RW, ANON, -1);
    if (mlock(data + PAGE, PAGE) == 0)
        refuse_pages(ctx, data, "it is locked (mlock)");
    data = map(4, RW, ANON, -1);
    madvise(data, 2 * PAGE, MADV_DONTFORK);
    refuse_pages(ctx, data, "not passed on by fork");
    data = map(4, RW, ANON, -1);
    madvise(data, PAGE, MADV_WIPEONFORK);
    refuse_pages(ctx, data, "emptied by fork");
    data = map(4, RW, ANON, -1);
    munmap(data + 2 * PAGE, PAGE);
    refuse_pages(ctx, data, "nothing is mapped at");
    data = mmap(NULL, HUGE, RW, ANON | MAP_HUGETLB, -1, 0);
    if (data != MAP_FAILED) { /* there are such pages where somebody has set them apart */
        refuse(ctx, data, 4 * PAGE, "hugetlbfs");
        munmap(data, HUGE);
    }
    close(file);
}

static void refusals(ferry_context *ctx)
{
    unsigned char stack[3 * PAGE];
    unsigned char *const data = map(8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

    refuse_kinds(ctx);
    memset(stack, 1, sizeof stack);
    refuse(ctx, stack, sizeof stack, "stack");
    CHECK_EQ_INT(stack[2 * PAGE], 1);
    refuse(ctx, NULL, PAGE, "data is NULL");
    refuse(NULL, data, PAGE, "ctx is NULL");
    refuse(ctx, data, 0, "no whole page");
    refuse(ctx, data + 1, 2 * PAGE - 2, "no whole page");
    refuse(ctx, data, SIZE_MAX - 5, "beyond all addresses");
    CHECK_OK(ferry_memory_adopt(ctx, data + 2 * PAGE, 2 * PAGE));
    refuse(ctx, data + 2 * PAGE, 2 * PAGE, "adopted already");
    refuse(ctx, data, 8 * PAGE, "adopted already");
    refuse(ctx, data + 3 * PAGE + 5, 2 * PAGE, "adopted already");
    CHECK_EQ_INT(ferry_memory_release(ctx, data), FERRY_ERR_NOT_FOUND);
    CHECK_DETAIL("no adopted block starts at");
    CHECK_EQ_INT(ferry_memory_release(NULL, data), FERRY_ERR_ARG);
    CHECK_OK(ferry_memory_release(ctx, NULL));
    CHECK_OK(ferry_memory_release(ctx, data + 2 * PAGE));
    CHECK_EQ_INT(ferry_memory_release(ctx, data + 2 * PAGE), FERRY_ERR_NOT_FOUND);
    CHECK_OK(ferry_memory_adopt(ctx, data, 8 * PAGE));
    CHECK_OK(ferry_memory_release(ctx, data));
    munmap(data, 8 * PAGE);
}

/* ---- What lies beside it ---- */

/* Blocks of malloc's heap that meet in the middle of pages, all adopted, released in another order than they came. */
static void neighbours(ferry_context *ctx)
{
    enum { BLOCKS = 5, BYTES = 3 * PAGE + 1000 };
    unsigned char *blocks[BLOCKS];

    mallopt(M_MMAP_THRESHOLD, 64 << 20);
    for (unsigned i = 0; i < BLOCKS; i++)
        fill(blocks[i] = malloc(BYTES), BYTES, i);
    for (unsigned i = 0; i < BLOCKS; i++)
        CHECK_OK(ferry_memory_adopt(ctx, blocks[i], BYTES));
    for (unsigned i = 0; i < 200; i++) /* malloc works beside and between them */
        free(malloc(100 + i * 97));
    for (unsigned i = 0; i < BLOCKS; i++)
        CHECK_EQ_INT(wrong(blocks[i], BYTES, i), 0);
    for (unsigned i = 0; i < BLOCKS; i++) {
        unsigned char *const block = blocks[i * 2 % BLOCKS];
        fill(block, BYTES, 50 + i);
        CHECK_OK(ferry_memory_release(ctx, block));
        CHECK_EQ_INT(wrong(block, BYTES, 50 + i), 0);
    }
    for (unsigned i = 0; i < BLOCKS; i++)
        CHECK_EQ_INT(wrong(blocks[i * 2 % BLOCKS], BYTES, 50 + i), 0);
    for (unsigned i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    unsigned char *const zeros = calloc(1, 40 * PAGE);
    for (size_t i = 0; i < 40 * PAGE; i++)
        CHECK(zeros[i] == 0);
    free(zeros);
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

typedef struct beside {
    _Atomic uint64_t *word;
    uint64_t written;
    atomic_bool stop;
} beside;

static void *count_beside(void *argument)
{
    beside *const b = argument;

    while (!atomic_load_explicit(&b->stop, memory_order_relaxed))
        atomic_store_explicit(b->word, ++b->written, memory_order_relaxed);
    return NULL;
}

/* Another thread writes to what lies in the same page all the while, and loses nothing. */
static void busy_neighbour(ferry_context *ctx)
{
    unsigned char *const data = map(8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    beside b = {.word = (_Atomic uint64_t *)data};
    pthread_t thread;
    const int held = sys_hold(data, PAGE);

    if (held >= 0)
        close(held);
    if (held < 0 || pthread_create(&thread, NULL, count_beside, &b) != 0) {
        munmap(data, 8 * PAGE);
        return; /* this kernel has no way to hold a page */
    }
    uint64_t last = 0, lost = 0;
    for (int i = 0; i < 30; i++) {
        CHECK_OK(ferry_memory_adopt(ctx, data + 64, 7 * PAGE));
        lost += atomic_load(b.word) < last;
        last = atomic_load(b.word);
        CHECK_OK(ferry_memory_release(ctx, data + 64));
        lost += atomic_load(b.word) < last;
        last = atomic_load(b.word);
    }
    atomic_store(&b.stop, true);
    pthread_join(thread, NULL);
    CHECK_EQ_INT(lost, 0);
    CHECK_EQ_INT(atomic_load(b.word), b.written);
    munmap(data, 8 * PAGE);
}

/* ---- Failures ---- */

/* Whichever call fails half way: the memory is as it was, and private. */
static void failing_calls(ferry_context *ctx)
{
    const size_t bytes = (34 << 20) + 12345;
    unsigned char *const data = malloc(bytes);
    const sys_kind kinds[] = {SYS_FALLOCATE, SYS_MAP};
    const bool shared = strcmp(plan_info_of(ctx).shared_memory, "none") != 0;

    fill(data, bytes, 5);
    for (size_t k = 0; k < 2 && shared; k++) {
        ferry_status st = FERRY_ERR_MEMORY;
        for (int n = 1; n < 1000 && st != FERRY_OK; n += n < 4 ? 1 : 1 + n / 2) {
            sys_fail_at(kinds[k], n, ENOSPC);
            st = ferry_memory_adopt(ctx, data, bytes);
            sys_fail_at(kinds[k], 0, 0);
            CHECK(st == FERRY_OK || st == FERRY_ERR_MEMORY || st == FERRY_ERR_SYSTEM);
            if (st != FERRY_OK)
                CHECK_EQ_INT(ferry_memory_release(ctx, data), FERRY_ERR_NOT_FOUND);
        }
        CHECK_OK(st);
        CHECK_EQ_INT(wrong(data, bytes, 5), 0);
        sys_fail_at(SYS_MAP, -1, ENOMEM); /* and no way back either */
        CHECK_EQ_INT(ferry_memory_release(ctx, data), FERRY_ERR_MEMORY);
        sys_fail_at(SYS_MAP, 0, 0);
        CHECK_EQ_INT(wrong(data, bytes, 5), 0);
        CHECK_OK(ferry_memory_release(ctx, data));
        CHECK_EQ_INT(wrong(data, bytes, 5), 0);
    }
    sys_fail_at(SYS_FALLOCATE, -1, ENOSPC); /* shared memory is at its end: private memory serves */
    void *other = NULL;
    CHECK_OK(ferry_memory_alloc(ctx, 3 * HUGE, &other));
    sys_fail_at(SYS_FALLOCATE, 0, 0);
    memset(other, 1, 3 * HUGE);
    ferry_memory_free(ctx, other);
    free(data);
}

/* Freed before it was released: said, and what is there by now is left alone. */
static void forgotten(ferry_context *ctx)
{
    const bool shared = strcmp(plan_info_of(ctx).shared_memory, "none") != 0;
    enum { RW = PROT_READ | PROT_WRITE, ANON = MAP_PRIVATE | MAP_ANONYMOUS };
    unsigned char *const data = map(8, RW, ANON, -1);

    CHECK_OK(ferry_memory_adopt(ctx, data, 8 * PAGE));
    munmap(data, 8 * PAGE);
    CHECK_EQ_INT(ferry_memory_release(ctx, data), shared ? FERRY_ERR_STATE : FERRY_OK);
    if (shared)
        CHECK_DETAIL("freed or mapped anew before it was released");
    CHECK(mmap(data, 8 * PAGE, RW, ANON | MAP_FIXED, -1, 0) == data);
    CHECK_OK(ferry_memory_adopt(ctx, data, 8 * PAGE));
    munmap(data, 8 * PAGE);
    CHECK(mmap(data, 8 * PAGE, RW, ANON | MAP_FIXED, -1, 0) == data);
    fill(data, 8 * PAGE, 3);
    CHECK_EQ_INT(ferry_memory_release(ctx, data), shared ? FERRY_ERR_STATE : FERRY_OK);
    CHECK_EQ_INT(wrong(data, 8 * PAGE, 3), 0);
    munmap(data, 8 * PAGE);
}

/* What is still adopted when a context ends is private again, with its content. */
static void end_of_the_context(void)
{
    ferry_context *const ctx = context_over(MPI_COMM_WORLD);
    const size_t bytes = 3 * HUGE + 99;
    unsigned char *const data = malloc(bytes), *const gone = map(4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

    CHECK_OK(ferry_memory_adopt(ctx, data, bytes));
    CHECK_OK(ferry_memory_adopt(ctx, gone, 4 * PAGE));
    munmap(gone, 4 * PAGE);
    fill(data, bytes, 9);
    ferry_context_free(ctx);
    CHECK_EQ_INT(wrong(data, bytes, 9), 0);
    ferry_context *const later = context_over(MPI_COMM_WORLD);
    CHECK_OK(ferry_memory_adopt(later, data, bytes)); /* it would not be private anonymous memory otherwise */
    CHECK_OK(ferry_memory_release(later, data));
    ferry_context_free(later);
    CHECK_EQ_INT(wrong(data, bytes, 9), 0);
    free(data);
}

/* ---- Children ---- */

typedef struct family {
    ferry_context *ctx;
    unsigned char *adopted, *allocated, *beside;
    size_t bytes;
} family;

/* The child sees what the parent has, and writes everywhere. Its exit status says what was wrong. */
static int child(const family *f)
{
    int bad = 0;

    bad |= wrong(f->adopted, f->bytes, 1) ? 1 : 0;
    bad |= wrong(f->allocated, f->bytes, 2) ? 2 : 0;
    bad |= *f->beside != 88 ? 4 : 0; /* the parent has changed it by now */
    memset(f->adopted, 200, f->bytes);
    memset(f->allocated, 201, f->bytes);
    *f->beside = 99;
    for (size_t i = 0; i < f->bytes; i += 77)
        bad |= f->adopted[i] != 200 || f->allocated[i] != 201 ? 8 : 0;
    bad |= ferry_memory_adopt(f->ctx, f->adopted, f->bytes) != FERRY_ERR_STATE ? 16 : 0;
    bad |= ferry_memory_release(f->ctx, f->adopted) != FERRY_OK ? 32 : 0;
    ferry_memory_free(f->ctx, f->allocated); /* an exit handler may do so */
    ferry_context_free(f->ctx);
    return bad;
}

static void a_child_writes(family *f)
{
    int go[2], status = -1;
    char byte = 0;

    CHECK_EQ_INT(pipe(go), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        if (read(go[0], &byte, 1) != 1)
            _exit(64);
        _exit(child(f));
    }
    *f->beside = 89; /* after the fork */
    CHECK_EQ_INT(write(go[1], &byte, 1), 1);
    CHECK_EQ_INT(waitpid(pid, &status, 0), pid);
    CHECK_EQ_INT(status, 0);
    CHECK_EQ_INT(wrong(f->adopted, f->bytes, 1), 0);
    CHECK_EQ_INT(wrong(f->allocated, f->bytes, 2), 0);
    CHECK_EQ_INT(*f->beside, 89);
    close(go[0]);
    close(go[1]);
}

static void children(ferry_context *ctx)
{
    enum { ROWS = 3000 };
    family f = {.ctx = ctx, .bytes = 1000 + ROWS * 192 + 500};
    ferry_plan *const plan = ring_of_rows(ctx, ROWS);
    unsigned char *const whole = map(1 + f.bytes / PAGE + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    char line[16] = "";

    f.beside = whole;
    f.adopted = whole + 64;
    *f.beside = 88;
    CHECK_OK(ferry_memory_adopt(ctx, f.adopted, f.bytes));
    CHECK_OK(ferry_memory_alloc(ctx, f.bytes, (void **)&f.allocated));
    round_of(ctx, plan, ROWS, f.adopted, f.bytes, 60);
    fill(f.adopted, f.bytes, 1);
    fill(f.allocated, f.bytes, 2);
    a_child_writes(&f);
    *f.beside = 88;
    a_child_writes(&f);
    for (unsigned i = 0; i < 3; i++) {
        round_of(ctx, plan, ROWS, f.adopted, f.bytes, 61 + i);
        round_of(ctx, plan, ROWS, f.allocated, f.bytes, 71 + i);
    }
    CHECK_EQ_INT(system("exit 3"), 3 << 8);
    FILE *const pipe_of = popen("echo word", "r");
    if (CHECK(pipe_of != NULL)) {
        CHECK(fgets(line, sizeof line, pipe_of) != NULL && strcmp(line, "word\n") == 0);
        CHECK_EQ_INT(pclose(pipe_of), 0);
    }
    round_of(ctx, plan, ROWS, f.adopted, f.bytes, 80);
    CHECK_OK(ferry_memory_release(ctx, f.adopted));
    ferry_memory_free(ctx, f.allocated);
    ferry_plan_free(plan);
    munmap(whole, (1 + f.bytes / PAGE + 1) * PAGE);
}

/* ---- Huge pages ---- */

/* KiB of huge pages in the mapping at `address`. */
static long huge_at(const void *address)
{
    FILE *const file = fopen("/proc/self/smaps", "r");
    unsigned long start, end;
    bool inside = false;
    char line[512];
    long kib = 0;

    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
            inside = (unsigned long)address >= start && (unsigned long)address < end;
        else if (inside && (strncmp(line, "ShmemPmdMapped:", 15) == 0 || strncmp(line, "FilePmdMapped:", 14) == 0))
            kib += atol(strchr(line, ':') + 1);
    }
    if (file)
        fclose(file);
    return kib;
}

/* Can this kernel make shared pages huge at all? */
static bool kernel_can(void)
{
    const int file = memfd_create("huge", 0);
    unsigned char *const room = map(2 * HUGE / PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    unsigned char *const at = room + (HUGE - (uintptr_t)room % HUGE) % HUGE;
    bool can = ftruncate(file, HUGE) == 0 && mmap(at, HUGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == at;

    if (can) {
        at[0] = 1;
        can = madvise(at, HUGE, 25 /* MADV_COLLAPSE */) == 0 && huge_at(at) > 0;
    }
    munmap(room, 2 * HUGE);
    close(file);
    return can;
}

static long faults_of(unsigned char *data, size_t bytes)
{
    struct rusage before, after;

    getrusage(RUSAGE_SELF, &before);
    for (size_t i = 0; i < bytes; i += PAGE)
        data[i] = 1;
    getrusage(RUSAGE_SELF, &after);
    return after.ru_minflt - before.ru_minflt;
}

static void huge_pages(ferry_context *ctx)
{
    const ferry_context_info info = plan_info_of(ctx);
    const size_t bytes = 8 * HUGE;
    unsigned char *data = NULL;

    CHECK_OK(ferry_memory_alloc(ctx, bytes, (void **)&data));
    CHECK_EQ_INT((uintptr_t)data % HUGE, 0);
    CHECK(faults_of(data, bytes) <= 8 + 64); /* one for each huge page, or none; not one for each page */
    const bool shared = strcmp(info.shared_memory, "none") != 0, can = shared && kernel_can();
    if (can)
        CHECK(huge_at(data) >= (long)(bytes >> 10));
    else if (shared && info.rank == 0 && plan_first_way())
        printf("skipped: no huge pages for shared memory here\n");
    ferry_memory_free(ctx, data);
    data = malloc(bytes + HUGE);
    memset(data, 1, bytes + HUGE);
    CHECK_OK(ferry_memory_adopt(ctx, data, bytes + HUGE));
    if (can)
        CHECK(huge_at(data) >= (long)(bytes >> 10));
    CHECK_EQ_INT(faults_of(data, bytes), 0);
    CHECK_OK(ferry_memory_release(ctx, data));
    free(data);
}

void check_memory(ferry_context *ctx)
{
    rounds_out_of_it(ctx);
    if (plan_first_way()) { /* nothing of this depends on routes */
        refusals(ctx);
        neighbours(ctx);
        busy_neighbour(ctx);
        failing_calls(ctx);
    }
    forgotten(ctx);
    end_of_the_context();
    children(ctx);
    huge_pages(ctx);
}
