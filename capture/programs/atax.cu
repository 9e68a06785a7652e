// atax: PolyBench/GPU's product of a matrix and a vector by rows, then of its transpose by columns
// (src/workload/polybench/atax.c). As in the original, sizes are compiled in (-DNX=, -DNY=).
#include "common.h"

#ifndef NX
#define NX 4096
#endif
#ifndef NY
#define NY 4096
#endif

constexpr int nx = NX, ny = NY;

__global__ void atax_kernel1(float *A, float *x, float *tmp)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nx)
        for (int j = 0; j < ny; j++)
            tmp[i] += A[i * ny + j] * x[j];
}

__global__ void atax_kernel2(float *A, float *y, float *tmp)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < ny)
        for (int i = 0; i < nx; i++)
            y[j] += A[i * ny + j] * tmp[i];
}

int main(int argc, char **argv)
{
    array<float> a((size_t)nx * ny), x(ny), y(ny), tmp(nx);
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            a[(size_t)i * ny + j] = (float)i * j / nx;
    for (int j = 0; j < ny; j++)
        x[j] = (float)(j * 3.14159265358979323846);
    a.up();
    x.up();
    y.clear();
    tmp.clear();
    launch("atax_kernel1", atax_kernel1, (nx + 255) / 256, 256, 0, a.device, x.device, tmp.device);
    launch("atax_kernel2", atax_kernel2, (ny + 255) / 256, 256, 0, a.device, y.device, tmp.device);
    std::vector<double> sum(nx), expected(ny);
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            sum[i] += (double)a[(size_t)i * ny + j] * x[j];
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++)
            expected[j] += (double)a[(size_t)i * ny + j] * sum[i];
    y.down();
    size_t wrong = 0;
    for (int j = 0; j < ny; j++)
        wrong += differs(y[j], expected[j], 1e-3);
    return finish("atax", wrong);
}
