/* What capture/patch.cu needs of CUDA and of the Compute Sanitizer API, for a CPU: one lane of a warp at a time runs,
 * and the functions of whole warps hand control to the others (lanes.c). */
#ifndef PW_TEST_SANITIZER_PATCHING_H
#define PW_TEST_SANITIZER_PATCHING_H

#include <stdbool.h>
#include <stdint.h>

#define __device__
#define __forceinline__ inline

typedef enum { SANITIZER_PATCH_SUCCESS } SanitizerPatchResult;

enum {
    SANITIZER_MEMORY_DEVICE_FLAG_READ = 1,
    SANITIZER_MEMORY_DEVICE_FLAG_WRITE = 2,
    SANITIZER_MEMORY_DEVICE_FLAG_ATOMSYS = 4,
    SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH = 8,
};

struct gpu_index {
    unsigned x, y, z;
};

extern __thread struct gpu_index threadIdx, blockIdx, blockDim, gridDim;

unsigned __activemask(void);
unsigned __ballot_sync(unsigned mask, int value);
int __all_sync(unsigned mask, int value);
unsigned long long __shfl_sync(unsigned mask, unsigned long long value, unsigned lane);
void __syncwarp(unsigned mask);
void __threadfence_system(void);
void __nanosleep(unsigned nanoseconds);
int __isGlobal(const void *address);

static inline int __ffs(unsigned value)
{
    return __builtin_ffs((int)value);
}

static inline int __popc(unsigned value)
{
    return __builtin_popcount(value);
}

static inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long value)
{
    return __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
}

static inline void atomicMax(unsigned long long *at, unsigned long long value)
{
    unsigned long long now = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (now < value && !__atomic_compare_exchange_n(at, &now, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

#endif
