// latency: cycles from one instruction to the next that needs its result, one warp on one SM.
//
// A body of 24 steps less one of 8, over the same number of turns: what the loop and the clock cost cancels. Barriers
// are repeated with more warps; the other instructions of their steps are in the rows' names. `stencil` is what a
// program with tiles does: store to shared memory, barrier, load of a neighbour's value; `stencil2` has a second
// barrier after the load. Division, square root and exp are what nvcc makes of C++ (some tens of instructions), IEEE's
// unless named otherwise.
#include "stream.h"

namespace op
{
OPERATION(fmul, float, "f", "mul.rn.f32 %0, %0, %1;")
OPERATION(fadd, float, "f", "add.rn.f32 %0, %0, %1;")
OPERATION(lop3, uint32_t, "r", "lop3.b32 %0, %0, %1, %2, 0xe8;")
OPERATION(shf, uint32_t, "r", "shf.l.wrap.b32 %0, %0, %1, %2;")
OPERATION(shl, uint32_t, "r", "shl.b32 %0, %0, %1;")
OPERATION(imad_wide, uint64_t, "l", "{ .reg .u32 t, h; mov.b64 {t, h}, %0; mad.wide.u32 %0, t, h, %1; }")
OPERATION(isetp_sel, int, "r", "{ .reg .pred p; setp.lt.s32 p, %0, %1; selp.b32 %0, %2, %1, p; }")
OPERATION(fsetp_fsel, float, "f", "{ .reg .pred p; setp.lt.f32 p, %0, %1; selp.f32 %0, %2, %1, p; }")
OPERATION(popc, uint32_t, "r", "popc.b32 %0, %0;")
OPERATION(mufu_ex2, float, "f", "ex2.approx.ftz.f32 %0, %0;")
OPERATION(mufu_lg2, float, "f", "lg2.approx.ftz.f32 %0, %0;")
OPERATION(mufu_rsq, float, "f", "rsqrt.approx.ftz.f32 %0, %0;")
OPERATION(mufu_sqrt, float, "f", "sqrt.approx.ftz.f32 %0, %0;")
OPERATION(dmul, double, "d", "mul.rn.f64 %0, %0, %1;")
OPERATION(vote, uint32_t, "r", "{ .reg .pred p; setp.gt.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, 0xffffffff; }")
OPERATION(redux, uint32_t, "r", "redux.sync.add.s32 %0, %0, 0xffffffff;")
OPERATION_FROM(lds, uint32_t, "r", k.own + (uint32_t)j * 4, "ld.shared.u32 %0, [%0];")
OPERATION(sts_lds, uint32_t, "r", "st.volatile.shared.u32 [%3], %0; ld.volatile.shared.u32 %0, [%3];")
OPERATION(atoms_add, uint32_t, "r", "atom.shared.add.u32 %0, [%3], %0;")
OPERATION(atoms_cas, uint32_t, "r", "atom.shared.cas.b32 %0, [%3], %0, %1;")
OPERATION_FROM(ldg_l1, uint64_t, "l", k.global + threadIdx.x % 32 * k.stride + (uint32_t)j * 8,
               "ld.global.ca.u64 %0, [%0];")
OPERATION(bar, uint32_t, "r", "bar.sync 0;")
OPERATION(iadd3_bar, uint32_t, "r", "{ .reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %2; } bar.sync 0;")
OPERATION(syncwarp, uint32_t, "r", "bar.warp.sync 0xffffffff;")
OPERATION(stencil2, uint32_t, "r",
          "st.volatile.shared.u32 [%3], %0; bar.sync 0; ld.volatile.shared.u32 %0, [%4]; bar.sync 0;")
OPERATION(fence_cta, uint32_t, "r", "fence.acq_rel.cta;")
OPERATION(fence_gpu, uint32_t, "r", "fence.acq_rel.gpu;")
OPERATION(threadfence, uint32_t, "r", "membar.gl;")
OPERATION(stg_threadfence, uint32_t, "r", "st.global.u32 [%5+32768], %0; membar.gl;")

// Two halves of shared memory by turns, so that one barrier is enough.
struct stencil {
    typedef uint32_t T;
    static __device__ T begin(T x, const operands<T> &, int)
    {
        return x;
    }
    static __device__ T step(T x, const operands<T> &k, int i)
    {
        if (i & 1)
            asm volatile("st.volatile.shared.u32 [%1], %0; bar.sync 0; ld.volatile.shared.u32 %0, [%2];"
                         : "+r"(x)
                         : "r"(k.own), "r"(k.next));
        else
            asm volatile("st.volatile.shared.u32 [%1+8192], %0; bar.sync 0; ld.volatile.shared.u32 %0, [%2+8192];"
                         : "+r"(x)
                         : "r"(k.own), "r"(k.next));
        return x;
    }
};

#define EXPRESSION(name, type, expression)                                                                             \
    struct name {                                                                                                      \
        typedef type T;                                                                                                \
        static __device__ T begin(T x, const operands<T> &k, int j)                                                    \
        {                                                                                                              \
            return x + (T)(k.own & 64) + (T)j;                                                                         \
        }                                                                                                              \
        static __device__ T step(T x, const operands<T> &k, int i)                                                     \
        {                                                                                                              \
            [[maybe_unused]] T a = i & 1 ? k.a : k.c;                                                                  \
            return expression;                                                                                         \
        }                                                                                                              \
    };

static __constant__ uint32_t constants[64]; // zeros

EXPRESSION(int_divide, int, a / x)
EXPRESSION(int_modulo_iadd, int, a % x + k.b)
EXPRESSION(unsigned_divide, uint32_t, a / x)
EXPRESSION(float_divide, float, a / x)
EXPRESSION(float_fdividef, float, __fdividef(a, x))
EXPRESSION(float_sqrtf, float, sqrtf(x))
EXPRESSION(float_expf, float, expf(-x))
EXPRESSION(float_expf_fast, float, __expf(-x))
EXPRESSION(double_divide, double, a / x)
EXPRESSION(double_sqrt, double, sqrt(x))
struct ldc {
    typedef uint32_t T;
    static __device__ T begin(T x, const operands<T> &k, int)
    {
        return (k.own & 64) * (x - 1);
    }
    static __device__ T step(T x, const operands<T> &, int)
    {
        return *(const uint32_t *)((const char *)constants + x);
    }
};

} // namespace op

static __global__ void fill_with_own_addresses(uint64_t *at, size_t count)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
        at[i] = (uint64_t)(at + i);
}

#define MEMORY_BYTES (64 << 10)

template <typename Op> static double one(int warps, uint32_t stride, uint64_t global, int turns)
{
    runner<Op> r;
    r.k.stride = stride;
    r.k.global = global;
    return (r.template cycles<1, 24>(warps, turns, 7) - r.template cycles<1, 8>(warps, turns, 7)) / (16.0 * turns);
}

static void scalar()
{
    buffer memory(MEMORY_BYTES);
    fill_with_own_addresses<<<8, 256>>>(memory.as<uint64_t>(), MEMORY_BYTES / 8);
    CUDA(cudaDeviceSynchronize());
    uint64_t at = (uint64_t)memory.device;
#define ROW(name) attempt(#name, [&] { row("latency", #name, one<op::name>(1, 4, at, 64), "cycles"); })
    ROW(iadd3), ROW(imad), ROW(imad_wide), ROW(ffma), ROW(fmul), ROW(fadd), ROW(lop3), ROW(shf), ROW(shl);
    ROW(isetp_sel), ROW(fsetp_fsel), ROW(popc), ROW(mufu_rcp_fadd), ROW(mufu_ex2), ROW(mufu_lg2), ROW(mufu_rsq);
    ROW(mufu_sqrt), ROW(i2f), ROW(f2i), ROW(f2f_up), ROW(f2f_down), ROW(dadd), ROW(dmul), ROW(dfma);
    ROW(int_divide), ROW(int_modulo_iadd), ROW(unsigned_divide), ROW(float_divide), ROW(float_fdividef);
    ROW(float_sqrtf), ROW(float_expf), ROW(float_expf_fast), ROW(double_divide), ROW(double_sqrt);
    ROW(shfl), ROW(vote), ROW(redux), ROW(ldc), ROW(sts_lds), ROW(syncwarp);
    ROW(fence_cta), ROW(fence_gpu), ROW(threadfence), ROW(stg_threadfence);
    for (uint32_t words : {0, 1, 2, 4, 8, 16, 32}) {
        std::string parameter = " lane_stride_words=" + std::to_string(words);
        attempt("lds", [&] { row("latency", "lds" + parameter, one<op::lds>(1, words * 4, at, 64), "cycles"); });
        attempt("atoms", [&] {
            row("latency", "atoms_add" + parameter, one<op::atoms_add>(1, words * 4, at, 64), "cycles");
            row("latency", "atoms_cas" + parameter, one<op::atoms_cas>(1, words * 4, at, 64), "cycles");
        });
    }
    for (uint32_t bytes : {0, 8, 16, 32, 64, 128, 256})
        attempt("ldg_l1", [&] {
            std::string parameter = "ldg_l1 lane_stride_bytes=" + std::to_string(bytes);
            row("latency", parameter, one<op::ldg_l1>(1, bytes, at, 64), "cycles");
        });
}

static void barriers()
{
    buffer memory(MEMORY_BYTES);
    uint64_t at = (uint64_t)memory.device;
    for (int warps : {1, 2, 4, 8, 16, 32}) {
#define WARPS_ROW(name)                                                                                                \
    attempt(#name, [&] {                                                                                               \
        row("latency", std::string(#name " ") + is("warps", warps), one<op::name>(warps, 4, at, 64), "cycles");        \
    })
        WARPS_ROW(bar), WARPS_ROW(iadd3_bar), WARPS_ROW(stencil), WARPS_ROW(stencil2), WARPS_ROW(sts_lds);
    }
}

void probe_latency()
{
    attempt("latency", scalar);
    attempt("barriers", barriers);
}
