/* System calls, counted. Nothing is decided here: each function is one call. */
#define _GNU_SOURCE 1
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

void *sys_map_private(void *address, size_t bytes)
{
    const int fixed = address ? MAP_FIXED : 0;

    count(&calls);
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
    return mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | fixed, fd, 0);
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
    return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int sys_fallocate(int fd, int mode, int64_t offset, int64_t bytes)
{
    count(&calls);
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
