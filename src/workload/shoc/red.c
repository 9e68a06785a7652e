/* RED: reduction of SHOC, the sum of an array of floats.
 *
 * Kept: 64 CTAs of 256 threads; the loop in which a CTA adds two neighbouring runs of 256 elements and then steps over
 * the grid, so that with each iteration every CTA comes to another page; both loads in flight; sums kept in shared
 * memory, the tree that ends the kernel, one result per CTA, added up by the host; the same launch again and again.
 * The original makes 10 passes of 256 launches; so does this, until they are cut.
 * Simplified: single precision only. Inputs are random integers below 3
 * instead of i % 3: sums of floats are exact, so the check is exact. The original reads up to 255 elements behind an
 * array that is no multiple of 512; those lanes are off here. Instruction counts are estimates for compiled code
 * without unrolling: 12 before the loop, 9 in an iteration besides its two loads (two addresses; read, two additions
 * and write of the sum; step, test, branch). With code=sm_90 they are those of capture/programs/reduction.cu as nvcc 13
 * compiles it for sm_90. */
#include "workload/runtime/code.h"
#include "workload/runtime/inputs.h"
#include "workload/shoc/shoc_sum.h"

#include <assert.h>

/* Instructions of a warp for which the loop has no turn, before the first loads, before later ones, behind two loads,
 * from their use on, and behind the last turn. */
struct code {
    uint32_t none, first, again, flight, use, end, registers, pace;
    struct pw_shoc_sum_code sum;
};

static const struct code codes[PW_CODE_COUNT] = {
    [PW_CODE_DEFAULT] = {.none = 12,
                         .first = 14,
                         .again = 5,
                         .flight = 1,
                         .use = 3,
                         .end = 3,
                         .registers = 14,
                         .sum = PW_SHOC_SUM_ESTIMATE},
    [PW_CODE_SM_90] = {.none = 16,
                       .first = 21,
                       .again = 3,
                       .flight = 2,
                       .use = 5,
                       .registers = 16,
                       .pace = 4356,
                       .sum = {.taken = {7, 5}, .passed = {7, 5}, .store = 4}},
};

struct parameters {
    uint64_t bytes;
    uint32_t iterations, code;
};

struct arguments {
    struct pw_array in, out;
    uint64_t n;
    const struct code *code;
};

static inline void add_lanes(float *sums, const float *in, uint32_t mask)
{
    if (mask == PW_ALL_LANES)
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            sums[lane] += in[lane];
    else
        PW_FOR_LANES(lane, mask)
    sums[lane] += in[lane];
}

static void reduce_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const float *in = g->in.data;
    float *sums = w->shared;
    const struct code *code = g->code;
    uint32_t tid = pw_first_thread(w);
    uint64_t step = (uint64_t)2 * PW_SHOC_THREADS * w->launch->grid.x;
    uint64_t first = (uint64_t)w->cta_index * 2 * PW_SHOC_THREADS + tid;

    for (uint64_t i = first; i < g->n; i += step) {
        uint32_t lower = pw_lanes_below(w, i, g->n), upper = pw_lanes_below(w, i + PW_SHOC_THREADS, g->n);
        pw_compute(w, i == first ? code->first : code->again);
        pw_load_run(w, lower, &g->in, (int64_t)i);
        pw_load_run(w, upper, &g->in, (int64_t)(i + PW_SHOC_THREADS));
        pw_compute(w, code->flight);
        pw_use(w);
        pw_compute(w, code->use);
        if (in) {
            add_lanes(&sums[tid], &in[i], lower);
            add_lanes(&sums[tid], &in[i + PW_SHOC_THREADS], upper);
        }
    }
    pw_compute(w, first < g->n ? code->end : code->none);
    pw_shoc_sum(w, sums, &g->out, &code->sum);
}

static void verify(struct pw_host *h, const struct arguments *g)
{
    const float *in = g->in.data, *out = g->out.data;
    assert(in && out);            /* values are on when results are checked */
    double sum = 0, expected = 0; /* of integers below 2^53 */
    for (uint64_t i = 0; i < g->n; i++)
        expected += in[i];
    for (uint64_t i = 0; i < PW_SHOC_CTAS; i++)
        sum += out[i];
    pw_host_expect(h, sum == expected, "the sum is %.0f, not %.0f", sum, expected);
}

static void reduction_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    struct arguments g = {.n = pw_host_scaled(h, (p->bytes + sizeof(float) - 1) / sizeof(float), 1),
                          .code = &codes[p->code]};
    if (g.n > UINT64_C(1) << 29)
        pw_host_fail(h, "bytes is at most 2GB after scaling: beyond that a CTA's sum is not exact");
    g.in = pw_alloc(h, "idata", g.n, sizeof(float));
    g.out = pw_alloc(h, "odata", PW_SHOC_CTAS, sizeof(float));
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; g.in.data && i < g.n; i++)
        ((float *)g.in.data)[i] = (float)pw_hash_below(pw_hash(seed, i), 3);

    pw_host_plan_passes(h, 1, 0);
    for (uint32_t i = 0; pw_host_pass(h, i, p->iterations); i++)
        pw_launch(h, &(struct pw_launch){.name = "reduce",
                                         .grid = {PW_SHOC_CTAS, 1, 1},
                                         .block = {PW_SHOC_THREADS, 1, 1},
                                         .shared_bytes = PW_SHOC_THREADS * sizeof(float),
                                         .registers = g.code->registers,
                                         .pace = g.code->pace,
                                         .kernel = reduce_kernel,
                                         .arguments = &g});
    if (pw_host_verifying(h))
        verify(h, &g);
    pw_free(h, &g.in);
    pw_free(h, &g.out);
}

static const struct pw_option rows[] = {
    {"bytes", PW_OPTION_BYTES, offsetof(struct parameters, bytes), 4, 0, "64MB", "bytes", NULL, "of the array", false},
    {"iterations", PW_OPTION_COUNT, offsetof(struct parameters, iterations), 1, 0, "2560", "launches", NULL,
     "times the array is summed", false},
    PW_CODE_ROW(struct parameters, "estimate", "an estimate"),
    {0},
};

static const struct pw_preset presets[] = {{"table", "bytes=64MB"}, {0}};

const struct pw_workload pw_workload_red = {
    .name = "RED",
    .suite = "SHOC",
    .papers = "mosaic mask",
    .summary = "reduction: sum of an array, CTAs striding over it together",
    .parameters = rows,
    .presets = presets,
    .passes = "iterations",
    .parameters_bytes = sizeof(struct parameters),
    .main = reduction_main,
};
