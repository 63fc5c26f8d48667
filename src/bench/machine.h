/* Facts about the machine and the MPI that decide what a figure means. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stddef.h>
#include <stdint.h>

enum { MACHINE_MASK_WORDS = 16 }; /* 1024 cores */

/* Bytes that can still be had: MemAvailable, or what the control group leaves when that is less.
 * UINT64_MAX: unknown. */
uint64_t machine_memory_free(void);

/* The cores that the calling process may use, as bits. */
void machine_mask(uint64_t mask_out[MACHINE_MASK_WORDS]);

/* Cores of a mask, but not more than the control group's quota; at least 1. */
int machine_cores(const uint64_t mask[MACHINE_MASK_WORDS]);

/* "4.0.2": the version of the running MPI. MPI is initialized. */
void machine_mpi_version(char *text, size_t bytes);

/* One line: pages, single copy between processes, the processor. MPI is initialized. */
void machine_settings(char *text, size_t bytes);

/* "17 B", "8.0 KB", "16.0 MB": decimal units, as rates use them. */
void machine_bytes(char *text, size_t bytes, double amount);

#endif
