// vecadd: c[i] = a[i] + b[i] in a grid-stride loop that is not unrolled (src/workload/micro/vecadd.c).
#include "common.h"

__global__ void vecadd(const float *a, const float *b, float *c, int n)
{
    int step = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
    int ctas = parameter(argc, argv, "ctas", 256), threads = 32 * parameter(argc, argv, "warps", 8);
    int n = ctas * threads * parameter(argc, argv, "iterations", 30);
    array<float> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) {
        a[i] = unit(1, i);
        b[i] = unit(2, i);
    }
    a.up();
    b.up();
    for (long i = parameter(argc, argv, "launches", 3); i > 0; i--)
        launch("vecadd", vecadd, ctas, threads, 0, a.device, b.device, c.device, n);
    c.down();
    size_t wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += c[i] != a[i] + b[i];
    return finish("vecadd", wrong);
}
