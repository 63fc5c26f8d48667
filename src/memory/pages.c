/* Private pages. The first touch of a 4 KiB page costs more than copying its content: huge pages
 * make 512 of them one. */
#define _GNU_SOURCE
#include "memory/pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/size.h"
#include "base/sys.h"
#include "base/trouble.h"

#ifndef MADV_POPULATE_WRITE
#  define MADV_POPULATE_WRITE 23
#endif

static ferry_status refuse(size_t bytes)
{
    return trouble(FERRY_ERR_MEMORY, "%zu bytes of memory cannot be had, the machine has %llu left",
                   bytes, (unsigned long long)sys_memory_free());
}

/* Cut an aligned piece of `bytes` out of a mapping that is one huge page longer. */
static char *align_mapping(char *mapped, size_t bytes)
{
    char *const data = (char *)size_round((size_t)mapped, HUGE_BYTES);

    if (data > mapped)
        sys_unmap(mapped, (size_t)(data - mapped));
    if (mapped + HUGE_BYTES > data)
        sys_unmap(data + bytes, (size_t)(mapped + HUGE_BYTES - data));
    return data;
}

ferry_status pages_map(size_t bytes, void **data_out, size_t *bytes_out)
{
    const bool huge = bytes >= HUGE_BYTES;
    size_t room = 0;

    if (!size_add(bytes, 2 * (size_t)HUGE_BYTES, &room) || room > (size_t)1 << 46 ||
        bytes > sys_memory_free())
        return refuse(bytes);
    bytes = size_round(size_max(bytes, 1), huge ? HUGE_BYTES : PAGE_BYTES);
    char *data = sys_map_private(NULL, huge ? bytes + HUGE_BYTES : bytes);
    if (data == MAP_FAILED)
        return refuse(bytes);
    if (huge) {
        data = align_mapping(data, bytes);
        sys_advise(data, bytes, MADV_HUGEPAGE);
    }
    alloc_count_one();
    *data_out = data;
    *bytes_out = bytes;
    return FERRY_OK;
}

void pages_unmap(void *data, size_t bytes)
{
    if (data)
        sys_unmap(data, bytes);
}

bool pages_present(void *data, size_t bytes)
{
    return sys_advise(data, bytes, MADV_POPULATE_WRITE) == 0;
}

ferry_status pages_populate(void *data, size_t bytes)
{
    volatile char *const page = data;

    if (pages_present(data, bytes))
        return FERRY_OK;
    if (errno == ENOMEM || errno == EFAULT)
        return refuse(bytes);
    for (size_t at = 0; at < bytes; at += PAGE_BYTES) /* kernels before 5.14 */
        page[at] = 0;
    return FERRY_OK;
}
