// bandwidth of the L2 and of DRAM, all SMs or some of them: bytes per nanosecond between events, and bytes per cycle of
// the SMs' clock within the kernel (the longest CTA).
//
// Who reads what: `spread`, every SM another part each time around; `private`, an SM always its own part; `all`, every
// SM everything, each from a place of its own; `step`, every SM everything, all at the same place. Loads are
// ld.global.cg, which leaves the L1 out; eight per thread are under way. What is measured follows a pass that brings
// the data.
#include "probes.h"

enum mode { SPREAD, PRIVATE, ALL, STEP };
static const char *const mode_names[] = {"spread", "private", "all", "step"};
#define THREADS 1024
#define UNROLL 8

struct walk {
    uint32_t first, index, step, size; // in elements; index and step are below size
};

static __device__ walk walk_of(int mode, uint32_t elements)
{
    walk w = {0, 0, 0, elements};
    if (mode == SPREAD) {
        w.index = (blockIdx.x * THREADS + threadIdx.x) % elements;
        w.step = gridDim.x * THREADS % elements;
    } else if (mode == PRIVATE) {
        w.size = elements / gridDim.x / 32 * 32;
        w.first = w.size * blockIdx.x;
        w.index = threadIdx.x % w.size;
        w.step = THREADS % w.size;
    } else {
        w.index = (threadIdx.x + (mode == ALL ? elements / gridDim.x / 32 * 32 * blockIdx.x : 0)) % elements;
        w.step = THREADS % elements;
    }
    return w;
}

static __device__ __forceinline__ uint32_t folded(uint32_t v)
{
    return v;
}

static __device__ __forceinline__ uint32_t folded(uint4 v)
{
    return v.x ^ v.y ^ v.z ^ v.w;
}

template <typename T> static __device__ __forceinline__ T repeated(uint32_t x);
template <> __device__ __forceinline__ uint32_t repeated<uint32_t>(uint32_t x)
{
    return x;
}
template <> __device__ __forceinline__ uint4 repeated<uint4>(uint32_t x)
{
    return make_uint4(x, x, x, x);
}

template <typename T, bool Write>
static __global__ void __launch_bounds__(THREADS)
    pass_over(T *data, uint32_t elements, int mode, int rounds, long long *cycles, uint32_t *out)
{
    walk w = walk_of(mode, elements);
    T *at = data + w.first;
    uint32_t all = 0;
    __syncthreads();
    long long begin = clock64();
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        T v[UNROLL];
#pragma unroll
        for (int i = 0; i < UNROLL; i++) {
            if (Write)
                at[w.index] = repeated<T>((uint32_t)round);
            else
                v[i] = __ldcg(at + w.index);
            w.index += w.step;
            if (w.index >= w.size)
                w.index -= w.size;
        }
        if (!Write)
#pragma unroll
            for (int i = 0; i < UNROLL; i++)
                all ^= folded(v[i]);
    }
    if (all == 0x12345678)
        *out = all;
    __syncthreads();
    if (threadIdx.x == 0)
        cycles[blockIdx.x] = clock64() - begin;
}

template <typename T, bool Write>
static void measure(const std::string &name, buffer &memory, size_t bytes, int mode, int ctas, size_t total)
{
    buffer cycles(1024 * sizeof(long long)), out(4);
    size_t each = (size_t)ctas * THREADS * UNROLL * sizeof(T);
    int rounds = (int)std::max<size_t>(1, total / each);
    auto run = [&](int n) {
        pass_over<T, Write><<<ctas, THREADS>>>(memory.as<T>(), (uint32_t)(bytes / sizeof(T)), mode, n,
                                               cycles.as<long long>(), out.as<uint32_t>());
    };
    run((int)((mode >= ALL ? ctas : 1) * bytes / each + 1));
    std::vector<double> us, longest;
    for (int i = 0; i < 5; i++) {
        us.push_back(event_us([&] { run(rounds); }));
        std::vector<long long> all = cycles.down<long long>((size_t)ctas);
        longest.push_back((double)*std::max_element(all.begin(), all.end()));
    }
    double moved = (double)each * rounds;
    row(name, is("kb", (long)(bytes >> 10)) + " " + mode_names[mode] + " " + is("sms", ctas), moved / median(us) / 1e3,
        "bytes/ns");
    row(name, is("kb", (long)(bytes >> 10)) + " " + mode_names[mode] + " " + is("sms", ctas), moved / median(longest),
        "bytes/cycle");
}

static void l2()
{
    int sms = sm_count();
    buffer memory(128UL << 20);
    for (size_t mb : {1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 96, 128}) {
        for (int mode : {SPREAD, PRIVATE, ALL})
            measure<uint4, false>("l2_read128", memory, mb << 20, mode, sms, 2UL << 30);
        measure<uint32_t, false>("l2_read32", memory, mb << 20, SPREAD, sms, 1UL << 30);
        measure<uint4, true>("l2_write128", memory, mb << 20, SPREAD, sms, 2UL << 30);
    }
    for (size_t kb : {64, 256, 1024, 8192})
        measure<uint4, false>("l2_read128", memory, kb << 10, STEP, sms, 2UL << 30);
    measure<uint32_t, true>("l2_write32", memory, 16UL << 20, SPREAD, sms, 1UL << 30);
    for (int ctas : {1, 2, 4, 8, 16, 33, 66, 132})
        if (ctas <= sms) {
            measure<uint4, false>("l2_read128_sms", memory, 16UL << 20, SPREAD, ctas, (size_t)ctas << 23);
            measure<uint32_t, false>("l2_read32_sms", memory, 16UL << 20, SPREAD, ctas, (size_t)ctas << 22);
            measure<uint4, true>("l2_write128_sms", memory, 16UL << 20, SPREAD, ctas, (size_t)ctas << 23);
        }
}

static __global__ void __launch_bounds__(512) copy(const uint4 *from, uint4 *to, size_t count)
{
    size_t apart = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i + 3 * apart < count; i += 4 * apart) {
        uint4 v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = __ldcg(from + i + k * apart);
#pragma unroll
        for (int k = 0; k < 4; k++)
            to[i + k * apart] = v[k];
    }
}

// Groups of `Lanes` lanes read neighbouring sectors of 32 bytes, each group anywhere.
template <int Lanes>
static __global__ void random_sectors(const char *memory, uint64_t bytes, int rounds, uint32_t *out)
{
    uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x, x = mixed(thread / Lanes + 1);
    uint64_t mask = bytes / (32 * Lanes) - 1;
    uint32_t all = 0;
    for (int round = 0; round < rounds; round++) {
        uint32_t v[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            x = x * 6364136223846793005ULL + 1442695040888963407ULL;
            v[i] = __ldcg((const uint32_t *)(memory + ((x >> 20 & mask) * Lanes + thread % Lanes) * 32));
        }
        all ^= v[0] ^ v[1] ^ v[2] ^ v[3];
    }
    if (all == 0x12345678)
        *out = all;
}

template <int Lanes> static void measure_random(buffer &memory, size_t bytes)
{
    buffer out(4);
    int sms = sm_count(), rounds = 32;
    double us = median_us(
        5, [&] { random_sectors<Lanes><<<sms * 4, 512>>>(memory.device, bytes, rounds, out.as<uint32_t>()); });
    std::string parameter = is("bytes", Lanes * 32) + " of " + is("mb", (long)(bytes >> 20));
    double sectors = (double)sms * 4 * 512 * rounds * 4;
    row("dram_random", parameter, sectors / Lanes / us / 1e3, "G/s");
    row("dram_random", parameter, sectors * 32 / us / 1e3, "bytes/ns");
}

static void dram()
{
    int sms = sm_count();
    size_t bytes = 4UL << 30;
    buffer memory(bytes);
    measure<uint4, false>("dram_read128", memory, bytes, SPREAD, sms, bytes);
    measure<uint32_t, false>("dram_read32", memory, bytes, SPREAD, sms, bytes);
    measure<uint4, true>("dram_write128", memory, bytes, SPREAD, sms, bytes);
    for (int ctas : {sms * 2, sms * 4, sms * 16}) {
        size_t each = (size_t)ctas * 512 * 4, count = bytes / 2 / sizeof(uint4) / each * each;
        double us = median_us(5, [&] { copy<<<ctas, 512>>>(memory.as<uint4>(), memory.as<uint4>() + count, count); });
        row("dram_copy", is("ctas", ctas) + " read and written", (double)count * 32 / us / 1e3, "bytes/ns");
    }
    for (size_t mb : {256, 4096}) {
        measure_random<1>(memory, mb << 20);
        measure_random<2>(memory, mb << 20);
        measure_random<4>(memory, mb << 20);
    }
    measure_random<1>(memory, 16UL << 20); // from the L2
}

enum pattern { COALESCED, WARP, ONE, RANDOM, RANDOM_WARP };
static const char *const pattern_names[] = {"coalesced 16 MB", "an address per warp", "one address", "random in 64 MB",
                                            "random line in 64 MB per warp"};

// `zero` is 0, which the compiler does not know: else it would have one lane add for the whole warp.
template <bool Returning, int Pattern>
static __global__ void atomics(char *memory, int rounds, uint32_t zero, uint32_t *out)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, all = 0;
    uint64_t x = mixed((Pattern == RANDOM_WARP ? thread / 32 : thread) + 1);
    for (int round = 0; round < rounds; round++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint32_t turn = (uint32_t)(round * 4 + i), word = thread * zero, v = 0;
            if (Pattern == RANDOM || Pattern == RANDOM_WARP)
                x = x * 6364136223846793005ULL + 1442695040888963407ULL;
            if (Pattern == COALESCED)
                word = (thread + turn * gridDim.x * blockDim.x) % (4U << 20);
            else if (Pattern == WARP)
                word = thread / 32 * 32 + word;
            else if (Pattern == RANDOM)
                word = (uint32_t)(x >> 20) % (16U << 20);
            else if (Pattern == RANDOM_WARP)
                word = (uint32_t)(x >> 20) % (16U << 20) / 32 * 32 + threadIdx.x % 32;
            if (Returning)
                asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(v) : "l"(memory + word * 4UL) : "memory");
            else
                asm volatile("red.global.add.u32 [%0], 1;" ::"l"(memory + word * 4UL) : "memory");
            all ^= v;
        }
    if (all == 0x12345678)
        *out = all;
}

template <bool Returning, int Pattern> static void measure_atomics(buffer &memory)
{
    buffer out(4);
    int sms = sm_count(), rounds = Pattern == ONE ? 4 : 16;
    double us = median_us(
        3, [&] { atomics<Returning, Pattern><<<sms * 2, 1024>>>(memory.device, rounds, 0, out.as<uint32_t>()); });
    row(Returning ? "atom_add" : "red_add", pattern_names[Pattern], (double)sms * 2048 * rounds * 4 / us / 1e3,
        "operations of lanes/ns");
}

template <int Pattern> static void measure_both(buffer &memory)
{
    measure_atomics<false, Pattern>(memory);
    measure_atomics<true, Pattern>(memory);
}

static void atomic_operations()
{
    buffer memory(64UL << 20);
    measure_both<COALESCED>(memory);
    measure_both<WARP>(memory);
    measure_both<ONE>(memory);
    measure_both<RANDOM>(memory);
    measure_both<RANDOM_WARP>(memory);
}

void probe_bandwidth()
{
    attempt("l2", l2);
    attempt("dram", dram);
    attempt("atomics", atomic_operations);
}
