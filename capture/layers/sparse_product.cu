// sparse_product: a sparse matrix by rows (CSR) times a dense one (SpMM). Rows have numbers of entries that differ
// widely, and each entry's column is any. A warp per row loads 32 of its entries at a time and hands them round; its
// lanes have four columns of the dense matrix each.
#include "layers.h"

#define WIDTH 128
#define WARPS 8

__global__ void spmm(const int *starts, const int *columns, const float *values, const float *dense, float *out,
                     int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    if (row >= rows)
        return;
    float4 sum = {0, 0, 0, 0};
    int end = starts[row + 1];
    for (int first = starts[row]; first < end; first += LANES) {
        bool has = first + lane < end;
        int column = has ? columns[first + lane] : 0, count = min(LANES, end - first);
        float value = has ? values[first + lane] : 0;
        for (int i = 0; i < count; i++) {
            int from = __shfl_sync(ALL_LANES, column, i);
            float factor = __shfl_sync(ALL_LANES, value, i);
            float4 b = ((const float4 *)(dense + (size_t)from * WIDTH))[lane];
            sum.x += factor * b.x;
            sum.y += factor * b.y;
            sum.z += factor * b.z;
            sum.w += factor * b.w;
        }
    }
    ((float4 *)(out + (size_t)row * WIDTH))[lane] = sum;
}

int main(int argc, char **argv)
{
    int rows = parameter(argc, argv, "rows", 16384), wide = parameter(argc, argv, "columns", 131072);
    size_t count = parameter(argc, argv, "entries", 131072);
    std::vector<std::pair<int, int>> entries;
    for (size_t i = 0; i < count; i++) {
        float u = unit(1, i);
        entries.push_back({(int)(hashed(9, (uint64_t)(u * u * u * (float)rows)) % rows), (int)(hashed(2, i) % wide)});
    }
    sparse matrix(rows, entries);
    array<int> starts(rows + 1), columns(count);
    array<float> values(count), dense((size_t)wide * WIDTH), out((size_t)rows * WIDTH);
    starts.host = matrix.starts;
    columns.host = matrix.columns;
    for (size_t i = 0; i < count; i++)
        values[i] = unit(3, i) - 0.5F;
    for (size_t i = 0; i < dense.host.size(); i++)
        dense[i] = (float)(mixed(i) >> 40) * (1.0F / 16777216.0F);
    starts.up();
    columns.up();
    values.up();
    dense.up();
    launch("spmm", spmm, (rows + WARPS - 1) / WARPS, WARPS * LANES, 0, (const int *)starts.device,
           (const int *)columns.device, (const float *)values.device, (const float *)dense.device, out.device, rows);
    out.down();
    size_t wrong = 0;
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < WIDTH; column++) {
            double sum = 0;
            for (int i = starts[row]; i < starts[row + 1]; i++)
                sum += (double)values[i] * dense[(size_t)columns[i] * WIDTH + column];
            wrong += differs(out[(size_t)row * WIDTH + column], sum, 1e-4);
        }
    return finish("sparse_product", wrong);
}
