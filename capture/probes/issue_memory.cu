// issue of loads, stores and atomic operations by one SM: warp instructions per cycle, by pattern of lanes and by
// warps.
//
// A turn of the loop has sixteen independent accesses, at distances that are constants, so that no address is computed;
// what is loaded is folded into one word by half an instruction for each. All warps load the same data, which is in the
// L1 where the row says so; stores and loads from the L2 have a place of their own for each warp. A lane's place is
// `stride` words from its neighbour's: in shared memory stride n, a power of two, is n-way conflicts, in global memory
// more lines. `random` lanes read anywhere in 16 KB, each warp with a pattern of its own.
#include "probes.h"

enum access {
    LDS32,
    LDS64,
    LDS128,
    STS32,
    STS64,
    STS128,
    ATOMS_ADD,
    ATOMS_CAS,
    LDG32,
    LDG64,
    LDG128,
    LDG32_L2,
    LDG128_L2,
    STG32,
    STG128
};

#define EACH 16
#define SHARED_BYTES (40 << 10)
#define WARP_BYTES (96 << 10) // a warp's own place in global memory
#define APART 4224            // between accesses to global memory: another line of another set

template <int Access>
static __device__ __forceinline__ void one_access(uint32_t s, const char *g, uint32_t x, uint32_t &a, uint32_t &b,
                                                  uint32_t &c, uint32_t &d)
{
    if (Access == LDS32)
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(a) : "r"(s));
    else if (Access == LDS64)
        asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(s));
    else if (Access == LDS128)
        asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(s));
    else if (Access == STS32)
        asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(s), "r"(x));
    else if (Access == STS64)
        asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(s), "r"(x));
    else if (Access == STS128)
        asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(s), "r"(x));
    else if (Access == ATOMS_ADD)
        asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(a) : "r"(s), "r"(x));
    else if (Access == ATOMS_CAS)
        asm volatile("atom.shared.cas.b32 %0, [%1], %2, %2;" : "=r"(a) : "r"(s), "r"(x));
    else if (Access == LDG32)
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(a) : "l"(g));
    else if (Access == LDG64)
        asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(g));
    else if (Access == LDG128)
        asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(g));
    else if (Access == LDG32_L2)
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(a) : "l"(g));
    else if (Access == LDG128_L2)
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(g));
    else if (Access == STG32)
        asm volatile("st.global.u32 [%0], %1;" ::"l"(g), "r"(x));
    else
        asm volatile("st.global.v4.u32 [%0], {%1, %1, %1, %1};" ::"l"(g), "r"(x));
}

static __host__ __device__ constexpr int bytes_of(int access)
{
    return access == LDS128 || access == STS128 || access == LDG128 || access == LDG128_L2 || access == STG128 ? 16
           : access == LDS64 || access == STS64 || access == LDG64                                             ? 8
                                                                                                               : 4;
}

// `zero` is 0, which the compiler does not know: no access is the same as in the turn before.
template <int Access, bool Random>
static __global__ void __launch_bounds__(1024)
    accesses(char *memory, int stride, int turns, uint32_t zero, uint32_t *out, long long *begin, long long *end)
{
    __shared__ __align__(16) uint32_t table[SHARED_BYTES / 4];
    constexpr int size = bytes_of(Access), apart = Access < LDG32 || Random ? size : APART;
    uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, x = threadIdx.x;
    for (uint32_t i = threadIdx.x; i < SHARED_BYTES / 4; i += blockDim.x)
        table[i] = i;
    uint32_t offset = lane * (uint32_t)stride * 4;
    if (Random)
        offset = (threadIdx.x * 2654435761U ^ threadIdx.x * 40503U << 7) >> 8 & 4095 * 4U;
    uint32_t shared = (uint32_t)__cvta_generic_to_shared(table) + offset;
    char *global = memory + offset + (Access >= LDG32_L2 ? warp * WARP_BYTES : 0);
    long long t0 = 0;
    for (int round = 0; round < 2; round++) { // the first one fills the L1
        __syncthreads();
        t0 = clock64();
#pragma unroll 1
        for (int turn = 0; turn < turns; turn++) {
            uint32_t change = (uint32_t)turn & zero, a[EACH] = {}, b[EACH] = {}, c[EACH] = {}, d[EACH] = {};
#pragma unroll
            for (int i = 0; i < EACH; i++)
                one_access<Access>(shared + change + (uint32_t)(i * apart), global + change + i * apart, x, a[i], b[i],
                                   c[i], d[i]);
#pragma unroll
            for (int i = 0; i < EACH; i++)
                x ^= a[i] ^ b[i] ^ c[i] ^ d[i];
        }
    }
    out[threadIdx.x] = x + table[lane];
    long long t1 = clock64();
    if (lane == 0) {
        begin[warp] = t0;
        end[warp] = t1;
    }
}

template <int Access, bool Random = false> static void measure(const char *name, std::vector<int> strides)
{
    attempt(name, [&] {
        buffer memory(32 * WARP_BYTES), out(4096), begin(256), end(256);
        int turns = 64;
        for (int stride : strides)
            for (int warps : {1, 2, 4, 8, 16, 32}) {
                std::vector<double> found;
                for (int i = 0; i < 3; i++) {
                    accesses<Access, Random><<<1, warps * 32>>>(memory.device, stride, turns, 0, out.as<uint32_t>(),
                                                                begin.as<long long>(), end.as<long long>());
                    CUDA(cudaGetLastError());
                    std::vector<long long> b = begin.down<long long>((size_t)warps),
                                           e = end.down<long long>((size_t)warps);
                    found.push_back(
                        (double)(*std::max_element(e.begin(), e.end()) - *std::min_element(b.begin(), b.end())));
                }
                row("issue_memory",
                    std::string(name) + " " + (Random ? "random" : is("stride", stride)) + " " + is("warps", warps),
                    (double)warps * turns * EACH / median(found), "instructions/cycle/SM");
            }
    });
}

void probe_issue_memory()
{
    measure<LDS32>("lds32", {0, 1, 2, 4, 8, 16, 32});
    measure<LDS64>("lds64", {2, 4});
    measure<LDS128>("lds128", {4, 8});
    measure<STS32>("sts32", {0, 1, 2, 4, 32});
    measure<STS64>("sts64", {2});
    measure<STS128>("sts128", {4});
    measure<ATOMS_ADD>("atoms_add", {0, 1, 2, 32});
    measure<ATOMS_CAS>("atoms_cas", {0, 1});
    measure<LDG32>("ldg32_l1", {0, 1, 2, 4, 8, 16, 32});
    measure<LDG64>("ldg64_l1", {2, 4});
    measure<LDG128>("ldg128_l1", {4, 8});
    measure<LDG32, true>("ldg32_l1", {0});
    measure<LDG32_L2>("ldg32_l2", {1, 2, 8, 32});
    measure<LDG128_L2>("ldg128_l2", {4});
    measure<STG32>("stg32", {1, 2, 8, 32});
    measure<STG128>("stg128", {4});
}
