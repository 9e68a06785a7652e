/* alu: the grid-stride loop with arithmetic only, for speed and for cycles that memory has no part in.
 *
 * Kept: launch geometry and instruction counts of the compiled loop (5 before it, 10 per iteration, 1 exit; no memory
 * instruction). Each thread iterates a linear congruential generator from its rank; the last value is left in host
 * memory without a store. The arithmetic is emitted as one run, since nothing divides it. */
#include "workload/runtime/grid_stride.h"

enum { PER_ITERATION = 7 + PW_GRID_STRIDE_STEP };

struct arguments {
    uint64_t n;
    uint32_t *result; /* by thread; NULL with values=off */
};

static inline uint32_t next_value(uint32_t x)
{
    return x * 1664525U + 1013904223U;
}

static void emit_iterations(struct pw_warp *w, uint64_t iterations)
{
    enum { AT_ONCE = 100000000 };
    for (; iterations > AT_ONCE; iterations -= AT_ONCE)
        pw_compute(w, AT_ONCE * PER_ITERATION);
    pw_compute(w, (uint32_t)iterations * PER_ITERATION);
}

static void alu_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    uint64_t first = pw_grid_stride_first(w), step = pw_grid_stride_step(w);
    uint32_t x[PW_WARP_LANES];
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        x[lane] = (uint32_t)(first + lane);
    uint64_t iterations = first < g->n ? (g->n - first - 1) / step + 1 : 0;
    pw_compute(w, PW_GRID_STRIDE_BEFORE);
    emit_iterations(w, iterations);
    if (!g->result)
        return;
    for (uint64_t i = first; i < g->n; i += step) {
        uint32_t mask = pw_lanes_below(w, i, g->n);
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            x[lane] = mask >> lane & 1 ? next_value(x[lane]) : x[lane];
    }
    PW_FOR_LANES(lane, w->lanes)
    g->result[first + lane] = x[lane];
}

static void alu_main(struct pw_host *h, const void *parameters)
{
    const struct pw_grid_stride *p = parameters;
    uint64_t threads = pw_grid_stride_threads(p);
    struct arguments g = {.n = pw_grid_stride_elements(h, p)};
    if (pw_host_values(h))
        g.result = pw_host_keep(h, threads * sizeof *g.result);
    pw_host_plan(h, 1);
    static const struct pw_grid_stride_code code = {.registers = 16};
    pw_grid_stride_launch(h, p, "alu", &code, alu_kernel, &g);

    if (pw_host_verifying(h)) {
        uint64_t wrong = threads;
        for (uint64_t thread = threads; thread-- > 0;) {
            uint32_t x = (uint32_t)thread;
            for (uint64_t i = thread; i < g.n; i += threads)
                x = next_value(x);
            if (g.result[thread] != x)
                wrong = thread;
        }
        pw_host_expect(h, wrong == threads, "thread %llu has another value", (unsigned long long)wrong);
    }
}

static const struct pw_option rows[] = {PW_GRID_STRIDE_ROWS("30"), {0}};

const struct pw_workload pw_workload_alu = {
    .name = "alu",
    .suite = "pagewalk",
    .summary = "iterates arithmetic and touches no memory",
    .parameters = rows,
    .parameters_bytes = sizeof(struct pw_grid_stride),
    .main = alu_main,
};
