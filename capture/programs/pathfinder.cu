// pathfinder: dynproc of Rodinia, the cheapest way through a grid (src/workload/rodinia/pathfinder.c).
#include "common.h"

#define BLOCK 256
#define IN_RANGE(x, low, high) ((x) >= (low) && (x) <= (high))
#define MIN(a, b) ((a) <= (b) ? (a) : (b))
#define MAX(a, b) ((a) >= (b) ? (a) : (b))

__global__ void dynproc_kernel(int iteration, int *gpuWall, int *gpuSrc, int *gpuResults, int cols, int rows,
                               int startStep, int border)
{
    __shared__ int prev[BLOCK];
    __shared__ int result[BLOCK];
    int bx = blockIdx.x, tx = threadIdx.x;
    int small_block_cols = BLOCK - iteration * 2;
    int blkX = small_block_cols * bx - border, blkXmax = blkX + BLOCK - 1;
    int xidx = blkX + tx;
    int validXmin = blkX < 0 ? -blkX : 0;
    int validXmax = blkXmax > cols - 1 ? BLOCK - 1 - (blkXmax - cols + 1) : BLOCK - 1;
    int W = MAX(validXmin, tx - 1), E = MIN(validXmax, tx + 1);
    bool isValid = IN_RANGE(tx, validXmin, validXmax);
    if (IN_RANGE(xidx, 0, cols - 1))
        prev[tx] = gpuSrc[xidx];
    __syncthreads();
    bool computed;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (IN_RANGE(tx, i + 1, BLOCK - i - 2) && isValid) {
            computed = true;
            int left = prev[W], up = prev[tx], right = prev[E];
            int shortest = MIN(left, up);
            shortest = MIN(shortest, right);
            int index = cols * (startStep + i) + xidx;
            result[tx] = shortest + gpuWall[index];
        }
        __syncthreads();
        if (i == iteration - 1)
            break;
        if (computed)
            prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed)
        gpuResults[xidx] = result[tx];
}

int main(int argc, char **argv)
{
    int cols = parameter(argc, argv, "columns", 50000), rows = parameter(argc, argv, "rows", 200);
    int pyramid = parameter(argc, argv, "pyramid", 10), small = BLOCK - pyramid * 2;
    array<int> first(cols), second(cols), wall((size_t)cols * (rows - 1));
    for (int i = 0; i < cols; i++)
        first[i] = hashed(1, i) % 10;
    for (size_t i = 0; i < wall.host.size(); i++)
        wall[i] = hashed(1, cols + i) % 10;
    first.up();
    wall.up();
    int *at[2] = {first.device, second.device}, from = 1, to = 0;
    for (int t = 0; t < rows - 1; t += pyramid) {
        std::swap(from, to);
        launch("dynproc_kernel", dynproc_kernel, (cols + small - 1) / small, BLOCK, 0, MIN(pyramid, rows - t - 1),
               wall.device, at[from], at[to], cols, rows, t, pyramid);
    }
    std::vector<int> before = first.host, after(cols), got(cols);
    for (int y = 0; y < rows - 1; y++, before.swap(after))
        for (int x = 0; x < cols; x++)
            after[x] = MIN(MIN(before[x ? x - 1 : x], before[x]), before[x < cols - 1 ? x + 1 : x]) +
                       wall[(size_t)y * cols + x];
    CUDA(cudaMemcpy(got.data(), at[to], cols * sizeof(int), cudaMemcpyDeviceToHost));
    size_t wrong = 0;
    for (int x = 0; x < cols; x++)
        wrong += got[x] != before[x];
    return finish("pathfinder", wrong);
}
