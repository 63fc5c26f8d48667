/* Facts about this machine that the library does not tell. */
#ifndef CLI_HOST_H
#define CLI_HOST_H

#include <stddef.h>
#include <stdint.h>

enum { HOST_TEXT_BYTES = 160 };

/* Cores that this process may use (affinity and cgroup quota, at least 1), and those of the
 * machine. */
int host_cores(void);
int host_cores_online(void);

/* Memory in bytes: of the machine or of the cgroup where that is less, and what of it can still be
 * had. */
uint64_t host_memory(void);
uint64_t host_memory_free(void);

/* Name of the CPU, and of the compiler that built the program. */
void host_cpu(char text_out[HOST_TEXT_BYTES]);
const char *host_compiler(void);

/* The chosen word of /sys/kernel/mm/transparent_hugepage/<name>, such as "madvise"; "unknown"
 * without that file. */
void host_huge_pages(const char *name, char text_out[HOST_TEXT_BYTES]);

#endif
