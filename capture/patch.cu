/* The functions that run on the GPU at every recorded instruction (capture/layout.h says what they write).
 *
 * A patch is called before its instruction by the lanes that execute it. They form one record: the lowest of them
 * takes the cells and writes the head. Hardware may run parts of a warp one after the other although their program
 * does not ask for it; each part then is a record of its own.
 *
 * Built by nvcc --compile-as-tools-patch. With PW_BULK_COPIES also bulk copies are recorded, where the toolkit's
 * header has the callback of the form known here. */
#include <sanitizer_patching.h>

#include "layout.h"

namespace
{

__device__ __forceinline__ unsigned linear_thread()
{
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__device__ __forceinline__ unsigned long long linear_cta()
{
    return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
}

__device__ __forceinline__ unsigned lane_number()
{
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

/* The first of `cells` cells, once the host has given them back. */
__device__ unsigned long long take(pw_capture_gpu *g, unsigned cells)
{
    unsigned long long at = atomicAdd(&g->taken, (unsigned long long)cells), end = at + cells;
    volatile unsigned long long *seen = &g->given_seen;
    while (end > *seen + g->count) {
        unsigned long long given = *(volatile unsigned long long *)g->given;
        atomicMax(&g->given_seen, given);
        if (end > given + g->count)
            __nanosleep(1000);
    }
    return at;
}

struct operation {
    unsigned char kind, bytes;
    int stride; /* what a kind without addresses of lanes has to say */
};

/* One record of the lanes in `mask`, all of which call this, with the address of each. */
__device__ void record(void *userdata, unsigned mask, unsigned long long pc, operation o, unsigned long long address)
{
    pw_capture_gpu *g = (pw_capture_gpu *)userdata;
    unsigned long long cta = linear_cta();
    if (cta % g->sample)
        return;
    unsigned lane = lane_number(), leader = __ffs(mask) - 1, count = __popc(mask);
    bool lanes = o.kind == PW_CAPTURE_LOAD || o.kind == PW_CAPTURE_STORE || o.kind == PW_CAPTURE_ATOMIC ||
                 o.kind == PW_CAPTURE_COPY;
    unsigned long long first = __shfl_sync(mask, address, leader);
    long long stride = o.stride, base = (long long)first;
    bool affine = true;
    if (lanes) {
        unsigned second = count > 1 ? __ffs(mask & (mask - 1)) - 1 : leader;
        long long step = (long long)(__shfl_sync(mask, address, second) - first);
        stride = second == leader ? 0 : step / (int)(second - leader);
        base = (long long)first - stride * (int)leader;
        bool fits = stride == (int)stride && base >= 0 && address == (unsigned long long)(base + stride * (int)lane);
        affine = __all_sync(mask, fits);
    }
    unsigned cells = affine ? 1 : 1 + (count + PW_CAPTURE_ADDRESSES_PER_CELL - 1) / PW_CAPTURE_ADDRESSES_PER_CELL;
    unsigned long long at = 0;
    if (lane == leader)
        at = take(g, cells);
    at = __shfl_sync(mask, at, leader);
    unsigned long long ring = g->count - 1, words = 4 * g->count - 1;
    if (!affine) {
        unsigned rank = __popc(mask & ((1U << lane) - 1));
        volatile unsigned long long *all = (volatile unsigned long long *)g->cells;
        all[(4 * (at + 1) + rank) & words] = address;
        __syncwarp(mask);
    }
    if (lane == leader) {
        volatile unsigned long long *head = (volatile unsigned long long *)(g->cells + 32 * (at & ring));
        head[1] = (cta / g->sample) | (unsigned long long)(unsigned)stride << 32;
        head[2] = (pc & PW_CAPTURE_PC_MASK) | (unsigned long long)(linear_thread() / 32) << PW_CAPTURE_WARP_SHIFT;
        head[3] = (unsigned long long)base;
        __threadfence_system();
        head[0] = 1ULL | (unsigned long long)o.kind << 8 |
                  (unsigned long long)(affine ? PW_CAPTURE_AFFINE : PW_CAPTURE_LANES) << 16 |
                  (unsigned long long)o.bytes << 24 | (unsigned long long)mask << 32;
    }
    __syncwarp(mask);
}

__device__ __forceinline__ SanitizerPatchResult waypoint(void *userdata, uint64_t pc, unsigned char kind, int value)
{
    if (userdata)
        record(userdata, __activemask(), pc, {kind, 0, value}, 0);
    return SANITIZER_PATCH_SUCCESS;
}

/* No global allocation lies below: such an address is an offset in a window of shared or local memory. */
const uint64_t LOWEST = 1 << 24;

} // namespace

extern "C" __device__ __noinline__ SanitizerPatchResult PwGlobal(void *userdata, uint64_t pc, void *ptr, uint32_t size,
                                                                 uint32_t flags, const void *data)
{
    if (!userdata)
        return SANITIZER_PATCH_SUCCESS;
    unsigned active = __activemask();
    bool prefetch = flags & SANITIZER_MEMORY_DEVICE_FLAG_PREFETCH;
    bool global = !prefetch && (uint64_t)ptr >= LOWEST && __isGlobal(ptr);
    unsigned mask = __ballot_sync(active, global);
    const uint32_t both = SANITIZER_MEMORY_DEVICE_FLAG_READ | SANITIZER_MEMORY_DEVICE_FLAG_WRITE;
    unsigned char kind = (flags & both) == both || (flags & SANITIZER_MEMORY_DEVICE_FLAG_ATOMSYS) ? PW_CAPTURE_ATOMIC
                         : flags & SANITIZER_MEMORY_DEVICE_FLAG_WRITE                             ? PW_CAPTURE_STORE
                                                                                                  : PW_CAPTURE_LOAD;
    if (global)
        record(userdata, mask, pc, {kind, (unsigned char)size, 0}, (uint64_t)ptr);
    else if (!mask)
        record(userdata, active, pc, {PW_CAPTURE_WAYPOINT, 0, 0}, 0);
    __syncwarp(active);
    return SANITIZER_PATCH_SUCCESS;
}

/* Accesses to shared and local memory: where a warp has come by. */
extern "C" __device__ __noinline__ SanitizerPatchResult PwElsewhere(void *userdata, uint64_t pc, void *ptr,
                                                                    uint32_t size, uint32_t flags, const void *data)
{
    return waypoint(userdata, pc, PW_CAPTURE_WAYPOINT, 0);
}

extern "C" __device__ __noinline__ SanitizerPatchResult PwMatrix(void *userdata, uint64_t pc, uint32_t address,
                                                                 uint32_t size, uint32_t flags, uint32_t count,
                                                                 const void *value)
{
    return waypoint(userdata, pc, PW_CAPTURE_WAYPOINT, 0);
}

extern "C" __device__ __noinline__ SanitizerPatchResult PwBarrier(void *userdata, uint64_t pc, uint32_t index,
                                                                  uint32_t threads, uint32_t flags)
{
    /* Only a barrier of the whole CTA is one in a trace. */
    bool whole = !index && (!threads || threads == ((blockDim.x * blockDim.y * blockDim.z + 31) & ~31U));
    return waypoint(userdata, pc, whole ? PW_CAPTURE_BARRIER : PW_CAPTURE_WAYPOINT, 0);
}

extern "C" __device__ __noinline__ SanitizerPatchResult PwExit(void *userdata, uint64_t pc)
{
    return waypoint(userdata, pc, PW_CAPTURE_EXIT, 0);
}

extern "C" __device__ __noinline__ SanitizerPatchResult PwCopy(void *userdata, uint64_t pc, void *source,
                                                               uint32_t destination, uint32_t size)
{
    if (!userdata)
        return SANITIZER_PATCH_SUCCESS;
    unsigned active = __activemask(), mask = __ballot_sync(active, source != 0);
    if (source)
        record(userdata, mask, pc, {PW_CAPTURE_COPY, (unsigned char)size, 0}, (uint64_t)source);
    else if (!mask)
        record(userdata, active, pc, {PW_CAPTURE_WAYPOINT, 0, 0}, 0);
    __syncwarp(active);
    return SANITIZER_PATCH_SUCCESS;
}

extern "C" __device__ __noinline__ SanitizerPatchResult PwCommit(void *userdata, uint64_t pc)
{
    return waypoint(userdata, pc, PW_CAPTURE_COMMIT, 0);
}

extern "C" __device__ __noinline__ SanitizerPatchResult PwWait(void *userdata, uint64_t pc, uint32_t groups)
{
    return waypoint(userdata, pc, PW_CAPTURE_WAIT, (int)groups);
}

#ifdef PW_BULK_COPIES
extern "C" __device__ __noinline__ SanitizerPatchResult PwBulk(void *userdata, uint64_t pc, uint64_t source,
                                                               uint32_t destination, uint32_t barrier, uint32_t data,
                                                               uint32_t multicast)
{
    if (userdata)
        record(userdata, __activemask(), pc, {PW_CAPTURE_BULK, 16, (int)(data & 0xffff)}, source);
    return SANITIZER_PATCH_SUCCESS;
}
/* Does not compile where the callback has other parameters. */
template <typename A, typename B> constexpr bool same = false;
template <typename A> constexpr bool same<A, A> = true;
static_assert(same<decltype(&PwBulk), SanitizerCallbackBulkCopyGlobalToShared>, "another callback for bulk copies");
#endif
