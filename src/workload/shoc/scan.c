/* SCAN: scan of SHOC, the inclusive prefix sums of an array of floats, by reduce-then-scan.
 *
 * Kept: 64 CTAs of 256 threads, each with a region of its own (the last one takes the rest); the three kernels: sums of
 * the regions, their exclusive scan by one CTA, and the scan of each region in windows of 256 vectors of four floats,
 * seeded with what comes before; Kogge-Stone scans in shared memory with two barriers per step; one load in flight per
 * thread throughout.
 * The original makes 10 passes of 256 scans; so does this, until they are cut.
 * Simplified: single precision only; sizes are rounded to whole
 * vectors, as the original assumes. Inputs are 0 or 1 at random instead of in turn, and sparser beyond 2^24 elements:
 * sums of floats are exact, so the check is exact. In the original a fast warp may overwrite what slow ones still read
 * at the end of a window; the windows use two areas of shared memory in turn here (4 KB instead of 2, which limits
 * nothing). Instruction counts are estimates for compiled code: 30 for the bounds of a region (two divisions); 5 for an
 * element of the first kernel besides its load; in the third 3 before a load, 3 for the scan in registers, 4 for a step
 * of Kogge-Stone besides its barriers, 7 to add what comes before, 6 to go on. */
#include "workload/runtime/inputs.h"
#include "workload/shoc/shoc_sum.h"

#include <assert.h>

enum { VECTOR = 4, EXACT = 1 << 24 };

struct parameters {
    uint64_t bytes;
    uint32_t iterations;
};

struct arguments {
    struct pw_array in, out, sums;
    uint64_t n;
};

/* The upper half is scanned; the lower half is zero, so that nobody need ask whether there is a left neighbour. */
struct window {
    float cells[2 * PW_SHOC_THREADS];
    float seed; /* sum of all that comes before */
};

/* The vectors [first, end) that a CTA sums and scans. */
struct region {
    uint64_t first, end;
};

static struct region region_of(const struct pw_warp *w, uint64_t n)
{
    uint64_t vectors = n / VECTOR, size = vectors / PW_SHOC_CTAS, first = w->cta_index * size;
    return (struct region){first, w->cta_index == PW_SHOC_CTAS - 1 ? vectors : first + size};
}

static void reduce_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const float *in = g->in.data;
    float *sums = w->shared, sum[PW_WARP_LANES] = {0};
    uint32_t tid = pw_first_thread(w);
    struct region r = region_of(w, g->n);

    pw_compute(w, 30);
    for (uint64_t i = r.first * VECTOR + tid; i < r.end * VECTOR; i += PW_SHOC_THREADS) {
        uint32_t mask = pw_lanes_below(w, i, r.end * VECTOR);
        pw_compute(w, 1);
        pw_load_run(w, mask, &g->in, (int64_t)i);
        pw_use(w);
        pw_compute(w, 4);
        if (in && mask == PW_ALL_LANES)
            for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
                sum[lane] += in[i + lane];
        else if (in)
            PW_FOR_LANES(lane, mask)
        sum[lane] += in[i + lane];
    }
    pw_compute(w, 1);
    if (in)
        __builtin_memcpy(&sums[tid], sum, sizeof sum);
    pw_shoc_sum(w, sums, &g->sums, &(struct pw_shoc_sum_code)PW_SHOC_SUM_ESTIMATE);
}

/* Exclusive scan over the CTA of one value per thread, in place; cells is NULL without values. */
static void scan_cta(struct pw_warp *w, float *cells, float value[PW_WARP_LANES])
{
    enum { ROW = PW_WARP_LANES * sizeof(float) };
    uint32_t tid = pw_first_thread(w), at = PW_SHOC_THREADS + tid;
    float left[PW_WARP_LANES];
    pw_compute(w, 2);
    if (cells) {
        __builtin_memset(&cells[tid], 0, ROW);
        __builtin_memcpy(&cells[at], value, ROW);
    }
    pw_barrier(w);
    for (uint32_t distance = 1; distance < PW_SHOC_THREADS; distance *= 2) {
        pw_compute(w, 1);
        if (cells)
            __builtin_memcpy(left, &cells[at - distance], ROW);
        pw_barrier(w);
        pw_compute(w, 3);
        for (uint32_t lane = 0; cells && lane < PW_WARP_LANES; lane++)
            cells[at + lane] += left[lane];
        pw_barrier(w);
    }
    pw_compute(w, 1);
    if (cells)
        __builtin_memcpy(value, &cells[at - 1], ROW);
}

static void top_scan_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    float *sums = g->sums.data, value[PW_WARP_LANES] = {0};
    uint32_t tid = pw_first_thread(w), mask = pw_lanes_below(w, tid, PW_SHOC_CTAS);
    pw_compute(w, 5);
    pw_load_run(w, mask, &g->sums, tid);
    pw_use(w);
    if (sums)
        PW_FOR_LANES(lane, mask)
    value[lane] = sums[tid + lane];
    scan_cta(w, sums ? w->shared : NULL, value);
    pw_compute(w, 1);
    pw_store_run(w, mask, &g->sums, tid);
    if (sums)
        PW_FOR_LANES(lane, mask)
    sums[tid + lane] = value[lane];
}

/* Four floats per lane: the sums within each, and the last of them, which the CTA scans. */
static void scan_registers(float v[PW_WARP_LANES][VECTOR], uint32_t mask, const float *in, float last[PW_WARP_LANES])
{
    __builtin_memset(v, 0, PW_WARP_LANES * sizeof v[0]);
    PW_FOR_LANES(lane, mask)
    {
        __builtin_memcpy(v[lane], &in[(uint64_t)lane * VECTOR], sizeof v[0]);
        for (uint32_t k = 1; k < VECTOR; k++)
            v[lane][k] += v[lane][k - 1];
    }
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        last[lane] = v[lane][VECTOR - 1];
}

static void write_window(float v[PW_WARP_LANES][VECTOR], uint32_t mask, const float before[PW_WARP_LANES], float seed,
                         float *out)
{
    for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
        for (uint32_t k = 0; k < VECTOR; k++)
            v[lane][k] += before[lane] + seed;
    PW_FOR_LANES(lane, mask)
    __builtin_memcpy(&out[(uint64_t)lane * VECTOR], v[lane], sizeof v[0]);
}

static struct pw_array as_vectors(const struct pw_array *a)
{
    struct pw_array vectors = *a;
    vectors.element_bytes *= VECTOR;
    vectors.count /= VECTOR;
    return vectors;
}

static void bottom_scan_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const float *in = g->in.data;
    float *out = g->out.data;
    struct pw_array in4 = as_vectors(&g->in), out4 = as_vectors(&g->out);
    struct window *windows = w->shared;
    uint32_t tid = pw_first_thread(w), turn = 0;
    struct region r = region_of(w, g->n);
    float v[PW_WARP_LANES][VECTOR], before[PW_WARP_LANES];

    pw_compute(w, 30);
    if (!tid) {
        pw_load_run(w, 1, &g->sums, w->cta_index);
        pw_use(w);
        pw_compute(w, 1);
        if (in)
            windows[0].seed = ((const float *)g->sums.data)[w->cta_index];
    }
    for (uint64_t first = r.first; first < r.end; first += PW_SHOC_THREADS, turn ^= 1) {
        uint64_t i = first + tid;
        uint32_t mask = pw_lanes_below(w, i, r.end);
        pw_compute(w, 3);
        pw_load_run(w, mask, &in4, (int64_t)i);
        pw_use(w);
        pw_compute(w, 3);
        if (in)
            scan_registers(v, mask, &in[i * VECTOR], before);
        scan_cta(w, in ? windows[turn].cells : NULL, before);
        pw_compute(w, 7);
        if (in)
            write_window(v, mask, before, windows[turn].seed, &out[i * VECTOR]);
        pw_store_run(w, mask, &out4, (int64_t)i);
        pw_compute(w, 6);
        if (in && tid == PW_SHOC_THREADS - PW_WARP_LANES)
            windows[turn ^ 1].seed = v[PW_WARP_LANES - 1][VECTOR - 1];
    }
}

static void verify(struct pw_host *h, const struct arguments *g)
{
    const float *in = g->in.data, *out = g->out.data;
    assert(in && out); /* values are on when results are checked */
    uint64_t wrong = g->n;
    double sum = 0;
    for (uint64_t i = 0; i < g->n; i++) {
        sum += in[i];
        if (out[i] != sum && wrong == g->n)
            wrong = i;
    }
    pw_host_expect(h, wrong == g->n, "element %llu is not the sum up to it", (unsigned long long)wrong);
}

static void scan_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t vectors = pw_host_scaled(h, (p->bytes - 1) / (VECTOR * sizeof(float)) + 1, 1);
    struct arguments g = {.n = vectors * VECTOR};
    if (g.n > INT32_MAX)
        pw_host_fail(h, "bytes is below 8GB after scaling: the original's indices are ints");
    g.in = pw_alloc(h, "idata", g.n, sizeof(float));
    g.out = pw_alloc(h, "odata", g.n, sizeof(float));
    g.sums = pw_alloc(h, "block_sums", PW_SHOC_CTAS, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h)), one_in = 2 * ((g.n - 1) / EXACT + 1);
    for (uint64_t i = 0; g.in.data && i < g.n; i++)
        ((float *)g.in.data)[i] = pw_hash_below(pw_hash(seed, i), one_in) == 0;

    const struct pw_launch reduce = {.name = "reduce",
                                     .grid = {PW_SHOC_CTAS, 1, 1},
                                     .block = {PW_SHOC_THREADS, 1, 1},
                                     .shared_bytes = PW_SHOC_THREADS * sizeof(float),
                                     .registers = 14,
                                     .kernel = reduce_kernel,
                                     .arguments = &g};
    struct pw_launch top = reduce, bottom = reduce;
    top.name = "scan_single_block";
    top.grid.x = 1;
    top.shared_bytes = 2 * PW_SHOC_THREADS * sizeof(float);
    top.kernel = top_scan_kernel;
    bottom.name = "bottom_scan";
    bottom.shared_bytes = 2 * sizeof(struct window);
    bottom.registers = 20;
    bottom.kernel = bottom_scan_kernel;
    pw_host_plan_passes(h, 3, 0);
    for (uint32_t i = 0; pw_host_pass(h, i, p->iterations); i++) {
        pw_launch(h, &reduce);
        pw_launch(h, &top);
        pw_launch(h, &bottom);
    }
    if (pw_host_verifying(h))
        verify(h, &g);
    pw_free(h, &g.in);
    pw_free(h, &g.out);
    pw_free(h, &g.sums);
}

static const struct pw_option rows[] = {
    {"bytes", PW_OPTION_BYTES, offsetof(struct parameters, bytes), 4, 0, "64MB", "bytes", NULL,
     "of the array, and of the sums", false},
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 1 << 30, "2560", "scans", NULL,
     "times the array is scanned", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "bytes=64MB"}, {0}};

const struct pw_workload pw_workload_scan = {
    .name = "SCAN",
    .suite = "SHOC",
    .papers = "mosaic mask",
    .summary = "scan: prefix sums in three kernels, each CTA in a region of its own",
    .parameters = rows,
    .presets = presets,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .main = scan_main,
};
