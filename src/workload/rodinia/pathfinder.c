/* pathfinder: the cheapest way through a grid of Rodinia, row by row, each cell reached from the three above it.
 *
 * Kept: CTAs of 256 threads over a row; the pyramid, by which a launch advances `pyramid` rows and a CTA's useful cells
 * shrink by one on each side per row, so that neighbouring CTAs load overlapping halos; a row of the wall in global
 * memory per step, used in shared memory; active masks at the rim of CTA and grid, CTAs of the last launch that lie
 * behind the grid included; the two result rows changing places; the arrays, their order of allocation and of freeing.
 * The first row of the grid is the first result row, the wall has the others.
 * Simplified: the costs, 0 to 9, are hashes instead of rand's.
 * Instruction counts, loads in flight and registers are those of the kernel as nvcc 13 compiles it for sm_90: a row of
 * the wall is asked for in the step that uses it, and is the only load in flight. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

enum { BLOCK = 256, MAX_PYRAMID = BLOCK / 2 - 1, COSTS = 10 };

struct parameters {
    uint32_t columns, rows, pyramid;
};

struct arguments {
    struct pw_array from, to, wall;
    int64_t columns, first_row; /* of the wall */
    int64_t border, steps;
};

struct line {
    int32_t before[BLOCK], after[BLOCK];
};

static inline uint32_t first_lanes(int64_t count)
{
    return count <= 0 ? 0 : count >= PW_WARP_LANES ? PW_ALL_LANES : (1U << count) - 1;
}

/* Lanes whose number, that of lane 0 being `first`, is in [low, end). */
static inline uint32_t lanes_within(int64_t first, int64_t low, int64_t end)
{
    return first_lanes(end - first) & ~first_lanes(low - first);
}

static inline int32_t cheapest(int32_t left, int32_t up, int32_t right)
{
    int32_t least = left < up ? left : up;
    return least < right ? least : right;
}

/* One row further, for the lanes in `mask`; threads at the rim of the grid have themselves as neighbour. */
static void advance(const struct arguments *g, struct line *l, uint32_t mask, uint32_t thread, int64_t x, int64_t row)
{
    const int32_t *wall = g->wall.data;
    PW_FOR_LANES(lane, mask)
    {
        uint32_t t = thread + lane;
        int64_t at = x + lane;
        l->after[t] = cheapest(l->before[at ? t - 1 : t], l->before[t], l->before[at < g->columns - 1 ? t + 1 : t]) +
                      wall[row * g->columns + at];
    }
}

static void dynproc_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const int32_t *from = g->from.data;
    struct line *l = w->shared;
    uint32_t thread = pw_first_thread(w), computed = 0;
    int64_t x = (BLOCK - 2 * g->steps) * (int64_t)w->cta.x - g->border + thread;
    uint32_t inside = lanes_within(x, 0, g->columns);

    pw_compute(w, 16);
    pw_load_run(w, inside, &g->from, x);
    pw_compute(w, 6);
    pw_use(w);
    pw_compute(w, 1);
    if (from)
        PW_FOR_LANES(lane, inside)
    l->before[thread + lane] = from[x + lane];
    pw_barrier(w);

    pw_compute(w, 23);
    for (int64_t i = 0; i < g->steps; i++) {
        computed = inside & lanes_within(thread, i + 1, BLOCK - i - 1);
        pw_compute(w, 9);
        pw_load_run(w, computed, &g->wall, (g->first_row + i) * g->columns + x);
        pw_compute(w, 3);
        pw_use(w);
        pw_compute(w, 4);
        if (from)
            advance(g, l, computed, thread, x, g->first_row + i);
        pw_barrier(w);
        pw_compute(w, 1);
        if (i == g->steps - 1)
            break;
        pw_compute(w, 7);
        if (from)
            PW_FOR_LANES(lane, computed)
        l->before[thread + lane] = l->after[thread + lane];
        pw_barrier(w);
        pw_compute(w, 2);
    }

    pw_compute(w, 2);
    if (!computed)
        return;
    pw_compute(w, 3);
    pw_store_run(w, computed, &g->to, x);
    if (from)
        PW_FOR_LANES(lane, computed)
    ((int32_t *)g->to.data)[x + lane] = l->after[thread + lane];
}

static int32_t cost_of(uint64_t seed, uint64_t cell)
{
    return (int32_t)pw_hash_below(pw_hash(seed, cell), COSTS);
}

static void verify(struct pw_host *h, const struct arguments *g, uint64_t seed, int64_t rows)
{
    uint64_t bytes = (uint64_t)g->columns * sizeof(int32_t);
    int32_t *from = pw_host_keep(h, bytes), *to = pw_host_keep(h, bytes);
    for (int64_t x = 0; x < g->columns; x++)
        from[x] = cost_of(seed, (uint64_t)x);
    for (int64_t y = 1; y < rows; y++) {
        for (int64_t x = 0; x < g->columns; x++)
            to[x] = cheapest(from[x ? x - 1 : x], from[x], from[x < g->columns - 1 ? x + 1 : x]) +
                    cost_of(seed, (uint64_t)(y * g->columns + x));
        int32_t *swap = from;
        from = to;
        to = swap;
    }
    const int32_t *result = g->from.data;
    int64_t wrong = g->columns;
    for (int64_t x = g->columns; result && x-- > 0;)
        if (result[x] != from[x])
            wrong = x;
    pw_host_expect(h, wrong == g->columns, "the cost of column %lld differs from the sequential one", (long long)wrong);
}

static void pathfinder_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t columns = pw_host_scaled(h, p->columns, 1), cells = columns * (p->rows - 1);
    uint64_t small = BLOCK - 2 * (uint64_t)p->pyramid, ctas = (columns + small - 1) / small;
    if (ctas > INT32_MAX)
        pw_host_fail(h, "%llu CTAs of %llu columns each are too many; use fewer columns or a lower pyramid",
                     (unsigned long long)ctas, (unsigned long long)small);
    struct arguments g = {.columns = (int64_t)columns, .border = p->pyramid};
    struct pw_array results[] = {pw_alloc(h, "gpuResult0", columns, sizeof(int32_t)),
                                 pw_alloc(h, "gpuResult1", columns, sizeof(int32_t))};
    g.wall = pw_alloc(h, "gpuWall", cells, sizeof(int32_t));
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; results[0].data && i < columns; i++)
        ((int32_t *)results[0].data)[i] = cost_of(seed, i);
    for (uint64_t i = 0; g.wall.data && i < cells; i++)
        ((int32_t *)g.wall.data)[i] = cost_of(seed, columns + i);

    g.from = results[0];
    g.to = results[1];
    pw_host_plan(h, (p->rows - 1 + p->pyramid - 1) / p->pyramid);
    for (uint32_t row = 0; row < p->rows - 1; row += p->pyramid) {
        uint32_t left = p->rows - 1 - row;
        g.first_row = row;
        g.steps = left < p->pyramid ? left : p->pyramid;
        pw_launch(h, &(struct pw_launch){.name = "dynproc_kernel",
                                         .grid = {(uint32_t)ctas, 1, 1},
                                         .block = {BLOCK, 1, 1},
                                         .shared_bytes = sizeof(struct line),
                                         .registers = 17,
                                         .pace = 5410,
                                         .kernel = dynproc_kernel,
                                         .arguments = &g});
        pw_swap_arrays(&g.from, &g.to);
    }
    if (pw_host_verifying(h))
        verify(h, &g, seed, p->rows);
    pw_free(h, &g.wall);
    pw_free(h, &results[0]);
    pw_free(h, &results[1]);
}

static const struct pw_option rows[] = {
    {"columns", PW_OPTION_COUNT, offsetof(struct parameters, columns), 1, 0, "50000", "cells", NULL,
     "columns of the grid", false},
    {"rows", PW_OPTION_COUNT, offsetof(struct parameters, rows), 2, 1 << 30, "200", "cells", NULL, "rows of the grid",
     false},
    {"pyramid", PW_OPTION_COUNT, offsetof(struct parameters, pyramid), 1, MAX_PYRAMID, "10", "rows", NULL,
     "rows per launch", false},
    {0},
};

static const struct pw_preset presets[] = {{"uvm", "columns=50000:rows=200:pyramid=10"}, {0}};

const struct pw_workload pw_workload_pathfinder = {
    .name = "pathfinder",
    .suite = "Rodinia",
    .papers = "compression uvm",
    .summary = "pathfinder: cheapest way through a grid, row by row, streaming over it once",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = pathfinder_main,
};
