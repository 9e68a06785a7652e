// probes: measures a GPU mechanism by mechanism (probes.h). The arguments are groups; without any, all that need no
// profiler. `launch-once` and `residency` measure nothing themselves: each of their launches happens once, in the order
// that they print, for ncu to look at (capture/measure).
#include "probes.h"
#include <cstring>

static __global__ void sweep(const uint4 *at, size_t count, uint32_t *out)
{
    uint32_t all = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        uint4 v = __ldcg(at + i);
        all ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (all == 0x12345678)
        *out = all;
}

void sweep_l2()
{
    static char *other = nullptr;
    size_t bytes = 256UL << 20;
    cudaPointerAttributes attributes = {};
    if (other) // gone with the context if a probe has failed
        if (cudaPointerGetAttributes(&attributes, other) != cudaSuccess || attributes.type != cudaMemoryTypeDevice)
            other = nullptr;
    cudaGetLastError();
    if (!other) {
        CUDA(cudaMalloc(&other, bytes));
        CUDA(cudaMemset(other, 0, bytes));
    }
    sweep<<<1056, 256>>>((const uint4 *)other, bytes / sizeof(uint4), (uint32_t *)other);
    CUDA(cudaGetLastError());
}

static const struct {
    const char *name;
    void (*run)();
    bool by_default;
} groups[] = {
    {"launch", probe_launch, true},         {"latency", probe_latency, true},    {"latency", probe_chase, true},
    {"issue", probe_issue, true},           {"issue", probe_issue_memory, true}, {"bandwidth", probe_bandwidth, true},
    {"bandwidth", probe_parallelism, true}, {"launch-once", launch_once, false}, {"residency", residency, false},
};

static void describe()
{
    cudaDeviceProp device;
    CUDA(cudaGetDeviceProperties(&device, 0));
    int khz = 0;
    CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    row("device", device.name, device.multiProcessorCount, "SMs");
    row("device", "l2", (double)device.l2CacheSize, "bytes");
    row("device", "clock", khz, "kHz");
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool known = false;
        for (const auto &group : groups)
            known |= strcmp(group.name, argv[i]) == 0;
        if (!known) {
            fprintf(stderr,
                    "probes: no group %s; there are launch, latency, issue, bandwidth, launch-once, residency\n",
                    argv[i]);
            return 2;
        }
    }
    bool once = argc == 2 && (strcmp(argv[1], "launch-once") == 0 || strcmp(argv[1], "residency") == 0);
    if (!once) {
        printf("probe,parameter,value,unit\n");
        attempt("device", describe);
    }
    for (const auto &group : groups) {
        bool asked = argc == 1 && group.by_default;
        for (int i = 1; i < argc; i++)
            asked |= strcmp(group.name, argv[i]) == 0;
        if (asked)
            attempt(group.name, group.run);
    }
    return 0;
}
