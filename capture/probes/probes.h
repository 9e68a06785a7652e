// What the probes share: a GPU's own latencies and throughputs, measured one mechanism at a time, to find out which of
// pagewalk's are wrong where the times of whole programs are.
//
// A result is a line `probe,parameter,value,unit`, written out at once, so that a probe that hangs or fails takes none
// of those before it along. A call of CUDA that fails ends its probe alone (`attempt`): an exception, a line on stderr,
// and a fresh context for the next one. Unless a probe says otherwise a value is the median of its repetitions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cuda_runtime.h>
#include <stdexcept>
#include <string>
#include <vector>

#define CUDA(call)                                                                                                     \
    do {                                                                                                               \
        cudaError_t result_ = (call);                                                                                  \
        if (result_ != cudaSuccess)                                                                                    \
            throw std::runtime_error(std::string(__FILE__ ":") + std::to_string(__LINE__) + ": " +                     \
                                     cudaGetErrorString(result_));                                                     \
    } while (0)

inline void row(const std::string &probe, const std::string &parameter, double value, const char *unit)
{
    printf("%s,%s,%.7g,%s\n", probe.c_str(), parameter.c_str(), value, unit);
    fflush(stdout);
}

inline std::string is(const char *name, long value)
{
    return std::string(name) + "=" + std::to_string(value);
}

template <typename Body> void attempt(const char *name, Body body)
{
    try {
        body();
        CUDA(cudaDeviceSynchronize());
    } catch (const std::exception &error) {
        fprintf(stderr, "%s FAILED: %s\n", name, error.what());
        fflush(stderr);
        if (cudaDeviceSynchronize() != cudaSuccess)
            cudaDeviceReset();
        cudaGetLastError();
    }
}

struct buffer {
    char *device = nullptr;
    size_t bytes;

    explicit buffer(size_t size) : bytes(size)
    {
        CUDA(cudaMalloc(&device, size));
        CUDA(cudaMemset(device, 0, size));
    }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer()
    {
        cudaFree(device);
    }
    template <typename T> T *as()
    {
        return (T *)device;
    }
    template <typename T> std::vector<T> down(size_t count)
    {
        std::vector<T> values(count);
        CUDA(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
        return values;
    }
};

template <typename T> T median(std::vector<T> values)
{
    std::nth_element(values.begin(), values.begin() + (long)values.size() / 2, values.end());
    return values[values.size() / 2];
}

// Microseconds between events around what `enqueue` puts into the default stream.
template <typename Enqueue> double event_us(Enqueue enqueue)
{
    struct pair {
        cudaEvent_t begin = nullptr, end = nullptr;
        pair()
        {
            CUDA(cudaEventCreate(&begin));
            CUDA(cudaEventCreate(&end));
        }
        ~pair()
        {
            cudaEventDestroy(begin);
            cudaEventDestroy(end);
        }
    } events;
    CUDA(cudaEventRecord(events.begin));
    enqueue();
    CUDA(cudaGetLastError());
    CUDA(cudaEventRecord(events.end));
    CUDA(cudaEventSynchronize(events.end));
    float ms = 0;
    CUDA(cudaEventElapsedTime(&ms, events.begin, events.end));
    return ms * 1e3;
}

template <typename Enqueue> double median_us(int repetitions, Enqueue enqueue)
{
    std::vector<double> times;
    event_us(enqueue);
    for (int i = 0; i < repetitions; i++)
        times.push_back(event_us(enqueue));
    return median(times);
}

__host__ __device__ inline uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return x ^ x >> 31;
}

inline int sm_count()
{
    int count = 0;
    CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
    return count;
}

// Reads 256 MB of something else, so that nothing before is left in the L2 (main.cu).
void sweep_l2();

// The groups, one per file.
void probe_launch();
void launch_once();
void probe_latency();
void probe_chase();
void probe_issue();
void probe_issue_memory();
void probe_bandwidth();
void probe_parallelism();
void residency();
