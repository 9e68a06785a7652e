/* HISTO: histo of Parboil, a histogram of 256 columns by 8,192 rows whose byte-wide bins saturate at 255.
 *
 * Kept: the seven allocations with their sizes (four of them image width times histogram rows) and the four kernels per
 * iteration. Prescan (64 x 512) samples an eighth of the image twice over and puts mean plus and minus ten deviations
 * into two atomics. Intermediates (a CTA per 16 image rows, a thread per two columns) splits each value into range (of
 * 24,576 bins), word and byte. Main (14 x number of central ranges, 512 threads) scans all of it once per range: a
 * range of bytes in 24 KiB of shared memory, overflows of a byte and the carries they cause corrected by atomics in
 * global memory, values outside the central ranges counted by a load and an atomic in global memory, then the range
 * copied out. Final (42 x 512) adds the 14 copies and the overflows, saturates, and clears for the next iteration.
 * Parboil takes the histogram 20 times; the program of that name in the suite of MASK's authors, another histogram,
 * goes once over its data, and so does this by default. Simplified: the image is made, not read: Gaussian in both
 * dimensions as Parboil's input, 996 x 1040, with a share of uniform outliers if asked for. The original overruns its
 * buffers where the height is no multiple of 16 or the width is below 896; here they are larger then. A thread without
 * samples is left out of the mean where the original divides by zero. Which increment overflows a byte is decided in
 * canonical order, by position in the image; outside the central ranges the test for saturation sees the counts from
 * before the launch. Instruction counts are estimates for compiled code. */
#include "workload/parboil/histo.h"
#include "workload/runtime/inputs.h"

enum { LEAST_ROWS = 512 };

struct parameters {
    uint32_t width, height, rows, iterations;
    double spread, outliers;
};

/* About Gaussian with deviation 1, in 1/209: the sum of eight bytes less its mean. */
static int64_t gaussian(uint64_t hash)
{
    int64_t sum = -1020;
    for (uint32_t i = 0; i < 64; i += 8)
        sum += hash >> i & 255;
    return sum;
}

static uint32_t value_of(const struct parameters *p, uint32_t bins, uint64_t seed, uint64_t i)
{
    uint64_t hash = pw_hash(seed, i);
    if ((double)(hash >> 11) * 0x1p-53 < p->outliers)
        return (uint32_t)pw_hash_below(pw_hash(~seed, i), bins);
    int64_t x = PW_HISTO_COLUMNS / 2 + (int64_t)((double)gaussian(pw_hash(seed + 1, i)) * 4 * p->spread / 209);
    int64_t y = (int64_t)(bins / PW_HISTO_COLUMNS / 2) + (int64_t)((double)gaussian(hash) * p->spread / 209);
    x = x < 0 ? 0 : x >= PW_HISTO_COLUMNS ? PW_HISTO_COLUMNS - 1 : x;
    y = y < 0 ? 0 : y >= bins / PW_HISTO_COLUMNS ? bins / PW_HISTO_COLUMNS - 1 : y;
    return (uint32_t)(y * PW_HISTO_COLUMNS + x);
}

static void verify(struct pw_host *h, const struct pw_histo *g)
{
    const uint32_t *input = g->input.data;
    const uint8_t *final = g->final.data;
    uint8_t *expected = pw_host_keep(h, g->bins);
    for (uint64_t y = 0; y < g->height; y++)
        for (uint64_t x = 0; x < g->width; x++) {
            uint8_t *bin = &expected[input[y * 2 * g->pitch + x]];
            *bin = (uint8_t)(*bin + (*bin < PW_HISTO_SATURATED));
        }
    uint32_t wrong = g->bins;
    for (uint32_t i = g->bins; i-- > 0;)
        if (final[i] != expected[i])
            wrong = i;
    pw_host_expect(h, wrong == g->bins, "bin %u differs from the sequential histogram", wrong);
}

static void launch(struct pw_host *h, struct pw_histo *g, const char *name, pw_kernel_fn *kernel, struct pw_dim3 grid,
                   uint32_t threads, uint32_t shared_bytes)
{
    pw_launch(h, &(struct pw_launch){.name = name,
                                     .grid = grid,
                                     .block = {threads, 1, 1},
                                     .shared_bytes = shared_bytes,
                                     .registers = 20,
                                     .kernel = kernel,
                                     .arguments = g,
                                     .resolve = kernel == pw_histo_main ? pw_histo_resolve : NULL,
                                     .resolve_state = g});
}

static void iterate(struct pw_host *h, struct pw_histo *g)
{
    uint32_t *ranges = g->ranges.data, groups = (g->height + PW_HISTO_UNROLL - 1) / PW_HISTO_UNROLL;
    ranges[0] = UINT32_MAX;
    ranges[1] = 0;
    launch(h, g, "histo_prescan_kernel", pw_histo_prescan, (struct pw_dim3){PW_HISTO_PRESCAN_CTAS, 1, 1},
           PW_HISTO_THREADS, sizeof(struct pw_histo_samples));
    g->last = ranges[1];
    g->first = ranges[0] < g->last ? ranges[0] : g->last;
    if (g->last >= g->bins / PW_HISTO_RANGE_BINS)
        pw_host_fail(h, "the values spread over the whole histogram: give it more rows or the values less spread");
    if (!g->words)
        g->words = pw_host_keep(h, (g->last - g->first + UINT64_C(1)) * PW_HISTO_COPIES * PW_HISTO_RANGE_BINS);
    launch(h, g, "histo_intermediates_kernel", pw_histo_intermediates, (struct pw_dim3){groups, 1, 1}, g->pitch, 0);
    launch(h, g, "histo_main_kernel", pw_histo_main, (struct pw_dim3){PW_HISTO_COPIES, g->last - g->first + 1, 1},
           PW_HISTO_THREADS, PW_HISTO_RANGE_BINS);
    launch(h, g, "histo_final_kernel", pw_histo_final, (struct pw_dim3){3 * PW_HISTO_COPIES, 1, 1}, PW_HISTO_THREADS,
           0);
}

static void histo_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t rows = pw_host_scaled_side(h, p->rows, 16), height = pw_host_scaled_side(h, p->height, 1);
    uint64_t width = pw_host_scaled_side(h, p->width, 1);
    rows = rows < LEAST_ROWS ? LEAST_ROWS : rows;
    if (width > 2048 || height > UINT32_MAX / 2048 || rows * PW_HISTO_COLUMNS / PW_HISTO_RANGE_BINS > UINT8_MAX)
        pw_host_fail(h, "the width is at most 2048 (a CTA covers a row), the histogram has at most 24575 rows");
    struct pw_histo g = {.width = (uint32_t)width, .height = (uint32_t)height, .pitch = (uint32_t)(width + 1) / 2};
    g.bins = (uint32_t)rows * PW_HISTO_COLUMNS;
    uint64_t padded = (height + PW_HISTO_UNROLL - 1) / PW_HISTO_UNROLL * PW_HISTO_UNROLL;
    uint64_t least = PW_HISTO_COLUMNS * PW_HISTO_COPIES / 4, cells = (width > least ? width : least) * rows;
    g.input = pw_alloc(h, "input", 2 * g.pitch * padded, sizeof(uint32_t));
    g.ranges = pw_alloc(h, "ranges", 2, sizeof(uint32_t));
    g.mappings = pw_alloc(h, "sm_mappings", width * padded, sizeof(struct pw_histo_split));
    g.partial = pw_alloc(h, "global_subhisto", cells, sizeof(uint32_t));
    g.counts = pw_alloc(h, "global_histo", cells, sizeof(uint16_t));
    g.overflow = pw_alloc(h, "global_overflow", cells, sizeof(uint32_t));
    g.final = pw_alloc(h, "final_histo", cells, sizeof(uint8_t));
    g.atomics = pw_host_keep(h, width * height);
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t y = 0; y < height; y++)
        for (uint64_t x = 0; x < width; x++)
            ((uint32_t *)g.input.data)[y * 2 * g.pitch + x] = value_of(p, g.bins, seed, y * width + x);

    pw_host_plan_passes(h, 4, 0);
    for (uint32_t i = 0; pw_host_pass(h, i, p->iterations); i++)
        iterate(h, &g);
    if (pw_host_verifying(h))
        verify(h, &g);
    struct pw_array *arrays[] = {&g.input, &g.ranges, &g.mappings, &g.partial, &g.counts, &g.overflow, &g.final};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        pw_free(h, arrays[i]);
}

static const struct pw_option rows[] = {
    {"width", PW_OPTION_COUNT, offsetof(struct parameters, width), 1, 2048, "996", "values", NULL, "width of the image",
     false},
    {"height", PW_OPTION_COUNT, offsetof(struct parameters, height), 1, 1 << 20, "1040", "values", NULL,
     "height of the image", false},
    {"rows", PW_OPTION_COUNT, offsetof(struct parameters, rows), LEAST_ROWS, 24560, "8192", "rows", NULL,
     "rows of 256 bins of the histogram", false},
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 1000, "1", "iterations", NULL,
     "times the histogram is taken (20 in Parboil)", false},
    {"spread", PW_OPTION_NUMBER, offsetof(struct parameters, spread), 0, 4096, "8", "rows", NULL,
     "deviation of the values from the middle row; four times as much from the middle column", false},
    {"outliers", PW_OPTION_NUMBER, offsetof(struct parameters, outliers), 0, 1, "0", "", NULL,
     "share of values that are uniform over the histogram", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "width=1920:height=1080"}, {0}};

const struct pw_workload pw_workload_histo = {
    .name = "HISTO",
    .suite = "Parboil",
    .papers = "mosaic mask",
    .summary = "saturating histogram of an image, in shared memory and by atomics",
    .parameters = rows,
    .presets = presets,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .needs_values = true,
    .main = histo_main,
};
