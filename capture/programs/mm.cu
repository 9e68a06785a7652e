// MM: sgemm of Parboil with register tiles, C = A * B^T (src/workload/parboil/mm.c).
#include "common.h"

#define TILE_N 16
#define TILE_TB_HEIGHT 8
#define TILE_M (TILE_N * TILE_TB_HEIGHT)

__global__ void mysgemmNT(const float *A, int lda, const float *B, int ldb, float *C, int ldc, int k, float alpha,
                          float beta)
{
    float c[TILE_N];
    for (int i = 0; i < TILE_N; i++)
        c[i] = 0.0f;
    int mid = threadIdx.y * blockDim.x + threadIdx.x;
    int m = blockIdx.x * TILE_M + mid, n = blockIdx.y * TILE_N + threadIdx.x;
    __shared__ float b_s[TILE_TB_HEIGHT][TILE_N];
    for (int i = 0; i < k; i += TILE_TB_HEIGHT) {
        b_s[threadIdx.y][threadIdx.x] = B[n + (i + threadIdx.y) * ldb];
        __syncthreads();
        for (int j = 0; j < TILE_TB_HEIGHT; j++) {
            float a = A[m + (i + j) * lda];
            for (int kk = 0; kk < TILE_N; kk++)
                c[kk] += a * b_s[j][kk];
        }
        __syncthreads();
    }
    int t = ldc * blockIdx.y * TILE_N + m;
    for (int i = 0; i < TILE_N; i++)
        C[t + i * ldc] = C[t + i * ldc] * beta + alpha * c[i];
}

int main(int argc, char **argv)
{
    int m = parameter(argc, argv, "m", 1024) / TILE_M * TILE_M, n = parameter(argc, argv, "n", 1056) / TILE_N * TILE_N;
    int k = parameter(argc, argv, "k", 992) / TILE_TB_HEIGHT * TILE_TB_HEIGHT;
    array<float> a((size_t)m * k), b((size_t)n * k), c((size_t)m * n);
    for (size_t i = 0; i < a.host.size(); i++)
        a[i] = unit(1, i);
    for (size_t i = 0; i < b.host.size(); i++)
        b[i] = unit(2, i);
    a.up();
    b.up();
    c.clear();
    for (long i = parameter(argc, argv, "launches", 3); i > 0; i--)
        launch("mysgemmNT", mysgemmNT, dim3(m / TILE_M, n / TILE_N), dim3(TILE_N, TILE_TB_HEIGHT), 0,
               (const float *)a.device, m, (const float *)b.device, n, c.device, m, k, 1.0F, 0.0F);
    c.down();
    size_t wrong = 0;
    for (int column = 0; column < n; column += 7) // a seventh, which takes long enough
        for (int row = 0; row < m; row++) {
            float sum = 0;
            for (int i = 0; i < k; i++)
                sum += a[(size_t)i * m + row] * b[(size_t)i * n + column];
            wrong += differs(c[(size_t)column * m + row], sum, 1e-4);
        }
    return finish("MM", wrong);
}
