/* What the kernels that add up numbers share: the CTA of SHOC's reductions and the tree in shared memory that ends
 * them (RED and the first kernel of SCAN).
 *
 * 256 threads leave one sum each in shared memory; 128 and then 64 threads add the upper half to the lower one between
 * barriers, and the first warp does the last six steps alone, all of its 32 lanes in each as in the original. Thread 0
 * stores the CTA's sum. A step is 4 instructions (two reads of shared memory, an addition, a write; the array is
 * volatile), a test of the thread's number 2. nvcc has no branches for the first two steps, but predicates. */
#ifndef PW_WORKLOAD_SHOC_SUM_H
#define PW_WORKLOAD_SHOC_SUM_H

#include "workload/runtime/host.h"

enum { PW_SHOC_CTAS = 64, PW_SHOC_THREADS = 256, PW_SHOC_STEPS = 2 };

/* Instructions of the steps of several warps, taken or not, and from the last step to the store. */
struct pw_shoc_sum_code {
    uint8_t taken[PW_SHOC_STEPS], passed[PW_SHOC_STEPS], store;
};

#define PW_SHOC_SUM_ESTIMATE                                                                                           \
    {                                                                                                                  \
        .taken = {6, 6}, .passed = {2, 2}, .store = 5                                                                  \
    }

/* sums[tid] += sums[tid + distance] by one warp: every lane reads before one writes. */
static inline void pw_shoc_sum_step(float *sums, uint32_t tid, uint32_t distance)
{
    float upper[PW_WARP_LANES];
    __builtin_memcpy(upper, &sums[tid + distance], sizeof upper);
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        sums[tid + lane] += upper[lane];
}

/* Call with the sums written and no barrier since; `sums` is the CTA's shared memory, 256 floats. */
static inline void pw_shoc_sum(struct pw_warp *w, float *sums, const struct pw_array *out,
                               const struct pw_shoc_sum_code *code)
{
    uint32_t tid = pw_first_thread(w), distance = PW_SHOC_THREADS / 2;
    pw_barrier(w);
    for (uint32_t step = 0; step < PW_SHOC_STEPS; step++, distance /= 2) {
        bool active = tid < distance;
        pw_compute(w, active ? code->taken[step] : code->passed[step]);
        if (active && out->data)
            pw_shoc_sum_step(sums, tid, distance);
        pw_barrier(w);
    }
    pw_compute(w, 2);
    if (tid)
        return;
    for (; distance; distance /= 2) {
        pw_compute(w, 4);
        if (out->data)
            pw_shoc_sum_step(sums, 0, distance);
    }
    pw_compute(w, code->store); /* the test, the address and the read of the sum */
    pw_store_run(w, 1, out, w->cta_index);
    if (out->data)
        ((float *)out->data)[w->cta_index] = sums[0];
}

#endif
