// What the programs of this folder share beside programs/common.h: sums and maxima over a warp, draws by Zipf's law,
// and sparse matrices by rows (CSR) of graphs whose degrees follow a power law. Draws need no function of the C
// library, so that all machines draw the same. Numbers are floats throughout, where
// models mostly have half as many bits.
#pragma once

#include "common.h"
#include <algorithm>

#define LANES 32
#define ALL_LANES 0xffffffffU

// Over `lanes` neighbours, a power of two; all of them get it.
__device__ inline float sum_over(int lanes, float value)
{
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(ALL_LANES, value, distance);
    return value;
}

__device__ inline float most_over(int lanes, float value)
{
#pragma unroll
    for (int distance = lanes / 2; distance > 0; distance /= 2)
        value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, distance));
    return value;
}

__device__ inline float dot(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

// Rank r of n comes with a probability in proportion to 1 / (r + 1).
struct zipf {
    std::vector<double> until;

    explicit zipf(size_t n) : until(n)
    {
        double sum = 0;
        for (size_t rank = 0; rank < n; rank++)
            until[rank] = sum += 1.0 / (double)(rank + 1);
    }
    size_t draw(uint64_t seed, uint64_t i) const
    {
        double at = (double)(hashed(seed, i) >> 11) * 0x1p-53 * until.back();
        size_t rank = std::upper_bound(until.begin(), until.end(), at) - until.begin();
        return std::min(rank, until.size() - 1);
    }
};

// Row r has columns[starts[r]] to columns[starts[r + 1] - 1], in order.
struct sparse {
    std::vector<int> starts, columns;

    sparse(int rows, const std::vector<std::pair<int, int>> &entries) : starts(1, 0)
    {
        std::vector<std::vector<int>> of_row(rows);
        for (const auto &entry : entries)
            of_row[entry.first].push_back(entry.second);
        for (std::vector<int> &row : of_row) {
            std::sort(row.begin(), row.end());
            columns.insert(columns.end(), row.begin(), row.end());
            starts.push_back((int)columns.size());
        }
    }
};

// An edge of an R-MAT graph, quadrant by quadrant with probabilities of 57, 19, 19 and 5%; which nodes have many edges
// says nothing about their numbers (programs/bfs.cu has the same).
inline std::pair<int, int> power_law_edge(int nodes, size_t i)
{
    int from = 0, to = 0;
    for (int bit = 1; bit < nodes; bit *= 2) {
        unsigned at = hashed(3 + bit, i) % 100;
        from += at >= 76 ? bit : 0;
        to += (at >= 57 && at < 76) || at >= 95 ? bit : 0;
    }
    return {(int)(hashed(9, from) % nodes), (int)(hashed(9, to) % nodes)};
}
