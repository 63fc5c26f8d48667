/* System calls, counted. Nothing is decided here: each function is one call. */
#define _GNU_SOURCE 1
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/mempolicy.h>
#include <linux/userfaultfd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

static atomic_uint_least64_t calls;
static atomic_uint_least64_t waits;

static void count(atomic_uint_least64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* ---- Failures on demand ---- */

static struct {
    atomic_int left; /* calls until the failure; 0: never */
    atomic_bool lasting;
    int error;
} failing[SYS_KINDS];

void sys_fail_at(sys_kind kind, int n, int error)
{
    failing[kind].error = error;
    atomic_store(&failing[kind].lasting, n < 0);
    atomic_store(&failing[kind].left, n < 0 ? -n : n);
}

static bool fails(sys_kind kind)
{
    if (atomic_load_explicit(&failing[kind].left, memory_order_relaxed) == 0)
        return false;
    if (atomic_fetch_sub(&failing[kind].left, 1) > 1)
        return false;
    if (atomic_load(&failing[kind].lasting))
        atomic_store(&failing[kind].left, 1);
    errno = failing[kind].error;
    return true;
}

/* ---- Memory ---- */

void *sys_map_private(void *address, size_t bytes)
{
    const int fixed = address ? MAP_FIXED : 0;

    count(&calls);
    if (fails(SYS_MAP))
        return MAP_FAILED;
    return mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
}

void *sys_reserve(size_t bytes)
{
    count(&calls);
    return mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void *sys_map_shared(void *address, size_t bytes, int fd)
{
    const int fixed = address ? MAP_FIXED : 0;

    count(&calls);
    if (fails(SYS_MAP))
        return MAP_FAILED;
    return mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | fixed, fd, 0);
}

void *sys_map_part(void *address, size_t bytes, int fd, int64_t offset)
{
    count(&calls);
    if (fails(SYS_MAP))
        return MAP_FAILED;
    return mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd,
                offset);
}

void *sys_map_copy(void *address, size_t bytes, int fd, int64_t offset, bool writable)
{
    count(&calls);
    return mmap(address, bytes, PROT_READ | (writable ? PROT_WRITE : 0),
                MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, fd, offset);
}

void *sys_move(void *from, size_t bytes, void *to)
{
    count(&calls);
    /* Past the C library: MPI libraries put a mremap() of their own there that forgets `to`. */
    const long moved = syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    return moved == -1 ? MAP_FAILED : to;
}

int sys_hold(void *address, size_t bytes)
{
    struct uffdio_api version = {.api = UFFD_API};
    const struct uffdio_range range = {.start = (uintptr_t)address, .len = bytes};
    struct uffdio_register watch = {.range = range, .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect protect = {.range = range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};

    count(&calls);
    if (fails(SYS_HOLD))
        return -1;
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (fd < 0) /* without privilege: writes by the kernel fail instead of waiting */
        fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
    if (fd >= 0 && ioctl(fd, UFFDIO_API, &version) == 0 &&
        ioctl(fd, UFFDIO_REGISTER, &watch) == 0 && ioctl(fd, UFFDIO_WRITEPROTECT, &protect) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int sys_node_of(const void *address)
{
    int node = -1;

    count(&calls);
    return syscall(SYS_move_pages, 0, 1UL, &address, NULL, &node, 0) == 0 ? node : -1;
}

enum { WORD_BITS = 8 * sizeof(unsigned long), POLICY_BITS = 16 * WORD_BITS };

bool sys_policy_get(sys_policy *policy_out)
{
    count(&calls);
    return syscall(SYS_get_mempolicy, &policy_out->mode, policy_out->nodes,
                   (unsigned long)POLICY_BITS, NULL, 0UL) == 0;
}

bool sys_policy_put(const sys_policy *policy)
{
    count(&calls);
    return syscall(SYS_set_mempolicy, policy->mode, policy->nodes,
                   policy->mode == MPOL_DEFAULT ? 0UL : (unsigned long)POLICY_BITS) == 0;
}

bool sys_policy_node(int node, sys_policy *policy_out)
{
    if (node < 0 || node >= POLICY_BITS)
        return false;
    *policy_out = (sys_policy){.mode = MPOL_PREFERRED};
    policy_out->nodes[node / WORD_BITS] = 1UL << node % WORD_BITS;
    return true;
}

int sys_unmap(void *address, size_t bytes)
{
    count(&calls);
    return munmap(address, bytes);
}

int sys_advise(void *address, size_t bytes, int advice)
{
    count(&calls);
    return madvise(address, bytes, advice);
}

int sys_memfd(const char *name)
{
    count(&calls);
    if (fails(SYS_MEMFD))
        return -1;
    return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int sys_fallocate(int fd, int mode, int64_t offset, int64_t bytes)
{
    count(&calls);
    if (fails(SYS_FALLOCATE))
        return -1;
    return fallocate(fd, mode, offset, bytes);
}

int sys_truncate(int fd, int64_t bytes)
{
    count(&calls);
    return ftruncate(fd, bytes);
}

int sys_seal(int fd, int seals)
{
    count(&calls);
    return fcntl(fd, F_ADD_SEALS, seals);
}

int sys_seals(int fd)
{
    count(&calls);
    return fcntl(fd, F_GET_SEALS);
}

void *sys_map_read(size_t bytes, int fd)
{
    count(&calls);
    return mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
}

int sys_open(const char *path, int flags, unsigned mode)
{
    count(&calls);
    return open(path, flags | O_CLOEXEC, (mode_t)mode);
}

int64_t sys_read(int fd, void *data, size_t bytes)
{
    count(&calls);
    return read(fd, data, bytes);
}

int sys_close(int fd)
{
    count(&calls);
    return close(fd);
}

static struct flock one_byte(int64_t at)
{
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
}

int sys_hold_byte(int fd, int64_t at)
{
    struct flock lock = one_byte(at);

    count(&calls);
    return fcntl(fd, F_SETLK, &lock);
}

int sys_byte_is_held(int fd, int64_t at)
{
    struct flock lock = one_byte(at);

    count(&calls);
    return fcntl(fd, F_GETLK, &lock) == 0 ? lock.l_type != F_UNLCK : -1;
}

uint64_t sys_file_room(int fd)
{
    struct statvfs facts;

    count(&calls);
    if (fstatvfs(fd, &facts) != 0 || facts.f_blocks == 0)
        return UINT64_MAX;
    return (uint64_t)facts.f_bavail * facts.f_frsize;
}

uint64_t sys_file_limit(void)
{
    struct rlimit limit;

    count(&calls);
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur
                                                                                   : UINT64_MAX;
}

bool sys_identity(int fd, uint64_t *device_out, uint64_t *inode_out, unsigned *owner_out)
{
    struct stat facts;

    count(&calls);
    if (fstat(fd, &facts) != 0)
        return false;
    *device_out = facts.st_dev;
    *inode_out = facts.st_ino;
    *owner_out = facts.st_uid;
    return true;
}

static void fill_file(const struct stat *facts, sys_file *file_out)
{
    *file_out = (sys_file){
        .bytes = (uint64_t)facts->st_size,
        .mode = facts->st_mode & 0777,
        .regular = S_ISREG(facts->st_mode),
        .folder = S_ISDIR(facts->st_mode),
    };
}

bool sys_describe(int fd, sys_file *file_out)
{
    struct stat facts;

    count(&calls);
    if (fstat(fd, &facts) != 0)
        return false;
    fill_file(&facts, file_out);
    return true;
}

bool sys_look(const char *path, sys_file *file_out)
{
    struct stat facts;

    count(&calls);
    if (stat(path, &facts) != 0)
        return false;
    fill_file(&facts, file_out);
    return true;
}

bool sys_resolve(const char *path, char *real_out)
{
    count(&calls);
    return realpath(path, real_out) != NULL;
}

void *sys_map_file(size_t bytes, int fd)
{
    count(&calls);
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
}

int64_t sys_write_parts(int fd, const void *parts, int number)
{
    count(&calls);
    return writev(fd, parts, number);
}

int sys_sync(int fd)
{
    count(&calls);
    return fsync(fd);
}

int sys_set_mode(int fd, unsigned mode)
{
    count(&calls);
    return fchmod(fd, (mode_t)mode);
}

int sys_rename(const char *from, const char *to)
{
    count(&calls);
    return rename(from, to);
}

int sys_unlink(const char *path)
{
    count(&calls);
    return unlink(path);
}

int sys_make_folder(const char *path, unsigned mode)
{
    count(&calls);
    return mkdir(path, mode);
}

int sys_unlink_shared(const char *name)
{
    count(&calls);
    return shm_unlink(name);
}

int sys_open_shared(const char *name, int flags, unsigned mode)
{
    count(&calls);
    return shm_open(name, flags, (mode_t)mode);
}

static struct timespec span(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

void sys_sleep_on(uint32_t *word, uint32_t seen, int64_t timeout_ns)
{
    const struct timespec limit = span(timeout_ns);

    count(&waits);
    syscall(SYS_futex, word, FUTEX_WAIT, seen, timeout_ns < 0 ? NULL : &limit, NULL, 0);
}

void sys_wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void sys_nap(int64_t ns)
{
    const struct timespec length = span(ns < 0 ? 0 : ns);

    count(&waits);
    nanosleep(&length, NULL);
}

int64_t sys_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now); /* answered without entering the kernel */
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

uint64_t sys_random(void)
{
    uint64_t number;

    count(&calls);
    if (getrandom(&number, sizeof number, 0) == (ssize_t)sizeof number)
        return number;
    return (uint64_t)sys_now_ns() * 0x9e3779b97f4a7c15u ^
           (uint64_t)getpid(); /* no such call: still differs by process */
}

uint64_t sys_call_count(void)
{
    return atomic_load_explicit(&calls, memory_order_relaxed);
}

uint64_t sys_wait_count(void)
{
    return atomic_load_explicit(&waits, memory_order_relaxed);
}

int sys_pid(void)
{
    count(&calls);
    return (int)getpid();
}
