/* SCP: scalarProd of the CUDA SDK, the scalar products of many pairs of vectors, one pair per CTA at a time.
 *
 * Kept: 128 CTAs of 256 threads, each CTA going through the pairs in steps of the grid; 1,024 accumulators in shared
 * memory, four per thread in turn, each going through a pair in steps of 1,024 elements (which is a page of 4 KB, so
 * that a CTA meets the pages of its pair once per accumulator of a thread); both loads in flight; the tree over the
 * accumulators with a barrier before each of its ten steps and one after; one thread storing the product, with no
 * barrier between that and the next pair (the accumulator it stores is its own).
 * Simplified: 2,048 pairs by default instead of 256. Instruction counts are estimates for compiled code without
 * unrolling: 6 at the start and 6 per pair, 6 around an accumulator (sum, address in shared memory, write; step, test,
 * branch), 6 for an element besides its loads (two addresses, multiply-add, step, test, branch), 3 for a step of the
 * tree and 7 for each addition in it. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

#include <math.h>

enum { CTAS = 128, THREADS = 256, ACCUMULATORS = 1024 };

struct parameters {
    uint32_t vectors, elements;
};

struct arguments {
    struct pw_array a, b, c;
    uint32_t vectors, elements;
};

/* One accumulator of each lane, over the pair that starts at `base`. */
static void accumulate(struct pw_warp *w, const struct arguments *g, uint64_t base, uint32_t first, float *sums)
{
    const float *a = g->a.data, *b = g->b.data;
    float sum[PW_WARP_LANES] = {0};
    pw_compute(w, 2);
    for (uint64_t at = first; at < g->elements; at += ACCUMULATORS) {
        uint64_t i = base + at;
        uint32_t mask = pw_lanes_below(w, at, g->elements);
        pw_compute(w, 2);
        pw_load_run(w, mask, &g->a, (int64_t)i);
        pw_load_run(w, mask, &g->b, (int64_t)i);
        pw_use(w);
        pw_compute(w, 4);
        if (a && mask == PW_ALL_LANES)
            for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
                sum[lane] += a[i + lane] * b[i + lane];
        else if (a)
            PW_FOR_LANES(lane, mask)
        sum[lane] += a[i + lane] * b[i + lane];
    }
    pw_compute(w, 4);
    if (sums)
        __builtin_memcpy(&sums[first], sum, sizeof sum);
}

/* Adds the upper half of what is left to the lower one; at the end, lanes from `stride` on are off. */
static void tree_step(struct pw_warp *w, float *sums, uint32_t stride)
{
    pw_compute(w, 3);
    for (uint32_t first = pw_first_thread(w); first < stride; first += THREADS) {
        uint32_t mask = pw_lanes_below(w, first, stride);
        pw_compute(w, 7);
        if (sums)
            PW_FOR_LANES(lane, mask)
        sums[first + lane] += sums[first + lane + stride];
    }
}

static void scalar_product_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    float *sums = g->a.data ? w->shared : NULL;
    pw_compute(w, 6);
    for (uint32_t vector = w->cta_index; vector < g->vectors; vector += CTAS) {
        uint64_t base = (uint64_t)vector * g->elements;
        pw_compute(w, 6);
        for (uint32_t first = pw_first_thread(w); first < ACCUMULATORS; first += THREADS)
            accumulate(w, g, base, first, sums);
        for (uint32_t stride = ACCUMULATORS / 2; stride; stride /= 2) {
            pw_barrier(w);
            tree_step(w, sums, stride);
        }
        pw_barrier(w);
        pw_compute(w, 2);
        if (w->index)
            continue;
        pw_compute(w, 2);
        pw_store_run(w, 1, &g->c, vector);
        if (sums)
            ((float *)g->c.data)[vector] = sums[0];
    }
}

/* All terms are positive: each of the roundings of a product, of its accumulator and of the tree is worth at most one
 * part in 2^24 of the whole. */
static void verify(struct pw_host *h, const struct arguments *g)
{
    const float *a = g->a.data, *b = g->b.data, *c = g->c.data;
    double roundings = 1 + 10 + ceil((double)g->elements / ACCUMULATORS);
    uint32_t wrong = g->vectors;
    for (uint32_t vector = g->vectors; vector-- > 0;) {
        double sum = 0;
        for (uint64_t i = (uint64_t)vector * g->elements; i < (uint64_t)(vector + 1) * g->elements; i++)
            sum += (double)a[i] * b[i];
        if (fabs(c[vector] - sum) > roundings * 0x1p-24 * sum)
            wrong = vector;
    }
    pw_host_expect(h, wrong == g->vectors, "product %u differs from the sequential one", wrong);
}

static void scalar_product_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t vectors = pw_host_scaled(h, p->vectors, 1), count = vectors * p->elements;
    if (vectors > INT32_MAX || count > INT32_MAX)
        pw_host_fail(h, "the original's indices are ints: vectors * elements is below 2G after scaling");
    struct arguments g = {.vectors = (uint32_t)vectors, .elements = p->elements};
    g.a = pw_alloc(h, "A", count, sizeof(float));
    g.b = pw_alloc(h, "B", count, sizeof(float));
    g.c = pw_alloc(h, "C", vectors, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; g.a.data && i < count; i++) {
        uint64_t hash = pw_hash(seed, i);
        ((float *)g.a.data)[i] = pw_hash_unit(hash);
        ((float *)g.b.data)[i] = pw_hash_unit(hash << 24);
    }
    pw_host_plan(h, 1);
    pw_launch(h, &(struct pw_launch){.name = "scalarProdGPU",
                                     .grid = {CTAS, 1, 1},
                                     .block = {THREADS, 1, 1},
                                     .shared_bytes = ACCUMULATORS * sizeof(float),
                                     .registers = 16,
                                     .kernel = scalar_product_kernel,
                                     .arguments = &g});
    if (pw_host_verifying(h))
        verify(h, &g);
    pw_free(h, &g.c);
    pw_free(h, &g.b);
    pw_free(h, &g.a);
}

static const struct pw_option rows[] = {
    {"vectors", PW_OPTION_COUNT, offsetof(struct parameters, vectors), 1, INT32_MAX, "2048", "pairs", NULL,
     "pairs of vectors", false},
    {"elements", PW_OPTION_COUNT, offsetof(struct parameters, elements), 1, INT32_MAX, "4096", "elements", NULL,
     "elements of a vector", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "vectors=256:elements=4096"}, {0}};

const struct pw_workload pw_workload_scp = {
    .name = "SCP",
    .suite = "CUDA SDK",
    .papers = "mosaic mask",
    .summary = "scalarProd: scalar products of many pairs of vectors, a pair per CTA",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = scalar_product_main,
};
