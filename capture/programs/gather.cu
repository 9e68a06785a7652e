// gather: c[i] = 2 * t[idx[i]], random indices into a large table (src/workload/micro/gather.c).
#include "common.h"

__global__ void gather(const unsigned *idx, const float *t, float *c, int n)
{
    int step = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        float value = t[idx[i]];
        c[i] = value + value;
    }
}

int main(int argc, char **argv)
{
    int ctas = parameter(argc, argv, "ctas", 256), threads = 32 * parameter(argc, argv, "warps", 8);
    int n = ctas * threads * parameter(argc, argv, "iterations", 4);
    size_t table = (size_t)parameter(argc, argv, "table_mib", 256) << 18;
    array<unsigned> idx(n);
    array<float> t(table), c(n);
    for (size_t i = 0; i < table; i++)
        t[i] = (float)(i & 0xffff);
    for (int i = 0; i < n; i++)
        idx[i] = (unsigned)(hashed(1, i) % table);
    idx.up();
    t.up();
    for (long i = parameter(argc, argv, "launches", 3); i > 0; i--)
        launch("gather", gather, ctas, threads, 0, idx.device, t.device, c.device, n);
    c.down();
    size_t wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += c[i] != 2 * t[idx[i]];
    return finish("gather", wrong);
}
