/* HS and hotspot: hotspot of Rodinia, the temperature of a chip by explicit time steps over a 2-D grid.
 *
 * Kept: 16x16 CTAs; the pyramid, by which a launch advances `pyramid` steps and a CTA's useful tile shrinks by one
 * cell on each side per step, so that neighbouring CTAs load overlapping halos; row-major arrays; temperature and power
 * both in flight before the barrier; active masks at the rim of tile and grid; the two temperature arrays changing
 * places; the constants of the original. Its sizes are `table` (512x512) for Mosaic and MASK and `uvm` (1024x1024); the
 * default is larger, for the footprint of Mosaic's mix.
 * Simplified: inputs are random instead of read from a file. Instruction counts are estimates for compiled code: 60 for
 * coordinates and the four divisions, 24 for the valid range, per step 12 for the masks and 20 for a cell (6 reads of
 * shared memory, 13 of arithmetic, 1 write). With code=sm_90 hotspot has the registers that an
 * H200 reports, and counts read off the machine code that nvcc 13 makes of a rewritten kernel; that of the valid range
 * and the divisions is then what the total of an H200 leaves (data/hw/h200-programs.csv). */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"
#include "workload/runtime/tile.h"

#include <assert.h>

enum { BLOCK = PW_TILE_WIDTH, MAX_PYRAMID = (BLOCK - 1) / 2 };

/* What the code between two accesses or barriers has in instructions. */
struct counts {
    uint32_t before, loaded, range, masks, cell, copy, end;
};

enum { CODE_ESTIMATE, CODE_SM_90, CODE_COUNT };

static const struct counts counts_of[CODE_COUNT] = {{60, 2, 24, 12, 20, 3, 3}, {40, 2, 75, 15, 26, 8, 5}};

struct parameters {
    uint32_t size, iterations, pyramid;
    uint32_t code;
};

struct coefficients {
    float step_div_cap, rx, ry, rz; /* the last three inverted */
};

struct arguments {
    struct pw_array power, from, to;
    struct coefficients c;
    int32_t size, border, steps;
    const struct counts *counts;
};

struct tile {
    float temperature[BLOCK][BLOCK], power[BLOCK][BLOCK], next[BLOCK][BLOCK];
};

/* One cell after one step; the order of operations is the original's. */
static inline float advance(const struct coefficients *c, float power, float here, float north, float south, float west,
                            float east)
{
    const float ambient = 80.0F;
    return here + c->step_div_cap * (power + (south + north - 2.0F * here) * c->ry +
                                     (east + west - 2.0F * here) * c->rx + (ambient - here) * c->rz);
}

/* The part of the tile that lies inside the grid: rows and columns [first, end). */
struct range {
    int32_t first, end;
};

static inline struct range valid_range(int32_t origin, int32_t size)
{
    return (struct range){origin < 0 ? -origin : 0, origin + BLOCK > size ? size - origin : BLOCK};
}

static inline int32_t clamped(int32_t i, struct range r)
{
    return i < r.first ? r.first : i >= r.end ? r.end - 1 : i;
}

static void load_tile(const struct arguments *g, struct tile *t, uint32_t mask, int32_t row, int64_t first)
{
    const float *from = g->from.data, *power = g->power.data;
    PW_FOR_LANES(lane, mask)
    {
        int64_t index = first + (lane >= BLOCK ? g->size : 0) + lane % BLOCK;
        t->temperature[row + (int32_t)(lane / BLOCK)][lane % BLOCK] = from[index];
        t->power[row + (int32_t)(lane / BLOCK)][lane % BLOCK] = power[index];
    }
}

static void compute_tile(const struct coefficients *c, struct tile *t, uint32_t mask, int32_t row, struct range rows,
                         struct range columns)
{
    PW_FOR_LANES(lane, mask)
    {
        int32_t y = row + (int32_t)(lane / BLOCK), x = (int32_t)(lane % BLOCK);
        t->next[y][x] = advance(c, t->power[y][x], t->temperature[y][x], t->temperature[clamped(y - 1, rows)][x],
                                t->temperature[clamped(y + 1, rows)][x], t->temperature[y][clamped(x - 1, columns)],
                                t->temperature[y][clamped(x + 1, columns)]);
    }
}

static void hotspot_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    struct tile *t = w->shared;
    const struct counts *n = g->counts;
    bool values = g->from.data;
    int32_t small = BLOCK - 2 * g->steps;
    int32_t top = small * (int32_t)w->cta.y - g->border, left = small * (int32_t)w->cta.x - g->border;
    int32_t row = 2 * (int32_t)w->index;
    struct range rows = valid_range(top, g->size), columns = valid_range(left, g->size);
    int64_t first = (int64_t)(top + row) * g->size + left;

    uint32_t inside = pw_tile_mask(row, columns.first, columns.end, rows.first, rows.end);
    pw_compute(w, n->before);
    pw_access_tile(w, PW_OP_LOAD, inside, &g->from, first, g->size);
    pw_access_tile(w, PW_OP_LOAD, inside, &g->power, first, g->size);
    if (values)
        load_tile(g, t, inside, row, first);
    pw_use(w);
    pw_compute(w, n->loaded);
    pw_barrier(w);
    pw_compute(w, n->range);

    uint32_t computed = 0;
    for (int32_t i = 0; i < g->steps; i++) {
        computed = inside & pw_tile_mask(row, i + 1, BLOCK - i - 1, i + 1, BLOCK - i - 1);
        pw_compute(w, computed ? n->masks + n->cell : n->masks);
        if (values)
            compute_tile(&g->c, t, computed, row, rows, columns);
        pw_barrier(w);
        if (i == g->steps - 1)
            break;
        pw_compute(w, n->copy);
        if (values)
            PW_FOR_LANES(lane, computed)
            {
                int32_t y = row + (int32_t)(lane / BLOCK);
                t->temperature[y][lane % BLOCK] = t->next[y][lane % BLOCK];
            }
        pw_barrier(w);
    }

    pw_compute(w, n->end);
    pw_access_tile(w, PW_OP_STORE, computed, &g->to, first, g->size);
    if (values)
        PW_FOR_LANES(lane, computed)
    ((float *)g->to.data)[first + (lane >= BLOCK ? g->size : 0) + lane % BLOCK] =
        t->next[row + (int32_t)(lane / BLOCK)][lane % BLOCK];
}

static struct coefficients coefficients_of(uint32_t size)
{
    const float thickness = 0.0005F, side = 0.016F, conductivity = 100.0F, heat = 1.75e6F, fit = 0.5F;
    const float max_power_density = 3.0e6F, precision = 0.001F;
    float cell = side / (float)size;
    float capacity = fit * heat * thickness * cell * cell;
    float across = 1.0F / (2.0F * conductivity * thickness);
    float down = thickness / (conductivity * cell * cell);
    float step = precision / (max_power_density / (fit * thickness * heat));
    return (struct coefficients){step / capacity, 1.0F / across, 1.0F / across, 1.0F / down};
}

static void sequential_step(const struct arguments *g, const float *from, float *to)
{
    const float *power = g->power.data;
    int64_t n = g->size;
    for (int64_t y = 0; y < n; y++)
        for (int64_t x = 0; x < n; x++)
            to[y * n + x] = advance(&g->c, power[y * n + x], from[y * n + x], from[(y ? y - 1 : 0) * n + x],
                                    from[(y < n - 1 ? y + 1 : y) * n + x], from[y * n + (x ? x - 1 : 0)],
                                    from[y * n + (x < n - 1 ? x + 1 : x)]);
}

static void verify(struct pw_host *h, const struct arguments *g, float *initial, uint32_t iterations)
{
    uint64_t cells = g->from.count;
    assert(initial && g->from.data && g->power.data); /* values are on when results are checked */
    float *grids[] = {initial, pw_host_keep(h, cells * sizeof *initial)};
    for (uint32_t i = 0; i < iterations; i++)
        sequential_step(g, grids[i % 2], grids[(i + 1) % 2]);
    const float *expected = grids[iterations % 2];
    const float *result = g->from.data;
    uint64_t wrong = cells;
    for (uint64_t i = cells; i-- > 0;)
        if (result[i] != expected[i])
            wrong = i;
    pw_host_expect(h, wrong == cells, "cell %llu differs from the sequential hotspot", (unsigned long long)wrong);
}

static void hotspot_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t size = pw_host_scaled_side(h, p->size, 1);
    if (size > 1 << 20)
        pw_host_fail(h, "side is at most 1048576");
    uint64_t cells = size * size, small = BLOCK - 2 * p->pyramid, blocks = (size + small - 1) / small;
    if (blocks * blocks > UINT32_MAX)
        pw_host_fail(h, "a grid of %llu x %llu CTAs is too large; use a smaller side or a lower pyramid",
                     (unsigned long long)blocks, (unsigned long long)blocks);
    struct arguments g = {.size = (int32_t)size,
                          .border = (int32_t)p->pyramid,
                          .c = coefficients_of((uint32_t)size),
                          .counts = &counts_of[p->code]};
    struct pw_array temperature[] = {pw_alloc(h, "temperature", cells, sizeof(float)),
                                     pw_alloc(h, "temperature_next", cells, sizeof(float))};
    g.from = temperature[0];
    g.to = temperature[1];
    g.power = pw_alloc(h, "power", cells, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    float *initial = pw_host_verifying(h) ? pw_host_keep(h, cells * sizeof *initial) : NULL;
    for (uint64_t i = 0; g.from.data && i < cells; i++) {
        uint64_t hash = pw_hash(seed, i);
        ((float *)g.from.data)[i] = 323.0F + 20.0F * pw_hash_unit(hash);
        ((float *)g.power.data)[i] = 0.005F * pw_hash_unit(hash << 24);
        if (initial)
            initial[i] = ((float *)g.from.data)[i];
    }

    uint32_t launches = p->iterations / p->pyramid + (p->iterations % p->pyramid != 0), steps = 0;
    pw_host_plan_passes(h, 1, 0);
    for (uint32_t launch = 0; pw_host_pass(h, launch, launches); launch++) {
        uint32_t left = p->iterations - steps;
        g.steps = (int32_t)(left < p->pyramid ? left : p->pyramid);
        steps += (uint32_t)g.steps;
        pw_launch(h, &(struct pw_launch){.name = "calculate_temp",
                                         .grid = {(uint32_t)blocks, (uint32_t)blocks, 1},
                                         .block = {BLOCK, BLOCK, 1},
                                         .shared_bytes = sizeof(struct tile),
                                         .registers = p->code == CODE_SM_90 ? 34 : 36,
                                         .pace = p->code == CODE_SM_90 ? 4864 : 0,
                                         .kernel = hotspot_kernel,
                                         .arguments = &g});
        pw_swap_arrays(&g.from, &g.to);
    }
    if (pw_host_verifying(h))
        verify(h, &g, initial, steps);
    pw_free(h, &g.power);
    pw_free(h, &temperature[0]);
    pw_free(h, &temperature[1]);
}

#define COMMON_ROWS                                                                                                      \
    {                                                                                                                    \
        "side",                                                                                                          \
        PW_OPTION_COUNT,                                                                                                 \
        offsetof(struct parameters, size),                                                                               \
        1,                                                                                                               \
        1 << 20,                                                                                                         \
        "1536",                                                                                                          \
        "cells",                                                                                                         \
        NULL,                                                                                                            \
        "side of the grid",                                                                                              \
        false},                                                                                                          \
        {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 0, "3", "steps", NULL, "time steps", \
         false},                                                                                                         \
    {                                                                                                                    \
        "pyramid", PW_OPTION_COUNT, offsetof(struct parameters, pyramid), 1, MAX_PYRAMID, "2", "steps", NULL,            \
            "time steps per launch", false                                                                               \
    }

static const struct pw_option rows[] = {COMMON_ROWS, {0}};

static const struct pw_option hotspot_rows[] = {
    COMMON_ROWS,
    {"code", PW_OPTION_CHOICE, offsetof(struct parameters, code), 0, 0, "estimate", "",
     (const char *const[]){"estimate", "sm_90", NULL},
     "whose instruction counts: an estimate, or close to those of an H200", false},
    {0},
};

static const struct pw_preset presets[] = {
    {"table", "side=512:iterations=3:pyramid=2"},
    {"uvm", "side=1024:iterations=8:pyramid=2"},
    {0},
};

static const char summary[] = "hotspot: temperature of a chip, a 2-D stencil in shared-memory tiles";

const struct pw_workload pw_workload_hs = {
    .name = "HS",
    .suite = "Rodinia",
    .papers = "mosaic mask",
    .summary = summary,
    .parameters = rows,
    .presets = presets,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .main = hotspot_main,
};

const struct pw_workload pw_workload_hotspot = {
    .name = "hotspot",
    .suite = "Rodinia",
    .papers = "compression uvm",
    .summary = summary,
    .parameters = hotspot_rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = hotspot_main,
};
