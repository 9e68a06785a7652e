// srad: srad_v2 of Rodinia, two sweeps per step in tiles of 16x16 (src/workload/rodinia/srad_v2.c). Tiles at the rim read
// beside the image, as in the original; here a margin makes that memory the program's own.
#include "common.h"
#include <cmath>

#define BLOCK 16

__global__ void srad_cuda_1(float *E_C, float *W_C, float *N_C, float *S_C, float *J_cuda, float *C_cuda, int cols,
                            int rows, float q0sqr)
{
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = cols * BLOCK * by + BLOCK * bx + cols * ty + tx;
    int index_n = cols * BLOCK * by + BLOCK * bx + tx - cols;
    int index_s = cols * BLOCK * by + BLOCK * bx + cols * BLOCK + tx;
    int index_w = cols * BLOCK * by + BLOCK * bx + cols * ty - 1;
    int index_e = cols * BLOCK * by + BLOCK * bx + cols * ty + BLOCK;
    float n, w, e, s, jc, g2, l, num, den, qsqr, c;
    __shared__ float temp[BLOCK][BLOCK], temp_result[BLOCK][BLOCK];
    __shared__ float north[BLOCK][BLOCK], south[BLOCK][BLOCK], east[BLOCK][BLOCK], west[BLOCK][BLOCK];
    north[ty][tx] = J_cuda[index_n];
    south[ty][tx] = J_cuda[index_s];
    if (by == 0)
        north[ty][tx] = J_cuda[BLOCK * bx + tx];
    else if (by == gridDim.y - 1)
        south[ty][tx] = J_cuda[cols * BLOCK * (gridDim.y - 1) + BLOCK * bx + cols * (BLOCK - 1) + tx];
    __syncthreads();
    west[ty][tx] = J_cuda[index_w];
    east[ty][tx] = J_cuda[index_e];
    if (bx == 0)
        west[ty][tx] = J_cuda[cols * BLOCK * by + cols * ty];
    else if (bx == gridDim.x - 1)
        east[ty][tx] = J_cuda[cols * BLOCK * by + BLOCK * (gridDim.x - 1) + cols * ty + BLOCK - 1];
    __syncthreads();
    temp[ty][tx] = J_cuda[index];
    __syncthreads();
    jc = temp[ty][tx];
    n = (ty == 0 ? north[ty][tx] : temp[ty - 1][tx]) - jc;
    s = (ty == BLOCK - 1 ? south[ty][tx] : temp[ty + 1][tx]) - jc;
    w = (tx == 0 ? west[ty][tx] : temp[ty][tx - 1]) - jc;
    e = (tx == BLOCK - 1 ? east[ty][tx] : temp[ty][tx + 1]) - jc;
    g2 = (n * n + s * s + w * w + e * e) / (jc * jc);
    l = (n + s + w + e) / jc;
    num = (0.5 * g2) - ((1.0 / 16.0) * (l * l));
    den = 1 + (.25 * l);
    qsqr = num / (den * den);
    den = (qsqr - q0sqr) / (q0sqr * (1 + q0sqr));
    c = 1.0 / (1.0 + den);
    if (c < 0)
        temp_result[ty][tx] = 0;
    else if (c > 1)
        temp_result[ty][tx] = 1;
    else
        temp_result[ty][tx] = c;
    __syncthreads();
    C_cuda[index] = temp_result[ty][tx];
    E_C[index] = e;
    W_C[index] = w;
    S_C[index] = s;
    N_C[index] = n;
}

__global__ void srad_cuda_2(float *E_C, float *W_C, float *N_C, float *S_C, float *J_cuda, float *C_cuda, int cols,
                            int rows, float lambda, float q0sqr)
{
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = cols * BLOCK * by + BLOCK * bx + cols * ty + tx;
    int index_s = cols * BLOCK * by + BLOCK * bx + cols * BLOCK + tx;
    int index_e = cols * BLOCK * by + BLOCK * bx + cols * ty + BLOCK;
    float cc, cn, cs, ce, cw, d_sum;
    __shared__ float south_c[BLOCK][BLOCK], east_c[BLOCK][BLOCK], c_cuda_temp[BLOCK][BLOCK];
    __shared__ float c_cuda_result[BLOCK][BLOCK], temp[BLOCK][BLOCK];
    temp[ty][tx] = J_cuda[index];
    __syncthreads();
    south_c[ty][tx] = C_cuda[index_s];
    if (by == gridDim.y - 1)
        south_c[ty][tx] = C_cuda[cols * BLOCK * (gridDim.y - 1) + BLOCK * bx + cols * (BLOCK - 1) + tx];
    __syncthreads();
    east_c[ty][tx] = C_cuda[index_e];
    if (bx == gridDim.x - 1)
        east_c[ty][tx] = C_cuda[cols * BLOCK * by + BLOCK * (gridDim.x - 1) + cols * ty + BLOCK - 1];
    __syncthreads();
    c_cuda_temp[ty][tx] = C_cuda[index];
    __syncthreads();
    cc = c_cuda_temp[ty][tx];
    cn = cw = cc;
    cs = ty == BLOCK - 1 ? south_c[ty][tx] : c_cuda_temp[ty + 1][tx];
    ce = tx == BLOCK - 1 ? east_c[ty][tx] : c_cuda_temp[ty][tx + 1];
    d_sum = cn * N_C[index] + cs * S_C[index] + cw * W_C[index] + ce * E_C[index];
    c_cuda_result[ty][tx] = temp[ty][tx] + 0.25 * lambda * d_sum;
    __syncthreads();
    J_cuda[index] = c_cuda_result[ty][tx];
}

static float speckle(const std::vector<float> &image, size_t margin, int cols, int side)
{
    double sum = 0, squares = 0, count = (double)side * side;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++) {
            double v = image[margin + (size_t)y * cols + x];
            sum += v;
            squares += v * v;
        }
    double mean = sum / count;
    return (float)((squares / count - mean * mean) / (mean * mean));
}

int main(int argc, char **argv)
{
    int rows = parameter(argc, argv, "rows", 1024) / 16 * 16, cols = parameter(argc, argv, "columns", 1024) / 16 * 16;
    int iterations = parameter(argc, argv, "iterations", 4), side = parameter(argc, argv, "speckle", 128);
    const float lambda = 0.5F;
    size_t cells = (size_t)rows * cols, margin = 32 * (size_t)cols, room = cells + 2 * margin;
    array<float> image(room), c(room), east(cells), west(cells), south(cells), north(cells);
    for (size_t i = 0; i < cells; i++)
        image[margin + i] = expf(unit(1, i));
    std::vector<float> expected = image.host;
    image.up();
    c.clear();
    dim3 grid(cols / BLOCK, rows / BLOCK), block(BLOCK, BLOCK);
    for (int k = 0; k < iterations; k++) {
        image.down();
        float q0sqr = speckle(image.host, margin, cols, side);
        image.up();
        launch("srad_cuda_1", srad_cuda_1, grid, block, 0, east.device, west.device, north.device, south.device,
               image.device + margin, c.device + margin, cols, rows, q0sqr);
        launch("srad_cuda_2", srad_cuda_2, grid, block, 0, east.device, west.device, north.device, south.device,
               image.device + margin, c.device + margin, cols, rows, lambda, q0sqr);
    }
    image.down();
    std::vector<float> factor(cells), d[4];
    for (auto &v : d)
        v.resize(cells);
    for (int k = 0; k < iterations; k++) {
        float q0sqr = speckle(expected, margin, cols, side), *j = &expected[margin];
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < cols; x++) {
                size_t i = (size_t)y * cols + x;
                double here = j[i], n = j[y ? i - cols : i] - here, s = j[y < rows - 1 ? i + cols : i] - here;
                double w = j[x ? i - 1 : i] - here, e = j[x < cols - 1 ? i + 1 : i] - here;
                double g2 = (n * n + s * s + w * w + e * e) / (here * here), l = (n + s + w + e) / here;
                double den = 1 + .25 * l, q = (0.5 * g2 - l * l / 16) / (den * den);
                double v = 1 / (1 + (q - q0sqr) / (q0sqr * (1 + q0sqr)));
                factor[i] = (float)(v < 0 ? 0 : v > 1 ? 1 : v);
                d[0][i] = (float)n;
                d[1][i] = (float)s;
                d[2][i] = (float)w;
                d[3][i] = (float)e;
            }
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < cols; x++) {
                size_t i = (size_t)y * cols + x;
                float cs = factor[y < rows - 1 ? i + cols : i], ce = factor[x < cols - 1 ? i + 1 : i];
                j[i] += 0.25F * lambda * (factor[i] * d[0][i] + cs * d[1][i] + factor[i] * d[2][i] + ce * d[3][i]);
            }
    }
    size_t wrong = 0;
    for (size_t i = 0; i < cells; i++)
        wrong += differs(image[margin + i], expected[margin + i], 1e-3);
    return finish("srad", wrong);
}
