/* fdtd: fdtd-2d of PolyBench/GPU, electric and magnetic fields on a 2-D grid by finite differences in time.
 *
 * Kept: three kernels per time step (ey, then ex, then hz), each over the whole grid in CTAs of 32x8 threads, a warp a
 * row of 32 cells; rows of ex one longer than those of the other fields and a row of ey more, with all their indices
 * (the last kernel reads both); the source in the first row, all of whose threads load the same element; the arrays,
 * their order and the initial values of the original, which leave the tails of ex and ey zero. Row and column are free
 * up to 512k, where the original's indices would overflow far earlier.
 * Instruction counts, loads in flight and registers are those of the kernels as nvcc 13 compiles them for sm_90: all
 * loads of a cell are in flight together. */
#include "workload/runtime/host.h"

enum { BLOCK_X = PW_WARP_LANES, BLOCK_Y = 8, MAX_SIDE = 1 << 19 };

struct parameters {
    uint32_t nx, ny, steps;
};

struct arguments {
    struct pw_array source, ex, ey, hz;
    int64_t nx, ny; /* rows, columns */
    uint32_t step;
};

static inline float next_e(float e, float h, float h_before)
{
    return e - 0.5F * (h - h_before);
}

static inline float next_h(float h, float ex_right, float ex, float ey_below, float ey)
{
    return h - 0.7F * (ex_right - ex + ey_below - ey);
}

/* The cells of a warp: lanes that are inside, row and first column. */
static uint32_t locate(const struct pw_warp *w, const struct arguments *g, int64_t *row, int64_t *column)
{
    *row = (int64_t)w->cta.y * BLOCK_Y + w->index;
    *column = (int64_t)w->cta.x * BLOCK_X;
    return *row < g->nx ? pw_lanes_below(w, (uint64_t)*column, (uint64_t)g->ny) : 0;
}

static void first_row(struct pw_warp *w, const struct arguments *g, uint32_t mask, int64_t at)
{
    const float *source = g->source.data;
    float *ey = g->ey.data;
    pw_compute(w, 4);
    pw_load_strided(w, mask, &g->source, g->step, 0);
    pw_compute(w, 1);
    pw_use(w);
    pw_store_run(w, mask, &g->ey, at);
    if (ey)
        PW_FOR_LANES(lane, mask)
    ey[at + lane] = source[g->step];
}

static void step1_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const float *hz = g->hz.data;
    float *ey = g->ey.data;
    int64_t i, j;
    uint32_t mask = locate(w, g, &i, &j);
    pw_compute(w, 12);
    if (!mask)
        return;
    int64_t at = i * g->ny + j;
    pw_compute(w, 3);
    if (!i) {
        first_row(w, g, mask, at);
        return;
    }
    pw_compute(w, 6);
    pw_load_run(w, mask, &g->hz, at);
    pw_compute(w, 1);
    pw_load_run(w, mask, &g->hz, at - g->ny);
    pw_load_run(w, mask, &g->ey, at);
    pw_use(w);
    pw_compute(w, 2);
    pw_store_run(w, mask, &g->ey, at);
    if (ey)
        PW_FOR_LANES(lane, mask)
    ey[at + lane] = next_e(ey[at + lane], hz[at + lane], hz[at - g->ny + lane]);
}

static void step2_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const float *hz = g->hz.data;
    float *ex = g->ex.data;
    int64_t i, j;
    uint32_t mask = locate(w, g, &i, &j);
    if (!j)
        mask &= ~1U;
    pw_compute(w, 13);
    if (!mask)
        return;
    int64_t at = i * g->ny + j, at_ex = i * (g->ny + 1) + j;
    pw_compute(w, 8);
    pw_load_run(w, mask, &g->hz, at - 1);
    pw_compute(w, 1);
    pw_load_run(w, mask, &g->hz, at);
    pw_load_run(w, mask, &g->ex, at_ex);
    pw_use(w);
    pw_compute(w, 2);
    pw_store_run(w, mask, &g->ex, at_ex);
    if (ex)
        PW_FOR_LANES(lane, mask)
    ex[at_ex + lane] = next_e(ex[at_ex + lane], hz[at + lane], hz[at - 1 + lane]);
}

static void step3_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const float *ex = g->ex.data, *ey = g->ey.data;
    float *hz = g->hz.data;
    int64_t i, j;
    uint32_t mask = locate(w, g, &i, &j);
    pw_compute(w, 12);
    if (!mask)
        return;
    int64_t at = i * g->ny + j, at_ex = i * (g->ny + 1) + j;
    pw_compute(w, 9);
    pw_load_run(w, mask, &g->ex, at_ex + 1);
    pw_compute(w, 1);
    pw_load_run(w, mask, &g->ex, at_ex);
    pw_load_run(w, mask, &g->ey, at + g->ny);
    pw_compute(w, 1);
    pw_load_run(w, mask, &g->ey, at);
    pw_load_run(w, mask, &g->hz, at);
    pw_use(w);
    pw_compute(w, 4);
    pw_store_run(w, mask, &g->hz, at);
    if (hz)
        PW_FOR_LANES(lane, mask)
    hz[at + lane] = next_h(hz[at + lane], ex[at_ex + 1 + lane], ex[at_ex + lane], ey[at + g->ny + lane], ey[at + lane]);
}

/* The original numbers the cells of all three arrays as if their rows were equally long. */
static void fill(float *ex, float *ey, float *hz, int64_t nx, int64_t ny)
{
    for (int64_t i = 0; i < nx; i++)
        for (int64_t j = 0; j < ny; j++) {
            ex[i * ny + j] = ((float)i * (float)(j + 1) + 1.0F) / (float)nx;
            ey[i * ny + j] = ((float)(i - 1) * (float)(j + 2) + 2.0F) / (float)nx;
            hz[i * ny + j] = ((float)(i - 9) * (float)(j + 4) + 3.0F) / (float)nx;
        }
}

static void sequential_step(float *ex, float *ey, float *hz, int64_t nx, int64_t ny, float source)
{
    for (int64_t i = 0; i < nx; i++)
        for (int64_t j = 0; j < ny; j++)
            ey[i * ny + j] = i ? next_e(ey[i * ny + j], hz[i * ny + j], hz[(i - 1) * ny + j]) : source;
    for (int64_t i = 0; i < nx; i++)
        for (int64_t j = 1; j < ny; j++)
            ex[i * (ny + 1) + j] = next_e(ex[i * (ny + 1) + j], hz[i * ny + j], hz[i * ny + j - 1]);
    for (int64_t i = 0; i < nx; i++)
        for (int64_t j = 0; j < ny; j++)
            hz[i * ny + j] = next_h(hz[i * ny + j], ex[i * (ny + 1) + j + 1], ex[i * (ny + 1) + j],
                                    ey[(i + 1) * ny + j], ey[i * ny + j]);
}

static void verify(struct pw_host *h, const struct arguments *g, uint32_t steps)
{
    float *ex = pw_host_keep(h, g->ex.count * sizeof *ex), *ey = pw_host_keep(h, g->ey.count * sizeof *ey);
    float *hz = pw_host_keep(h, g->hz.count * sizeof *hz);
    fill(ex, ey, hz, g->nx, g->ny);
    for (uint32_t t = 0; t < steps; t++)
        sequential_step(ex, ey, hz, g->nx, g->ny, (float)t);
    const float *results[] = {g->ex.data, g->ey.data, g->hz.data}, *expected[] = {ex, ey, hz};
    const uint64_t counts[] = {g->ex.count, g->ey.count, g->hz.count};
    for (uint32_t field = 0; field < 3; field++) {
        uint64_t wrong = counts[field];
        for (uint64_t i = wrong; results[field] && i-- > 0;)
            if (results[field][i] != expected[field][i])
                wrong = i;
        pw_host_expect(h, wrong == counts[field], "element %llu of field %u differs from the sequential one",
                       (unsigned long long)wrong, field);
    }
}

static void fdtd_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t nx = pw_host_scaled_side(h, p->nx, 1), ny = pw_host_scaled_side(h, p->ny, 1);
    if (nx > MAX_SIDE || ny > MAX_SIDE)
        pw_host_fail(h, "nx and ny are at most %d", MAX_SIDE);
    struct arguments g = {.nx = (int64_t)nx, .ny = (int64_t)ny};
    g.source = pw_alloc(h, "_fict_", p->steps, sizeof(float));
    g.ex = pw_alloc(h, "ex", nx * (ny + 1), sizeof(float));
    g.ey = pw_alloc(h, "ey", (nx + 1) * ny, sizeof(float));
    g.hz = pw_alloc(h, "hz", nx * ny, sizeof(float));
    for (uint32_t t = 0; g.source.data && t < p->steps; t++)
        ((float *)g.source.data)[t] = (float)t;
    if (g.hz.data)
        fill(g.ex.data, g.ey.data, g.hz.data, g.nx, g.ny);

    static const struct {
        const char *name;
        pw_kernel_fn *kernel;
        uint32_t registers, pace;
    } kernels[] = {{"fdtd_step1_kernel", step1_kernel, 14, 4376},
                   {"fdtd_step2_kernel", step2_kernel, 14, 3705},
                   {"fdtd_step3_kernel", step3_kernel, 18, 3777}};
    pw_host_plan(h, 3 * p->steps);
    for (g.step = 0; g.step < p->steps; g.step++)
        for (uint32_t k = 0; k < 3; k++)
            pw_launch(h, &(struct pw_launch){.name = kernels[k].name,
                                             .grid = {(uint32_t)((ny + BLOCK_X - 1) / BLOCK_X),
                                                      (uint32_t)((nx + BLOCK_Y - 1) / BLOCK_Y), 1},
                                             .block = {BLOCK_X, BLOCK_Y, 1},
                                             .registers = kernels[k].registers,
                                             .pace = kernels[k].pace,
                                             .kernel = kernels[k].kernel,
                                             .arguments = &g});
    if (pw_host_verifying(h))
        verify(h, &g, p->steps);
    struct pw_array *const in_order[] = {&g.source, &g.ex, &g.ey, &g.hz};
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++)
        pw_free(h, in_order[i]);
}

static const struct pw_option rows[] = {
    {"nx", PW_OPTION_COUNT, offsetof(struct parameters, nx), 1, MAX_SIDE, "1200", "cells", NULL, "rows of the grid",
     false},
    {"ny", PW_OPTION_COUNT, offsetof(struct parameters, ny), 1, MAX_SIDE, "1200", "cells", NULL, "columns of the grid",
     false},
    {"steps", PW_OPTION_COUNT, offsetof(struct parameters, steps), 1, 1 << 24, "5", "steps", NULL,
     "time steps, of three launches each", false},
    {0},
};

static const struct pw_preset presets[] = {{"uvm", "nx=1200:ny=1200:steps=5"}, {0}};

const struct pw_workload pw_workload_fdtd = {
    .name = "fdtd",
    .suite = "PolyBench",
    .papers = "uvm",
    .summary = "fdtd-2d: fields on a 2-D grid by finite differences, three sweeps per time step",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = fdtd_main,
};
