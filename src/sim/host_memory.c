/* Allocation of host memory in huge pages where the kernel has them. */
#include "sim/host_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void *pw_host_memory(size_t count, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total) || total > SIZE_MAX - PW_HUGE_BYTES)
        return NULL;
    total = (total + PW_HUGE_BYTES - 1) / PW_HUGE_BYTES * PW_HUGE_BYTES;
    void *memory = aligned_alloc(PW_HUGE_BYTES, total);
    if (!memory)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, total, MADV_HUGEPAGE); /* advice: without it everything works, only slower */
#endif
    return memset(memory, 0, total);
}
