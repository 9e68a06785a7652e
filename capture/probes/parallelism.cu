// bandwidth by what is under way: every warp loads `lines` lines of 128 bytes (a word per lane), waits for all of them
// and goes on. By Little's law bandwidth is what is under way, by latency, until something is full; where the curve
// leaves the straight line is how much a GPU needs under way, and its slope the latency under load.
//
// A round's time includes some twenty cycles of the warp's own instructions. Data in the L2 have been read twice
// before.
#include "probes.h"

template <int Lines>
static __global__ void __launch_bounds__(1024)
    rounds_of(const uint32_t *data, uint32_t words, int rounds, uint32_t zero, long long *cycles, uint32_t *out)
{
    uint32_t apart = gridDim.x * blockDim.x % words, index = (blockIdx.x * blockDim.x + threadIdx.x) % words, all = 0;
    __syncthreads();
    long long begin = clock64();
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        uint32_t v[Lines], sum = 0;
#pragma unroll
        for (int i = 0; i < Lines; i++) {
            v[i] = __ldcg(data + index);
            index += apart;
            if (index >= words)
                index -= words;
        }
#pragma unroll
        for (int i = 0; i < Lines; i++)
            sum += v[i];
        all ^= sum;
        index += sum & zero; // the next round's addresses need this one's values
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = all;
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
}

template <int Lines> static void measure(const char *name, buffer &memory, size_t bytes, bool resident)
{
    int sms = sm_count(), rounds = 1000;
    buffer cycles(4096 * sizeof(long long)), out((size_t)sms * 2 * 1024 * 4);
    for (int warps : {1, 2, 4, 8, 16, 32, 64}) {
        int ctas = warps > 32 ? 2 * sms : sms, block = std::min(warps, 32) * 32;
        std::vector<double> us, each;
        for (int i = 0; i < 4; i++) {
            if (!resident)
                sweep_l2();
            us.push_back(event_us([&] {
                rounds_of<Lines><<<ctas, block>>>(memory.as<uint32_t>(), (uint32_t)(bytes / 4), rounds, 0,
                                                  cycles.as<long long>(), out.as<uint32_t>());
            }));
            each.push_back((double)median(cycles.down<long long>((size_t)ctas)) / rounds);
        }
        std::string parameter = is("warps", warps) + " " + is("lines", Lines) + " " + is("under_way", warps * Lines);
        row(name, parameter, (double)sms * warps * Lines * rounds * 128 / median(us) / 1e3, "bytes/ns");
        row(name, parameter, median(each), "cycles/round");
    }
}

void probe_parallelism()
{
    attempt("parallelism", [] {
        buffer memory(8UL << 30);
        for (int i = 0; i < 2; i++) // pages and clocks are warm
            measure<1>(i ? "parallel_dram" : "parallel_warm", memory, 8UL << 30, false);
        measure<2>("parallel_dram", memory, 8UL << 30, false);
        measure<4>("parallel_dram", memory, 8UL << 30, false);
        measure<1>("parallel_l2", memory, 16UL << 20, true);
        measure<2>("parallel_l2", memory, 16UL << 20, true);
        measure<4>("parallel_l2", memory, 16UL << 20, true);
    });
}
