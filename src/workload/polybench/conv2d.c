/* 2dconv: 2DConvolution of PolyBench/GPU, an image convolved with nine constants, one thread a pixel.
 *
 * Kept: one launch over the whole image in CTAs of 32x8 threads, a warp a row of 32 pixels; that a pixel's neighbours
 * are all loaded from global memory, nine loads and one store; the rim, which is neither computed nor stored; the two
 * arrays and their order. Rows and columns are free, where the original's array bounds are compiled in.
 * Instruction counts, loads in flight, the order of loads and registers are those of the kernel as nvcc 13 compiles it
 * for sm_90: the nine loads are in flight together. With code=sm_90 the sides of the image are compiled in, as in the
 * original and in capture/programs/conv2d.cu, which makes three instructions less before the rim is known. */
#include "workload/runtime/code.h"
#include "workload/runtime/inputs.h"

enum { BLOCK_X = PW_WARP_LANES, BLOCK_Y = 8, MAX_SIDE = 1 << 19 };

struct parameters {
    uint32_t rows, columns, code;
};

struct arguments {
    struct pw_array image, result;
    int64_t rows, columns;
    uint32_t test; /* instructions up to the branch round the rim */
};

/* The order of additions is the kernel's. */
static float convolved(const float *image, int64_t at, int64_t pitch)
{
    const float *above = image + at - pitch, *row = image + at, *below = image + at + pitch;
    return 0.2F * above[-1] + 0.5F * above[0] + -0.8F * above[1] + -0.3F * row[-1] + 0.6F * row[0] + -0.9F * row[1] +
           0.4F * below[-1] + 0.7F * below[0] + 0.1F * below[1];
}

static void convolution_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    /* Of the nine neighbours, row by row, in the order of the compiled loads. */
    static const int8_t dy[] = {-1, -1, -1, 0, 0, 0, 1, 1, 1}, dx[] = {0, -1, 1, -1, 0, 1, -1, 0, 1};
    const float *image = g->image.data;
    float *result = g->result.data;
    int64_t i = (int64_t)w->cta.y * BLOCK_Y + w->index, j = (int64_t)w->cta.x * BLOCK_X;
    bool inside = i > 0 && i < g->rows - 1;
    uint32_t mask = inside ? pw_lanes_below(w, (uint64_t)j, (uint64_t)g->columns - 1) : 0;
    if (!j)
        mask &= ~1U;
    pw_compute(w, g->test);
    if (!mask)
        return;
    int64_t at = i * g->columns + j;
    pw_compute(w, 1 + 5);
    for (uint32_t k = 0; k < 9; k++) {
        if (k == 2)
            pw_compute(w, 1);
        pw_load_run(w, mask, &g->image, at + dy[k] * g->columns + dx[k]);
    }
    pw_use_all_but(w, 8);
    pw_compute(w, 1);
    pw_use_all_but(w, 7);
    pw_compute(w, 2);
    pw_use_all_but(w, 6);
    pw_compute(w, 1);
    pw_use(w);
    pw_compute(w, 7);
    pw_store_run(w, mask, &g->result, at);
    if (result)
        PW_FOR_LANES(lane, mask)
    result[at + lane] = convolved(image, at + lane, g->columns);
}

/* The nine terms as a loop over a table of constants, in the same order of additions. */
static void verify(struct pw_host *h, const struct arguments *g)
{
    static const float constants[3][3] = {{0.2F, 0.5F, -0.8F}, {-0.3F, 0.6F, -0.9F}, {0.4F, 0.7F, 0.1F}};
    const float *image = g->image.data, *result = g->result.data;
    uint64_t wrong = g->result.count;
    for (int64_t i = 0; result && i < g->rows; i++)
        for (int64_t j = 0; j < g->columns; j++) {
            float sum = 0;
            for (int64_t y = 0; y < 3 && i && i < g->rows - 1 && j && j < g->columns - 1; y++)
                for (int64_t x = 0; x < 3; x++) {
                    float term = constants[y][x] * image[(i + y - 1) * g->columns + j + x - 1];
                    sum = y || x ? sum + term : term;
                }
            if (result[i * g->columns + j] != sum && wrong == g->result.count)
                wrong = (uint64_t)(i * g->columns + j);
        }
    pw_host_expect(h, wrong == g->result.count, "pixel %llu differs from the sequential convolution",
                   (unsigned long long)wrong);
}

static void convolution_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t rows = pw_host_scaled_side(h, p->rows, 1), columns = pw_host_scaled_side(h, p->columns, 1);
    if (rows > MAX_SIDE || columns > MAX_SIDE)
        pw_host_fail(h, "rows and columns are at most %d", MAX_SIDE);
    static const uint32_t tests[PW_CODE_COUNT] = {[PW_CODE_DEFAULT] = 16, [PW_CODE_SM_90] = 13};
    struct arguments g = {.rows = (int64_t)rows, .columns = (int64_t)columns, .test = tests[p->code]};
    g.image = pw_alloc(h, "A_gpu", rows * columns, sizeof(float));
    g.result = pw_alloc(h, "B_gpu", rows * columns, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; g.image.data && i < g.image.count; i++)
        ((float *)g.image.data)[i] = pw_hash_unit(pw_hash(seed, i));

    pw_host_plan(h, 1);
    pw_launch(h, &(struct pw_launch){.name = "convolution2D_kernel",
                                     .grid = {(uint32_t)((columns + BLOCK_X - 1) / BLOCK_X),
                                              (uint32_t)((rows + BLOCK_Y - 1) / BLOCK_Y), 1},
                                     .block = {BLOCK_X, BLOCK_Y, 1},
                                     .registers = 24,
                                     .pace = 3870,
                                     .kernel = convolution_kernel,
                                     .arguments = &g});
    if (pw_host_verifying(h))
        verify(h, &g);
    pw_free(h, &g.image);
    pw_free(h, &g.result);
}

static const struct pw_option rows[] = {
    {"rows", PW_OPTION_COUNT, offsetof(struct parameters, rows), 1, MAX_SIDE, "4096", "pixels", NULL,
     "height of the image", false},
    {"columns", PW_OPTION_COUNT, offsetof(struct parameters, columns), 1, MAX_SIDE, "4096", "pixels", NULL,
     "width of the image", false},
    PW_CODE_ROW(struct parameters, "general", "those of code for any size"),
    {0},
};

static const struct pw_preset presets[] = {{"compression", "rows=4096:columns=4096"}, {0}};

const struct pw_workload pw_workload_conv2d = {
    .name = "2dconv",
    .suite = "PolyBench",
    .papers = "compression",
    .summary = "2DConvolution: nine neighbours of every pixel of an image, all from global memory",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = convolution_main,
};
