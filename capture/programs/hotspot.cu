// hotspot: the temperature of a chip of Rodinia, tiles with a pyramid of steps (src/workload/rodinia/hs.c).
#include "common.h"

#define BLOCK 16
#define IN_RANGE(x, low, high) ((x) >= (low) && (x) <= (high))

__global__ void calculate_temp(int iteration, float *power, float *temp_src, float *temp_dst, int grid_cols,
                               int grid_rows, int border_cols, int border_rows, float Cap, float Rx, float Ry, float Rz,
                               float step, float time_elapsed)
{
    __shared__ float temp_on_cuda[BLOCK][BLOCK];
    __shared__ float power_on_cuda[BLOCK][BLOCK];
    __shared__ float temp_t[BLOCK][BLOCK];
    float amb_temp = 80.0;
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    float step_div_Cap = step / Cap, Rx_1 = 1 / Rx, Ry_1 = 1 / Ry, Rz_1 = 1 / Rz;
    int small_block_rows = BLOCK - iteration * 2, small_block_cols = BLOCK - iteration * 2;
    int blkY = small_block_rows * by - border_rows, blkX = small_block_cols * bx - border_cols;
    int blkYmax = blkY + BLOCK - 1, blkXmax = blkX + BLOCK - 1;
    int yidx = blkY + ty, xidx = blkX + tx;
    int loadYidx = yidx, loadXidx = xidx, index = grid_cols * loadYidx + loadXidx;
    if (IN_RANGE(loadYidx, 0, grid_rows - 1) && IN_RANGE(loadXidx, 0, grid_cols - 1)) {
        temp_on_cuda[ty][tx] = temp_src[index];
        power_on_cuda[ty][tx] = power[index];
    }
    __syncthreads();
    int validYmin = blkY < 0 ? -blkY : 0;
    int validYmax = blkYmax > grid_rows - 1 ? BLOCK - 1 - (blkYmax - grid_rows + 1) : BLOCK - 1;
    int validXmin = blkX < 0 ? -blkX : 0;
    int validXmax = blkXmax > grid_cols - 1 ? BLOCK - 1 - (blkXmax - grid_cols + 1) : BLOCK - 1;
    int N = ty - 1, S = ty + 1, W = tx - 1, E = tx + 1;
    N = N < validYmin ? validYmin : N;
    S = S > validYmax ? validYmax : S;
    W = W < validXmin ? validXmin : W;
    E = E > validXmax ? validXmax : E;
    bool computed;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK - i - 2) && IN_RANGE(ty, i + 1, BLOCK - i - 2) &&
            IN_RANGE(tx, validXmin, validXmax) && IN_RANGE(ty, validYmin, validYmax)) {
            computed = true;
            temp_t[ty][tx] =
                temp_on_cuda[ty][tx] +
                step_div_Cap * (power_on_cuda[ty][tx] +
                                (temp_on_cuda[S][tx] + temp_on_cuda[N][tx] - 2.0 * temp_on_cuda[ty][tx]) * Ry_1 +
                                (temp_on_cuda[ty][E] + temp_on_cuda[ty][W] - 2.0 * temp_on_cuda[ty][tx]) * Rx_1 +
                                (amb_temp - temp_on_cuda[ty][tx]) * Rz_1);
        }
        __syncthreads();
        if (i == iteration - 1)
            break;
        if (computed)
            temp_on_cuda[ty][tx] = temp_t[ty][tx];
        __syncthreads();
    }
    if (computed)
        temp_dst[index] = temp_t[ty][tx];
}

int main(int argc, char **argv)
{
    int n = parameter(argc, argv, "side", 1024), total = parameter(argc, argv, "iterations", 8);
    int pyramid = parameter(argc, argv, "pyramid", 2), small = BLOCK - pyramid * 2, blocks = (n + small - 1) / small;
    float side = 0.016F, cell = side / n, thickness = 0.0005F;
    float cap = 0.5F * 1.75e6F * thickness * cell * cell;
    float r = cell / (2.0F * 100.0F * thickness * cell);
    float rz = thickness / (100.0F * cell * cell), step = 0.001F / (3.0e6F / (0.5F * thickness * 1.75e6F));
    size_t cells = (size_t)n * n;
    array<float> first(cells), second(cells), power(cells);
    for (size_t i = 0; i < cells; i++) {
        first[i] = 323 + 20 * unit(1, i);
        power[i] = 0.005F * unit(2, i);
    }
    first.up();
    power.up();
    float *at[2] = {first.device, second.device};
    int from = 1, to = 0;
    for (int t = 0; t < total; t += pyramid) {
        std::swap(from, to);
        launch("calculate_temp", calculate_temp, dim3(blocks, blocks), dim3(BLOCK, BLOCK), 0,
               total - t < pyramid ? total - t : pyramid, power.device, at[from], at[to], n, n, pyramid, pyramid, cap, r,
               r, rz, step, 0.0F);
    }
    std::vector<float> before = first.host, after(cells), got(cells);
    for (int t = 0; t < total; t++, before.swap(after))
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                size_t i = (size_t)y * n + x;
                float here = before[i], north = before[y ? i - n : i], south = before[y < n - 1 ? i + n : i];
                float west = before[x ? i - 1 : i], east = before[x < n - 1 ? i + 1 : i];
                after[i] = here + step / cap * (power[i] + (south + north - 2.0 * here) / r +
                                                (east + west - 2.0 * here) / r + (80.0F - here) / rz);
            }
    CUDA(cudaMemcpy(got.data(), at[to], cells * sizeof(float), cudaMemcpyDeviceToHost));
    size_t wrong = 0;
    for (size_t i = 0; i < cells; i++)
        wrong += differs(got[i], before[i], 1e-4);
    return finish("hotspot", wrong);
}
