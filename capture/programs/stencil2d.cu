// stencil2d: nine-point stencil of SHOC as MGPUSim has it, 16x64 cells of a tile by 64 threads
// (src/workload/shoc/stencil2d.c).
#include "common.h"

#define ROWS 16
#define COLUMNS 64
#define PAD 16

__global__ void StencilKernel(const float *data, float *newData, int pitch, float wCenter, float wCardinal,
                              float wDiagonal)
{
    __shared__ float sh[ROWS + 2][COLUMNS + 2];
    int column = threadIdx.y, above = blockIdx.x * ROWS * pitch + blockIdx.y * COLUMNS + column + 1;
    for (int i = 0; i < ROWS + 2; i++)
        sh[i][column + 1] = data[above + i * pitch];
    if (column == 0) {
        for (int i = 0; i < ROWS + 2; i++)
            sh[i][0] = data[above + i * pitch - 1];
    } else if (column == COLUMNS - 1) {
        for (int i = 0; i < ROWS + 2; i++)
            sh[i][COLUMNS + 1] = data[above + i * pitch + 1];
    }
    __syncthreads();
    for (int i = 1; i <= ROWS; i++) {
        float center = sh[i][column + 1];
        float cardinal = sh[i - 1][column + 1] + sh[i + 1][column + 1] + sh[i][column + 2] + sh[i][column];
        float diagonal = sh[i - 1][column + 2] + sh[i + 1][column + 2] + sh[i - 1][column] + sh[i + 1][column];
        newData[above + i * pitch] = wCenter * center + wCardinal * cardinal + wDiagonal * diagonal;
    }
}

int main(int argc, char **argv)
{
    size_t rows = parameter(argc, argv, "rows", 2896) / ROWS * ROWS;
    size_t columns = parameter(argc, argv, "columns", 2880) / COLUMNS * COLUMNS;
    long iterations = parameter(argc, argv, "iterations", 3);
    size_t pitch = (columns + 2 + PAD - 1) / PAD * PAD, cells = (rows + 2) * pitch;
    array<float> first(cells), second(cells);
    for (size_t i = 0; i < cells; i++)
        first[i] = second[i] = unit(1, i);
    first.up();
    second.up();
    float *at[2] = {first.device, second.device};
    for (long t = 0; t < iterations; t++, std::swap(at[0], at[1]))
        launch("StencilKernel", StencilKernel, dim3(rows / ROWS, columns / COLUMNS), dim3(1, COLUMNS), 0,
               (const float *)at[0], at[1], (int)pitch, 0.25F, 0.15F, 0.05F);
    std::vector<float> before = first.host, after = first.host, got(cells);
    for (long t = 0; t < iterations; t++, before.swap(after))
        for (size_t y = 1; y <= rows; y++)
            for (size_t x = 1; x <= columns; x++) {
                const float *here = &before[y * pitch + x], *north = here - pitch, *south = here + pitch;
                after[y * pitch + x] = 0.25F * here[0] + 0.15F * (north[0] + south[0] + here[1] + here[-1]) +
                                       0.05F * (north[1] + south[1] + north[-1] + south[-1]);
            }
    CUDA(cudaMemcpy(got.data(), at[0], cells * sizeof(float), cudaMemcpyDeviceToHost));
    size_t wrong = 0;
    for (size_t i = 0; i < cells; i++)
        wrong += differs(got[i], before[i], 1e-5);
    return finish("stencil2d", wrong);
}
