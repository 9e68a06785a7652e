/* CONS: convolutionSeparable of the CUDA SDK, an image convolved with 17 taps along rows, then along columns.
 *
 * Kept: the size 3072x1536 and its three arrays; CTAs of 16x4 threads for rows and 16x8 for columns, of which each
 * thread computes 4 results 16 columns or 8 rows apart (the SDK of that time and the suite of MASK's authors; newer
 * SDKs compute 8); tiles in shared memory with a halo of one step on either side, the main part loaded first, then the
 * halo before, then the halo behind; no halo loads beyond the image; the taps in constant memory, which is no global
 * access. Sizes must be multiples of 64 and 32, as in the original. The original's ten iterations are the same again
 * and again, until they are cut. Simplified: pixels and taps are random in [0, 1). Instruction counts are estimates for
 * compiled code: 24 for the indices, one write of shared memory per load, and 36 per result (17 reads of shared memory,
 * 17 fused multiply-adds with the tap from constant memory, 2 for addresses). A thread's six loads are in flight
 * together. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"
#include "workload/runtime/tile.h"

#include <string.h>

enum { RADIUS = 8, TAPS = 2 * RADIUS + 1, STEPS = 4 };
enum { WIDTH = PW_TILE_WIDTH, ROWS_Y = 4, COLUMNS_Y = 8 };
enum { ROWS_TILE = STEPS * WIDTH, COLUMNS_TILE = STEPS * COLUMNS_Y };

struct parameters {
    uint32_t width, height, iterations;
};

struct arguments {
    struct pw_array input, buffer, output;
    int64_t width;
    float taps[TAPS];
};

/* Rows of pixels. The original's tile of columns is transposed and has a column more, so that the lanes of a warp use
 * different banks; here it has the same size. */
struct row_tile {
    float pixel[ROWS_Y][(STEPS + 2) * WIDTH];
};
struct column_tile {
    float pixel[(STEPS + 2) * COLUMNS_Y + 1][WIDTH];
};

/* Some threads side by side, which take each tap together. */
enum { ABREAST = 4 };
typedef float abreast __attribute__((vector_size(ABREAST * sizeof(float))));

/* The results of a row of threads; the first one's taps go over the pixels around `centre`, `step` elements apart. */
static inline void convolve(const float *taps, const float *centre, int64_t step, float *out)
{
    for (int64_t x = 0; x < WIDTH; x += ABREAST) {
        abreast sum = {0}, pixels;
        for (int64_t j = -RADIUS; j <= RADIUS; j++) {
            memcpy(&pixels, &centre[j * step + x], sizeof pixels);
            sum += taps[RADIUS - j] * pixels;
        }
        memcpy(&out[x], &sum, sizeof sum);
    }
}

/* The steps' loads in the original's order: step 0 is the halo before, STEPS + 1 the halo behind, 1 .. STEPS the
 * tile. */
static const uint8_t order[STEPS + 2] = {1, 2, 3, 4, 0, STEPS + 1};

/* A CTA's tile as seen by one warp: two rows of 16 pixels, `step` elements further at each step. */
struct view {
    const struct pw_array *from;
    int64_t first, step;
    bool has_before, has_behind;
};

static void load_steps(struct pw_warp *w, const struct view *v, int64_t width)
{
    pw_compute(w, 24);
    for (uint32_t n = 0; n < STEPS + 2; n++)
        if ((order[n] > 0 || v->has_before) && (order[n] <= STEPS || v->has_behind))
            pw_access_tile(w, PW_OP_LOAD, w->lanes, v->from, v->first + order[n] * v->step, width);
    pw_use(w);
    pw_compute(w, STEPS + 2);
}

/* One row of the pixels that a step loads; zero beyond the image. */
static inline void take_pixels(const struct view *v, uint32_t step, int64_t row, int64_t width, float *out)
{
    if ((step == 0 && !v->has_before) || (step > STEPS && !v->has_behind))
        memset(out, 0, WIDTH * sizeof *out);
    else
        memcpy(out, (const float *)v->from->data + v->first + step * v->step + row * width, WIDTH * sizeof *out);
}

static void rows_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    struct row_tile *t = w->shared;
    float *to = g->buffer.data;
    uint32_t y = 2 * w->index;
    struct view v = {.from = &g->input,
                     .first = ((int64_t)w->cta.y * ROWS_Y + y) * g->width + (int64_t)w->cta.x * ROWS_TILE - WIDTH,
                     .step = WIDTH,
                     .has_before = w->cta.x > 0,
                     .has_behind = w->cta.x + 1 < w->launch->grid.x};
    load_steps(w, &v, g->width);
    for (uint32_t step = 0; to && step < STEPS + 2; step++)
        for (uint32_t row = 0; row < 2; row++)
            take_pixels(&v, step, row, g->width, &t->pixel[y + row][step * WIDTH]);
    pw_barrier(w);
    for (uint32_t step = 1; step <= STEPS; step++) {
        int64_t at = v.first + step * v.step;
        pw_compute(w, 2 * TAPS + 2);
        pw_access_tile(w, PW_OP_STORE, w->lanes, &g->buffer, at, g->width);
        for (uint32_t row = 0; to && row < 2; row++)
            convolve(g->taps, &t->pixel[y + row][step * WIDTH], 1, &to[at + row * g->width]);
    }
}

static void columns_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    struct column_tile *t = w->shared;
    float *to = g->output.data;
    uint32_t y = 2 * w->index;
    struct view v = {.from = &g->buffer,
                     .first = ((int64_t)w->cta.y * COLUMNS_TILE - COLUMNS_Y + y) * g->width + w->cta.x * WIDTH,
                     .step = COLUMNS_Y * g->width,
                     .has_before = w->cta.y > 0,
                     .has_behind = w->cta.y + 1 < w->launch->grid.y};
    load_steps(w, &v, g->width);
    for (uint32_t step = 0; to && step < STEPS + 2; step++)
        for (uint32_t row = 0; row < 2; row++)
            take_pixels(&v, step, row, g->width, t->pixel[step * COLUMNS_Y + y + row]);
    pw_barrier(w);
    for (uint32_t step = 1; step <= STEPS; step++) {
        int64_t at = v.first + step * v.step;
        pw_compute(w, 2 * TAPS + 2);
        pw_access_tile(w, PW_OP_STORE, w->lanes, &g->output, at, g->width);
        for (uint32_t row = 0; to && row < 2; row++)
            convolve(g->taps, t->pixel[step * COLUMNS_Y + y + row], WIDTH, &to[at + row * g->width]);
    }
}

/* Along x (dx 1) or y (dy 1), over an image that is zero beyond its rim. */
static void sequential_pass(const float *taps, const float *from, float *to, int64_t width, int64_t height, int64_t dx,
                            int64_t dy)
{
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) {
            float sum = 0;
            for (int64_t j = -RADIUS; j <= RADIUS; j++) {
                int64_t sx = x + j * dx, sy = y + j * dy;
                if (sx >= 0 && sx < width && sy >= 0 && sy < height)
                    sum += taps[RADIUS - j] * from[sy * width + sx];
            }
            to[y * width + x] = sum;
        }
}

static void verify(struct pw_host *h, const struct arguments *g, int64_t height)
{
    uint64_t pixels = g->output.count, wrong = pixels;
    float *buffer = pw_host_keep(h, pixels * sizeof *buffer), *expected = pw_host_keep(h, pixels * sizeof *expected);
    sequential_pass(g->taps, g->input.data, buffer, g->width, height, 1, 0);
    sequential_pass(g->taps, buffer, expected, g->width, height, 0, 1);
    const float *output = g->output.data;
    for (uint64_t i = pixels; i-- > 0;)
        if (output[i] != expected[i])
            wrong = i;
    pw_host_expect(h, wrong == pixels, "pixel %llu differs from the sequential convolution", (unsigned long long)wrong);
}

static void convolution_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t width = pw_host_scale(h) == 1 ? p->width : pw_host_scaled_side(h, p->width, ROWS_TILE);
    uint64_t height = pw_host_scale(h) == 1 ? p->height : pw_host_scaled_side(h, p->height, COLUMNS_TILE);
    if (width % ROWS_TILE || height % COLUMNS_TILE)
        pw_host_fail(h, "width must be a multiple of %d, height of %d", ROWS_TILE, COLUMNS_TILE);
    if (width * height > INT32_MAX)
        pw_host_fail(h, "the original's indices are ints: width * height is below 2G");
    struct arguments g = {.width = (int64_t)width};
    g.input = pw_alloc(h, "input", width * height, sizeof(float));
    g.output = pw_alloc(h, "output", width * height, sizeof(float));
    g.buffer = pw_alloc(h, "buffer", width * height, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; g.input.data && i < g.input.count; i++)
        ((float *)g.input.data)[i] = pw_hash_unit(pw_hash(seed, i));
    for (uint64_t i = 0; i < TAPS; i++)
        g.taps[i] = pw_hash_unit(pw_hash(~seed, i));

    pw_host_plan_passes(h, 2, 0);
    for (uint32_t i = 0; pw_host_pass(h, i, p->iterations); i++) {
        pw_launch(h, &(struct pw_launch){.name = "convolutionRowsKernel",
                                         .grid = {(uint32_t)width / ROWS_TILE, (uint32_t)height / ROWS_Y, 1},
                                         .block = {WIDTH, ROWS_Y, 1},
                                         .shared_bytes = sizeof(struct row_tile),
                                         .registers = 24,
                                         .kernel = rows_kernel,
                                         .arguments = &g});
        pw_launch(h, &(struct pw_launch){.name = "convolutionColumnsKernel",
                                         .grid = {(uint32_t)width / WIDTH, (uint32_t)height / COLUMNS_TILE, 1},
                                         .block = {WIDTH, COLUMNS_Y, 1},
                                         .shared_bytes = sizeof(struct column_tile),
                                         .registers = 24,
                                         .kernel = columns_kernel,
                                         .arguments = &g});
    }
    if (pw_host_verifying(h))
        verify(h, &g, (int64_t)height);
    pw_free(h, &g.buffer);
    pw_free(h, &g.output);
    pw_free(h, &g.input);
}

static const struct pw_option rows[] = {
    {"width", PW_OPTION_COUNT, offsetof(struct parameters, width), ROWS_TILE, 1 << 24, "3072", "pixels", NULL,
     "columns of the image, a multiple of 64", false},
    {"height", PW_OPTION_COUNT, offsetof(struct parameters, height), COLUMNS_TILE, 1 << 24, "1536", "pixels", NULL,
     "rows of the image, a multiple of 32", false},
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 0, "10", "", NULL,
     "times that the same image is convolved", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "width=3072:height=1536"}, {0}};

const struct pw_workload pw_workload_cons = {
    .name = "CONS",
    .suite = "CUDA SDK",
    .papers = "mosaic mask",
    .summary = "convolutionSeparable: an image convolved along rows, then along columns",
    .parameters = rows,
    .presets = presets,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .main = convolution_main,
};
