/* The FERRY_* settings: one table of names, defaults and help; looked up here and nowhere else. */
#ifndef BASE_SETTING_H
#define BASE_SETTING_H

#include <stdbool.h>
#include <stddef.h>

/* X(id, name, default, help) */
#define SETTING_LIST(X)                                                                            \
  X(ROUTE, "FERRY_ROUTE", "all",                                                                   \
    "routes allowed, comma separated: self, node_direct, node_ring, wire_pack")                    \
  X(NODES, "FERRY_NODES", "auto",                                                                  \
    "who shares a node: auto, mpi (nobody), block:N, or a list such as 0,0,1,1")                   \
  X(CPU, "FERRY_CPU", "auto", "kernels allowed: auto, scalar, avx2, avx512, neon")                 \
  X(WAIT, "FERRY_WAIT", "auto", "how waits pass the time: auto, spin, sleep")                      \
  X(TUNE, "FERRY_TUNE", "trial",                                                                   \
    "off: built-in choices; file: by the record of ferry tune; trial: rounds try ways too")        \
  X(PROGRESS, "FERRY_PROGRESS", "none",                                                            \
    "none, or thread: a thread moves rounds on while the caller computes")                         \
  X(TIMEOUT, "FERRY_TIMEOUT", "0", "seconds that a wait may last; 0 for ever")                     \
  X(POOL, "FERRY_POOL", "auto",                                                                    \
    "bytes each process keeps for reuse, such as 64M; auto: its share of memory")                  \
  X(SHM, "FERRY_SHM", "auto",                                                                      \
    "how the node's ranks share memory: auto, memfd, socket, named, none")                         \
  X(LOG, "FERRY_LOG", "warn", "what is written to stderr: none, warn, info")                       \
  X(SEED, "FERRY_SEED", "auto", "seed of random tests")

typedef enum setting {
#define SETTING_X(id, name, value, help) SETTING_##id,
    SETTING_LIST(SETTING_X)
#undef SETTING_X
        SETTING_COUNT
} setting;

/* The value in use: the environment's, else the default. An empty variable counts as not set. Never
 * NULL. */
const char *setting_text(setting which);
bool setting_from_environment(setting which);

/* Number with optional K, M, G, T (1024); false when the text is no such number, is negative or
 * overflows. */
bool setting_bytes(const char *text, size_t *bytes_out);

/* One warning on stderr for each FERRY_* variable that is not in the table, with the nearest name.
 * Once a process. */
void setting_warn_unknown(void);

#endif
