/* The functions that run on the GPU at every recorded instruction (capture/layout.h says what they write).
 *
 * A patch is called before its instruction by the lanes that execute it. They form one record: the lowest of them
 * takes the cells and writes the head. Hardware may run parts of a warp one after the other although their program
 * does not ask for it; each part then is a record of its own.
 *
 * Built by nvcc --compile-as-tools-patch, which leaves a patch the fewest registers that the ABI allows. Everything is
 * inlined, and nothing divides 64-bit numbers, for which the compiler would call a function: a patch calls none. With
 * PW_BULK_COPIES also bulk copies are recorded, where the toolkit's header has the callback of the form known here.
 *
 * This is C as well as CUDA, so that a test can be the GPU (tests/support/test_gpu). */
#include <sanitizer_patching.h>

#include "layout.h"

#ifdef __cplusplus
#define PATCH extern "C" __device__ __noinline__ SanitizerPatchResult
#else
#define PATCH SanitizerPatchResult
#endif
#define PART static __device__ __forceinline__

/* No global allocation lies below: such an address is an offset in a window of shared or local memory. */
enum { LOWEST = 1 << 24 };

PART unsigned linear_thread(void)
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

/* The host records no launch with more CTAs than 32 bits number. */
PART unsigned linear_cta(void)
{
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

PART unsigned lowest(unsigned mask)
{
    return (unsigned)__ffs(mask) - 1;
}

/* The first of `cells` cells, once the host has given them back. A warp looks less and less often, up to every 32
 * microseconds: thousands of them may wait, and all ask over the PCIe link. */
PART unsigned long long take(struct pw_capture_gpu *g, unsigned cells)
{
    unsigned long long at = atomicAdd(&g->taken, (unsigned long long)cells), end = at + cells;
    volatile unsigned long long *seen = &g->given_seen;
    unsigned pause = 500;
    while (end > *seen + g->count) {
        unsigned long long given = *(volatile unsigned long long *)g->given;
        atomicMax(&g->given_seen, given);
        if (end > given + g->count)
            __nanosleep(pause);
        pause += pause < 32000 ? pause : 0;
    }
    return at;
}

/* Whether each lane's address is that of lane 0 plus lane * stride, with a stride of 32 bits. Of a step that has more
 * bits a part makes a stride that does not lead to the second lane. */
PART bool is_affine(unsigned mask, unsigned lane, unsigned long long address, unsigned long long *out_base,
                    int *out_stride)
{
    unsigned leader = lowest(mask), others = mask & (mask - 1), second = others ? lowest(others) : leader;
    unsigned long long first = __shfl_sync(mask, address, leader);
    long long step = (long long)(__shfl_sync(mask, address, second) - first);
    int stride = second == leader ? 0 : (int)step / (int)(second - leader);
    long long base = (long long)first - (long long)stride * (int)leader;
    bool fits = base >= 0 && address == (unsigned long long)(base + (long long)stride * (int)lane);
    *out_base = (unsigned long long)base;
    *out_stride = stride;
    return __all_sync(mask, fits);
}

/* One record of the lanes in `mask`, all of which call this, with the address of each. `value` is what a kind without
 * addresses of lanes has to say. */
PART void record(void *userdata, unsigned mask, unsigned long long pc, unsigned kind, unsigned bytes, int value,
                 unsigned long long address)
{
    struct pw_capture_gpu *g = (struct pw_capture_gpu *)userdata;
    unsigned cta = linear_cta(), sampled = cta;
    if (g->sample > 1) {
        sampled = cta / g->sample;
        if (sampled * g->sample != cta)
            return;
    }
    unsigned lane = linear_thread() % 32, leader = lowest(mask), cells = 1;
    bool affine = true;
    if (kind <= PW_CAPTURE_COPY) {
        unsigned long long base;
        affine = is_affine(mask, lane, address, &base, &value);
        if (affine)
            address = base;
        else
            cells += (__popc(mask) + PW_CAPTURE_ADDRESSES_PER_CELL - 1) / PW_CAPTURE_ADDRESSES_PER_CELL;
    }
    unsigned long long at = 0;
    if (lane == leader)
        at = take(g, cells);
    if (!affine) {
        at = __shfl_sync(mask, at, leader);
        volatile unsigned long long *all = (volatile unsigned long long *)g->cells;
        all[(4 * (at + 1) + __popc(mask & ((1U << lane) - 1))) & (4 * g->count - 1)] = address;
        __syncwarp(mask);
    }
    if (lane == leader) {
        volatile unsigned long long *head = (volatile unsigned long long *)g->cells + 4 * (at & (g->count - 1));
        head[1] = sampled | (unsigned long long)(unsigned)value << 32;
        head[2] = (pc & PW_CAPTURE_PC_MASK) | (unsigned long long)(linear_thread() / 32) << PW_CAPTURE_WARP_SHIFT;
        head[3] = address;
        __threadfence_system();
        head[0] = 1U | kind << 8 | (unsigned)(affine ? PW_CAPTURE_AFFINE : PW_CAPTURE_LANES) << 16 | bytes << 24 |
                  (unsigned long long)mask << 32;
    }
    __syncwarp(mask);
}

PART SanitizerPatchResult waypoint(void *userdata, uint64_t pc, unsigned kind, int value)
{
    if (userdata)
        record(userdata, __activemask(), pc, kind, 0, value, 0);
    return SANITIZER_PATCH_SUCCESS;
}

/* An access of those of the active lanes that have an address in global memory; a waypoint if none has. */
PART SanitizerPatchResult access_global(void *userdata, uint64_t pc, unsigned kind, unsigned bytes, bool global,
                                        uint64_t address)
{
    unsigned active = __activemask(), mask = __ballot_sync(active, global);
    if (global || !mask)
        record(userdata, mask ? mask : active, pc, mask ? kind : PW_CAPTURE_WAYPOINT, mask ? bytes : 0, 0,
               mask ? address : 0);
    __syncwarp(active);
    return SANITIZER_PATCH_SUCCESS;
}

PATCH PwGlobal(void *userdata, uint64_t pc, void *ptr, uint32_t size, uint32_t flags, const void *data)
{
    if (!userdata)
        return SANITIZER_PATCH_SUCCESS;
    const uint32_t both = SANITIZER_MEMORY_DEVICE_FLAG_READ | SANITIZER_MEMORY_DEVICE_FLAG_WRITE;
    bool prefetch = flags & SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH;
    bool atomic = (flags & both) == both || flags & SANITIZER_MEMORY_DEVICE_FLAG_ATOMSYS;
    unsigned kind = atomic                                       ? PW_CAPTURE_ATOMIC
                    : flags & SANITIZER_MEMORY_DEVICE_FLAG_WRITE ? PW_CAPTURE_STORE
                                                                 : PW_CAPTURE_LOAD;
    return access_global(userdata, pc, kind, size, !prefetch && (uint64_t)ptr >= LOWEST && __isGlobal(ptr),
                         (uint64_t)ptr);
}

/* Accesses to shared and local memory: where a warp has come by. Their address is an offset in a window, also that of lanes
 * whose generic pointer leads there. Lanes whose generic pointer leads to global memory call this with the whole address, and
 * PwGlobal as well, which records them. Were they recorded here too, on an H200 the kernel ends with an illegal address
 * (data/hw). */
PATCH PwElsewhere(void *userdata, uint64_t pc, void *ptr, uint32_t size, uint32_t flags, const void *data)
{
    if ((uint64_t)ptr >= LOWEST)
        return SANITIZER_PATCH_SUCCESS;
    return waypoint(userdata, pc, PW_CAPTURE_WAYPOINT, 0);
}

PATCH PwMatrix(void *userdata, uint64_t pc, uint32_t address, uint32_t size, uint32_t flags, uint32_t count,
               const void *value)
{
    return waypoint(userdata, pc, PW_CAPTURE_WAYPOINT, 0);
}

PATCH PwBarrier(void *userdata, uint64_t pc, uint32_t index, uint32_t threads, uint32_t flags)
{
    /* Only a barrier of the whole CTA is one in a trace. */
    bool whole = !index && (!threads || threads == ((blockDim.x * blockDim.y * blockDim.z + 31) & ~31U));
    return waypoint(userdata, pc, whole ? PW_CAPTURE_BARRIER : PW_CAPTURE_WAYPOINT, 0);
}

PATCH PwExit(void *userdata, uint64_t pc)
{
    return waypoint(userdata, pc, PW_CAPTURE_EXIT, 0);
}

PATCH PwCopy(void *userdata, uint64_t pc, void *source, uint32_t destination, uint32_t size)
{
    if (!userdata)
        return SANITIZER_PATCH_SUCCESS;
    return access_global(userdata, pc, PW_CAPTURE_COPY, size, source != 0, (uint64_t)source);
}

PATCH PwCommit(void *userdata, uint64_t pc)
{
    return waypoint(userdata, pc, PW_CAPTURE_COMMIT, 0);
}

PATCH PwWait(void *userdata, uint64_t pc, uint32_t groups)
{
    return waypoint(userdata, pc, PW_CAPTURE_WAIT, (int)groups);
}

#ifdef PW_BULK_COPIES
PATCH PwBulk(void *userdata, uint64_t pc, uint64_t source, uint32_t destination, uint32_t barrier, uint32_t data,
             uint32_t multicast)
{
    if (userdata)
        record(userdata, __activemask(), pc, PW_CAPTURE_BULK, 16, (int)(data & 0xffff), source);
    return SANITIZER_PATCH_SUCCESS;
}
#ifdef __cplusplus
/* Does not compile where the callback has other parameters. */
template <typename A, typename B> constexpr bool same = false;
template <typename A> constexpr bool same<A, A> = true;
static_assert(same<decltype(&PwBulk), SanitizerCallbackBulkCopyGlobalToShared>, "another callback for bulk copies");
#endif
#endif
