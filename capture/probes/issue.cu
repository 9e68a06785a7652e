// issue: warp instructions per cycle that one SM completes of one kind, by warps and by independent chains per warp.
//
// With one chain it is latency that limits, with four or eight what a unit takes. The body of the loop has 96 steps, so
// that the loop's own three instructions are 3% at most. ffma_iadd3 is two instructions per step, and counted as two.
// `branch` is what a branch costs whose two sides have sixteen dependent IMADs each: all lanes on one side, or half of
// them.
#include "stream.h"

namespace op
{
OPERATION(imnmx, int, "r", "{ .reg .s32 t; max.s32 t, %0, %1; xor.b32 %0, t, %2; }")
OPERATION(lop3, uint32_t, "r", "lop3.b32 %0, %0, %1, %2, 0xe8;")
OPERATION(mufu_ex2, float, "f", "ex2.approx.ftz.f32 %0, %0;")
OPERATION(isetp_sel, int, "r", "{ .reg .pred p; setp.lt.s32 p, %0, %1; selp.b32 %0, %2, %1, p; }")
OPERATION(popc, uint32_t, "r", "popc.b32 %0, %0;")
} // namespace op

template <typename Op, int ILP> static void measure(const char *name, int instructions)
{
    constexpr int U = 96 / ILP;
    runner<Op> r;
    int turns = 40;
    for (int warps : {1, 2, 4, 8, 16, 32}) {
        double cycles = r.template cycles<ILP, U>(warps, turns, 3);
        row("issue", std::string(name) + " " + is("warps", warps) + " " + is("ilp", ILP),
            (double)warps * ILP * U * turns * instructions / cycles, "instructions/cycle/SM");
    }
}

template <typename Op> static void measure(const char *name, int instructions = 1)
{
    attempt(name, [&] {
        measure<Op, 1>(name, instructions);
        measure<Op, 4>(name, instructions);
        measure<Op, 8>(name, instructions);
    });
}

static __device__ uint32_t side(uint32_t x, uint32_t b, uint32_t c)
{
#pragma unroll
    for (int i = 0; i < 16; i++)
        asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x) : "r"(b), "r"(c));
    return x;
}

// Lanes of `sides`, by turns of the loop the lower and the upper 32 bits, take the first side.
static __global__ void branches(uint64_t sides, uint32_t b, uint32_t c, int turns, uint32_t *out, long long *cycles)
{
    uint32_t x = threadIdx.x, lane = threadIdx.x % 32;
    __syncthreads();
    long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < turns; i++) {
        if (sides >> (lane + (i & 1) * 32) & 1)
            x = side(x, b, c);
        else
            x = side(x, c, b);
        __syncwarp();
    }
    out[threadIdx.x] = x;
    *cycles = clock64() - begin;
}

// The same without any branch.
static __global__ void no_branches(uint64_t sides, uint32_t b, uint32_t c, int turns, uint32_t *out, long long *cycles)
{
    uint32_t x = threadIdx.x + (uint32_t)sides;
    __syncthreads();
    long long begin = clock64();
#pragma unroll 1
    for (int i = 0; i < turns; i++) {
        x = side(x, b, c);
        __syncwarp();
    }
    out[threadIdx.x] = x;
    *cycles = clock64() - begin;
}

static void measure_branches()
{
    static const struct {
        const char *name;
        uint64_t sides;
    } cases[] = {{"same side always", ~0ULL},
                 {"sides by turns", 0xffffffffULL},
                 {"half of the lanes each", 0x5555555555555555ULL},
                 {"one lane apart", ~0x100000001ULL}};
    buffer out(4096), cycles(8);
    int turns = 512;
    for (int warps : {1, 4, 32}) {
        for (const auto &c : cases) {
            for (int i = 0; i < 2; i++)
                branches<<<1, warps * 32>>>(c.sides, 0x7ffffc03, 0x3b9aca07, turns, out.as<uint32_t>(),
                                            cycles.as<long long>());
            row("branch", std::string(c.name) + " " + is("warps", warps), (double)cycles.down<long long>(1)[0] / turns,
                "cycles/turn");
        }
        for (int i = 0; i < 2; i++)
            no_branches<<<1, warps * 32>>>(0, 0x7ffffc03, 0x3b9aca07, turns, out.as<uint32_t>(),
                                           cycles.as<long long>());
        row("branch", "none " + is("warps", warps), (double)cycles.down<long long>(1)[0] / turns, "cycles/turn");
    }
}

void probe_issue()
{
    measure<op::ffma>("ffma");
    measure<op::iadd3>("iadd3");
    measure<op::imad>("imad");
    measure<op::lop3>("lop3");
    measure<op::imnmx>("imnmx_lop3", 2);
    measure<op::isetp_sel>("isetp_sel", 2);
    measure<op::ffma_iadd3>("ffma_iadd3", 2);
    measure<op::mufu_ex2>("mufu_ex2");
    measure<op::popc>("popc");
    measure<op::dfma>("dfma");
    measure<op::dadd>("dadd");
    measure<op::f2f_up>("f2f_up");
    measure<op::i2f>("i2f");
    measure<op::f2i>("f2i");
    measure<op::shfl>("shfl");
    attempt("branches", measure_branches);
}
