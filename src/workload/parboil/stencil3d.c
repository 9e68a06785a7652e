/* 3DS: a finite-difference stencil of order 8 in 3-D, the program of that name in the suite of MASK's authors.
 *
 * Kept: two arrays of floats, 256x128x128 (the size `table`; by default there are twice as many planes, for the
 * footprint of Mosaic's mix); CTAs of 32x8 threads over the x-y plane that march along z; nine values along z in
 * registers, of which one is new per plane; the plane's tile in shared memory with a halo of 8 cells on each side, of
 * which the stencil uses 4; rows above and below loaded by whole warps, columns left and right by 8 lanes of each; no
 * tests for the rim, so that a neighbour beyond it is the next row's or plane's; 16 planes fewer than there are, the
 * first being plane 4; the five coefficients loaded from global memory for every plane, as the compiler cannot know
 * that they stay; one launch.
 * Simplified: the coefficients are random instead of all ones. Sizes must be multiples of the tile, as in the original.
 * scale= applies to y and z.
 * Instruction counts are estimates for compiled code after the published PTX: 30 for the indices; per plane 8 moves
 * along z, 2 addresses, 2 for each pair of halo loads, 5 writes of shared memory, and 41 for the value (16 reads of
 * shared memory, 20 additions, 5 products). The load along z and the first two of the halo are in flight together, then
 * the halo's other two, then the five coefficients. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

#include <assert.h>

enum { BLOCK_X = PW_WARP_LANES, BLOCK_Y = 8, HALO = 8, REACH = 4, FIRST_PLANE = 4, LOADED_BEFORE = 8 };

struct parameters {
    uint32_t nx, ny, nz, iterations;
};

struct arguments {
    struct pw_array input, output, coefficients;
    int64_t nx, plane; /* elements of a row and of a plane */
    uint32_t planes;   /* computed */
};

struct tile {
    float cell[BLOCK_Y + 2 * HALO][BLOCK_X + 2 * HALO];
};

typedef float along_z[2 * REACH + 1][PW_WARP_LANES];

/* Copies one row of the input into the tile, `cells` of them. */
static void fill(const struct arguments *g, struct tile *t, uint32_t y, uint32_t x, int64_t from, size_t cells)
{
    if (g->input.data)
        __builtin_memcpy(&t->cell[y][x], (const float *)g->input.data + from, cells * sizeof(float));
}

static void load_tile(struct pw_warp *w, const struct arguments *g, int64_t at, const float *row)
{
    struct tile *t = w->shared;
    const uint32_t few = (1U << HALO) - 1, y = w->index;
    pw_compute(w, 2);
    pw_load_run(w, w->lanes, &g->input, at - HALO * g->nx);
    pw_load_run(w, w->lanes, &g->input, at + BLOCK_Y * g->nx);
    pw_use(w);
    pw_compute(w, 2 + 2);
    pw_load_run(w, few, &g->input, at - HALO);
    pw_load_run(w, few, &g->input, at + BLOCK_X);
    pw_use(w);
    pw_compute(w, 3);
    fill(g, t, y, HALO, at - HALO * g->nx, BLOCK_X);
    fill(g, t, y + BLOCK_Y + HALO, HALO, at + BLOCK_Y * g->nx, BLOCK_X);
    fill(g, t, y + HALO, 0, at - HALO, HALO);
    fill(g, t, y + HALO, BLOCK_X + HALO, at + BLOCK_X, HALO);
    if (row)
        __builtin_memcpy(&t->cell[y + HALO][HALO], row, BLOCK_X * sizeof *row);
}

/* The order of additions is the original's. */
static void compute_row(const struct tile *t, const float *c, const along_z z, uint32_t row, float *out)
{
    uint32_t y = row + HALO;
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++) {
        uint32_t x = lane + HALO;
        float value = c[0] * z[REACH][lane];
        for (uint32_t k = 1; k <= REACH; k++)
            value += c[k] * (z[REACH + k][lane] + z[REACH - k][lane] + t->cell[y - k][x] + t->cell[y + k][x] +
                             t->cell[y][x - k] + t->cell[y][x + k]);
        out[lane] = value;
    }
}

static void stencil_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const float *input = g->input.data, *c = g->coefficients.data;
    float *output = g->output.data;
    along_z z = {0};
    int64_t column = (int64_t)w->cta.x * BLOCK_X + ((int64_t)w->cta.y * BLOCK_Y + w->index) * g->nx;

    pw_compute(w, 30);
    for (uint32_t k = 0; k < LOADED_BEFORE; k++) {
        pw_compute(w, 2);
        pw_load_run(w, w->lanes, &g->input, column + k * g->plane);
        if (input)
            __builtin_memcpy(z[k + 1], &input[column + k * g->plane], sizeof z[0]);
    }
    for (uint32_t i = 0; i < g->planes; i++) {
        int64_t at = column + (FIRST_PLANE + i) * g->plane, ahead = at + REACH * g->plane;
        pw_use(w);
        pw_compute(w, 8 + 2);
        pw_load_run(w, w->lanes, &g->input, ahead);
        if (input) {
            __builtin_memmove(z[0], z[1], 2 * REACH * sizeof z[0]);
            __builtin_memcpy(z[2 * REACH], &input[ahead], sizeof z[0]);
        }
        pw_barrier(w);
        load_tile(w, g, at, input ? z[REACH] : NULL);
        pw_barrier(w);
        for (uint32_t k = 0; k <= REACH; k++)
            pw_load_strided(w, w->lanes, &g->coefficients, k, 0);
        pw_use(w);
        pw_compute(w, 16 + 20 + 5);
        pw_store_run(w, w->lanes, &g->output, at);
        if (output)
            compute_row(w->shared, c, z, w->index, &output[at]);
        pw_compute(w, 4);
    }
}

/* Every neighbour is a distance in the flat array. */
static void verify(struct pw_host *h, const struct arguments *g, const float *before)
{
    const float *in = g->input.data, *out = g->output.data, *c = g->coefficients.data;
    assert(before && in && out && c); /* values are on when results are checked */
    uint64_t cells = g->output.count, first = FIRST_PLANE * (uint64_t)g->plane;
    uint64_t end = first + g->planes * (uint64_t)g->plane, wrong = cells;
    for (uint64_t i = cells; i-- > 0;) {
        float value = before[i];
        if (i >= first && i < end) {
            value = c[0] * in[i];
            for (int64_t k = 1; k <= REACH; k++) {
                int64_t at = (int64_t)i;
                value += c[k] * (in[at + k * g->plane] + in[at - k * g->plane] + in[at - k * g->nx] +
                                 in[at + k * g->nx] + in[at - k] + in[at + k]);
            }
        }
        if (out[i] != value)
            wrong = i;
    }
    pw_host_expect(h, wrong == cells, "cell %llu differs from the sequential stencil", (unsigned long long)wrong);
}

static void stencil_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t ny = pw_host_scaled_side(h, p->ny, 1), nz = pw_host_scaled_side(h, p->nz, 1);
    if (pw_host_scale(h) != 1) {
        ny = (ny + BLOCK_Y - 1) / BLOCK_Y * BLOCK_Y;
        nz = nz > 2 * HALO ? nz : 2 * HALO + 1;
    }
    if (p->nx % BLOCK_X || ny % BLOCK_Y)
        pw_host_fail(h, "nx must be a multiple of %d, ny of %d", BLOCK_X, BLOCK_Y);
    uint64_t cells = p->nx * ny * nz;
    if (p->nx * ny > INT32_MAX / nz)
        pw_host_fail(h, "the original's indices are ints: nx * ny * nz is below 2G");
    struct arguments g = {.nx = p->nx, .plane = (int64_t)(p->nx * ny), .planes = (uint32_t)nz - 2 * HALO};
    g.input = pw_alloc(h, "input", cells, sizeof(float));
    g.output = pw_alloc(h, "output", cells, sizeof(float));
    g.coefficients = pw_alloc(h, "coefficients", 10, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; g.input.data && i < cells; i++)
        ((float *)g.output.data)[i] = ((float *)g.input.data)[i] = 1.0F + 4.0F * pw_hash_unit(pw_hash(seed, i));
    for (uint64_t i = 0; g.coefficients.data && i < g.coefficients.count; i++)
        ((float *)g.coefficients.data)[i] = pw_hash_unit(pw_hash(~seed, i));
    const float *before = g.input.data;

    pw_host_plan_passes(h, 1, 0);
    for (uint32_t i = 0; pw_host_pass(h, i, p->iterations); i++)
        pw_launch(h, &(struct pw_launch){.name = "stencil_3D_order8",
                                         .grid = {p->nx / BLOCK_X, (uint32_t)ny / BLOCK_Y, 1},
                                         .block = {BLOCK_X, BLOCK_Y, 1},
                                         .shared_bytes = sizeof(struct tile),
                                         .registers = 32,
                                         .kernel = stencil_kernel,
                                         .arguments = &g});
    if (pw_host_verifying(h))
        verify(h, &g, before);
    pw_free(h, &g.input);
    pw_free(h, &g.output);
}

static const struct pw_option rows[] = {
    {"nx", PW_OPTION_COUNT, offsetof(struct parameters, nx), BLOCK_X, 1 << 20, "256", "cells", NULL,
     "cells of a row, a multiple of 32", false},
    {"ny", PW_OPTION_COUNT, offsetof(struct parameters, ny), BLOCK_Y, 1 << 20, "128", "cells", NULL,
     "rows of a plane, a multiple of 8", false},
    {"nz", PW_OPTION_COUNT, offsetof(struct parameters, nz), 2 * HALO + 1, 1 << 20, "256", "cells", NULL, "planes",
     false},
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 0, "1", "launches", NULL,
     "launches, all from the same input", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "nx=256:ny=128:nz=128:iterations=1"}, {0}};

const struct pw_workload pw_workload_stencil3d = {
    .name = "3DS",
    .suite = "Parboil-like 3D stencil",
    .papers = "mosaic mask",
    .summary = "3-D stencil of order 8 that marches along z, tiles with a wide halo in shared memory",
    .parameters = rows,
    .presets = presets,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .main = stencil_main,
};
