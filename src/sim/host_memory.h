/* Large pieces of host memory that are used at random: aligned to the host's huge pages, and the kernel is asked to use
 * them. A simulated GPU's state is many times larger than what the host's TLB covers with 4 KiB pages. */
#ifndef PW_SIM_HOST_MEMORY_H
#define PW_SIM_HOST_MEMORY_H

#include <stddef.h>

enum { PW_HUGE_BYTES = 2 << 20 };

/* Zeroed memory, or NULL. What is never touched costs addresses only. */
void *pw_host_memory(size_t count, size_t bytes);
void pw_host_memory_free(void *memory); /* NULL: nothing to do */

#endif
