// reduction: the sum of an array of SHOC, 64 CTAs that stride over it together (src/workload/shoc/red.c).
#include "common.h"

#define CTAS 64
#define THREADS 256

// The array is volatile, so that the last warp's steps need no barrier as long as its lanes keep in step.
__global__ void reduce(const float *__restrict__ g_idata, float *__restrict__ g_odata, unsigned n)
{
    __shared__ volatile float sdata[THREADS];
    unsigned tid = threadIdx.x, i = blockIdx.x * (THREADS * 2) + tid, step = THREADS * 2 * gridDim.x;
    sdata[tid] = 0;
    while (i < n) {
        sdata[tid] += g_idata[i] + g_idata[i + THREADS];
        i += step;
    }
    __syncthreads();
    if (tid < 128)
        sdata[tid] += sdata[tid + 128];
    __syncthreads();
    if (tid < 64)
        sdata[tid] += sdata[tid + 64];
    __syncthreads();
    if (tid < warpSize) {
        sdata[tid] += sdata[tid + 32];
        sdata[tid] += sdata[tid + 16];
        sdata[tid] += sdata[tid + 8];
        sdata[tid] += sdata[tid + 4];
        sdata[tid] += sdata[tid + 2];
        sdata[tid] += sdata[tid + 1];
    }
    if (tid == 0)
        g_odata[blockIdx.x] = sdata[0];
}

int main(int argc, char **argv)
{
    // Whole turns of a CTA: the kernel would read beyond any other array.
    size_t n = parameter(argc, argv, "bytes", 16 << 20) / sizeof(float) / (2 * THREADS) * (2 * THREADS);
    array<float> in(n), out(CTAS);
    double expected = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        expected += in[i] = hashed(1, i) % 3;
    in.up();
    for (long i = parameter(argc, argv, "iterations", 3); i > 0; i--)
        launch("reduce", reduce, CTAS, THREADS, 0, (const float *)in.device, out.device, (unsigned)n);
    out.down();
    for (int i = 0; i < CTAS; i++)
        sum += out[i];
    return finish("reduction", sum != expected);
}
