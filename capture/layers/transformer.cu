// transformer: a decoder layer of a transformer that generates tokens for a few sequences at once, with a KV cache.
// Sizes are those of GPT-2's smallest model. A step normalises, projects to queries, keys and values, appends the
// latter two to the cache, scores all cached tokens, takes the softmax, sums the values, projects, and adds the two
// layers of the MLP. Each is a kernel of its own, as in PyTorch when nothing is fused; a product with weights has a
// warp per output, which reads its row of the weights once for all sequences.
#include "layers.h"
#include <cfloat>
#include <cmath>

#define SEQUENCES 4
#define HEAD 64 // elements
#define WARPS 8
#define THREADS (WARPS * LANES)
#define GROUP (HEAD / 4) // lanes with 16 bytes each for one cached token
#define GROUPS (THREADS / GROUP)

__device__ float cta_sum(float *of_warp, float value)
{
    value = sum_over(LANES, value);
    if (threadIdx.x % LANES == 0)
        of_warp[threadIdx.x / LANES] = value;
    __syncthreads();
    value = 0;
    for (int i = 0; i < WARPS; i++)
        value += of_warp[i];
    __syncthreads();
    return value;
}

__global__ void layer_norm(const float *x, const float *gain, const float *bias, float *out, int width)
{
    __shared__ float of_warp[WARPS];
    x += blockIdx.x * width;
    out += blockIdx.x * width;
    float sum = 0, squares = 0;
    for (int i = threadIdx.x; i < width; i += THREADS)
        sum += x[i];
    float mean = cta_sum(of_warp, sum) / width;
    for (int i = threadIdx.x; i < width; i += THREADS)
        squares += (x[i] - mean) * (x[i] - mean);
    float scale = rsqrtf(cta_sum(of_warp, squares) / width + 1e-5F);
    for (int i = threadIdx.x; i < width; i += THREADS)
        out[i] = (x[i] - mean) * scale * gain[i] + bias[i];
}

__device__ __host__ inline float gelu(float x)
{
    return 0.5F * x * (1 + tanhf(0.7978845608F * (x + 0.044715F * x * x * x)));
}

// out = x W^T + bias, then GELU, or plus what is there already.
enum { PLAIN, GELU, ADDED };

template <int MODE>
__global__ void linear(const float *weights, const float *bias, const float *x, float *out, int inputs, int outputs)
{
    extern __shared__ float4 shared[]; // [sequence][inputs]
    int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES, vectors = inputs / 4;
    for (int i = threadIdx.x; i < SEQUENCES * vectors; i += THREADS)
        shared[i] = ((const float4 *)x)[i];
    __syncthreads();
    int end = min(outputs, (int)(blockIdx.x + 1) * 4 * WARPS);
    for (int row = blockIdx.x * 4 * WARPS + warp; row < end; row += WARPS) {
        const float4 *w = (const float4 *)(weights + (size_t)row * inputs);
        float sums[SEQUENCES] = {};
        for (int i = lane; i < vectors; i += LANES) {
            float4 factor = w[i];
#pragma unroll
            for (int s = 0; s < SEQUENCES; s++)
                sums[s] += dot(factor, shared[s * vectors + i]);
        }
#pragma unroll
        for (int s = 0; s < SEQUENCES; s++)
            sums[s] = sum_over(LANES, sums[s]);
        if (lane < SEQUENCES) {
            float sum = lane == 0 ? sums[0] : lane == 1 ? sums[1] : lane == 2 ? sums[2] : sums[3];
            float *to = &out[lane * outputs + row];
            sum += bias[row];
            *to = MODE == GELU ? gelu(sum) : MODE == ADDED ? *to + sum : sum;
        }
    }
}

// The caches are [sequence][head][token][element].
__global__ void append(const float *q_k_v, float *keys, float *values, int width, int capacity, int at)
{
    int i = blockIdx.x * THREADS + threadIdx.x, sequence = blockIdx.y;
    if (i >= width)
        return;
    const float *from = q_k_v + (size_t)sequence * 3 * width;
    size_t to = (((size_t)sequence * (width / HEAD) + i / HEAD) * capacity + at) * HEAD + i % HEAD;
    keys[to] = from[width + i];
    values[to] = from[2 * width + i];
}

// A group of lanes per token.
__global__ void score(const float *q_k_v, const float *keys, float *scores, int width, int capacity, int tokens)
{
    int head = blockIdx.y, sequence = blockIdx.z, part = threadIdx.x % GROUP;
    int token = blockIdx.x * GROUPS + threadIdx.x / GROUP;
    size_t row = (size_t)sequence * (width / HEAD) + head;
    float4 query = ((const float4 *)(q_k_v + (size_t)sequence * 3 * width + head * HEAD))[part];
    float4 key = {0, 0, 0, 0};
    if (token < tokens)
        key = ((const float4 *)(keys + (row * capacity + token) * HEAD))[part];
    float sum = sum_over(GROUP, dot(query, key));
    if (part == 0 && token < tokens)
        scores[row * capacity + token] = sum * 0.125F;
}

__global__ void softmax(float *scores, int capacity, int tokens)
{
    __shared__ float of_warp[WARPS];
    scores += (size_t)blockIdx.x * capacity;
    float most = -FLT_MAX, sum = 0;
    for (int i = threadIdx.x; i < tokens; i += THREADS)
        most = fmaxf(most, scores[i]);
    most = most_over(LANES, most);
    if (threadIdx.x % LANES == 0)
        of_warp[threadIdx.x / LANES] = most;
    __syncthreads();
    for (int i = 0; i < WARPS; i++)
        most = fmaxf(most, of_warp[i]);
    __syncthreads();
    for (int i = threadIdx.x; i < tokens; i += THREADS)
        sum += expf(scores[i] - most);
    float scale = 1 / cta_sum(of_warp, sum);
    for (int i = threadIdx.x; i < tokens; i += THREADS)
        scores[i] = expf(scores[i] - most) * scale;
}

__global__ void weighted_sum(const float *scores, const float *values, float *out, int width, int capacity, int tokens)
{
    __shared__ float4 sums[GROUPS][GROUP];
    int head = blockIdx.x, sequence = blockIdx.y, part = threadIdx.x % GROUP, group = threadIdx.x / GROUP;
    size_t row = (size_t)sequence * (width / HEAD) + head;
    float4 sum = {0, 0, 0, 0};
    for (int token = group; token < tokens; token += GROUPS) {
        float weight = scores[row * capacity + token];
        float4 value = ((const float4 *)(values + (row * capacity + token) * HEAD))[part];
        sum.x += weight * value.x;
        sum.y += weight * value.y;
        sum.z += weight * value.z;
        sum.w += weight * value.w;
    }
    sums[group][part] = sum;
    __syncthreads();
    if (threadIdx.x < HEAD) {
        float total = 0;
        for (int i = 0; i < GROUPS; i++)
            total += ((const float *)sums[i])[threadIdx.x];
        out[(size_t)sequence * width + head * HEAD + threadIdx.x] = total;
    }
}

struct matrix {
    array<float> weights, bias;
    int inputs, outputs;

    matrix(uint64_t seed, int in, int out) : weights((size_t)in * out), bias(out), inputs(in), outputs(out)
    {
        float size = std::sqrt(12.0F / in);
        for (size_t i = 0; i < weights.host.size(); i++)
            weights[i] = size * (unit(seed, i) - 0.5F);
        for (int i = 0; i < out; i++)
            bias[i] = 0.1F * unit(seed + 1, i);
        weights.up();
        bias.up();
    }
    template <int MODE> void on_gpu(const array<float> &x, array<float> &out) const
    {
        launch("linear", linear<MODE>, (outputs + 4 * WARPS - 1) / (4 * WARPS), THREADS,
               SEQUENCES * inputs * sizeof(float), (const float *)weights.device, (const float *)bias.device,
               (const float *)x.device, out.device, inputs, outputs);
    }
    std::vector<float> on_cpu(const std::vector<float> &x) const
    {
        std::vector<float> out((size_t)SEQUENCES * outputs);
        for (int s = 0; s < SEQUENCES; s++)
            for (int row = 0; row < outputs; row++) {
                double sum = bias.host[row];
                for (int i = 0; i < inputs; i++)
                    sum += (double)weights.host[(size_t)row * inputs + i] * x[(size_t)s * inputs + i];
                out[(size_t)s * outputs + row] = (float)sum;
            }
        return out;
    }
};

struct layer {
    int width, heads, capacity;
    array<float> gain, bias, keys, values;
    matrix q_k_v, project, up, down;
    array<float> x, normal, projected, scores, mixed_values, hidden;

    layer(int width, int capacity)
        : width(width), heads(width / HEAD), capacity(capacity), gain(width), bias(width),
          keys((size_t)SEQUENCES * capacity * width), values((size_t)SEQUENCES * capacity * width),
          q_k_v(10, width, 3 * width), project(20, width, width), up(30, width, 4 * width), down(40, 4 * width, width),
          x(SEQUENCES * width), normal(SEQUENCES * width), projected(SEQUENCES * 3 * width),
          scores((size_t)SEQUENCES * heads * capacity), mixed_values(SEQUENCES * width), hidden(SEQUENCES * 4 * width)
    {
        for (int i = 0; i < width; i++) {
            gain[i] = 0.5F + unit(1, i);
            bias[i] = unit(2, i) - 0.5F;
        }
        for (size_t i = 0; i < keys.host.size(); i++) {
            keys[i] = 2 * unit(3, i) - 1;
            values[i] = 2 * unit(4, i) - 1;
        }
        gain.up();
        bias.up();
        keys.up();
        values.up();
    }
    void normalise()
    {
        launch("layer_norm", layer_norm, SEQUENCES, THREADS, 0, (const float *)x.device, (const float *)gain.device,
               (const float *)bias.device, normal.device, width);
    }
    void step(int at)
    {
        int tokens = at + 1;
        normalise();
        q_k_v.on_gpu<PLAIN>(normal, projected);
        launch("append", append, dim3((width + THREADS - 1) / THREADS, SEQUENCES), THREADS, 0,
               (const float *)projected.device, keys.device, values.device, width, capacity, at);
        launch("score", score, dim3((tokens + GROUPS - 1) / GROUPS, heads, SEQUENCES), THREADS, 0,
               (const float *)projected.device, (const float *)keys.device, scores.device, width, capacity, tokens);
        launch("softmax", softmax, SEQUENCES * heads, THREADS, 0, scores.device, capacity, tokens);
        launch("weighted_sum", weighted_sum, dim3(heads, SEQUENCES), THREADS, 0, (const float *)scores.device,
               (const float *)values.device, mixed_values.device, width, capacity, tokens);
        project.on_gpu<ADDED>(mixed_values, x);
        normalise();
        up.on_gpu<GELU>(normal, hidden);
        down.on_gpu<ADDED>(hidden, x);
    }
    std::vector<float> normal_on_cpu(const std::vector<float> &from)
    {
        std::vector<float> out(from.size());
        for (int s = 0; s < SEQUENCES; s++) {
            double mean = 0, square = 0;
            for (int i = 0; i < width; i++)
                mean += from[s * width + i] / (double)width;
            for (int i = 0; i < width; i++)
                square += (from[s * width + i] - mean) * (from[s * width + i] - mean) / width;
            for (int i = 0; i < width; i++)
                out[s * width + i] =
                    (float)((from[s * width + i] - mean) / std::sqrt(square + 1e-5) * gain[i] + bias[i]);
        }
        return out;
    }
    // Head h of sequence s; the caches have the token's own key and value.
    void attend_on_cpu(const float *query, int s, int h, int tokens, float *out)
    {
        size_t first = ((size_t)s * heads + h) * capacity;
        std::vector<double> sums(HEAD);
        double total = 0;
        for (int t = 0; t < tokens; t++) {
            double sum = 0;
            for (int e = 0; e < HEAD; e++)
                sum += (double)query[e] * keys[(first + t) * HEAD + e];
            total += sum = std::exp(sum / 8);
            for (int e = 0; e < HEAD; e++)
                sums[e] += sum * values[(first + t) * HEAD + e];
        }
        for (int e = 0; e < HEAD; e++)
            out[e] = (float)(sums[e] / total);
    }
    std::vector<float> step_on_cpu(std::vector<float> at_first, int at)
    {
        std::vector<float> q = q_k_v.on_cpu(normal_on_cpu(at_first)), mixed_in((size_t)SEQUENCES * width);
        for (int s = 0; s < SEQUENCES; s++)
            for (int h = 0; h < heads; h++) {
                const float *query = &q[(size_t)s * 3 * width + h * HEAD];
                size_t to = (((size_t)s * heads + h) * capacity + at) * HEAD;
                std::copy(query + width, query + width + HEAD, &keys[to]);
                std::copy(query + 2 * width, query + 2 * width + HEAD, &values[to]);
                attend_on_cpu(query, s, h, at + 1, &mixed_in[(size_t)s * width + h * HEAD]);
            }
        std::vector<float> added = project.on_cpu(mixed_in);
        for (size_t i = 0; i < added.size(); i++)
            at_first[i] += added[i];
        std::vector<float> inner = up.on_cpu(normal_on_cpu(at_first));
        for (float &value : inner)
            value = gelu(value);
        added = down.on_cpu(inner);
        for (size_t i = 0; i < added.size(); i++)
            at_first[i] += added[i];
        return at_first;
    }
};

int main(int argc, char **argv)
{
    int width = parameter(argc, argv, "width", 768), capacity = parameter(argc, argv, "capacity", 1024);
    int context = parameter(argc, argv, "context", 512), steps = parameter(argc, argv, "steps", 2);
    if (width % 128 || width > 768 || context + steps > capacity) {
        fprintf(stderr, "transformer: width is a multiple of 128, 768 at most; context + steps is capacity at most\n");
        return 2;
    }
    layer l(width, capacity);
    size_t wrong = 0;
    for (int i = 0; i < steps; i++) {
        for (int j = 0; j < SEQUENCES * width; j++)
            l.x[j] = 2 * unit(100 + i, j) - 1;
        std::vector<float> expected = l.step_on_cpu(l.x.host, context + i);
        l.x.up();
        l.step(context + i);
        l.x.down();
        for (size_t j = 0; j < expected.size(); j++)
            wrong += differs(l.x[j], expected[j], 1e-3);
    }
    return finish("transformer", wrong);
}
