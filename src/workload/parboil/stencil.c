/* stencil: Parboil's 7-point Jacobi stencil in 3-D, the "cuda" version (block2D_hybrid_coarsen_x).
 *
 * Kept: 512x512x64 floats in two arrays that change places after every step; CTAs of 32x4 threads over 64x4 cells of
 * the x-y plane that march along z, a thread two cells 32 apart; the plane's tile in shared memory, without a halo, so
 * that the first and the last warp of a CTA load the rows before and behind the tile from global memory, and its first
 * and last lane the columns; the planes before and behind in registers; two barriers a plane; the rim, which is loaded
 * but not computed, and in the second array is a copy of the first. The default size is Parboil's larger input. 3DS is
 * another stencil, of order 8 with a tile that has a halo.
 * Simplified: 2 steps by default instead of 100 (all are alike), random cells instead of a file's. The staging in
 * shared memory takes its time and space, the values come straight from the arrays.
 * Instruction counts, loads in flight, the order of loads and registers are those of the kernel as nvcc 13 compiles it
 * for sm_90. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

enum { BLOCK_X = PW_WARP_LANES, BLOCK_Y = 4, TILE_X = 2 * BLOCK_X, LAST_LANE = BLOCK_X - 1 };

struct parameters {
    uint32_t nx, ny, nz, steps;
};

struct arguments {
    struct pw_array from, to;
    int64_t nx, ny, nz;
    float c0, c1;
};

/* One of a thread's two cells, for a whole warp. */
struct half {
    uint32_t exists, computed; /* lanes */
    int64_t first;             /* element of lane 0 in the first plane */
};

static struct half half_of(const struct pw_warp *w, const struct arguments *g, int64_t i, int64_t j)
{
    struct half half = {.first = j * g->nx + i};
    half.exists = j < g->ny ? pw_lanes_below(w, (uint64_t)i, (uint64_t)g->nx) : 0;
    half.computed = j > 0 && j < g->ny - 1 ? pw_lanes_below(w, (uint64_t)i, (uint64_t)g->nx - 1) : 0;
    if (!i)
        half.computed &= ~1U;
    return half;
}

/* The order of additions is the original's. */
static float next_cell(const struct arguments *g, const float *in, int64_t at)
{
    int64_t plane = g->nx * g->ny;
    return (in[at + plane] + in[at - plane] + in[at + g->nx] + in[at - g->nx] + in[at + 1] + in[at - 1]) * g->c1 -
           in[at] * g->c0;
}

static void store(struct pw_warp *w, const struct arguments *g, const struct half *half, int64_t at)
{
    const float *in = g->from.data;
    float *out = g->to.data;
    pw_store_run(w, half->computed, &g->to, at);
    if (out)
        PW_FOR_LANES(lane, half->computed)
    out[at + lane] = next_cell(g, in, at + lane);
}

/* Rows behind and before the tile, which only its last and first warp load. Returns how many there were. */
static uint8_t load_rows(struct pw_warp *w, const struct arguments *g, uint32_t mask, int64_t at, uint32_t between)
{
    bool last = w->index == BLOCK_Y - 1, first = !w->index;
    if (last)
        pw_load_run(w, mask, &g->from, at + g->nx);
    pw_compute(w, between);
    if (first)
        pw_load_run(w, mask, &g->from, at - g->nx);
    return last || first;
}

static void first_half(struct pw_warp *w, const struct arguments *g, const struct half *half, int64_t at)
{
    pw_compute(w, 2);
    pw_use(w);
    pw_load_run(w, half->exists, &g->from, at + g->nx * g->ny);
    pw_compute(w, 2);
    if (half->computed) {
        uint32_t left = half->computed & 1U;
        pw_compute(w, 7);
        uint8_t rows = load_rows(w, g, half->computed, at, 3);
        pw_compute(w, 4);
        pw_load_run(w, left, &g->from, at - 1);
        pw_use_all_but(w, (uint8_t)(rows + left));
        pw_compute(w, 3);
        pw_use_all_but(w, (uint8_t)left);
        pw_compute(w, 5);
        pw_use(w);
        pw_compute(w, 2);
        store(w, g, half, at);
    }
    pw_compute(w, 1);
}

static void second_half(struct pw_warp *w, const struct arguments *g, const struct half *half, int64_t at)
{
    pw_compute(w, 2);
    if (half->exists) {
        pw_compute(w, 2);
        pw_load_run(w, half->exists, &g->from, at + g->nx * g->ny);
    }
    pw_compute(w, 3);
    if (half->computed) {
        uint32_t right = half->computed & (1U << LAST_LANE);
        pw_compute(w, 10);
        uint8_t rows = load_rows(w, g, half->computed, at, 0);
        pw_use_all_but(w, rows);
        pw_compute(w, 4);
        pw_load_run(w, right, &g->from, at + 1);
        pw_compute(w, 4);
        pw_use_all_but(w, right ? 1 : 0);
        pw_compute(w, 2);
        pw_use(w);
        pw_compute(w, 3);
        store(w, g, half, at);
    }
    pw_compute(w, 1);
}

static void stencil_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    int64_t i = (int64_t)w->cta.x * TILE_X, j = (int64_t)w->cta.y * BLOCK_Y + w->index, plane = g->nx * g->ny;
    const struct half halves[] = {half_of(w, g, i, j), half_of(w, g, i + BLOCK_X, j)};

    pw_compute(w, 34);
    pw_barrier(w);
    pw_compute(w, 1);
    for (uint32_t half = 0; half < 2; half++)
        pw_load_run(w, halves[half].exists, &g->from, halves[half].first + plane);
    pw_compute(w, 7);
    for (uint32_t half = 0; half < 2; half++)
        pw_load_run(w, halves[half].exists, &g->from, halves[half].first);
    pw_compute(w, 1);
    if (halves[0].exists)
        pw_use_all_but(w, halves[1].exists ? 2 : 1);
    pw_compute(w, 2);
    pw_barrier(w);
    pw_compute(w, 1 + 40);
    for (int64_t k = 1; k < g->nz - 1; k++) {
        first_half(w, g, &halves[0], halves[0].first + k * plane);
        second_half(w, g, &halves[1], halves[1].first + k * plane);
        pw_barrier(w);
        pw_use(w);
        pw_compute(w, 15);
        pw_barrier(w);
        pw_compute(w, 1);
    }
}

/* One step, into an array that has the rim already. */
static void sequential_step(const struct arguments *g, const float *in, float *out)
{
    for (int64_t k = 1; k < g->nz - 1; k++)
        for (int64_t j = 1; j < g->ny - 1; j++)
            for (int64_t i = 1; i < g->nx - 1; i++) {
                int64_t at = (k * g->ny + j) * g->nx + i;
                out[at] = next_cell(g, in, at);
            }
}

static void verify(struct pw_host *h, const struct arguments *g, float *cells, uint32_t steps)
{
    uint64_t count = g->from.count, wrong = count;
    const float *result = g->from.data; /* after the last change of places */
    float *next = pw_host_keep(h, count * sizeof *next);
    for (uint64_t i = 0; i < count; i++)
        next[i] = cells[i];
    for (uint32_t step = 0; step < steps; step++) {
        sequential_step(g, cells, next);
        float *swap = cells;
        cells = next;
        next = swap;
    }
    for (uint64_t i = count; result && i-- > 0;)
        if (result[i] != cells[i])
            wrong = i;
    pw_host_expect(h, wrong == count, "cell %llu differs from the sequential stencil", (unsigned long long)wrong);
}

static void stencil_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t nx = pw_host_scaled_side(h, p->nx, 1), ny = pw_host_scaled_side(h, p->ny, 1), nz = p->nz;
    if (nx > INT32_MAX || ny > INT32_MAX / nx || nx * ny > INT32_MAX / nz)
        pw_host_fail(h, "the original's indices are ints: nx * ny * nz is below 2G");
    uint64_t cells = nx * ny * nz;
    struct arguments g = {
        .nx = (int64_t)nx, .ny = (int64_t)ny, .nz = (int64_t)nz, .c0 = 1.0F / 6.0F, .c1 = 1.0F / 6.0F / 6.0F};
    g.from = pw_alloc(h, "d_A0", cells, sizeof(float));
    g.to = pw_alloc(h, "d_Anext", cells, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    float *initial = pw_host_verifying(h) ? pw_host_keep(h, cells * sizeof *initial) : NULL;
    for (uint64_t i = 0; g.from.data && i < cells; i++) {
        ((float *)g.to.data)[i] = ((float *)g.from.data)[i] = pw_hash_unit(pw_hash(seed, i));
        if (initial)
            initial[i] = ((float *)g.from.data)[i];
    }

    pw_host_plan(h, p->steps);
    for (uint32_t step = 0; step < p->steps; step++) {
        pw_launch(h, &(struct pw_launch){
                         .name = "block2D_hybrid_coarsen_x",
                         .grid = {(uint32_t)((nx + TILE_X - 1) / TILE_X), (uint32_t)((ny + BLOCK_Y - 1) / BLOCK_Y), 1},
                         .block = {BLOCK_X, BLOCK_Y, 1},
                         .shared_bytes = TILE_X * BLOCK_Y * sizeof(float),
                         .registers = 32,
                         .pace = 4706,
                         .kernel = stencil_kernel,
                         .arguments = &g});
        pw_swap_arrays(&g.from, &g.to);
    }
    if (initial)
        verify(h, &g, initial, p->steps);
    pw_free(h, &g.from);
    pw_free(h, &g.to);
}

static const struct pw_option rows[] = {
    {"nx", PW_OPTION_COUNT, offsetof(struct parameters, nx), 1, 1 << 20, "512", "cells", NULL, "cells of a row", false},
    {"ny", PW_OPTION_COUNT, offsetof(struct parameters, ny), 1, 1 << 20, "512", "cells", NULL, "rows of a plane",
     false},
    {"nz", PW_OPTION_COUNT, offsetof(struct parameters, nz), 3, 1 << 20, "64", "cells", NULL, "planes", false},
    {"steps", PW_OPTION_COUNT, offsetof(struct parameters, steps), 1, 1 << 24, "2", "steps", NULL,
     "Jacobi steps, of one launch each", false},
    {0},
};

static const struct pw_preset presets[] = {{"compression", "nx=512:ny=512:nz=64:steps=2"}, {0}};

const struct pw_workload pw_workload_stencil = {
    .name = "stencil",
    .suite = "Parboil",
    .papers = "compression",
    .summary = "7-point Jacobi stencil in 3-D that marches along z, tiles without halo in shared memory",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = stencil_main,
};
