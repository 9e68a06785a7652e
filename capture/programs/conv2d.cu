// 2dconv: 2DConvolution of PolyBench/GPU, nine neighbours of every pixel (src/workload/polybench/conv2d.c). As in the
// original, sizes are compiled in (-DROWS=, -DCOLUMNS=).
#include "common.h"

#ifndef ROWS
#define ROWS 4096
#endif
#ifndef COLUMNS
#define COLUMNS 4096
#endif

constexpr int ni = ROWS, nj = COLUMNS;

__global__ void convolution2D_kernel(float *A, float *B)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    const float c11 = +0.2F, c21 = +0.5F, c31 = -0.8F, c12 = -0.3F, c22 = +0.6F, c32 = -0.9F;
    const float c13 = +0.4F, c23 = +0.7F, c33 = +0.1F;
    if (i < ni - 1 && j < nj - 1 && i > 0 && j > 0)
        B[i * nj + j] = c11 * A[(i - 1) * nj + (j - 1)] + c21 * A[(i - 1) * nj + (j + 0)] +
                        c31 * A[(i - 1) * nj + (j + 1)] + c12 * A[(i + 0) * nj + (j - 1)] +
                        c22 * A[(i + 0) * nj + (j + 0)] + c32 * A[(i + 0) * nj + (j + 1)] +
                        c13 * A[(i + 1) * nj + (j - 1)] + c23 * A[(i + 1) * nj + (j + 0)] +
                        c33 * A[(i + 1) * nj + (j + 1)];
}

int main(int argc, char **argv)
{
    array<float> a((size_t)ni * nj), b((size_t)ni * nj);
    for (size_t i = 0; i < a.host.size(); i++)
        a[i] = unit(1, i);
    a.up();
    b.clear();
    for (long i = parameter(argc, argv, "launches", 3); i > 0; i--)
        launch("convolution2D_kernel", convolution2D_kernel, dim3((nj + 31) / 32, (ni + 7) / 8), dim3(32, 8), 0, a.device,
               b.device);
    b.down();
    static const float c[3][3] = {{0.2F, 0.5F, -0.8F}, {-0.3F, 0.6F, -0.9F}, {0.4F, 0.7F, 0.1F}};
    size_t wrong = 0;
    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++) {
            float sum = 0;
            for (int y = 0; y < 3 && i && j && i < ni - 1 && j < nj - 1; y++)
                for (int x = 0; x < 3; x++)
                    sum += c[y][x] * a[(size_t)(i + y - 1) * nj + j + x - 1];
            wrong += differs(b[(size_t)i * nj + j], sum, 1e-5);
        }
    return finish("2dconv", wrong);
}
