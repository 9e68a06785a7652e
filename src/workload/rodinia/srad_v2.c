/* srad: srad_v2 of Rodinia, speckle-reducing anisotropic diffusion of an image in 16x16 tiles.
 *
 * Kept: two kernels per iteration over the whole image, the host working out the variance of the speckle in between
 * (from a corner of the image); row-major arrays, CTAs of 16x16 threads; that every thread of a tile loads the tile's
 * north and south rows and its own row's west and east columns, a barrier after each pair, and that tiles at the rim
 * load again what lies inside; the order of loads and stores; the arrays, their order of allocation and of freeing.
 * Sides are multiples of 16, as in the original, and have two tiles at least (with one it takes a neighbour from the
 * wrong place). SRAD is the other version of the program, srad_v1. Simplified: the original's tiles at the rim also
 * load from before and behind the array, and overwrite what they got; these lanes are masked off. The staging in shared
 * memory takes its time and space, the values come straight from the arrays. Instruction counts, loads in flight and
 * registers are those of the kernels as nvcc 13 compiles them for sm_90; only the double division in the coefficient,
 * 22 instructions with what follows, is an estimate. With code=sm_90 all of them are those of capture/programs/srad.cu
 * as nvcc 13 compiles it for sm_90. */
#include "workload/runtime/code.h"
#include "workload/runtime/inputs.h"
#include "workload/runtime/tile.h"

#include <math.h>

enum { TILE = PW_TILE_WIDTH, MAX_SIDE = 1 << 19 };
enum { SHARED_1 = 6 * TILE * TILE * sizeof(float), SHARED_2 = 5 * TILE * TILE * sizeof(float) };

/* What the compiled kernels differ in. Of a sweep's parts, `flight` counts the instructions behind the loads, `use`
 * those from their use to the barrier. */
struct code {
    uint32_t registers[2], pace[2];
    /* First sweep: of the pixel; of the coefficient at the tile's first and last rows, and elsewhere; before the stores
     * and before each of them. */
    uint32_t pixel_flight, rim, inner, stores, store;
    /* Second sweep: before the pixel; coefficients south, behind a load inside the image and before one at its rim;
     * those east; the tile's own; and before the differences and before each of them. */
    uint32_t before, image_flight;
    uint32_t south_inside, south_rim, south_flight, south_rim_flight, south_use;
    uint32_t east_before, east_inside, east_rim, east_flight, east_rim_flight, east_use, own_flight;
    uint32_t differences, difference;
    struct pw_step sum[6];
    bool in_turn; /* of two loads in flight, the first is used while the second one is */
};

static const struct code codes[PW_CODE_COUNT] = {
    [PW_CODE_DEFAULT] = {.registers = {24, 24},
                         .pixel_flight = 6,
                         .rim = 54 + 73 + 22,
                         .inner = 31 + 73 + 22,
                         .stores = 1,
                         .store = 2,
                         .before = 16,
                         .image_flight = 8,
                         .south_inside = 3,
                         .south_rim = 5,
                         .south_flight = 5,
                         .south_rim_flight = 5,
                         .south_use = 1,
                         .east_inside = 2,
                         .east_rim = 6,
                         .east_flight = 5,
                         .east_rim_flight = 5,
                         .east_use = 1,
                         .own_flight = 12,
                         .differences = 13 + 8,
                         .difference = 1,
                         .sum = {PW_ARITHMETIC(4), PW_WAIT(0, 11), PW_STEPS_END}},
    [PW_CODE_SM_90] = {.registers = {24, 26},
                       .pace = {4023, 3390},
                       .pixel_flight = 12,
                       .rim = 102,
                       .inner = 102,
                       .stores = 18,
                       .before = 17,
                       .image_flight = 13,
                       .south_flight = 11,
                       .south_rim_flight = 10,
                       .south_use = 2,
                       .east_before = 2,
                       .east_flight = 8,
                       .east_rim_flight = 7,
                       .east_use = 3,
                       .own_flight = 10,
                       .sum = {PW_ARITHMETIC(10), PW_WAIT(3, 1), PW_WAIT(2, 1), PW_WAIT(1, 2), PW_WAIT(0, 7),
                               PW_STEPS_END},
                       .in_turn = true},
};

struct parameters {
    uint32_t rows, columns, iterations, speckle, code;
    double lambda;
};

struct arguments {
    struct pw_array image, coefficient, east, west, south, north;
    int64_t rows, columns;
    float lambda, q0sqr;
    const struct code *code;
};

/* A pixel's differences to its neighbours. */
struct differences {
    float north, south, west, east;
};

static struct differences differences_at(const struct arguments *g, const float *image, int64_t y, int64_t x)
{
    int64_t i = y * g->columns + x;
    return (struct differences){image[y ? i - g->columns : i] - image[i],
                                image[y < g->rows - 1 ? i + g->columns : i] - image[i], image[x ? i - 1 : i] - image[i],
                                image[x < g->columns - 1 ? i + 1 : i] - image[i]};
}

/* Types and order of operations are the original's. */
static float coefficient_of(float pixel, struct differences d, float q0sqr)
{
    float g2 = (d.north * d.north + d.south * d.south + d.west * d.west + d.east * d.east) / (pixel * pixel);
    float l = (d.north + d.south + d.west + d.east) / pixel;
    float num = (float)(0.5 * (double)g2 - (1.0 / 16.0) * (double)(l * l)), den = (float)(1.0 + 0.25 * (double)l);
    float qsqr = num / (den * den);
    den = (qsqr - q0sqr) / (q0sqr * (1.0F + q0sqr));
    float c = (float)(1.0 / (1.0 + (double)den));
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

static float diffused(float pixel, float lambda, float divergence)
{
    return (float)((double)pixel + 0.25 * (double)lambda * (double)divergence);
}

/* All threads of a row load the same element: first, and `pitch` further for the second row of the warp. */
static void load_column(struct pw_warp *w, uint32_t mask, const struct pw_array *a, int64_t first, int64_t pitch)
{
    uint64_t index[PW_WARP_LANES];
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        index[lane] = (uint64_t)(first + lane / TILE * pitch);
    pw_load_lanes(w, mask, a, index);
}

/* Where a warp works: the tile's first element, the warp's, and whether the tile is at a rim. */
struct place {
    int64_t tile, first, row; /* elements; the row's number in the image */
    bool top, bottom, left, right;
};

static struct place place_of(const struct pw_warp *w, const struct arguments *g)
{
    int64_t row = (int64_t)w->cta.y * TILE + 2 * w->index, tile = g->columns * TILE * w->cta.y + TILE * w->cta.x;
    return (struct place){.tile = tile,
                          .first = tile + 2 * w->index * g->columns,
                          .row = row,
                          .top = !w->cta.y,
                          .bottom = w->cta.y == w->launch->grid.y - 1,
                          .left = !w->cta.x,
                          .right = w->cta.x == w->launch->grid.x - 1};
}

/* `count` instructions, of which the first needs the older of two loads, or both. */
static void use_two(struct pw_warp *w, const struct arguments *g, uint32_t count)
{
    if (g->code->in_turn) {
        pw_use_all_but(w, 1);
        pw_compute(w, 1);
        count--;
    }
    pw_use(w);
    pw_compute(w, count);
}

static void load_north_and_south(struct pw_warp *w, const struct arguments *g, const struct place *p)
{
    pw_compute(w, 14);
    if (!p->top)
        pw_access_tile(w, PW_OP_LOAD, w->lanes, &g->image, p->tile - g->columns, 0);
    if (!p->bottom)
        pw_access_tile(w, PW_OP_LOAD, w->lanes, &g->image, p->tile + TILE * g->columns, 0);
    pw_compute(w, 12);
    use_two(w, g, p->top ? 5 : p->bottom ? 10 : 7);
    if (p->top || p->bottom) {
        pw_access_tile(w, PW_OP_LOAD, w->lanes, &g->image, p->tile + (p->top ? 0 : (TILE - 1) * g->columns), 0);
        pw_use(w);
        pw_compute(w, p->top ? 1 : 2);
    }
    pw_barrier(w);
}

static void load_west_and_east(struct pw_warp *w, const struct arguments *g, const struct place *p)
{
    const uint32_t row = (1U << TILE) - 1;
    bool first = !p->first, last = p->row == g->rows - 2 && p->right;
    pw_compute(w, 3);
    load_column(w, first ? w->lanes & ~row : w->lanes, &g->image, p->first - 1, g->columns);
    load_column(w, last ? w->lanes & row : w->lanes, &g->image, p->first + TILE, g->columns);
    pw_compute(w, 9);
    use_two(w, g, p->left ? 5 : p->right ? 11 : 7);
    if (p->left || p->right) {
        load_column(w, w->lanes, &g->image, p->first + (p->left ? 0 : TILE - 1), g->columns);
        pw_use(w);
        pw_compute(w, p->left ? 1 : 2);
    }
    pw_barrier(w);
}

static void store_differences(struct pw_warp *w, const struct arguments *g, const struct place *p)
{
    const struct pw_array *const in_order[] = {&g->coefficient, &g->east, &g->west, &g->south, &g->north};
    const float *image = g->image.data;
    pw_compute(w, g->code->stores);
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++) {
        pw_compute(w, g->code->store);
        pw_access_tile(w, PW_OP_STORE, w->lanes, in_order[i], p->first, g->columns);
    }
    for (uint32_t lane = 0; image && lane < PW_WARP_LANES; lane++) {
        int64_t y = p->row + lane / TILE, x = (int64_t)w->cta.x * TILE + lane % TILE, at = y * g->columns + x;
        struct differences d = differences_at(g, image, y, x);
        ((float *)g->coefficient.data)[at] = coefficient_of(image[at], d, g->q0sqr);
        ((float *)g->east.data)[at] = d.east;
        ((float *)g->west.data)[at] = d.west;
        ((float *)g->south.data)[at] = d.south;
        ((float *)g->north.data)[at] = d.north;
    }
}

static void srad_1_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    struct place p = place_of(w, g);
    bool rim = !w->index || w->index == TILE / 2 - 1; /* of the tile: two more ways through the branches */
    load_north_and_south(w, g, &p);
    load_west_and_east(w, g, &p);
    pw_compute(w, 2);
    pw_access_tile(w, PW_OP_LOAD, w->lanes, &g->image, p.first, g->columns);
    pw_compute(w, g->code->pixel_flight);
    pw_use(w);
    pw_compute(w, 1);
    pw_barrier(w);
    pw_compute(w, rim ? g->code->rim : g->code->inner);
    pw_barrier(w);
    store_differences(w, g, &p);
}

/* Loads of the coefficients south and east of the tile; at the rim the second load overwrites the first. */
static void load_coefficients(struct pw_warp *w, const struct arguments *g, const struct place *p)
{
    const struct pw_array *c = &g->coefficient;
    const struct code *code = g->code;
    if (!p->bottom)
        pw_access_tile(w, PW_OP_LOAD, w->lanes, c, p->tile + TILE * g->columns, 0);
    pw_compute(w, p->bottom ? code->south_rim : code->south_inside);
    if (p->bottom)
        pw_access_tile(w, PW_OP_LOAD, w->lanes, c, p->tile + (TILE - 1) * g->columns, 0);
    pw_compute(w, p->bottom ? code->south_rim_flight : code->south_flight);
    pw_use(w);
    pw_compute(w, code->south_use);
    pw_barrier(w);
    pw_compute(w, code->east_before);
    bool last = p->row == g->rows - 2 && p->right;
    load_column(w, last ? w->lanes & ((1U << TILE) - 1) : w->lanes, c, p->first + TILE, g->columns);
    pw_compute(w, p->right ? code->east_rim : code->east_inside);
    if (p->right) {
        if (!code->in_turn)
            pw_use(w);
        load_column(w, w->lanes, c, p->first + TILE - 1, g->columns);
    }
    pw_compute(w, p->right ? code->east_rim_flight : code->east_flight);
    pw_use(w);
    pw_compute(w, code->east_use);
    pw_barrier(w);
    pw_access_tile(w, PW_OP_LOAD, w->lanes, c, p->first, g->columns);
    pw_compute(w, code->own_flight);
    pw_use(w);
    pw_compute(w, 1);
    pw_barrier(w);
}

static void update_pixel(const struct arguments *g, float *image, const float *c, int64_t y, int64_t x)
{
    int64_t i = y * g->columns + x;
    float south = c[y < g->rows - 1 ? i + g->columns : i], east = c[x < g->columns - 1 ? i + 1 : i];
    float divergence = c[i] * ((const float *)g->north.data)[i] + south * ((const float *)g->south.data)[i] +
                       c[i] * ((const float *)g->west.data)[i] + east * ((const float *)g->east.data)[i];
    image[i] = diffused(image[i], g->lambda, divergence);
}

static void srad_2_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const struct pw_array *const in_order[] = {&g->south, &g->north, &g->west, &g->east};
    struct place p = place_of(w, g);
    pw_compute(w, g->code->before);
    pw_access_tile(w, PW_OP_LOAD, w->lanes, &g->image, p.first, g->columns);
    pw_compute(w, g->code->image_flight);
    pw_use(w);
    pw_compute(w, 1);
    pw_barrier(w);
    load_coefficients(w, g, &p);
    pw_compute(w, g->code->differences);
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++) {
        pw_compute(w, g->code->difference);
        pw_access_tile(w, PW_OP_LOAD, w->lanes, in_order[i], p.first, g->columns);
    }
    PW_FOR_STEPS(step, g->code->sum)
    pw_take_step(w, step);
    pw_barrier(w);
    pw_compute(w, 1);
    pw_access_tile(w, PW_OP_STORE, w->lanes, &g->image, p.first, g->columns);
    for (uint32_t lane = 0; g->image.data && lane < PW_WARP_LANES; lane++)
        update_pixel(g, g->image.data, g->coefficient.data, p.row + lane / TILE,
                     (int64_t)w->cta.x * TILE + lane % TILE);
}

/* Relative variance in the corner of the image that the original takes for speckle. */
static float variance_of(const struct arguments *g, const float *image, int64_t side)
{
    int64_t rows = side < g->rows ? side : g->rows, columns = side < g->columns ? side : g->columns;
    float sum = 0, squares = 0, size = (float)(rows * columns);
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < columns; x++) {
            float pixel = image[y * g->columns + x];
            sum += pixel;
            squares += pixel * pixel;
        }
    float mean = sum / size;
    return (squares / size - mean * mean) / (mean * mean);
}

static void verify(struct pw_host *h, const struct arguments *g, float *image, const struct parameters *p)
{
    const float *result = g->image.data;
    uint64_t pixels = g->image.count;
    float *c = pw_host_keep(h, pixels * sizeof *c), *next = pw_host_keep(h, pixels * sizeof *next);
    for (uint32_t iteration = 0; iteration < p->iterations; iteration++) {
        float q0sqr = variance_of(g, image, p->speckle);
        for (int64_t i = 0; i < (int64_t)pixels; i++)
            c[i] = coefficient_of(image[i], differences_at(g, image, i / g->columns, i % g->columns), q0sqr);
        for (int64_t i = 0; i < (int64_t)pixels; i++) {
            int64_t y = i / g->columns, x = i % g->columns;
            struct differences d = differences_at(g, image, y, x);
            next[i] = diffused(image[i], g->lambda,
                               c[i] * d.north + c[y < g->rows - 1 ? i + g->columns : i] * d.south + c[i] * d.west +
                                   c[x < g->columns - 1 ? i + 1 : i] * d.east);
        }
        for (uint64_t i = 0; i < pixels; i++)
            image[i] = next[i];
    }
    uint64_t wrong = pixels;
    for (uint64_t i = pixels; result && i-- > 0;)
        if (result[i] != image[i])
            wrong = i;
    pw_host_expect(h, wrong == pixels, "pixel %llu differs from the sequential diffusion", (unsigned long long)wrong);
}

/* The first or the second sweep. */
static void launch(struct pw_host *h, const struct arguments *g, unsigned sweep)
{
    pw_launch(h, &(struct pw_launch){.name = sweep ? "srad_cuda_2" : "srad_cuda_1",
                                     .grid = {(uint32_t)(g->columns / TILE), (uint32_t)(g->rows / TILE), 1},
                                     .block = {TILE, TILE, 1},
                                     .shared_bytes = sweep ? SHARED_2 : SHARED_1,
                                     .registers = g->code->registers[sweep],
                                     .pace = g->code->pace[sweep],
                                     .kernel = sweep ? srad_2_kernel : srad_1_kernel,
                                     .arguments = g});
}

static void srad_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t rows = pw_host_scaled_side(h, p->rows, TILE), columns = pw_host_scaled_side(h, p->columns, TILE);
    rows = rows < 2 * TILE ? 2 * TILE : rows;
    columns = columns < 2 * TILE ? 2 * TILE : columns;
    if (rows % TILE || columns % TILE || rows > MAX_SIDE || columns > MAX_SIDE)
        pw_host_fail(h, "rows and columns must be multiples of %d and at most %d", TILE, MAX_SIDE);
    struct arguments g = {
        .rows = (int64_t)rows, .columns = (int64_t)columns, .lambda = (float)p->lambda, .code = &codes[p->code]};
    struct {
        const char *name;
        struct pw_array *array;
    } const in_order[] = {{"J_cuda", &g.image}, {"C_cuda", &g.coefficient}, {"E_C", &g.east},
                          {"W_C", &g.west},     {"S_C", &g.south},          {"N_C", &g.north}};
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++)
        *in_order[i].array = pw_alloc(h, in_order[i].name, rows * columns, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    float *image = g.image.data,
          *initial = pw_host_verifying(h) ? pw_host_keep(h, rows * columns * sizeof *image) : NULL;
    for (uint64_t i = 0; image && i < rows * columns; i++) {
        image[i] = (float)exp((double)pw_hash_unit(pw_hash(seed, i)));
        if (initial)
            initial[i] = image[i];
    }

    pw_host_plan(h, 2 * p->iterations);
    for (uint32_t i = 0; i < p->iterations; i++) {
        if (image)
            g.q0sqr = variance_of(&g, image, p->speckle);
        launch(h, &g, 0);
        launch(h, &g, 1);
    }
    if (initial)
        verify(h, &g, initial, p);
    struct pw_array *const freed[] = {&g.coefficient, &g.image, &g.east, &g.west, &g.north, &g.south};
    for (size_t i = 0; i < sizeof freed / sizeof freed[0]; i++)
        pw_free(h, freed[i]);
}

static const struct pw_option rows[] = {
    {"rows", PW_OPTION_COUNT, offsetof(struct parameters, rows), 2 * TILE, MAX_SIDE, "1024", "pixels", NULL,
     "height of the image, a multiple of 16", false},
    {"columns", PW_OPTION_COUNT, offsetof(struct parameters, columns), 2 * TILE, MAX_SIDE, "1024", "pixels", NULL,
     "width of the image, a multiple of 16", false},
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 1 << 24, "4", "", NULL,
     "steps of diffusion, of two launches each", false},
    {"speckle", PW_OPTION_COUNT, offsetof(struct parameters, speckle), 2, MAX_SIDE, "128", "pixels", NULL,
     "side of the corner whose variance the host takes", false},
    {"lambda", PW_OPTION_NUMBER, offsetof(struct parameters, lambda), 0, 1, "0.5", "", NULL, "length of a step", false},
    PW_CODE_ROW(struct parameters, "estimate", "an estimate of a division"),
    {0},
};

static const struct pw_preset presets[] = {{"uvm", "rows=1024:columns=1024:iterations=4"}, {0}};

const struct pw_workload pw_workload_srad_v2 = {
    .name = "srad",
    .suite = "Rodinia",
    .papers = "compression uvm",
    .summary = "srad_v2: speckle-reducing diffusion of an image in 16x16 tiles, two sweeps per step",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = srad_main,
};
