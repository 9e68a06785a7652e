// nw: Needleman-Wunsch of Rodinia, a launch per diagonal of blocks (src/workload/rodinia/nw.c).
#include "common.h"

#define BLOCK 16

__device__ __forceinline__ int maximum(int a, int b, int c)
{
    int k = a <= b ? b : a;
    return k <= c ? c : k;
}

template <bool second>
__device__ __forceinline__ void align(int *referrence, int *matrix_cuda, int cols, int penalty, int b_index_x,
                                      int b_index_y)
{
    int tx = threadIdx.x;
    int index = cols * BLOCK * b_index_y + BLOCK * b_index_x + tx + (cols + 1);
    int index_n = cols * BLOCK * b_index_y + BLOCK * b_index_x + tx + 1;
    int index_w = cols * BLOCK * b_index_y + BLOCK * b_index_x + cols;
    int index_nw = cols * BLOCK * b_index_y + BLOCK * b_index_x;
    __shared__ int temp[BLOCK + 1][BLOCK + 1];
    __shared__ int ref[BLOCK][BLOCK];
    if (!second && tx == 0)
        temp[tx][0] = matrix_cuda[index_nw];
    for (int ty = 0; ty < BLOCK; ty++)
        ref[ty][tx] = referrence[index + cols * ty];
    __syncthreads();
    if (second && tx == 0)
        temp[tx][0] = matrix_cuda[index_nw];
    temp[tx + 1][0] = matrix_cuda[index_w + cols * tx];
    __syncthreads();
    temp[0][tx + 1] = matrix_cuda[index_n];
    __syncthreads();
    for (int m = 0; m < BLOCK; m++) {
        if (tx <= m) {
            int x = tx + 1, y = m - tx + 1;
            temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty,
                                 temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int m = BLOCK - 2; m >= 0; m--) {
        if (tx <= m) {
            int x = tx + BLOCK - m, y = BLOCK - tx;
            temp[y][x] = maximum(temp[y - 1][x - 1] + ref[y - 1][x - 1], temp[y][x - 1] - penalty,
                                 temp[y - 1][x] - penalty);
        }
        __syncthreads();
    }
    for (int ty = 0; ty < BLOCK; ty++)
        matrix_cuda[index + ty * cols] = temp[ty + 1][tx + 1];
}

__global__ void needle_cuda_shared_1(int *referrence, int *matrix_cuda, int cols, int penalty, int i, int block_width)
{
    align<false>(referrence, matrix_cuda, cols, penalty, blockIdx.x, i - 1 - blockIdx.x);
}

__global__ void needle_cuda_shared_2(int *referrence, int *matrix_cuda, int cols, int penalty, int i, int block_width)
{
    align<true>(referrence, matrix_cuda, cols, penalty, blockIdx.x + block_width - i, block_width - blockIdx.x - 1);
}

int main(int argc, char **argv)
{
    int length = parameter(argc, argv, "length", 1024) / 16 * 16, cols = length + 1, blocks = length / BLOCK;
    int penalty = parameter(argc, argv, "penalty", 10);
    size_t cells = (size_t)cols * cols;
    array<int> reference(cells), matrix(cells);
    for (int y = 1; y < cols; y++)
        for (int x = 1; x < cols; x++) {
            int a = hashed(1, y) % 10, b = hashed(2, x) % 10;
            reference[(size_t)y * cols + x] = (int)(hashed(3, a < b ? a * 10 + b : b * 10 + a) % 6) + (a == b ? 4 : -4);
        }
    for (int i = 1; i < cols; i++)
        matrix[i] = matrix[(size_t)i * cols] = -i * penalty;
    reference.up();
    matrix.up();
    for (int i = 1; i <= blocks; i++)
        launch("needle_cuda_shared_1", needle_cuda_shared_1, i, BLOCK, 0, reference.device, matrix.device, cols, penalty,
               i, blocks);
    for (int i = blocks - 1; i >= 1; i--)
        launch("needle_cuda_shared_2", needle_cuda_shared_2, i, BLOCK, 0, reference.device, matrix.device, cols, penalty,
               i, blocks);
    std::vector<int> expected = matrix.host;
    for (int y = 1; y < cols; y++)
        for (int x = 1; x < cols; x++) {
            size_t i = (size_t)y * cols + x;
            int aligned = expected[i - cols - 1] + reference[i];
            int gap = (expected[i - 1] > expected[i - cols] ? expected[i - 1] : expected[i - cols]) - penalty;
            expected[i] = aligned > gap ? aligned : gap;
        }
    matrix.down();
    size_t wrong = 0;
    for (size_t i = 0; i < cells; i++)
        wrong += matrix[i] != expected[i];
    return finish("nw", wrong);
}
