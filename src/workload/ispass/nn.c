/* NN: the neural network of the ISPASS-2009 benchmarks, which reads handwritten digits: two convolutions, two fully
 * connected layers, a batch of images at a time.
 *
 * Kept: 29x29 pixels, then 6 maps of 13x13, 50 maps of 5x5, 100 neurons, 10 neurons; the nine arrays with their sizes
 * and order of allocation; one launch per layer, CTAs of 13x13, 5x5, 1 and 1 threads, one per map (or neuron) and
 * image; weights read from memory by every thread, the bias first; the second layer's taps over all six maps before the
 * next tap, and its weights 156 apart although 151 are used; a fully connected neuron computed by one lane of a warp
 * that has no other. Nothing is freed: the original exits.
 * Simplified: weights and pixels are random instead of read from files; the tables of window offsets, which are
 * constant memory, cost an instruction and no access.
 * Instruction counts are estimates for compiled code. The compiler unrolls: the loads of five taps (in the second layer
 * of one tap's six maps) are in flight together, each pair followed by one multiply-add; 18 instructions stand before
 * the loop and 30 for the hyperbolic tangent, whose factors the original writes in double precision. */
#include "workload/runtime/host.h"
#include "workload/runtime/inputs.h"

#include <math.h>

enum { LAYERS = 4, WINDOW = 5, BATCH = 5, BEFORE = 18, TANGENT = 30 };

struct parameters {
    uint32_t images;
};

/* Maps of side x side neurons; a fully connected layer is maps of one neuron each. */
struct layer {
    const char *name;
    uint32_t maps, side, input_maps, input_side;
    uint32_t weights; /* per map */
    pw_kernel_fn *kernel;
};

struct arguments {
    struct pw_array neurons, weights, output;
    const struct layer *layer;
};

static inline uint32_t neurons_of(uint32_t maps, uint32_t side)
{
    return maps * side * side;
}

static inline float activate(float sum)
{
    return (float)(1.7159 * tanhf((float)(0.66666667 * sum)));
}

/* One warp's neurons: the sums so far, and where in the layer below their windows begin. */
struct neurons {
    float sum[PW_WARP_LANES];
    uint64_t window[PW_WARP_LANES];
    uint64_t first_weight;
};

static void load_weight(struct pw_warp *w, const struct arguments *g, uint64_t index)
{
    pw_load_strided(w, w->lanes, &g->weights, (int64_t)index, 0);
}

static void begin(struct pw_warp *w, const struct arguments *g, struct neurons *n)
{
    const struct layer *l = g->layer;
    uint64_t image = (uint64_t)w->cta.y * neurons_of(l->input_maps, l->input_side);
    n->first_weight = (uint64_t)w->cta.x * l->weights;
    PW_FOR_LANES(lane, w->lanes)
    {
        uint32_t thread = pw_first_thread(w) + lane, x = thread % l->side, y = thread / l->side;
        n->window[lane] = image + (uint64_t)2 * y * l->input_side + 2 * x;
        n->sum[lane] = g->weights.data ? ((const float *)g->weights.data)[n->first_weight] : 0;
    }
    pw_compute(w, BEFORE);
    load_weight(w, g, n->first_weight++);
}

/* Adds `count` products: inputs `step` apart from `offset` in the window, weights from `weight` on. */
static void accumulate(struct pw_warp *w, const struct arguments *g, struct neurons *n, uint32_t count, uint64_t offset,
                       uint32_t step, uint64_t weight, uint32_t instructions)
{
    const float *inputs = g->neurons.data, *weights = g->weights.data;
    pw_compute(w, instructions);
    for (uint32_t i = 0; i < count; i++, offset += step, weight++) {
        uint64_t index[PW_WARP_LANES];
        if (w->lanes == 1) {
            index[0] = n->window[0] + offset;
            pw_load_run(w, 1, &g->neurons, (int64_t)index[0]);
        } else {
            PW_FOR_LANES(lane, w->lanes)
            index[lane] = n->window[lane] + offset;
            pw_load_lanes(w, w->lanes, &g->neurons, index);
        }
        load_weight(w, g, n->first_weight + weight);
        if (inputs)
            PW_FOR_LANES(lane, w->lanes)
        n->sum[lane] += inputs[index[lane]] * weights[n->first_weight + weight];
    }
    pw_use(w);
    pw_compute(w, count);
}

static void finish(struct pw_warp *w, const struct arguments *g, const struct neurons *n)
{
    const struct layer *l = g->layer;
    uint32_t threads = l->side * l->side;
    uint64_t first = (uint64_t)w->cta.y * l->maps * threads + w->cta.x * threads + pw_first_thread(w);
    pw_compute(w, TANGENT);
    pw_store_run(w, w->lanes, &g->output, (int64_t)first);
    if (g->output.data)
        PW_FOR_LANES(lane, w->lanes)
    ((float *)g->output.data)[first + lane] = activate(n->sum[lane]);
}

static void first_layer(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    struct neurons n = {0};
    begin(w, g, &n);
    for (uint32_t row = 0; row < WINDOW; row++)
        accumulate(w, g, &n, WINDOW, (uint64_t)row * g->layer->input_side, 1, row * WINDOW, 2 * WINDOW);
    finish(w, g, &n);
}

static void second_layer(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    uint32_t side = g->layer->input_side, maps = g->layer->input_maps;
    struct neurons n = {0};
    begin(w, g, &n);
    for (uint32_t tap = 0; tap < WINDOW * WINDOW; tap++)
        accumulate(w, g, &n, maps, (uint64_t)tap / WINDOW * side + tap % WINDOW, side * side, tap * maps, 4);
    finish(w, g, &n);
}

static void connected_layer(struct pw_warp *w, const void *arguments)
{
    const struct arguments *g = arguments;
    struct neurons n = {0};
    begin(w, g, &n);
    for (uint32_t i = 0; i < g->layer->input_maps; i += BATCH)
        accumulate(w, g, &n, BATCH, i, 1, i, 3);
    finish(w, g, &n);
}

static const struct layer layers[LAYERS] = {
    {"executeFirstLayer", 6, 13, 1, 29, 26, first_layer},
    {"executeSecondLayer", 50, 5, 6, 13, 156, second_layer},
    {"executeThirdLayer", 100, 1, 1250, 1, 1251, connected_layer},
    {"executeFourthLayer", 10, 1, 100, 1, 101, connected_layer},
};

/* One neuron of one image from the image's inputs: bias, then tap by tap, map by map. */
static float sequential_neuron(const struct layer *l, const float *input, const float *weights, uint32_t neuron)
{
    uint32_t area = l->side * l->side, map = neuron / area, y = neuron % area / l->side, x = neuron % area % l->side;
    uint32_t window = l->input_side > 1 ? WINDOW : 1;
    const float *weight = &weights[(uint64_t)map * l->weights];
    float sum = *weight++;
    for (uint32_t row = 2 * y; row < 2 * y + window; row++)
        for (uint32_t column = 2 * x; column < 2 * x + window; column++)
            for (uint32_t m = 0; m < l->input_maps; m++)
                sum += input[(m * l->input_side + row) * l->input_side + column] * *weight++;
    return activate(sum);
}

static void verify(struct pw_host *h, const struct pw_array *neurons, const struct pw_array *weights, uint64_t images)
{
    float *input = pw_host_keep(h, neurons[0].count * sizeof *input);
    __builtin_memcpy(input, neurons[0].data, neurons[0].count * sizeof *input);
    for (uint32_t i = 0; i < LAYERS; i++) {
        const struct layer *l = &layers[i];
        uint32_t count = neurons_of(l->maps, l->side), inputs = neurons_of(l->input_maps, l->input_side);
        float *output = pw_host_keep(h, images * count * sizeof *output);
        const float *result = neurons[i + 1].data;
        uint64_t wrong = images * count;
        for (uint64_t n = images * count; n-- > 0;) {
            output[n] = sequential_neuron(l, &input[n / count * inputs], weights[i].data, (uint32_t)(n % count));
            if (output[n] != result[n])
                wrong = n;
        }
        pw_host_expect(h, wrong == images * count, "%s: neuron %llu differs from the sequential network", l->name,
                       (unsigned long long)wrong);
        input = output;
    }
}

/* Weights centred on 0 and small enough that the tangents do not saturate. */
static void fill(const struct pw_array *pixels, const struct pw_array *weights, uint64_t seed)
{
    for (uint64_t i = 0; pixels->data && i < pixels->count; i++)
        ((float *)pixels->data)[i] = pw_hash_unit(pw_hash(seed, i));
    for (uint32_t l = 0; l < LAYERS; l++)
        for (uint64_t i = 0; weights[l].data && i < weights[l].count; i++)
            ((float *)weights[l].data)[i] =
                (pw_hash_unit(pw_hash(seed + l + 1, i)) - 0.5F) * (8.0F / (float)layers[l].weights);
}

static void network_main(struct pw_host *h, const void *parameters)
{
    const struct parameters *p = parameters;
    uint64_t images = pw_host_scaled(h, p->images, 1);
    if (images > 65535)
        pw_host_fail(h, "images is at most 65535, the height of a grid");
    static const char *const neuron_names[] = {"Layer1_Neurons", "Layer2_Neurons", "Layer3_Neurons", "Layer4_Neurons",
                                               "Layer5_Neurons"};
    static const char *const weight_names[] = {"Layer1_Weights", "Layer2_Weights", "Layer3_Weights", "Layer4_Weights"};
    struct pw_array neurons[LAYERS + 1], weights[LAYERS];
    for (uint32_t i = 0; i < LAYERS; i++) {
        const struct layer *l = &layers[i];
        neurons[i] = pw_alloc(h, neuron_names[i], images * neurons_of(l->input_maps, l->input_side), sizeof(float));
        weights[i] = pw_alloc(h, weight_names[i], (uint64_t)l->maps * l->weights, sizeof(float));
    }
    neurons[LAYERS] = pw_alloc(h, neuron_names[LAYERS], images * layers[LAYERS - 1].maps, sizeof(float));
    fill(&neurons[0], weights, pw_random_next(pw_host_random(h)));

    pw_host_plan(h, LAYERS);
    for (uint32_t i = 0; i < LAYERS; i++) {
        const struct layer *l = &layers[i];
        struct arguments g = {neurons[i], weights[i], neurons[i + 1], l};
        pw_launch(h, &(struct pw_launch){.name = l->name,
                                         .grid = {l->maps, (uint32_t)images, 1},
                                         .block = {l->side, l->side, 1},
                                         .registers = 24,
                                         .kernel = l->kernel,
                                         .arguments = &g});
    }
    if (pw_host_verifying(h))
        verify(h, neurons, weights, images);
}

static const struct pw_option rows[] = {
    {"images", PW_OPTION_COUNT, offsetof(struct parameters, images), 1, 65535, "28", "images", NULL,
     "images of the batch", false},
    {0},
};

static const struct pw_preset presets[] = {{"table", "images=28"}, {0}};

const struct pw_workload pw_workload_nn = {
    .name = "NN",
    .suite = "ISPASS-2009",
    .papers = "mosaic mask",
    .summary = "neural network for handwritten digits: two convolutions, two fully connected layers",
    .parameters = rows,
    .presets = presets,
    .parameters_bytes = sizeof(struct parameters),
    .main = network_main,
};
