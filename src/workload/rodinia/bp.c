/* BP and backprop: training step of a neural network of Rodinia, one hidden layer of 16 units.
 *
 * Kept: both kernels, layerforward (input times weight, summed over 16 inputs by a tree in shared memory, the tree's
 * state written over the weights) and adjust_weights; CTAs of 16x16 threads, one for 16 inputs, in a grid of (1, inputs
 * / 16); rows of 17 weights, the first of which no thread of these kernels but one touches; the arrays, their order of
 * allocation (two of them between the kernels) and of freeing; the weights copied to the GPU anew before the second
 * kernel; the host's layer between the kernels; ETA and MOMENTUM as doubles. As the original's pointers may alias,
 * delta, input and old weight are loaded again after the store to the weight. Inputs must be a multiple of 16.
 * managed=on is the version for managed memory that the paper on demand paging published: nothing can be copied anew,
 * so the second kernel has weights of its own, and all arrays are there from the start. It also allocates a few dozen
 * floats that only its host part uses; they are left out. Simplified: weights are random around 0 and small, and the
 * old weight changes random, so that the sigmoid does not saturate and every term of the second kernel counts (the
 * original draws from [0, 1) and has a hidden error of 0). Instruction counts and loads in flight are those of the
 * kernels as nvcc 13 compiles them for sm_90, where the loop of the tree is unrolled and its conditions are worked out
 * while the weight is under way. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"
#include "workload/runtime/tile.h"

#include <math.h>

enum { SIDE = PW_TILE_WIDTH, HIDDEN = 16, PITCH = HIDDEN + 1 };
#define MAX_INPUTS 0xfffffff0U   /* a multiple of 16; the original's indices would overflow earlier */
#define FIRST_COLUMN 0x00010001U /* threads with tx == 0 */
static const double ETA = 0.3, MOMENTUM = 0.3;

struct parameters {
    uint32_t inputs;
    bool managed;
};

struct arguments {
    struct pw_array input, hidden, weights, partial_sums; /* the original neither reads nor writes `hidden` */
    struct pw_array delta, old_weights;
    struct pw_array weights2; /* of the second kernel, with managed=on */
    uint32_t ctas;
    uint64_t seed;
};

struct tile {
    float input[SIDE], weight[SIDE][HIDDEN];
};

/* Thread (0, ty) accesses element first + ty of its CTA: two lanes of a warp. */
static void access_first_column(struct pw_warp *w, enum pw_op_kind kind, const struct pw_array *a, uint64_t first)
{
    uint64_t index[PW_WARP_LANES] = {[0] = first, [SIDE] = first + 1};
    pw_access_lanes(w, kind, FIRST_COLUMN, a, index);
}

/* The warp's rows of the tile's weights: element of lane 0. */
static int64_t first_weight(const struct pw_warp *w)
{
    return (int64_t)PITCH * SIDE * w->cta.y + (int64_t)PITCH * (2 * w->index) + 1 + PITCH;
}

static void layerforward_kernel(struct pw_warp *w, const void *arguments)
{
    static const uint32_t instructions[] = {4, 10, 8, 4}; /* of the tree's levels */
    const struct arguments *g = arguments;
    const float *input = g->input.data;
    float *weights = g->weights.data, *partial_sums = g->partial_sums.data;
    struct tile *t = w->shared;
    uint32_t row = 2 * w->index;
    uint64_t first_input = (uint64_t)SIDE * w->cta.y + row + 1, first_sum = (uint64_t)HIDDEN * w->cta.y + row;
    int64_t first = first_weight(w);

    pw_compute(w, 13);
    access_first_column(w, PW_OP_LOAD, &g->input, first_input);
    pw_compute(w, 9);
    pw_use(w);
    pw_compute(w, 1);
    for (uint32_t y = row; input && y < row + 2; y++)
        t->input[y] = input[first_input + y - row];
    pw_barrier(w);

    pw_access_tile(w, PW_OP_LOAD, w->lanes, &g->weights, first, PITCH);
    pw_compute(w, 55);
    pw_use(w);
    pw_compute(w, 1);
    for (uint32_t lane = 0; weights && lane < PW_WARP_LANES; lane++)
        t->weight[row + lane / SIDE][lane % SIDE] = weights[first + lane / SIDE * PITCH + lane % SIDE];
    pw_barrier(w);

    pw_compute(w, 4);
    for (uint32_t lane = 0; weights && lane < PW_WARP_LANES; lane++)
        t->weight[row + lane / SIDE][lane % SIDE] *= t->input[row + lane / SIDE];
    pw_barrier(w);

    for (uint32_t level = 0, step = 2; step <= SIDE; level++, step *= 2) {
        pw_compute(w, instructions[level]);
        if (weights && row % step == 0)
            for (uint32_t x = 0; x < HIDDEN; x++)
                t->weight[row][x] += t->weight[row + step / 2][x];
        pw_barrier(w);
    }

    pw_compute(w, 2);
    pw_access_tile(w, PW_OP_STORE, w->lanes, &g->weights, first, PITCH);
    for (uint32_t lane = 0; weights && lane < PW_WARP_LANES; lane++)
        weights[first + lane / SIDE * PITCH + lane % SIDE] = t->weight[row + lane / SIDE][lane % SIDE];
    pw_barrier(w);

    pw_compute(w, 6);
    access_first_column(w, PW_OP_STORE, &g->partial_sums, first_sum);
    for (uint32_t y = 0; partial_sums && y < 2; y++)
        partial_sums[first_sum + y] = t->weight[0][row + y];
}

/* The change of a weight. The original adds it to the weight before it rounds it to a float. */
static inline double change(float delta, float input, float before)
{
    return ETA * (double)delta * (double)input + MOMENTUM * (double)before;
}

/* The loads on which the change of a weight depends; the bias has no input. */
static void load_operands(struct pw_warp *w, const struct arguments *g, uint32_t mask, int64_t first, bool bias)
{
    pw_access_tile(w, PW_OP_LOAD, mask, &g->delta, 1, 0);
    if (!bias) {
        uint64_t index[PW_WARP_LANES];
        for (uint32_t lane = 0; lane < PW_WARP_LANES; lane++)
            index[lane] = (uint64_t)SIDE * w->cta.y + 2 * w->index + 1 + lane / SIDE;
        pw_load_lanes(w, mask, &g->input, index);
    }
    pw_access_tile(w, PW_OP_LOAD, mask, &g->old_weights, first, PITCH);
}

static void adjust(struct pw_warp *w, const struct arguments *g, uint32_t mask, int64_t first, bool bias)
{
    const float *delta = g->delta.data, *input = g->input.data;
    float *weights = g->weights.data, *old = g->old_weights.data;
    pw_compute(w, bias ? 3 : 20);
    load_operands(w, g, mask, first, bias);
    pw_access_tile(w, PW_OP_LOAD, mask, &g->weights, first, PITCH);
    pw_use(w);
    pw_compute(w, bias ? 7 : 11);
    pw_access_tile(w, PW_OP_STORE, mask, &g->weights, first, PITCH);
    load_operands(w, g, mask, first, bias);
    pw_use(w);
    pw_compute(w, bias ? 5 : 8);
    pw_access_tile(w, PW_OP_STORE, mask, &g->old_weights, first, PITCH);
    if (weights)
        PW_FOR_LANES(lane, mask)
        {
            int64_t at = first + lane / SIDE * PITCH + lane % SIDE;
            float in = bias ? 1.0F : input[(uint64_t)SIDE * w->cta.y + 2 * w->index + 1 + lane / SIDE];
            double step = change(delta[lane % SIDE + 1], in, old[at]);
            weights[at] = (float)((double)weights[at] + step);
            old[at] = (float)step;
        }
}

static void adjust_weights_kernel(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    adjust(w, g, w->lanes, first_weight(w), false);
    pw_barrier(w);
    pw_compute(w, 1);
    if (!w->cta.y && !w->index)
        adjust(w, g, (1U << HIDDEN) - 1, 1, true);
}

/* Inputs, weights before the step and the changes of the step before: closed forms, so that the check needs no copies.
 */
static float initial_input(const struct arguments *g, uint64_t i)
{
    return pw_hash_unit(pw_hash(g->seed + 1, i));
}

static float initial_weight(const struct arguments *g, uint64_t i)
{
    return (pw_hash_unit(pw_hash(g->seed + 2, i)) - 0.5F) / sqrtf((float)g->ctas);
}

static float initial_change(const struct arguments *g, uint64_t i)
{
    return (pw_hash_unit(pw_hash(g->seed + 3, i)) - 0.5F) / sqrtf((float)g->ctas);
}

/* What the host does between the kernels: from the partial sums to the hidden units, the single output unit, its error
 * and the error of the hidden units. */
static void hidden_errors(const struct arguments *g)
{
    const float *partial_sums = g->partial_sums.data;
    float *delta = g->delta.data, hidden[HIDDEN], out = 0;
    for (uint32_t j = 0; j < HIDDEN; j++) {
        float sum = 0;
        for (uint32_t cta = 0; cta < g->ctas; cta++)
            sum += partial_sums[(uint64_t)cta * HIDDEN + j];
        sum += initial_weight(g, j + 1);
        hidden[j] = (float)(1.0 / (1.0 + exp(-(double)sum)));
        out += hidden[j] * (pw_hash_unit(pw_hash(g->seed, j)) - 0.5F);
    }
    const float target = 0.1F;
    out = (float)(1.0 / (1.0 + exp(-(double)out)));
    float error = out * (1.0F - out) * (target - out);
    for (uint32_t j = 0; j < HIDDEN; j++)
        delta[j + 1] = hidden[j] * (1.0F - hidden[j]) * error * (pw_hash_unit(pw_hash(g->seed, j)) - 0.5F);
}

static void verify_forward(struct pw_host *h, const struct arguments *g)
{
    const float *input = g->input.data, *partial_sums = g->partial_sums.data;
    uint64_t wrong = g->partial_sums.count;
    for (uint64_t i = g->partial_sums.count; i-- > 0;) {
        double sum = 0, magnitude = 0;
        for (uint64_t y = i / HIDDEN * SIDE + 1; y <= i / HIDDEN * SIDE + SIDE; y++) {
            double product = (double)input[y] * (double)initial_weight(g, y * PITCH + i % HIDDEN + 1);
            sum += product;
            magnitude += fabs(product);
        }
        if (!(fabs(sum - (double)partial_sums[i]) <= 1e-6 * magnitude))
            wrong = i;
    }
    pw_host_expect(h, wrong == g->partial_sums.count, "partial sum %llu differs from the sequential one",
                   (unsigned long long)wrong);
}

static void verify_weights(struct pw_host *h, const struct arguments *g)
{
    const float *input = g->input.data, *delta = g->delta.data, *weights = g->weights.data, *old = g->old_weights.data;
    uint64_t wrong = g->weights.count;
    for (uint64_t i = g->weights.count; i-- > 0;) {
        uint64_t y = i / PITCH, x = i % PITCH;
        float weight = initial_weight(g, i), before = initial_change(g, i);
        double step = x ? change(delta[x], y ? input[y] : 1.0F, before) : 0; /* column 0 belongs to nobody */
        if (weights[i] != (float)((double)weight + step) || old[i] != (x ? (float)step : before))
            wrong = i;
    }
    pw_host_expect(h, wrong == g->weights.count, "weight %llu differs from the sequential adjustment",
                   (unsigned long long)wrong);
}

static void allocate(struct pw_host *h, struct arguments *g, bool managed)
{
    uint64_t inputs = (uint64_t)g->ctas * SIDE, weights = (inputs + 1) * PITCH;
    g->input = pw_alloc(h, "input", inputs + 1, sizeof(float));
    if (managed) {
        g->delta = pw_alloc(h, "hidden_delta", HIDDEN + 1, sizeof(float));
        g->weights = pw_alloc(h, "input_hidden", weights, sizeof(float));
        g->weights2 = pw_alloc(h, "input_hidden2", weights, sizeof(float));
        g->old_weights = pw_alloc(h, "input_prev_weights", weights, sizeof(float));
    }
    g->hidden = pw_alloc(h, "output_hidden", HIDDEN + 1, sizeof(float));
    if (!managed)
        g->weights = pw_alloc(h, "input_hidden", weights, sizeof(float));
    g->partial_sums = pw_alloc(h, "hidden_partial_sum", (uint64_t)g->ctas * HIDDEN, sizeof(float));
}

static void release(struct pw_host *h, struct arguments *g, struct pw_array *first_weights, bool managed)
{
    struct pw_array *const device[] = {&g->input,        &g->hidden,      &g->weights,
                                       &g->partial_sums, &g->old_weights, &g->delta};
    struct pw_array *const shared[] = {&g->hidden,    &g->partial_sums, &g->input,      &g->delta,
                                       first_weights, &g->weights,      &g->old_weights};
    for (size_t i = 0; i < (managed ? sizeof shared : sizeof device) / sizeof(struct pw_array *); i++)
        pw_free(h, managed ? shared[i] : device[i]);
}

static void fill(const struct pw_array *a, const struct arguments *g,
                 float value(const struct arguments *g, uint64_t i))
{
    for (uint64_t i = 0; a->data && i < a->count; i++)
        ((float *)a->data)[i] = value(g, i);
}

static void backprop_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t inputs = pw_host_scaled(h, p->inputs, SIDE);
    if (inputs % SIDE || inputs > MAX_INPUTS)
        pw_host_fail(h, "inputs must be a multiple of %d and at most %u", SIDE, MAX_INPUTS);
    struct arguments g = {.ctas = (uint32_t)(inputs / SIDE), .seed = pw_random_next(pw_host_random(h))};
    allocate(h, &g, p->managed);
    fill(&g.input, &g, initial_input);
    fill(&g.weights, &g, initial_weight);

    struct pw_launch launch = {.name = "layerforward",
                               .grid = {1, g.ctas, 1},
                               .block = {SIDE, SIDE, 1},
                               .shared_bytes = sizeof(struct tile),
                               .registers = 18,
                               .pace = 4889,
                               .kernel = layerforward_kernel,
                               .arguments = &g};
    pw_host_plan(h, 2);
    pw_launch(h, &launch);
    if (pw_host_verifying(h) && g.input.data && g.partial_sums.data)
        verify_forward(h, &g);
    struct pw_array first_weights = g.weights;
    if (p->managed) {
        g.weights = g.weights2;
    } else {
        g.delta = pw_alloc(h, "hidden_delta", HIDDEN + 1, sizeof(float));
        g.old_weights = pw_alloc(h, "input_prev_weights", g.weights.count, sizeof(float));
    }
    fill(&g.weights, &g, initial_weight);
    fill(&g.old_weights, &g, initial_change);
    if (g.delta.data)
        hidden_errors(&g);
    launch.name = "adjust_weights";
    launch.shared_bytes = 0;
    launch.registers = 30;
    launch.pace = 4821;
    launch.kernel = adjust_weights_kernel;
    pw_launch(h, &launch);
    if (pw_host_verifying(h) && g.input.data && g.weights.data && g.delta.data && g.old_weights.data)
        verify_weights(h, &g);
    release(h, &g, &first_weights, p->managed);
}

static const struct pw_option rows[] = {
    {"inputs", PW_OPTION_COUNT, offsetof(struct parameters, inputs), 16, MAX_INPUTS, "262144", "units", NULL,
     "units of the input layer, a multiple of 16", false},
    {"managed", PW_OPTION_BOOL, offsetof(struct parameters, managed), 0, 0, "off", "", NULL,
     "the version for managed memory, in which the second kernel has weights of its own", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "inputs=65536"}, {"uvm", "inputs=131056:managed=on"}, {0}};

const struct pw_workload pw_workload_bp = {
    .name = "BP",
    .suite = "Rodinia",
    .papers = "mosaic mask",
    .summary = "backprop: training step of a neural network, weights in rows of 17",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = backprop_main,
};

const struct pw_workload pw_workload_backprop = {
    .name = "backprop",
    .suite = "Rodinia",
    .papers = "compression uvm",
    .summary = "BP under the name the papers on compression and on demand paging use",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = backprop_main,
};
