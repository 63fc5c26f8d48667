/* Runs at places that a list tells, one place a run. Bodies for the usual lengths, so that moving a
 * short run is no call; the loads are independent of each other, which is all that a CPU can use.
 */
#include <string.h>

#include "base/size.h"
#include "kernels/kernels.h"

#define LISTED(name, bytes)                                                                        \
  static void gather_##name(char *restrict packed, const char *restrict base, const int64_t *at,   \
                            size_t count, size_t run)                                              \
  {                                                                                                \
    (void)run;                                                                                     \
    for (size_t i = 0; i < count; i++)                                                             \
      memcpy(packed + i * (bytes), base + at[i], bytes);                                           \
  }                                                                                                \
  static void scatter_##name(char *restrict base, const int64_t *at, const char *restrict packed,  \
                             size_t count, size_t run)                                             \
  {                                                                                                \
    (void)run;                                                                                     \
    for (size_t i = 0; i < count; i++)                                                             \
      memcpy(base + at[i], packed + i * (bytes), bytes);                                           \
  }

LISTED(1, 1)
LISTED(2, 2)
LISTED(4, 4)
LISTED(8, 8)
LISTED(16, 16)
LISTED(24, 24)
LISTED(32, 32)
LISTED(40, 40)
LISTED(64, 64)
LISTED(any, run)

static const struct {
    size_t run; /* 0: any */
    kernel_listed_gather *gather;
    kernel_listed_scatter *scatter;
} kernels[] = {
    {1, gather_1, scatter_1},     {2, gather_2, scatter_2},    {4, gather_4, scatter_4},
    {8, gather_8, scatter_8},     {16, gather_16, scatter_16}, {24, gather_24, scatter_24},
    {32, gather_32, scatter_32},  {40, gather_40, scatter_40}, {64, gather_64, scatter_64},
    {0, gather_any, scatter_any},
};

static size_t index_of(size_t run)
{
    size_t i = 0;

    while (kernels[i].run != run && kernels[i].run != 0)
        i++;
    return i;
}

kernel_listed_gather *kernels_listed_gather(size_t run)
{
    return kernels[index_of(run)].gather;
}

kernel_listed_scatter *kernels_listed_scatter(size_t run)
{
    return kernels[index_of(run)].scatter;
}
