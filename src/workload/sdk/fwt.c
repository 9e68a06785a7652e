/* FWT: fastWalshTransform of the CUDA SDK, a dyadic convolution by three Walsh transforms.
 *
 * Kept: 2^23 floats in two arrays (the second a kernel of 2^7 values and zeros); the program's sequence, transform of
 * the data, transform of the kernel, their product, transform back; a transform being radix-4 stages in global memory
 * over the whole array while its blocks exceed 2^11 (256 threads, each four elements a stride apart, in place), then
 * one launch that does the rest of each block in shared memory (a quarter as many threads as elements, the radix-2
 * stage at the end where the exponent is odd); the product by 128 CTAs of 256 threads in a grid-stride loop.
 * Simplified: nothing of the access stream. The default is 2^22, so that a run stays below 40 million instructions.
 * Instruction counts are estimates for compiled code: 26 around the four loads and four stores of a global stage (13
 * for the indices, 4 addresses, 8 additions, 1 for the exit); 24 per shared stage and 11 per radix-2 step; the four
 * loads are in flight together in both. */
#include "workload/runtime/grid_stride.h"
#include "workload/runtime/inputs.h"

#include <math.h>

enum { THREADS = 256, SHARED_LOG2 = 11, KERNEL_LOG2 = 7, PRODUCT_CTAS = 128 };

struct parameters {
    uint32_t log2;
};

struct arguments {
    struct pw_array kernel, data;
};

struct stage {
    struct pw_array array;
    uint64_t stride; /* in global memory */
    uint32_t log2;   /* of a block in shared memory */
};

/* Two levels of the transform: four values, a stride apart. */
static inline void butterfly(float *at, uint64_t stride)
{
    float d0 = at[0], d1 = at[stride], d2 = at[2 * stride], d3 = at[3 * stride];
    float e0 = d0 + d2, e1 = d1 + d3, e2 = d0 - d2, e3 = d1 - d3;
    at[0] = e0 + e1;
    at[stride] = e0 - e1;
    at[2 * stride] = e2 + e3;
    at[3 * stride] = e2 - e3;
}

/* The first of the four elements of thread `position`. */
static inline uint64_t first_of(uint64_t position, uint64_t stride)
{
    uint64_t low = position & (stride - 1);
    return ((position - low) << 2) + low;
}

static void global_kernel(struct pw_warp *w, const void *arguments)
{
    const struct stage *g = arguments;
    float *data = g->array.data;
    uint64_t first = first_of(pw_grid_stride_first(w), g->stride);
    pw_compute(w, 13 + 4);
    for (uint32_t i = 0; i < 4; i++)
        pw_load_run(w, w->lanes, &g->array, (int64_t)(first + i * g->stride));
    pw_use(w);
    pw_compute(w, 8);
    for (uint32_t i = 0; i < 4; i++)
        pw_store_run(w, w->lanes, &g->array, (int64_t)(first + i * g->stride));
    if (data)
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            butterfly(&data[first + lane], g->stride);
}

static void shared_kernel(struct pw_warp *w, const void *arguments)
{
    const struct stage *g = arguments;
    float *data = g->array.data, *s = w->shared;
    uint64_t n = UINT64_C(1) << g->log2, threads = n / 4, thread = pw_first_thread(w);
    uint64_t base = ((uint64_t)w->cta_index << g->log2) + thread;

    pw_compute(w, 10);
    for (uint64_t at = 0; at < n; at += threads)
        pw_load_run(w, w->lanes, &g->array, (int64_t)(base + at));
    pw_use(w);
    pw_compute(w, 4 + 3);
    for (uint64_t at = 0; data && at < n; at += threads)
        PW_FOR_LANES(lane, w->lanes)
    s[thread + at + lane] = data[base + at + lane];

    for (uint64_t stride = n >> 2; stride; stride >>= 2) {
        pw_barrier(w);
        pw_compute(w, 24);
        if (data)
            PW_FOR_LANES(lane, w->lanes)
        butterfly(&s[first_of(thread + lane, stride)], stride);
    }
    if (g->log2 & 1) {
        pw_barrier(w);
        pw_compute(w, 2 * 11);
        for (uint64_t at = 0; data && at < n / 2; at += threads)
            PW_FOR_LANES(lane, w->lanes)
            {
                float *pair = &s[2 * (thread + at + lane)], d0 = pair[0], d1 = pair[1];
                pair[0] = d0 + d1;
                pair[1] = d0 - d1;
            }
    }
    pw_barrier(w);
    pw_compute(w, 4 + 3);
    for (uint64_t at = 0; at < n; at += threads) {
        pw_store_run(w, w->lanes, &g->array, (int64_t)(base + at));
        if (data)
            PW_FOR_LANES(lane, w->lanes)
        data[base + at + lane] = s[thread + at + lane];
    }
}

static void product_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    float *a = g->data.data;
    const float *b = g->kernel.data;
    uint64_t n = g->data.count, step = pw_grid_stride_step(w);
    float reciprocal = 1.0F / (float)n;
    pw_compute(w, PW_GRID_STRIDE_BEFORE + 6);
    for (uint64_t i = pw_grid_stride_first(w); i < n; i += step) {
        uint32_t mask = pw_lanes_below(w, i, n);
        pw_compute(w, 2);
        pw_load_run(w, mask, &g->kernel, (int64_t)i);
        pw_load_run(w, mask, &g->data, (int64_t)i);
        pw_use(w);
        pw_compute(w, 2);
        pw_store_run(w, mask, &g->data, (int64_t)i);
        pw_compute(w, PW_GRID_STRIDE_STEP);
        if (a)
            PW_FOR_LANES(lane, mask)
        a[i + lane] *= b[i + lane] * reciprocal;
    }
}

static void transform(struct pw_host *h, struct pw_array array, uint32_t log2)
{
    struct stage s = {.array = array};
    uint32_t whole = log2;
    for (; log2 > SHARED_LOG2; log2 -= 2) {
        s.stride = UINT64_C(1) << (log2 - 2);
        pw_launch(h, &(struct pw_launch){.name = "fwtBatch2Kernel",
                                         .grid = {1U << (whole - 10), 1, 1},
                                         .block = {THREADS, 1, 1},
                                         .registers = 16,
                                         .kernel = global_kernel,
                                         .arguments = &s});
    }
    s.log2 = log2;
    pw_launch(h, &(struct pw_launch){.name = "fwtBatch1Kernel",
                                     .grid = {1U << (whole - log2), 1, 1},
                                     .block = {1U << (log2 - 2), 1, 1},
                                     .shared_bytes = (uint32_t)sizeof(float) << log2,
                                     .registers = 18,
                                     .kernel = shared_kernel,
                                     .arguments = &s});
}

/* The definition: result[i] is the sum over j of data[i ^ j] * kernel[j]. */
static void verify(struct pw_host *h, const struct arguments *g, const float *data, const float *kernel,
                   uint64_t length)
{
    const float *result = g->data.data;
    double errors = 0, squares = 0;
    uint64_t n = g->data.count, wrong = n;
    for (uint64_t i = n; i-- > 0;) {
        double sum = 0;
        for (uint64_t j = 0; j < length; j++)
            sum += (double)data[i ^ j] * (double)kernel[j];
        double error = (double)result[i] - sum;
        errors += error * error;
        squares += sum * sum;
        if (!(fabs(error) <= 1e-4 * (1 + fabs(sum))))
            wrong = i;
    }
    pw_host_expect(h, wrong == n, "element %llu differs from the dyadic convolution", (unsigned long long)wrong);
    pw_host_expect(h, sqrt(errors) <= 1e-6 * sqrt(squares), "the relative error %g exceeds 1e-6",
                   sqrt(errors / squares));
}

static void fwt_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint32_t log2 = 63 - (uint32_t)__builtin_clzll(pw_host_scaled(h, UINT64_C(1) << p->log2, 1));
    log2 = log2 < 2 ? 2 : log2;
    if (log2 > 40)
        pw_host_fail(h, "the exponent is at most 40");
    uint32_t kernel_log2 = log2 < KERNEL_LOG2 ? log2 : KERNEL_LOG2;
    uint64_t n = UINT64_C(1) << log2, length = UINT64_C(1) << kernel_log2;
    struct arguments g;
    g.kernel = pw_alloc(h, "kernel", n, sizeof(float));
    g.data = pw_alloc(h, "data", n, sizeof(float));
    float *data = g.data.data, *kernel = g.kernel.data, *kept = NULL, *kept_kernel = NULL;
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; data && i < n; i++)
        data[i] = pw_hash_unit(pw_hash(seed, i));
    for (uint64_t i = 0; kernel && i < length; i++)
        kernel[i] = pw_hash_unit(pw_hash(~seed, i));
    if (pw_host_verifying(h) && data && kernel) {
        kept = pw_host_keep(h, n * sizeof *kept);
        kept_kernel = pw_host_keep(h, length * sizeof *kept_kernel);
        __builtin_memcpy(kept, data, n * sizeof *kept);
        __builtin_memcpy(kept_kernel, kernel, length * sizeof *kept_kernel);
    }

    uint32_t stages = log2 > SHARED_LOG2 ? (log2 - SHARED_LOG2 + 1) / 2 : 0;
    pw_host_plan(h, 3 * (stages + 1) + 1);
    transform(h, g.data, log2);
    transform(h, g.kernel, log2);
    pw_launch(h, &(struct pw_launch){.name = "modulateKernel",
                                     .grid = {PRODUCT_CTAS, 1, 1},
                                     .block = {THREADS, 1, 1},
                                     .registers = 14,
                                     .kernel = product_kernel,
                                     .arguments = &g});
    transform(h, g.data, log2);
    if (kept)
        verify(h, &g, kept, kept_kernel, length);
    pw_free(h, &g.data);
    pw_free(h, &g.kernel);
}

static const struct pw_option rows[] = {
    {"log2", PW_OPTION_COUNT, offsetof(struct parameters, log2), 2, 40, "22", "", NULL,
     "exponent of two: the elements of data and kernel", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "log2=23"}, {0}};

const struct pw_workload pw_workload_fwt = {
    .name = "FWT",
    .suite = "CUDA SDK",
    .papers = "mosaic mask",
    .summary = "fast Walsh transforms: radix-4 stages in global, then in shared memory",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = fwt_main,
};
