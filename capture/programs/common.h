// What the programs of this folder share: parameters as key=value, arrays on both sides, launches timed by events, and
// the line of CSV that each launch is in the end. A program's CSV is for comparing pagewalk's kernels with silicon, so it
// has a launch's geometry, registers and shared bytes beside its time.
//
// The time between the events around a launch contains some 2 µs of the launch itself; a profiler (measure) tells the
// kernel's own.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <functional>
#include <string>
#include <vector>

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        cudaError_t result_ = (call);                                                                                  \
        if (result_ != cudaSuccess) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(result_));                           \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

// What was given as key=value, the last of several, or NULL.
inline const char *text_parameter(int argc, char **argv, const char *key)
{
    size_t length = strlen(key);
    const char *value = nullptr;
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], key, length) == 0 && argv[i][length] == '=')
            value = argv[i] + length + 1;
    return value;
}

// A number given as key=value, or the default.
inline long parameter(int argc, char **argv, const char *key, long value)
{
    const char *text = text_parameter(argc, argv, key);
    return text ? atol(text) : value;
}

inline uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}

inline uint64_t hashed(uint64_t seed, uint64_t i)
{
    return mixed(mixed(seed + 0x9e3779b97f4a7c15ULL) + i * 0x9e3779b97f4a7c15ULL);
}

// In [0, 1).
inline float unit(uint64_t seed, uint64_t i)
{
    return (float)(hashed(seed, i) >> 40) * (1.0F / 16777216.0F);
}

// An array in host and in device memory.
template <typename T> struct array {
    std::vector<T> host;
    T *device = nullptr;

    explicit array(size_t count) : host(count)
    {
        CUDA(cudaMalloc(&device, (count ? count : 1) * sizeof(T)));
    }
    void up()
    {
        CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    void down()
    {
        CUDA(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
    }
    void clear()
    {
        CUDA(cudaMemset(device, 0, host.size() * sizeof(T)));
    }
    T &operator[](size_t i)
    {
        return host[i];
    }
};

struct timed_launch {
    const char *kernel;
    dim3 grid, block;
    cudaFuncAttributes attributes;
    size_t dynamic_shared;
    cudaEvent_t begin, end;
};

inline std::vector<timed_launch> launches;

template <typename... P, typename... A>
void launch(const char *name, void (*kernel)(P...), dim3 grid, dim3 block, size_t dynamic_shared, A... arguments)
{
    timed_launch l = {name, grid, block, {}, dynamic_shared, {}, {}};
    CUDA(cudaFuncGetAttributes(&l.attributes, kernel));
    CUDA(cudaEventCreate(&l.begin));
    CUDA(cudaEventCreate(&l.end));
    CUDA(cudaEventRecord(l.begin));
    kernel<<<grid, block, dynamic_shared>>>(arguments...);
    CUDA(cudaGetLastError());
    CUDA(cudaEventRecord(l.end));
    launches.push_back(l);
}

// Prints the launches; `wrong` elements differ from what the CPU has. The exit code.
inline int finish(const char *program, size_t wrong)
{
    CUDA(cudaDeviceSynchronize());
    printf("program,launch,kernel,event_us,grid,block,registers,shared_bytes\n");
    for (size_t i = 0; i < launches.size(); i++) {
        const timed_launch &l = launches[i];
        float ms = 0;
        CUDA(cudaEventElapsedTime(&ms, l.begin, l.end));
        printf("%s,%zu,%s,%.3f,%u,%u,%d,%zu\n", program, i, l.kernel, ms * 1e3F, l.grid.x * l.grid.y * l.grid.z,
               l.block.x * l.block.y * l.block.z, l.attributes.numRegs,
               l.attributes.sharedSizeBytes + l.dynamic_shared);
    }
    if (wrong)
        fprintf(stderr, "%s: %zu elements differ from what the CPU has\n", program, wrong);
    return wrong != 0;
}

inline bool differs(double a, double b, double tolerance)
{
    double size = b < 0 ? -b : b, difference = a < b ? b - a : a - b;
    return !(difference <= tolerance * (size > 1 ? size : 1));
}
