/* relu: the ReLU layer of MGPUSim's DNN benchmarks, out[i] = max(in[i], 0), one thread an element.
 *
 * Kept: one launch in CTAs of 64 threads; the two arrays and their order; that a thread makes one load and one store,
 * the load in flight alone. Instruction counts are those of the benchmark's GCN3 code, waits left out, with its scalar
 * loads of arguments counted as arithmetic; with code=sm_90 those of capture/programs/relu.cu as nvcc 13 compiles it
 * for sm_90. A wavefront of 64 threads is two warps here. Inputs are random, half of them negative, where the original
 * has i - 0.5.
 *
 * On several GPUs the original distributes both arrays (driver.Distribute), and each GPU computes a consecutive part of
 * the result. */
#include "workload/runtime/code.h"
#include "workload/runtime/inputs.h"

enum { THREADS = 64 };

/* Instructions up to the comparison of the index, before the load, behind it, and from its use to the store. */
struct code {
    uint32_t test, load, flight, use, registers, pace;
};

static const struct code codes[PW_CODE_COUNT] = {
    [PW_CODE_DEFAULT] = {.test = 10, .load = 6, .flight = 3, .use = 2, .registers = 16},
    [PW_CODE_SM_90] = {.test = 7, .load = 5, .flight = 1, .use = 1, .registers = 10, .pace = 6143},
};

struct parameters {
    uint32_t length, code;
};

struct arguments {
    struct pw_array in, out;
    const struct code *code;
};

static void relu_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    const float *in = g->in.data;
    float *out = g->out.data;
    const struct code *code = g->code;
    uint64_t index = (uint64_t)w->cta_index * THREADS + pw_first_thread(w);
    uint32_t mask = pw_lanes_below(w, index, g->in.count);
    pw_compute(w, code->test);
    if (!mask)
        return;
    pw_compute(w, code->load);
    pw_load_run(w, mask, &g->in, (int64_t)index);
    pw_compute(w, code->flight);
    pw_use(w);
    pw_compute(w, code->use);
    pw_store_run(w, mask, &g->out, (int64_t)index);
    if (out)
        PW_FOR_LANES(lane, mask)
    out[index + lane] = in[index + lane] > 0 ? in[index + lane] : 0;
}

/* A sum of a number and its magnitude is twice the number or nothing. */
static void verify(struct pw_host *h, const struct arguments *g)
{
    const float *in = g->in.data, *out = g->out.data;
    uint64_t wrong = g->in.count;
    for (uint64_t i = g->in.count; out && i-- > 0;)
        if (2 * out[i] != in[i] + __builtin_fabsf(in[i]))
            wrong = i;
    pw_host_expect(h, wrong == g->in.count, "out[%llu] is not the positive part of in", (unsigned long long)wrong);
}

static void relu_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t length = pw_host_scaled(h, p->length, 1);
    if (length > INT32_MAX)
        pw_host_fail(h, "at most 2G elements (the kernel's index has 32 bits)");
    struct arguments g = {.in = pw_alloc(h, "in", length, sizeof(float)),
                          .out = pw_alloc(h, "out", length, sizeof(float)),
                          .code = &codes[p->code]};
    uint64_t seed = pw_random_next(pw_host_random(h));
    for (uint64_t i = 0; g.in.data && i < length; i++)
        ((float *)g.in.data)[i] = 2 * pw_hash_unit(pw_hash(seed, i)) - 1;

    pw_host_plan(h, 1);
    pw_launch(h, &(struct pw_launch){.name = "ReLUForward",
                                     .grid = {(uint32_t)((length + THREADS - 1) / THREADS), 1, 1},
                                     .block = {THREADS, 1, 1},
                                     .registers = g.code->registers,
                                     .pace = g.code->pace,
                                     .kernel = relu_kernel,
                                     .arguments = &g});
    if (pw_host_verifying(h))
        verify(h, &g);
    pw_free(h, &g.in);
    pw_free(h, &g.out);
}

static const struct pw_option rows[] = {
    {"length", PW_OPTION_COUNT, offsetof(struct parameters, length), 1, INT32_MAX, "8388608", "elements", NULL,
     "elements of each array", false},
    PW_CODE_ROW(struct parameters, "gcn3", "those of MGPUSim's binary"),
    {0},
};

static const struct pw_preset presets[] = {{"gmmu-bypass", "length=8388608"}, {0}};

const struct pw_workload pw_workload_relu = {
    .name = "relu",
    .suite = "DNN",
    .papers = "gmmu-bypass",
    .summary = "the positive part of every element of an array, into another",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = relu_main,
};
