// graph_convolution: a layer of a graph convolutional network (Kipf and Welling, ICLR 2017) over a graph whose degrees
// follow a power law: max(0, D^-1/2 (A + I) D^-1/2 X W + b). First the dense product X W, a tile of W and one of X in
// shared memory; then a warp per node gathers the rows of its neighbours, whose numbers it loads 32 at a time.
#include "layers.h"
#include <cmath>

#define WIDTH 64 // two columns for each lane
#define WARPS 8
#define ROWS_PER_WARP 8
#define ROWS_PER_CTA (WARPS * ROWS_PER_WARP)

__global__ void transform(const float2 *x, const float2 *weights, float2 *out, int nodes)
{
    __shared__ float2 w[WIDTH][LANES], rows[ROWS_PER_CTA][LANES];
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES, first = blockIdx.x * ROWS_PER_CTA;
    for (int i = warp; i < WIDTH; i += WARPS)
        w[i][lane] = weights[i * LANES + lane];
    for (int i = warp; i < ROWS_PER_CTA && first + i < nodes; i += WARPS)
        rows[i][lane] = x[(size_t)(first + i) * LANES + lane];
    __syncthreads();
    float2 sums[ROWS_PER_WARP] = {};
#pragma unroll 4
    for (int k = 0; k < WIDTH; k++) {
        float2 factor = w[k][lane];
#pragma unroll
        for (int i = 0; i < ROWS_PER_WARP; i++) {
            float value = ((const float *)rows[warp * ROWS_PER_WARP + i])[k];
            sums[i].x += value * factor.x;
            sums[i].y += value * factor.y;
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS_PER_WARP; i++) {
        int node = first + warp * ROWS_PER_WARP + i;
        if (node < nodes)
            out[(size_t)node * LANES + lane] = sums[i];
    }
}

__global__ void aggregate(const int *starts, const int *columns, const float *norm, const float2 *h, const float2 *bias,
                          float2 *out, int nodes)
{
    int node = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    if (node >= nodes)
        return;
    float own = norm[node];
    float2 sum = h[(size_t)node * LANES + lane], added = bias[lane];
    sum = {own * sum.x, own * sum.y};
    int end = starts[node + 1];
    for (int first = starts[node]; first < end; first += LANES) {
        int column = first + lane < end ? columns[first + lane] : 0, count = min(LANES, end - first);
        float scale = first + lane < end ? norm[column] : 0;
        for (int i = 0; i < count; i++) {
            float factor = __shfl_sync(ALL_LANES, scale, i);
            float2 neighbour = h[(size_t)__shfl_sync(ALL_LANES, column, i) * LANES + lane];
            sum.x += factor * neighbour.x;
            sum.y += factor * neighbour.y;
        }
    }
    out[(size_t)node * LANES + lane] = {fmaxf(0, own * sum.x + added.x), fmaxf(0, own * sum.y + added.y)};
}

int main(int argc, char **argv)
{
    int nodes = parameter(argc, argv, "nodes", 32768);
    size_t pairs = (size_t)nodes * parameter(argc, argv, "degree", 4) / 2, cells = (size_t)nodes * WIDTH;
    std::vector<std::pair<int, int>> edges;
    for (size_t i = 0; i < pairs; i++) {
        std::pair<int, int> edge = power_law_edge(nodes, i);
        edges.push_back(edge);
        edges.push_back({edge.second, edge.first});
    }
    sparse graph(nodes, edges);
    array<int> starts(nodes + 1), columns(edges.size());
    array<float> norm(nodes), x(cells), weights(WIDTH * WIDTH), h(cells), bias(WIDTH), out(cells);
    starts.host = graph.starts;
    columns.host = graph.columns;
    for (int i = 0; i < nodes; i++)
        norm[i] = 1 / std::sqrt((float)(starts[i + 1] - starts[i] + 1));
    for (size_t i = 0; i < cells; i++)
        x[i] = unit(1, i) - 0.5F;
    for (size_t i = 0; i < weights.host.size(); i++)
        weights[i] = unit(2, i) - 0.5F;
    for (int i = 0; i < WIDTH; i++)
        bias[i] = 0.1F * unit(4, i);
    starts.up();
    columns.up();
    norm.up();
    x.up();
    weights.up();
    bias.up();
    launch("transform", transform, (nodes + ROWS_PER_CTA - 1) / ROWS_PER_CTA, WARPS * LANES, 0,
           (const float2 *)x.device, (const float2 *)weights.device, (float2 *)h.device, nodes);
    launch("aggregate", aggregate, (nodes + WARPS - 1) / WARPS, WARPS * LANES, 0, (const int *)starts.device,
           (const int *)columns.device, (const float *)norm.device, (const float2 *)h.device,
           (const float2 *)bias.device, (float2 *)out.device, nodes);
    std::vector<float> expected(cells);
    for (size_t i = 0; i < cells; i++)
        for (int k = 0; k < WIDTH; k++)
            expected[i] += x[i / WIDTH * WIDTH + k] * weights[k * WIDTH + i % WIDTH];
    out.down();
    size_t wrong = 0;
    for (int node = 0; node < nodes; node++)
        for (int column = 0; column < WIDTH; column++) {
            double sum = norm[node] * expected[(size_t)node * WIDTH + column];
            for (int i = starts[node]; i < starts[node + 1]; i++)
                sum += norm[columns[i]] * expected[(size_t)columns[i] * WIDTH + column];
            sum = norm[node] * sum + bias[column];
            wrong += differs(out[(size_t)node * WIDTH + column], sum > 0 ? sum : 0, 1e-4);
        }
    return finish("graph_convolution", wrong);
}
