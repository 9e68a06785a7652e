/* Allocation of host memory in huge pages where the kernel has them.
 *
 * calloc() knows which memory comes from the kernel and is zero already; aligned_alloc() and memset() would write it
 * all a second time. The piece that it returns is larger by one huge page, so that an aligned one lies within; the word
 * in front of that one says where the piece begins. */
#include "sim/host_memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

void *pw_host_memory(size_t count, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, bytes, &total) || total > SIZE_MAX - 2 * (size_t)PW_HUGE_BYTES)
        return NULL;
    total = (total + PW_HUGE_BYTES - 1) / PW_HUGE_BYTES * PW_HUGE_BYTES;
    char *piece = calloc(1, total + PW_HUGE_BYTES);
    if (!piece)
        return NULL;
    void **memory = (void **)(void *)(piece + PW_HUGE_BYTES - (uintptr_t)piece % PW_HUGE_BYTES);
    memory[-1] = piece;
#ifdef MADV_HUGEPAGE
    (void)madvise(memory, total, MADV_HUGEPAGE); /* advice: without it everything works, only slower */
#endif
    return memory;
}

void pw_host_memory_free(void *memory)
{
    if (memory)
        free(((void **)memory)[-1]);
}
