// paged_attention: one decoded token's attention over a KV cache in blocks of 16 tokens that lie anywhere in a pool, as
// in vLLM (Kwon et al., SOSP 2023). Layouts and the order of the work are those of its kernel: keys as [block][head]
// [16 bytes of the head][token], values as [block][head][element][token]; a CTA per head and sequence, a warp per
// block, two lanes per token for the scores, four lanes per row of values.
#include "layers.h"
#include <cfloat>
#include <cmath>

#define TOKENS 16 // of a block
#define HEAD 128
#define VECTORS (HEAD * TOKENS / 4) // of 16 bytes in a block of one head
#define WARPS 4
#define ROUNDS (VECTORS / LANES)

__device__ inline float4 *block_of(float *pool, int block, int head)
{
    return (float4 *)pool + ((size_t)block * gridDim.x + head) * VECTORS;
}

// Over the CTA, of what each warp has.
template <typename F> __device__ float over_warps(float *of_warp, float value, F combine)
{
    if (threadIdx.x % LANES == 0)
        of_warp[threadIdx.x / LANES] = value;
    __syncthreads();
    value = of_warp[0];
    for (int i = 1; i < WARPS; i++)
        value = combine(value, of_warp[i]);
    __syncthreads();
    return value;
}

__global__ void paged_attention(float *out, const float *queries, float *keys, float *values, const int *tables,
                                const int *lengths, int table_width, float scale)
{
    extern __shared__ float4 scores_of_four[];
    __shared__ float4 query[HEAD / 4];
    __shared__ float of_warp[WARPS], rows[WARPS][HEAD];
    float *scores = (float *)scores_of_four;
    int head = blockIdx.x, sequence = blockIdx.y, warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    int length = lengths[sequence], blocks = (length + TOKENS - 1) / TOKENS;
    const int *table = tables + sequence * table_width;
    size_t place = ((size_t)sequence * gridDim.x + head) * HEAD;
    if (threadIdx.x < HEAD / 4)
        query[threadIdx.x] = ((const float4 *)(queries + place))[threadIdx.x];
    __syncthreads();
    float most = -FLT_MAX;
    for (int b = warp; b < blocks; b += WARPS) {
        const float4 *k = block_of(keys, table[b], head);
        int token = lane / 2, half = lane % 2;
        float sum = 0;
#pragma unroll
        for (int i = 0; i < ROUNDS; i++)
            sum += dot(query[2 * i + half], k[(2 * i + half) * TOKENS + token]);
        sum = sum_over(2, sum) * scale;
        bool is_there = b * TOKENS + token < length;
        if (half == 0)
            scores[b * TOKENS + token] = is_there ? sum : 0;
        most = is_there ? fmaxf(most, sum) : most;
    }
    most = over_warps(of_warp, most_over(LANES, most), [](float a, float b) { return fmaxf(a, b); });
    float total = 0;
    for (int i = threadIdx.x; i < length; i += WARPS * LANES)
        total += scores[i] = expf(scores[i] - most);
    total = over_warps(of_warp, sum_over(LANES, total), [](float a, float b) { return a + b; });
    float sums[ROUNDS] = {};
    for (int b = warp; b < blocks; b += WARPS) {
        const float4 *v = block_of(values, table[b], head);
        float4 weights = scores_of_four[b * TOKENS / 4 + lane % 4];
#pragma unroll
        for (int i = 0; i < ROUNDS; i++)
            sums[i] += dot(weights, v[i * LANES + lane]);
    }
#pragma unroll
    for (int i = 0; i < ROUNDS; i++) {
        float sum = sum_over(4, sums[i]);
        if (lane % 4 == 0)
            rows[warp][i * 8 + lane / 4] = sum;
    }
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < WARPS; i++)
        sum += rows[i][threadIdx.x];
    out[place + threadIdx.x] = sum / total;
}

int main(int argc, char **argv)
{
    int sequences = parameter(argc, argv, "sequences", 16), heads = parameter(argc, argv, "heads", 8);
    int pool = parameter(argc, argv, "blocks", 1024), longest = parameter(argc, argv, "tokens", 768);
    int table_width = (longest + TOKENS - 1) / TOKENS;
    if (pool < sequences * table_width) {
        fprintf(stderr, "paged_attention: %d blocks at least\n", sequences * table_width);
        return 2;
    }
    size_t cells = (size_t)sequences * heads * HEAD, in_pool = (size_t)pool * heads * HEAD * TOKENS;
    array<float> keys(in_pool), values(in_pool), queries(cells), out(cells);
    array<int> tables((size_t)sequences * table_width), lengths(sequences);
    // Blocks are handed out as the sequences grow, each from what is free anywhere in the pool.
    std::vector<std::pair<uint64_t, int>> order;
    for (int i = 0; i < pool; i++)
        order.push_back({hashed(1, i), i});
    std::sort(order.begin(), order.end());
    for (int i = 0; i < sequences; i++) {
        lengths[i] = 1 + (int)(hashed(2, i) % longest);
        for (int b = 0; b < table_width; b++)
            tables[i * table_width + b] = order[b * sequences + i].second;
    }
    for (size_t i = 0; i < in_pool; i++) {
        keys[i] = (float)(mixed(2 * i) >> 40) * (1.0F / 16777216.0F) - 0.5F;
        values[i] = (float)(mixed(2 * i + 1) >> 40) * (1.0F / 16777216.0F) - 0.5F;
    }
    for (size_t i = 0; i < cells; i++)
        queries[i] = 4 * unit(3, i) - 2;
    keys.up();
    values.up();
    queries.up();
    tables.up();
    lengths.up();
    float scale = 1 / std::sqrt((float)HEAD);
    launch("paged_attention", paged_attention, dim3(heads, sequences), WARPS * LANES,
           (size_t)table_width * TOKENS * sizeof(float), out.device, (const float *)queries.device, keys.device,
           values.device, (const int *)tables.device, (const int *)lengths.device, table_width, scale);
    out.down();
    size_t wrong = 0;
    for (int s = 0; s < sequences; s++)
        for (int h = 0; h < heads; h++) {
            const float *query = &queries[((size_t)s * heads + h) * HEAD];
            std::vector<double> scores(lengths[s]), sums(HEAD);
            double total = 0;
            for (int t = 0; t < lengths[s]; t++) {
                size_t at = ((size_t)tables[s * table_width + t / TOKENS] * heads + h) * HEAD * TOKENS;
                for (int e = 0; e < HEAD; e++)
                    scores[t] += (double)query[e] * keys[at + (e / 4 * TOKENS + t % TOKENS) * 4 + e % 4];
                total += scores[t] = std::exp(scores[t] * scale);
                for (int e = 0; e < HEAD; e++)
                    sums[e] += scores[t] * values[at + e * TOKENS + t % TOKENS];
            }
            for (int e = 0; e < HEAD; e++)
                wrong += differs(out[((size_t)s * heads + h) * HEAD + e], sums[e] / total, 1e-4);
        }
    return finish("paged_attention", wrong);
}
