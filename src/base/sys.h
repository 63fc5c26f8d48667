/* Counted system calls: the only place where the library enters the kernel, MPI and the C library's
 * malloc aside. Each returns what the call returns; errno is left as the call set it. */
#ifndef BASE_SYS_H
#define BASE_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Memory. */
void *sys_map_private(void *address, size_t bytes); /* anonymous; NULL address: anywhere */
void *sys_reserve(size_t bytes);                    /* address space only, PROT_NONE */
void *sys_map_shared(void *address, size_t bytes,
                     int fd); /* not reserved; NULL address: anywhere */
void *sys_map_part(void *address, size_t bytes, int fd, int64_t offset); /* shared, there */
void *sys_map_copy(void *address, size_t bytes, int fd, int64_t offset,
                   bool writable);                  /* private, there */
void *sys_move(void *from, size_t bytes, void *to); /* the pages, over others; nobody who watches
                                                       calls of the C library sees it */
int sys_hold(void *address, size_t bytes); /* whoever writes there waits until sys_close(result) or
                                              other memory is mapped there; -1: not to be had */

/* NUMA nodes of pages: of one that is present (-1: unknown), and those that this thread gets from
 * now on. */
typedef struct sys_policy {
    int mode;
    unsigned long nodes[16];
} sys_policy;
int sys_node_of(const void *address);
bool sys_policy_get(sys_policy *policy_out);
bool sys_policy_put(const sys_policy *policy);
bool sys_policy_node(int node, sys_policy *policy_out); /* that node when it has memory left */

int sys_unmap(void *address, size_t bytes);
int sys_advise(void *address, size_t bytes, int advice);
int sys_memfd(const char *name); /* close-on-exec, sealing allowed */
int sys_fallocate(int fd, int mode, int64_t offset, int64_t bytes);
int sys_truncate(int fd, int64_t bytes);
int sys_seal(int fd, int seals);
int sys_seals(int fd);                                    /* those that a file has, or -1 */
void *sys_map_read(size_t bytes, int fd);                 /* shared, for reading only */
int sys_open(const char *path, int flags, unsigned mode); /* close-on-exec added */
int64_t sys_read(int fd, void *data, size_t bytes);
int sys_close(int fd);
int sys_hold_byte(int fd, int64_t at);    /* a record lock of this process; 0: held */
int sys_byte_is_held(int fd, int64_t at); /* by another process; -1: cannot be told */
bool sys_identity(int fd, uint64_t *device_out, uint64_t *inode_out,
                  unsigned *owner_out); /* of an open file */

/* Files. */
typedef struct sys_file {
    uint64_t bytes;
    unsigned mode; /* permissions */
    bool regular;
    bool folder;
} sys_file;
bool sys_describe(int fd, sys_file *file_out);
bool sys_look(const char *path, sys_file *file_out); /* symbolic links followed */
bool sys_resolve(const char *path, char *real_out);  /* PATH_MAX bytes; without links */
void *sys_map_file(size_t bytes, int fd);            /* private: writing stays in memory */
int64_t sys_write_parts(int fd, const void *parts, int number); /* writev */
int sys_sync(int fd);
int sys_set_mode(int fd, unsigned mode);
int sys_rename(const char *from, const char *to);
int sys_unlink(const char *path);
int sys_make_folder(const char *path, unsigned mode);
int sys_unlink_shared(const char *name);                         /* shm_unlink */
int sys_open_shared(const char *name, int flags, unsigned mode); /* shm_open */

/* Waiting: not counted as a system call but as a wait. `word` is in memory shared between
 * processes. A sleep ends after the time given too; a negative time is no limit. */
void sys_sleep_on(uint32_t *word, uint32_t seen,
                  int64_t timeout_ns); /* until *word != seen or a wake */
void sys_wake(uint32_t *word);         /* all sleepers */
void sys_nap(int64_t ns);

/* Facts. */
int64_t sys_now_ns(void);        /* monotonic */
uint64_t sys_file_room(int fd);  /* bytes left where it lies; UINT64_MAX: no bound */
uint64_t sys_file_limit(void);   /* bytes that a file may have, RLIMIT_FSIZE */
uint64_t sys_memory_total(void); /* of the machine, or of the cgroup when less */
uint64_t sys_memory_free(void);  /* bytes that can still be had, MemAvailable */
int sys_cores(void);             /* whole cores by affinity and quota, >= 1 */
int sys_affinity(uint64_t *mask_out, int words); /* cores as bits; returns how many in all */
int sys_pid(void);
void sys_cpu_name(char *text_out, size_t bytes); /* "unknown" without one; one line */
bool sys_boot_id(char text_out[64]);
uint64_t sys_random(void);

/* Tests: the n-th call of a kind from now on fails with that errno, and all that follow when n is
 * negative (-3: the third and all after it); 0 switches it off. */
typedef enum sys_kind { SYS_MEMFD, SYS_FALLOCATE, SYS_MAP, SYS_HOLD, SYS_KINDS } sys_kind;
void sys_fail_at(sys_kind kind, int n, int error);

uint64_t sys_call_count(void);
uint64_t sys_wait_count(void);

#endif
