/* LPS: Laplace 3D of the ISPASS-2009 benchmarks, Jacobi iterations for Laplace's equation on a 3-D grid.
 *
 * Kept: CTAs of 32x4 threads over the x-y plane that march along z with three planes of their tile in shared memory;
 * the one halo cell that each of the first 76 threads loads besides its own (rows above and below as whole warps, the
 * columns left and right with the corners as 12 lanes of the third warp); rows padded as cudaMallocPitch pads them, to
 * 512 bytes; active masks at the rim; two barriers per plane; the two arrays changing places after each launch, of
 * which there is one. The original's 100x100x100 is the size `table`; the default, 512x512x40, has the footprint of
 * Mosaic's mix. scale= applies to y and z.
 * Simplified: the grid starts with random values instead of ones on the rim and zeros inside.
 * Instruction counts are estimates for compiled code after the published PTX: 40 for the indices; per plane 9 for a
 * cell's two moves in shared memory and the address of the next, the same for a halo cell, 9 for the tests for the rim,
 * 12 for an inner cell (6 reads of shared memory, 5 additions, 1 product). The halo's load is in a branch of its own
 * behind the first load's use, so that one load is in flight at a time. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

#include <assert.h>

enum { BLOCK_X = PW_WARP_LANES, BLOCK_Y = 4, PITCH_BYTES = 512, COLUMN_HALO = 2 * (BLOCK_Y + 2) };

struct parameters {
    uint32_t nx, ny, nz, iterations;
};

struct arguments {
    struct pw_array u1, u2;
    int64_t nx, ny, nz, pitch; /* in elements */
};

/* A warp is one row of the tile; row 0 and column 0 are halo. */
struct tile {
    float plane[3][BLOCK_Y + 2][BLOCK_X + 2];
};

/* What a warp loads of each plane besides its row: element index of plane 0 and place in the tile, by lane. */
struct halo {
    uint32_t mask;
    bool is_row;
    uint64_t index[PW_WARP_LANES];
    uint8_t x[PW_WARP_LANES], y[PW_WARP_LANES];
};

static void find_halo(const struct pw_warp *w, const struct arguments *g, struct halo *halo)
{
    halo->mask = 0;
    halo->is_row = w->index < 2;
    uint32_t lanes = halo->is_row ? BLOCK_X : w->index == 2 ? COLUMN_HALO : 0;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        int64_t i = halo->is_row ? lane : (int64_t)(lane % 2) * (BLOCK_X + 1) - 1;
        int64_t j = halo->is_row ? (int64_t)w->index * (BLOCK_Y + 1) - 1 : (int64_t)(lane / 2) - 1;
        halo->x[lane] = (uint8_t)(i + 1);
        halo->y[lane] = (uint8_t)(j + 1);
        i += (int64_t)w->cta.x * BLOCK_X;
        j += (int64_t)w->cta.y * BLOCK_Y;
        halo->index[lane] = (uint64_t)(i + j * g->pitch);
        if (i >= 0 && i < g->nx && j >= 0 && j < g->ny)
            halo->mask |= 1U << lane;
    }
}

/* The cells of plane k, the warp's row and its halo, into the newest plane of the tile. */
static void load_row(struct pw_warp *w, const struct arguments *g, uint32_t mask, int64_t first)
{
    const float *u1 = g->u1.data;
    struct tile *t = w->shared;
    pw_load_run(w, mask, &g->u1, first);
    pw_use(w);
    pw_compute(w, 1);
    PW_FOR_LANES(lane, u1 ? mask : 0)
    t->plane[2][w->index + 1][lane + 1] = u1[first + lane];
}

static void load_halo(struct pw_warp *w, const struct arguments *g, struct halo *halo)
{
    const float *u1 = g->u1.data;
    struct tile *t = w->shared;
    if (halo->is_row)
        pw_load_run(w, halo->mask, &g->u1, (int64_t)halo->index[0]);
    else
        pw_load_lanes(w, halo->mask, &g->u1, halo->index);
    pw_use(w);
    pw_compute(w, 1);
    PW_FOR_LANES(lane, u1 ? halo->mask : 0)
    t->plane[2][halo->y[lane]][halo->x[lane]] = u1[halo->index[lane]];
}

static inline void move_down(struct tile *t, uint32_t y, uint32_t x)
{
    t->plane[0][y][x] = t->plane[1][y][x];
    t->plane[1][y][x] = t->plane[2][y][x];
}

static inline float average(float west, float east, float south, float north, float below, float above)
{
    const float sixth = 1.0F / 6.0F;
    return (west + east + south + north + below + above) * sixth;
}

static void store_row(struct pw_warp *w, const struct arguments *g, uint32_t mask, uint32_t inner, int64_t first)
{
    const struct tile *t = w->shared;
    float *u2 = g->u2.data;
    uint32_t y = w->index + 1;
    pw_compute(w, 9 + (inner ? 12 : 0) + (inner != mask));
    pw_store_run(w, mask, &g->u2, first);
    PW_FOR_LANES(lane, u2 ? mask : 0)
    {
        uint32_t x = lane + 1;
        u2[first + lane] = inner >> lane & 1
                               ? average(t->plane[1][y][x - 1], t->plane[1][y][x + 1], t->plane[1][y - 1][x],
                                         t->plane[1][y + 1][x], t->plane[0][y][x], t->plane[2][y][x])
                               : t->plane[1][y][x];
    }
}

static void laplace3d_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    struct tile *t = w->shared;
    struct halo halo;
    int64_t x = (int64_t)w->cta.x * BLOCK_X, y = (int64_t)w->cta.y * BLOCK_Y + w->index, plane = g->ny * g->pitch;
    int64_t at = x + y * g->pitch;
    uint32_t active = y < g->ny ? pw_lanes_below(w, (uint64_t)x, (uint64_t)g->nx) : 0;
    uint32_t inner = y > 0 && y < g->ny - 1 ? active : 0;
    if (x == 0)
        inner &= ~1U;
    if (g->nx - 1 < x + BLOCK_X)
        inner &= (1U << (g->nx - 1 - x)) - 1;
    find_halo(w, g, &halo);

    pw_compute(w, 40);
    if (active)
        load_row(w, g, active, at);
    pw_compute(w, 2);
    if (halo.mask)
        load_halo(w, g, &halo);
    for (int64_t k = 0; k < g->nz; k++, at += plane) {
        pw_compute(w, active ? 9 : 1);
        PW_FOR_LANES(lane, g->u1.data ? active : 0)
        move_down(t, w->index + 1, lane + 1);
        if (active && k < g->nz - 1)
            load_row(w, g, active, at + plane);
        pw_compute(w, halo.mask ? 9 : 1);
        PW_FOR_LANES(lane, halo.mask)
        {
            move_down(t, halo.y[lane], halo.x[lane]);
            halo.index[lane] += (uint64_t)plane;
        }
        if (halo.mask && k < g->nz - 1)
            load_halo(w, g, &halo);
        pw_barrier(w);
        if (active)
            store_row(w, g, active, k > 0 && k < g->nz - 1 ? inner : 0, at);
        pw_barrier(w);
        pw_compute(w, 3);
    }
}

static void sequential_step(const struct arguments *g, const float *from, float *to)
{
    for (int64_t k = 0; k < g->nz; k++)
        for (int64_t j = 0; j < g->ny; j++)
            for (int64_t i = 0; i < g->nx; i++) {
                int64_t row = g->pitch, plane = row * g->ny, at = i + j * row + k * plane;
                bool rim = !i || i == g->nx - 1 || !j || j == g->ny - 1 || !k || k == g->nz - 1;
                to[at] = rim ? from[at]
                             : average(from[at - 1], from[at + 1], from[at - row], from[at + row], from[at - plane],
                                       from[at + plane]);
            }
}

static void verify(struct pw_host *h, const struct arguments *g, float *initial, uint32_t iterations)
{
    uint64_t cells = g->u1.count, wrong = cells;
    assert(initial && g->u1.data); /* values are on when results are checked */
    float *grids[] = {initial, pw_host_keep(h, cells * sizeof *initial)};
    for (uint32_t i = 0; i < iterations; i++)
        sequential_step(g, grids[i % 2], grids[(i + 1) % 2]);
    const float *expected = grids[iterations % 2];
    const float *result = g->u1.data;
    for (uint64_t i = cells; i-- > 0;)
        if (result[i] != expected[i] && (int64_t)i % g->pitch < g->nx)
            wrong = i;
    pw_host_expect(h, wrong == cells, "cell %llu differs from the sequential Laplace iteration",
                   (unsigned long long)wrong);
}

static void laplace3d_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t ny = pw_host_scaled_side(h, p->ny, 1), nz = pw_host_scaled_side(h, p->nz, 1);
    uint64_t pitch = ((uint64_t)p->nx * sizeof(float) + PITCH_BYTES - 1) / PITCH_BYTES * (PITCH_BYTES / sizeof(float));
    if (pitch * ny > INT32_MAX / nz)
        pw_host_fail(h, "the original's indices are ints: nx * ny * nz is below 2G");
    struct arguments g = {.nx = p->nx, .ny = (int64_t)ny, .nz = (int64_t)nz, .pitch = (int64_t)pitch};
    g.u1 = pw_alloc(h, "u1", pitch * ny * nz, sizeof(float));
    g.u2 = pw_alloc(h, "u2", pitch * ny * nz, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    float *initial = pw_host_verifying(h) ? pw_host_keep(h, g.u1.count * sizeof *initial) : NULL;
    for (uint64_t i = 0; g.u1.data && i < g.u1.count; i++) {
        ((float *)g.u1.data)[i] = pw_hash_unit(pw_hash(seed, i));
        if (initial)
            initial[i] = ((float *)g.u1.data)[i];
    }

    pw_host_plan_passes(h, 1, 0);
    uint32_t made = 0;
    for (; pw_host_pass(h, made, p->iterations); made++) {
        pw_launch(h, &(struct pw_launch){.name = "GPU_laplace3d",
                                         .grid = {1 + (p->nx - 1) / BLOCK_X, 1 + (uint32_t)(ny - 1) / BLOCK_Y, 1},
                                         .block = {BLOCK_X, BLOCK_Y, 1},
                                         .shared_bytes = sizeof(struct tile),
                                         .registers = 20,
                                         .kernel = laplace3d_kernel,
                                         .arguments = &g});
        pw_swap_arrays(&g.u1, &g.u2);
    }
    if (initial)
        verify(h, &g, initial, made);
    pw_free(h, &g.u1);
    pw_free(h, &g.u2);
}

static const struct pw_option rows[] = {
    {"nx", PW_OPTION_COUNT, offsetof(struct parameters, nx), 1, 1 << 20, "512", "cells", NULL, "cells of a row", false},
    {"ny", PW_OPTION_COUNT, offsetof(struct parameters, ny), 1, 1 << 20, "512", "cells", NULL, "rows of a plane",
     false},
    {"nz", PW_OPTION_COUNT, offsetof(struct parameters, nz), 1, 1 << 20, "40", "cells", NULL, "planes", false},
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 0, "1", "steps", NULL,
     "Jacobi iterations, each a launch", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "nx=100:ny=100:nz=100:iterations=1"}, {0}};

const struct pw_workload pw_workload_lps = {
    .name = "LPS",
    .suite = "ISPASS-2009",
    .papers = "mosaic mask",
    .summary = "Laplace 3D: a 3-D stencil that marches along z with planes in shared memory",
    .parameters = rows,
    .presets = presets,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .main = laplace3d_main,
};
