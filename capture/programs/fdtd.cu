// fdtd: fdtd-2d of PolyBench/GPU, three sweeps per time step (src/workload/polybench/fdtd.c). As in the original, sizes are
// compiled in (-DNX=, -DNY=).
#include "common.h"

#ifndef NX
#define NX 1200
#endif
#ifndef NY
#define NY 1200
#endif

constexpr int nx = NX, ny = NY;

__global__ void fdtd_step1_kernel(const float *source, float *ex, float *ey, float *hz, int t)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < nx && j < ny) {
        if (i == 0)
            ey[i * ny + j] = source[t];
        else
            ey[i * ny + j] = ey[i * ny + j] - 0.5F * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
    }
}

__global__ void fdtd_step2_kernel(float *ex, float *ey, float *hz)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < nx && j < ny && j > 0)
        ex[i * (ny + 1) + j] = ex[i * (ny + 1) + j] - 0.5F * (hz[i * ny + j] - hz[i * ny + (j - 1)]);
}

__global__ void fdtd_step3_kernel(float *ex, float *ey, float *hz)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < nx && j < ny)
        hz[i * ny + j] = hz[i * ny + j] - 0.7F * (ex[i * (ny + 1) + (j + 1)] - ex[i * (ny + 1) + j] +
                                                  ey[(i + 1) * ny + j] - ey[i * ny + j]);
}

int main(int argc, char **argv)
{
    int steps = parameter(argc, argv, "steps", 5);
    array<float> source(steps), ex((size_t)nx * (ny + 1)), ey((size_t)(nx + 1) * ny), hz((size_t)nx * ny);
    for (int t = 0; t < steps; t++)
        source[t] = (float)t;
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < ny; j++) {
            ex[(size_t)i * ny + j] = ((float)i * (j + 1) + 1) / nx;
            ey[(size_t)i * ny + j] = ((float)(i - 1) * (j + 2) + 2) / nx;
            hz[(size_t)i * ny + j] = ((float)(i - 9) * (j + 4) + 3) / nx;
        }
    source.up();
    ex.up();
    ey.up();
    hz.up();
    dim3 block(32, 8), grid((ny + 31) / 32, (nx + 7) / 8);
    for (int t = 0; t < steps; t++) {
        launch("fdtd_step1_kernel", fdtd_step1_kernel, grid, block, 0, (const float *)source.device, ex.device, ey.device,
               hz.device, t);
        launch("fdtd_step2_kernel", fdtd_step2_kernel, grid, block, 0, ex.device, ey.device, hz.device);
        launch("fdtd_step3_kernel", fdtd_step3_kernel, grid, block, 0, ex.device, ey.device, hz.device);
    }
    for (int t = 0; t < steps; t++) {
        for (int i = 0; i < nx; i++)
            for (int j = 0; j < ny; j++) {
                float &e = ey[(size_t)i * ny + j];
                e = i ? e - 0.5F * (hz[(size_t)i * ny + j] - hz[(size_t)(i - 1) * ny + j]) : source[t];
            }
        for (int i = 0; i < nx; i++)
            for (int j = 1; j < ny; j++)
                ex[(size_t)i * (ny + 1) + j] -= 0.5F * (hz[(size_t)i * ny + j] - hz[(size_t)i * ny + j - 1]);
        for (int i = 0; i < nx; i++)
            for (int j = 0; j < ny; j++)
                hz[(size_t)i * ny + j] -=
                    0.7F * (ex[(size_t)i * (ny + 1) + j + 1] - ex[(size_t)i * (ny + 1) + j] +
                            ey[(size_t)(i + 1) * ny + j] - ey[(size_t)i * ny + j]);
    }
    std::vector<float> expected = hz.host;
    hz.down();
    size_t wrong = 0;
    for (size_t i = 0; i < expected.size(); i++)
        wrong += differs(hz[i], expected[i], 1e-4);
    return finish("fdtd", wrong);
}
