// stencil3d: 7-point Jacobi stencil of Parboil (stencil), two cells per thread that march along z
// (src/workload/parboil/stencil.c).
#include "common.h"

#define BLOCK_X 32
#define BLOCK_Y 4
#define AT(i, j, k) ((i) + nx * ((j) + ny * (k)))

__global__ void block2D_hybrid_coarsen_x(float c0, float c1, const float *A0, float *Anext, int nx, int ny, int nz)
{
    extern __shared__ float sh_A0[];
    int i = blockIdx.x * blockDim.x * 2 + threadIdx.x, i2 = i + blockDim.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    int sh_id = threadIdx.x + threadIdx.y * blockDim.x * 2, sh_id2 = sh_id + blockDim.x;
    sh_A0[sh_id] = 0;
    sh_A0[sh_id2] = 0;
    __syncthreads();
    bool region = i > 0 && j > 0 && i < nx - 1 && j<ny - 1, region2 = j> 0 && i2 < nx - 1 && j < ny - 1;
    bool first_x = threadIdx.x == 0, last_x = threadIdx.x == blockDim.x - 1;
    bool first_y = threadIdx.y == 0, last_y = threadIdx.y == blockDim.y - 1;
    float bottom = 0, bottom2 = 0, top = 0, top2 = 0;
    if (i < nx && j < ny) {
        bottom = A0[AT(i, j, 0)];
        sh_A0[sh_id] = A0[AT(i, j, 1)];
    }
    if (i2 < nx && j < ny) {
        bottom2 = A0[AT(i2, j, 0)];
        sh_A0[sh_id2] = A0[AT(i2, j, 1)];
    }
    __syncthreads();
    for (int k = 1; k < nz - 1; k++) {
        if (i < nx && j < ny)
            top = A0[AT(i, j, k + 1)];
        if (region) {
            float up = last_y ? A0[AT(i, j + 1, k)] : sh_A0[sh_id + 2 * blockDim.x];
            float down = first_y ? A0[AT(i, j - 1, k)] : sh_A0[sh_id - 2 * blockDim.x];
            float left = first_x ? A0[AT(i - 1, j, k)] : sh_A0[sh_id - 1];
            Anext[AT(i, j, k)] = (top + bottom + up + down + sh_A0[sh_id + 1] + left) * c1 - sh_A0[sh_id] * c0;
        }
        if (i2 < nx && j < ny)
            top2 = A0[AT(i2, j, k + 1)];
        if (region2) {
            float up = last_y ? A0[AT(i2, j + 1, k)] : sh_A0[sh_id2 + 2 * blockDim.x];
            float down = first_y ? A0[AT(i2, j - 1, k)] : sh_A0[sh_id2 - 2 * blockDim.x];
            float right = last_x ? A0[AT(i2 + 1, j, k)] : sh_A0[sh_id2 + 1];
            Anext[AT(i2, j, k)] = (top2 + bottom2 + up + down + sh_A0[sh_id2 - 1] + right) * c1 - sh_A0[sh_id2] * c0;
        }
        __syncthreads();
        bottom = sh_A0[sh_id];
        sh_A0[sh_id] = top;
        bottom2 = sh_A0[sh_id2];
        sh_A0[sh_id2] = top2;
        __syncthreads();
    }
}

int main(int argc, char **argv)
{
    int nx = parameter(argc, argv, "nx", 512), ny = parameter(argc, argv, "ny", 512);
    int nz = parameter(argc, argv, "nz", 64);
    long steps = parameter(argc, argv, "steps", 2);
    const float c0 = 1.0F / 6.0F, c1 = 1.0F / 6.0F / 6.0F;
    array<float> first((size_t)nx * ny * nz), second(first.host.size());
    for (size_t i = 0; i < first.host.size(); i++)
        first[i] = second[i] = unit(1, i);
    first.up();
    second.up();
    float *at[2] = {first.device, second.device};
    dim3 grid((nx + 2 * BLOCK_X - 1) / (2 * BLOCK_X), (ny + BLOCK_Y - 1) / BLOCK_Y);
    for (long t = 0; t < steps; t++, std::swap(at[0], at[1]))
        launch("block2D_hybrid_coarsen_x", block2D_hybrid_coarsen_x, grid, dim3(BLOCK_X, BLOCK_Y),
               2 * BLOCK_X * BLOCK_Y * sizeof(float), c0, c1, (const float *)at[0], at[1], nx, ny, nz);
    std::vector<float> before = first.host, after = first.host, got(before.size());
    for (long t = 0; t < steps; t++, before.swap(after))
        for (int k = 1; k < nz - 1; k++)
            for (int j = 1; j < ny - 1; j++)
                for (int i = 1; i < nx - 1; i++)
                    after[AT(i, j, k)] = (before[AT(i, j, k + 1)] + before[AT(i, j, k - 1)] + before[AT(i, j + 1, k)] +
                                          before[AT(i, j - 1, k)] + before[AT(i + 1, j, k)] + before[AT(i - 1, j, k)]) *
                                             c1 -
                                         before[AT(i, j, k)] * c0;
    CUDA(cudaMemcpy(got.data(), at[0], got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); i++)
        wrong += differs(got[i], before[i], 1e-6);
    return finish("stencil3d", wrong);
}
