/* The loop of vecadd, gather and alu: for (i = rank; i < n; i += threads), a warp at a time.
 *
 * Five instructions stand before the loop and ten in each iteration, the last three being the step, the comparison and
 * the branch, as in the compiled kernels whose counts they follow. With code=sm_90 the code around the loop is nvcc
 * 13's, which works out more before it (gather and vecadd). */
#ifndef PW_WORKLOAD_GRID_STRIDE_H
#define PW_WORKLOAD_GRID_STRIDE_H

#include "workload/runtime/host.h"

enum { PW_GRID_STRIDE_BEFORE = 5, PW_GRID_STRIDE_STEP = 3 };

/* Instructions of a warp for which the loop has no turn, before the first load, before that of a later turn, behind
 * the load of an index, behind the loads of a turn, from their use to the store, and behind the last store. */
struct pw_grid_stride_code {
    uint8_t none, first, again, index_flight, flight, use, end, registers;
    uint16_t pace; /* struct pw_launch */
};

/* First member of the parameters of such a workload. */
struct pw_grid_stride {
    uint32_t ctas, warps, iterations, n;
};

#define PW_GRID_STRIDE_ROWS(default_iterations)                                                                         \
    {"ctas", PW_OPTION_COUNT, offsetof(struct pw_grid_stride, ctas), 1, 0, "256", "CTAs", NULL, "CTAs of the grid",     \
     false},                                                                                                            \
        {"warps", PW_OPTION_COUNT, offsetof(struct pw_grid_stride, warps), 1, 32, "8", "warps", NULL, "warps of a CTA", \
         false},                                                                                                        \
        {"iterations",                                                                                                  \
         PW_OPTION_COUNT,                                                                                               \
         offsetof(struct pw_grid_stride, iterations),                                                                   \
         1,                                                                                                             \
         0,                                                                                                             \
         default_iterations,                                                                                            \
         "",                                                                                                            \
         NULL,                                                                                                          \
         "elements per thread",                                                                                         \
         false},                                                                                                        \
    {                                                                                                                   \
        "n", PW_OPTION_COUNT, offsetof(struct pw_grid_stride, n), 0, 0, "0", "elements", NULL,                          \
            "elements in all, instead of iterations; 0: iterations times threads", false                                \
    }

static inline uint64_t pw_grid_stride_threads(const struct pw_grid_stride *p)
{
    return (uint64_t)p->ctas * p->warps * PW_WARP_LANES;
}

static inline uint64_t pw_grid_stride_elements(const struct pw_host *h, const struct pw_grid_stride *p)
{
    return pw_host_scaled(h, p->n ? p->n : pw_grid_stride_threads(p) * p->iterations, 1);
}

static inline void pw_grid_stride_launch(struct pw_host *h, const struct pw_grid_stride *p, const char *name,
                                         const struct pw_grid_stride_code *code, pw_kernel_fn *kernel,
                                         const void *arguments)
{
    pw_launch(h, &(struct pw_launch){.name = name,
                                     .grid = {p->ctas, 1, 1},
                                     .block = {p->warps * PW_WARP_LANES, 1, 1},
                                     .registers = code->registers,
                                     .pace = code->pace,
                                     .kernel = kernel,
                                     .arguments = arguments});
}

/* The first element of the warp's lane 0. */
static inline uint64_t pw_grid_stride_first(const struct pw_warp *w)
{
    return (uint64_t)w->cta_index * w->launch->block.x + pw_first_thread(w);
}

static inline uint64_t pw_grid_stride_step(const struct pw_warp *w)
{
    return (uint64_t)w->launch->grid.x * w->launch->block.x;
}

#endif
