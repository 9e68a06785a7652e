/* SRAD: srad_v1 of Rodinia, speckle-reducing anisotropic diffusion of an image.
 *
 * Kept: the kernels extract, then per iteration prepare, reduce (as often as it takes to come down to one sum), srad
 * and srad2, and at last compress; CTAs of 512 threads, one thread per pixel; the image column by column; the twelve
 * arrays, among them the tables of neighbouring rows and columns that every pixel reads; the pixel read twice by
 * prepare; the reduction in shared memory by pairs, stride by stride. Also kept is a slip of the original: the last CTA
 * of a reduction that has a remainder adds it from places 1 apart even when the sums lie 512 apart.
 * The size `table` is the original's image, 502x458; by default the image is four times as high and three times as
 * wide, for the footprint of Mosaic's mix. The original's 100 iterations are cut.
 * Simplified: the image is random instead of read from a file. scale= applies to both
 * sides of the image. */
#include "workload/rodinia/srad.h"
#include "workload/runtime/inputs.h"

struct parameters {
    uint32_t rows, columns, iterations;
    double lambda;
};

static struct pw_srad allocate(struct pw_host *h, uint64_t rows, uint64_t columns)
{
    struct pw_srad g = {.rows = rows, .columns = columns, .pixels = rows * columns};
    g.image = pw_alloc(h, "I", g.pixels, sizeof(float));
    g.near[PW_SRAD_NORTH] = pw_alloc(h, "iN", rows, sizeof(int32_t));
    g.near[PW_SRAD_SOUTH] = pw_alloc(h, "iS", rows, sizeof(int32_t));
    g.near[PW_SRAD_EAST] = pw_alloc(h, "jE", columns, sizeof(int32_t));
    g.near[PW_SRAD_WEST] = pw_alloc(h, "jW", columns, sizeof(int32_t));
    g.sum[0] = pw_alloc(h, "sums", g.pixels, sizeof(float));
    g.sum[1] = pw_alloc(h, "sums2", g.pixels, sizeof(float));
    g.difference[PW_SRAD_NORTH] = pw_alloc(h, "dN", g.pixels, sizeof(float));
    g.difference[PW_SRAD_SOUTH] = pw_alloc(h, "dS", g.pixels, sizeof(float));
    g.difference[PW_SRAD_WEST] = pw_alloc(h, "dW", g.pixels, sizeof(float));
    g.difference[PW_SRAD_EAST] = pw_alloc(h, "dE", g.pixels, sizeof(float));
    g.c = pw_alloc(h, "c", g.pixels, sizeof(float));
    return g;
}

static void release(struct pw_host *h, struct pw_srad *g)
{
    struct pw_array *order[] = {&g->image,
                                &g->c,
                                &g->near[PW_SRAD_NORTH],
                                &g->near[PW_SRAD_SOUTH],
                                &g->near[PW_SRAD_EAST],
                                &g->near[PW_SRAD_WEST],
                                &g->difference[PW_SRAD_NORTH],
                                &g->difference[PW_SRAD_SOUTH],
                                &g->difference[PW_SRAD_EAST],
                                &g->difference[PW_SRAD_WEST],
                                &g->sum[0],
                                &g->sum[1]};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        pw_free(h, order[i]);
}

static void fill(const struct pw_srad *g, uint64_t seed)
{
    float *image = g->image.data;
    int32_t *north = g->near[PW_SRAD_NORTH].data, *south = g->near[PW_SRAD_SOUTH].data;
    int32_t *west = g->near[PW_SRAD_WEST].data, *east = g->near[PW_SRAD_EAST].data;
    for (uint64_t i = 0; i < g->pixels; i++)
        image[i] = 255.0F * pw_hash_unit(pw_hash(seed, i));
    for (int32_t i = 0; i < (int32_t)g->rows; i++) {
        north[i] = i ? i - 1 : 0;
        south[i] = i + 1 < (int32_t)g->rows ? i + 1 : i;
    }
    for (int32_t j = 0; j < (int32_t)g->columns; j++) {
        west[j] = j ? j - 1 : 0;
        east[j] = j + 1 < (int32_t)g->columns ? j + 1 : j;
    }
}

/* The reduction of one array in place, level by level, as the original adds: see the slip above. */
static float sequential_sum(float *sum, uint64_t count)
{
    for (uint64_t apart = 1;; apart *= PW_SRAD_THREADS) {
        uint64_t ctas = (count + PW_SRAD_THREADS - 1) / PW_SRAD_THREADS;
        for (uint64_t cta = 0; cta < ctas; cta++) {
            uint64_t first = cta * PW_SRAD_THREADS,
                     here = count - first < PW_SRAD_THREADS ? count - first : PW_SRAD_THREADS;
            uint32_t pairs = pw_srad_paired(here);
            float partial[PW_SRAD_THREADS];
            for (uint32_t i = 0; i < pairs; i++)
                partial[i] = sum[(first + i) * apart];
            for (uint32_t half = 1; half < pairs; half *= 2)
                for (uint32_t i = 2 * half - 1; i < pairs; i += 2 * half)
                    partial[i] += partial[i - half];
            for (uint64_t i = pairs; pairs && i < here; i++)
                partial[pairs - 1] += sum[first + i];
            if (pairs)
                sum[first * apart] = partial[pairs - 1];
        }
        if (ctas == 1)
            return sum[0];
        count = ctas;
    }
}

static float relative_variance(float sum, float sum_of_squares, uint64_t pixels)
{
    float mean = sum / (float)pixels;
    return (sum_of_squares / (float)pixels - mean * mean) / (mean * mean);
}

/* The image as a plain two-dimensional array, a pixel's neighbour at the rim being itself. */
static void sequential_step(const struct pw_srad *g, float *image, float *c, float *squares)
{
    uint64_t rows = g->rows, columns = g->columns;
    for (uint64_t i = 0; i < g->pixels; i++) {
        c[i] = image[i];
        squares[i] = image[i] * image[i];
    }
    float sum = sequential_sum(c, g->pixels);
    float q0sqr = relative_variance(sum, sequential_sum(squares, g->pixels), g->pixels);
    for (uint64_t x = 0; x < columns; x++)
        for (uint64_t y = 0; y < rows; y++) {
            uint64_t i = x * rows + y;
            float d[PW_SRAD_SIDES] = {image[y ? i - 1 : i] - image[i], image[y + 1 < rows ? i + 1 : i] - image[i],
                                      image[x ? i - rows : i] - image[i],
                                      image[x + 1 < columns ? i + rows : i] - image[i]};
            c[i] = pw_srad_coefficient(image[i], d, q0sqr);
        }
    float *next = squares;
    for (uint64_t x = 0; x < columns; x++)
        for (uint64_t y = 0; y < rows; y++) {
            uint64_t i = x * rows + y, south = y + 1 < rows ? i + 1 : i, east = x + 1 < columns ? i + rows : i;
            float north_part = c[i] * (image[y ? i - 1 : i] - image[i]);
            float west_part = c[i] * (image[x ? i - rows : i] - image[i]);
            next[i] = pw_srad_diffused(image[i], g->lambda,
                                       north_part + c[south] * (image[south] - image[i]) + west_part +
                                           c[east] * (image[east] - image[i]));
        }
    for (uint64_t i = 0; i < g->pixels; i++)
        image[i] = next[i];
}

/* Equal, or neither a number: an image of one grey has no variance to divide by. */
static bool same(float a, float b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void verify(struct pw_host *h, const struct pw_srad *g, float *image, uint32_t iterations)
{
    float *c = pw_host_keep(h, g->pixels * sizeof *c), *squares = pw_host_keep(h, g->pixels * sizeof *squares);
    for (uint64_t i = 0; i < g->pixels; i++)
        image[i] = pw_srad_expanded(image[i]);
    for (uint32_t i = 0; i < iterations; i++)
        sequential_step(g, image, c, squares);
    const float *result = g->image.data;
    uint64_t wrong = g->pixels;
    for (uint64_t i = g->pixels; i-- > 0;)
        if (!same(result[i], pw_srad_compressed(image[i])))
            wrong = i;
    pw_host_expect(h, wrong == g->pixels, "pixel %llu differs from the sequential diffusion",
                   (unsigned long long)wrong);
}

static void launch(struct pw_host *h, const struct pw_srad *g, const char *name, pw_kernel_fn *kernel, uint64_t threads,
                   uint32_t shared_bytes)
{
    pw_launch(h, &(struct pw_launch){.name = name,
                                     .grid = {(uint32_t)((threads + PW_SRAD_THREADS - 1) / PW_SRAD_THREADS), 1, 1},
                                     .block = {PW_SRAD_THREADS, 1, 1},
                                     .shared_bytes = shared_bytes,
                                     .registers = 20,
                                     .kernel = kernel,
                                     .arguments = g});
}

static void diffuse(struct pw_host *h, struct pw_srad *g)
{
    launch(h, g, "prepare", pw_srad_prepare, g->pixels, 0);
    g->apart = 1;
    for (g->sums = g->pixels;; g->apart *= PW_SRAD_THREADS) {
        launch(h, g, "reduce", pw_srad_reduce, g->sums, 2 * PW_SRAD_THREADS * sizeof(float));
        g->sums = (g->sums + PW_SRAD_THREADS - 1) / PW_SRAD_THREADS;
        if (g->sums == 1)
            break;
    }
    const float *sum = g->sum[0].data, *sum_of_squares = g->sum[1].data;
    if (sum && sum_of_squares)
        g->q0sqr = relative_variance(sum[0], sum_of_squares[0], g->pixels);
    launch(h, g, "srad", pw_srad_srad, g->pixels, 0);
    launch(h, g, "srad2", pw_srad_srad2, g->pixels, 0);
}

static void srad_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t rows = pw_host_scaled_side(h, p->rows, 1), columns = pw_host_scaled_side(h, p->columns, 1);
    if (rows > INT32_MAX / columns)
        pw_host_fail(h, "the original's indices are ints: rows * columns is below 2G");
    struct pw_srad g = allocate(h, rows, columns);
    g.lambda = (float)p->lambda;
    if (pw_host_values(h))
        fill(&g, pw_random_next(pw_host_random(h)));
    float *initial = pw_host_verifying(h) ? pw_host_keep(h, g.pixels * sizeof *initial) : NULL;
    for (uint64_t i = 0; initial && i < g.pixels; i++)
        initial[i] = ((const float *)g.image.data)[i];

    uint32_t reductions = 1;
    for (uint64_t n = g.pixels; n > PW_SRAD_THREADS; n = (n + PW_SRAD_THREADS - 1) / PW_SRAD_THREADS)
        reductions++;
    pw_host_plan_passes(h, 3 + reductions, 2);
    launch(h, &g, "extract", pw_srad_extract, g.pixels, 0);
    uint32_t made = 0;
    for (; pw_host_pass(h, made, p->iterations); made++)
        diffuse(h, &g);
    launch(h, &g, "compress", pw_srad_compress, g.pixels, 0);
    if (initial)
        verify(h, &g, initial, made);
    release(h, &g);
}

static const struct pw_option rows[] = {
    {"rows", PW_OPTION_COUNT, offsetof(struct parameters, rows), 1, 1 << 24, "2008", "pixels", NULL,
     "height of the image; a column lies in one piece", false},
    {"columns", PW_OPTION_COUNT, offsetof(struct parameters, columns), 1, 1 << 24, "1374", "pixels", NULL,
     "width of the image", false},
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 0, "100", "", NULL,
     "steps of diffusion", false},
    {"lambda", PW_OPTION_NUMBER, offsetof(struct parameters, lambda), 0, 1, "0.5", "", NULL, "length of a step", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "rows=502:columns=458"}, {0}};

const struct pw_workload pw_workload_srad_v1 = {
    .name = "SRAD",
    .suite = "Rodinia",
    .papers = "mosaic mask",
    .summary = "srad_v1: speckle-reducing diffusion of an image, with a reduction per step",
    .parameters = rows,
    .presets = presets,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .main = srad_main,
};
