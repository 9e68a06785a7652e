/* TRD: triad of SHOC, C = A + s * B, one element per thread, a vector streamed through the GPU in blocks.
 *
 * Kept: six arrays as large as the largest block, of which the blocks of a vector use the first three and the last
 * three in turn, so that small blocks meet the same pages again and again; the sequence of block sizes, doubling from
 * 1/256 of the vector (64 KB of 16 MB) to all of it, 511 launches in all; CTAs of 128 threads; both loads in flight;
 * the vector replaced by the result block by block; two equal halves. Simplified: copies between host and GPU take no
 * time, so the two streams run one after the other. The ten passes are cut. The original has no bounds check and needs
 * sizes that are powers of two; at other sizes the last block and warp are partial here. Instruction counts are those
 * of compiled code: 7 for the index and the two addresses, 1 for the third, 1 multiply-add. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

#include <assert.h>
#include <string.h>

struct parameters {
    uint64_t bytes;
    uint32_t sizes, passes, threads;
};

struct arguments {
    struct pw_array a, b, c;
    uint64_t n; /* elements of the block */
    float s;
};

static void triad_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const float *a = g->a.data, *b = g->b.data;
    float *c = g->c.data;
    uint64_t first = (uint64_t)w->cta_index * w->launch->block.x + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, first, g->n);

    pw_compute(w, 7);
    pw_load_run(w, mask, &g->a, (int64_t)first);
    pw_load_run(w, mask, &g->b, (int64_t)first);
    pw_compute(w, 1);
    pw_use(w);
    pw_compute(w, 1);
    pw_store_run(w, mask, &g->c, (int64_t)first);
    if (c)
        PW_FOR_LANES(lane, mask)
    c[first + lane] = a[first + lane] + g->s * b[first + lane];
}

/* The vector through the GPU in blocks of `block` elements: to A and B, and back from C. */
static void stream(struct pw_host *h, struct arguments sets[2], float *vector, uint64_t n, uint64_t block,
                   uint32_t threads)
{
    for (uint64_t at = 0, turn = 0; at < n; at += block, turn ^= 1) {
        struct arguments *g = &sets[turn];
        g->n = n - at < block ? n - at : block;
        if (vector) {
            memcpy(g->a.data, &vector[at], g->n * sizeof *vector);
            memcpy(g->b.data, &vector[at], g->n * sizeof *vector);
        }
        pw_launch(h, &(struct pw_launch){.name = "triad",
                                         .grid = {(uint32_t)((g->n + threads - 1) / threads), 1, 1},
                                         .block = {threads, 1, 1},
                                         .registers = 10,
                                         .kernel = triad_kernel,
                                         .arguments = g});
        if (vector)
            memcpy(&vector[at], g->c.data, g->n * sizeof *vector);
    }
}

static float input(uint64_t seed, uint64_t i, uint64_t n)
{
    return 10.0F * pw_hash_unit(pw_hash(seed, i % ((n + 1) / 2)));
}

static void verify(struct pw_host *h, const float *vector, uint64_t n, uint64_t seed, float s)
{
    assert(vector); /* values are on when results are checked */
    uint64_t wrong = n;
    for (uint64_t i = n; i-- > 0;) {
        float before = input(seed, i, n);
        if (vector[i] != before + s * before)
            wrong = i;
    }
    pw_host_expect(h, wrong == n, "element %llu is not a + s * b", (unsigned long long)wrong);
}

static void triad_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    static const char *const names[2][3] = {{"A0", "B0", "C0"}, {"A1", "B1", "C1"}};
    uint64_t n = pw_host_scaled(h, (p->bytes + sizeof(float) - 1) / sizeof(float), 1);
    if (n > UINT64_C(1) << 31)
        pw_host_fail(h, "bytes is at most 8GB after scaling: the original's indices are ints");
    struct arguments sets[2];
    for (int i = 0; i < 2; i++)
        sets[i] = (struct arguments){.a = pw_alloc(h, names[i][0], n, sizeof(float)),
                                     .b = pw_alloc(h, names[i][1], n, sizeof(float)),
                                     .c = pw_alloc(h, names[i][2], n, sizeof(float)),
                                     .s = 1.75F};
    float *vector = pw_host_values(h) ? pw_host_keep(h, n * sizeof *vector) : NULL;

    uint64_t block[32], launches = 0;
    for (uint32_t i = 0; i < p->sizes; i++) {
        block[i] = ((n - 1) >> (p->sizes - 1 - i)) + 1;
        launches += (n - 1) / block[i] + 1;
    }
    pw_host_plan_passes(h, (uint32_t)launches, 0);
    for (uint32_t pass = 0; pw_host_pass(h, pass, p->passes); pass++)
        for (uint32_t i = 0; i < p->sizes; i++) {
            uint64_t seed = pw_random_next(pw_host_random(h));
            for (uint64_t k = 0; vector && k < n; k++)
                vector[k] = input(seed, k, n);
            stream(h, sets, vector, n, block[i], p->threads);
            if (pw_host_verifying(h))
                verify(h, vector, n, seed, sets[0].s);
        }
    for (int i = 0; i < 2; i++) {
        pw_free(h, &sets[i].a);
        pw_free(h, &sets[i].b);
        pw_free(h, &sets[i].c);
    }
}

static const struct pw_option rows[] = {
    {"bytes", PW_OPTION_BYTES, offsetof(struct parameters, bytes), 4, 0, "16MB", "bytes", NULL,
     "of the vector, and of each of the six arrays", false},
    {"sizes", PW_OPTION_COUNT, offsetof(struct parameters, sizes), 1, 32, "9", "sizes", NULL,
     "block sizes, each twice the one before, the last being the whole vector", false},
    {"passes", PW_OPTION_COUNT, offsetof(struct parameters, passes), 1, 1000, "10", "passes", NULL,
     "times through all block sizes", false},
    {"threads", PW_OPTION_COUNT, offsetof(struct parameters, threads), 1, 1024, "128", "threads", NULL,
     "threads of a CTA", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "bytes=16MB:threads=256"}, {0}};

const struct pw_workload pw_workload_trd = {
    .name = "TRD",
    .suite = "SHOC",
    .papers = "mosaic mask",
    .summary = "triad: a vector streamed through c = a + s * b in blocks of growing size",
    .parameters = rows,
    .presets = presets,
    .passes = "passes",
    .parameters_bytes = sizeof(struct parameters),
    .main = triad_main,
};
