// lud: LU decomposition of Rodinia, in place, by blocks of 16x16 (src/workload/rodinia/lud.c).
#include "common.h"

#define BLOCK 16

__global__ void lud_diagonal(float *m, int matrix_dim, int offset)
{
    __shared__ float shadow[BLOCK][BLOCK];
    unsigned tx = threadIdx.x;
    int at = offset * matrix_dim + offset;
    for (int i = 0; i < BLOCK; i++) {
        shadow[i][tx] = m[at + tx];
        at += matrix_dim;
    }
    __syncthreads();
    for (int i = 0; i < BLOCK - 1; i++) {
        if (tx > i) {
            for (int j = 0; j < i; j++)
                shadow[tx][i] -= shadow[tx][j] * shadow[j][i];
            shadow[tx][i] /= shadow[i][i];
        }
        __syncthreads();
        if (tx > i) {
            for (int j = 0; j < i + 1; j++)
                shadow[i + 1][tx] -= shadow[i + 1][j] * shadow[j][tx];
        }
        __syncthreads();
    }
    at = (offset + 1) * matrix_dim + offset; // the first row has not changed
    for (int i = 1; i < BLOCK; i++) {
        m[at + tx] = shadow[i][tx];
        at += matrix_dim;
    }
}

__global__ void lud_perimeter(float *m, int matrix_dim, int offset)
{
    __shared__ float dia[BLOCK][BLOCK];
    __shared__ float peri_row[BLOCK][BLOCK];
    __shared__ float peri_col[BLOCK][BLOCK];
    int idx, at, beside = (blockIdx.x + 1) * BLOCK;
    if (threadIdx.x < BLOCK) {
        idx = threadIdx.x;
        at = offset * matrix_dim + offset;
        for (int i = 0; i < BLOCK / 2; i++) {
            dia[i][idx] = m[at + idx];
            at += matrix_dim;
        }
        at = offset * matrix_dim + offset;
        for (int i = 0; i < BLOCK; i++) {
            peri_row[i][idx] = m[at + beside + idx];
            at += matrix_dim;
        }
    } else {
        idx = threadIdx.x - BLOCK;
        at = (offset + BLOCK / 2) * matrix_dim + offset;
        for (int i = BLOCK / 2; i < BLOCK; i++) {
            dia[i][idx] = m[at + idx];
            at += matrix_dim;
        }
        at = (offset + beside) * matrix_dim + offset;
        for (int i = 0; i < BLOCK; i++) {
            peri_col[i][idx] = m[at + idx];
            at += matrix_dim;
        }
    }
    __syncthreads();
    if (threadIdx.x < BLOCK) {
        idx = threadIdx.x;
        for (int i = 1; i < BLOCK; i++)
            for (int j = 0; j < i; j++)
                peri_row[i][idx] -= dia[i][j] * peri_row[j][idx];
    } else {
        idx = threadIdx.x - BLOCK;
        for (int i = 0; i < BLOCK; i++) {
            for (int j = 0; j < i; j++)
                peri_col[idx][i] -= peri_col[idx][j] * dia[j][i];
            peri_col[idx][i] /= dia[i][i];
        }
    }
    __syncthreads();
    if (threadIdx.x < BLOCK) {
        idx = threadIdx.x;
        at = (offset + 1) * matrix_dim + offset;
        for (int i = 1; i < BLOCK; i++) {
            m[at + beside + idx] = peri_row[i][idx];
            at += matrix_dim;
        }
    } else {
        idx = threadIdx.x - BLOCK;
        at = (offset + beside) * matrix_dim + offset;
        for (int i = 0; i < BLOCK; i++) {
            m[at + idx] = peri_col[i][idx];
            at += matrix_dim;
        }
    }
}

__global__ void lud_internal(float *m, int matrix_dim, int offset)
{
    __shared__ float peri_row[BLOCK][BLOCK];
    __shared__ float peri_col[BLOCK][BLOCK];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = offset + (blockIdx.y + 1) * BLOCK, column = offset + (blockIdx.x + 1) * BLOCK;
    peri_row[ty][tx] = m[(offset + ty) * matrix_dim + column + tx];
    peri_col[ty][tx] = m[(row + ty) * matrix_dim + offset + tx];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < BLOCK; i++)
        sum += peri_col[ty][i] * peri_row[i][tx];
    m[(row + ty) * matrix_dim + column + tx] -= sum;
}

int main(int argc, char **argv)
{
    int n = parameter(argc, argv, "side", 512) / BLOCK * BLOCK, offset = 0;
    array<float> m((size_t)n * n);
    for (size_t i = 0; i < m.host.size(); i++)
        m[i] = unit(1, i) + (i % (n + 1) ? 0 : n); // a heavy diagonal: L is about 1 / n, U about 1
    m.up();
    for (; offset < n - BLOCK; offset += BLOCK) {
        int left = (n - offset) / BLOCK - 1;
        launch("lud_diagonal", lud_diagonal, 1, BLOCK, 0, m.device, n, offset);
        launch("lud_perimeter", lud_perimeter, left, 2 * BLOCK, 0, m.device, n, offset);
        launch("lud_internal", lud_internal, dim3(left, left), dim3(BLOCK, BLOCK), 0, m.device, n, offset);
    }
    launch("lud_diagonal", lud_diagonal, 1, BLOCK, 0, m.device, n, offset);
    std::vector<double> expected(m.host.begin(), m.host.end());
    for (int y = 0; y < n; y++)
        for (int k = 0; k < y; k++) {
            double *row = &expected[(size_t)y * n], *other = &expected[(size_t)k * n];
            row[k] /= other[k];
            for (int x = k + 1; x < n; x++)
                row[x] -= row[k] * other[x];
        }
    m.down();
    size_t wrong = 0;
    for (size_t i = 0; i < m.host.size(); i++) {
        int size = i / n > i % n ? n : 1;
        wrong += differs((double)m[i] * size, expected[i] * size, 2e-5);
    }
    return finish("lud", wrong);
}
