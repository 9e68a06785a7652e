// latency of memory: one lane follows pointers over a random cycle of lines; each hop is timed by itself.
//
// A hop's time is from the issue of one load to the issue of the next, which needs the first one's value: instructions
// issue in order, so nothing of the clock's own cost is in it but an instruction or two. What is left of the L2 in
// `dram` has been read away before. Of the L2 there are two halves: a line's time depends on which half it is in and on
// which SM asks, so this is repeated from several SMs. `first` is the first time this SM asks for each line since
// another kernel wrote them all, `again` the second time around.
#include "probes.h"
#include <map>

#define HOPS 4096

struct link {
    uint64_t at, next;
};

static __global__ void write_links(const link *links, int count)
{
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += (int)(gridDim.x * blockDim.x))
        *(uint64_t *)links[i].at = links[i].next;
}

template <bool L1>
static __global__ void chase(uint64_t at, int hops, uint32_t cta, uint32_t *times, uint64_t *out, uint32_t *sm)
{
    __shared__ uint32_t clocks[HOPS + 1];
    if (blockIdx.x != cta)
        return;
#pragma unroll 1
    for (int i = 0; i < hops; i++) {
        uint32_t now;
        if (L1)
            asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory");
        else
            asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at)::"memory");
        asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
        clocks[i] = now;
    }
    *out = at;
    for (int i = 0; i + 1 < hops; i++)
        times[i] = clocks[i + 1] - clocks[i];
    asm volatile("mov.u32 %0, %%smid;" : "=r"(*sm));
}

// A random cycle over `count` lines of `bytes`, which start at a multiple of `grain` and end up in the memory.
static uint64_t lay_links(buffer &memory, size_t bytes, int count, size_t grain, uint64_t seed)
{
    size_t places = bytes / grain;
    std::vector<uint64_t> lines;
    std::map<uint64_t, bool> taken;
    for (uint64_t i = 0; (int)lines.size() < count; i++) {
        uint64_t place = mixed(seed + i * 0x9e3779b97f4a7c15ULL) % places;
        if (taken.emplace(place, true).second)
            lines.push_back((uint64_t)memory.device + place * grain);
    }
    std::vector<link> links;
    for (int i = 0; i < count; i++)
        links.push_back({lines[i], lines[(i + 1) % count]});
    buffer list(links.size() * sizeof(link));
    CUDA(cudaMemcpy(list.device, links.data(), links.size() * sizeof(link), cudaMemcpyHostToDevice));
    write_links<<<132, 32>>>(list.as<link>(), count);
    CUDA(cudaDeviceSynchronize());
    return lines[0];
}

template <bool L1>
static std::vector<uint32_t> hop_times(uint64_t at, int hops, uint32_t cta, uint32_t *out_sm = nullptr)
{
    buffer times(HOPS * sizeof(uint32_t)), out(8), sm(4);
    chase<L1><<<264, 1>>>(at, hops, cta, times.as<uint32_t>(), out.as<uint64_t>(), sm.as<uint32_t>());
    CUDA(cudaGetLastError());
    if (out_sm)
        *out_sm = sm.down<uint32_t>(1)[0];
    return times.down<uint32_t>((size_t)hops - 1);
}

static void describe(const std::string &name, std::vector<uint32_t> times, bool histogram)
{
    std::sort(times.begin(), times.end());
    double sum = 0;
    for (uint32_t t : times)
        sum += t;
    size_t n = times.size();
    row("chase", name + " min", times[0], "cycles");
    row("chase", name + " p10", times[n / 10], "cycles");
    row("chase", name + " median", times[n / 2], "cycles");
    row("chase", name + " p90", times[n * 9 / 10], "cycles");
    row("chase", name + " max", times[n - 1], "cycles");
    row("chase", name + " mean", sum / (double)n, "cycles");
    if (!histogram)
        return;
    std::map<uint32_t, int> bins;
    for (uint32_t t : times)
        bins[t / 20 * 20]++;
    for (auto &[from, count] : bins)
        row("chase_histogram", name + " " + is("from", from), count, "hops");
}

static void l1()
{
    buffer memory(16 << 10);
    uint64_t at = lay_links(memory, 16 << 10, 128, 128, 1);
    hop_times<true>(at, HOPS, 0);
    std::vector<uint32_t> times = hop_times<true>(at, HOPS, 0);
    describe("l1 16 KB", std::vector<uint32_t>(times.begin() + 256, times.end()), false);
}

static __global__ void chase_twice(uint64_t at, int hops, uint32_t *cycles, uint64_t *out)
{
    for (int round = 0; round < 2; round++) { // the first one fills the cache
        long long begin = clock64();
#pragma unroll 1
        for (int i = 0; i < hops; i++)
            asm volatile("ld.global.ca.u64 %0, [%0];" : "+l"(at)::"memory");
        *out = at; // waits for the last one
        *cycles = (uint32_t)(clock64() - begin);
    }
}

// How many lines the L1 holds: cycles a hop over a random cycle of so many, beside shared memory of so many bytes.
static void l1_capacity()
{
    CUDA(cudaFuncSetAttribute(chase_twice, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    for (int shared : {0, 16 << 10, 96 << 10, 200 << 10})
        for (int lines : {256, 384, 512, 768, 1024, 1152, 1280, 1408, 1536, 1664, 1728, 1792, 1856, 1920, 1984, 2048, 2176, 2560}) {
            buffer memory((size_t)lines * 128), cycles(4), out(8);
            uint64_t at = lay_links(memory, (size_t)lines * 128, lines, 128, 7);
            chase_twice<<<1, 1, shared>>>(at, lines, cycles.as<uint32_t>(), out.as<uint64_t>());
            CUDA(cudaGetLastError());
            row("l1_capacity", is("shared", shared) + " " + is("lines", lines),
                (double)cycles.down<uint32_t>(1)[0] / lines, "cycles/hop");
        }
}

static void l2()
{
    for (size_t mb : {2, 4, 16}) {
        buffer memory(mb << 20);
        uint64_t at = lay_links(memory, mb << 20, HOPS / 2, 128, mb);
        for (uint32_t cta : {0, 1, 2, 17, 40, 77, 100, 131}) {
            // Another kernel writes all lines anew, so that no copies are left of the last SM's reading.
            at = lay_links(memory, mb << 20, HOPS / 2, 128, mb);
            uint32_t sm = 0;
            std::vector<uint32_t> times = hop_times<false>(at, HOPS, cta, &sm);
            std::string name = "l2 " + std::to_string(mb) + " MB " + is("sm", sm);
            describe(name + " first", {times.begin() + 16, times.begin() + HOPS / 2 - 16}, mb == 4 && cta < 2);
            describe(name + " again", {times.begin() + HOPS / 2, times.end()}, mb == 4 && cta < 2);
        }
    }
}

// Touches a line of every 2 MB page; the chase follows others.
static __global__ void touch_pages(char *at, size_t bytes, uint32_t cta, uint32_t *out)
{
    uint32_t all = 0;
    if (blockIdx.x == cta)
        for (size_t page = threadIdx.x; page < bytes >> 21; page += blockDim.x)
            all += __ldcg((const uint32_t *)(at + (page << 21) + (page & 511) * 4096));
    if (all == 0x12345678)
        *out = all;
}

static void dram()
{
    for (size_t mb : {64, 256, 2048}) {
        buffer memory(mb << 20), out(4);
        uint64_t at = lay_links(memory, mb << 20, HOPS, 128, 3 + mb);
        for (uint32_t cta : {0, 1}) {
            sweep_l2();
            touch_pages<<<264, 256>>>(memory.device, memory.bytes, cta, out.as<uint32_t>());
            uint32_t sm = 0;
            std::vector<uint32_t> times = hop_times<false>(at, HOPS, cta, &sm);
            describe("dram " + std::to_string(mb) + " MB " + is("sm", sm), {times.begin() + 16, times.end()},
                     cta == 0 && mb != 256);
        }
    }
}

// Each address by a chain of its own, of atomic operations that return the value that the next one adds.
template <bool Add>
static __global__ void atomic_chains(char *at, int addresses, uint32_t zero, uint32_t *cycles, uint32_t *out)
{
    uint32_t x = zero;
    for (int i = 0; i < addresses; i++) {
        char *place = at + (size_t)i * 4224 + threadIdx.x * 4; // not known to be the same for all lanes
#pragma unroll 1
        for (int round = 0; round < 2; round++) { // the first one warms up
            long long begin = clock64();
#pragma unroll 1
            for (int k = 0; k < 16; k++)
                if (Add)
                    asm volatile("atom.global.add.u32 %0, [%1], %0;" : "+r"(x) : "l"(place) : "memory");
                else
                    asm volatile("atom.global.cas.b32 %0, [%1], %0, %0;" : "+r"(x) : "l"(place) : "memory");
            out[1] = x; // waits for the last one
            cycles[i] = (uint32_t)(clock64() - begin) / 16;
        }
    }
    out[0] = x;
}

static void atomics()
{
    buffer memory(4 << 20), cycles(512 * 4), out(8);
    atomic_chains<true><<<1, 1>>>(memory.device, 512, 0, cycles.as<uint32_t>(), out.as<uint32_t>());
    describe("atomg_add", cycles.down<uint32_t>(512), true);
    atomic_chains<false><<<1, 1>>>(memory.device, 512, 0, cycles.as<uint32_t>(), out.as<uint32_t>());
    describe("atomg_cas", cycles.down<uint32_t>(512), false);
}

void probe_chase()
{
    attempt("l1", l1);
    attempt("l1_capacity", l1_capacity);
    attempt("l2", l2);
    attempt("dram", dram);
    attempt("atomics", atomics);
}
