/* fir: the finite impulse response filter of Hetero-Mark as MGPUSim has it, one thread a sample.
 *
 * Kept: one launch over all samples in CTAs of 256 threads (Hetero-Mark's own have 64, and filter block after block);
 * the four arrays and MGPUSim's order of them; that a thread takes the samples before its own one by one, each with its
 * coefficient, where they are before the first from `history`; that sample and coefficient are in flight together and
 * used before the next.
 * Simplified: the coefficient, the same for all threads, is a load of one address through the L1 TLB and cache, where
 * GCN3 loads it through a scalar cache; a warp of whose samples some are before the first makes two loads, one of each
 * array, where GCN3 selects addresses and makes one. A wavefront of 64 threads is two warps here. Instruction counts
 * are those of MGPUSim's GCN3 code, waits left out, with its scalar loads of arguments counted as arithmetic. Samples,
 * history and coefficients are random, where MGPUSim has i, nothing and i.
 * With code=sm_90 counts, loads in flight and registers are those of capture/programs/fir.cu as nvcc 13 compiles it for
 * sm_90: four taps at a time, whose eight loads go out in three portions, then what is left over one by one; a sample
 * is one load, whichever array its lanes need.
 *
 * On several GPUs MGPUSim distributes input and output (driver.Distribute) and each GPU filters a consecutive part;
 * `history` stays where it was allocated, and every GPU has a `coeff` of its own. */
#include "workload/runtime/code.h"
#include "workload/runtime/inputs.h"

#include <math.h>

enum { THREADS = 256, MAX_TAPS = 1024 };

struct parameters {
    uint32_t length, taps, code;
};

struct arguments {
    struct pw_array history, input, output, coeff;
};

/* The samples of a warp's lanes, tap by tap. */
static void filter(const struct arguments *g, uint64_t tid, uint32_t mask)
{
    const float *history = g->history.data, *input = g->input.data, *coeff = g->coeff.data;
    float *output = g->output.data;
    uint64_t taps = g->coeff.count;
    if (output)
        PW_FOR_LANES(lane, mask)
        {
            uint64_t n = tid + lane;
            float sum = 0;
            for (uint64_t i = 0; i < taps; i++)
                sum += coeff[i] * (n < i ? history[taps - i + n] : input[n - i]);
            output[n] = sum;
        }
}

static void fir_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    uint64_t tid = (uint64_t)w->cta_index * THREADS + pw_first_thread(w), taps = g->coeff.count;
    uint32_t mask = pw_lanes_below(w, tid, g->input.count);
    if (!mask)
        return;
    pw_compute(w, 17);
    for (uint64_t i = 0; i < taps; i++) {
        uint32_t before = mask & pw_lanes_below(w, tid, i), here = mask & ~before;
        pw_compute(w, 14);
        pw_load_run(w, before, &g->history, (int64_t)(taps - i + tid));
        pw_load_run(w, here, &g->input, (int64_t)tid - (int64_t)i);
        pw_load_strided(w, mask, &g->coeff, (int64_t)i, 0);
        pw_compute(w, 4);
        pw_use(w);
        pw_compute(w, 2);
    }
    pw_compute(w, 4);
    pw_store_run(w, mask, &g->output, (int64_t)tid);
    filter(g, tid, mask);
}

/* Tap k of a group: its sample is access k, its coefficient access GROUP + k. */
enum { GROUP = 4 };

static const struct pw_step group_steps[] = {
    PW_ACCESS(0, 0), PW_ACCESS(7, 1),         PW_ACCESS(3, GROUP), PW_ACCESS(0, GROUP + 1),
    PW_ACCESS(1, 2), PW_ACCESS(2, GROUP + 2), PW_WAIT(3, 1),       PW_WAIT_ACCESS(2, 4, GROUP + 3),
    PW_ACCESS(0, 3), PW_ARITHMETIC(3),        PW_WAIT(2, 5),       PW_WAIT(0, 5),
    PW_STEPS_END};

static const struct pw_step tap_steps[] = {PW_ACCESS(0, 0), PW_ACCESS(0, GROUP), PW_ARITHMETIC(7), PW_WAIT(0, 4),
                                           PW_STEPS_END};

/* Each lane's sample `tap` before its own, where it is. */
static void load_samples(struct pw_warp *w, const struct arguments *g, uint64_t tid, uint32_t mask, uint64_t tap)
{
    uint64_t before_input = (g->history.base.v - g->input.base.v) / sizeof(float), index[PW_WARP_LANES];
    if (!(mask & pw_lanes_below(w, tid, tap))) {
        pw_load_run(w, mask, &g->input, (int64_t)(tid - tap));
        return;
    }
    PW_FOR_LANES(lane, mask)
    index[lane] = tid + lane - tap + (tid + lane < tap ? before_input + g->coeff.count : 0);
    pw_load_lanes(w, mask, &g->input, index);
}

static void filter_taps(struct pw_warp *w, const struct arguments *g, uint64_t tid, uint32_t mask, uint64_t first,
                        const struct pw_step *steps)
{
    PW_FOR_STEPS(step, steps)
    {
        if (!pw_take_step(w, step))
            continue;
        if (step->access < GROUP)
            load_samples(w, g, tid, mask, first + step->access);
        else
            pw_load_strided(w, mask, &g->coeff, (int64_t)(first + step->access - GROUP), 0);
    }
}

static void compiled_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    uint64_t tid = (uint64_t)w->cta_index * THREADS + pw_first_thread(w), taps = g->coeff.count;
    uint64_t grouped = taps - taps % GROUP;
    uint32_t mask = pw_lanes_below(w, tid, g->input.count);
    pw_compute(w, 8);
    if (!mask)
        return;
    pw_compute(w, grouped ? 34 : 30);
    for (uint64_t i = 0; i < grouped; i += GROUP) {
        pw_compute(w, i ? 8 : 0);
        filter_taps(w, g, tid, mask, i, group_steps);
    }
    for (uint64_t i = grouped; i < taps; i++) {
        pw_compute(w, i > grouped ? 5 : grouped ? 14 : 0);
        filter_taps(w, g, tid, mask, i, tap_steps);
    }
    pw_store_run(w, mask, &g->output, (int64_t)tid);
    filter(g, tid, mask);
}

/* The definition: samples before the first are at the end of the history. */
static void verify(struct pw_host *h, const struct arguments *g)
{
    const float *history = g->history.data, *input = g->input.data, *coeff = g->coeff.data, *output = g->output.data;
    int64_t taps = (int64_t)g->coeff.count, length = (int64_t)g->input.count, wrong = length;
    for (int64_t n = length; n-- > 0;) {
        double sum = 0;
        for (int64_t at = n - taps + 1; at <= n; at++)
            sum += (double)coeff[n - at] * (double)(at < 0 ? history[taps + at] : input[at]);
        if (!(fabs(sum - (double)output[n]) < 1e-6 * (double)taps))
            wrong = n;
    }
    pw_host_expect(h, wrong == length, "sample %lld differs from the sequential filter's", (long long)wrong);
}

static void fill(const struct pw_array *a, uint64_t seed)
{
    for (uint64_t i = 0; a->data && i < a->count; i++)
        ((float *)a->data)[i] = 2 * pw_hash_unit(pw_hash(seed, i)) - 1;
}

static void fir_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t length = pw_host_scaled(h, p->length, 1);
    if (length > UINT32_MAX)
        pw_host_fail(h, "at most 4G samples (the kernel's index has 32 bits)");
    struct arguments g = {.history = pw_alloc(h, "history", p->taps, sizeof(float)),
                          .input = pw_alloc(h, "input", length, sizeof(float)),
                          .output = pw_alloc(h, "output", length, sizeof(float)),
                          .coeff = pw_alloc(h, "coeff", p->taps, sizeof(float))};
    struct pw_random *random = pw_host_random(h);
    fill(&g.history, pw_random_next(random));
    fill(&g.input, pw_random_next(random));
    fill(&g.coeff, pw_random_next(random));

    pw_host_plan(h, 1);
    pw_launch(h, &(struct pw_launch){.name = "FIR",
                                     .grid = {(uint32_t)((length + THREADS - 1) / THREADS), 1, 1},
                                     .block = {THREADS, 1, 1},
                                     .registers = p->code == PW_CODE_SM_90 ? 32 : 16,
                                     .pace = p->code == PW_CODE_SM_90 ? 2642 : 0,
                                     .kernel = p->code == PW_CODE_SM_90 ? compiled_kernel : fir_kernel,
                                     .arguments = &g});
    if (pw_host_verifying(h) && g.output.data)
        verify(h, &g);
    pw_free(h, &g.history);
    pw_free(h, &g.input);
    pw_free(h, &g.output);
    pw_free(h, &g.coeff);
}

static const struct pw_option rows[] = {
    {"length", PW_OPTION_COUNT, offsetof(struct parameters, length), 1, UINT32_MAX, "8388608", "samples", NULL,
     "samples to filter", false},
    {"taps", PW_OPTION_COUNT, offsetof(struct parameters, taps), 1, MAX_TAPS, "16", "taps", NULL,
     "coefficients of the filter", false},
    PW_CODE_ROW(struct parameters, "gcn3", "those of MGPUSim's binary"),
    {0},
};

static const struct pw_preset presets[] = {{"gmmu-bypass", "length=8388608:taps=16"}, {0}};

const struct pw_workload pw_workload_fir = {
    .name = "fir",
    .suite = "Hetero-Mark",
    .papers = "gmmu-bypass",
    .summary = "a finite impulse response filter of 16 taps over a signal",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = fir_main,
};
